"""CSV and Parquet files, read by DuckDB out of core.

CSV. Every column is text: guessing types would look at the rows, so that one row could change
how all others are read. For the same reason the dialect is taken from the header line alone.
An empty field, or one that a short row lacks, equals the candidate '' and nothing else. A field
that is no UTF-8, and a row longer than `LONGEST_LINE`, is left out by itself.
"""

import csv
import ctypes
import glob
import gzip
import itertools
import os
import shutil
import tempfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import reduce
from pathlib import Path
from typing import Any

from ..errors import InvalidCandidates, MissingColumn, UnreadableFile, shown
from .failures import missing_column, quietly
from .kinds import CELL, ColumnType, single
from .progress import watched
from .relations import RelationColumn, picked

ACCEPTED = ".csv, .csv.gz, .tsv, .tsv.gz and .parquet"
DELIMITERS = (",", ";", "\t", "|")
LONGEST_HEADER = 1 << 20
LONGEST_LINE = 1 << 24
"""In bytes, with its end. DuckDB 2.0 reads one more byte if a buffer begins with the row: docs/tables.md."""
DIALECT: dict[str, Any] = {
    "auto_detect": False,
    "header": True,
    "quote": '"',
    "escape": '"',
    "null_padding": True,
    "ignore_errors": True,
    "strict_mode": False,
    # In parallel, a line break in quotes would be an error, and so depend on the rows.
    "parallel": False,
    "max_line_size": LONGEST_LINE,
    # DuckDB's own choice is sixteen lines, several times.
    "buffer_size": 2 * LONGEST_LINE,
    "hive_partitioning": False,
}
"""What DuckDB is told of every CSV file, so that it guesses nothing."""
CONFIG: dict[str, Any] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "enable_external_file_cache": False,
}


class CsvColumn(RelationColumn):
    """A column of a CSV file, which is text."""

    @property
    def type(self) -> ColumnType:
        """The type of every column of a CSV file."""
        return ColumnType(self.column, "text", "CSV")

    def count(self, candidates: Sequence[object]) -> list[int]:
        """Return, for each candidate, the number of rows with its text."""
        return super().count(as_texts(candidates, self.column))

    def values(self) -> list[Any]:
        """Return the texts in the column; an empty field is a null."""
        return [text for text in super().values() if text]


def open_file(path: str | os.PathLike[str], column: str) -> RelationColumn:
    """Return the column of the file; only the header or the schema has been read."""
    opened = open_columns(path, {CELL: column})
    kind = CsvColumn if opened.csv else RelationColumn
    return kind(opened.relation, column, opened.failure)


@dataclass(frozen=True, slots=True)
class Opened:
    """Some columns of a file."""

    relation: Any
    csv: bool
    failure: UnreadableFile
    """What is raised when the rows cannot be read."""


def open_columns(path: str | os.PathLike[str], columns: dict[str, str]) -> Opened:
    """Return columns of the file under other names: a mapping from those to the columns'.

    A path that is no file but has wildcards stands for all files that match, one after another. Their
    names and their schemas are public.
    """
    file = Path(os.path.abspath(path))  # not resolve(), which follows links
    connection = _connect()
    if not _is_pattern(file):
        return _open(file, columns, connection)
    files = sorted(Path(name) for name in glob.glob(str(file), recursive=True))
    if not files:
        raise UnreadableFile(f"no file matches {file}")
    parts = [_open(one, columns, connection) for one in files]
    for name, part in zip(files, parts, strict=True):
        if part.csv != parts[0].csv or part.relation.types != parts[0].relation.types:
            raise UnreadableFile(f"{name} has columns of other types than {files[0]}")
    whole = reduce(lambda above, below: above.union(below), [part.relation for part in parts])
    return Opened(
        whole, parts[0].csv, UnreadableFile(f"a file of {file} cannot be read to its end")
    )


def _is_pattern(file: Path) -> bool:
    """Return whether a path has wildcards and is no file itself."""
    return any(c in "*?[" for c in str(file)) and not os.path.lexists(file)


