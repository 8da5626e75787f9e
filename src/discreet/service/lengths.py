"""How long an answer may become in JSON, from public declarations alone, so that replies have one length."""

import json
from collections.abc import Iterable
from typing import Any

from ..batches import Call
from ..datasets.columns import Column
from ..datasets.dataset import Dataset
from ..date_grid import AnyGrid, DateGrid
from ..decimals import Decimals
from ..payment import Bill
from ..verbs.check import check
from .wire import write_value

_AROUND = 40
"""Characters around a value: its key, brackets and commas."""

_CHECKED = 200
"""Characters of the counts of a check: none of them is longer than 20, as the noise is cut."""

_REST = 200
"""Characters of the rest of a release: the names of its fields, a number of candidates."""


def longest_release(question: Call, bill: Bill, dataset: Dataset, size: int | None) -> int:
    """Return a bound on the characters of a release: of the answer, its guarantee, mechanism, unit and query.

    Raises:
        InvalidArgument: if an answer could not be written, or not be read where it arrives.
    """
    rest = {
        "guarantee": bill.guarantee.as_dict(), "mechanism": bill.mechanism, "unit": bill.unit, "query": bill.query,
    }  # fmt: skip
    return len(json.dumps(rest)) + _REST + longest_answer(question, dataset, size)


def longest_answer(question: Call, dataset: Dataset, size: int | None) -> int:
    """Return a bound on the characters of an answer to a question, without its data, whatever they are."""
    if question.verb is check:
        return _CHECKED
    terms = question.terms
    column = dataset.column(question.arguments[0])
    one = _longest(terms.get("candidates"), column)
    alphas = terms.get("alphas")
    many = int(terms.get("k", 1)) * (1 if alphas is None else len(list(alphas)))
    each = (size or terms.get("size") or 1) * many * one
    if terms.get("by") is None:
        return int(each)
    groups, by = terms.get("groups"), dataset.column(terms["by"])
    names = by.values if groups is None else groups
    return sum(_count_characters(name) + int(each) for name in names or ())


def _longest(candidates: Any, column: Column) -> int:
    """Return a bound on the characters of one candidate."""
    if isinstance(candidates, Iterable) and not isinstance(candidates, AnyGrid):
        return max(map(_count_characters, candidates), default=0)
    if candidates is None and column.enum is not None:
        return max(map(_count_characters, column.enum))
    grid = candidates if isinstance(candidates, AnyGrid) else column.grid
    if isinstance(grid, DateGrid):  # a time in JSON, with its microseconds and its offset
        return _AROUND + 50
    if isinstance(grid, Decimals) or (grid is None and column.is_numeric):
        return _AROUND + 60
    if grid is None:  # truths
        return _AROUND + 20
    # A point is lo + i step: no more digits than all of these have.
    return _AROUND + 2 * sum(len(str(part)) for part in (grid.lo, grid.hi, grid.step))


def _count_characters(value: object) -> int:
    return len(json.dumps(write_value(value))) + _AROUND
