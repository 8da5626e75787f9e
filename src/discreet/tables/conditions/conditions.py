"""Conditions on the cells of one row, with which a question names the rows it is about.

A condition is a function of one row, with the three truths of SQL: a comparison with a missing cell, or with one
that cannot be read as its constant is, is unknown, and a row is inside only where the whole is true. So a row that
comes or goes is inside or outside whatever the others are. Proof: docs/how-to/sql.md#conditions.
"""

import datetime as dt
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from fractions import Fraction
from typing import Any, Literal, TypeAlias, TypeVar

from ...base.arguments import exact_text
from ...base.numbers import exact
from ...errors import InvalidArgument, preview
from ...selection.date_grid import microseconds

Constant: TypeAlias = "bool | Fraction | str | dt.date | dt.datetime"
ConstantKind = Literal["truth", "number", "text", "time", "instant"]
"""The kind of a constant: a time is a date or a clock without an offset, an instant a time with one."""

Operator = Literal["=", "<>", "<", "<=", ">", ">="]

NEGATIONS: dict[Operator, Operator] = {
    "=": "<>",
    "<>": "=",
    "<": ">=",
    ">=": "<",
    ">": "<=",
    "<=": ">",
}
"""The comparison that is true where another is false; both are unknown where one is."""

MOST_PARTS = 1_000
"""So many comparisons and constants a condition has at most."""

_SHOWN_CONSTANTS = 3

_MOST_DECIMALS = 400
_MOST_DECIMAL_EXPONENT = 10_000
_LEAST_DECIMAL = Fraction(1, 10**_MOST_DECIMAL_EXPONENT)
"""Numbers beyond these are farther from zero, or closer to it, than any constant."""

_AMPLE = Context(prec=10_000, Emin=MIN_EMIN, Emax=MAX_EMAX)

E = TypeVar("E")


@dataclass(frozen=True)
class CellComparison:
    """A comparison of a cell with a constant: true, false, or unknown where the cell is missing or unreadable.

    Attributes:
        column: the name of the column.
        operator: the comparison.
        constant: the constant, in plain Python.
    """

    column: str
    operator: Operator
    constant: Constant

    def __post_init__(self) -> None:
        """Read the column and the constant.

        Raises:
            InvalidArgument: if the constant is missing, NaN or of another type, or truths are put in an order.
        """
        object.__setattr__(self, "column", read_column_name(self.column))
        object.__setattr__(self, "constant", read_constant(self.constant))
        if self.operator not in NEGATIONS:
            raise InvalidArgument(
                f"a comparison is one of {', '.join(NEGATIONS)}, got {preview(self.operator)}"
            )
        if self.kind == "truth" and self.operator not in ("=", "<>"):
            raise InvalidArgument("truths are equal or not, and in no order: compare with = or <>")

    @property
    def kind(self) -> ConstantKind:
        """The kind of the constant."""
        return kind_of_constant(self.constant)

    @property
    def description(self) -> list[object]:
        """The comparison in plain values, for a digest."""
        return [self.operator, self.column, self.constant]

    def __str__(self) -> str:
        return f"{_name_in_words(self.column)} {self.operator} {constant_in_words(self.constant)}"


@dataclass(frozen=True)
class Membership:
    """Whether a cell equals one of several constants of one kind: unknown where it is missing or unreadable.

    Attributes:
        column: the name of the column.
        constants: the constants, of which there is at least one.
    """

    column: str
    constants: tuple[Constant, ...]

    def __post_init__(self) -> None:
        """Read the column and the constants.

        Raises:
            InvalidArgument: if there are none, or one cannot be accepted, or they are of several kinds.
        """
        object.__setattr__(self, "column", read_column_name(self.column))
        constants = tuple(map(read_constant, self.constants))
        object.__setattr__(self, "constants", constants)
        kinds = {kind_of_constant(one) for one in constants}
        if len(kinds) != 1:
            several = f". These are of the kinds {', '.join(sorted(kinds))}" if kinds else ""
            raise InvalidArgument(f"IN needs at least one constant, all of one kind{several}")

    @property
    def kind(self) -> ConstantKind:
        """The kind of the constants."""
        return kind_of_constant(self.constants[0])

    @property
    def description(self) -> list[object]:
        """The membership in plain values, for a digest."""
        return ["in", self.column, list(self.constants)]

    def __str__(self) -> str:
        first = ", ".join(map(constant_in_words, self.constants[:_SHOWN_CONSTANTS]))
        rest = len(self.constants) - _SHOWN_CONSTANTS
        more = f", … {rest:,} more" if rest > 0 else ""
        return f"{_name_in_words(self.column)} IN ({first}{more})"


