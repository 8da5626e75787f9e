"""discreet ledger history, verify: the events of a ledger, and whether they are as written."""

import re
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from ..base.messages import BOTH, Message, gettext, join, translate
from ..errors import InvalidArgument
from .accounts import LedgerArgument, NamedAccount, OneDataset, account
from .answer_output import say
from .budget_tables import literal
from .json_output import print_json
from .options import AsJson, PlotTo, check_picture, option

if TYPE_CHECKING:
    from ..ledger import Event

_RELEASED = ("answered", "failed", "released_outside")
"""The kinds of events that end a release, in the row of the event that charged it."""

_COST_WIDTH = 24
"""Costs of up to so many letters stand in one line, such as an epsilon and a delta."""

_MADE_UP = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
"""The names that requests get if they are asked without one."""


def history_command(
    where: LedgerArgument = None,
    dataset: OneDataset = None,
    plot: PlotTo = None,
    export: Annotated[
        Path | None, option("FILE", "Also write the events to a file, as .json or .csv.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show every event, one row a release.

    Events are budgets that were opened or extended, and releases that were charged or answered. Use --json or
    --export to get all of them, and --plot to draw the budget over time.

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
    _show_events(events)


def _show_events(events: Sequence["Event"]) -> None:
    """Print one row for every release and every other event, with a column of names if there are several."""
    names = dict.fromkeys(map(_account_name, events))
    table = Table(box=None, pad_edge=False, show_edge=False)
    for title in ("", gettext("time (UTC)", "a column"), gettext("event", "a column")):
        table.add_column(literal(title), no_wrap=True)
    if len(names) > 1:
        table.add_column(literal(gettext("dataset", "a column")), overflow="fold")
    table.add_column(literal(gettext("what", "a column")), overflow="fold")
    ending = {_release_of(event): event for event in events if event.kind in _RELEASED}
    rows = []
    for event in events:
        if event.kind not in _RELEASED:
            whose = [_account_name(event)] * (len(names) > 1)
            start, end = _event_cells(event, ending.get(_release_of(event)))
            rows.append((*start, *whose, *end))
    # A short cost is not broken to make room for a long question.
    is_short = all(len(row[-1]) <= _COST_WIDTH for row in rows)
    table.add_column(literal(gettext("cost", "a column")), overflow="fold", no_wrap=is_short)
    for row in rows:
        table.add_row(*map(literal, row))
    console = Console(highlight=False)
    console.print(table)
    if len(names) == 1:
        console.print(literal(gettext("all of {dataset}", dataset=next(iter(names)))))


def verify_command(
    where: LedgerArgument = None,
    head: Annotated[
        str | None, option("HASH", "A head noted elsewhere. It reveals a ledger that was replaced.")
    ] = None,
    checkpoints: Annotated[
        Path | None,
        option(
            "FILE", "Checkpoints kept elsewhere, signed or not. The ledger must hold each of them."
        ),
    ] = None,
    write_checkpoint: Annotated[
        Path | None,
        option("FILE", "Write the end of the chain to a file, to sign or keep elsewhere."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Recompute the chain of events and all sums. Exit with 5 if anything was edited.

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
    """Plot the spent budget of a dataset over time, in epsilon or else rho. The one that is charged now."""
    from ..ledger.events import CHARGED
    from ..study import plots
    from ..study.reports.budget_report import spent_over_time

    current = [] if of.whose is None else of.budgets[-1:]
    whole = [b for b in of.ledger.budgets() if b.dataset in current and b.analyst is None]
    if not whole:
        raise InvalidArgument("--plot draws the budget of one dataset. Give --dataset")
    unit, sign = ("rho", "ρ") if whole[0].total.epsilon is None else ("epsilon", "ε")
    own = [e for e in events if e.dataset in current and _changes(e, CHARGED)]
    plots.budget(spent_over_time(own, unit), unit=sign).savefig(path)


def _changes(event: "Event", charged: Collection[str]) -> bool:
    return event.kind in charged or (event.analyst is None and "total" in event.body)


def _account_name(event: "Event") -> str:
    """Return the names of the dataset and of the analyst that an event is about."""
    return event.dataset if event.analyst is None else f"{event.dataset} / {event.analyst}"


def _release_of(event: "Event") -> tuple[str, str | None, str | None]:
    """Return the release that an event belongs to."""
    return event.dataset, event.analyst, event.request


def _event_cells(
    event: "Event", ending: "Event | None"
) -> tuple[tuple[str, str, str], tuple[str, str]]:
    """Return the cells of an event before and after its name. A charge includes its release, if there was one."""
    from ..ledger.budget import read_amount
    from ..ledger.events import CHARGED

    body, kind, cost = event.body, event.kind, ""
    if kind in CHARGED:
        # Dataset and analyst are charged the same, unless their budgets count in other units.
        amounts = dict.fromkeys(str(read_amount(amount)) for amount in body["costs"])
        cost = translate(join(BOTH, amounts))
        what = f"{translate(event.question)} ({_beginning(str(event.request))})"
        if ending is not None:
            kind, note = ending.kind, ending.body.get("note")
            note = ending.body.get("reason") if note is None else note
            what = what if note is None else f"{what}: {note}"
    else:
        what = _event_description(event)
    label = gettext(kind.replace("_", " "), "an event")
    return (str(event.number), event.at[:16].replace("T", " "), label), (what, cost)


def _beginning(request: str) -> str:
    """Return the name of a request, or the beginning of one that was made up."""
    return request[:8] if _MADE_UP.fullmatch(request) else request


def _event_description(event: "Event") -> str:
    """Return the description of an event without a charge."""
    from ..ledger.budget import read_amount
    from ..ledger.events import DELAY_EVENTS
    from ..privacy.sensitivity import read_unit, unit_in_words

    if event.kind in ("reopened", "reset", "second_reading", "third_reading"):
        return ""
    if event.kind in DELAY_EVENTS:
        words = (event.body["request"], f"× {event.body['delay']}", event.body.get("reason", ""))
        return " ".join(filter(None, words))
    if event.kind == "described":
        begins = f", {event.body['per']} {event.body['period']}" if "per" in event.body else ""
        return f"{event.body['name']}: {event.body['digest'][:14]}{begins}"
    unit = read_unit(event.body.get("privacy_unit"))
    total = read_amount(event.body["total"])
    if unit is None:
        return translate(total)
    return gettext("{total}, per {unit}", total=total, unit=unit_in_words(unit))
