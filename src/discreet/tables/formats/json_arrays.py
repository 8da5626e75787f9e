"""Arrays of JSON as lines: each element of the outer array is one, however malformed it is.

An element ends with a comma that is in no text and in no bracket of its own. Brackets are counted and not matched,
so one too many ends with its element, while one that is never closed takes those that follow. By `reader.c`, or by
Python where that is not in use: the same bytes.
"""

import ctypes
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from . import reader_library

BEGIN = re.compile(rb"(\xef\xbb\xbf)?[ \t\r\n]*\[")
"""How a file with an array begins."""

_NEXT = re.compile(rb"[][{}\",\\s]|[^][{}\",\\s]+".replace(rb"\\s", rb" \t\r\n"))
_NEXT_IN_STRING = re.compile(rb"[\"\\\r\n]")
_BLANKS = b" \t\r\n"
_ESCAPED_END = 0x1F
"""What takes the place of the end of a line in a text: it is no JSON either."""


class _Place(ctypes.Structure):
    """Where in an array the next byte is."""

    _fields_ = (
        ("depth", ctypes.c_uint64),
        ("is_open", ctypes.c_int32),
        ("in_string", ctypes.c_int32),
        ("escaped", ctypes.c_int32),
        ("begun", ctypes.c_int32),
    )


def array_lines(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield blocks of lines, each of as many bytes as the block of the array."""
    functions = reader_library.open_reader()
    place, splitter = _Place(), _Splitter()
    for block in blocks:
        lines = bytearray(block)
        if functions is None:
            splitter.split(lines)
        else:
            address = (ctypes.c_char * len(lines)).from_buffer(lines)
            functions["elements"](ctypes.byref(place), address, len(lines))
            del address  # it holds the bytes where they are
        yield bytes(lines)


@dataclass
class _Splitter:
    """The place in an array, and the work of `reader.c` there.

    Attributes:
        depth: how many brackets are open within the element.
        is_open: whether the array has begun.
        in_string: whether the next byte is in a text.
        escaped: whether a backslash is before it.
        begun: whether the element has a byte.
    """

    depth: int = 0
    is_open: bool = False
    in_string: bool = False
    escaped: bool = False
    begun: bool = False

    def split(self, lines: bytearray) -> None:
        """Turn the next bytes into lines, in place."""
        at = 0
        while at < len(lines):
            at = self._in_string(lines, at) if self.in_string else self._outside(lines, at)

    def _in_string(self, lines: bytearray, at: int) -> int:
        """Read to the next change in a text; return the place behind."""
        if self.escaped:
            self.escaped = False
        else:
            match = _NEXT_IN_STRING.search(lines, at)
            if match is None:
                return len(lines)
            at = match.start()
            self.in_string, self.escaped = lines[at] != ord('"'), lines[at] == ord("\\")
        if lines[at] in b"\r\n":
            lines[at] = _ESCAPED_END
        return at + 1

    def _outside(self, lines: bytearray, at: int) -> int:
        """Read a sign or the bytes between signs; return the place behind."""
        match = _NEXT.match(lines, at)
        assert match is not None, "every byte is one or the other"
        sign, end = match.group(), match.end()
        if sign in _BLANKS:
            lines[at] = ord(" " if self.begun else "\n")
        elif self.depth == 0 and (sign in b",]" or (sign == b"[" and not self.is_open)):
            lines[at] = ord("\n")
            self.begun, self.is_open = False, True
        else:
            self.begun, self.in_string = True, sign == b'"'
            self.depth = max(self.depth + (sign in b"{[") - (sign in b"}]"), 0)
        return end
