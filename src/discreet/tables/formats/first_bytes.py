"""The format of a file by its first bytes, under any name, and the character code of a text by its mark.

A signature holds bytes that no text has. So no row of a text file is taken for one, and what is refused is a
format, not a row. A mark of UTF-16 is a format too, where no encoding is said.

Bytes that are no text become U+FFFD, as `errors="replace"` says. A code is refused if it raises all the same, or
depends on where the bytes are cut.
"""

import codecs
import re
from _multibytecodec import MultibyteIncrementalDecoder
from collections.abc import Collection
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import NamedTuple

from ...base.doors import fix
from ...errors import InvalidArgument, UnreadableFile, preview

SIGNATURE = 512
"""So many first bytes are looked at."""

_MOST_TABLES = 20
"""As many tables of a database are named."""


class Format(NamedTuple):
    """A format that a file has by its first bytes.

    Attributes:
        pattern: the bytes that the file begins with.
        kind: the name of the format where files of it are read, as in `file_paths.KINDS`; a packing; or a database.
        words: the format of the file.
        advice: the way to mend it, with {path} for its path; empty if a reader is named.
        reader: the call that reads it to memory, in Python.
    """

    pattern: bytes
    kind: str
    words: str
    advice: str
    reader: str = ""

    def fix(self, file: Path) -> str:
        """Return the advice for a file, in the words of the reader's door."""
        if self.kind in ("SQLite", "DuckDB"):
            return _database_fix(file, self.kind.lower())
        if self.reader:
            return fix("a table", table=self.reader.format(path=repr(str(file))))
        return self.advice.format(path=file) or f"leave out its form, or unpack it once: {file}"


def _database_fix(file: Path, kind: str) -> str:
    """Return the advice for a database, with the names of its tables, which are public."""
    names = _table_names(file, kind)
    shown = f", one of {', '.join(map(repr, names))}" if names else ""
    advice = "describe a table of it, discreet describe {kind}:///{file} --table NAME{shown}."
    return advice.format(kind=kind, file=file, shown=shown)


def _table_names(file: Path, kind: str) -> list[str]:
    """Return the names of the first tables of a database; none if it cannot be read now."""
    statement = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view')"
    try:
        if kind == "sqlite":
            import sqlite3

            with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as lite:
                rows = lite.execute(f"{statement} ORDER BY 1 LIMIT {_MOST_TABLES}").fetchall()
        else:
            import duckdb

            with duckdb.connect(str(file), read_only=True) as duck:
                rows = duck.execute(
                    f"SELECT table_name FROM information_schema.tables ORDER BY 1 LIMIT {_MOST_TABLES}"
                ).fetchall()
    except Exception:  # it is locked or damaged; what it holds is asked elsewhere
        return []
    return [str(name) for (name,) in rows]