def _open(file: Path, columns: dict[str, str], connection: Any) -> Opened:
    """Return columns of one file."""
    suffixes = [suffix.lower() for suffix in file.suffixes]
    packed = suffixes[-1:] == [".gz"]
    ending = (suffixes[:-1] if packed else suffixes)[-1:]
    start = _start(file)
    damaged = UnreadableFile(f"{file} cannot be read to its end: it is damaged")
    if ending in ([".csv"], [".tsv"]):
        return Opened(_open_csv(file, columns, start, connection), True, damaged)
    if ending == [".parquet"] and not packed:
        return Opened(_open_parquet(file, columns, start, connection), False, damaged)
    raise UnreadableFile(f"{file} has none of the accepted extensions: {ACCEPTED}")


def _start(file: Path) -> bytes:
    """Return the first bytes of a regular file."""
    denied = UnreadableFile(f"{file} cannot be opened: permission denied, or its name is too long")
    if quietly(file.is_dir, denied):
        raise UnreadableFile(f"{file} is a directory. Accepted: one file, {ACCEPTED}")
    if not quietly(file.exists, denied):
        raise UnreadableFile(f"{file} does not exist")
    if not file.is_file():
        raise UnreadableFile(f"{file} is not a regular file. Accepted: {ACCEPTED}")

    def read() -> bytes:
        with file.open("rb") as stream:
            return stream.read(4)

    start = quietly(read, denied)
    if not start:
        raise UnreadableFile(f"{file} is empty: not even a header line or a schema is there")
    return start


def _connect() -> Any:
    """Return a connection to the in-memory database of this process, which is opened once.

    It fetches nothing from a network and keeps nothing of the files. Opening it takes as long as
    counting a million rows.

    Side channels: what its memory does not hold is written to a temporary directory, in clear.
    """
    if not _databases:
        import duckdb

        config = {**CONFIG, "temp_directory": _private_directory()}
        _databases.append(duckdb.connect(config=config))
    return watched(_databases[0].cursor())


def _private_directory() -> str:
    """Return a new directory that only this user can read, gone when this process ends.

    DuckDB would take one that all can read, `.tmp` where the process stands. Where no directory can be made,
    '' is returned, with which DuckDB writes nothing.
    """
    from multiprocessing.util import Finalize

    try:
        path = tempfile.mkdtemp(prefix="discreet-")
    except OSError:
        return ""
    # Unlike atexit it also runs in the workers of a pool, and it leaves what is its parent's to the parent.
    Finalize(None, shutil.rmtree, (path, True), exitpriority=0)
    return path


def _leave_to_the_parent() -> None:
    """Forget the databases after a fork, but never close them: their threads are not in this process."""
    for database in _databases:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(database))
    _databases.clear()


_databases: list[Any] = []
os.register_at_fork(after_in_child=_leave_to_the_parent)


