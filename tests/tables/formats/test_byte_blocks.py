"""The bytes of a file, unpacked by its first bytes, and what becomes of damage."""

import bz2
import gzip
import io
import lzma
import random
import sys
import tracemalloc
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

import discreet
from discreet.errors import MissingColumn, UnreadableFile
from discreet.tables.formats import byte_blocks
from discreet.tables.formats.archives import DamagedFile
from discreet.tables.formats.byte_blocks import check_bytes, open_bytes
from discreet.tables.formats.text_form import TextForm

TEXT = b"age\n1\n" * 10**5


def _zip(content: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.mkdir("folder") if hasattr(archive, "mkdir") else archive.writestr("folder/", b"")
        archive.writestr("folder/people.csv", content)
        archive.writestr("__MACOSX/folder/._people.csv", b"what macOS adds")
    return packed.getvalue()


def _zstd(content: bytes) -> bytes:
    zstd = pytest.importorskip("backports.zstd")
    with_check = {zstd.CompressionParameter.checksum_flag: 1}  # as the program does it
    packed: bytes = zstd.compress(content, options=with_check)
    return packed


PACKINGS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zstd": _zstd,
    "zip": _zip,
    "nothing": bytes,
}


def read(file: Path) -> bytes:
    with open_bytes(file) as stream:
        return b"".join(iter(lambda: stream.read(1 << 16), b""))


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "T.BIN"])
@pytest.mark.parametrize("packing", PACKINGS)
def test_bytes_are_those_of_the_text_under_any_name(
    tmp_path: Path, packing: str, name: str
) -> None:
    for text in (TEXT, b"a", random.Random(1).randbytes((1 << 20) + 99)):
        (tmp_path / name).write_bytes(PACKINGS[packing](text))
        assert read(tmp_path / name) == text


@pytest.mark.parametrize("packing", ["gzip", "bzip2", "xz", "zstd"])
def test_bytes_do_not_depend_on_blocks(
    tmp_path: Path, packing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Blocks may end where the output of an unpacker does, or its input."""
    text = b"".join(b"p%d,Bern\n" % (i * 7919 % 1000) for i in range(700)) + bytes(200_000)
    (tmp_path / "t").write_bytes(PACKINGS[packing](text) + PACKINGS[packing](text))
    for block in (100, 4096, len(text) // 2, len(text)):
        for packed in (1, 13, 1 << 16):
            monkeypatch.setattr(byte_blocks, "BLOCK_BYTES", block)
            monkeypatch.setattr(byte_blocks, "_PACKED_BYTES", packed)
            assert read(tmp_path / "t") == text + text, (block, packed)


@pytest.mark.parametrize("between", [b"", b"\0" * 8])
@pytest.mark.parametrize("packing", ["gzip", "bzip2", "xz", "zstd"])
def test_several_members_are_one_text(tmp_path: Path, packing: str, between: bytes) -> None:
    pack = PACKINGS[packing]
    (tmp_path / "t").write_bytes(pack(b"a\n") + between + pack(b"1\n") + pack(b"2\n") + between)
    assert read(tmp_path / "t") == b"a\n1\n2\n"


@pytest.mark.parametrize("packing", [one for one in PACKINGS if one != "nothing"])
def test_what_is_cut_or_damaged_raises_where_that_is(tmp_path: Path, packing: str) -> None:
    text = b"name,age\n" + b"".join(b"zq7%d,%d\n" % (i, i * 7919 % 1000) for i in range(40_000))
    packed, file = PACKINGS[packing](text), tmp_path / "t.csv"
    middle = len(packed) // 2
    damages = {
        "cut": packed[:middle],
        "damaged": packed[:middle] + b"\xff" * 64 + packed[middle + 64 :],
        "followed": packed + b"zq7 something else",
    }
    for damage, content in damages.items():
        if (damage, packing) == ("followed", "zip"):  # archives may be followed
            continue
        file.write_bytes(content)
        with pytest.raises((DamagedFile, UnreadableFile)) as told:
            read(file)
        assert "zq7" not in repr(told.value)
        with pytest.raises(UnreadableFile, match=r"damaged") as asked:
            discreet.count(file, "age", epsilon=1)
        assert "zq7" not in str(asked.value)


@pytest.mark.parametrize("packing", ["gzip", "bzip2", "xz", "zstd"])
def test_a_header_is_read_though_the_end_is_missing(tmp_path: Path, packing: str) -> None:
    text = b"name,age\n" + random.Random(2).randbytes(1 << 20).hex().encode()
    (tmp_path / "t.csv").write_bytes(PACKINGS[packing](text)[:-20])
    assert not check_bytes(tmp_path / "t.csv", TextForm())
    with pytest.raises(MissingColumn, match="no column 'sex'") as told:
        discreet.count(tmp_path / "t.csv", "sex", epsilon=1)
    assert "'name', 'age'" in str(told.value)


@pytest.mark.parametrize("packing", [one for one in PACKINGS if one != "nothing"])
def test_what_is_packed_is_text(tmp_path: Path, packing: str) -> None:
    file = tmp_path / "t.csv"
    inner = {
        "SQLite": b"SQLite format 3\0" + bytes(600), "tar": bytes(257) + b"ustar\0" + bytes(300),
        "xz": lzma.compress(TEXT), "Parquet": b"PAR1\x15\x04" + bytes(600),
    }  # fmt: skip
    for kind, content in inner.items():
        file.write_bytes(PACKINGS[packing](content))
        with pytest.raises(UnreadableFile, match=kind):
            discreet.count(discreet.scan_csv(file, names=["a"]), epsilon=1)
    file.write_bytes(PACKINGS[packing](b""))
    with pytest.raises(UnreadableFile, match="empty"):
        discreet.count(file, epsilon=1)


@pytest.mark.parametrize("packing", [one for one in PACKINGS if one != "nothing"])
def test_memory_stays_where_a_file_unpacks_to_far_more(tmp_path: Path, packing: str) -> None:
    (tmp_path / "t").write_bytes(PACKINGS[packing](bytes(100 << 20)))
    tracemalloc.start()
    try:
        with open_bytes(tmp_path / "t") as stream:
            size = sum(len(block) for block in iter(lambda: stream.read(1 << 20), b""))
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert size == 100 << 20
    assert most < 24 << 20


def test_xz_that_looks_back_further_than_it_may_is_refused(tmp_path: Path) -> None:
    filters = [{"id": lzma.FILTER_LZMA2, "dict_size": 16 << 20}]
    packed = bytearray(lzma.compress(TEXT, check=lzma.CHECK_NONE, filters=filters))
    header = packed[12:24]
    at = 12 + header.index(bytes([lzma.FILTER_LZMA2, 1])) + 2
    packed[at] = 39  # 3 GiB
    size = (packed[12] + 1) * 4
    packed[12 + size - 4 : 12 + size] = zlib.crc32(packed[12 : 12 + size - 4]).to_bytes(4, "little")
    (tmp_path / "t.csv").write_bytes(packed)
    with pytest.raises(UnreadableFile, match="damaged"):
        discreet.count(tmp_path / "t.csv", epsilon=1)


def test_zstd_that_is_not_installed_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "t.csv.zst").write_bytes(_zstd(TEXT))
    monkeypatch.setitem(sys.modules, "backports.zstd", None)
    for data in (
        tmp_path / "t.csv.zst",
        discreet.scan_csv(tmp_path / "t.csv.zst", names=["a"]),
    ):
        with pytest.raises(ImportError, match=r"discreet\[zst\]"):
            discreet.count(data, epsilon=1)
