"""discreet audit: tests privacy claims. Exit code 0 if a claim holds, 1 if it does not."""

import json
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import UnreadableFile
from ..numbers import exact as exact_number
from ..terms import Terms
from .options import (
    AsJson,
    Epsilon,
    MechanismName,
    MechanismOptions,
    NeighborsName,
    NoiseName,
    PlotTo,
    Rho,
    Scale,
    check_picture,
    chosen_mechanism,
)

if TYPE_CHECKING:
    from ..audit import ExactAudit

audit_app = typer.Typer(name="audit", help="Is a claim of privacy true? Exit code 1 if it is not.")

ChangeOption = Annotated[
    str | None, typer.Option(metavar="NUMBER", help="The most one score can change.")
]
SpreadOption = Annotated[
    str | None,
    typer.Option(metavar="NUMBER", help="Instead, the most a difference can change."),
]
MonotonicOption = Annotated[bool, typer.Option("--monotonic", help="All scores move the same way.")]
NumbersOption = Annotated[str, typer.Option(metavar="A,B,C", show_default=False)]
DeltaOption = Annotated[str, typer.Option(metavar="NUMBER", help="What delta is claimed besides.")]
ClaimOption = Annotated[
    str, typer.Option("--epsilon", metavar="NUMBER", help="What is claimed.", show_default=False)
]


@audit_app.command("exact")
def exact_command(
    scores: NumbersOption,
    neighbor: NumbersOption,
    sensitivity: ChangeOption = None,
    spread: SpreadOption = None,
    monotonic: MonotonicOption = False,
    epsilon: Epsilon = None,
    rho: Rho = None,
    scale: Scale = None,
    mechanism: MechanismName = "exponential",
    noise: NoiseName = None,
    mechanism_option: MechanismOptions = None,
    neighbors: NeighborsName = "add_remove",
    plot: PlotTo = None,
    as_json: AsJson = False,
) -> None:
    """Compute the certified privacy loss of a mechanism on two neighbors' scores, and compare its guarantee.

    Example: discreet audit exact --scores 0,1,2 --neighbor 1,1,2 --sensitivity 1 --epsilon 1
    """
    terms: Terms = {
        "epsilon": epsilon,
        "rho": rho,
        "scale": scale,
        "neighbors": neighbors,  # type: ignore[typeddict-item]  # it is checked where it is read
        "mechanism": chosen_mechanism(mechanism, noise, mechanism_option),
    }
    declared = {"sensitivity": sensitivity, "spread": spread, "monotonic": monotonic}
    check_picture(plot)
    found = exact_audit(scores, neighbor, declared, terms)
    _show(found, plot, as_json=as_json)


@audit_app.command("laws")
def laws_command(
    law: NumbersOption,
    neighbor: NumbersOption,
    epsilon: ClaimOption,
    delta: DeltaOption = "0",
    plot: PlotTo = None,
    as_json: AsJson = False,
) -> None:
    """Compute the certified privacy loss between two distributions over the same outputs, against a claim.

    Example: discreet audit laws --law 0.75,0.25 --neighbor 0.25,0.75 --epsilon 1.1
    """
    from .. import audit

    check_picture(plot)
    found = audit.laws(
        _numbers(law, "law"), _numbers(neighbor, "neighbor"), epsilon=epsilon, delta=delta
    )
    _show(found, plot, as_json=as_json)


@audit_app.command("draws")
def draws_command(
    file: Annotated[Path, typer.Argument(help="Answers on the data, one a line.")],
    neighbor_file: Annotated[Path, typer.Argument(help="As many on the neighbour.")],
    epsilon: ClaimOption,
    delta: DeltaOption = "0",
    confidence: Annotated[str, typer.Option(metavar="NUMBER")] = "0.95",
    as_json: AsJson = False,
) -> None:
    """Compute a lower bound on epsilon from answers of any program. It can refute a claim, never prove one."""
    from .. import audit

    found = audit.samples(_lines(file), _lines(neighbor_file), confidence=confidence, delta=delta)
    refuted = found.refutes(epsilon)
    if as_json:
        typer.echo(json.dumps({"refuted": refuted, **found.as_dict()}))
    else:
        typer.echo(f"{found}\nε = {epsilon} is {'REFUTED' if refuted else 'not refuted'}")
    raise typer.Exit(int(refuted))


def exact_audit(scores: str, neighbor: str, declared: dict[str, Any], terms: Terms) -> "ExactAudit":
    """Return the exact audit for the given options."""
    from .. import audit

    pair = _numbers(scores, "scores"), _numbers(neighbor, "neighbor")
    return audit.exact(*pair, **declared, **terms)


def _show(found: "ExactAudit", plot: Path | None, *, as_json: bool) -> None:
    """Print an audit, plot its privacy losses if asked to, and exit with the verdict."""
    if plot is not None:
        from .. import plots

        losses = [float(loss) for loss in found.losses()]
        plots.losses(losses, float(found.claimed)).savefig(plot)
    typer.echo(json.dumps(found.as_dict()) if as_json else str(found))
    raise typer.Exit(int(not found.holds))


def _numbers(text: str, name: str) -> list[Fraction]:
    """Return the numbers of a comma-separated list, exactly."""
    return [exact_number(part.strip(), f"--{name}") for part in text.split(",")]


def _lines(file: Path) -> list[str]:
    try:
        return file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        pass
    raise UnreadableFile(f"{file} cannot be read as text")
