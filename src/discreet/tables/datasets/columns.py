"""A column as its owner declares it: type, bounds and values, in the words of Frictionless Table Schema."""

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

from ...base.arguments import exact_text
from ...base.numbers import exact
from ...base.text_tables import fact_table
from ...errors import InvalidArgument, InvalidCandidates, preview
from ...selection.candidates import Grid, decimal_places, plain_number
from ...selection.date_grid import STEP_UNITS, DateGrid, DateStep, read_moment
from ..formats.text_form import NO_FORM, CellForm
from ..values.kinds import plain
from .cell_keys import CELL_KEYS, OF_DATES, OF_NUMBERS, OF_TEXTS, read_cell_form
from .declarations import KeyPath, at_place, nearest, read_text, refuse_to_fill_in, toml_text, wrong
from .keys import (
    ABOVE_ZERO,
    ANY_TEXT,
    FILLED_IN,
    NUMERAL,
    Key,
    KeyTable,
    Kind,
    Schema,
    Variants,
    anything,
    choice_of,
    list_of,
)

MOST_VALUES = 100_000
"""As many values are listed where bounds declare them; more are better given as a `CandidateTable`."""

_SHOWN = 10
"""So many declared values are shown in messages and tables."""

_DAY = dt.timedelta(days=1)


@dataclass(frozen=True, slots=True, repr=False)
class Column:
    """A declared column. Public.

    Attributes:
        name: the name of the column.
        type: "integer", "number", "string", "boolean", "date" or "datetime".
        minimum: the least value, or None. Numbers are fractions.
        maximum: the largest value, or None.
        enum: all values, or None.
        step: the distance of the points of a grid, or None: a number, or of dates and times a `DateStep`.
        form: how its cells are written in files of text, where that is another form than their file's.
    """

    name: str
    type: str
    minimum: Any = None
    maximum: Any = None
    enum: tuple[Any, ...] | None = None
    step: Fraction | DateStep | None = None
    form: CellForm = NO_FORM

    @property
    def is_numeric(self) -> bool:
        """Whether it holds numbers."""
        return TYPES[self.type].is_numeric

    @property
    def has_quantiles(self) -> bool:
        """Whether it holds numbers, dates or times, which have a median."""
        return self.is_numeric or self.type in ("date", "datetime")

    @property
    def values(self) -> Sequence[object] | None:
        """All values that are declared: by `enum`, as truths, or by the bounds of integers and dates; else None."""
        if self.enum is not None:
            return self.enum
        if self.type == "boolean":
            return (False, True)
        if self.minimum is None or self.maximum is None or self.type not in ("integer", "date"):
            return None
        if self.type == "date":
            days = range((self.maximum - self.minimum).days + 1)
            return [self.minimum + i * _DAY for i in days] if len(days) <= MOST_VALUES else None
        step = int(self.step) if isinstance(self.step, Fraction) else 1
        few = (self.maximum - self.minimum) / step < MOST_VALUES
        return range(int(self.minimum), int(self.maximum) + 1, step) if few else None

    @property
    def grid(self) -> Grid | DateGrid | None:
        """The grid of the bounds, or None.

        Without a step an integer has one of 1, a date one of a day, and a number or a time no grid.
        """
        if self.minimum is None or self.maximum is None or not self.has_quantiles:
            return None
        if not self.is_numeric:
            step = "1 day" if self.step is None and self.type == "date" else self.step
            return None if step is None else DateGrid(self.minimum, self.maximum, step)
        number = Fraction(1) if self.step is None and self.type == "integer" else self.step
        return Grid(self.minimum, self.maximum, number) if isinstance(number, Fraction) else None

    @property
    def plain(self) -> dict[str, object]:
        """The declaration in plain values, for a digest."""
        parts = {
            name: getattr(self, name) for name in ("type", "minimum", "maximum", "enum", "step")
        }
        parts["step"] = str(self.step) if isinstance(self.step, DateStep) else self.step
        return {name: value for name, value in parts.items() if value is not None} | self.form.given

    def read(self, value: object) -> object:
        """Return a value of this column in plain Python.

        Raises:
            InvalidCandidates: if it is of another type, beyond the bounds, or not among the values.
        """
        cell = TYPES[self.type].read(plain(value))
        if cell is None:
            raise InvalidCandidates(
                f"{toml_text(value)} is not a value of column {self.name!r}, which is declared as "
                f"{self.type}"
            )
        self.check_bounds(cell)
        if self.enum is not None and _key(cell) not in set(map(_key, self.enum)):
            raise InvalidCandidates(
                f"{preview(cell)} is not among the declared values of column "
                f"{self.name!r}{nearest(cell, self.enum)}{self._first_values()}"
            )
        return cell

    def check_bounds(self, value: Any) -> None:
        """Raise if a value of this type is below the minimum or above the maximum.

        Raises:
            InvalidCandidates: with the bound.
        """
        for bound, word, beyond in (
            (self.minimum, "minimum", self._is_below(value, self.minimum)),
            (self.maximum, "maximum", self._is_below(self.maximum, value)),
        ):
            if beyond:
                raise InvalidCandidates(
                    f"{_bound_in_words(value)} is beyond the {word} of column {self.name!r}, which "
                    f"is declared as {_bound_in_words(bound)}"
                )

    def parse(self, text: str) -> object:
        """Return the value that a text of a command line spells.

        Raises:
            InvalidCandidates: as `read` does.
        """
        return self.read(_parse(text.strip(), self.type) if self.type != "string" else text)

    def _is_below(self, one: Any, other: Any) -> bool:
        """Return whether one value is below another; not if one of them is None."""
        if one is None or other is None:
            return False
        try:
            return bool(_key(one) < _key(other))
        except TypeError:  # of two times only one has an offset
            pass
        raise InvalidCandidates(
            f"column {self.name!r} is declared with times that all have an offset, or none: give "
            "the same"
        )

    def _first_values(self) -> str:
        few = (self.enum or ())[:_SHOWN]
        more = ", ..." if self.enum is not None and len(self.enum) > len(few) else ""
        return f". They are {', '.join(map(repr, few))}{more}" if few else ""

    def cells(self) -> dict[str, str]:
        """Return the column as the row of a table."""
        bounds = {name: getattr(self, name) for name in ("minimum", "maximum", "step")}
        few = (self.enum or ())[:_SHOWN]
        more = "" if self.enum is None or len(self.enum) == len(few) else ", …"
        return {
            "column": self.name, "type": self.type,
            **{name: "" if value is None else _bound_in_words(value) for name, value in bounds.items()},
            "values": f"{', '.join(map(str, few))}{more}",
        }  # fmt: skip

    def _repr_html_(self) -> str:
        return fact_table("Declared column", self.cells()).html()

    def __repr__(self) -> str:
        return f"Column({self})"

    def __str__(self) -> str:
        bounds = ""
        if self.minimum is not None or self.maximum is not None:
            low, high = (
                _bound_in_words(b) if b is not None else "…" for b in (self.minimum, self.maximum)
            )
            bounds = f" {low} to {high}"
        step = "" if self.step is None else f" by {_bound_in_words(self.step)}"
        values = "" if self.enum is None else f" of {len(self.enum)} values"
        return f"{self.name}: {self.type}{bounds}{step}{values}"


