"""Options that several commands share."""

import csv
from pathlib import Path
from typing import Annotated

import typer

from ..errors import InvalidArgument, InvalidCandidates
from ..mechanisms import MECHANISMS, Mechanism, read_options

_PICTURES = (".png", ".svg", ".pdf")

DataArgument = Annotated[
    Path,
    typer.Argument(
        help="A file with a table, or the name of a dataset in discreet.toml.", show_default=False
    ),
]
ColumnArgument = Annotated[str, typer.Argument(help="The column.", show_default=False)]
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
MechanismOptions = Annotated[
    list[str] | None,
    typer.Option(
        "--mechanism-option",
        metavar="NAME=VALUE",
        help="An option of the mechanism, such as noise=gumbel, granularity=0.5 or eta=1,1.",
    ),
]
NoiseName = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="For noisy_max: laplace, gumbel or exponential; short for an option noise=NAME.",
    ),
]
NeighborsName = Annotated[
    str,
    typer.Option(metavar="NAME", help="Which databases are neighbors: add_remove or replace_one."),
]
Size = Annotated[
    int | None,
    typer.Option(metavar="NUMBER", help="How many independent answers; each of them costs."),
]
PrivacyUnit = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN", help="Whose a row is: all rows of one person are one record then."
    ),
]
MaxContributions = Annotated[
    int | None, typer.Option(metavar="NUMBER", help="How many rows of one person count (1).")
]
ByColumn = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="Answer for each group of this column.")
]
GroupNames = Annotated[
    list[str] | None,
    typer.Option(metavar="A,B,C", help="The groups; public, never taken from the data."),
]
MaxGroups = Annotated[
    int | None, typer.Option(metavar="NUMBER", help="In how many groups one person counts (1).")
]
LedgerAt = Annotated[
    str | None,
    typer.Option(
        "--ledger", metavar="FILE", help="Who pays: a ledger's file, or its URL in PostgreSQL."
    ),
]
DatasetName = Annotated[
    str | None, typer.Option(metavar="NAME", help="Whose budget in the ledger pays.")
]
AnalystName = Annotated[
    str | None, typer.Option(metavar="NAME", help="Whose share of that budget pays too.")
]
RequestName = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Asked again under this name, the answer is the same and costs nothing.",
    ),
]
DryRun = Annotated[
    bool,
    typer.Option(
        "--dry-run", help="Say what it would cost and what would remain; release nothing."
    ),
]
ReportAt = Annotated[
    Path | None,
    typer.Option("--report", metavar="FILE", help="Write a report of the release too, as .html."),
]
PlotTo = Annotated[
    Path | None,
    typer.Option("--plot", metavar="FILE", help="Draw it besides, as .png, .svg or .pdf."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def chosen_mechanism(
    mechanism: str, noise: str | None, options: list[str] | None
) -> str | Mechanism:
    """Return the mechanism with the given options, or its name if there are none.

    Raises:
        InvalidArgument: if the mechanism has no such option.
    """
    if noise is not None and mechanism != "noisy_max":
        raise InvalidArgument(f"--noise goes with --mechanism noisy_max, not with {mechanism}")
    named = [*([] if noise is None else [f"noise={noise}"]), *(options or [])]
    return read_options(mechanism, named) if named else mechanism


def check_picture(path: Path | None) -> None:
    """Raise unless the extension of the path is a format of pictures."""
    if path is not None and path.suffix not in _PICTURES:
        raise InvalidArgument(f"--plot must end in one of {', '.join(_PICTURES)}, got {path}")


def split_candidates(texts: list[str], option: str = "--candidates") -> list[str]:
    """Return the comma-separated candidates; commas and blanks within quotes are kept."""
    try:
        rows = list(csv.reader(texts, skipinitialspace=True, strict=True))
    except csv.Error:
        raise InvalidCandidates(
            f"{option} has a quote that is not closed, or a line break"
        ) from None
    candidates = [candidate.rstrip() for row in rows for candidate in row]
    if not all(candidates):
        raise InvalidCandidates(f"{option} has an empty value; remove a comma")
    return candidates
