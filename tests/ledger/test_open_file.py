"""A ledger's file stays open between transactions, and nothing is any different for it."""

import os
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from discreet import Ledger
from discreet.errors import LedgerCorrupt, RequestConflict
from discreet.ledger.ledger_file import FileLock, OpenFile
from discreet.ledger.session import Session

from ..ledgers import DIGEST, answering, bill, forgetting, undrawn


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "budget.db"


@pytest.fixture
def session(path: Path) -> Session:
    ledger = Ledger(path)
    ledger.open("adult", epsilon=1)
    return ledger.session("adult")


def descriptors(path: Path) -> int:
    """Return how many descriptors of this process lead to a file."""
    there = [Path(f"/proc/self/fd/{name}") for name in os.listdir("/proc/self/fd")]
    return sum(one.exists() and one.samefile(path) for one in there)


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that are opened, one entry each time."""
    paths = list[str]()
    connect: Any = sqlite3.connect

    def noted(path: str, **terms: Any) -> Any:
        paths.append(path)
        return connect(path, **terms)

    monkeypatch.setattr("discreet.ledger.ledger_file.sqlite3.connect", noted)
    return paths


def test_several_releases_open_the_file_once(path: Path, opened: list[str]) -> None:
    ledger = Ledger(path)
    ledger.open("adult", epsilon=1)
    session = ledger.session("adult")
    for answer in range(4):
        assert session.buy(bill("1/8"), answering(answer)) == answer
    assert ledger.verify().events == 9
    assert opened.count(f"{path.as_uri()}?mode=rw") == 1


def test_another_file_under_the_name_is_noticed(session: Session, path: Path) -> None:
    """Renamed over it, with the same chain so far: a charge must not go to the file that is gone."""
    session.buy(bill("1/4"), answering(1))
    copy = path.with_name("copy.db")
    copy.write_bytes(path.read_bytes())
    copy.replace(path)
    session.buy(bill("1/4"), answering(2))
    forgetting()
    assert Ledger(path).spent("adult") == Ledger(path).spent("adult")
    assert Ledger(path).budgets()[0].spent.epsilon == Fraction(1, 2)
    assert descriptors(path) >= 1


def test_bytes_that_were_changed_behind_its_back_are_read(session: Session, path: Path) -> None:
    """Not even the counter by which SQLite knows of changes tells of this one."""
    session.buy(bill("1/4"), answering(1))
    before = path.read_bytes()
    after = before.replace(b'{"epsilon":"1/4"}', b'{"epsilon":"1/9"}')
    assert after != before
    path.write_bytes(after)
    with pytest.raises(LedgerCorrupt):
        session.buy(bill("1/4"), undrawn)


def test_a_fork_finds_it_closed(session: Session, path: Path) -> None:
    session.buy(bill("1/4"), answering(1))
    assert descriptors(path) == 1
    read, write = os.pipe()
    child = os.fork()
    if not child:
        os.write(write, bytes([descriptors(path)]))
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(read, 1) == b"\0"
    os.close(read)
    os.close(write)
    assert descriptors(path) == 0
    assert session.buy(bill("1/4"), answering(2)) == 2
    assert descriptors(path) == 1


def test_a_refusal_leaves_no_transaction(session: Session, path: Path) -> None:
    session.buy(bill("1/4", "a"), answering(1))
    with pytest.raises(RequestConflict):
        session.buy(bill("1/4", "a", digest=DIGEST[:-1] + "0"), undrawn)
    with closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        other.execute("ROLLBACK")
    assert session.buy(bill("1/4", "b"), answering(2)) == 2


def test_with_a_write_ahead_log_it_is_not_kept(path: Path) -> None:
    """There an open file holds a lock, and nobody could put the mode back."""
    ledger = Ledger(path)
    ledger.open("adult", epsilon=1)
    with closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as other:
        other.execute("PRAGMA journal_mode = WAL")
        ledger.checkpoint()
        assert other.execute("PRAGMA journal_mode = DELETE").fetchall() == [("delete",)]
    ledger.session("adult").buy(bill("1/4"), answering(1))


def test_a_file_that_changed_while_it_was_opened_is_not_kept(
    session: Session, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = path.with_name("copy.db")
    connect: Any = sqlite3.connect
    copy.write_bytes(path.read_bytes())

    def replaced(*given: Any, **terms: Any) -> Any:
        connection = connect(*given, **terms)
        copy.replace(path)
        return connection

    file = OpenFile(str(path), 1.0)
    monkeypatch.setattr("discreet.ledger.ledger_file.sqlite3.connect", replaced)
    file.open()
    assert not file.resume(FileLock(str(path)).place())
    file.close()
    assert not file.resume(FileLock(str(path)).place())


def test_where_open_files_cannot_be_renamed_it_is_closed_each_time(
    path: Path, opened: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("discreet.ledger.store.KEEPS_OPEN", False)
    ledger = Ledger(path)
    ledger.open("adult", epsilon=1)
    session = ledger.session("adult")
    before = len(opened)
    assert [session.buy(bill("1/8"), answering(n)) for n in range(2)] == [0, 1]
    assert len(opened) == before + 6
    assert descriptors(path) == 0


def test_a_release_leaves_a_journal_that_says_nothing(session: Session, path: Path) -> None:
    """The file alone is the ledger: the journal beside it, or beside a copy, changes nothing."""
    session.buy(bill("1/4"), answering(1))
    journal, copy = path.with_name("budget.db-journal"), path.with_name("copy.db")
    assert journal.read_bytes()[:28] == bytes(28)
    copy.write_bytes(path.read_bytes())
    forgetting()
    assert Ledger(copy).verify() == Ledger(path).verify()
    copy.with_name("copy.db-journal").write_bytes(journal.read_bytes())
    forgetting()
    assert Ledger(copy).verify() == Ledger(path).verify()
    journal.unlink()
    assert session.buy(bill("1/4"), answering(2)) == 2


def test_the_journal_follows_the_rights_of_the_file(path: Path) -> None:
    """Whoever may read the ledger has to see that its journal says nothing."""
    Ledger(path).open("adult", epsilon=1)
    path.chmod(0o640)
    Ledger(path)
    assert path.with_name("budget.db-journal").stat().st_mode & 0o777 == 0o640


BUYS = """
import discreet, sys
session = discreet.Ledger(sys.argv[1]).session("adult")
discreet.select([1, 2], sensitivity=1, epsilon="1/8", ledger=session, request="of another")
"""


def test_an_older_copy_with_as_many_commits_is_read_anew(path: Path) -> None:
    """SQLite takes a file that counts as many for unchanged, and the charge would write what was read before."""
    ledger = Ledger(path)
    ledger.open("adult", epsilon=1)
    session = ledger.session("adult")
    session.buy(bill("1/8", "first"), answering(1))
    older = path.read_bytes()
    session.buy(bill("1/8", "second"), answering(2))

    def prepare() -> Any:
        newer = path.read_bytes()
        time.sleep(0.05)  # clocks of file systems have ticks
        with path.open("r+b") as file:
            file.write(older)
        subprocess.run([sys.executable, "-c", BUYS, path], check=True)
        assert (
            path.read_bytes()[24:40] == newer[24:40]
        )  # the commits and the pages that the file counts
        return undrawn()

    with pytest.raises(LedgerCorrupt) as refused:
        session.buy(bill("1/8", "third"), prepare)
    assert refused.value.charged is False
    with closing(sqlite3.connect(path)) as file:
        events = file.execute(
            "SELECT kind, request FROM discreet_events ORDER BY number"
        ).fetchall()
    assert events[1:] == [
        ("charged", "first"), ("answered", "first"), ("charged", "of another"), ("answered", "of another")
    ]  # fmt: skip


def test_the_work_of_other_ledgers_is_seen_and_not_that_of_this_one(
    path: Path, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes = list[bool]()
    resume = OpenFile.resume

    def note(self: OpenFile, *args: Any, **terms: Any) -> bool:
        is_open = resume(self, *args, **terms)
        changes.append(self.is_changed)
        return is_open

    session.buy(bill("1/8", "first"), answering(1))
    monkeypatch.setattr(OpenFile, "resume", note)
    session.buy(bill("1/8", "second"), answering(2))
    assert changes == [False, False, False]
    time.sleep(0.05)
    Ledger(path).session("adult").buy(bill("1/8", "of another"), answering(3))
    changes.clear()
    session.buy(bill("1/8", "third"), answering(3))
    assert changes == [True, False, False]
