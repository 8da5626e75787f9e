"""Character codes of files of text: which can be read, and how the mark at a file's beginning tells one.

Bytes that are no text become U+FFFD, as `errors="replace"` says. A code is refused if it raises all the same, or
depends on where the bytes are cut.
"""

import codecs
from _multibytecodec import MultibyteIncrementalDecoder
from functools import cache

from ...errors import InvalidArgument, preview

MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # it begins as that of UTF-16 does
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
"""The marks, and the codes that they tell."""

BY_MARK = {"utf-8-sig": "utf-8", "utf-16": "utf-16-", "utf-32": "utf-32-"}
"""Codes of files that begin with a mark, and how the name of the code begins that the mark tells."""

_REFUSED = (
    "iso2022",
    "hz",
    "utf-7",
    "unicode-escape",
    "raw-unicode-escape",
    "charmap",
    "idna",
    "punycode",
    "mbcs",
    "oem",
    "undefined",
)
"""How the names begin of codes that raise, depend on where bytes are cut, or are none of text."""

EXAMPLES = (
    '"cp1252" (Excel in Western Europe), "utf-16", "shift_jis", "gb18030", "big5" or "mac_roman"'
)


def encoding_name(encoding: object) -> str:
    """Return Python's name of a character code.

    Raises:
        InvalidArgument: if it is none by which files can be read.
    """
    name = _name(encoding) if isinstance(encoding, str) else None
    if name is None:
        raise InvalidArgument(
            f"encoding must be a character code such as {EXAMPLES}, got {preview(encoding)}"
        )
    return name


@cache
def _name(encoding: str) -> str | None:
    try:
        codec = codecs.lookup(encoding)
    except (LookupError, ValueError):
        return None
    decoder = codec.incrementaldecoder
    is_own = decoder is not None and decoder.__module__.startswith(
        ("encodings.", "_multibytecodec")
    )
    is_text = is_own and getattr(codec, "_is_text_encoding", True)
    return codec.name if is_text and not codec.name.startswith(_REFUSED) else None


def marked_encoding(encoding: str) -> str:
    """Return the name that says a code and its mark."""
    return next(name for name, code in BY_MARK.items() if encoding.startswith(code))


def told_encoding(
    encoding: str | None, start: bytes, *, has_header: bool
) -> tuple[str, int] | None:
    """Return the code of a file and the length of its mark; None if a declared code lacks the mark that it needs.

    Without a header the first bytes may be those of a row, which decides nothing: then only a code that is said
    has a mark.

    Args:
        encoding: the code that its owner declares.
        start: its first four bytes.
        has_header: whether the first record is the header.
    """
    mark, code = next((one for one in MARKS if start.startswith(one[0])), (b"", "utf-8"))
    if encoding in BY_MARK:
        return (code, len(mark)) if mark and code.startswith(BY_MARK[encoding]) else None
    if encoding is None:
        return (code, len(mark)) if has_header else ("utf-8", 0)
    return encoding, len(mark) if has_header and code == encoding else 0


@cache
def byte_table(encoding: str) -> bytes | None:
    """Return the texts of the 256 bytes of a code; None if it is not one byte a character with ASCII as it is.

    Four bytes for each: the length of its text in UTF-8, 0 if it has none, and the text.
    """
    decoder = codecs.lookup(encoding).incrementaldecoder
    assert decoder is not None, "of a code that `encoding_name` accepts"
    if encoding.startswith("utf-") or isinstance(decoder(), MultibyteIncrementalDecoder):
        return None
    texts = [bytes([byte]).decode(encoding, "replace") for byte in range(256)]
    if texts[:128] != [*map(chr, range(128))] or any(text.isascii() for text in texts[128:]):
        return None
    words = [b"" if text == "\ufffd" else text.encode() for text in texts]
    return b"".join(bytes([len(word)]) + word.ljust(3, b"\0") for word in words)
