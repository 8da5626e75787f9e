"""Where data are, and whether two descriptions of it lead to the same data, however they are spelled.

Names of files and of tables are public. No row is read, and no database is opened.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..arguments import file_path
from ..errors import DiscreetError
from ..tables.csv_files import CsvFile
from ..tables.paths import names_files
from ..tables.queries import SqlQuery

Files = frozenset[object]
"""Files by what tells them apart: a device and a number, so that links and other spellings are one file."""


def place_of(source: object) -> object:
    """Return where data are in plain values, files by their absolute paths; None for data in memory.

    Raises:
        InvalidArgument: if it is a path that no file can have.
    """
    if isinstance(source, SqlQuery):
        connection = getattr(source.connection, "public", None)
        return None if connection is None else {"query": source.text, "connection": connection}
    if isinstance(source, CsvFile):
        form = {"delimiter": source.delimiter, "names": source.names}
        return {"file": place_of(source.path), **form}
    if isinstance(source, str | os.PathLike):
        return os.path.realpath(os.path.expanduser(file_path(source, "source")))
    if isinstance(source, list | tuple) and names_files(source):
        return [place_of(one) for one in source]
    return None


def same_source(one: object, other: object) -> bool:
    """Return whether two places are of the same data: one file in common, or the same tables of one database.

    A folder, a pattern and a list are the files that they stand for now. A copy is not recognised, and neither is a
    view under another name than its table's.
    """
    if one is None or other is None or one == other:
        return one is not None and one == other
    if _is_query(one) or _is_query(other):
        return _is_query(one) and _is_query(other) and _asked(one) == _asked(other)
    return bool(files_at(one) & files_at(other)) or _is_within(one, other) or _is_within(other, one)


def files_at(place: Any) -> Files:
    """Return the files that a place stands for now; of one that is not there its path."""
    return frozenset(found for path in _paths(place) for found in _files(path))


def _files(path: str) -> Iterator[object]:
    """Yield the files of a path, a pattern or a folder; none where it stands for none."""
    from ..tables.files import files_of  # heavy: it brings an engine

    try:
        found = files_of(path)
    except (DiscreetError, OSError):  # a folder that others change meanwhile
        return
    for file in found:
        try:
            known = file.stat()
        except OSError:
            yield os.path.realpath(file)
        else:
            yield known.st_dev, known.st_ino


def _paths(place: Any) -> list[str]:
    """Return the paths of a place."""
    if isinstance(place, list | tuple):
        return [path for each in place for path in _paths(each)]
    if isinstance(place, dict):
        return _paths(place["file"]) if "file" in place else []
    return [place] if isinstance(place, str) else []


def _is_within(one: Any, other: Any) -> bool:
    """Return whether a place that has no files yet is below a folder of the other."""
    folders = [Path(path) for path in _paths(other) if os.path.isdir(path)]
    missing = [Path(path) for path in _paths(one) if not any(map(_is_there, files_at(path)))]
    return any(path.is_relative_to(folder) for path in missing for folder in folders)


def _is_there(file: object) -> bool:
    return not isinstance(file, str)


def _is_query(place: Any) -> bool:
    return isinstance(place, dict) and "query" in place


def _asked(place: Any) -> tuple[object, object]:
    """Return the database of a query with the tables that it names, or else with its text."""
    return place["connection"], tables_of(place["query"]) or " ".join(place["query"].split())


def tables_of(query: str) -> frozenset[str]:
    """Return the names of the tables that a query names, in small letters; none where it cannot be taken apart.

    DuckDB parses it, and neither runs it nor looks the tables up.
    """
    from duckdb import Error

    from ..tables.database import connect

    try:
        told = connect().execute("SELECT json_serialize_sql($1)", [query]).fetchone()
        return frozenset(name.lower() for name in _table_names(json.loads(told[0] if told else "")))
    except (Error, ValueError, RecursionError):
        return frozenset()


def _table_names(part: Any) -> Iterator[str]:
    """Yield the names of the tables in a parsed query."""
    if isinstance(part, dict):
        if part.get("type") == "BASE_TABLE":
            yield str(part["table_name"])
        yield from _table_names(list(part.values()))
    elif isinstance(part, list):
        for each in part:
            yield from _table_names(each)
