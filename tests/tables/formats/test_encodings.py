"""Which character codes are read, what marks tell, and the tables of single bytes."""

import codecs
import encodings
import pkgutil
import re
from pathlib import Path
from random import Random

import pytest

from discreet.errors import InvalidArgument
from discreet.tables.formats.encodings import (
    BY_MARK,
    MARKS,
    byte_table,
    encoding_name,
    told_encoding,
)


@pytest.mark.parametrize("given", ["UTF8", "latin-1", "cp1252", "Shift_JIS", "gb18030", "utf-16"])
def test_a_code_has_the_name_of_python(given: str) -> None:
    assert encoding_name(given) == codecs.lookup(given).name


@pytest.mark.parametrize(
    "given",
    [
        "iso2022_jp",
        "hz",
        "utf-7",
        "unicode_escape",
        "raw_unicode_escape",
        "charmap",
        "idna",
        "punycode",
        "base64",
        "rot13",
        "none",
        "a\0",
        "",
        5,
        None,
    ],
)
def test_codes_that_are_refused(given: object) -> None:
    with pytest.raises(InvalidArgument, match=r"^encoding must be a character code such as"):
        encoding_name(given)


@pytest.mark.parametrize(("mark", "told"), MARKS)
def test_a_mark_tells_the_code_of_a_header_alone(mark: bytes, told: str) -> None:
    start = mark + b"ab"
    assert told_encoding(None, start, has_header=True) == (told, len(mark))
    assert told_encoding(None, start, has_header=False) == ("utf-8", 0)
    assert told_encoding(told, start, has_header=True) == (told, len(mark))
    assert told_encoding(told, start, has_header=False) == (told, 0)
    assert told_encoding("cp1252", start, has_header=True) == ("cp1252", 0)


@pytest.mark.parametrize("declared", BY_MARK)
def test_a_code_with_a_mark_is_none_without_it(declared: str) -> None:
    assert told_encoding(declared, b"ab\0\0", has_header=True) is None
    for mark, told in MARKS:
        fits = told.startswith(BY_MARK[declared])
        found = told_encoding(declared, mark + b"ab", has_header=False)
        assert found == ((told, len(mark)) if fits else None)


@pytest.mark.parametrize("encoding", ["cp1252", "iso8859-1", "koi8-r", "ascii", "mac-roman"])
def test_a_table_says_the_text_of_each_byte(encoding: str) -> None:
    table = byte_table(encoding)
    assert table is not None
    for byte in range(256):
        entry = table[4 * byte : 4 * byte + 4]
        text = bytes([byte]).decode(encoding, "replace")
        wanted = b"" if text == "\ufffd" else text.encode()
        assert (entry[0], entry[1 : 1 + entry[0]]) == (len(wanted), wanted), byte


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "shift_jis", "gb18030", "cp037"])
def test_codes_that_have_no_table(encoding: str) -> None:
    assert byte_table(encoding) is None


DOCS = Path(__file__).parents[3] / "docs"
NAMES = sorted({one.name for one in pkgutil.iter_modules(encodings.__path__)} - {"aliases"})
SIGNS = [
    b"a",
    b",",
    b'"',
    b"\n",
    b"\r",
    b"\\",
    b"|",
    b"\x1b",
    b"$",
    b"B",
    b"\x0e",
    b"0",
    b"9",
    b"~",
    b"{",
]


def codes() -> tuple[set[str], set[str]]:
    """Return the codes that are read, and those that are refused: all that Python comes with."""
    read, refused = set(), set()
    for name in NAMES:
        try:
            read.add(encoding_name(name))
        except InvalidArgument:
            refused.add(name)
    return read, refused


def test_the_page_lists_all_codes() -> None:
    text = (DOCS / "how-to" / "files.md").read_text(encoding="utf-8")
    lists = re.findall(r"^> (.*)$", text, re.MULTILINE)
    read, refused = ({*re.findall(r"`([^`]+)`", one)} for one in lists[:2])
    assert (read, refused) == codes()


def test_codes_never_raise_and_do_not_depend_on_blocks() -> None:
    """93 codes on 400 texts each; those of a mark are read by the code that it tells."""
    read = codes()[0] - {"utf-16", "utf-32"}
    assert len(read) == 93
    for code in sorted(read):
        decoder, random = codecs.getincrementaldecoder(code), Random(code)
        for i in range(400):
            pieces = [
                random.choice(SIGNS) if random.random() < i / 400 else random.randbytes(1)
                for _ in range(40)
            ]
            data = b"".join(pieces)
            whole = decoder("replace").decode(data, True)
            for size in (1, 3):
                one = decoder("replace")
                parts = [one.decode(data[at : at + size]) for at in range(0, len(data), size)]
                assert "".join(parts) + one.decode(b"", True) == whole, code
