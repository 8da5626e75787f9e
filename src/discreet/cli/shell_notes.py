"""Notes that a shell shows once: which ones it has shown is kept beside the tally, in the user's state folder.

Without such a folder, or if it cannot be written, a note is shown each time.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from datetime import date
from hashlib import sha256
from pathlib import Path

from ..tables.datasets import tally

_MOST_NOTES = 1000
"""So many lines are kept: those of the shells before are not looked for."""


def is_new_here(note: str) -> bool:
    """Return whether this shell has not shown a note yet, and remember that it has now."""
    path, line = _place(), f"{_shell()} {sha256(note.encode()).hexdigest()[:16]}"
    earlier = [*_lines_of(path)]
    if line in earlier:
        return False
    if path is not None:
        with suppress(OSError):
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            kept = [*earlier[1 - _MOST_NOTES :], line]
            beside = path.with_name(f".{path.name}.{os.getpid()}")
            beside.write_text("\n".join(kept), encoding="ascii")
            beside.replace(path)
    return True


def _place() -> Path | None:
    """Return the file of the notes that were shown, or None if there is no place for it."""
    beside = tally.where()
    return None if beside is None else Path(beside).with_name("notes.txt")


def _lines_of(path: Path | None) -> Iterator[str]:
    """Yield the lines of the file, none if it cannot be read."""
    with suppress(OSError, ValueError):
        if path is not None and path.is_file():
            yield from path.read_text(encoding="ascii").splitlines()


def _shell() -> str:
    """Return a name of this shell: its session and when that began, or today if that is not known."""
    session = os.getsid(0) if hasattr(os, "getsid") else os.getppid()
    try:
        fields = Path(f"/proc/{session}/stat").read_text(encoding="ascii", errors="replace")
        began = fields.rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        began = date.today().isoformat()
    return f"{session}:{began}"
