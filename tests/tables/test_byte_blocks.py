"""The bytes of a file, unpacked where its name says that it is compressed."""

import gzip
from pathlib import Path

import pytest

from discreet.tables.byte_blocks import is_gzip, open_bytes

TEXT = b"age\n1\n" * 10**5


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "T.CSV.GZ"])
def test_bytes_are_those_of_the_text(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    assert is_gzip(file) == name.lower().endswith(".gz")
    file.write_bytes(gzip.compress(TEXT) if is_gzip(file) else TEXT)
    with open_bytes(file) as stream:
        assert b"".join(iter(lambda: stream.read(1 << 16), b"")) == TEXT
    assert stream.closed


def test_several_members_are_one_text(tmp_path: Path) -> None:
    (tmp_path / "t.gz").write_bytes(gzip.compress(b"a\n") + gzip.compress(b"1\n"))
    with open_bytes(tmp_path / "t.gz") as stream:
        assert stream.read() == b"a\n1\n"
