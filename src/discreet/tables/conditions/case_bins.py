"""CASE with constant bounds, as bins: the values along the line of numbers, or of dates.

Between the constants of its conditions a case has one value. So the values at the constants and at one point
between each two of them are those of all numbers, and NULL is asked beside them.
"""

import datetime as dt
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby, pairwise
from typing import Any, TypeAlias

from ...errors import InvalidArgument, preview
from ...selection.bins import Bins, Edge, edge_text
from ...selection.candidates import decimal_places, plain_number
from ...selection.date_grid import microseconds
from .conditions import (
    NEGATIONS,
    All,
    CellComparison,
    Condition,
    Either,
    Membership,
    Missing,
    Not,
    Test,
    check_size,
    either,
    fold,
    names_of_columns,
    tests_of,
)

Case: TypeAlias = "tuple[Condition, object]"
"""A condition with the value of rows of which it is the first that is true; None for NULL."""

_DAY_IN_MICROSECONDS = dt.timedelta(days=1) // dt.timedelta(microseconds=1)
_COMPARISONS: Mapping[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq, "<>": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt,
    ">=": operator.ge,
}  # fmt: skip
_MOST_TESTS = 100
"""So many constants the cases of a column have: all comparisons are asked at all of them."""


@dataclass(frozen=True, slots=True)
class CaseBins:
    """Cases as bins.

    Attributes:
        bins: the bins, with labels for the values.
        values: the values by their labels.
        is_whole: whether they are right of whole numbers and dates alone.
    """

    bins: Bins
    values: Mapping[str, object]
    is_whole: bool


def bins_of_cases(cases: Sequence[Case], otherwise: object, *, words: str) -> CaseBins:
    """Return the bins in which cases put the numbers or dates of a column.

    Args:
        cases: the conditions with their values, in order.
        otherwise: the value of all other rows, NULL among them; None for none.
        words: the cases, for errors.

    Raises:
        InvalidArgument: if they are of several columns or of texts, or leave a gap between two values.
    """
    line = _Line.of(cases, words)
    labels = _labels([*(then for _, then in cases), otherwise], words)

    def labels_at(points: Sequence[Fraction | None]) -> list[str | None]:
        outcomes = list[object]([otherwise] * len(points))
        for test, then in reversed(line.cases):
            truths = _truths(test, points)
            outcomes = [then if truth else one for truth, one in zip(truths, outcomes, strict=True)]
        return [None if then is None else labels[then] for then in outcomes]

    regions, is_whole = line.regions(labels_at, words)
    [missing] = labels_at([None])
    return CaseBins(
        _bins(line.column, regions, missing, words),
        {label: _as_answer(then) for then, label in labels.items()},
        is_whole,
    )


def _truths(condition: Condition, points: Sequence[Fraction | None]) -> list[bool]:
    """Return of which points a condition without memberships is true; None is NULL."""

    def decide(test: Test, truth: bool) -> list[bool]:
        if not isinstance(test, CellComparison):
            return [(point is None) is truth for point in points]
        compare = _COMPARISONS[test.operator if truth else NEGATIONS[test.operator]]
        return [point is not None and compare(point, test.constant) for point in points]

    def every(lists: list[list[bool]]) -> list[bool]:
        return [all(truths) for truths in zip(*lists, strict=True)]

    def some(lists: list[list[bool]]) -> list[bool]:
        return [any(truths) for truths in zip(*lists, strict=True)]

    return fold(condition, decide, every, some)


def _labels(values: Sequence[object], words: str) -> dict[object, str]:
    """Return texts for the values, which are all texts or all numbers."""
    some = list(dict.fromkeys(then for then in values if then is not None))
    if len({type(then) for then in some}) > 1:
        raise InvalidArgument(f"{preview(words)}: THEN and ELSE take texts, or numbers, not both")
    return {then: then if isinstance(then, str) else str(_as_answer(then)) for then in some}


def _as_answer(then: Any) -> object:
    """Return a value as it is answered."""
    return plain_number(then, decimal_places(then)) if isinstance(then, Fraction) else then


_Regions: TypeAlias = "list[tuple[Edge | None, str | None]]"
"""Where regions begin, with their labels; the first one has no begin."""