def read_column(name: str, entry: object, place: KeyPath) -> Column:
    """Return a column for its declaration, a mapping with the keys of `COLUMN`.

    Raises:
        InvalidDescription: if it cannot be accepted.
    """
    if isinstance(entry, Column):
        return entry
    declaration = COLUMN.read(entry, place)
    low, high = declaration.get("minimum"), declaration.get("maximum")
    if low is not None and high is not None and not _are_ordered(low, high, place):
        raise wrong((*place, "maximum"), f"it is below the minimum, {_bound_in_words(low)}")
    step = declaration.get("step")
    if step is not None:
        _check_step(low, high, step, (*place, "step"))
    form = read_cell_form(declaration, place)
    column = Column(name, declaration["type"], low, high, None, step, form)
    if "enum" not in declaration:
        return column
    return replace(column, enum=_read_values(column, declaration["enum"], (*place, "enum")))


def _are_ordered(low: Any, high: Any, place: KeyPath) -> bool:
    try:
        return bool(low <= high)
    except TypeError:
        pass
    raise wrong((*place, "maximum"), "give both bounds with an offset, or both without")


def _check_step(low: Any, high: Any, step: Fraction | DateStep, place: KeyPath) -> None:
    """Raise unless a step divides the distance between the bounds; of dates, unless they have a grid."""
    try:
        Grid(low, high, step) if isinstance(step, Fraction) else DateGrid(low, high, step)
    except InvalidArgument as error:
        reason = str(error)
    else:
        return
    if isinstance(step, DateStep):
        raise wrong(place, reason)
    raise wrong(
        place,
        f"the maximum must be a whole number of steps above the minimum, got {_bound_in_words(step)}",
    )


