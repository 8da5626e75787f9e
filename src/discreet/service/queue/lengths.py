"""How long an answer may become in JSON, from public declarations alone, so that replies have one length."""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ...base.numbers import exact
from ...selection.date_grid import AnyGrid, DateGrid
from ...selection.decimals import Decimals
from ...selection.payment import Bill
from ...selection.question_sentences import facts_of
from ...selection.verb_calls import Call
from ...tables.datasets.columns import Column
from ...tables.datasets.dataset import Dataset
from ...tables.datasets.value_lists import ValueLists, cells_of, lists_of_values
from ...tables.engines.records import is_private
from ...tables.values.key_values import MOST_KEY_BYTES
from ...tables.verb_table import VERBS, Room, VerbFacts
from ...tables.verbs.count import counts
from ...tables.verbs.described_statements import statement_about
from ...tables.verbs.keys import MOST_RELEASED, keys
from ...tables.verbs.private_groups import MOST_DRAWN
from ...tables.verbs.top_k import top_k
from ..asking.free_questions import parts_of_question
from ..asking.wire import longest_text, write_value
from .padding import LENGTH

_AROUND = 40
"""Characters around a value: its key, brackets and commas."""

_CHECKED = 280
"""Characters of the counts of a check: none of them is longer than 20, as the noise is cut."""

_NUMBER = 40
"""Characters of a count, with brackets and a comma: it is between -2**63 and 2**63."""

_DECIMAL = _AROUND + 60
"""Characters of a decimal of a few digits, whatever its exponent is."""

_DIGITS_OF_SUM = 50
"""Characters of the number of steps in a sum, and of those by which a mean is finer."""

_LONGEST_SUM = 2000
"""Characters of a sum between bounds that were drawn, which may be any doubles, and of its count."""

_KEY = longest_text(MOST_KEY_BYTES) + _NUMBER
"""Characters of a key with its count. Whatever a key is, its text is not longer than that of a text."""

_FOR_THE_REST = 4000
"""Characters that the guarantee and the question of a reply have besides, where the answer takes all the rest."""

_ERROR = 150
"""Characters of how far off an answer may be, with a comma: a number of up to 40, and a unit."""

_REST = 200 + _ERROR
"""Characters of the rest of a release: the names of its fields, a number of candidates, its error."""


def longest_release(question: Call, bill: Bill, dataset: Dataset) -> int:
    """Return a bound on the characters of a release: of the answer, its guarantee, mechanism, unit and query.

    Raises:
        InvalidArgument: if an answer could not be written, or not be read where it arrives.
    """
    rest = {
        "guarantee": bill.guarantee.as_dict(), "mechanism": bill.mechanism, "unit": bill.unit, "query": bill.query,
        "asked": facts_of(bill.query),
    }  # fmt: skip
    return len(json.dumps(rest)) + _REST + longest_answer(question, dataset)


def longest_answer(question: Call, dataset: Dataset) -> int:
    """Return a bound on the characters of an answer to a question, without its data, whatever they are."""
    terms, parts = question.terms, parts_of_question(question, dataset)
    if parts:
        return _longest_table(terms["statement"], parts, dataset)
    each = _longest_without_groups(question, dataset)
    if terms.get("by") is None:
        return each
    groups, by = terms.get("groups"), terms["by"]
    if is_private(groups):
        most = terms.get("most_drawn")
        one = _names(question) * _longest_key(by) + each
        return (MOST_DRAWN if most is None else int(most)) * one
    names = _names_of(dataset, by, groups)
    # Counts and gaps by group name the groups once more.
    return 3 * _total(names) + names.size * each


def _names_of(dataset: Dataset, column: object, labels: object) -> ValueLists:
    """Return the values that an answer names, or none if they are not known, which the verb refuses."""
    return lists_of_values(dataset, column, labels) or ValueLists([()])


