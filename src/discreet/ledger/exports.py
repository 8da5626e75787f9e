"""Export of a ledger's events to JSON or CSV."""

import csv
import json
import os
from collections.abc import Sequence
from typing import TextIO

from ..arguments import file_path
from ..errors import InvalidArgument, LedgerUnwritable, preview
from ..file_permissions import replaced_private
from .events import Event

_COLUMNS = Event.__slots__

_FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""Beginnings of texts that spreadsheets take for formulas; the wide signs in some locales."""


def export_events(events: Sequence[Event], path: str | os.PathLike[str]) -> None:
    """Write the events as JSON or CSV, by the extension of the path, to a file readable for its owner alone.

    A file that is there is replaced once the new one is whole.

    Raises:
        InvalidArgument: if the extension is another.
        LedgerUnwritable: if the file cannot be written.
    """
    place = file_path(path, "path")
    write = {".json": _write_json, ".csv": _write_csv}.get(place.suffix.lower())
    if write is None:
        raise InvalidArgument(
            "an export ends in .json or .csv, got {place}", place=preview(str(place))
        )
    try:
        with replaced_private(place) as file:
            write(events, file)
    except OSError as error:
        failure = LedgerUnwritable(
            "cannot write {place}: {strerror}", place=place, strerror=error.strerror
        )
    else:
        return
    raise failure


def _write_json(events: Sequence[Event], file: TextIO) -> None:
    json.dump([event.as_dict() for event in events], file, indent=1)
    file.write("\n")


def _write_csv(events: Sequence[Event], file: TextIO) -> None:
    rows = csv.writer(file)
    rows.writerow(_COLUMNS)
    for event in events:
        plain = {**event.as_dict(), "body": json.dumps(event.body, sort_keys=True)}
        rows.writerow([_inert(plain[column]) for column in _COLUMNS])


def _inert(value: object) -> object:
    """Return a cell that no spreadsheet evaluates: a text that looks like a formula gets an apostrophe in front."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULAS) else value
