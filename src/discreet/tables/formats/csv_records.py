"""The records of a file of text, as Python's `csv` makes them of the decoded text: the definition of a record.

The kernel reads the same ones faster. An empty line is no record, nor is a comment: a line that begins with
its sign where a record would begin.
"""

import io
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.util import find_spec, module_from_spec
from itertools import chain
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


def records_of(
    lines: Iterable[str], form: TextForm, *, comments: bool = False
) -> Iterator[list[str]]:
    """Return the records of lines.

    Args:
        lines: lines with their ends.
        form: the form; without a delimiter a record is one cell.
        comments: whether a comment is a record, without cells.
    """
    if form.delimiter is None:
        return ([line] for line in _without_ends(lines))
    if not form.multiline and (form.quote or form.escape):
        records = _records_of_lines(_without_ends(lines), form)
    elif form.comment:
        records = _records_and_comments(lines, form)
    else:
        return filter(None, _reader(lines, form))
    return records if comments else filter(None, records)


def is_strict(lines: Iterable[str], form: TextForm) -> bool:
    """Return whether the quotes of the first record are closed, and only a delimiter is behind them."""
    try:
        next(filter(None, _records_and_comments(lines, form, strict=True)), None)
    except _csv().Error:
        return False
    return True


def _reader(lines: Iterable[str], form: TextForm, *, strict: bool = False) -> Iterator[list[str]]:
    own = _csv()
    quotes = {"quotechar": form.quote} if form.quote else {"quoting": own.QUOTE_NONE}
    records: Iterator[list[str]] = own.reader(
        lines,
        delimiter=form.delimiter,
        strict=strict,
        escapechar=form.escape,
        doublequote=form.escape is None,
        skipinitialspace=form.skip_initial_space,
        **quotes,
    )
    return records


def _without_ends(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines that are not empty, without their ends."""
    return filter(None, (line.rstrip("\r\n") for line in lines))


def _records_of_lines(lines: Iterable[str], form: TextForm) -> Iterator[list[str]]:
    """Yield the records of lines without their ends, where a quote ends with its line; a comment is []."""
    signs = [sign for sign in (form.quote, form.escape) if sign]
    signs += [" "] if form.skip_initial_space else []
    for line in lines:
        if form.comment and line.startswith(form.comment):
            yield []
        elif any(sign in line for sign in signs):
            yield next(_reader([line], form))
        else:
            yield line.split(form.delimiter)


def _records_and_comments(
    lines: Iterable[str], form: TextForm, *, strict: bool = False
) -> Iterator[list[str]]:
    """Yield the records of lines; a comment is []."""
    rest = iter(lines)
    for line in rest:
        if form.comment and line.startswith(form.comment):
            yield []
        else:  # `csv` takes no more lines than the record has
            record = next(_reader(chain([line], rest), form, strict=strict), None)
            yield from filter(None, [record])
