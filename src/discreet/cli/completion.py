"""What a shell completes: names of columns and of choices. Never a value of a table."""

import re
from collections.abc import Callable
from pathlib import Path

import typer

from ..errors import DiscreetError

_PLAIN = re.compile(r"\w[\w.-]*")
"""Names that no shell splits, expands or evaluates: a file of somebody else names its columns as it likes."""

Completer = Callable[[str], list[str]]


def one_of(*names: str) -> Completer:
    """Return a function that completes one of some names."""

    def complete(incomplete: str) -> list[str]:
        return [name for name in names if name.startswith(incomplete)]

    return complete


def column_names(ctx: typer.Context, incomplete: str) -> list[str]:
    """Complete a column of the table on the command line, from its header or schema alone."""
    # After an option that lacks its value, the arguments are not taken apart yet.
    named = ctx.params.get("data") or ctx.params.get("scores") or next(iter(ctx.args), None)
    return _columns(named, incomplete)


def candidate_columns(ctx: typer.Context, incomplete: str) -> list[str]:
    """Complete a column of the file of candidates."""
    return _columns(ctx.params.get("candidates_from"), incomplete)


def _columns(data: object, incomplete: str) -> list[str]:
    """Return the names of columns that begin so; none where they cannot be known, or read only once."""
    if data is None or Path(str(data)).is_fifo():
        return []
    try:
        names = _declared(str(data)) or _in_file(str(data))
    except DiscreetError:
        return []
    return [name for name in names if name.startswith(incomplete) and _PLAIN.fullmatch(name)]


def _declared(name: str) -> list[str]:
    """Return the columns of a dataset that discreet.toml describes under this name."""
    from ..datasets.configuration import find_configuration, read_configuration

    found = find_configuration()
    described = {} if found is None else read_configuration(found).datasets
    return list(described[name].columns) if name in described else []


def _in_file(path: str) -> list[str]:
    """Return the columns of files."""
    from ..tables.schemas import column_names  # heavy: it brings an engine

    return column_names(path)
