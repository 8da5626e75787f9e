"""The input of a command: a file, a pattern, a folder, or standard input.

Standard input is private as any table is. A table from it is copied to a file in a folder of its own, both for
their owner alone, in the place for temporary files (TMPDIR), and removed when the command ends: also after Ctrl-C,
a signal to terminate or a closed terminal, but not after `kill -9`. A number, an answer or scores stay in memory.
"""

import getpass
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any, BinaryIO

from ..base.file_permissions import private_opener
from ..base.numbers import exact
from ..errors import (
    DiscreetError,
    InvalidArgument,
    InvalidNumber,
    InvalidScores,
    UnknownName,
    UnreadableFile,
    preview,
)
from ..tables.engines.engine_errors import quietly
from ..tables.formats.file_paths import file_format, start_of
from ..tables.formats.first_bytes import SIGNATURE, told_format
from ..tables.formats.text_form import WORDS, CsvFile, scan_csv
from .options import FORMATS, split_candidates

STDIN = "-"
_TRUTHS = {"true": True, "false": False}
_NAME = "standard input"
_FOLDER = "discreet-input-"
_QUERIES = {"SQLite": "sqlite3 -csv -header", "DuckDB": "duckdb -csv"}
"""What writes the answer of a query as CSV, by the kind of a database."""


@contextmanager
def table_file(source: str, form: str | None = None) -> Iterator[str]:
    """Yield the path of the table to read, named for its format.

    Args:
        source: a path, a pattern, a folder, or - for standard input.
        form: the format, where the name does not say it; standard input is CSV if it is not given.

    Raises:
        UnknownName: if there is no such format.
        UnreadableFile: if it is a database or an address, with the way to do it instead.
    """
    if form is not None and form not in FORMATS:
        raise UnknownName(f"--format must be one of {', '.join(FORMATS)}, got {preview(form)}")
    if is_stream(source):
        with _stream(source) as stream, _beside(_NAME, form or "csv") as path:
            with open(path, "wb", opener=private_opener) as copy:
                shutil.copyfileobj(stream, copy)
            _refuse_database(path)
            yield str(path)
    elif form is None:
        _refuse(source)
        yield source
    elif not Path(source).expanduser().is_file():
        raise InvalidArgument(f"--format is of one file, and {source} is none")
    else:
        with _beside(source, form) as path:
            path.symlink_to(Path(source).expanduser().absolute())
            yield str(path)


@contextmanager
def scores_text(source: str, form: str | None = None) -> Iterator[str]:
    """Yield the text of a file or of standard input."""
    with _stream(source) as stream:
        text = _read_utf8(stream)
    yield text


@contextmanager
def secret_text(source: str, form: str | None = None) -> Iterator[str]:
    """Yield one line of a file or of standard input. At a terminal it is asked for, and not shown."""
    if source == STDIN and sys.stdin is not None and sys.stdin.isatty():
        text = getpass.getpass("private value (not shown): ", sys.stderr)
    else:
        with _stream(source) as stream:
            text = _read_utf8(stream)
    line = text.removesuffix("\n").removesuffix("\r")
    if "\n" in line or not line:
        raise UnreadableFile("one line is needed, with the private value and nothing else")
    yield line


def private_number(spelling: object, what: str) -> Fraction:
    """Return the exact number that a text spells.

    Raises:
        InvalidScores: if it spells none. It is not shown.
    """
    try:
        return exact(spelling, what)
    except InvalidNumber:
        pass
    raise InvalidScores(f"{what} is not a finite number")


def is_stream(source: str) -> bool:
    """Return whether the bytes can be read only once: standard input, a pipe, the output of another command."""
    return source in (STDIN, "/dev/stdin") or Path(source).is_fifo()


@contextmanager
def _stream(source: str) -> Iterator[BinaryIO]:
    """Yield the bytes of standard input, a pipe or a file."""
    if source in (STDIN, "/dev/stdin"):
        if sys.stdin is None or sys.stdin.isatty():
            raise InvalidArgument("standard input is a terminal: end the command with < FILE")
        yield sys.stdin.buffer
        return
    path = Path(source).expanduser()
    refusal = UnreadableFile(
        "there is no such file, or it cannot be read. Its name is not shown: others can see what "
        "is on the command line (ps, the shell's history), so private values do not belong there. "
        "Pipe them in by standard input"
    )
    with quietly(path.open, refusal, "rb") as stream:
        yield stream


def _read_utf8(stream: BinaryIO) -> str:
    """Return the text of a stream."""
    try:
        return stream.read().decode("utf-8-sig")
    except UnicodeDecodeError:
        pass
    raise UnreadableFile("what was given is not UTF-8 text")


def is_copy(path: object) -> bool:
    """Return whether a path is that of a copy or a link that `table_file` made."""
    file = path.path if isinstance(path, CsvFile) else path
    return isinstance(file, str | Path) and Path(file).parent.name.startswith(_FOLDER)


@contextmanager
def _beside(name: str, form: str) -> Iterator[Path]:
    """Yield a path in a new folder for its owner alone, which is removed. In errors it is called by the name."""
    with tempfile.TemporaryDirectory(prefix=_FOLDER) as folder:
        path = Path(folder) / f"table.{form}"
        try:
            yield path
        except DiscreetError as error:
            error.args = tuple(str(part).replace(str(path), name) for part in error.args)
            raise


def _refuse(source: str) -> None:
    """Raise for databases, addresses and names that say no format, with the way to do it instead."""
    if "://" in source[:10]:
        raise UnreadableFile(
            f"{preview(source)} is an address: fetch it, and pipe it in: curl ADDRESS | discreet … "
            "-"
        )
    path = Path(source).expanduser()
    if not path.is_file():
        return
    signature = told_format(start_of(path))
    if signature is not None and signature.kind in _QUERIES:
        raise UnreadableFile(
            f"{source} {signature.words}: {signature.fix(path)} Or pipe in an answer: "
            f"{_QUERIES[signature.kind]} {source} 'SELECT …' | discreet … -"
        )
    if signature is None and not file_format(path):
        raise UnreadableFile(
            f"the name of {source} does not say its format. Give --format "
            f"{', '.join(FORMATS[:-1])} or {FORMATS[-1]}"
        )


def _refuse_database(copy: Path) -> None:
    """Raise if standard input was a database, which is read as a file alone."""
    with copy.open("rb") as stream:
        signature = told_format(stream.read(SIGNATURE))
    if signature is not None and signature.kind in _QUERIES:
        raise UnreadableFile(
            f"standard input {signature.words}: pipe in the answer of a query, "
            f"{_QUERIES[signature.kind]} FILE 'SELECT …' | discreet … -"
        )


def in_form(path: str, words: Sequence[str] | None) -> str | CsvFile:
    """Return a path as a CSV file of the form that KEY=VALUE say, or the path itself without a KEY.

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
            f"--csv takes KEY=VALUE, and KEY is one of {', '.join(WORDS)}, got {preview(word)}"
        )
    if key in ("multiline", "percent", "skip_initial_space"):
        return key, _TRUTHS.get(value, value)
    if key in ("names", "missing", "units"):
        return key, split_candidates([value], f"--csv {key}")
    if key == "skip":
        return key, int(value) if re.fullmatch("[0-9]{1,9}", value) else value
    return key, value.replace("\\t", "\t")