@dataclass(frozen=True)
class Missing:
    """Whether a cell is missing: null, NaN, or unreadable as its column is read. Never unknown.

    Attributes:
        column: the name of the column.
        kind: how the column is read; None for as the constants that it is compared with elsewhere.
    """

    column: str
    kind: ConstantKind | None = None

    def __post_init__(self) -> None:
        """Read the column."""
        object.__setattr__(self, "column", read_column_name(self.column))

    @property
    def description(self) -> list[object]:
        """The test in plain values, for a digest."""
        return ["is null", self.column]

    def __str__(self) -> str:
        return f"{_name_in_words(self.column)} IS NULL"


@dataclass(frozen=True)
class Not:
    """The negation of a condition: unknown where that is."""

    operand: "Condition"

    @property
    def description(self) -> list[object]:
        """The negation in plain values, for a digest."""
        return ["not", self.operand.description]

    def __str__(self) -> str:
        return f"NOT ({self.operand})"


@dataclass(frozen=True)
class All:
    """The conjunction of conditions: false where one is false, else unknown where one is unknown."""

    operands: "tuple[Condition, ...]"

    @property
    def description(self) -> list[object]:
        """The conjunction in plain values, for a digest."""
        return ["and", *(operand.description for operand in self.operands)]

    def __str__(self) -> str:
        return " AND ".join(
            f"({one})" if isinstance(one, Either) else str(one) for one in self.operands
        )


@dataclass(frozen=True)
class Either:
    """The disjunction of conditions: true where one is true, else unknown where one is unknown."""

    operands: "tuple[Condition, ...]"

    @property
    def description(self) -> list[object]:
        """The disjunction in plain values, for a digest."""
        return ["or", *(operand.description for operand in self.operands)]

    def __str__(self) -> str:
        return " OR ".join(
            f"({one})" if isinstance(one, All) else str(one) for one in self.operands
        )


Test: TypeAlias = CellComparison | Membership | Missing
Condition: TypeAlias = Test | Not | All | Either


def both(*operands: Condition) -> All:
    """Return the conjunction of conditions, those of conjunctions among them one by one."""
    return All(
        tuple(
            part for one in operands for part in (one.operands if isinstance(one, All) else (one,))
        )
    )


def either(*operands: Condition) -> Either:
    """Return the disjunction of conditions, those of disjunctions among them one by one."""
    return Either(
        tuple(
            part
            for one in operands
            for part in (one.operands if isinstance(one, Either) else (one,))
        )
    )


def tests_of(condition: Condition) -> "list[Test]":
    """Return the comparisons of a condition, in order."""
    if isinstance(condition, Not):
        return tests_of(condition.operand)
    if isinstance(condition, All | Either):
        return [test for operand in condition.operands for test in tests_of(operand)]
    return [condition]


def names_of_columns(condition: Condition) -> list[str]:
    """Return the distinct columns of a condition, in order."""
    return list(dict.fromkeys(test.column for test in tests_of(condition)))


def count_parts(condition: Condition) -> int:
    """Return the number of the comparisons and constants of a condition."""
    tests = tests_of(condition)
    return sum(len(one.constants) if isinstance(one, Membership) else 1 for one in tests)


def check_size(condition: Condition) -> Condition:
    """Return a condition that is not too large, with one reading of every column.

    Raises:
        InvalidArgument: if it has too many parts, or compares one column with constants of several kinds: a cell of
            a text file is then readable as one of them and missing as another.
    """
    parts = count_parts(condition)
    if parts > MOST_PARTS:
        raise InvalidArgument(
            f"a condition has at most {MOST_PARTS:,} comparisons and constants. This has {parts:,}"
        )
    kinds_of_columns(condition)
    return condition


def kinds_of_columns(condition: Condition) -> dict[str, ConstantKind | None]:
    """Return how the cells of every column are read: as its constants are; None where it is compared with none.

    Raises:
        InvalidArgument: if a column is compared with constants of several kinds.
    """
    kinds: dict[str, ConstantKind | None] = {}
    for test in tests_of(condition):
        kind = test.kind
        first = kinds.setdefault(test.column, kind)
        if first is None:
            kinds[test.column] = kind
        elif kind not in (None, first):
            raise InvalidArgument(
                f"the column {preview(test.column)} is compared with a {first} and with a {kind}. "
                "Compare it with one kind"
            )
    return kinds


