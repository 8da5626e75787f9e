"""discreet ledger: open, show and verify privacy budgets and their history."""

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..errors import InvalidArgument
from ..privacy.units import one_record
from .options import AsJson, NeighborsName, PlotTo, PrivacyUnit, check_picture

if TYPE_CHECKING:
    from ..ledger import Budget, Charge, Event, Ledger
    from ..privacy.contract import Guarantee

ledger_app = typer.Typer(
    name="ledger",
    help="Privacy budgets that outlive the process, and every release charged to them.",
    no_args_is_help=True,
)

LedgerArgument = Annotated[
    str,
    typer.Argument(
        metavar="LEDGER", help="A file, or the URL of a PostgreSQL database.", show_default=False
    ),
]
DatasetOption = Annotated[
    str, typer.Option(metavar="NAME", help="The dataset.", show_default=False)
]
AnalystOption = Annotated[
    str | None, typer.Option(metavar="NAME", help="Whose share of the budget.")
]


@ledger_app.command("open")
def open_command(  # `open` is Python's
    where: Annotated[
        str,
        typer.Argument(
            metavar="LEDGER",
            help="A file, or the URL of a PostgreSQL database; or a dataset of discreet.toml.",
            show_default=False,
        ),
    ],
    dataset: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The dataset; not needed for one of discreet.toml."),
    ] = None,
    analyst: AnalystOption = None,
    epsilon: Annotated[
        str | None, typer.Option(metavar="NUMBER", help="The most all answers may cost together.")
    ] = None,
    rho: Annotated[
        str | None, typer.Option(metavar="NUMBER", help="Instead: rho of zero-concentrated DP.")
    ] = None,
    delta: Annotated[
        str | None, typer.Option(metavar="NUMBER", help="With --epsilon: (epsilon, delta)-DP.")
    ] = None,
    neighbors: NeighborsName = "add_remove",
    privacy_unit: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Whom it protects: all rows of one, not each row."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Open a budget for a dataset, or an analyst's share of it. Creates the ledger if it does not exist.

    Of a dataset that discreet.toml describes, the ledger, the budget and the privacy unit are those declared there.

    Example: discreet ledger open budget.db --dataset adult --epsilon 1
    """
    amounts: Any = {"epsilon": epsilon, "rho": rho, "delta": delta}
    if dataset is None:
        if "://" in where or Path(where).suffix:
            raise InvalidArgument(f"whose budget is it? give --dataset too: {where} is a ledger")
        from ..ledger.described import configuration, open_described

        opened = open_described(configuration(), where, analyst, **amounts)
        _show_budgets([opened], as_json=as_json)
        return
    terms: Any = {**amounts, "neighbors": neighbors, "privacy_unit": privacy_unit}
    _show_budgets([_open(where).open(dataset, analyst=analyst, **terms)], as_json=as_json)


@ledger_app.command("show")
def show_command(where: LedgerArgument, as_json: AsJson = False) -> None:
    """Show all budgets: total, spent and remaining.

    Example: discreet ledger show budget.db
    """
    _show_budgets(existing_ledger(where).budgets(), as_json=as_json)


@ledger_app.command("charge")
def charge_command(
    where: LedgerArgument,
    dataset: DatasetOption,
    description: Annotated[
        str, typer.Option(metavar="TEXT", help="What is released, in words.", show_default=False)
    ],
    request: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Its name: charged once, for the dataset and the analyst.",
            show_default=False,
        ),
    ],
    analyst: AnalystOption = None,
    epsilon: Annotated[
        str | None, typer.Option(metavar="NUMBER", help="What the release promises: epsilon-DP.")
    ] = None,
    rho: Annotated[
        str | None, typer.Option(metavar="NUMBER", help="Instead: rho of zero-concentrated DP.")
    ] = None,
    delta: Annotated[
        str | None, typer.Option(metavar="NUMBER", help="With --epsilon: (epsilon, delta)-DP.")
    ] = None,
    mu: Annotated[
        str | None, typer.Option(metavar="NUMBER", help="Instead: mu of Gaussian noise.")
    ] = None,
    neighbors: NeighborsName = "add_remove",
    privacy_unit: PrivacyUnit = None,
    as_json: AsJson = False,
) -> None:
    """Charge for a release of another program, before it is made. Exit code 1 if it was charged already.

    Example: discreet ledger charge budget.db --dataset adult --epsilon 1/2 --description "mean age" --request m1
    """
    guarantee = _read_guarantee({"epsilon": epsilon, "rho": rho, "mu": mu}, delta, neighbors)
    session = existing_ledger(where).session(dataset, analyst)
    _print_and_exit(session.charge(guarantee, description=description, request=request,
                         privacy_unit=privacy_unit), as_json=as_json)  # fmt: skip


@ledger_app.command("done")
def done_command(
    where: LedgerArgument,
    dataset: DatasetOption,
    request: Annotated[
        str, typer.Option(metavar="NAME", help="The name it was charged under.", show_default=False)
    ],
    analyst: AnalystOption = None,
    note: Annotated[
        str,
        typer.Option(metavar="TEXT", help="LedgerArgument the release is kept; nothing private."),
    ] = "made",
    as_json: AsJson = False,
) -> None:
    """Record that a charged release was made, so that it is not made again. The first note stays.

    Example: discreet ledger done budget.db --dataset adult --request m1 --note means.json
    """
    found = existing_ledger(where).session(dataset, analyst).done(request, note)
    _print_charge(found, as_json=as_json)


@ledger_app.command("spent")
def spent_command(
    where: LedgerArgument,
    dataset: DatasetOption,
    analyst: AnalystOption = None,
    delta: Annotated[
        str,
        typer.Option(
            metavar="NUMBER",
            help="The delta of (epsilon, delta)-DP, chosen without looking at answers.",
        ),
    ] = "1e-6",
    as_json: AsJson = False,
) -> None:
    """Show the guarantee of all answers so far, for adaptively chosen questions and any stopping time.

    With --analyst: of the answers to one analyst, if analysts share no answers and do not learn them by the ledger.

    Example: discreet ledger spent budget.db --dataset adult --delta 1e-6
    """
    found = existing_ledger(where).spent(dataset, analyst)
    if as_json:
        held = found.approx(delta).as_dict()
        typer.echo(json.dumps({**found.as_dict(), "at_delta": held}))
        return
    typer.echo(f"{found}\n{found.in_words(delta)}")


@ledger_app.command("history")
def history_command(
    where: LedgerArgument,
    dataset: Annotated[str | None, typer.Option(metavar="NAME", help="Only this dataset.")] = None,
    plot: PlotTo = None,
    as_json: AsJson = False,
) -> None:
    """Show every event: budgets opened, releases charged and answered. With --plot, the budget over time.

    Example: discreet ledger history budget.db --dataset adult
    """
    check_picture(plot)
    events = existing_ledger(where).history(dataset)
    if plot is not None:
        _plot_budget(existing_ledger(where), dataset, events, plot)
    if as_json:
        typer.echo(json.dumps([event.as_dict() for event in events]))
        return
    table = Table(box=None, pad_edge=False, show_edge=False)
    for title in ("", "time (UTC)", "event"):
        table.add_column(title, no_wrap=True)
    for title in ("dataset", "what", "cost"):
        table.add_column(title, overflow="fold")
    for event in events:
        table.add_row(*map(_literal, _event_cells(event)))
    Console(highlight=False).print(table)


@ledger_app.command("verify")
def verify_command(
    where: LedgerArgument,
    head: Annotated[
        str | None,
        typer.Option(
            metavar="HASH", help="A head noted elsewhere: finds a ledger_app that was replaced."
        ),
    ] = None,
    checkpoints: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Checkpoints kept elsewhere, signed or not: each must be there."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Recompute the chain of events and all sums. Exit code 5 if anything was edited.

    Example: discreet ledger verify budget.db --checkpoints monday.json
    """
    found = existing_ledger(where).verify(head, checkpoints=checkpoints)
    plain = {"events": found.events, "head": found.head}
    typer.echo(json.dumps(plain) if as_json else f"{found}\nNote the head elsewhere.")


