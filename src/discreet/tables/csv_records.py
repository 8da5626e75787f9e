"""The records of a file of text, as Python's `csv` makes them of the decoded text: the definition of a record.

The kernel reads the same ones faster. An empty line is no record.
"""

import io
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.util import find_spec, module_from_spec
from typing import Any, BinaryIO

from .text_form import TextForm

_LONGEST_FIELD = 2**31 - 1
"""Characters of a cell, for `csv`: what it refuses would depend on the rows."""


@cache
def _csv() -> Any:
    """Return `_csv` as a module of our own, with a longest cell that the program cannot change."""
    spec = find_spec("_csv")
    assert spec is not None, "Python comes with it"
    assert spec.loader is not None, "and loads it"
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    module.field_size_limit(_LONGEST_FIELD)
    return module


def text_lines(stream: BinaryIO, encoding: str) -> Iterable[str]:
    """Return the lines of decoded bytes with their ends, which are LF, CR or both."""
    return io.TextIOWrapper(stream, encoding, errors="replace", newline="")


def records_of(lines: Iterable[str], form: TextForm) -> Iterator[list[str]]:
    """Return the records of lines.

    Args:
        lines: lines with their ends.
        form: the form; without a delimiter a record is one cell.
    """
    if form.delimiter is None:
        return ([line] for line in _without_ends(lines))
    if not form.multiline and form.quote:
        return _records_of_lines(_without_ends(lines), form)
    return filter(None, _reader(lines, form))


def is_strict(lines: Iterable[str], form: TextForm) -> bool:
    """Return whether the quotes of the first record are closed, and only a delimiter is behind them."""
    try:
        next(filter(None, _reader(lines, form, strict=True)), None)
    except _csv().Error:
        return False
    return True


def _reader(lines: Iterable[str], form: TextForm, *, strict: bool = False) -> Iterator[list[str]]:
    own = _csv()
    quotes = {"quotechar": form.quote} if form.quote else {"quoting": own.QUOTE_NONE}
    records: Iterator[list[str]] = own.reader(
        lines, delimiter=form.delimiter, strict=strict, **quotes
    )
    return records


def _without_ends(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines that are not empty, without their ends."""
    return filter(None, (line.rstrip("\r\n") for line in lines))


def _records_of_lines(lines: Iterable[str], form: TextForm) -> Iterator[list[str]]:
    """Yield the records of lines without their ends: a quote ends with its line."""
    for line in lines:
        yield next(_reader([line], form)) if form.quote in line else line.split(form.delimiter)