def read_as(condition: Condition, kinds: Mapping[str, ConstantKind | None]) -> Condition:
    """Return a condition with its columns read as constants of those kinds, where they are missing too."""
    if isinstance(condition, Missing):
        return Missing(condition.column, kinds[condition.column])
    if isinstance(condition, Not):
        return Not(read_as(condition.operand, kinds))
    if isinstance(condition, All | Either):
        return type(condition)(tuple(read_as(operand, kinds) for operand in condition.operands))
    return condition


def fold(condition: Condition, decide: Callable[[Test, bool], E], every: Callable[[list[E]], E],
         some: Callable[[list[E]], E], truth: bool = True) -> E:  # fmt: skip
    """Return whether a condition has a truth, from whether its comparisons have one: unknown is neither.

    By the laws of De Morgan, which hold for three truths too, comparisons alone are asked whether they are false.

    Args:
        condition: the condition.
        decide: returns whether a comparison is true, or whether it is false.
        every: returns whether all are so.
        some: returns whether one at least is so.
        truth: whether the condition is to be true, or to be false.
    """
    if isinstance(condition, Not):
        return fold(condition.operand, decide, every, some, not truth)
    if isinstance(condition, All | Either):
        parts = [fold(operand, decide, every, some, truth) for operand in condition.operands]
        return every(parts) if isinstance(condition, All) is truth else some(parts)
    return decide(condition, truth)


def holds(condition: Condition, cells: Mapping[str, object]) -> bool:
    """Return whether a condition is true of the cells of a row, as Python has them, by their columns.

    Of Python's objects it is decided as engines decide it of typed columns by `tables.filters`.
    """
    kinds = kinds_of_columns(condition)

    def decide(test: Test, truth: bool) -> bool:
        return is_decided(test, readable(cells[test.column], kinds[test.column]), truth)

    return fold(condition, decide, all, any)


def is_decided(test: Test, cell: Any, truth: bool) -> bool:
    """Return whether a comparison with a cell that was read is true, or whether it is false."""
    if isinstance(test, Missing):
        return (cell is None) is truth
    if cell is None:
        return False
    if isinstance(test, Membership):
        return (
            any(cell_compares(cell, "=", readable(one, test.kind)) for one in test.constants)
            is truth
        )
    operator = test.operator if truth else NEGATIONS[test.operator]
    return cell_compares(cell, operator, readable(test.constant, test.kind))


def cell_compares(cell: Any, operator: Operator, constant: Any) -> bool:
    """Return whether a cell compares so with a constant of its kind.

    Among floats a constant means the nearest one, as in SQL: nobody can write the double 0.1 otherwise.
    """
    if isinstance(cell, float):
        constant = nearest_constant(constant)
    if operator in ("=", "<>"):
        return bool((cell == constant) is (operator == "="))
    below = bool(cell < constant)
    if operator in ("<", ">="):
        return below is (operator == "<")
    return (below or bool(cell == constant)) is (operator == "<=")


def nearest_constant(number: Fraction) -> Fraction | float:
    """Return the double nearest to a number, or the number itself where it is beyond all doubles."""
    try:
        return float(number)
    except OverflowError:
        return number


def readable(cell: object, kind: ConstantKind | None) -> Any:
    """Return a cell as constants of a kind are compared with it; None where it is missing, or of another kind.

    Numbers are exact, and infinities beyond all of them. Times and instants are microseconds, or fractions of them.
    """
    try:
        return _READERS[kind](cell)
    except Exception:  # objects in a table may do anything
        return None


def _read_truth(cell: object) -> bool | None:
    return bool(cell) if type(cell).__name__ in ("bool", "bool_") else None


def _read_number(cell: Any) -> Fraction | float | None:
    """Return a number: of a float the double, to which constants are rounded."""
    if type(cell).__name__ in ("bool", "bool_") or isinstance(cell, str) or cell != cell:
        return None
    number = cell.item() if hasattr(cell, "item") else cell
    if isinstance(number, Decimal):
        return _read_decimal(number)
    return number if isinstance(number, float) else Fraction(number)


