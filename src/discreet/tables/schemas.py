"""The names of the columns of files, from a header or a schema alone: rows are never read."""

from csv import reader

from .csv_files import DELIMITERS, is_like_data, read_header
from .database import connect_memory
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
    names = [*own_columns(first)]
    if format_of(first) == "CSV" and is_like_data(names):
        names = []
    return [*names, *first.partition]


def own_columns(file: File) -> dict[str, str | None]:
    """Return the names of the columns that a file holds itself, with their types if there are any."""
    kind, path = format_of(file), file.path
    start = start_of(path)
    if kind == "JSON":
        return {}
    if kind == "CSV":
        header = read_header(path, is_gzip=path.suffix.lower() == ".gz")
        choices = [next(reader([header], delimiter=sign)) for sign in DELIMITERS]
        names: list[str] = max(choices, key=len)
        return dict.fromkeys(names)
    is_parquet = kind == "Parquet"
    rows = (
        parquet_relation(path, start, connect_memory())
        if is_parquet
        else arrow_relation(path, connect_memory())
    )
    return {name: str(of) for name, of in zip(rows.columns, rows.types, strict=True)}


def schema(data: FileNames, *, header: bool) -> dict[str, str | None] | None:
    """Return the names of the columns of files with the types that DuckDB tells; None where there is no schema.

    Args:
        data: a path, a pattern or a folder. The first file of several stands for all.
        header: whether the first line of a CSV file holds names; they have no types.

    Raises:
        UnreadableFile: if the file is missing, or not in the format of its name.
    """
    first = listed_files(data)[0]
    kind = format_of(first)
    if kind == "JSON" or (kind == "CSV" and not header):
        return None
    return {**own_columns(first), **dict.fromkeys(first.partition, "VARCHAR")}