def _read_values(column: Column, values: Sequence[Any], place: KeyPath) -> tuple[Any, ...]:
    """Return the declared values of a column, which are distinct."""
    cells = values if column.type == "string" else [_parse(one, column.type) for one in values]
    enum = at_place(place, lambda: tuple(map(column.read, cells)))
    again = _find_repetition(enum)
    if again is None:
        return enum
    raise wrong(place, f"it must list every value once, and {toml_text(again)} stands there twice")


def _find_repetition(values: Sequence[object]) -> object:
    """Return the first value that equals one before it, or None."""
    keys = set[object]()
    for value in values:
        if _key(value) in keys:
            return value
        keys.add(_key(value))
    return None


def _key(value: Any) -> Any:
    """Return the key of equal values: a float is the decimal that it prints as."""
    return value if isinstance(value, bool | str) else _fraction(value) or value


def _fraction(value: object) -> Fraction | None:
    """Return a number as a fraction; None if it is none."""
    try:
        return exact(None if isinstance(value, bool) else value, "a number")
    except InvalidArgument:
        return None


def _parse(value: object, kind: str) -> Any:
    """Return the value that a text spells, as in JSON and on a command line; anything else as it is."""
    text = exact_text(value)
    if text is None:
        return value
    try:
        return TYPES[kind].parse(text)
    except (ValueError, KeyError):
        return value


def _read_integer(value: Any) -> int | None:
    """Return an integer; a float or a fraction that is one counts."""
    number = None if isinstance(value, str) else _fraction(value)
    return int(number) if number is not None and number.denominator == 1 else None


def _number(value: Any) -> int | float | Decimal | Fraction | None:
    """Return a number as it is; a fraction that ends after finitely many digits as a decimal."""
    number = None if isinstance(value, str) else _fraction(value)
    if number is None or isinstance(value, float):
        return None if number is None else float(value)
    return plain_number(number, decimal_places(number))


def _truth(value: Any) -> bool | None:
    return value if type(value) is bool else None


def _date(value: Any) -> dt.date | None:
    return value if type(value) is dt.date else None


def _moment(value: Any) -> dt.datetime | None:
    return value if isinstance(value, dt.datetime) else None


@dataclass(frozen=True, slots=True)
class ValueType:
    """A type of values.

    Attributes:
        words: one of them, in messages.
        read: returns a value as plain Python, or None if it is of another type.
        parse: returns the value that a text spells.
        schema: the JSON Schema; editors give dates as text.
        is_ordered: whether it has bounds.
        is_numeric: whether it holds numbers.
    """

    words: str
    read: Callable[[Any], Any]
    parse: Callable[[str], Any]
    schema: Schema
    is_ordered: bool = True
    is_numeric: bool = False


def _parse_number(text: str) -> Any:
    return plain_number(exact(text, "a number"), None)


_TRUTHS = {"true": True, "1": True, "false": False, "0": False}
_TRUTH_SCHEMA: Schema = {
    "anyOf": [
        {"type": "boolean"},
        {"type": "string", "pattern": "^([Tt][Rr][Uu][Ee]|[Ff][Aa][Ll][Ss][Ee]|[01])$"},
    ]
}
_INTEGER_SCHEMA: Schema = {
    "anyOf": [{"type": "integer"}, {"type": "string", "pattern": r"^\s*[+-]?\d[\d_]*\s*$"}]
}
_NUMBER_SCHEMA: Schema = {
    "anyOf": [{"type": "number"}, {"type": "string", "pattern": rf"^\s*[+-]?{NUMERAL}"}]
}
_DATE_SCHEMA: Schema = {"type": "string", "pattern": r"^\s*\d{4}"}

