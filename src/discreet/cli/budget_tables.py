"""Budgets on the command line, and notes about shares."""

from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..base.escapes import visible_text
from ..base.messages import Message, gettext, translate
from ..privacy.sensitivity import one_record
from .answer_output import say
from .json_output import print_json

if TYPE_CHECKING:
    from ..ledger import Budget, Ledger
    from ..tables.datasets import Dataset


def show_budgets(budgets: list["Budget"], *, as_json: bool) -> None:
    """Print budgets as a table, with the records that they protect below it, or as JSON."""
    if as_json:
        print_json([budget.as_dict() for budget in budgets])
        return
    if not budgets:
        return
    columns = _budget_columns(budgets)
    table = Table(box=None, pad_edge=False, show_edge=False)
    for title in columns:
        table.add_column(literal(translate(title)), overflow="fold")
    for cells in zip(*columns.values(), strict=True):
        table.add_row(*map(literal, cells))
    console = Console(highlight=False)
    console.print(table)
    for line in _protections(budgets):
        console.print(literal(line))


def _budget_columns(budgets: list["Budget"]) -> dict[Message, list[str]]:
    """Return the columns of a table of budgets. Those that are empty are left out."""
    rows = [
        (
            budget.dataset,
            budget.analyst or "",
            translate(budget.total),
            translate(budget.spent),
            translate(budget.remaining),
            budget.standing,
        )
        for budget in budgets
    ]
    titles = (
        Message("dataset", "a column"),
        Message("analyst", "a column"),
        Message("budget", "a column"),
        Message("spent", "a column"),
        Message("remaining", "a column"),
        Message("period", "a column"),
    )
    columns = zip(titles, zip(*rows, strict=True), strict=True)
    return {title: [*cells] for title, cells in columns if any(cells)}


def _protections(budgets: list["Budget"]) -> list[str]:
    """Return the records that budgets protect, in one line if they are the same for all."""
    datasets: dict[tuple[str, str], dict[str, None]] = {}
    for budget in budgets:
        about = translate(one_record(budget.unit)), budget.neighbors
        datasets.setdefault(about, {})[budget.dataset] = None
    if len(datasets) == 1:
        [(record, neighbors)] = datasets
        return [gettext("protected: {record} ({neighbors})", record=record, neighbors=neighbors)]
    return [
        gettext(
            "protected of {datasets}: {record} ({neighbors})",
            datasets=", ".join(names), record=record, neighbors=neighbors,
        )
        for (record, neighbors), names in datasets.items()
    ]  # fmt: skip


def note_closed_shares(ledger: "Ledger", dataset: "Dataset") -> None:
    """Say on stderr which analysts had a share of a budget that was renewed, and have none now."""
    (budgets,) = ledger.budgets_of(dataset)
    now = {each.analyst for each in budgets if each.is_current}
    for analyst in dict.fromkeys(each.analyst for each in budgets if each.analyst not in now):
        say(
            Message(
                "note: {analyst} has no share of the new budget. Give one: discreet ledger open "
                "{dataset} --analyst {analyst}",
                analyst=analyst,
                dataset=dataset.name,
            )
        )


def literal(text: str) -> Text:
    """Return literal text: names are no markup, and control characters are escaped."""
    return Text(visible_text(text))