def _literal_path(file: Path) -> str:
    """Return the path so that DuckDB takes no character of it for a wildcard."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in str(file))


def _open_parquet(file: Path, columns: dict[str, str], start: bytes, connection: Any) -> Any:
    """Return columns of a Parquet file; only its schema has been read."""
    if start != b"PAR1":
        raise UnreadableFile(f"{file} is not a Parquet file, whatever its name says")
    relation = quietly(
        lambda: _read_parquet(_literal_path(file), connection),
        UnreadableFile(f"{file} starts like a Parquet file but has no schema: it is damaged"),
    )
    return picked(relation, columns, str(file))


def _read_parquet(path: str, connection: Any) -> Any:
    """Return the relation of a Parquet file.

    DuckDB is told that any column may hold NaN: the statistics in a file leave NaN out, and a filter
    that they seem to settle is not evaluated, so that one row would decide whether others count.
    """
    name = f"path{next(_names)}"  # relations that are put together must not share names
    query = f"SELECT * FROM read_parquet(${name}, hive_partitioning=false, can_have_nan=true)"
    return connection.sql(query, params={name: path})


_names = itertools.count()


def _open_csv(file: Path, columns: dict[str, str], start: bytes, connection: Any) -> Any:
    """Return columns of a CSV file; only its header has been read."""
    packed = file.suffix.lower() == ".gz"
    if start == b"PAR1":
        raise UnreadableFile(f"{file} holds Parquet: name it .parquet")
    if start.startswith(b"\x1f\x8b") and not packed:
        raise UnreadableFile(f"{file} is compressed with gzip: name it .csv.gz")
    delimiter, names = _split(_header(file, packed), columns, file)
    options = {
        "path": _literal_path(file),
        "delim": delimiter,
        "columns": {f"c{i}": "VARCHAR" for i in range(len(names))},
        # All of them: where one column is read, DuckDB 2.0 looks up this list by wrong positions.
        "force_not_null": [f"c{i}" for i in range(len(names))],
        "compression": "gzip" if packed else "none",
        **DIALECT,
    }
    chosen = ", ".join(f"c{names.index(name)} AS {alias}" for alias, name in columns.items())
    return quietly(lambda: _read_csv(options, chosen, connection), _not_csv(file))


def _read_csv(options: dict[str, Any], chosen: str, connection: Any) -> Any:
    """Return the relation of the chosen columns of a CSV file."""
    i = next(_names)
    given = ", ".join(f"{name}=${name}{i}" for name in options if name != "path")
    query = f"SELECT {chosen} FROM read_csv($path{i}, {given})"
    return connection.sql(query, params={f"{name}{i}": value for name, value in options.items()})


def _not_csv(file: Path) -> UnreadableFile:
    return UnreadableFile(f"{file} is not a CSV file: its first line is not UTF-8 text")


def _header(file: Path, packed: bool) -> str:
    """Return the first line of a CSV file, without its end."""
    try:
        with gzip.open(file) if packed else file.open("rb") as stream:
            line = stream.readline(LONGEST_HEADER)
    except (OSError, EOFError, zlib.error):
        line = b""
    text = line.splitlines()[0] if line else b""
    if packed and not line:
        raise UnreadableFile(f"{file} is not compressed with gzip, or it is empty")
    if len(text) >= LONGEST_HEADER:
        raise UnreadableFile(f"{file} has a first line of more than {LONGEST_HEADER} bytes")
    try:
        header = text.decode("utf-8-sig")
    except UnicodeDecodeError:
        header = "\0"
    if "\0" in header:
        raise _not_csv(file)
    if not header.strip():
        raise UnreadableFile(f"{file} has an empty first line. Accepted: the columns' names")
    return header


def _split(header: str, columns: dict[str, str], file: Path) -> tuple[str, list[str]]:
    """Return the delimiter and the columns' names, of the delimiters that show the most wanted columns."""
    if header.count('"') % 2:
        raise UnreadableFile(f"{file} has a quote in its first line that is not closed there")
    choices = [(d, next(csv.reader([header], delimiter=d))) for d in DELIMITERS]
    wanted = set(columns.values())
    delimiter, names = max(choices, key=lambda c: (len(wanted & set(c[1])), len(c[1])))
    for alias, column in columns.items():
        if names.count(column) > 1:
            raise UnreadableFile(f"{file} has {names.count(column)} columns named {column!r}")
        if column not in names:
            raise _no_such_column(column, names, file, alias)
    return delimiter, names


def _no_such_column(column: str, names: list[str], file: Path, alias: str) -> MissingColumn:
    """Return the error for a column that a CSV file has not."""
    if any(not name or name[0] in "+-.0123456789" for name in names):
        # Such a first line may be a row, which must not be shown.
        where = f"the first line of {file}, which looks like data and is not shown"
        return missing_column(column, [], where, alias)
    return missing_column(column, names, str(file), alias)


def as_texts(candidates: Sequence[object], column: str, name: str = "candidate") -> list[str]:
    """Return the candidates as they are written in a CSV file."""
    if isinstance(candidates, str | bytes):
        raise InvalidCandidates(f"candidates must be a list of values, not {shown(candidates)}")
    texts = []
    for candidate in map(single, candidates):
        exact = isinstance(candidate, int | Fraction | Decimal) and not isinstance(candidate, bool)
        if not exact and not isinstance(candidate, str):
            raise InvalidCandidates(
                f"the {name} {shown(candidate)} is a {type(candidate).__name__}, but column "
                f"{column!r} of a CSV file holds text. Give it as it is written in the file"
            )
        texts.append(str(candidate))
    return texts
