"""Budgets on the command line, and notes about shares."""

import json
from typing import TYPE_CHECKING

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..privacy.units import one_record
from .answers import say

if TYPE_CHECKING:
    from ..datasets import Dataset
    from ..ledger import Budget, Ledger


def show_budgets(budgets: list["Budget"], *, as_json: bool) -> None:
    """Print budgets as a table, or as JSON."""
    if as_json:
        typer.echo(json.dumps([budget.as_dict() for budget in budgets]))
        return
    table = Table(box=None, pad_edge=False, show_edge=False)
    titles = ["dataset", "analyst", "budget", "spent", "remaining", "neighbors", "one record"]
    standing = any(budget.standing for budget in budgets)
    for title in (*titles, *["period"] * standing):
        table.add_column(title, overflow="fold")
    for budget in budgets:
        sums = map(str, (budget.total, budget.spent, budget.remaining))
        cells = budget.dataset, budget.analyst or "", *sums, budget.neighbors
        last = [budget.standing] * standing
        table.add_row(*map(literal, (*cells, one_record(budget.unit), *last)))
    Console(highlight=False).print(table)


def note_closed_shares(ledger: "Ledger", dataset: "Dataset") -> None:
    """Say on stderr which analysts had a share of a budget that was renewed, and have none now."""
    (found,) = ledger.budgets_of(dataset)
    now = {each.analyst for each in found if each.is_current}
    for analyst in dict.fromkeys(each.analyst for each in found if each.analyst not in now):
        say(
            f"note: {analyst} has no share of the new budget; give one: "
            f"discreet ledger open {dataset.name} --analyst {analyst}"
        )


def literal(text: str) -> Text:
    """Return literal text: names are no markup, and control characters are escaped."""
    return Text("".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in text))