def _read_decimal(number: Decimal) -> Fraction | float:
    """Return a decimal as a fraction; beyond all constants as infinite, or as one step from zero.

    A fraction of its digits would take time and memory that tell the exponent of one private cell.
    """
    sign = -1 if number.is_signed() else 1
    if number.is_infinite() or (number and number.adjusted() > _MOST_DECIMAL_EXPONENT):
        return sign * float("inf")
    if number and number.adjusted() < -_MOST_DECIMAL_EXPONENT:
        return sign * _LEAST_DECIMAL
    return Fraction(number)


def _read_text(cell: object) -> str | None:
    return exact_text(cell)


def _read_time(cell: Any) -> Fraction | None:
    if isinstance(cell, dt.datetime) and cell.utcoffset() is not None:
        return None
    return _microseconds(cell)


def _read_instant(cell: Any) -> Fraction | None:
    if not isinstance(cell, dt.datetime) or cell.utcoffset() is None:
        return None
    return _microseconds(cell)


def _microseconds(cell: Any) -> Fraction | None:
    if hasattr(cell, "astype"):  # a time of numpy
        return Fraction(int(cell.astype("M8[ns]").astype("i8")), 1000) if cell == cell else None
    if not isinstance(cell, dt.date) or cell != cell:
        return None
    return microseconds(cell) + Fraction(int(getattr(cell, "nanosecond", 0)), 1000)


def _read_anything(cell: Any) -> object:
    missing = cell is None or type(cell).__name__ in ("NAType", "NaTType") or bool(cell != cell)
    return None if missing else cell


_READERS: dict[ConstantKind | None, Callable[[Any], Any]] = {
    "truth": _read_truth,
    "number": _read_number,
    "text": _read_text,
    "time": _read_time,
    "instant": _read_instant,
    None: _read_anything,
}


def read_column_name(name: object) -> str:
    """Return the name of a column.

    Raises:
        InvalidArgument: if it is no text.
    """
    text = exact_text(name)
    if not text:
        raise InvalidArgument(f"a condition names columns by texts, got {preview(name)}")
    return text


def read_constant(constant: Any) -> Constant:
    """Return a constant in plain Python: a truth, an exact number, a text, a date, or a time.

    Raises:
        InvalidArgument: if it is missing, NaN, infinite, or of another type.
    """
    if type(constant).__module__ == "numpy" and hasattr(constant, "item"):
        constant = constant.item()
    if type(constant) is bool:
        return constant
    text = exact_text(constant)
    if text is not None:
        return text
    if isinstance(constant, dt.datetime) and not getattr(constant, "nanosecond", 0):
        return dt.datetime.fromisoformat(constant.isoformat())
    if type(constant) is dt.date:
        return constant
    if constant is None or (isinstance(constant, float | Decimal) and constant != constant):
        raise InvalidArgument(
            f"{preview(constant)} equals nothing, and nothing is below or above it: use IS NULL"
        )
    return exact(constant, "a constant of a condition")


def kind_of_constant(constant: Constant) -> ConstantKind:
    """Return the kind of a constant."""
    if isinstance(constant, bool):
        return "truth"
    if isinstance(constant, Fraction):
        return "number"
    if isinstance(constant, str):
        return "text"
    has_zone = isinstance(constant, dt.datetime) and constant.utcoffset() is not None
    return "instant" if has_zone else "time"


def constant_in_words(constant: Constant) -> str:
    """Return a constant as SQL writes it."""
    if isinstance(constant, bool):
        return str(constant).upper()
    if isinstance(constant, Fraction):
        return number_in_words(constant)
    if isinstance(constant, str):
        return _quote(constant, "'")
    if not isinstance(constant, dt.datetime):
        return f"DATE '{constant.isoformat()}'"
    word = "TIMESTAMP" if constant.utcoffset() is None else "TIMESTAMPTZ"
    return f"{word} '{constant.isoformat(sep=' ')}'"


def number_in_words(number: Fraction) -> str:
    """Return a number as SQL writes it: all its digits, or a quotient where they have no end."""
    tens = next((10**n for n in range(_MOST_DECIMALS) if 10**n % number.denominator == 0), None)
    if tens is None:
        return str(number)
    digits = Decimal(number.numerator * (tens // number.denominator))
    return f"{digits.scaleb(1 - len(str(tens)), _AMPLE):f}"


def _name_in_words(name: str) -> str:
    """Return the name of a column as SQL writes it."""
    return name if name.isidentifier() and name.isascii() else _quote(name, '"')


def _quote(text: str, mark: str) -> str:
    return mark + text.replace(mark, 2 * mark) + mark
