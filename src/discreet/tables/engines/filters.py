"""The rows of a table of which a condition is true, in every engine.

An engine says how the cells of a column are read as constants are compared with them (`Native.readable`), null
where they cannot be; the comparisons are written once, here. That a comparison is false is asked as the opposite
comparison, so no engine's rule for a negated null decides.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from operator import and_, eq, ge, gt, le, lt, ne, or_
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import InvalidArgument, preview
from ...selection.date_grid import microseconds
from ..conditions.conditions import (
    NEGATIONS,
    CellComparison,
    Condition,
    Constant,
    ConstantKind,
    Membership,
    Missing,
    Operator,
    Test,
    fold,
    is_decided,
    kind_of_constant,
    kinds_of_columns,
    names_of_columns,
    readable,
    tests_of,
)
from ..values.kinds import ColumnType, is_written, nearest_float, represent
from .cells import constant
from .grid_counts import at_or_above, strictly_above
from .native import Frame, Native

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw

_KINDS_OF_CONSTANTS: Mapping[ConstantKind, tuple[str, ...]] = {
    "truth": ("boolean",),
    "number": ("integer", "float", "decimal"),
    "text": ("text",),
    "time": ("date", "timestamp"),
    "instant": ("timestamp with time zone",),
}
"""The kinds of columns whose cells are compared with constants of a kind."""

_MOST_CATEGORIES = 10
"""So many categories are shown in a message."""

_ALIAS, ROW = "where", "row"
"""The alias of a column of a condition, before its number; and that of the places of rows in memory."""


def condition_columns(condition: Condition) -> dict[str, str]:
    """Return the columns of a condition, by their aliases once they are open."""
    return {f"{_ALIAS}{i}": name for i, name in enumerate(names_of_columns(condition))}


def compares_with(of: ColumnType, kind: ConstantKind) -> bool:
    """Return whether the cells of a column of that type can be compared with constants of that kind."""
    return is_written(of) or of.kind in ("anything", "nothing", *_KINDS_OF_CONSTANTS[kind])


def check_kind(of: ColumnType, kind: ConstantKind | None) -> None:
    """Raise unless the cells of a column of that type can be compared with constants of that kind.

    Raises:
        InvalidArgument: from the type alone.
    """
    if kind is None or compares_with(of, kind):
        return
    advice = {"date": "DATE '2024-12-31'", "timestamp": "TIMESTAMP '2024-12-31 23:59:00'",
              "timestamp with time zone": "TIMESTAMPTZ '2024-12-31 23:59:00+01:00'"}.get(of.kind)  # fmt: skip
    raise InvalidArgument(
        f"where compares {of.words}, with a {kind}"
        + (f". Write a constant such as {advice}" if advice else "")
    )


def check_order(test: Test, of: ColumnType) -> None:
    """Raise if a test compares the texts of ordered categories by order: theirs is another one.

    Raises:
        InvalidArgument: from the type alone.
    """
    if of.has_order and isinstance(test, CellComparison) and test.operator not in ("=", "<>"):
        raise InvalidArgument(
            f"where compares {of.words}, by {test.operator}, but its categories have an order of "
            f"their own: list those that you mean, as in {of.column} IN ('mid', 'high')"
        )


def check_categories(test: Test, of: ColumnType) -> None:
    """Raise if a test compares a column with a text that is none of the categories that its type declares.

    Raises:
        InvalidArgument: from the type alone.
    """
    if of.enum_categories is None or isinstance(test, Missing):
        return
    for one in _constants_of(test):
        if one not in of.enum_categories:
            raise InvalidArgument(
                f"where: {preview(one)} is not one of the categories of {of.words}. They are "
                f"{preview([*of.enum_categories[:_MOST_CATEGORIES]])}"
            )


def check_no_marker(test: Test, of: ColumnType) -> None:
    """Raise if a test compares a column with a constant that stands for a missing cell.

    Raises:
        InvalidArgument: from the form of the file alone.
    """
    for one in () if isinstance(test, Missing) else _constants_of(test):
        if str(one) and str(one) in (of.cells.missing or ()):
            raise InvalidArgument(
                f"where: {preview(one)} stands for a missing cell of {of.words}, as missing says: "
                "no cell equals it. Compare with the empty text, which stands for all missing "
                "cells"
            )


def _constants_of(test: CellComparison | Membership) -> Sequence[Constant]:
    return test.constants if isinstance(test, Membership) else (test.constant,)


@dataclass(frozen=True)
class Filter:
    """A condition on open columns.

    Attributes:
        condition: the condition.
        columns: the names of its columns in the engine, by their aliases.
        native: the columns in their engine.
        booleans: for comparisons of all others, which were decided already: the columns that say whether they are
            true, and false.
    """

    condition: Condition
    columns: Mapping[str, str]
    native: Native
    booleans: Mapping[tuple[Test, bool], str]

    def rows(self) -> Frame:
        """Return the rows of which the condition is true; its columns are as they are compared."""
        aliases = {name: alias for alias, name in self.columns.items()}
        kinds = {
            a: k for name, k in kinds_of_columns(self.condition).items() if (a := aliases.get(name))
        }
        types = {alias: self.native.type(alias, self.columns[alias]) for alias in kinds}
        for alias, kind in kinds.items():
            check_kind(types[alias], kind)
        for test in tests_of(self.condition):
            of = types.get(aliases.get(test.column, ""))
            if of is not None:
                check_order(test, of)
                check_categories(test, of)
                check_no_marker(test, of)
        rows = self.native.readable(kinds)

        def decide(test: Test, truth: bool) -> "nw.Expr":
            import narwhals.stable.v2 as nw

            boolean = self.booleans.get((test, truth))
            if boolean is not None:
                return nw.col(boolean)
            alias = aliases[test.column]
            return _test(test, alias, types[alias], truth)

        return rows.filter(
            fold(self.condition, decide, partial(_halves, and_), partial(_halves, or_))
        )


def matching(
    native: Native, condition: Condition, columns: Mapping[str, str], aliases: Iterable[str]
) -> Frame:
    """Return some columns of the rows of which a condition is true.

    Args:
        native: the columns in their engine, those of the condition among them.
        condition: the condition.
        columns: the names of its columns, by their aliases: see `condition_columns`.
        aliases: the columns to return.
    """
    return Filter(condition, columns, native, {}).rows().select(*aliases)


def decide_objects(
    condition: Condition, columns: Mapping[str, Sequence[object]]
) -> dict[tuple[Test, bool], "np.ndarray[Any, np.dtype[np.bool_]]"]:
    """Return for comparisons with Python objects whether they are true, and whether they are false, by row.

    Args:
        condition: the condition.
        columns: the objects by the name of the column.
    """
    kinds = kinds_of_columns(condition)
    cells = {
        name: [readable(cell, kinds[name]) for cell in objects] for name, objects in columns.items()
    }
    tests = [test for test in tests_of(condition) if test.column in cells]
    return {
        (test, truth): np.array(
            [is_decided(test, cell, truth) for cell in cells[test.column]], dtype=np.bool_
        )
        for test in tests
        for truth in (True, False)
    }


def _halves(join: Callable[[Any, Any], Any], parts: Sequence[Any]) -> Any:
    """Return the parts joined by halves: engines bound the depth of an expression."""
    if len(parts) == 1:
        return parts[0]
    middle = len(parts) // 2
    return join(_halves(join, parts[:middle]), _halves(join, parts[middle:]))


def _test(test: Test, alias: str, of: ColumnType, truth: bool) -> "nw.Expr":
    """Return whether a comparison is true, or whether it is false; never null where a negation is around it."""
    import narwhals.stable.v2 as nw

    cell = nw.col(alias)
    if isinstance(test, Missing):
        return cell.is_null() if truth else ~cell.is_null()
    if of.kind == "nothing":
        return _nothing(cell)
    if isinstance(test, Membership):
        equals = [_comparison(cell, "=" if truth else "<>", one, of) for one in test.constants]
        member: nw.Expr = _halves(or_ if truth else and_, equals)
        return member
    operator = test.operator if truth else NEGATIONS[test.operator]
    return _comparison(cell, operator, test.constant, of)


def least_behind(edge: Any, of: ColumnType, *, above: bool) -> Any:
    """Return the least cell of a type that is a number or a time or comes after it, as they are compared.

    None if there is none. With `above` it comes after it.
    """
    number, of = _number_in_type(edge, of)
    nearest = nearest_float(number, of) if of.kind == "float" else None
    number = number if nearest is None else Fraction(nearest)
    least = (strictly_above if above else at_or_above)(number, of)
    return None if least is None else constant(least, of)


def _number_in_type(literal: Any, of: ColumnType) -> tuple[Fraction, ColumnType]:
    """Return the number of a constant, a number or a time, and the type of the numbers it is compared with."""
    if kind_of_constant(literal) == "number":
        return literal, _DOUBLE if is_written(of) else of
    unit = 1000 if of.unit == "ns" else 1
    return Fraction(microseconds(literal) * unit), _TIME_TYPE


def _comparison(cell: "nw.Expr", operator: Operator, value: Any, of: ColumnType) -> "nw.Expr":
    """Return whether a cell that was read compares so with a constant, in a column that has any."""
    kind = kind_of_constant(value)
    if kind == "text":
        return _compare(cell, operator, value.encode())
    if kind == "truth":
        return _compare(cell, operator, value)
    return _numbers(cell, operator, *_number_in_type(value, of))


_TIME_TYPE = ColumnType("", "integer", "", -(2**63), 2**63 - 1)
"""The type of times, which are integers here."""

_DOUBLE = ColumnType("", "float", "")
"""The type of numbers in fields of text."""


def _numbers(cell: "nw.Expr", operator: Operator, number: Fraction, of: ColumnType) -> "nw.Expr":
    """Return whether a number of a column compares so with a number that its type may not have.

    Among floats a constant means the nearest one; beyond all of them it is itself.
    """
    equal: Any = nearest_float(number, of) if of.kind == "float" else represent(number, of)
    if of.kind == "float" and equal is not None:
        return _compare(cell, operator, equal)
    if operator in ("=", "<>"):
        if equal is None:
            return _nothing(cell) if operator == "=" else ~cell.is_null()
        return _compare(cell, operator, equal)
    edge = (at_or_above if operator in ("<", ">=") else strictly_above)(number, of)
    is_below = operator in ("<", "<=")
    if edge is None:  # all numbers of the type are below
        return ~cell.is_null() if is_below else _nothing(cell)
    return _compare(cell, "<" if is_below else ">=", constant(edge, of))


def _compare(cell: "nw.Expr", operator: Operator, value: Any) -> "nw.Expr":
    """Return whether a cell compares so with a value of its type."""
    comparison: nw.Expr = _COMPARE[operator](cell, value)
    return comparison


_COMPARE: Mapping[Operator, Callable[[Any, Any], Any]] = {
    "=": eq, "<>": ne, "<": lt, "<=": le, ">": gt, ">=": ge,
}  # fmt: skip


def _nothing(cell: "nw.Expr") -> "nw.Expr":
    """Return an expression that is true of no cell."""
    return cell.is_null() & ~cell.is_null()