@dataclass(frozen=True, slots=True)
class _Line:
    """The constants of cases on their line.

    Attributes:
        column: the column that they compare.
        cases: the cases, with numbers in place of dates and times.
        edges: the constants by their places on the line, in rising order.
        kind: the type of the constants.
    """

    column: str
    cases: Sequence[Case]
    edges: Mapping[Fraction, Edge]
    kind: type

    @classmethod
    def of(cls, cases: Sequence[Case], words: str) -> "_Line":
        """Return the line of some cases."""
        names = list(dict.fromkeys(name for test, _ in cases for name in names_of_columns(test)))
        constants = [
            one for test, _ in cases for part in tests_of(test) for one in _constants(part)
        ]
        kinds = {type(one) for one in constants}
        if len(names) != 1 or len(kinds) != 1 or kinds & {str, bool}:
            raise InvalidArgument(
                f"{preview(words)}: as a column of GROUP BY, CASE compares one column with constants of one kind: "
                "numbers, dates or times. Have another one as a column in the query of the description"
            )
        if len(constants) > _MOST_TESTS:
            raise InvalidArgument(f"CASE in GROUP BY has at most {_MOST_TESTS} constants")
        for test, _ in cases:
            check_size(test)
        edges = {_place(one): one for one in constants}
        on_line = [(_on_line(test), then) for test, then in cases]
        return cls(names[0], on_line, dict(sorted(edges.items())), kinds.pop())

    def regions(
        self, labels_at: Callable[[Sequence[Fraction | None]], list[str | None]], words: str
    ) -> tuple[_Regions, bool]:
        """Return the regions, one label in each, and whether they are right of whole numbers and dates alone."""
        places = list(self.edges)
        between = [places[0] - 1, *((a + b) / 2 for a, b in pairwise(places)), places[-1] + 1]
        labels = labels_at(between)
        if labels_at(places) == labels[1:] and None not in _inner(labels):
            return _joined(
                [(None, labels[0]), *zip(self.edges.values(), labels[1:], strict=True)]
            ), False
        unit = self._unit(words)
        whole = sorted({*places, *(place + unit for place in places)})
        labels, begins = labels_at([whole[0] - unit, *whole]), [None, *map(self._edge, whole)]
        return _joined(zip(begins, labels, strict=True)), True

    def _unit(self, words: str) -> Fraction:
        """Return the distance of whole numbers, or of dates."""
        is_date = self.kind is dt.date
        if is_date or (self.kind is Fraction and all(one.denominator == 1 for one in self.edges)):
            return Fraction(_DAY_IN_MICROSECONDS if is_date else 1)
        raise InvalidArgument(
            f"{preview(words)}: groups begin with their first number and end before the next one. Compare with < "
            "and >=, and leave no gap, or write ELSE"
        )

    def _edge(self, place: Fraction) -> Edge:
        """Return the edge at a place between whole numbers, or dates."""
        if self.kind is not dt.date:
            return place
        first, day = next(iter(self.edges.items()))
        assert isinstance(day, dt.date)
        try:
            return day + dt.timedelta(days=int((place - first) / _DAY_IN_MICROSECONDS))
        except OverflowError:
            raise InvalidArgument("CASE: no date comes after 9999-12-31. Compare with <") from None


def _inner(labels: Sequence[str | None]) -> Sequence[str | None]:
    """Return the labels from the first to the last that is there."""
    there = [place for place, label in enumerate(labels) if label is not None]
    return labels[there[0] : there[-1]] if there else []


def _joined(regions: Any) -> _Regions:
    """Return regions without borders between equal labels."""
    return [next(same) for _, same in groupby(regions, key=operator.itemgetter(1))]


def _bins(column: str, regions: _Regions, missing: str | None, words: str) -> Bins:
    """Return the bins of regions; rows of the first and the last may be in none."""
    labels = [label for _, label in regions]
    edges = [edge for edge, _ in regions if edge is not None]
    for place, label in enumerate(labels[1:-1]):
        if label is None:
            raise InvalidArgument(
                f"{preview(words)}: numbers from {edge_text(edges[place])} to before "
                f"{edge_text(edges[place + 1])} have no case. Add one, or ELSE"
            )
    if not edges or not any(labels):
        raise InvalidArgument(f"{preview(words)}: all numbers have one case. Leave it out")
    names = [label for label in (*labels, missing) if label is not None]
    below, above = labels[0] is not None, labels[-1] is not None
    return Bins(
        column, edges=edges, below=below, above=above, missing=missing is not None, labels=names
    )


def _constants(test: CellComparison | Membership | Missing) -> list[Any]:
    """Return the constants of a comparison."""
    if isinstance(test, Missing):
        return []
    return list(test.constants) if isinstance(test, Membership) else [test.constant]


def _place(constant: Any) -> Fraction:
    """Return the place of a constant on its line."""
    return Fraction(microseconds(constant)) if isinstance(constant, dt.date) else constant


def _on_line(condition: Condition) -> Condition:
    """Return a condition that compares places with places."""
    if isinstance(condition, Not):
        return Not(_on_line(condition.operand))
    if isinstance(condition, All | Either):
        return type(condition)(tuple(map(_on_line, condition.operands)))
    if isinstance(condition, Membership):
        places = map(_place, condition.constants)
        return either(*(CellComparison(condition.column, "=", place) for place in places))
    if isinstance(condition, Missing):
        return Missing(condition.column, "number")
    return CellComparison(condition.column, condition.operator, _place(condition.constant))