SIGNATURES = (
    Format(rb"PAR1[\s\S]{0,12}[\0-\x08\x0e-\x1f]", "Parquet", "holds Parquet", ""),
    Format(
        rb"PARE[\s\S]{0,12}[\0-\x08\x0e-\x1f]",
        "", "is encrypted Parquet", "read it by pyarrow with its key, and write it without one",
    ),
    Format(rb"ARROW1\0", "Arrow", "holds Arrow", ""),
    Format(
        rb"FEA1[\s\S]{0,12}[\0-\x08\x0e-\x1f]",
        "", "is Feather of version 1", "", "polars.from_arrow(pyarrow.feather.read_table({path}))",
    ),
    Format(rb"\x1f\x8b", "gzip", "is compressed with gzip", ""),
    Format(rb"BZh[1-9](1AY&SY|\x17rE8P\x90)", "bzip2", "is compressed with bzip2", ""),
    Format(rb"\x28\xb5\x2f\xfd", "zstd", "is compressed with zstd", ""),
    Format(rb"\xfd7zXZ\0", "xz", "is compressed with xz", ""),
    Format(rb"\x04\x22\x4d\x18", "", "is compressed with lz4", "unpack it: lz4 -d {path}"),
    Format(rb"\xff\x06\0\0sNaPpY", "", "is compressed with snappy", "unpack it: snzip -dk {path}"),
    Format(rb"\x1f[\x9d\xa0]", "", "is compressed with compress", "unpack it: uncompress {path}"),
    Format(rb"7z\xbc\xaf\x27\x1c", "", "is a 7z archive", "unpack it: 7z x {path}"),
    Format(rb"Rar!\x1a\x07", "", "is a RAR archive", "unpack it: unrar x {path}"),
    Format(rb"PK[\x03\x05\x07][\x04\x06\x08]", "zip", "is a zip archive", ""),
    Format(rb"[\s\S]{257}ustar[\x00 ][\x00 0]", "", "is a tar archive", "unpack it: tar xf {path}"),
    Format(
        rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        "", "is an old workbook (.xls) or one with a password", "save it as .xlsx without a password",
    ),
    Format(rb"Obj\x01", "", "holds Avro", "", "polars.read_avro({path})"),
    Format(rb"ORC[\0-\x08\x0e-\x1f]", "", "holds ORC", "", "polars.from_arrow(pyarrow.orc.read_table({path}))"),
    Format(rb"SQLite format 3\0", "SQLite", "is an SQLite database", ""),
    Format(rb"[\s\S]{8}DUCK[\s\S]{0,8}\0", "DuckDB", "is a DuckDB database", ""),
    Format(
        rb"\x00\x01\0\0Standard (Jet|ACE) DB",
        "", "is a database of Access", "export a table of it as CSV UTF-8: mdb-export {path} TABLE",
    ),
    Format(rb"\x89HDF", "", "holds HDF5", "", "pandas.read_hdf({path})"),
    Format(
        rb"\$FL[23]@\(#\)[\s\S]{56}(\0\0\0[\x02\x03]|[\x02\x03]\0\0\0)",
        "", "is data of SPSS", "", "pandas.read_spss({path})",
    ),
    Format(
        rb"[\x69-\x73][\x01\x02]\x01\0|<stata_dta><header><release>\d+</release><byteorder>...</byteorder><K>[\s\S]{0,3}\0",
        "", "is data of Stata", "", "pandas.read_stata({path})",
    ),
    Format(rb"\0{12}\xc2\xea\x81\x60", "", "is data of SAS", "", "pandas.read_sas({path})"),
    Format(
        rb"(RD[AX][23]\n)?X\n\0\0\0[\x02\x03]",
        "", "is data of R", "write it as CSV in R: write.csv(table, 'table.csv', row.names = FALSE)",
    ),
    Format(rb"%PDF-\d\.\d\s*%[\x80-\xff]", "", "is a PDF", "find the table that it was made from"),
)  # fmt: skip

PACKED = ("gzip", "bzip2", "zstd", "xz", "zip")
"""The kinds of which the bytes of text are unpacked."""

UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def told_format(start: bytes) -> Format | None:
    """Return the format that first bytes are a signature of; None for text, and all that has none."""
    return next((one for one in SIGNATURES if re.match(one.pattern, start)), None)


def refuse_other_format(file: Path, start: bytes, kinds: Collection[str] = ()) -> None:
    """Raise if the first bytes of a file are a signature, and not that of one of some kinds.

    Raises:
        UnreadableFile: with what it is, and what to do.
    """
    signature = told_format(start)
    if signature is not None and not (signature.kind and signature.kind in kinds):
        raise UnreadableFile(
            f"{file} {signature.words}, and its bytes are not rows of text: {signature.fix(file)}"
        )


def refuse_other_text(file: Path, start: bytes) -> None:
    """Raise for text that is no CSV by its first bytes, where a header is expected: it would show a row.

    Raises:
        UnreadableFile: with what it is.
    """
    text = start.removeprefix(codecs.BOM_UTF8).lstrip()
    if re.match(rb"\[\s*[\[{\"]|\{\s*\"", text):
        raise UnreadableFile(
            f"{file} is JSON by its first bytes. Name it .json, or .jsonl if each line is an object"
        )
    if re.match(rb"<(!doctype|html|table|\?xml|svg)", text, re.IGNORECASE):
        raise UnreadableFile(
            f"{file} is a page of HTML or XML by its first bytes, although its name says "
            "otherwise. Open it in a spreadsheet and save it as .xlsx"
        )


def refuse_utf_16(file: Path, start: bytes) -> None:
    """Raise for a file that begins with the mark of UTF-16, where no encoding is said.

    Raises:
        UnreadableFile: with the word that reads it.
    """
    if start.startswith(UTF_16):
        raise UnreadableFile(
            f"{file} is UTF-16 by its first bytes. Say so: {fix('an encoding', encoding='utf-16')}"
        )


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
