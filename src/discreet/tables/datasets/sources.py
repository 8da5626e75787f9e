"""Where data are, as discreet.toml says and in plain values. No row is read, and no database is opened."""

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from glob import iglob
from pathlib import Path
from stat import S_ISREG
from typing import Any

from ...base.arguments import file_path
from ...errors import DiscreetError
from ..engines.reach import query_of_table
from ..engines.sql_queries import SqlQuery, is_one_select
from ..formats.date_texts import EXCEL
from ..formats.file_paths import file_format, names_files
from ..formats.text_form import CellForm, ColumnForm, CsvFile, TextForm, scan_csv
from ..values.kinds import ColumnType
from ..values.meanings import check_markers
from .columns import Column
from .databases import read_database
from .declarations import KeyPath, at_place, wrong

Files = frozenset[object]
"""Files by their identity: a device and a number, so that links and other spellings are one file."""


def place_of(source: object) -> object:
    """Return where data are in plain values, files by their absolute paths; None for data in memory.

    Raises:
        InvalidArgument: if it is a path that no file can have.
    """
    if isinstance(source, SqlQuery):
        connection = getattr(source.connection, "public", None)
        part = {"query": source.text} if source.table is None else {"table": source.table}
        return None if connection is None else {**part, "connection": connection}
    if isinstance(source, CsvFile):
        form = source.form
        both = {"delimiter": form.delimiter, "names": form.names}
        return {"file": place_of(source.path), **both, **form.given}
    if isinstance(source, str | os.PathLike):
        return os.path.realpath(os.path.expanduser(file_path(source, "source")))
    if isinstance(source, list | tuple) and names_files(source):
        return [place_of(one) for one in source]
    return None


def source_words(source: Any) -> dict[str, object] | None:
    """Return where files are in the words of a description, as they are spelled; None for all other data."""
    if isinstance(source, CsvFile):
        keys = source.form.given
        return {"source": str(source.path), **({"csv": keys} if keys else {})}
    if isinstance(source, str | os.PathLike):
        return {"source": os.fspath(source)} if names_files(source, column=True) else None
    if isinstance(source, list | tuple) and names_files(source):
        return {"source": [str(one) for one in source]}
    return None


def with_cell_forms(source: Any, columns: Iterable[Column]) -> Any:
    """Return the data with the forms of the cells of declared columns, where they are files of text.

    Raises:
        InvalidDescription: if the words of a column and those of its file are together those of no form, or if
            other data than files of text have such words.
    """
    own = [*columns]
    if isinstance(source, list | tuple) and names_files(source):
        return type(source)(with_cell_forms(one, own) for one in source)
    is_csv = isinstance(source, CsvFile) or (
        names_files(source) and file_format(Path(source)) in ("", "CSV")
    )
    for one in own if not is_csv else ():
        for word in one.form.given:
            raise wrong(("columns", one.name, word), "it is of a CSV file")
    form = source.form if isinstance(source, CsvFile) else TextForm()
    forms = tuple((one.name, _column_form(form.cells, one)) for one in own) if is_csv else ()
    if all(one.use is None and one.cells == form.cells for _, one in forms):
        return source
    path = source.path if isinstance(source, CsvFile) else Path(source)
    return CsvFile(path, replace(form, columns=forms))


def _column_form(of_file: CellForm, column: Column) -> ColumnForm:
    """Return the form of the cells of a column; its words replace those of its file."""
    place = ("columns", column.name)
    cells = at_place(place, lambda: of_file.replaced_by(column.form))
    as_type = ColumnType(column.name, "text", "CSV", cells=cells)
    at_place((*place, "enum"), lambda: check_markers(column.enum or (), as_type, "value"))
    if column.is_numeric:
        return ColumnForm(cells, "number" if cells.numbers else None)
    if column.type not in ("date", "datetime") or cells.dates is None:
        return ColumnForm(cells)
    if cells.dates.pattern not in EXCEL and cells.dates.has_time != (column.type == "datetime"):
        has = (
            "has a time: declare the column as datetime"
            if cells.dates.has_time
            else ("has no time: declare the column as date")
        )
        raise wrong(
            place, f"it is of type {column.type}, and its form of dates, {cells.date}, {has}"
        )
    return ColumnForm(cells, cells.dates.clock)


