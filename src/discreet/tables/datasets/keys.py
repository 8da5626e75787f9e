"""The parts of a description: kinds of values, keys, and tables of keys.

A part is said once. Its reader, its errors, its JSON Schema and its row of the reference page are made of that.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeAlias

from ...base.arguments import exact_text
from ...base.numbers import positive
from ...errors import InvalidArgument, InvalidDescription, preview
from .declarations import (
    TO_FILL_IN,
    KeyPath,
    Mistakes,
    at_place,
    few,
    nearest,
    read_list,
    read_mapping,
    read_text,
    refuse_to_fill_in,
    toml_text,
    wrong,
)

Schema = dict[str, Any]

FILLED_IN: Schema = {"not": {"type": "string", "pattern": rf"^\s*{TO_FILL_IN}"}}
NUMERAL = r"(?=.*\d)[\d_]*\.?[\d_]*([eE][+-]?\d+)?(/[\d_]+)?\s*$"
"""A number without a sign, as the pattern of a text."""


KeyContent: TypeAlias = "Kind | KeyTable | Variants | TablesByName"
"""What a key holds: `words` for the reference page, the JSON `schema` of its values, which accepts all that `read`
accepts, and `read(entry, place)`, which returns the value of an entry or raises InvalidDescription with the fix."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of values that are no tables; without a schema it accepts none."""

    words: str
    schema: Schema | None
    read: Callable[[Any, KeyPath], Any]


@dataclass(frozen=True, slots=True)
class Key:
    """A key of a table.

    Attributes:
        part: its kind of value.
        words: its meaning, for editors and the reference page.
        missing: of a key that must be there and hold something, the fix; `{place}` in it is its table.
    """

    part: KeyContent
    words: str = ""
    missing: str | None = None

    @property
    def schema(self) -> Schema | None:
        """The JSON Schema of the key."""
        schema = self.part.schema
        return (
            {"description": self.words, **schema} if schema is not None and self.words else schema
        )


@dataclass(frozen=True, slots=True)
class KeyTable:
    """A table of known keys.

    Attributes:
        keys: its keys, by name.
        needs: keys that go with another, and the fix where that is missing.
        forms: of the keys in them exactly those of one form must be there.
        no_form: the fix where they are not.
        words: its kind, for the reference page.
    """

    keys: Mapping[str, Key]
    needs: Mapping[str, tuple[Sequence[str], str]] = field(default_factory=dict)
    forms: Sequence[Collection[str]] = ()
    no_form: str = ""
    words: str = "table"

    def read(self, entry: Any, place: KeyPath) -> dict[str, Any]:
        """Return the values of a table."""
        table = read_mapping(entry, place)
        mistakes, values = Mistakes(), {}
        for name in table:
            if name not in self.keys:
                with mistakes.collect():
                    raise self._unknown_key(name, place)
        for name, key in self.keys.items():
            with mistakes.collect():
                if key.missing is not None and _is_empty(table.get(name)):
                    raise wrong(place, key.missing.format(place=".".join(place)))
        for name, key in self.keys.items():
            with mistakes.collect():
                if name in table and not (key.missing is not None and _is_empty(table[name])):
                    values[name] = key.part.read(table[name], (*place, name))
        with mistakes.collect():
            self._check(table.keys() & self.keys.keys(), place)
        mistakes.check()
        return {name: values[name] for name in table}

    def _unknown_key(self, name: str, place: KeyPath) -> InvalidDescription:
        """Return the error of a key that this table cannot have."""
        names = [name for name, key in self.keys.items() if key.schema is not None]
        fix = f"{nearest(name, names)}; known are {', '.join(names)}"
        return wrong((*place, name), f"there is no such key{fix}")

    def _check(self, names: Collection[str], place: KeyPath) -> None:
        """Raise unless the keys that are there go together."""
        if self.forms and self._in_forms.intersection(names) not in map(set, self.forms):
            raise wrong(place, self.no_form)
        for name, (others, fix) in self.needs.items():
            if name in names and not set(others) <= set(names):
                raise wrong((*place, name), fix)

    @property
    def _in_forms(self) -> set[str]:
        return {name for form in self.forms for name in form}

    @property
    def schema(self) -> Schema:
        """The JSON Schema of the table."""
        others = self._in_forms
        rules: Schema = {
            "required": [name for name, key in self.keys.items() if key.missing is not None],
            "dependentRequired": {
                name: [*others_of_key] for name, (others_of_key, _) in self.needs.items()
            },
            "oneOf": [
                {"required": [*form], "properties": dict.fromkeys(sorted(others - {*form}), False)}
                for form in self.forms
            ],
        }
        parts = {name: key.schema for name, key in self.keys.items()}
        return {
            "type": "object",
            "properties": {name: part for name, part in parts.items() if part is not None},
            "additionalProperties": False,
            **{rule: content for rule, content in rules.items() if content},
        }


