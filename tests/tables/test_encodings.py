"""Which character codes are read, what marks tell, and the tables of single bytes."""

import codecs

import pytest

from discreet.errors import InvalidArgument
from discreet.tables.encodings import BY_MARK, MARKS, byte_table, encoding_name, told_encoding


@pytest.mark.parametrize("given", ["UTF8", "latin-1", "cp1252", "Shift_JIS", "gb18030", "utf-16"])
def test_a_code_has_the_name_of_python(given: str) -> None:
    assert encoding_name(given) == codecs.lookup(given).name


@pytest.mark.parametrize(
    "given",
    [
        "iso2022_jp",
        "hz",
        "utf-7",
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