TYPES: Mapping[str, ValueType] = {
    "integer": ValueType("a whole number", _read_integer, int, _INTEGER_SCHEMA, is_numeric=True),
    "number": ValueType("a number", _number, _parse_number, _NUMBER_SCHEMA, is_numeric=True),
    "string": ValueType(
        "a text", exact_text, str, {"type": "string", **FILLED_IN}, is_ordered=False
    ),
    "boolean": ValueType(
        "true or false", _truth, lambda text: _TRUTHS[text.lower()], _TRUTH_SCHEMA, is_ordered=False
    ),
    "date": ValueType(
        "a date such as 2024-12-31",
        _date,
        dt.date.fromisoformat,
        {**_DATE_SCHEMA, "format": "date"},
    ),
    "datetime": ValueType(
        "a time such as 2024-12-31T23:59:59",
        _moment,
        read_moment,
        {**_DATE_SCHEMA, "format": "date-time"},
    ),
}
"""The types of Table Schema whose values can be candidates, groups or numbers of a grid."""


def _bound_of(kind: str, word: str) -> Kind:
    """Return the kind of a bound of a column of a type."""
    of = TYPES[kind]

    def read(entry: Any, place: KeyPath) -> Any:
        refuse_to_fill_in(entry, place)
        if not of.is_ordered:
            raise wrong(place, f"a {kind} has no {word}. Give enum, or leave it out")
        value = _parse(entry, kind)
        bound = _fraction(value) if kind == "number" else of.read(value)
        if bound is None:
            raise wrong(place, f"it must be {of.words}, got {toml_text(entry)}")
        return Fraction(bound) if of.is_numeric else bound

    return Kind("value of the type", of.schema if of.is_ordered else None, read)


_EITHER_CASE = "|".join(f"[{unit[0].upper()}{unit[0]}]{unit[1:]}" for unit in STEP_UNITS)
_DATE_STEP = rf"^\s*([1-9]\d*[ -]?)?({_EITHER_CASE})s?\s*$"


def _step_of(kind: str) -> Kind:
    """Return the kind of the step of a grid of a column of a type."""
    of = TYPES[kind]

    def read_date_step(entry: Any, place: KeyPath) -> DateStep:
        refuse_to_fill_in(entry, place)
        return at_place(place, lambda: DateStep.read(entry))

    def read(entry: Any, place: KeyPath) -> Fraction:
        refuse_to_fill_in(entry, place)
        step = _fraction(entry)
        is_whole = step is not None and (kind != "integer" or step.denominator == 1)
        if not of.is_numeric or step is None or step <= 0 or not is_whole:
            fix = f"a step is {of.words} above zero, of a column of numbers, got {toml_text(entry)}"
            raise wrong(place, fix)
        return step

    if kind in ("date", "datetime"):
        return Kind("step of dates", {"type": "string", "pattern": _DATE_STEP}, read_date_step)
    return Kind(ABOVE_ZERO.words, ABOVE_ZERO.schema if of.is_numeric else None, read)


def _column_of(kind: str) -> KeyTable:
    """Return the table of a column of a type."""
    value = Kind("value of the type", TYPES[kind].schema, anything("").read)
    of_numbers = OF_NUMBERS if TYPES[kind].is_numeric else OF_TEXTS
    words = OF_DATES if kind in ("date", "datetime") else of_numbers
    keys = {
        "type": Key(Kind(f'"{kind}"', {"const": kind}, read_text), "What its cells hold.", ""),
        "minimum": Key(_bound_of(kind, "minimum"), "The least value there can be."),
        "maximum": Key(_bound_of(kind, "maximum"), "The largest value there can be."),
        "enum": Key(list_of(value), "All values there can be."),
        "step": Key(
            _step_of(kind),
            'The distance between answers. The default is 1 for integers and "1 day" for dates.',
        ),
        **{word: CELL_KEYS[word] for word in words},
        "title": Key(ANY_TEXT, "For people."),
        "description": Key(ANY_TEXT, "For people."),
    }
    needs = {"step": (("minimum", "maximum"), "a step goes with a minimum and a maximum")}
    return KeyTable(keys, needs if TYPES[kind].is_ordered else {})


COLUMN = Variants("type", choice_of(TYPES), {kind: _column_of(kind) for kind in TYPES})
"""A declared column."""


def _bound_in_words(value: object) -> str:
    """Return a bound or a value as a person writes it."""
    if isinstance(value, Fraction):
        return str(plain_number(value, decimal_places(value)))
    return str(value)
