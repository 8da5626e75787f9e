"""A ledger's file: one transaction on it at a time and none while the process forks, open between transactions.

SQLite's own file locks belong to the process. They are lost when any thread of it closes the file, and a child
forked in the middle of a transaction believes for ever that they are held. So a transaction also holds a `flock`
on a lock file beside the ledger, which belongs to the open file description, and a fork waits until no thread is
in a transaction.

To open the file again took longer than all else that a release does. So a connection in no transaction is kept,
which holds no lock. It is used again while the path leads to the very file that it opened, and forgets all that it
has read before. For both proofs, see docs/how-to/ledger.md, "One at a time".
"""

import errno
import os
import sqlite3
import stat
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Condition, Lock
from typing import NamedTuple, Protocol, TypeVar
from weakref import WeakSet

from ..errors import LedgerUnwritable

try:
    import fcntl
except ImportError:  # there locks belong to what opened the file, and nobody forks
    _KNOWS_FLOCK = False
else:
    _KNOWS_FLOCK = True

_T = TypeVar("_T")

PAUSE = 0.0003
"""Seconds between two attempts, the same for all waiting processes, so that all are as likely to be next."""

TURN = 0.02
"""Seconds for which a thread waits for its turn before it looks whether it should stop."""

_NO_LOCKS = {errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL, errno.EBADF}
"""Errors of file systems without `flock`, where only SQLite's own locks are used."""


KEEPS_OPEN = hasattr(os, "register_at_fork")
"""Elsewhere an open file could not be renamed or removed, so it is closed after each transaction."""

_Identity = tuple[int, int]
_FileVersion = tuple[int, int]


class _Closes(Protocol):
    def close(self) -> None: ...


class ForkLock:
    """Lets transactions of several threads run concurrently, and delays forks until there are none."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._condition = Condition(self._lock)
        self._inside = self._forks = 0  # transactions that run, and forks that wait for their end
        self._open = WeakSet[_Closes]()

    def closes_before(self, file: _Closes) -> None:
        """Close this before any fork: a child must not inherit an open file of SQLite."""
        with self._lock:
            self._open.add(file)

    def __enter__(self) -> None:
        with self._lock:
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._forks:
                self._condition.notify_all()

    def before(self) -> None:
        """Wait until no transaction runs, and let none begin."""
        _surely(self._lock.acquire)
        self._forks += 1
        while self._inside:
            _surely(self._condition.wait)
        self._forks -= 1
        for file in list(self._open):
            _surely(file.close)

    def after_in_parent(self) -> None:
        """Let transactions begin again."""
        self._lock.release()

    def after_in_child(self) -> None:
        """Start afresh: waiting threads exist in the parent only."""
        ForkLock.__init__(self)


def _surely(wait: Callable[[], object]) -> None:
    """Wait despite interrupts: Python ignores exceptions of fork handlers, and would fork nevertheless."""
    while True:
        try:
            wait()
        except BaseException:
            continue
        return


FORK_LOCK = ForkLock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=FORK_LOCK.before,
        after_in_parent=FORK_LOCK.after_in_parent,
        after_in_child=FORK_LOCK.after_in_child,
    )


class FilePlace(NamedTuple):
    """Where a ledger's path leads.

    Attributes:
        file: the ledger's own file, with all links followed.
        identity: of that file. None if there is none.
    """

    file: str
    identity: _Identity | None


class FileLock:
    """The lock of a ledger: a file beside its own, which stays open between transactions.

    It is used in the turn of a thread alone: whoever shares what was opened is not kept out by its lock.

    Args:
        name: the path of the ledger.

    Attributes:
        turn: that of the thread which uses it.
    """

    def __init__(self, name: str) -> None:
        self._name, self.turn, self._process = name, Lock(), os.getpid()
        self._place: FilePlace | None = None
        self._beside = ""
        self._descriptor: int | None = None
        FORK_LOCK.closes_before(self)

    def place(self) -> FilePlace:
        """Return where the path leads, or led when links were last followed: see `leads_to`."""
        place = self._place
        if place is None:
            file = os.path.realpath(self._name)
            place = FilePlace(file, _identity(file))
            self._place = None if place.identity is None else place
        return place

    def leads_to(self, place: FilePlace) -> bool:
        """Return whether the path still leads there. If not, links are followed again.

        A file with one name has one entry in one folder. So if the file at the end of the path is the one of this
        place, and is there itself and not by a link, the files beside it are those beside this place.

        Raises:
            LedgerUnwritable: if the file has several names: beside each would lie another lock and another journal.
        """
        try:
            status = os.lstat(place.file)
            leads = (status.st_dev, status.st_ino) == place.identity
            if leads and place.file != self._name:
                leads = os.path.samestat(os.stat(self._name), status)
            names = status.st_nlink
        except OSError:
            leads, names = place.identity is None, 1
        if leads and names > 1:
            raise LedgerUnwritable(
                f"the ledger {place.file} has {names} names (hard links), and one lock beside "
                "each. Keep one of them"
            )
        if not leads:
            self._place = None
        return leads

    def acquire(self, file: str, *, writing: bool) -> bool:
        """Try to lock the file beside this one, and return whether it succeeded.

        Raises:
            OSError: if the lock is required, and its file cannot be opened.
        """
        beside = f"{file}-lock"
        if self._descriptor is not None and beside == self._beside:
            is_locked = _lock(self._descriptor, beside)
            if is_locked or _is_at(beside, self._descriptor):
                return is_locked
        self.close()
        try:
            descriptor = _open_lock_file(Path(beside), Path(file))
        except OSError:
            if writing:
                raise
            return True
        self._beside, self._descriptor = beside, descriptor  # it stays open while others hold it
        return _lock(descriptor, beside)

    def release(self) -> None:
        """Unlock the file, even if a child process being started still has a copy of its descriptor."""
        if self._descriptor is None:
            return
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_UN)
        except OSError:  # where it could not be locked either
            self.close()

    def close(self) -> None:
        """Close the file, and thereby unlock it. The next transaction opens it again."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            try:
                # A child that was forked past Python shares what its parent may have locked.
                if self._process == os.getpid():
                    with suppress(OSError):
                        fcntl.flock(descriptor, fcntl.LOCK_UN)
            finally:
                os.close(descriptor)

    def __del__(self) -> None:
        self.close()


