"""Export of a ledger's events to JSON or CSV."""

import csv
import json
import os
import re
from collections.abc import Sequence
from typing import TextIO

from ..base.arguments import file_path
from ..base.file_permissions import replaced_private
from ..errors import InvalidArgument, LedgerUnwritable, preview
from .events import Event

_COLUMNS = Event.__slots__

_FORMULA_SIGNS = "=+@\\-＝＋－＠"
"""Signs with which formulas begin in spreadsheets. The wide ones in some locales."""

_BEGINNINGS = re.compile(rf"^(?=[\t\r\n])|(?<!\w)(?=[{_FORMULA_SIGNS}])")
"""Where a formula could begin, whatever separates the cells: a sign in front of which is no letter and no digit."""

_IN_TEXTS = re.compile(r"""(?<!\w)[=+@]|(?<=[^\w\s\[])-|(?<!\w)-(?!\d[\d.e+-]*(?:[,}\]]|$))""")
"""The same in JSON, but for the minus of a number."""


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
        raise InvalidArgument(f"an export ends in .json or .csv, got {preview(str(place))}")
    try:
        with replaced_private(place) as file:
            write(events, file)
    except OSError as error:
        failure = LedgerUnwritable(f"cannot write {place}: {error.strerror}")
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
        plain = {name: _inert(value) for name, value in event.as_dict().items()}
        rows.writerow([{**plain, "body": _inert_json(event.body)}[column] for column in _COLUMNS])


def _inert(value: object) -> object:
    """Return a cell in which no spreadsheet finds a formula: an apostrophe stands where one could begin."""
    return _BEGINNINGS.sub("'", value) if isinstance(value, str) else value


def _inert_json(body: object) -> str:
    """Return JSON in which no spreadsheet finds a formula, and which is read as the same values."""
    text = json.dumps(body, sort_keys=True)
    return _IN_TEXTS.sub(lambda sign: f"\\u{ord(sign[0]):04x}", text)
