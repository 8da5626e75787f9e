"""What the releasing commands share: the options for privacy, and how an answer is shown."""

import csv
import json
from typing import Annotated, cast

import typer
from rich.console import Console
from rich.text import Text

from ..errors import InvalidArgument, InvalidCandidates
from ..mechanisms import MECHANISMS, NoisyMax
from ..releases import Release
from ..selection import Terms

Epsilon = Annotated[
    str | None,
    typer.Option(
        metavar="NUMBER", help="How much privacy the answer may cost, such as 1, 0.1 or 1/3."
    ),
]
Rho = Annotated[
    str | None,
    typer.Option(metavar="NUMBER", help="Instead of --epsilon: rho of zero-concentrated DP."),
]
Scale = Annotated[
    str | None,
    typer.Option(metavar="NUMBER", help="Instead of --epsilon: the scale of the noise, 1/eta."),
]
MechanismName = Annotated[
    str, typer.Option(metavar="NAME", help=f"One of {', '.join(MECHANISMS)}.")
]
NoiseName = Annotated[
    str | None, typer.Option(metavar="NAME", help="For noisy_max: laplace, gumbel or exponential.")
]
NeighborsName = Annotated[
    str,
    typer.Option(metavar="NAME", help="Which databases are neighbors: add_remove or replace_one."),
]
Size = Annotated[
    int | None,
    typer.Option(metavar="NUMBER", help="How many independent answers; each of them costs."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def read_terms(given: dict[str, object], mechanism: str, noise: str | None) -> Terms:
    """Return the terms of a release that the options spell."""
    if noise is not None and mechanism != "noisy_max":
        raise InvalidArgument(f"--noise goes with --mechanism noisy_max, not with {mechanism}")
    chosen = mechanism if noise is None else NoisyMax(noise)  # type: ignore[arg-type]  # it checks
    return cast(Terms, {**given, "mechanism": chosen})


def show(release: Release, *, as_json: bool) -> None:
    """Print a release: the answer first, then what is promised about it."""
    if as_json:
        typer.echo(json.dumps(release.as_dict(), ensure_ascii=True))
        return
    console = Console(highlight=False, soft_wrap=True)
    for value in release.value if isinstance(release.value, list) else [release.value]:
        console.print(Text(str(value), style="bold"))
    console.print(Text(f"{release.guarantee} · {release.mechanism}", style="dim"))


def split_candidates(texts: list[str]) -> list[str]:
    """Return the comma-separated candidates; quotes keep a comma or a blank."""
    try:
        rows = list(csv.reader(texts, skipinitialspace=True, strict=True))
    except csv.Error:
        raise InvalidCandidates(
            "--candidates has a quote that is not closed, or a line break"
        ) from None
    candidates = [candidate.rstrip() for row in rows for candidate in row]
    if not all(candidates):
        raise InvalidCandidates("--candidates has an empty candidate; remove a comma")
    return candidates