def run_exclusively(
    lock: FileLock, work: Callable[[FilePlace], _T], *, writing: bool, again: Callable[[], None]
) -> _T:
    """Return work(place) while this holds the ledger's file exclusively, among all processes, and forks wait.

    Args:
        lock: the ledger's lock.
        work: a function of the place of the file.
        writing: whether the lock is required. A reader may lack the rights to create the lock file.
        again: called after every failed attempt. It raises on timeout.

    Raises:
        OSError: if the lock is required, and its file cannot be opened.
    """
    # The path may lead to one file for one thread and to another for the next, and both would use this lock.
    _await_turn(lock.turn, again)
    try:
        place = lock.place()
        turn = _TURNS.get(place.file) or _TURNS.setdefault(place.file, Lock())
        _await_turn(turn, again)
        try:
            while True:
                # An attempt opens the file, so that a fork never finds one open.
                with FORK_LOCK:
                    try:
                        is_locked = not _KNOWS_FLOCK or lock.acquire(place.file, writing=writing)
                        if is_locked and lock.leads_to(place):
                            return work(place)
                    finally:
                        lock.release()
                if is_locked:
                    break
                again()
                time.sleep(PAUSE)
        finally:
            turn.release()
    finally:
        lock.turn.release()
    # The path leads elsewhere by now.
    return run_exclusively(lock, work, writing=writing, again=again)


_TURNS: dict[str, Lock] = {}
"""By file: one thread of this process attempts to lock it. If all did, many would keep the machine busy with it."""

if hasattr(os, "register_at_fork"):
    # The threads whose turn it is in the parent are not in the child.
    os.register_at_fork(after_in_child=_TURNS.clear)


def _await_turn(turn: Lock, again: Callable[[], None]) -> None:
    """Return when it is the turn of this thread."""
    while not turn.acquire(timeout=TURN):
        again()


def _open_lock_file(beside: Path, file: Path) -> int:
    """Open the lock file with the rights of the ledger's own file, and create it if it does not exist."""
    flags = os.O_CLOEXEC | os.O_NOFOLLOW
    if not beside.exists():
        with suppress(FileExistsError):  # somebody else was faster
            return _make_lock_file(beside, flags, file.stat())
    try:
        return os.open(beside, flags | os.O_RDWR)
    except PermissionError:
        return os.open(beside, flags | os.O_RDONLY)  # enough to lock it, but over a network


