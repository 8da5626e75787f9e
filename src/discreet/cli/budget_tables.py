"""Budgets on the command line, and notes about shares."""

from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..messages import Message, translate
from ..privacy.units import one_record
from .answers import say
from .json_output import print_json

if TYPE_CHECKING:
    from ..datasets import Dataset
    from ..ledger import Budget, Ledger


def show_budgets(budgets: list["Budget"], *, as_json: bool) -> None:
    """Print budgets as a table, or as JSON."""
    if as_json:
        print_json([budget.as_dict() for budget in budgets])
        return
    table = Table(box=None, pad_edge=False, show_edge=False)
    titles = [
        Message("dataset", "a column"),
        Message("analyst", "a column"),
        Message("budget", "a column"),
        Message("spent", "a column"),
        Message("remaining", "a column"),
        Message("neighbors", "a column"),
        Message("one record", "a column"),
    ]
    standing = any(budget.standing for budget in budgets)
    for title in (*titles, *[Message("period", "a column")] * standing):
        table.add_column(literal(translate(title)), overflow="fold")
    for budget in budgets:
        sums = map(translate, (budget.total, budget.spent, budget.remaining))
        cells = budget.dataset, budget.analyst or "", *sums, budget.neighbors
        last = [budget.standing] * standing
        table.add_row(*map(literal, (*cells, translate(one_record(budget.unit)), *last)))
    Console(highlight=False).print(table)


def note_closed_shares(ledger: "Ledger", dataset: "Dataset") -> None:
    """Say on stderr which analysts had a share of a budget that was renewed, and have none now."""
    (budgets,) = ledger.budgets_of(dataset)
    now = {each.analyst for each in budgets if each.is_current}
    for analyst in dict.fromkeys(each.analyst for each in budgets if each.analyst not in now):
        say(
            Message(
                "note: {analyst} has no share of the new budget; give one: discreet ledger open {dataset} "
                "--analyst {analyst}",
                analyst=analyst,
                dataset=dataset.name,
            )
        )


def literal(text: str) -> Text:
    """Return literal text: names are no markup, and control characters are escaped."""
    return Text("".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in text))
