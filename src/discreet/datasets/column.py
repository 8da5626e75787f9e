"""A column as its owner declares it: type, bounds and values, in the words of Frictionless Table Schema."""

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from ..arguments import exact_text
from ..candidates import Grid, decimal_places, written
from ..errors import InvalidArgument, InvalidCandidates, shown
from ..numbers import exact
from ..tables.kinds import plain
from ..text_tables import fact_table
from .declarations import (
    KeyPath,
    nearest,
    read_list,
    read_table,
    read_text,
    refuse_to_fill_in,
    told,
    wrong,
)

TYPES = ("integer", "number", "string", "boolean", "date", "datetime")
"""The types of Table Schema whose values can be candidates, groups or numbers of a grid."""

KEYS = ("type", "minimum", "maximum", "enum", "step", "title", "description")

NUMERIC = ("integer", "number")
ORDERED = (*NUMERIC, "date", "datetime")

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
        step: the distance of the points of a grid, or None.
    """

    name: str
    type: str
    minimum: Any = None
    maximum: Any = None
    enum: tuple[Any, ...] | None = None
    step: Fraction | None = None

    @property
    def is_numeric(self) -> bool:
        """Whether it holds numbers."""
        return self.type in NUMERIC

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
        step = 1 if self.step is None else int(self.step)
        few = (self.maximum - self.minimum) / step < MOST_VALUES
        return range(int(self.minimum), int(self.maximum) + 1, step) if few else None

    @property
    def grid(self) -> Grid | None:
        """The grid of the bounds, or None. Without a step an integer has one of 1, and a number no grid."""
        if self.minimum is None or self.maximum is None or not self.is_numeric:
            return None
        step = Fraction(1) if self.step is None and self.type == "integer" else self.step
        return None if step is None else Grid(self.minimum, self.maximum, step)

    @property
    def plain(self) -> dict[str, object]:
        """The declaration in plain values, for a digest."""
        parts = {
            name: getattr(self, name) for name in ("type", "minimum", "maximum", "enum", "step")
        }
        return {name: value for name, value in parts.items() if value is not None}

    def read(self, value: object) -> object:
        """Return a value of this column in plain Python.

        Raises:
            InvalidCandidates: if it is of another type, beyond the bounds, or not among the values.
        """
        found = _VALUES[self.type](plain(value))
        if found is None:
            raise InvalidCandidates(
                f"{told(value)} is no value of column {self.name!r}, which is declared as {self.type}"
            )
        self.check_bounds(found)
        if self.enum is not None and _key(found) not in set(map(_key, self.enum)):
            raise InvalidCandidates(
                f"{shown(found)} is not among the declared values of column {self.name!r}"
                f"{nearest(found, self.enum)}{self._listed()}"
            )
        return found

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
                    f"{_said(value)} is beyond the {word} of column {self.name!r}, which is declared as "
                    f"{_said(bound)}"
                )

    def parse(self, text: str) -> object:
        """Return the value that a text of a command line spells.

        Raises:
            InvalidCandidates: as `read` does.
        """
        return self.read(_spelled(text.strip(), self.type) if self.type != "string" else text)

    def _is_below(self, one: Any, other: Any) -> bool:
        """Return whether one value is below another; not if one of them is None."""
        if one is None or other is None:
            return False
        try:
            return bool(_key(one) < _key(other))
        except TypeError:  # of two times only one has an offset
            pass
        raise InvalidCandidates(
            f"column {self.name!r} is declared with times that all have an offset, or none: give the same"
        )

    def _listed(self) -> str:
        few = (self.enum or ())[:_SHOWN]
        more = ", ..." if self.enum is not None and len(self.enum) > len(few) else ""
        return f"; they are {', '.join(map(repr, few))}{more}" if few else ""

    def cells(self) -> dict[str, str]:
        """Return the column as the row of a table."""
        said = {name: getattr(self, name) for name in ("minimum", "maximum", "step")}
        few = (self.enum or ())[:_SHOWN]
        more = "" if self.enum is None or len(self.enum) == len(few) else ", …"
        return {
            "column": self.name, "type": self.type,
            **{name: "" if value is None else _said(value) for name, value in said.items()},
            "values": f"{', '.join(map(str, few))}{more}",
        }  # fmt: skip

    def _repr_html_(self) -> str:
        return fact_table("Declared column", self.cells()).html()

    def __repr__(self) -> str:
        return f"Column({self})"

    def __str__(self) -> str:
        bounds = ""
        if self.minimum is not None or self.maximum is not None:
            low, high = (_said(b) if b is not None else "…" for b in (self.minimum, self.maximum))
            bounds = f" {low} to {high}"
        step = "" if self.step is None else f" by {_said(self.step)}"
        values = "" if self.enum is None else f" of {len(self.enum)} values"
        return f"{self.name}: {self.type}{bounds}{step}{values}"


def read_column(name: str, given: object, place: KeyPath) -> Column:
    """Return a column for its declaration, a mapping with the keys of `KEYS`.

    Raises:
        InvalidDescription: if it cannot be accepted.
    """
    if isinstance(given, Column):
        return given
    table = read_table(given, place, KEYS)
    if "type" not in table:
        raise wrong(place, f"the type is missing; give type = one of {', '.join(TYPES)}")
    kind = read_text(table["type"], (*place, "type"))
    if kind not in TYPES:
        raise wrong(
            (*place, "type"),
            f"it must be one of {', '.join(TYPES)}, got {shown(kind)}{nearest(kind, TYPES)}",
        )
    for words in ("title", "description"):
        if words in table:
            read_text(table[words], (*place, words))
    low, high = (_read_bound(table, kind, word, place) for word in ("minimum", "maximum"))
    if low is not None and high is not None and not _ordered(low, high, place):
        raise wrong((*place, "maximum"), f"it is below the minimum, {_said(low)}")
    step = _read_step(table, kind, low, high, place)
    bare = Column(name, kind, low, high, None, step)
    return Column(name, kind, low, high, _read_enum(table, bare, place), step)


def _ordered(low: Any, high: Any, place: KeyPath) -> bool:
    try:
        return bool(low <= high)
    except TypeError:
        pass
    raise wrong((*place, "maximum"), "give both bounds with an offset, or both without")


def _read_bound(table: Mapping[str, Any], kind: str, word: str, place: KeyPath) -> Any:
    """Return a bound, or None."""
    if word not in table:
        return None
    here, given = (*place, word), table[word]
    refuse_to_fill_in(given, here)
    if kind not in ORDERED:
        raise wrong(here, f"a {kind} has no {word}; give enum, or leave it out")
    value = _spelled(given, kind)
    found = value if kind != "number" else _fraction(value)
    if found is None or (kind != "number" and _VALUES[kind](value) is None):
        raise wrong(here, f"it must be {_A[kind]}, got {told(given)}")
    return Fraction(found) if kind == "integer" else found


def _read_step(table: Mapping[str, Any], kind: str, low: Any, high: Any, place: KeyPath) -> Any:
    """Return the step of a grid, or None."""
    if "step" not in table:
        return None
    here, given = (*place, "step"), table["step"]
    refuse_to_fill_in(given, here)
    step = _fraction(given)
    whole = step is not None and (kind != "integer" or step.denominator == 1)
    if kind not in NUMERIC or step is None or step <= 0 or not whole:
        raise wrong(
            here, f"a step is {_A[kind]} above zero, of a column of numbers, got {told(given)}"
        )
    if low is None or high is None:
        raise wrong(here, "a step goes with a minimum and a maximum")
    try:
        Grid(low, high, step)
    except InvalidArgument:
        pass
    else:
        return step
    raise wrong(
        here, f"the maximum must be a whole number of steps above the minimum, got {told(given)}"
    )


def _read_enum(table: Mapping[str, Any], column: Column, place: KeyPath) -> tuple[Any, ...] | None:
    """Return the declared values, or None."""
    if "enum" not in table:
        return None
    here, given = (*place, "enum"), table["enum"]
    refuse_to_fill_in(given, here)
    try:
        values = [_read_value(one, column, here) for one in read_list(given, here)]
    except InvalidArgument as error:
        reason = getattr(error, "reason", None) or str(error)
    else:
        again = _repeated(values)
        if values and again is None:
            return tuple(values)
        twice = f"it must list every value once, and {told(again)} stands there twice"
        reason = "it must list at least one value" if not values else twice
    raise wrong(here, reason)


def _repeated(values: Sequence[object]) -> object:
    """Return the first value that equals one before it, or None."""
    seen = set[object]()
    for value in values:
        if _key(value) in seen:
            return value
        seen.add(_key(value))
    return None


def _read_value(given: object, column: Column, place: KeyPath) -> object:
    refuse_to_fill_in(given, place)
    return column.read(given if column.type == "string" else _spelled(given, column.type))


def _key(value: Any) -> Any:
    """Return what equal values share: a float is the decimal that it prints as."""
    return value if isinstance(value, bool | str) else _fraction(value) or value


def _fraction(value: object) -> Fraction | None:
    """Return a number as a fraction; None if it is none."""
    try:
        return exact(None if isinstance(value, bool) else value, "a number")
    except InvalidArgument:
        return None


def _spelled(value: object, kind: str) -> Any:
    """Return the value that a text spells, as in JSON and on a command line; anything else as it is."""
    text = exact_text(value)
    if text is None:
        return value
    try:
        return _TEXTS[kind](text)
    except (ValueError, KeyError):
        return value


def _whole(value: Any) -> int | None:
    """Return an integer; a float or a fraction that is one counts."""
    number = None if isinstance(value, str) else _fraction(value)
    return int(number) if number is not None and number.denominator == 1 else None


def _number(value: Any) -> int | float | Decimal | Fraction | None:
    """Return a number as it is; a fraction that ends after finitely many digits as a decimal."""
    number = None if isinstance(value, str) else _fraction(value)
    if number is None or isinstance(value, float):
        return None if number is None else float(value)
    return written(number, decimal_places(number))


def _text(value: Any) -> str | None:
    return exact_text(value)


def _truth(value: Any) -> bool | None:
    return value if type(value) is bool else None


def _date(value: Any) -> dt.date | None:
    return value if type(value) is dt.date else None


def _moment(value: Any) -> dt.datetime | None:
    return value if isinstance(value, dt.datetime) else None


_VALUES: dict[str, Callable[[Any], Any]] = {
    "integer": _whole,
    "number": _number,
    "string": _text,
    "boolean": _truth,
    "date": _date,
    "datetime": _moment,
}
"""What returns a value of a type, or None for any other."""

_TEXTS: dict[str, Callable[[str], Any]] = {
    "integer": int,
    "number": lambda text: written(exact(text, "a number"), None),
    "string": str,
    "boolean": lambda text: {"true": True, "1": True, "false": False, "0": False}[text.lower()],
    "date": dt.date.fromisoformat,
    "datetime": dt.datetime.fromisoformat,
}

_A = {
    "integer": "a whole number",
    "number": "a number",
    "string": "a text",
    "boolean": "true or false",
    "date": "a date such as 2024-12-31",
    "datetime": "a time such as 2024-12-31T23:59:59",
}


def _said(value: object) -> str:
    """Return a bound or a value as a person writes it."""
    if isinstance(value, Fraction):
        return str(written(value, decimal_places(value)))
    return str(value)