@dataclass(frozen=True, slots=True)
class Variants:
    """Tables that are told apart by the text of one key.

    Attributes:
        key: that key.
        names: the texts that it may hold.
        tables: the tables by these names.
    """

    key: str
    names: Kind
    tables: Mapping[str, KeyTable]
    words: str = "table"

    def read(self, entry: Any, place: KeyPath) -> dict[str, Any]:
        """Return the values of a table."""
        table, here = read_mapping(entry, place), (*place, self.key)
        if self.key not in table:
            choices = ", ".join(self.tables)
            raise wrong(place, f"the {self.key} is missing. Give {self.key} = one of {choices}")
        name = self.names.read(read_text(table[self.key], here), here)
        return self.tables[name].read({**table, self.key: name}, place)

    @property
    def schema(self) -> Schema:
        """The JSON Schema: that of one of the tables."""
        return {"oneOf": [table.schema for table in self.tables.values()]}


@dataclass(frozen=True, slots=True)
class TablesByName:
    """Tables of one kind, by names of the owner's choice."""

    part: KeyContent
    least: int = 0
    words: str = "tables by name"

    def read(self, entry: Any, place: KeyPath) -> dict[str, Any]:
        """Return the values of the tables."""
        tables, mistakes, values = read_mapping(entry, place), Mistakes(), {}
        for name, one in tables.items():
            with mistakes.collect():
                values[name] = self.part.read(one, (*place, name))
        mistakes.check()
        return values

    @property
    def schema(self) -> Schema:
        """The JSON Schema of all of them."""
        return {
            "type": "object",
            "additionalProperties": self.part.schema,
            "minProperties": self.least,
        }


def choice_of(names: Iterable[str]) -> Kind:
    """Return the kind of a text that is one of some names."""
    known = list(names)

    def read(entry: object, place: KeyPath) -> str:
        refuse_to_fill_in(entry, place)
        text = exact_text(entry)
        if text is not None and text in known:
            return text
        fix = f"it must be one of {few(known)}, got {toml_text(entry)}{nearest(entry, known)}"
        raise wrong(place, fix)

    words = " or ".join(f'"{name}"' for name in known)
    return Kind(words, {"enum": known}, read)


def list_of(part: KeyContent, *, least: int = 1, unique: bool = False) -> Kind:
    """Return the kind of a list."""

    def read(entry: object, place: KeyPath) -> tuple[Any, ...]:
        refuse_to_fill_in(entry, place)
        values = tuple(part.read(one, place) for one in read_list(entry, place))
        if len(values) < least:
            raise wrong(place, "it must list at least one value")
        return values

    rules = {"minItems": least} if least else {}
    rules |= {"uniqueItems": True} if unique else {}
    return Kind(f"list: {part.words}", {"type": "array", "items": part.schema, **rules}, read)