@ledger_app.command("checkpoint")
def checkpoint_command(where: LedgerArgument) -> None:
    """Print the end of the ledger's chain, as a line of JSON to sign, print or keep elsewhere.

    Example: discreet ledger checkpoint budget.db > monday.json
    """
    typer.echo(str(existing_ledger(where).checkpoint()))


@ledger_app.command("export")
def export_command(
    where: LedgerArgument,
    path: Annotated[Path, typer.Argument(help="A .json or .csv file.", show_default=False)],
) -> None:
    """Write all events to a file, as JSON or CSV.

    Example: discreet ledger export budget.db events.csv
    """
    existing_ledger(where).export(path)


def existing_ledger(where: str) -> "Ledger":
    """Return an existing ledger; only `open` creates one."""
    if "://" not in where and not Path(where).exists():
        raise InvalidArgument(
            f"there is no ledger at {where}; make one: discreet ledger open {where} --dataset NAME --epsilon 1"
        )
    return _open(where)


def _open(where: str) -> "Ledger":
    """Return the ledger, with the checkpoints of DISCREET_CHECKPOINTS."""
    from ..ledger import Ledger  # heavy, and other commands do without

    return Ledger(where, checkpoints=os.environ.get("DISCREET_CHECKPOINTS") or None)


def _read_guarantee(one: dict[str, Any], delta: Any, neighbors: Any) -> "Guarantee":
    """Return the guarantee for the given options: one number, or epsilon and delta."""
    from .. import ZCDP, ApproxDP, GaussianDP, PureDP

    given = {name: value for name, value in one.items() if value is not None}
    if len(given) != 1 or (delta is not None and "epsilon" not in given):
        raise InvalidArgument(
            "what does the release promise? give --epsilon, --epsilon and --delta, --rho, or --mu"
        )
    [(name, value)] = given.items()
    if delta is not None:
        return ApproxDP(value, delta, neighbors)
    kinds: dict[str, Any] = {"epsilon": PureDP, "rho": ZCDP, "mu": GaussianDP}
    guarantee: Guarantee = kinds[name](value, neighbors)
    return guarantee


