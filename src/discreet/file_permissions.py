"""Files readable for their owner alone, such as ledgers, exports and reports; the owner may pass them on."""

import os
from pathlib import Path
from typing import TextIO


def open_private(path: Path) -> TextIO:
    """Open a text file for writing. If it is made, only its owner can read it; one that is there keeps its mode."""
    return open(path, "w", encoding="utf-8", newline="", opener=private_opener)


def private_opener(path: str, flags: int) -> int:
    """Open a file as `open(…, opener=)` asks; one that is created is readable for its owner alone."""
    return os.open(path, flags, 0o600)
