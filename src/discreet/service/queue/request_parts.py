"""The public number of parts of a request: about how many columns are read for it.

All of it follows from the question and the description. The constants are fitted: `test_request_parts` measures
that no request takes much longer for each part than a plain median does.
"""

from collections.abc import Collection
from math import ceil

from ...selection.bins import Bins, is_of_cells
from ...selection.date_grid import AnyGrid
from ...selection.verb_calls import Call
from ...tables.conditions.condition_readers import read_condition
from ...tables.conditions.conditions import count_parts
from ...tables.datasets import Dataset
from ...tables.datasets.value_lists import cells_of, lists_of_values
from ...tables.engines.records import is_private
from ...tables.verb_table import VERBS, VerbFacts, use_of
from ...tables.verbs.private_groups import MOST_DRAWN
from ...tables.verbs.sql import parts_of, sql

COMPARISONS_OF_A_PART, CANDIDATES_OF_A_PART, READINGS_OF_A_CHECK = 4, 10_000, 4
BINS_OF_A_PART = 25
"""A database takes about so long to plan the comparisons of so many bins."""

_CHECKS = ("check", "profile")

_READS_ONCE = ("values", "keys", "records")
"""The uses of verbs that read a column once for all groups. Others read it again for each group."""


def request_parts(call: Call, data: object) -> int:
    """The number of parts of a question: readings of columns, with their comparisons, and the column of groups.

    Args:
        call: the question, without its data.
        data: the dataset.
    """
    terms = call.terms
    if call.verb is sql:
        return sum(
            request_parts(Call(*one), data)
            for one in parts_of(
                terms.get("statement", *call.arguments), data if isinstance(data, Dataset) else None
            )
        )
    condition = read_condition(terms.get("where"))
    comparisons = 0 if condition is None else count_parts(condition)
    columns = _columns_read(call, data)
    readings = columns * _readings_of_each(call, data) + ceil(
        columns * comparisons / COMPARISONS_OF_A_PART
    )
    return readings + _more_columns(call) + _parts_of_columns(terms.get("by"))


def _more_columns(call: Call) -> int:
    """The number of parts that the columns of cells have beyond the first."""
    return _parts_of_columns(call.arguments[0]) - 1 if _is_of_cells(call) else 0


def _is_of_cells(call: Call) -> bool:
    """Whether a question is about the cells of several columns, or of bins."""
    facts = VERBS.get(_verb_name(call), VerbFacts())
    return facts.takes_cells and bool(call.arguments) and is_of_cells(call.arguments[0])


def _parts_of_columns(column: object) -> int:
    """The number of parts of a column, of bins with the expression that finds one, or of several columns."""
    cells = cells_of(column)
    if cells is None:
        return int(column is not None)
    edges = sum(len(one.edges) for one in cells.parts if isinstance(one, Bins))
    return len(cells.parts) + ceil(edges / BINS_OF_A_PART)


def _verb_name(call: Call) -> str:
    """The name of the verb, also of one with some of its arguments."""
    return str(getattr(getattr(call.verb, "func", call.verb), "__name__", ""))


def _columns_read(call: Call, dataset: object) -> int:
    """The number of columns that are read."""
    if _verb_name(call) not in _CHECKS or not isinstance(dataset, Dataset):
        return 1
    named = call.arguments[0] if call.arguments else call.terms.get("columns")
    return 1 if isinstance(named, str) else len(dataset.columns)


def _readings_of_each(call: Call, dataset: object) -> int:
    """The number of times that each column is read, or as long as that."""
    if _verb_name(call) in _CHECKS:
        return READINGS_OF_A_CHECK
    groups = _most_groups(call, dataset)
    if use_of(_verb_name(call)) not in _READS_ONCE:
        return groups
    return max(1, ceil(groups * _declared_candidates(call, dataset) / CANDIDATES_OF_A_PART))


def _most_groups(call: Call, dataset: object) -> int:
    """The number of groups at most. One where there is no column of groups."""
    by, groups = call.terms.get("by"), call.terms.get("groups")
    if by is None:
        return 1
    if isinstance(dataset, Dataset):
        lists = lists_of_values(dataset, by, groups)
        groups = None if lists is None else range(lists.size)
    if groups is None or is_private(groups):
        return int(call.terms.get("most_drawn") or MOST_DRAWN)
    return _number_of(groups)


def _declared_candidates(call: Call, dataset: object) -> int:
    """The number of declared candidates, or none if values are drawn, or no candidates are declared."""
    candidates = call.terms.get("candidates")
    if isinstance(dataset, Dataset) and _is_of_cells(call):
        lists = lists_of_values(dataset, call.arguments[0], candidates)
        return 0 if lists is None else lists.size
    if candidates is None and call.arguments and isinstance(dataset, Dataset):
        column = dataset.column(call.arguments[0])
        candidates = column.grid if column.values is None else column.values
    return 0 if candidates is None or is_private(candidates) else _number_of(candidates)


def _number_of(choices: AnyGrid | Collection[object]) -> int:
    """The number of values in a list or a grid."""
    return choices.size if isinstance(choices, AnyGrid) else len(choices)