def _print_and_exit(charged: "Charge", *, as_json: bool) -> None:
    """Print a charge; exit with 1 if it is not new, so that `charge ... && release` releases once."""
    _print_charge(charged, as_json=as_json)
    raise typer.Exit(int(not charged.is_new))


def _print_charge(charged: "Charge", *, as_json: bool) -> None:
    typer.echo(json.dumps(charged.as_dict()) if as_json else str(charged))


def _show_budgets(budgets: list["Budget"], *, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps([budget.as_dict() for budget in budgets]))
        return
    table = Table(box=None, pad_edge=False, show_edge=False)
    for title in ("dataset", "analyst", "budget", "spent", "remaining", "neighbors", "one record"):
        table.add_column(title, overflow="fold")
    for budget in budgets:
        sums = map(str, (budget.total, budget.spent, budget.remaining))
        cells = budget.dataset, budget.analyst or "", *sums, budget.neighbors
        table.add_row(*map(_literal, (*cells, one_record(budget.unit))))
    Console(highlight=False).print(table)


def _literal(text: str) -> Text:
    """Return literal text: names are no markup, and control characters are escaped."""
    return Text("".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in text))


def _plot_budget(ledger: "Ledger", dataset: str | None, events: list["Event"], path: Path) -> None:
    """Plot the spent budget of a dataset over time, in epsilon or else rho."""
    from .. import plots
    from ..ledger.events import CHARGED
    from ..reports.budgets import spent_over_time

    whole = [b for b in ledger.budgets() if b.dataset == dataset and b.analyst is None]
    if not whole:
        raise InvalidArgument("--plot draws the budget of one dataset; give --dataset")
    unit, sign = ("rho", "ρ") if whole[0].total.epsilon is None else ("epsilon", "ε")
    own = [e for e in events if e.kind in CHARGED or (e.analyst is None and "total" in e.body)]
    plots.budget(spent_over_time(own, unit), unit=sign).savefig(path)


def _event_cells(event: "Event") -> tuple[str, ...]:
    """Return the cells of an event in the history."""
    from ..ledger.budget import read_amount
    from ..ledger.events import CHARGED

    name = event.dataset if event.analyst is None else f"{event.dataset} / {event.analyst}"
    body, at = event.body, event.at[:19].replace("T", " ")
    kind = event.kind.replace("_", " ")
    if event.kind in CHARGED:
        cost = " and ".join(str(read_amount(cost)) for cost in body["costs"])
        return str(event.number), at, kind, name, str(body["query"]), cost
    return str(event.number), at, kind, name, _described(event), ""


def _described(event: "Event") -> str:
    """Return the description of an event that charges nothing."""
    from ..ledger.budget import read_amount

    if event.kind == "answered":
        return f"to {event.request}"
    if event.kind == "released_outside":
        return f"{event.request}: {event.body['note']}"
    if event.kind == "carried":
        return "as it was before the ledger was renewed"
    per = f", per {event.body['privacy_unit']}" if "privacy_unit" in event.body else ""
    return f"{read_amount(event.body['total'])}{per}"
