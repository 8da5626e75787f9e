"""Paths of files, and the formats of files by their extensions."""

import os
from pathlib import Path

from .csv_files import CsvFile

KINDS = {
    ".csv": "CSV",
    ".tsv": "CSV",
    ".txt": "CSV",
    ".ndjson": "JSON",
    ".jsonl": "JSON",
    ".parquet": "Parquet",
    ".pq": "Parquet",
    ".arrow": "Arrow",
    ".feather": "Arrow",
    ".ipc": "Arrow",
}
"""The format of a file, by its extension."""

FILE_FORMATS = ".csv, .csv.gz, .tsv, .tsv.gz, .ndjson, .jsonl, .parquet, .arrow and .feather"


def file_format(path: Path) -> str:
    """Return the format of a file by its extension; an empty text for any other."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    is_gzip = suffixes[-1:] == [".gz"]
    ending = (suffixes[:-1] if is_gzip else suffixes)[-1:]
    kind = KINDS.get(ending[0], "") if ending else ""
    return "" if is_gzip and kind not in ("CSV", "JSON") else kind


def names_files(data: object, *, column: bool = True) -> bool:
    """Return whether data are a path, or a list of paths.

    A text alone is a path. Texts in a list may be the data, which no error may quote: they are paths if a column
    is named and all end as files do.

    Args:
        data: whatever was given for a table.
        column: whether a column of it is named.
    """
    if not isinstance(data, list | tuple):
        return isinstance(data, str | os.PathLike | CsvFile)
    return column and bool(data) and all(map(_is_surely_path, data))


def _is_surely_path(one: object) -> bool:
    if isinstance(one, str):
        return bool(file_format(Path(one)))
    return isinstance(one, os.PathLike | CsvFile)
