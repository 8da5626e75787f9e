"""The names of the columns of files, from a header or a schema alone: rows are never read."""

from csv import reader

from .csv_files import DELIMITERS, is_like_data, read_header
from .database import connect
from .files import (
    File,
    FileNames,
    arrow_relation,
    format_of,
    listed_files,
    parquet_relation,
    start_of,
)


def column_names(data: FileNames) -> list[str]:
    """Return the names of the columns of files, those that their folders name among them.

    Args:
        data: a path, a pattern or a folder. The first file of several stands for all. JSON lines have no schema,
            and of a CSV file whose first line looks like data none are told.

    Raises:
        UnreadableFile: if the file is missing, or not in the format of its name.

    Side channels: time depends on the header or the schema, and on nothing else.
    """
    first = listed_files(data)[0]
    return [*_own_names(first), *first.partition]


def _own_names(file: File) -> list[str]:
    """Return the names of the columns that a file holds itself."""
    kind, path = format_of(file), file.path
    start = start_of(path)
    if kind == "Parquet":
        return list(parquet_relation(path, start, connect()).columns)
    if kind == "Arrow":
        return list(arrow_relation(path, connect()).columns)
    if kind == "JSON":
        return []
    header = read_header(path, is_gzip=path.suffix.lower() == ".gz")
    names = max((next(reader([header], delimiter=sign)) for sign in DELIMITERS), key=len)
    return [] if is_like_data(names) else names


def schema(data: FileNames, *, header: bool) -> dict[str, str | None] | None:
    """Return the names of the columns of files with the types that DuckDB tells; None where there is no schema.

    Args:
        data: a path, a pattern or a folder. The first file of several stands for all.
        header: whether the first line of a CSV file holds names; they have no types.

    Raises:
        UnreadableFile: if the file is missing, or not in the format of its name.
    """
    first = listed_files(data)[0]
    kind, path = format_of(first), first.path
    names: dict[str, str | None]
    if kind in ("Parquet", "Arrow"):
        start = start_of(path)
        whole = (
            parquet_relation(path, start, connect())
            if kind == "Parquet"
            else arrow_relation(path, connect())
        )
        names = {name: str(of) for name, of in zip(whole.columns, whole.types, strict=True)}
    elif kind == "CSV" and header:
        line = read_header(path, is_gzip=path.suffix.lower() == ".gz")
        headings = max((next(reader([line], delimiter=sign)) for sign in DELIMITERS), key=len)
        names = dict.fromkeys(headings)
    else:
        return None
    return {**names, **dict.fromkeys(first.partition, "VARCHAR")}
