"""Advice of messages, in the words of the reader's door: a terminal, Python, or a description of data.

An argument is spelled by one rule, `spelling`: `delta='1e-8'` in Python, `--delta 1e-8` at a terminal, and
`delta = "1e-8" in discreet.toml` where that is the place. What has other names at each door stands in the table of
`fix`. Remote callers give arguments, so a service speaks as Python does.
"""

import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal

Door = Literal["python", "terminal", "description"]

_LONGEST_CHOICE = 60
"""Longer values are cut: a number may have thousands of digits."""

DOOR: ContextVar[Door] = ContextVar("door", default="python")
"""The door of the reader, in this thread or task."""


def set_door(door: Door) -> None:
    """Write for readers at a door from now on, in this thread or task alone."""
    DOOR.set(door)


@contextmanager
def in_description() -> Iterator[None]:
    """Name keys of discreet.toml meanwhile, which declares the arguments."""
    before = DOOR.set("description")
    try:
        yield
    finally:
        DOOR.reset(before)


def spelling(**arguments: object) -> str:
    """Return arguments as the reader gives them: `groups='private', delta='1e-8'`, or with two hyphens each."""
    if DOOR.get() == "terminal":
        return " ".join(_option(name, value) for name, value in arguments.items())
    if DOOR.get() == "description":
        import json  # a first answer does without

        keys = ", ".join(f"{name} = {json.dumps(value)}" for name, value in arguments.items())
        return f"{keys} in discreet.toml"
    return ", ".join(f"{name}={_literal(value)}" for name, value in arguments.items())


def _option(name: str, value: object) -> str:
    """Return an argument as an option; one that is true has no value."""
    option = f"--{name.replace('_', '-')}"
    if value is True:
        return option
    if isinstance(value, Mapping):
        return " ".join(_option(name, f"{key}={','.join(one)}") for key, one in value.items())
    text = ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    return f"{option} {shlex.quote(_shorten(text))}"


def _literal(value: object) -> str:
    """Return a value as Python spells it, in short."""
    return _shorten(repr(value) if isinstance(value, str | list | tuple) else str(value))


def _shorten(text: str) -> str:
    return text if len(text) <= _LONGEST_CHOICE else f"{text[: _LONGEST_CHOICE - 3]}..."


_FIXES: Mapping[str, tuple[str, str]] = {
    "a period": ('per="{per}"', 'per = "{per}" in discreet.toml'),
    "a grid": ("candidates=Grid({lo}, {hi})", "--lo {lo} --hi {hi}"),
    "a grid of dates": (
        'candidates=DateGrid("2020-01-01", "2024-12-31", "1 month")',
        '--lo 2020-01-01 --hi 2024-12-31 --step "1 month"',
    ),
    "a description": ("discreet.Dataset(data, columns=...)", "discreet describe FILE"),
    "a number": (
        "a finite number (int, float, Fraction, Decimal, or text such as '0.1' or '1/3')",
        "a number such as 1, 0.1 or 1/3",
    ),
    "bounds": ("bounds()", "discreet bounds"),
    "names of columns": (
        "discreet.scan_csv(path, names=[...])",
        "--csv names=a,b,c, or csv.names in discreet.toml",
    ),
    "names in place of a header": (
        "discreet.scan_csv(path, skip=1, names=[...])",
        "--csv skip=1 --csv names=a,b,c, or csv.skip and csv.names in discreet.toml",
    ),
    "an encoding": (
        'csv.encoding = "{encoding}" in discreet.toml, or discreet.scan_csv(path, encoding="{encoding}")',
        '--csv encoding={encoding}, or csv.encoding = "{encoding}" in discreet.toml',
    ),
    "a sheet": (
        'discreet.scan_csv(path, sheet="{sheet}"), or csv.sheet = "{sheet}" in discreet.toml',
        '--csv sheet="{sheet}", or csv.sheet = "{sheet}" in discreet.toml',
    ),
    "the form of a file": (
        "discreet.scan_csv(path, delimiter=..., names=...)",
        "--format csv --csv delimiter=';' --csv names=a,b,c",
    ),
    "a table": (
        "give its table, {table}, or save that as CSV UTF-8 (.csv)",
        "save its table as CSV UTF-8 (.csv) or as Parquet",
    ),
    "rows of now": ("{give}", "write its rows of now as Parquet"),
    "numbers of a text": (
        'cast it, such as pandas.to_numeric(table[column], errors="coerce")',
        "write it as numbers first",
    ),
    "candidates of a column": (
        "candidates=table[column]",
        "--candidates-from FILE",
    ),
    "bins": ("Bins({column!r}, edges=[...])", "{column}:0:120:10"),
    "several columns": (
        "several columns are a list",
        "several columns are several words, or several options",
    ),
    "a list of scores": (". If the data are scores, call select_top_k", ""),
}
"""A fix that each door spells its own way: in Python, and at a terminal."""


def fix(name: str, **parts: object) -> str:
    """Return a fix in the words of the reader's door."""
    return _FIXES[name][DOOR.get() != "python"].format(**parts)
