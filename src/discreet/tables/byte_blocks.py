"""The bytes of a file of text, block by block, unpacked where they are compressed."""

import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

BLOCK_BYTES = 1 << 20
"""Bytes of a block: it stays in the cache of a processor while its records are read."""


def is_gzip(file: Path) -> bool:
    """Return whether a file is compressed, by its name."""
    return file.suffix.lower() == ".gz"


@contextmanager
def open_bytes(file: Path) -> Iterator[BinaryIO]:
    """Yield the bytes of a file, unpacked."""
    with cast("BinaryIO", gzip.open(file)) if is_gzip(file) else file.open("rb") as stream:
        yield stream