def one_or_list_of(part: KeyContent, *, unique: bool = False) -> Kind:
    """Return the kind of one value, or a list of such."""
    several = list_of(part, unique=unique)

    def read(entry: object, place: KeyPath) -> Any:
        return (several if isinstance(entry, list) and entry else part).read(entry, place)

    return Kind(
        f"{part.words}, or a {several.words}", {"anyOf": [part.schema, several.schema]}, read
    )


def accepted_by(
    words: str, schema: Schema, accept: Callable[[Any, str], Any], *, as_given: bool = False
) -> Kind:
    """Return the kind of values that a function accepts, given the value and the name of the key.

    Args:
        words: the kind, for the reference page.
        schema: its JSON Schema.
        accept: returns the value, or raises InvalidArgument.
        as_given: whether the value stays as it is given.
    """

    def read(entry: Any, place: KeyPath) -> Any:
        refuse_to_fill_in(entry, place)
        value = at_place(place, lambda: accept(entry, place[-1]))
        return entry if as_given else value

    return Kind(words, schema, read)


def anything(words: str, schema: Schema | None = None) -> Kind:
    """Return the kind of a value that is checked later."""

    def read(entry: Any, place: KeyPath) -> Any:
        refuse_to_fill_in(entry, place)
        return entry

    return Kind(words, {**(schema or {}), **FILLED_IN}, read)


def _read_truth(entry: object, place: KeyPath) -> bool:
    if isinstance(entry, bool):
        return entry
    raise wrong(place, "it must be true or false")


def _read_unquoted(entry: object, place: KeyPath) -> str:
    """Return a text that no message quotes: it may hold a password by mistake."""
    if exact_text(entry) is not None:
        return read_text(entry, place)
    raise wrong(place, "it must be a text")


def read_duration(entry: object, name: str) -> Fraction:
    """Return the seconds of a time such as "250ms", "1.5s" or "0s".

    Raises:
        InvalidArgument: if it is none.
    """
    match = re.fullmatch(_DURATION, exact_text(entry) or "", re.ASCII)
    if match is None:
        raise InvalidArgument(
            f'{name} must be a time such as "250ms" or "1s", got {preview(entry)}'
        )
    return Fraction(match[1]) / (1000 if match[2] == "ms" else 1)


def read_time_above_zero(entry: object, name: str) -> Fraction:
    """Return the seconds of a time that is above zero.

    Raises:
        InvalidArgument: if it is none.
    """
    seconds = read_duration(entry, name)
    if not seconds:
        raise InvalidArgument(f"{name} must be above zero")
    return seconds


_DURATION = r"([0-9]{1,6}(?:\.[0-9]{1,3})?)(ms|s)"

_TEXT: Schema = {"type": "string", "pattern": r"\S", **FILLED_IN}
_ABOVE_ZERO: Schema = {
    "anyOf": [
        {"type": "number", "exclusiveMinimum": 0},
        {"type": "string", "pattern": rf"^\s*\+?{NUMERAL}"},
    ],
}
_EXACT = "number above zero"

ANY_TEXT = Kind("text", _TEXT, read_text)
UNQUOTED_TEXT = Kind("text", _TEXT, _read_unquoted)
TRUTH = Kind("true or false", {"type": "boolean"}, _read_truth)
ABOVE_ZERO = accepted_by(_EXACT, _ABOVE_ZERO, positive)
DURATION = accepted_by(
    'time such as "250ms"',
    {"type": "string", "pattern": f"^{_DURATION}$"},
    read_duration,
    as_given=True,
)
TIME_ABOVE_ZERO = accepted_by(
    'time above zero such as "30s"',
    {"type": "string", "pattern": f"^(?=[0-9.]*[1-9]){_DURATION}$"},
    read_time_above_zero,
    as_given=True,
)
ABOVE_ZERO_AS_GIVEN = accepted_by(_EXACT, _ABOVE_ZERO, positive, as_given=True)


def _is_empty(entry: object) -> bool:
    return entry is None or (isinstance(entry, dict | list) and not entry)
