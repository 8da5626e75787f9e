"""Completion in a shell: names of columns and of choices. Never a value of a table."""

import re
from collections.abc import Callable, Iterable, Mapping
from glob import escape, glob
from itertools import islice
from typing import TYPE_CHECKING

import typer

from ..errors import DiscreetError

if TYPE_CHECKING:
    from ..tables.datasets import Dataset
    from ..tables.datasets.configuration import Configuration

_PATH = re.compile(r"[\w./-]+")
_PLAIN_NAME = re.compile(r"\w[\w.-]*")
"""Names that no shell splits, expands or evaluates: a file of somebody else names its columns as it likes."""

_MOST_COMPLETIONS = 50
"""Where more values fit, none are offered: whoever types another letter sees them."""

Completer = Callable[..., list[str]]


def one_of(*names: str) -> Completer:
    """Return a function that completes one of some names."""

    def complete(incomplete: str) -> list[str]:
        return [name for name in names if name.startswith(incomplete)]

    return complete


def data_names(incomplete: str) -> list[str]:
    """Complete a dataset of discreet.toml, or a file, or none if the shell completes files by itself."""
    names = dataset_names(incomplete)
    if not names:
        return []
    return [*names, *sorted(filter(_PATH.fullmatch, glob(f"{escape(incomplete)}*")))]


def dataset_names(incomplete: str) -> list[str]:
    """Complete a dataset of discreet.toml."""
    return _matching_names(lambda description: description.datasets, incomplete)


def analyst_names(incomplete: str) -> list[str]:
    """Complete an analyst of discreet.toml."""
    return _matching_names(lambda description: description.analysts, incomplete)


def question_names(incomplete: str) -> list[str]:
    """Complete a named question of discreet.toml."""
    return _matching_names(
        lambda description: [q for of in description.questions.values() for q in of], incomplete
    )


def declared_values(ctx: typer.Context, incomplete: str) -> list[str]:
    """Complete a list of values that discreet.toml declares for the column: public, and not from the data."""
    columns = _listed(ctx.params.get("column"))
    table, *others = [*filter(None, [ctx.params.get("data")]), *columns] or ctx.args or [""]
    return _values_of_columns(table, others, incomplete)


def declared_groups(ctx: typer.Context, incomplete: str) -> list[str]:
    """Complete a list of values that discreet.toml declares for the column of groups."""
    table = ctx.params.get("data") or next(iter(ctx.args), "")
    return _values_of_columns(table, _listed(ctx.params.get("by")), incomplete)


def _listed(columns: object) -> list[str]:
    """Return the columns of an argument that may be one, several or none."""
    return [columns] if isinstance(columns, str) else list(columns or [])  # type: ignore[call-overload]


def _values_of_columns(table: str, columns: list[str], incomplete: str) -> list[str]:
    """Complete values of a column, or of several as city=York,Leeds."""
    if len(columns) < 2:
        return _values(table, columns[0], incomplete=incomplete) if columns else []
    name, equals, rest = incomplete.partition("=")
    if not equals:
        return [f"{one}=" for one in columns if one.startswith(name) and _PLAIN_NAME.fullmatch(one)]
    return [f"{name}={one}" for one in _values(table, name, incomplete=rest)]


def _values(data: str, column: str, *, incomplete: str) -> list[str]:
    """Complete the last of some declared values."""
    try:
        choices = _datasets()[data].columns[column].values or ()
    except (DiscreetError, KeyError):
        return []
    before, comma, last = incomplete.rpartition(",")
    texts = (str(value).lower() if isinstance(value, bool) else str(value) for value in choices)
    fitting = (text for text in texts if text.startswith(last) and _PLAIN_NAME.fullmatch(text))
    completions = [f"{before}{comma}{text}" for text in islice(fitting, _MOST_COMPLETIONS + 1)]
    return completions if len(completions) <= _MOST_COMPLETIONS else []


def _matching_names(
    names: "Callable[[Configuration], Iterable[str]]", incomplete: str
) -> list[str]:
    """Complete one of the names that discreet.toml declares, or none if it cannot be read."""
    from ..tables.datasets.configuration import find_configuration, read_configuration

    try:
        path = find_configuration()
        choices = () if path is None else names(read_configuration(path))
    except DiscreetError:
        return []
    return [
        name
        for name in dict.fromkeys(choices)
        if name.startswith(incomplete) and _PLAIN_NAME.fullmatch(name)
    ]


def columns_of_file(ctx: typer.Context, incomplete: str) -> list[str]:
    """Complete a column of the table on the command line, from its header or schema alone."""
    # After an option that lacks its value, the arguments are not taken apart yet.
    source = ctx.params.get("data") or ctx.params.get("scores") or next(iter(ctx.args), None)
    return _columns(source, incomplete)


def candidate_columns(ctx: typer.Context, incomplete: str) -> list[str]:
    """Complete a column of the file of candidates."""
    return _columns(ctx.params.get("candidates_from"), incomplete)


def _columns(data: object, incomplete: str) -> list[str]:
    """Return the names of columns that begin so, or none if they cannot be known, or read only once."""
    if data is None:
        return []
    try:
        names = _dataset_columns(str(data)) or _in_file(str(data))
    except DiscreetError:
        return []
    return [name for name in names if name.startswith(incomplete) and _PLAIN_NAME.fullmatch(name)]


def _datasets() -> "Mapping[str, Dataset]":
    """Return the datasets that discreet.toml describes."""
    from ..tables.datasets.configuration import find_configuration, read_configuration

    path = find_configuration()
    return {} if path is None else read_configuration(path).datasets


def _dataset_columns(name: str) -> list[str]:
    """Return the columns of a dataset that discreet.toml describes under this name."""
    datasets = _datasets()
    return list(datasets[name].columns) if name in datasets else []


def _in_file(path: str) -> list[str]:
    """Return the columns of files."""
    from ..tables.engines.files import shown_names  # heavy: it brings an engine

    return shown_names(path)
