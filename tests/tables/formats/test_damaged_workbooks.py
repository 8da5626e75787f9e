"""Workbooks with random changes in their parts: an answer or UnreadableFile in little memory, and nothing else."""

import io
import tracemalloc
import zipfile
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from random import Random

import pytest

import discreet
from discreet.errors import UnreadableFile

openpyxl = pytest.importorskip("openpyxl")

MOST_MEMORY = 32 << 20
SEEDS = range(80)
"""Each is for ten workbooks."""

WORDS = [
    b"<row>", b"</row>", b"<c>", b"</c>", b"<v>", b"</v>", b"</si>", b"<t>", b"&lt;", b"&#0;", b"&#x10FFFF;",
    b"&x;", b't="s"', b't="e"', b't="b"', b't="str"', b't="inlineStr"', b's="999"', b's="-1"',
    b'r="XFD1048576"', b'r="A0"', b'r="1048577"', b'r="zq7"', b"1e400", b"-0", b"nan", b"99999999999999999999",
    b"45292.9999999999", b"<!--", b"-->", b"<![CDATA[", b"]]>", b"<?xml", b"\x00", b"\xff", b"\xed\xa0\x80",
    b"_x0000_", b"_xD800_", b"<mergeCell/>",
]  # fmt: skip


def sound() -> dict[str, bytes]:
    """Return the parts of a workbook with all kinds of cells."""
    book, out = openpyxl.Workbook(), io.BytesIO()
    book.active.append(["a", "b", "c", "d"])
    for i in range(60):
        book.active.append(
            [i / 7, f"n{i % 5} é", datetime(2024, 1, 1 + i % 28, i % 24), bool(i % 2)]
        )
    book.active.append([None, "=A1", "#N/A", ""])
    book.active.merge_cells("A3:B4")
    book.create_sheet("hidden").sheet_state = "hidden"
    book.save(out)
    with zipfile.ZipFile(out) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def cut(random: Random, part: bytes) -> bytes:
    begin, size = random.randrange(len(part)), random.randrange(1, 200)
    return part[:begin] + part[begin + size :]


def repeat(random: Random, part: bytes) -> bytes:
    begin, size = random.randrange(len(part)), random.randrange(1, 200)
    piece = part[begin : begin + size]
    return part[:begin] + piece * random.choice((2, 50, 2_000)) + part[begin:]


def insert(random: Random, part: bytes) -> bytes:
    at = random.randrange(len(part))
    return part[:at] + random.choice(WORDS) + part[at:]


def swap(random: Random, part: bytes) -> bytes:
    """Put one of the part's own attributes in place of another, so that it stays well-formed."""
    quoted = part.split(b'"')
    if len(quoted) > 3:
        at, other = (random.randrange(1, len(quoted) - 1, 2) for _ in range(2))
        quoted[at] = quoted[other]
    return b'"'.join(quoted)


def flip(random: Random, part: bytes) -> bytes:
    at = random.randrange(len(part))
    return part[:at] + bytes([random.randrange(256)]) + part[at + 1 :]


CHANGES: list[Callable[[Random, bytes], bytes]] = [cut, repeat, insert, swap, flip]


def changed(random: Random, parts: dict[str, bytes], file: Path) -> None:
    """Write a workbook with up to three changes in its parts, and sometimes one in its archive."""
    parts, out = {**parts}, io.BytesIO()
    for _ in range(random.randrange(1, 4)):
        name = random.choice([*parts])
        parts[name] = random.choice(CHANGES)(random, parts[name]) or b"<x/>"
    if random.randrange(10) == 0:
        parts.pop(random.choice([*parts]))
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    content = out.getvalue()
    file.write_bytes(flip(random, content) if random.randrange(5) == 0 else content)


def kind_of_answer(file: Path) -> str:
    """Return whether there is an answer about a file, or an error; anything but UnreadableFile is raised."""
    form = discreet.scan_csv(file, names=["a", "b", "c", "d"], sheet="Sheet")
    try:
        count = discreet.count(form, epsilon=1000).value
        found = discreet.counts(form, "b", candidates=["n1 é", "n2 é"], epsilon=1000).value
    except UnreadableFile as error:
        return "a leak" if "zq7" in str(error) else "an error"
    assert sum(found.values()) <= count
    return "an answer"


@pytest.mark.one_in(16)
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.filterwarnings("ignore:.*protects no one")
def test_an_answer_or_an_error_and_nothing_else(seed: int, tmp_path: Path) -> None:
    random, parts, kinds = Random(seed), sound(), set[str]()
    tracemalloc.start()
    try:
        for i in range(10):
            changed(random, parts, tmp_path / f"{i}.xlsx")
            kinds.add(kind_of_answer(tmp_path / f"{i}.xlsx"))
        assert tracemalloc.get_traced_memory()[1] < MOST_MEMORY
    finally:
        tracemalloc.stop()
    assert kinds == {"an answer", "an error"}, "the changes reach what is read"