def _make_lock_file(beside: Path, flags: int, like: os.stat_result) -> int:
    """Create the lock file with the owner and the mode of the ledger's file."""
    descriptor = os.open(beside, flags | os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        os.fchmod(descriptor, like.st_mode & 0o666)
        if os.geteuid() == 0:
            os.fchown(descriptor, like.st_uid, like.st_gid)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _lock(descriptor: int, beside: str | Path) -> bool:
    """Lock an open lock file, and return whether its path still leads to it."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as failure:
        if failure.errno not in _NO_LOCKS:
            raise
        return True
    return _is_at(beside, descriptor)


def _is_at(path: str | Path, descriptor: int) -> bool:
    """Return whether a path leads to an open file."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except FileNotFoundError:
        return False


class OpenFile:
    """The connection to one file, by one store. Use it within `run_exclusively` only.

    Args:
        path: where the ledger is.
        patience: seconds to wait for other programs.

    Attributes:
        is_changed: whether the file was changed since the last transaction here, by others or past SQLite.
    """

    def __init__(self, path: str, patience: float) -> None:
        self._path, self._patience = path, patience
        self.is_changed = False
        self._version: _FileVersion | None = None
        self._connection: sqlite3.Connection | None = None
        self._place: FilePlace | None = None
        FORK_LOCK.closes_before(self)

    def open(self) -> sqlite3.Connection:
        """Open an existing file: a deleted ledger must not come back empty."""
        path = os.path.realpath(self._path)
        _give_rights_to_journal(path)
        # Asked first: should the path lead elsewhere by now, the next transaction opens what it leads to then.
        self._place = FilePlace(path, _identity(path))
        # With an isolation level of None the driver begins nothing by itself. Every transaction has its own thread.
        self._connection = sqlite3.connect(
            f"{Path(path).as_uri()}?mode=rw", uri=True, isolation_level=None,
            timeout=self._patience, check_same_thread=False,
        )  # fmt: skip
        return self._connection

    def resume(self, place: FilePlace, *, anew: bool = True) -> bool:
        """Return whether the open file can be used: it is where the path leads, and was left in no transaction.

        Args:
            place: where the path leads.
            anew: whether pages are read again, as from a file just opened.
        """
        if self._connection is None or place.identity is None or self._place != place:
            return False
        if self._connection.in_transaction:
            return False
        # SQLite counts commits in the file itself: an older copy written over it may count as many.
        self.is_changed = _file_version(place.file) != self._version
        if anew or self.is_changed:
            self._connection.execute("PRAGMA shrink_memory")
        return True

    def rests(self, *, has_no_log: bool = False) -> bool:
        """Return whether the connection holds no lock after a transaction: with a write-ahead log it does.

        Args:
            has_no_log: whether the transaction found that there is none.
        """
        connection, place = self._connection, self._place
        if connection is None or connection.in_transaction or place is None:
            return False
        self._version = _file_version(place.file)
        if has_no_log:
            return True
        [(mode,)] = connection.execute("PRAGMA journal_mode").fetchall()
        return bool(mode != "wal")

    def close(self) -> None:
        """Close it. The next transaction opens it again."""
        connection, self._connection, self._place = self._connection, None, None
        self.is_changed = False  # whoever opens it reads it anew
        if connection is not None:
            connection.close()


def _give_rights_to_journal(path: str) -> None:
    """Give the journal beside a file the rights of that, where they were changed since and whoever runs this may.

    The journal stays between transactions, and readers look whether it says anything.
    """
    journal = f"{path}-journal"
    with suppress(OSError):
        mode, own = (os.stat(one, follow_symlinks=False).st_mode for one in (path, journal))
        if stat.S_ISREG(own) and own != mode:
            os.chmod(journal, mode & 0o666)


def _identity(path: str) -> _Identity | None:
    """Return the device and inode of a file, which identify it while it is open, or None if it does not exist."""
    status = _status(path)
    return None if status is None else (status.st_dev, status.st_ino)


def _file_version(path: str) -> _FileVersion | None:
    """Return when a file was written last, in nanoseconds, and how many bytes it has. None if it does not exist."""
    status = _status(path)
    return None if status is None else (status.st_mtime_ns, status.st_size)


def _status(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except OSError:
        return None
