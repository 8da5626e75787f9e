"""Where data are, in plain values. Names of files are public; no row is read, and no database is opened."""

import os
from collections.abc import Iterator
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


def folders_of(place: Any) -> tuple[str, ...]:
    """Return the folders among the paths of a place."""
    return tuple(path for path in _paths(place) if os.path.isdir(path))


def paths_to_come(place: Any) -> tuple[str, ...]:
    """Return the paths of a place that have no files yet."""
    return tuple(path for path in _paths(place) if not any(map(_is_there, files_at(path))))


def _is_there(file: object) -> bool:
    return not isinstance(file, str)


def is_query(place: Any) -> bool:
    """Return whether a place is a query and its database."""
    return isinstance(place, dict) and "query" in place
