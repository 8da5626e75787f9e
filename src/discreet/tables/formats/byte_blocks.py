"""The bytes of a file of text, block by block, unpacked if its first bytes say that they are packed.

Nothing is kept but a block and what a packing looks back to, at most `MOST_MEMORY`. So a file that unpacks to far
more than it is takes time and no memory. A file that ends early or is damaged raises when that place is reached.
What is before it has been read, and the error holds none of it.

Side channels: how long a damaged file is read depends on its packed bytes.
"""

import bz2
import io
import lzma
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, cast

from ...errors import UnreadableFile
from ..engines.engine_errors import needing
from ..engines.progress import FileReading
from . import archives, workbooks
from .archives import DamagedFile, undamaged
from .first_bytes import PACKED, SIGNATURE, refuse_other_format, told_format
from .text_form import TextForm, check_sheet_words

BLOCK_BYTES = 1 << 20
"""Bytes of a block: it stays in the cache of a processor while its records are read."""

MOST_MEMORY = 1 << 28
"""Bytes that xz may look back to: a file says how many it wants."""

_PACKED_BYTES = 1 << 17
"""Packed bytes that are read at once."""


def check_bytes(file: Path, form: TextForm) -> bool:
    """Return whether a file is a workbook; raise if its bytes cannot be those of text, or of that form.

    What is packed is looked at in the same way: it is text, and nothing else.

    Raises:
        UnreadableFile: if it is packed and damaged at its beginning, or holds another format.
        InvalidArgument: if a word of the form says nothing of it.
    """
    with file.open("rb") as stream:
        signature = told_format(stream.read(SIGNATURE))
    is_book = signature is not None and signature.kind == "zip" and _check_zip(file, form.sheet)
    check_sheet_words(form, file, is_workbook=is_book)
    if signature is None or signature.kind not in PACKED or is_book:
        return is_book
    start, is_whole = b"", False
    with suppress(DamagedFile), open_bytes(file) as stream:
        start, is_whole = stream.read(SIGNATURE), True
    refuse_other_format(file, start)
    if not start:
        raise UnreadableFile(
            f"{file} {signature.words}, and is empty"
            if is_whole
            else f"{file} {signature.words}, and is damaged"
        )
    return False


def name_of_text(file: Path) -> Path:
    """Return the name of the text in a file: without the ending of a packing, or that in an archive."""
    with file.open("rb") as stream:
        signature = told_format(stream.read(SIGNATURE))
    if signature is None or signature.kind not in PACKED:
        return file
    return file.with_suffix("") if signature.kind != "zip" else Path(name_in_zip(file) or file)


def name_in_zip(file: Path) -> str | None:
    """Return the name of the one file in an archive; None for a workbook.

    Raises:
        UnreadableFile: if there is another number of files, or the archive is damaged.
    """
    with file.open("rb") as stream, archives.open_archive(file, stream) as archive:
        return (
            None if workbooks.is_workbook(archive) else archives.only_file(archive, file).filename
        )


def _check_zip(file: Path, sheet: str | None) -> bool:
    """Return whether an archive is a workbook with a known sheet; raise for one of another number of files."""
    with file.open("rb") as stream, archives.open_archive(file, stream) as archive:
        if workbooks.is_workbook(archive):
            workbooks.check_sheet(archive, file, sheet)
            return True
        archives.only_file(archive, file)
    return False


@contextmanager
def open_bytes(
    file: Path, form: TextForm | None = None, reading: FileReading | None = None
) -> Iterator[BinaryIO]:
    """Yield the bytes of a file of text, unpacked; of a workbook those of a sheet, as CSV.

    Args:
        file: the file.
        form: its form, of which a workbook has the sheet, and the rows that are skipped: they are empty lines.
        reading: what is told where the file is being read, if it is shown.
    """
    with ExitStack() as stack:
        stream = stack.enter_context(file.open("rb"))
        if reading is not None:
            reading.stream = cast("io.RawIOBase", stream.raw)
        signature = told_format(stream.read(SIGNATURE))
        stream.seek(0)
        kind = "" if signature is None else signature.kind
        if kind == "zip":
            blocks = _blocks_of_zip(file, stream, form or TextForm(), stack)
        elif kind in _NEW:
            blocks = _unpacked(stream, _NEW[kind])
        else:
            yield stream
            return
        yield stream_of(blocks)


