"""The line of a key in a TOML file: Python's parser tells the values, and not where they are."""

import re
import tomllib
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from .declarations import KeyPath

_MOST_TRIED = 2**22
"""So many characters are parsed in vain to find the ends of statements; where it takes more no line is found."""

_CLOSES = re.compile("[\\]}]|\"\"\"|'''")
"""What is in the last line of a statement of several."""


def read_toml(text: str) -> dict[str, Any]:
    """Return the values of a TOML file; numbers with a point are decimals, so that 0.1 is one tenth.

    Raises:
        ValueError: if it is none, or nested too deeply, or a number in it has too many digits.
    """
    try:
        return tomllib.loads(text, parse_float=Decimal)
    except RecursionError:
        pass
    raise ValueError("it is nested too deeply")


def line_of(text: str, place: KeyPath) -> int | None:
    """Return the line where the statement of a place begins; if it is missing, that of the table it belongs to."""
    statements = _statements(text)
    while place and statements:
        for line, values in statements:
            if _has(values, place):
                return line
        place = place[:-1]
    return None


def _statements(text: str) -> list[tuple[int, dict[str, Any]]]:
    """Return the statements of a file, as their first lines and their values; none if too long.

    A statement is the least number of lines that is a file of its own. The keys after a table's name are in it.
    """
    lines, start, characters = text.split("\n"), 0, 0
    statements: list[tuple[int, dict[str, Any]]] = []
    table: list[str] = []
    while start < len(lines):
        end = start + 1
        while (values := _alone(lines[start:end])) is None:
            characters += sum(map(len, lines[start:end]))
            end = (
                next((i for i in range(end, len(lines)) if _CLOSES.search(lines[i])), len(lines))
                + 1
            )
            if end > len(lines) or characters > _MOST_TRIED:
                return []
        if lines[start].lstrip().startswith("["):
            table = list(_keys(values))
        elif values:
            values = _within(table, values)
        statements += [(start + 1, values)] if values else []
        start = end
    return statements


def _alone(lines: list[str]) -> dict[str, Any] | None:
    """Return the values of some lines, or None if they are no file of their own."""
    try:
        return read_toml("\n".join(lines) + "\n")
    except ValueError:
        return None


def _keys(values: Any) -> Iterator[str]:
    """Yield the keys that lead to a table that is named alone."""
    while isinstance(values, dict) and values:
        [(key, values)] = values.items()
        yield key


def _within(table: list[str], values: dict[str, Any]) -> dict[str, Any]:
    for key in reversed(table):
        values = {key: values}
    return values


def _has(values: Any, place: KeyPath) -> bool:
    for key in place:
        if not isinstance(values, dict) or key not in values:
            return False
        values = values[key]
    return True
