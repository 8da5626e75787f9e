"""Who is in a ledger's file: one transaction at a time, and none while the process forks.

SQLite locks a file by locks that belong to a process. They are lost when any thread of it closes the file, and a
child that is forked in the middle of a transaction believes for ever that somebody holds them. So each
transaction also holds a lock of its own on a file beside (`flock`), which belongs to what opened it; and a fork
waits until no thread is in a transaction. Proof: docs/ledger.md, "One at a time".
"""

import errno
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Condition, Lock

try:
    import fcntl
except ImportError:  # there locks belong to what opened the file, and nobody forks
    _KNOWS_FLOCK = False
else:
    _KNOWS_FLOCK = True

_PAUSE = 0.001
"""Seconds between two attempts. All wait for the same time, so that each is as likely to be next."""

_NO_LOCKS = {errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL, errno.EBADF}
"""What file systems say that cannot lock: there SQLite's own locks are all there is."""


class Forks:
    """Lets transactions run side by side, and forks when there are none."""

    def __init__(self) -> None:
        self._settled = Condition(Lock())
        self._inside = 0

    def __enter__(self) -> None:
        with self._settled:
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._settled:
            self._inside -= 1
            self._settled.notify_all()

    def before(self) -> None:
        """Wait until nobody is inside, and let nobody in."""
        _surely(self._settled.acquire)
        while self._inside:
            _surely(self._settled.wait)

    def after_in_parent(self) -> None:
        """Let them in again."""
        self._settled.release()

    def after_in_child(self) -> None:
        """Begin anew: the threads that waited are the parent's."""
        Forks.__init__(self)


def _surely(wait: Callable[[], object]) -> None:
    """Wait to the end: Python drops what a handler of forks raises, and would fork nevertheless."""
    while True:
        try:
            wait()
        except BaseException:
            continue
        return


FORKS = Forks()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=FORKS.before,
        after_in_parent=FORKS.after_in_parent,
        after_in_child=FORKS.after_in_child,
    )


@contextmanager
def alone(file: Path, *, writing: bool, again: Callable[[], None]) -> Iterator[None]:
    """Be the only transaction on this file, in all processes, and in none that forks.

    Args:
        file: the ledger's own file, with its symbolic links resolved.
        writing: whether there must be a lock. Whoever may only read may be unable to make one.
        again: called after each attempt that failed; it raises when there were enough.

    Raises:
        OSError: if there must be a lock, and its file cannot be opened.
    """
    # An attempt opens the file, so that a fork never finds one open.
    while True:
        with FORKS, _attempt(file, writing) as held:
            if held:
                yield
                return
        again()
        time.sleep(_PAUSE)


@contextmanager
def _attempt(file: Path, writing: bool) -> Iterator[bool]:
    """Lock the file beside if nobody else does, and tell whether."""
    if not _KNOWS_FLOCK:
        yield True
        return
    beside = file.with_name(f"{file.name}-lock")
    try:
        descriptor = _opened(beside, file)
    except OSError:
        if writing:
            raise
        yield True
        return
    try:
        yield _locked(descriptor, beside)
    finally:
        _release(descriptor)


def _opened(beside: Path, file: Path) -> int:
    """Open the file beside the ledger for whoever may open the ledger; make it if it is not there."""
    flags = os.O_CLOEXEC | os.O_NOFOLLOW
    if not beside.exists():
        with suppress(FileExistsError):  # somebody else was faster
            return _made(beside, flags, file.stat())
    try:
        return os.open(beside, flags | os.O_RDWR)
    except PermissionError:
        return os.open(beside, flags | os.O_RDONLY)  # enough to lock it, but over a network


def _made(beside: Path, flags: int, like: os.stat_result) -> int:
    """Make the file with the owner and the rights of the ledger."""
    descriptor = os.open(beside, flags | os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        os.fchmod(descriptor, like.st_mode & 0o666)
        if os.geteuid() == 0:
            os.fchown(descriptor, like.st_uid, like.st_gid)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _locked(descriptor: int, beside: Path) -> bool:
    """Lock what is open, and tell whether it is still what others will open."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as refused:
        if refused.errno not in _NO_LOCKS:
            raise
        return True
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(beside))
    except FileNotFoundError:
        return False


def _release(descriptor: int) -> None:
    """Unlock it, even if a program that is being started still has a copy; and close it."""
    try:
        with suppress(OSError):  # where it could not be locked either
            fcntl.flock(descriptor, fcntl.LOCK_UN)
    finally:
        os.close(descriptor)