def _blocks_of_zip(
    file: Path, stream: BinaryIO, form: TextForm, stack: ExitStack
) -> Iterator[bytes]:
    """Yield the bytes of the one file in an archive, or of a sheet of a workbook."""
    archive = stack.enter_context(archives.open_archive(file, stream))
    if workbooks.is_workbook(archive):
        return workbooks.sheet_blocks(archive, file, form.sheet, form.skip)
    return _members(stack.enter_context(archives.open_only_file(archive, file)))


def _members(stream: BinaryIO) -> Iterator[bytes]:
    """Yield the blocks of a file in an archive."""
    while block := undamaged(partial(stream.read, BLOCK_BYTES), DamagedFile()):
        yield block


class _Stream(io.RawIOBase):
    """Blocks as a stream.

    Attributes:
        blocks: those of which nothing has been read.
    """

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self.blocks, self._rest, self._read = blocks, memoryview(b""), 0

    def readable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._read

    def readinto(self, buffer: Any) -> int:
        """Put the next bytes, as many as are there."""
        while not self._rest:
            block = next(self.blocks, None)
            if block is None:
                return 0
            self._rest = memoryview(block)
        size = min(len(buffer), len(self._rest))
        buffer[:size] = self._rest[:size]
        self._rest, self._read = self._rest[size:], self._read + size
        return size


def blocks_of(stream: BinaryIO) -> Iterator[bytes]:
    """Yield the bytes of a stream block by block, those that were unpacked without a copy."""
    raw = getattr(stream, "raw", None)
    if isinstance(raw, _Stream) and raw.tell() == 0:
        yield from raw.blocks
    else:
        while block := stream.read(BLOCK_BYTES):
            yield block


def stream_of(blocks: Iterator[bytes]) -> BinaryIO:
    """Return blocks as a stream."""
    return cast("BinaryIO", io.BufferedReader(_Stream(blocks), BLOCK_BYTES))


class _Gzip:
    """The unpacker of gzip in the manner of the others."""

    def __init__(self) -> None:
        self._own = zlib.decompressobj(31)

    @property
    def eof(self) -> bool:
        return self._own.eof

    @property
    def unused_data(self) -> bytes:
        return self._own.unused_data

    @property
    def needs_input(self) -> bool:
        return not self._own.unconsumed_tail

    def decompress(self, data: bytes, size: int) -> bytes:
        return self._own.decompress(data or self._own.unconsumed_tail, size)


def _new_zstd() -> Any:
    """Return an unpacker of zstd, of Python itself from 3.14 on."""
    is_in_python = sys.version_info >= (3, 14)
    return needing(
        "compression.zstd" if is_in_python else "backports.zstd", "zst"
    ).ZstdDecompressor()


_NEW: dict[str, Callable[[], Any]] = {
    "gzip": _Gzip,
    "bzip2": bz2.BZ2Decompressor,
    "xz": lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, MOST_MEMORY),
    "zstd": _new_zstd,
}
"""The unpacker of each packing."""


def _unpacked(stream: BinaryIO, new: Callable[[], Any]) -> Iterator[bytes]:
    """Yield the blocks of a packed stream of one member or more, which zeros may follow."""
    unpacker, packed, is_over = new(), b"", False
    while True:
        if unpacker.eof:
            packed = unpacker.unused_data
            while not packed.strip(b"\0"):
                packed = stream.read(_PACKED_BYTES)
                if not packed:
                    return
            unpacker, packed = new(), packed.lstrip(b"\0")
        elif unpacker.needs_input:
            packed = stream.read(_PACKED_BYTES)
            is_over = not packed
        block = undamaged(partial(unpacker.decompress, packed, BLOCK_BYTES), DamagedFile())
        if block:
            yield block
        elif is_over and not unpacker.eof:
            raise DamagedFile
        packed = b""
