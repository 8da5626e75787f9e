"""Checkpoints: the ends of a ledger's chain, recorded in a second place chosen by its owner."""

import errno
import json
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from operator import attrgetter
from pathlib import Path
from typing import BinaryIO

from sqlalchemy import Connection, select

from ..base.file_permissions import private_opener
from ..errors import InvalidArgument, LedgerCorrupt, LedgerUnwritable, preview
from .schema import EVENTS, LEDGER

_TAIL = 2**16
"""Bytes read from the end of the file for the latest checkpoints: about 300 of them."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The end of a ledger's chain at some time. Stored elsewhere, it detects a replaced or rewritten ledger.

    Attributes:
        ledger: the random id of the ledger.
        number: the number of the last event; 0 without events.
        at: the time of the last event, UTC. None without events.
        head: the hash of the last event and, through the chain, of all before it.
    """

    ledger: str
    number: int
    at: str | None
    head: str

    def as_dict(self) -> dict[str, object]:
        """Return the checkpoint in plain values, ready for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        """Return the checkpoint as one line of JSON."""
        return json.dumps(self.as_dict())


Checkpoints = str | os.PathLike[str] | Callable[[Checkpoint], object]
"""Where checkpoints go: the path of a file to which lines are appended, or a function called with them."""


class CheckpointLog:
    """The file or function that receives a ledger's checkpoints, and the last one known to be recorded."""

    def __init__(self, where: Checkpoints | None) -> None:
        """Open the file, if it is one, and read its latest checkpoint.

        Raises:
            InvalidArgument: if it is neither a path nor callable.
            LedgerUnwritable: if the file cannot be created or read.
            LedgerCorrupt: if the file holds JSON that is no checkpoint, or checkpoints of several ledgers.
        """
        self.where = _read_place(where)
        self.last: Checkpoint | None = None
        if isinstance(self.where, Path):
            _make_checkpoints(self.where)
            self.last = _newest(_read_file(self.where, _TAIL), str(self.where))

    def checkpoints(self) -> list[Checkpoint]:
        """Return all recorded checkpoints, or none for a function, as its records cannot be read.

        Raises:
            LedgerUnwritable: if the file cannot be read.
            LedgerCorrupt: if the file holds JSON that is no checkpoint.
        """
        return _read_file(self.where) if isinstance(self.where, Path) else []

    def cover(self, end: Checkpoint | None) -> None:
        """Record this end of the chain, unless it or a later one is recorded already.

        Raises:
            LedgerUnwritable: if it cannot be written.
        """
        if self.where is None or end is None or not end.number:
            return
        if self.last is None or self.last.number < end.number:
            self._write(end)
            self.last = end

    def _write(self, end: Checkpoint) -> None:
        try:
            if isinstance(self.where, Path):
                _append(self.where, end)
            elif self.where is not None:
                self.where(end)
        except Exception as error:  # whatever the owner's function raises
            why = error.strerror if isinstance(error, OSError) else type(error).__name__
        else:
            return
        raise LedgerUnwritable(
            f"the checkpoint of event {end.number} cannot be written ({why}), so no answer is "
            "given. Free the disk or the folder, and retry"
        )


def _read_place(where: object) -> Path | Callable[[Checkpoint], object] | None:
    if isinstance(where, str | os.PathLike) and str(where) and "\0" not in str(where):
        return Path(where).absolute()
    if where is None or callable(where):
        function: Callable[[Checkpoint], object] | None = where
        return function
    raise InvalidArgument(
        f"checkpoints are a path, or a function that takes a Checkpoint, got {preview(where)}"
    )


def _make_checkpoints(path: Path) -> None:
    """Create the file if it does not exist, and sync its folder, so that it survives a loss of power."""
    try:
        if not path.exists():
            _open_to_append(path).close()
            folder = os.open(path.parent, os.O_RDONLY | os.O_CLOEXEC)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
    except OSError as error:
        why = error.strerror
    else:
        return
    raise LedgerUnwritable(f"the checkpoints {path} cannot be made: {why}")


