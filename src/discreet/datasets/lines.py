"""The line of a key in a TOML file: Python's parser tells what is there, and not where."""

import tomllib
from decimal import Decimal
from typing import Any

from .declarations import KeyPath


def read_toml(text: str) -> dict[str, Any]:
    """Return the values of a TOML file; numbers with a point are decimals, so that 0.1 is one tenth."""
    return tomllib.loads(text, parse_float=Decimal)


def line_of(text: str, place: KeyPath) -> int | None:
    """Return the line where the statement of a place begins; if it is missing, that of the table it belongs to.

    The first lines of a file are a file of their own where no statement is cut in two. So the statement ends
    with the first such piece that has the place, and begins after the one before.
    """
    while place:
        before = 0
        lines = text.split("\n")
        for number in range(1, len(lines) + 1):
            try:
                found = read_toml("\n".join(lines[:number]) + "\n")
            except tomllib.TOMLDecodeError:
                continue
            if _has(found, place):
                return before + 1
            before = number
        place = place[:-1]
    return None


def _has(found: Any, place: KeyPath) -> bool:
    for key in place:
        if not isinstance(found, dict) or key not in found:
            return False
        found = found[key]
    return True
