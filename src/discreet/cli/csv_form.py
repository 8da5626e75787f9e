"""The form of a CSV file as the command line says it, such as by --csv encoding=cp1252."""

import re
from collections.abc import Sequence
from typing import Any

from ..errors import InvalidArgument, preview
from ..tables.engines.csv_files import CsvFile, scan_csv
from ..tables.formats.text_form import WORDS
from .options import split_candidates

_TRUTHS = {"true": True, "false": False}


def in_form(path: str, words: Sequence[str] | None) -> str | CsvFile:
    """Return a path as a CSV file of the form that KEY=VALUE say; the path itself without a KEY.

    Raises:
        InvalidArgument: if they say no form.
    """
    form = dict(map(read_word, words or ()))
    return scan_csv(path, **form) if form else path


def read_word(word: str) -> tuple[str, Any]:
    """Return the key and the value."""
    key, equals, value = word.partition("=")
    if key not in WORDS or not equals:
        raise InvalidArgument(
            "--csv takes KEY=VALUE, and KEY is one of {keys}; got {word}",
            keys=", ".join(WORDS),
            word=preview(word),
        )
    if key in ("multiline", "percent", "skip_initial_space"):
        return key, _TRUTHS.get(value, value)
    if key in ("names", "missing", "units"):
        return key, split_candidates([value], f"--csv {key}")
    if key == "skip":
        return key, int(value) if re.fullmatch("[0-9]{1,9}", value) else value
    return key, value.replace("\\t", "\t")
