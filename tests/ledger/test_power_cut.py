"""The power is cut at every sync of a release: what was drawn stays paid, whatever of the files was on the disk.

A preloaded library notes each write, truncation, sync and removal. At each sync the disk may hold any part of what
was written since the last one of that file; so the files are made again without it, with all of it, without one
write, with one alone, with the first ones only, with half of one, or cut at their old length. The ledger must then
open, verify, and hold whatever the process relied on when the power was cut.
"""

import json
import os
import shutil
import struct
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from discreet.ledger import Ledger

from ..ledgers import forgetting

HERE = Path(__file__).parent
HEAD = struct.Struct("4q")

PROGRAM = """
import os, sys
from contextlib import suppress
from tests.ledgers import bill
from discreet import Ledger

def mark(name):
    with suppress(FileNotFoundError):
        os.unlink(os.path.join(sys.argv[1], name))

def prepare():
    def draw():
        mark("drawn")
        return 7
    return draw

session = Ledger(os.path.join(sys.argv[1], "budget.db")).session("adult")
for request in ("a", "b"):
    mark("begins")
    session.buy(bill("1/8", request), prepare)
    mark("given")
"""


@dataclass
class Disk:
    """What is surely on the disk, and what was written since the last sync, by file."""

    files: dict[str, bytes]
    pending: dict[str, list[tuple[int, bytes | None]]] = field(default_factory=dict)

    def write(self, path: str, at: int, data: bytes | None) -> None:
        self.pending.setdefault(path, []).append((at, data))

    def sync(self, path: str) -> None:
        if path in self.pending:
            self.files[path] = applied(self.files.get(path, b""), self.pending.pop(path))

    def states(self) -> Iterator[dict[str, bytes]]:
        """Yield all that the disk may hold now, one file at a time varied."""
        everything = {p: applied(self.files.get(p, b""), w) for p, w in self.pending.items()}
        for others in ({}, everything):
            yield {**self.files, **others}
            for path, writes in self.pending.items():
                before = self.files.get(path, b"")
                for some in parts(writes):
                    yield {**self.files, **others, path: applied(before, some)}
                yield {**self.files, **others, path: everything[path][: len(before)]}


def parts(writes: list[tuple[int, bytes | None]]) -> Iterator[list[tuple[int, bytes | None]]]:
    """Yield writes of which some are missing."""
    for i, (at, data) in enumerate(writes):
        yield writes[:i]
        yield writes[:i] + writes[i + 1 :]
        yield [writes[i]]
        if data is not None and len(data) > 512:
            yield [*writes[:i], (at, data[:512])]


def applied(content: bytes, writes: list[tuple[int, bytes | None]]) -> bytes:
    """Return the content after writes; one without data cuts it."""
    whole = bytearray(content)
    for at, data in writes:
        if data is None:
            whole[at:] = bytes(max(0, at - len(whole)))
        else:
            whole.extend(bytes(max(0, at + len(data) - len(whole))))
            whole[at : at + len(data)] = data
    return bytes(whole)


def records(log: Path) -> Iterator[tuple[str, str, int, bytes]]:
    """Yield kind, name, place and data of what was noted."""
    text, place = log.read_bytes(), 0
    while place < len(text):
        kind, path_length, length, at = HEAD.unpack_from(text, place)
        place += HEAD.size
        path = text[place : place + path_length].decode()
        yield chr(kind), Path(path).name, at, text[place + path_length :][:length]
        place += path_length + length


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library that takes the notes."""
    compiler, path = shutil.which("cc"), tmp_path_factory.mktemp("disk") / "disk_log.so"
    if compiler is None or not sys.platform.startswith("linux"):
        pytest.skip("there is no C compiler, or this is not Linux")
    source = str(HERE / "disk_log.c")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", str(path), source, "-ldl"], check=True)
    return path


def run(folder: Path, library: Path, log: Path) -> None:
    """Make two releases while the library takes notes."""
    noting = {"LD_PRELOAD": str(library), "DISK_LOG": str(log), "DISK_LOG_FOLDER": str(folder)}
    command = [sys.executable, "-c", PROGRAM, str(folder)]
    subprocess.run(command, cwd=HERE.parents[1], env={**os.environ, **noting}, check=True)


def held(path: Path) -> list[tuple[str, str | None]]:
    """Return kinds and requests of the events of a ledger that verifies."""
    forgetting()
    ledger = Ledger(path)
    ledger.verify()
    return [(event.kind, event.request) for event in ledger.history()]


@dataclass
class Reliance:
    """What a process that makes releases relies on, and what may be there besides, as it goes on."""

    owed: list[tuple[str, str | None]]
    may: list[tuple[str, str | None]]
    requests: Iterator[str] = field(default_factory=lambda: iter("ab"))

    def mark(self, name: str) -> None:
        """Take a mark of the process."""
        if name == "begins":
            request = next(self.requests)
            self.may = [*self.owed, ("charged", request), ("answered", request)]
        elif name == "drawn":
            self.owed = self.may[:-1]
        elif name == "given":
            self.owed = self.may
        else:
            pytest.fail(f"{name} is removed: which of two folders the disk has is not tried here")

    def check(self, state: dict[str, bytes], folder: Path) -> None:
        """Make the files, and look into the ledger."""
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for file, text in state.items():
            (folder / file).write_bytes(text)
        events = held(folder / "budget.db")
        assert events[: len(self.owed)] == self.owed, "what was relied on is gone"
        assert events == self.may[: len(events)], "there is what nobody wrote"


def test_the_power_is_cut_at_every_sync(tmp_path: Path, library: Path) -> None:
    """The first release finds no journal, and the second one the journal of the first."""
    folder = tmp_path / "disk"
    folder.mkdir()
    Ledger(folder / "budget.db").open("adult", epsilon=1)
    (folder / "budget.db-journal").unlink(missing_ok=True)
    disk = Disk({path.name: path.read_bytes() for path in folder.iterdir()})
    run(folder, library, tmp_path / "log")
    reliance, seen, syncs = Reliance([("opened", None)], []), set[str](), 0
    for kind, name, at, data in records(tmp_path / "log"):
        if kind == "u":
            reliance.mark(name)
        elif kind == "s":
            syncs += 1
            for state in disk.states():
                key = json.dumps(sorted((n, hash(text)) for n, text in state.items()))
                if key not in seen:
                    seen.add(key)
                    reliance.check(state, tmp_path / "cut")
            disk.sync(name)
        else:
            disk.write(name, at, data if kind == "w" else None)
    assert syncs >= 2 * 2 * 4, "charges and answers are synced"
    assert len(seen) > 100
    assert reliance.owed == reliance.may
    assert len(reliance.owed) == 5
