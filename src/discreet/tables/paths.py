"""Which data name files, and what a file holds by how its name ends."""

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
"""What a file holds, by how its name ends."""

FILE_FORMATS = ".csv, .csv.gz, .tsv, .tsv.gz, .ndjson, .jsonl, .parquet, .arrow and .feather"


def file_format(path: Path) -> str:
    """Return what a file holds, by how its name ends; an empty text for any other ending."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    packed = suffixes[-1:] == [".gz"]
    ending = (suffixes[:-1] if packed else suffixes)[-1:]
    kind = KINDS.get(ending[0], "") if ending else ""
    return "" if packed and kind not in ("CSV", "JSON") else kind


def names_files(data: object, *, column: bool = True) -> bool:
    """Return whether data are a path, or a list of paths.

    A text alone is a path. Texts in a list may be the data, which no error may quote: they are paths if a column
    is named and each ends as a file does.

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
