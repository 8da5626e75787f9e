"""Files readable for their owner alone, such as ledgers, exports and reports; the owner may pass them on."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from stat import S_IMODE
from typing import IO, TextIO

_WRITABLE_BY_OTHERS = 0o022


def open_private(path: Path) -> TextIO:
    """Open a text file for writing. If it is made, only its owner can read it; one that is there keeps its mode."""
    return open(path, "w", encoding="utf-8", newline="", opener=private_opener)


@contextmanager
def replaced_private(path: Path) -> Iterator[TextIO]:
    """Open a text file for writing, as `open_private`; one that is there stays as it is until the new one is whole.

    So a full disk leaves no half of a file that could be taken for all of it. Pipes and devices, and a file in a
    folder where no other can be made, are written directly.
    """
    from tempfile import mkstemp  # of exports and reports alone

    place = Path(os.path.realpath(path))
    mode = S_IMODE(place.stat().st_mode) if place.is_file() else None
    if mode is not None:
        open(place, "r+b").close()  # one that may not be written is not replaced either
    try:
        is_file = mode is not None or not place.exists()
        new = mkstemp(prefix=".new-", dir=place.parent) if is_file else None
    except PermissionError:
        new = None
    if new is None:
        with open_private(place) as file:
            yield file
        return
    descriptor, new_path = new
    try:
        with open(descriptor, "w", encoding="utf-8", newline="") as file:
            yield file
            file.flush()
            os.fsync(descriptor)
        if mode is not None:
            os.chmod(new_path, mode)
        os.replace(new_path, place)
    except BaseException:
        os.unlink(new_path)
        raise


def is_writable_by_others(file: IO[bytes]) -> bool:
    """Return whether others than its owner can write an open file."""
    return os.name == "posix" and bool(os.fstat(file.fileno()).st_mode & _WRITABLE_BY_OTHERS)


def private_opener(path: str, flags: int) -> int:
    """Open a file as `open(…, opener=)` asks; one that is created is readable for its owner alone."""
    return os.open(path, flags, 0o600)