def files_at(place: Any) -> Files:
    """Return the files that a place stands for now; of one that is not there its path."""
    return frozenset[object]().union(*files_by_path(place).values())


def files_by_path(place: Any) -> dict[str, Files]:
    """Return the files of a place by its paths; of one that is not there its path."""
    return {path: frozenset(_files(path)) for path in _paths(place)}


def list_files(place: Any) -> Iterator[tuple[object, str]]:
    """Yield the regular files that a place stands for now, by device and number, with their paths.

    This is asked with every charge, so it brings no engine. A folder has all that is in it, hidden files too: that
    is more than is read, and never less.
    """
    for path in _paths(place):
        status = _status(path)
        if status is not None and S_ISREG(status.st_mode):  # of whatever name
            yield (status.st_dev, status.st_ino), path
            continue
        for name in _names_below(path) if status is not None else iglob(path, recursive=True):
            status = _status(name)
            if status is not None and S_ISREG(status.st_mode):
                yield (status.st_dev, status.st_ino), name


def _names_below(folder: str) -> Iterator[str]:
    """Yield the paths of all that is in a folder and below."""
    for where, _, names in os.walk(folder):
        for name in names:
            yield os.path.join(where, name)


def _status(path: str) -> os.stat_result | None:
    """Return the status of the file or folder at a path; None if there is none."""
    try:
        return os.stat(path)
    except (OSError, ValueError):
        return None


def place_in_words(place: Any) -> str:
    """Return the first path of a place, and whether there are others; of a database that it is one."""
    paths = _paths(place)
    return paths[0] + " and others" * (len(paths) > 1) if paths else "a database"


def _files(path: str) -> Iterator[object]:
    """Yield the files of a path, a pattern or a folder; none where it stands for none."""
    with suppress(OSError, ValueError):
        status = os.stat(path)
        if S_ISREG(status.st_mode):  # of whatever name: a pattern that is a file stands for itself
            yield status.st_dev, status.st_ino
            return
    from ..formats.file_paths import files_of

    try:
        paths = files_of(path)
    except (DiscreetError, OSError):  # a folder that others change meanwhile
        return
    for file in paths:
        try:
            status = file.stat()
        except OSError:
            yield os.path.realpath(file)
        else:
            yield status.st_dev, status.st_ino


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


def is_there(file: object) -> bool:
    """Return whether a file of a place is there: it is known by its number, and not by its path."""
    return not isinstance(file, str)


def is_in_database(place: Any) -> bool:
    """Return whether a place is a table or a query, and its database."""
    return isinstance(place, dict) and "connection" in place


def read_source(table: Mapping[str, Any], folder: Path, place: KeyPath) -> object:
    """Return where the data of a dataset are: paths, or a query. Neither is opened.

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
    if key == "query" and not is_one_select(text):
        raise wrong((*place, key), "it must be one SELECT, which changes nothing")
    database = read_database(url, folder, (*place, "connection"))
    if key == "query":
        return SqlQuery(text, database)
    return SqlQuery(query_of_table(*text.split(".")), database, table=text)


def _read_file(text: str, form: Mapping[str, Any], folder: Path, place: KeyPath) -> object:
    """Return the path of files, with the form of a CSV file where it is said."""
    here = (*place, "source")
    if "://" in text:
        raise wrong(here, "it is an address. For a database give connection, with query or table")
    path = found_path(text, folder, here)
    if form and file_format(Path(path)) not in ("", "CSV", "Excel"):
        raise wrong((*place, "csv"), "it is of a CSV file")
    for key, value in form.items():
        at_place((*place, "csv", key), partial(scan_csv, path, **{key: value}))
    return at_place((*place, "csv"), partial(scan_csv, path, **form)) if form else path


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
