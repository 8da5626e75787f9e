"""Folders of a service that go with it: those that it left behind when it was killed, at the next start.

While its service lives a folder is locked by it. The kernel ends that lock with the process, however it ends.
"""

import fcntl
import os
import shutil
import tempfile
import time
from contextlib import suppress
from pathlib import Path

_PREFIX = "discreet-service-"

_YOUNG = 60.0
"""Seconds for which a folder may not be locked yet, as another service is just making it."""


class TemporaryFolder:
    """A new folder of a service, which only its user can enter.

    Args:
        parent: where it is made. By default in the folder of temporary files. What services that have ended left
            there is removed.

    Attributes:
        path: the folder.
    """

    __slots__ = ("_lock", "path")

    def __init__(self, parent: str | None = None) -> None:
        place = parent or tempfile.gettempdir()
        for path in Path(place).glob(f"{_PREFIX}*"):
            with suppress(OSError):
                _remove_left_behind(path)
        self.path = tempfile.mkdtemp(prefix=_PREFIX, dir=place)
        self._lock = _locked(self.path)

    def remove(self) -> None:
        """Remove it with all that is in it."""
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._lock)


def _locked(path: str | Path) -> int:
    """Return the number of a folder that was opened and locked, or raise an `OSError`."""
    number = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(number)
        raise
    return number


def _remove_left_behind(path: Path) -> None:
    """Remove a folder, if it is ours, no service holds it, and none is making it."""
    status = path.lstat()
    if status.st_uid != os.geteuid() or time.time() - status.st_mtime < _YOUNG:
        return
    number = _locked(path)
    try:
        shutil.rmtree(path, ignore_errors=True)
    finally:
        os.close(number)