def _open_to_append(path: Path) -> BinaryIO:
    """Open the file for appending. It is created readable for its owner alone."""
    return open(path, "a+b", buffering=0, opener=private_opener)


def _append(path: Path, end: Checkpoint) -> None:
    """Write one line in a single call, so that concurrent writers do not mix theirs, and sync it."""
    with _open_to_append(path) as file:
        line = f"{end}\n".encode()
        size = file.seek(0, os.SEEK_END)
        if size and os.pread(file.fileno(), 1, size - 1) != b"\n":  # torn by a full disk
            line = b"\n" + line
        if file.write(line) != len(line):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        os.fsync(file.fileno())


def read_checkpoints(where: str | os.PathLike[str] | None) -> list[Checkpoint]:
    """Return the checkpoints in a file; an empty list without a file.

    Lines that are no JSON are skipped: those of a signature, or one that a full disk has cut short.

    Raises:
        InvalidArgument: if it is no path, or the file has no checkpoints.
        LedgerUnwritable: if the file cannot be read.
        LedgerCorrupt: if a line is JSON, and no checkpoint.
    """
    if where is None:
        return []
    path = _read_place(where)
    checkpoints = _read_file(path) if isinstance(path, Path) else []
    if not checkpoints:
        raise InvalidArgument(f"there are no checkpoints in {preview(where)}")
    return checkpoints


def _read_file(path: Path, tail: int | None = None) -> list[Checkpoint]:
    """Return the checkpoints in a file, or in its last bytes."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - tail) if tail else 0)
            lines = file.read().splitlines()
    except OSError as error:
        why = error.strerror
    else:
        return list(_checkpoints(lines, path))
    raise LedgerUnwritable(f"the checkpoints {path} cannot be read: {why}")


def _checkpoints(lines: Iterable[bytes], path: Path) -> Iterator[Checkpoint]:
    for line in lines:
        try:
            plain = json.loads(line)
        except (ValueError, RecursionError):
            continue
        yield _checkpoint(plain, path)


def _checkpoint(plain: object, path: Path) -> Checkpoint:
    kinds = {"ledger": str, "number": int, "at": str | None, "head": str}
    if (
        isinstance(plain, dict)
        and plain.keys() == kinds.keys()
        and all(isinstance(plain[name], kind) for name, kind in kinds.items())
    ):
        return Checkpoint(**plain)
    raise LedgerCorrupt(f"the checkpoints {path} hold a line that is not a checkpoint")


def _newest(checkpoints: list[Checkpoint], where: str) -> Checkpoint | None:
    """Return the latest checkpoint, all of which must belong to one ledger."""
    if len({each.ledger for each in checkpoints}) > 1:
        raise LedgerCorrupt(
            f"the checkpoints {where} are those of several ledgers. Keep a file for each"
        )
    return max(checkpoints, key=attrgetter("number"), default=None)


def check_checkpoints(connection: Connection, checkpoints: list[Checkpoint]) -> None:
    """Raise unless all checkpoints are on the chain.

    Raises:
        LedgerCorrupt: if one of them is not: the ledger was replaced or rewritten.
    """
    if not checkpoints:
        return
    identity = connection.execute(select(LEDGER.c.id)).scalar()
    numbers = {each.number for each in checkpoints}
    heads = select(EVENTS.c.number, EVENTS.c.head).order_by(EVENTS.c.number)
    options = {"yield_per": 1000}
    there = {
        number: head
        for number, head in connection.execute(heads, execution_options=options)
        if number in numbers
    }
    for each in checkpoints:
        if each.ledger != identity or (each.number and there.get(each.number) != each.head):
            raise LedgerCorrupt(
                f"the checkpoint of event {each.number} of the ledger {each.ledger} is not in this "
                "ledger: it is an older copy, another ledger, or was rewritten"
            )
