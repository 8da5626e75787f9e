"""Where a table of discreet.toml says that its data are: files, found from its folder, or a database."""

import os
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from ..arguments import file_path
from ..tables.csv_files import scan_csv
from ..tables.parsed_queries import is_one_select
from ..tables.paths import file_format
from ..tables.queries import SqlQuery
from .connections import read_database
from .declarations import KeyPath, placed, wrong


def read_source(table: Mapping[str, Any], folder: Path, place: KeyPath) -> object:
    """Return where the data of a dataset are: paths, or a query. Nothing is opened.

    Raises:
        InvalidDescription: if no data can be there.
    """
    if "source" not in table:
        key = "query" if "query" in table else "table"
        return _read_query(table, key, folder, place)
    source, form = table["source"], table.get("csv", {})
    if isinstance(source, tuple):
        return [_read_file(one, form, folder, place) for one in source]
    return _read_file(source, form, folder, place)


def _read_query(table: Mapping[str, Any], key: str, folder: Path, place: KeyPath) -> SqlQuery:
    """Return the query of a database, or that of a whole table."""
    url, text = table["connection"], table[key]
    if key == "table":
        text = table_query(text)
    elif not is_one_select(text):
        raise wrong((*place, key), "it must be one SELECT, which changes nothing")
    return SqlQuery(text, read_database(url, folder, (*place, "connection")))


def table_query(table: str) -> str:
    """Return the query of a whole table, named with its schema or without."""
    return f"SELECT * FROM {'.'.join(map(_quoted, table.split('.')))}"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _read_file(text: str, form: Mapping[str, Any], folder: Path, place: KeyPath) -> object:
    """Return the path of files, with the form of a CSV file where it is said."""
    here = (*place, "source")
    if "://" in text:
        raise wrong(here, "it is an address; of a database say connection, with query or table")
    path = found_path(text, folder, here)
    if form and file_format(Path(path)) not in ("", "CSV"):
        raise wrong((*place, "csv"), "it is of a CSV file")
    for key, value in form.items():
        placed((*place, "csv", key), partial(scan_csv, path, **{key: value}))
    return scan_csv(path, **form) if form else path


def found_path(text: str, folder: Path, here: KeyPath) -> str:
    """Return a path from the folder of the description.

    Raises:
        InvalidDescription: if no file can have it.
    """
    try:
        path = folder / Path(text).expanduser()
        os.fsencode(path)
        return str(file_path(path, "path"))
    except (RuntimeError, ValueError):  # nobody's home, or a name that no file can have
        pass
    raise wrong(here, "no file can have this name")
