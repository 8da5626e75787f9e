"""The format of a file by its first bytes, under any name: a signature holds bytes that no text has.

So no row of a text file is taken for one, and what is refused is a format, not a row. A mark of UTF-16 is a format
too, where no encoding is said.
"""

import codecs
import re
from pathlib import Path
from typing import NamedTuple

from ..doors import fix
from ..errors import UnreadableFile

SIGNATURE = 512
"""So many first bytes are looked at."""


class Format(NamedTuple):
    """A format that a file has by its first bytes.

    Attributes:
        pattern: the bytes that the file begins with.
        kind: the name of the format where files of it are read: as in `files.KINDS`, or a compression of them.
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
        if self.reader:
            return fix("a table", table=self.reader.format(path=repr(str(file))))
        return self.advice.format(path=file)


SIGNATURES = (
    Format(rb"PAR1[\s\S]{0,12}[\0-\x08\x0e-\x1f]", "Parquet", "holds Parquet", "name it .parquet"),
    Format(rb"PARE[\s\S]{0,12}[\0-\x08\x0e-\x1f]", "", "holds encrypted Parquet", "decrypt it first"),
    Format(rb"ARROW1\0", "Arrow", "holds Arrow", "name it .arrow"),
    Format(rb"\x1f\x8b", "gzip", "is compressed with gzip", "name it .csv.gz or .jsonl.gz"),
    Format(rb"BZh[1-9](1AY&SY|\x17rE8P\x90)", "", "is compressed with bzip2", "unpack it: bzip2 -dk {path}"),
    Format(rb"\x28\xb5\x2f\xfd", "", "is compressed with zstd", "unpack it: zstd -d {path}"),
    Format(rb"\xfd7zXZ\0", "", "is compressed with xz", "unpack it: xz -dk {path}"),
    Format(rb"\x04\x22\x4d\x18", "", "is compressed with lz4", "unpack it: lz4 -d {path}"),
    Format(rb"\xff\x06\0\0sNaPpY", "", "is compressed with snappy", "unpack it: snzip -dk {path}"),
    Format(
        rb"PK\x03\x04[\s\S]{26}(\[Content_Types\]|_rels/|docProps/|xl/|mimetypeapplication/vnd\.oasis)",
        "", "is a workbook", "", "pandas.read_excel({path})",
    ),
    Format(
        rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        "", "is an old or encrypted workbook", "", "pandas.read_excel({path})",
    ),
    Format(rb"PK[\x03\x05\x07][\x04\x06\x08]", "", "is a zip archive", "unpack it: unzip {path}"),
    Format(rb"Obj\x01", "", "holds Avro", "", "polars.read_avro({path})"),
    Format(rb"ORC[\0-\x08\x0e-\x1f]", "", "holds ORC", "", "polars.from_arrow(pyarrow.orc.read_table({path}))"),
    Format(
        rb"SQLite format 3\0", "SQLite", "is an SQLite database",
        "describe a table of it: discreet describe sqlite:///{path} --table NAME",
    ),
    Format(
        rb"[\s\S]{8}DUCK[\s\S]{0,8}\0", "DuckDB", "is a DuckDB database",
        "describe a table of it: discreet describe duckdb:///{path} --table NAME",
    ),
    Format(rb"\x89HDF", "", "holds HDF5", "", "pandas.read_hdf({path})"),
)  # fmt: skip

UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def told_format(start: bytes) -> Format | None:
    """Return the format that first bytes are a signature of; None for text, and all that has none."""
    return next((one for one in SIGNATURES if re.match(one.pattern, start)), None)


def refuse_other_format(file: Path, start: bytes, kind: str = "") -> None:
    """Raise if the first bytes of a file are a signature, and not that of a kind.

    Raises:
        UnreadableFile: with what it is, and what to do.
    """
    signature = told_format(start)
    if signature is not None and (signature.kind != kind or not kind):
        raise UnreadableFile(
            "{file} {words}, and its bytes are no rows of text: {fix}",
            file=file,
            words=signature.words,
            fix=signature.fix(file),
        )


def refuse_utf_16(file: Path, start: bytes) -> None:
    """Raise for a file that begins with the mark of UTF-16, where no encoding is said.

    Raises:
        UnreadableFile: with the word that reads it.
    """
    if start.startswith(UTF_16):
        raise UnreadableFile(
            "{file} is UTF-16 by its first bytes. Say so: {say_it}",
            file=file,
            say_it=fix("an encoding", encoding="utf-16"),
        )
