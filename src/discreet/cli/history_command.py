"""discreet ledger history, verify: the events of a ledger, and whether they are as written."""

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from ..errors import InvalidArgument
from ..messages import BOTH, Message, gettext, join, translate
from .accounts import LedgerArgument, NamedAccount, OneDataset, account
from .answers import say
from .budget_tables import literal
from .json_output import print_json
from .options import AsJson, PlotTo, check_picture

if TYPE_CHECKING:
    from ..ledger import Event


def history_command(
    where: LedgerArgument = None,
    dataset: OneDataset = None,
    plot: PlotTo = None,
    export: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write them too, as .json or .csv.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show every event.

    Events are budgets opened and extended, and releases charged and answered. The budget over time can be drawn.

    Example: discreet ledger history budget.db --dataset adult
    """
    check_picture(plot)
    of = account(where, dataset)
    events = of.ledger.history(of.whose)
    if plot is not None:
        _plot_budget(of, events, plot)
    if export is not None:
        from ..ledger.exports import export_events

        export_events(events, export)
    if as_json:
        print_json([event.as_dict() for event in events])
        return
    table = Table(box=None, pad_edge=False, show_edge=False)
    for title in ("", gettext("time (UTC)", "a column"), gettext("event", "a column")):
        table.add_column(literal(title), no_wrap=True)
    for title in (
        Message("dataset", "a column"),
        Message("what", "a column"),
        Message("cost", "a column"),
    ):
        table.add_column(literal(translate(title)), overflow="fold")
    for event in events:
        table.add_row(*map(literal, _event_cells(event)))
    Console(highlight=False).print(table)


def verify_command(
    where: LedgerArgument = None,
    head: Annotated[
        str | None,
        typer.Option(
            metavar="HASH", help="A head noted elsewhere: finds a ledger that was replaced."
        ),
    ] = None,
    checkpoints: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Checkpoints kept elsewhere, signed or not: each must be there."
        ),
    ] = None,
    write_checkpoint: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the end of the chain, to sign or keep elsewhere."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Recompute the chain of events and all sums. Exit code 5 if anything was edited.

    Example: discreet ledger verify budget.db --checkpoints monday.json
    """
    ledger = account(where).ledger
    verification = ledger.verify(head, checkpoints=checkpoints)
    if write_checkpoint is not None:
        write_checkpoint.write_text(f"{ledger.checkpoint()}\n", encoding="utf-8")
    plain = {
        "events": verification.events,
        "head": verification.head,
        "notes": list(verification.notes),
    }
    if as_json:
        print_json(plain)
    else:
        typer.echo(translate(verification))
        say(Message("keep the head elsewhere: it finds a ledger that was replaced"))


def _plot_budget(of: NamedAccount, events: list["Event"], path: Path) -> None:
    """Plot the spent budget of a dataset over time, in epsilon or else rho; the one that is charged now."""
    from .. import plots
    from ..ledger.events import CHARGED
    from ..reports.budget_report import spent_over_time

    current = [] if of.whose is None else of.budgets[-1:]
    whole = [b for b in of.ledger.budgets() if b.dataset in current and b.analyst is None]
    if not whole:
        raise InvalidArgument("--plot draws the budget of one dataset; give --dataset")
    unit, sign = ("rho", "ρ") if whole[0].total.epsilon is None else ("epsilon", "ε")
    own = [e for e in events if e.dataset in current and _changes(e, CHARGED)]
    plots.budget(spent_over_time(own, unit), unit=sign).savefig(path)


def _changes(event: "Event", charged: Collection[str]) -> bool:
    return event.kind in charged or (event.analyst is None and "total" in event.body)


def _event_cells(event: "Event") -> tuple[str, ...]:
    """Return the cells of an event in the history."""
    from ..ledger.budget import read_amount
    from ..ledger.events import CHARGED

    name = event.dataset if event.analyst is None else f"{event.dataset} / {event.analyst}"
    body, at = event.body, event.at[:19].replace("T", " ")
    kind = gettext(event.kind.replace("_", " "), "an event")
    if event.kind in CHARGED:
        # Dataset and analyst are charged the same, unless their budgets count in other units.
        cost = translate(
            join(BOTH, dict.fromkeys(str(read_amount(cost)) for cost in body["costs"]))
        )
        return str(event.number), at, kind, name, str(body["query"]), cost
    return str(event.number), at, kind, name, _event_description(event), ""


def _event_description(event: "Event") -> str:
    """Return the description of an event without a charge."""
    from ..ledger.budget import read_amount
    from ..privacy.units import read_unit, unit_in_words

    if event.kind in ("answered", "failed"):
        return gettext("to {request}", request=event.request)
    if event.kind == "reopened":
        return ""
    if event.kind == "released_outside":
        return f"{event.request}: {event.body['note']}"
    if event.kind == "described":
        begins = f", {event.body['per']} {event.body['period']}" if "per" in event.body else ""
        return f"{event.body['name']}: {event.body['digest'][:14]}{begins}"
    if event.kind == "carried":
        return gettext("as it was before the ledger was renewed")
    unit = read_unit(event.body.get("privacy_unit"))
    total = read_amount(event.body["total"])
    if unit is None:
        return translate(total)
    return gettext("{total}, per {unit}", total=total, unit=unit_in_words(unit))
