"""discreet report: an audit or a budget as one self-contained HTML file."""

from pathlib import Path
from typing import Annotated

import typer

from ..messages import gettext, language
from ..terms import Terms
from .accounts import DatasetOption, LedgerArgument, account
from .audit import ChangeOption, MonotonicOption, NumbersOption, SpreadOption, exact_audit
from .options import (
    Epsilon,
    MechanismName,
    MechanismOptions,
    NeighborsName,
    NoiseName,
    ReportLanguage,
    Rho,
    Scale,
    chosen_mechanism,
)

report_app = typer.Typer(
    name="report",
    help="Write a report: one file of HTML that needs no other. Releases have --report.",
    no_args_is_help=True,
)

OutOption = Annotated[
    Path, typer.Option(metavar="FILE", help="Where to write it, as .html.", show_default=False)
]


@report_app.command("audit")
def audit_command(
    scores: NumbersOption,
    neighbor: NumbersOption,
    out: OutOption,
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
    lang: ReportLanguage = None,
) -> None:
    """Report the loss of a mechanism on two neighbors' scores.

    It is certified. Exit code 1 if its guarantee does not hold for them. The report is as private as the scores.

    Example: discreet report audit --scores 0,1,2 --neighbor 1,1,2 --sensitivity 1 --epsilon 1 --out a.html
    """
    from ..reports import check_path, report

    check_path(out)
    terms: Terms = {
        "epsilon": epsilon,
        "rho": rho,
        "scale": scale,
        "neighbors": neighbors,  # type: ignore[typeddict-item]  # it is checked where it is read
        "mechanism": chosen_mechanism(mechanism, noise, mechanism_option),
    }
    declared = {"sensitivity": sensitivity, "spread": spread, "monotonic": monotonic}
    found = exact_audit(scores, neighbor, declared, terms)
    written = report(found, out, lang=lang or language())
    typer.echo(gettext("wrote {path}", path=written))
    raise typer.Exit(int(not found.holds))


@report_app.command("ledger")
def ledger_command(
    where: LedgerArgument = None,
    dataset: DatasetOption = None,
    *,
    out: OutOption,
    lang: ReportLanguage = None,
) -> None:
    """Report a dataset's budget: total, questions, and remainder.

    Example: discreet report ledger budget.db --dataset adult --out report.html
    """
    from ..reports import check_path, report

    check_path(out)
    of = account(where, dataset)
    named = of.one if isinstance(of.one, str) else of.budgets[-1]
    written = report(of.ledger, out, dataset=named, lang=lang or language())
    typer.echo(gettext("wrote {path}", path=written))