def _total(names: ValueLists) -> int:
    """Return a bound on the characters of all values, or of all tuples of values, without making one."""
    if len(names.parts) == 1:
        return sum(map(_count_characters, names.parts[0]))
    of_parts = (names.size // len(part) * sum(map(_in_cell, part)) for part in names.parts if part)
    return names.size * _AROUND + sum(of_parts)


def _in_cell(label: object) -> int:
    """Return the characters of a value in a cell, with a comma and a space."""
    return _count_characters(label) - _AROUND + 2


def _longest_key(column: object) -> int:
    """Return a bound on the characters of a key with its count. A tuple has one text for every column."""
    cells = cells_of(column)
    return _KEY if cells is None else _KEY + len(cells.parts) * longest_text(0)


def _longest_table(statement: str, parts: Iterable[Call], dataset: Dataset) -> int:
    """Return a bound on the characters of an answer to a statement: every row has the names of all columns."""
    table = statement_about(statement, dataset)
    groups = None if table.by is None else lists_of_values(dataset, table.by, None)
    names = sum(_count_characters(name) for name in table.columns)
    rows = MOST_DRAWN if groups is None else groups.size
    rows = 1 if table.by is None else rows
    errors = sum(_ERROR + len(json.dumps(name)) for name in table.columns)
    return errors + rows * names + sum(longest_answer(part, dataset) for part in parts)


def _longest_without_groups(question: Call, dataset: Dataset) -> int:
    """Return a bound on the characters of one answer of one group."""
    terms, facts = question.terms, VERBS.get(question.verb.__name__, VerbFacts())
    if not question.arguments:
        return _NUMBER
    of = question.arguments[0]
    if facts.room in _OF_COUNTS:
        return _longest_histogram(question, dataset)
    if facts.takes_cells and cells_of(of) is not None:
        one = _longest_cell(dataset, of, terms.get("candidates"))
    elif facts.room != "candidates":
        return _BY_ROOM[facts.room](terms, dataset.column(of))
    else:
        one = _longest(terms.get("candidates"), dataset.column(of))
    alphas = terms.get("alphas")
    many = int(terms.get("k", 1)) * (1 if alphas is None else len(list(alphas)))
    return many * (one + (_NUMBER if _may_count(question) else 0) + _longest_gap(terms))


def _longest_cell(dataset: Dataset, columns: object, candidates: object) -> int:
    """Return a bound on the characters of one cell of several columns."""
    if is_private(candidates):
        return _longest_key(columns)
    names = _names_of(dataset, columns, candidates)
    return _AROUND + sum(max(map(_in_cell, part), default=0) for part in names.parts)


def _names(question: Call) -> int:
    """Return how often a group is named: counts and gaps by group name it once more."""
    return 1 + int(_may_count(question)) + int(bool(question.terms.get("gap")))


def with_most(question: Call, dataset: Dataset) -> Call:
    """Return a question that draws keys or groups with the most that any reply can hold, if it says no number."""
    terms, room = question.terms, LENGTH // 2 - _FOR_THE_REST
    if is_private(terms.get("groups")):
        each = _longest_without_groups(question, dataset)
        key = _longest_key(terms.get("by"))
        name, most = "most_drawn", room // int(_names(question) * key + each)
    elif question.verb is keys or (question.verb is counts and "delta" in terms):
        name, most = "most", room // _longest_key(next(iter(question.arguments), None))
    else:
        return question
    return question._replace(terms={name: max(1, most), **terms})


def _may_count(question: Call) -> bool:
    """Return whether noisy counts may be beside the answers."""
    method = question.terms.get("method")
    is_counted = method == "counts" or is_private(question.terms.get("candidates"))
    return is_counted or (question.verb is top_k and method is None)


def _longest_histogram(question: Call, dataset: Dataset) -> int:
    """Return a bound on the characters of a count for every candidate, or of keys with theirs and of the rest."""
    terms, column = question.terms, question.arguments[0]
    is_drawn = terms.get("delta") is not None and not is_private(terms.get("groups"))
    if question.verb is keys or is_drawn:
        most = terms.get("most")
        return (MOST_RELEASED if most is None else int(most)) * _longest_key(column) + _NUMBER
    names = _names_of(dataset, column, terms.get("candidates"))
    return _total(names) + names.size * _NUMBER


def _longest_sum(terms: Mapping[str, Any], column: Column) -> int:
    """Return a bound on the characters of a sum or a mean, and of its count: below 2**126 steps, or finer ones."""
    if terms.get("bounds_share") is not None:
        return 2 * _DECIMAL + _LONGEST_SUM
    if not (column.is_numeric or column.type == "boolean"):  # a date, or a time with its offset
        return _AROUND + 2 * _NUMBER
    if column.type == "boolean":  # 0 and 1, in steps of 1, whatever is given
        return _AROUND + _NUMBER + 2 * (_DIGITS_OF_SUM + 3)
    parts = [terms.get(name, getattr(column, name)) for name in ("minimum", "maximum", "step")]
    parts += [terms.get(name) for name in ("min_sum", "max_sum")]
    digits = sum(len(str(exact(part, "a bound"))) for part in parts if part is not None)
    return _AROUND + _NUMBER + 2 * (_DIGITS_OF_SUM + digits)


def _longest_gap(terms: Mapping[str, Any]) -> int:
    """Return a bound on the characters of a gap: below 2**64 records, in steps of a tenth of the noise or less."""
    if not terms.get("gap"):
        return 0
    parameters = (terms.get(name) for name in ("epsilon", "rho", "scale"))
    return _AROUND + sum(len(str(exact(one, "it"))) for one in parameters if one is not None)


_OF_COUNTS: tuple[Room, ...] = ("histogram", "keys")
"""The rooms of answers with a count for every value."""

_BY_ROOM: Mapping[Room, Callable[[Mapping[str, Any], Column], int]] = {
    "check": lambda *_: _CHECKED,
    "number": lambda *_: _NUMBER,
    "sum": _longest_sum,
    "ends": lambda *_: 2 * _DECIMAL,
}
"""How long an answer that holds no candidates may become."""


def _longest(candidates: Any, column: Column) -> int:
    """Return a bound on the characters of one candidate, or of a key."""
    if is_private(candidates):
        return _KEY
    if isinstance(candidates, Iterable) and not isinstance(candidates, AnyGrid):
        return max(map(_count_characters, candidates), default=0)
    if candidates is None and column.enum is not None:
        return max(map(_count_characters, column.enum))
    grid = candidates if isinstance(candidates, AnyGrid) else column.grid
    if isinstance(grid, DateGrid):  # a time in JSON, with its microseconds and its offset
        return _AROUND + 50
    if isinstance(grid, Decimals) or (grid is None and column.is_numeric):
        return _DECIMAL
    if grid is None:  # truths
        return _AROUND + 20
    # A point is lo + i step: no more digits than all of these have.
    return _AROUND + 2 * sum(len(str(part)) for part in (grid.lo, grid.hi, grid.step))


def _count_characters(value: object) -> int:
    return len(json.dumps(write_value(value))) + _AROUND
