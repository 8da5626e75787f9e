"""Where a table of discreet.toml says that its data are: files, found from its folder, or a database."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..arguments import file_path
from ..errors import InvalidArgument
from ..tables.csv_files import scan_csv
from ..tables.parsed_queries import is_one_select
from ..tables.paths import file_format
from ..tables.queries import SqlQuery
from .connections import read_database
from .declarations import KeyPath, read_list, read_text, refuse_to_fill_in, wrong

_FORMS = (
    "give source, a path or a list of paths; or connection, with query or table: connection = "
    '"duckdb:///people.duckdb", table = "people"'
)


def read_source(table: Mapping[str, Any], folder: Path, place: KeyPath) -> object:
    """Return where the data of a dataset are: paths, or a query. Nothing is opened.

    Raises:
        InvalidDescription: if it says none of the forms, or several.
    """
    asked = [key for key in ("source", "query", "table") if key in table]
    if len(asked) != 1 or ("source" in table) == ("connection" in table):
        raise wrong(place, _FORMS)
    if "source" not in table:
        _refuse_form(table, place)
        return _read_query(table, asked[0], folder, place)
    given, here = table["source"], (*place, "source")
    if isinstance(given, list) and given:
        return [_read_file(one, table, folder, here) for one in given]
    return _read_file(given, table, folder, here)


def _read_query(table: Mapping[str, Any], key: str, folder: Path, place: KeyPath) -> SqlQuery:
    """Return the query of a database, or that of a whole table."""
    url = read_text(table["connection"], (*place, "connection"))
    text = read_text(table[key], (*place, key))
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


def _refuse_form(table: Mapping[str, Any], place: KeyPath) -> None:
    for key in ("delimiter", "names"):
        if key in table:
            raise wrong((*place, key), "it is of a CSV file; a query says which columns it has")


def _read_file(given: object, table: Mapping[str, Any], folder: Path, here: KeyPath) -> object:
    """Return the path of files, with the form of a CSV file where it is said."""
    text = read_text(given, here)
    if "://" in text:
        raise wrong(here, "it is an address; of a database say connection, with query or table")
    path = found_path(text, folder, here)
    form = {key: table[key] for key in ("delimiter", "names") if key in table}
    if not form:
        return path
    for key, value in form.items():
        _check_form(path, key, value, (*here[:-1], key))
    return scan_csv(path, **form)


def _check_form(path: str, key: str, value: Any, place: KeyPath) -> None:
    """Raise unless a CSV file can have the delimiter, or the names."""
    refuse_to_fill_in(value, place)
    if file_format(Path(path)) not in ("", "CSV"):
        raise wrong(place, "it is of a CSV file")
    if key == "names":
        value = read_list(value, place)
    try:
        scan_csv(path, **{key: value})
    except InvalidArgument as error:
        message = str(error)
    else:
        return
    raise wrong(place, message)


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
