"""A ledger's events as a file for people and other programs."""

import csv
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from ..errors import InvalidArgument, LedgerUnwritable, shown
from .events import Event

_COLUMNS = Event.__slots__


def export(found: Sequence[Event], path: str | os.PathLike[str]) -> None:
    """Write the events as JSON or CSV, by the ending of the path.

    Raises:
        InvalidArgument: if it ends in neither.
        LedgerUnwritable: if the file cannot be written.
    """
    write = {".json": _json, ".csv": _csv}.get(Path(path).suffix.lower())
    if write is None:
        raise InvalidArgument(f"an export ends in .json or .csv, got {shown(str(path))}")
    try:
        with Path(path).open("w", encoding="utf-8", newline="") as file:
            write(found, file)
    except OSError as error:
        failure = LedgerUnwritable(f"cannot write {path}: {error.strerror}")
    else:
        return
    raise failure


def _json(found: Sequence[Event], file: TextIO) -> None:
    json.dump([event.as_dict() for event in found], file, indent=1)
    file.write("\n")


def _csv(found: Sequence[Event], file: TextIO) -> None:
    rows = csv.writer(file)
    rows.writerow(_COLUMNS)
    for event in found:
        plain = {**event.as_dict(), "body": json.dumps(event.body, sort_keys=True)}
        rows.writerow([plain[column] for column in _COLUMNS])
