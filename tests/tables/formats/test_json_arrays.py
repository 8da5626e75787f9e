"""Arrays of JSON as lines: against Python's json, and the kernel against Python for any bytes."""

import gzip
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

import discreet
from discreet.errors import UnreadableFile
from discreet.tables.datasets.cell_fits import check_cells, record_fits
from discreet.tables.engines.fits import CellCounts
from discreet.tables.formats import reader_library
from discreet.tables.formats.json_arrays import BEGIN, array_lines

ASK: dict[str, Any] = {"epsilon": 1000}


def lines(content: bytes, size: int) -> list[bytes]:
    blocks = (content[at : at + size] for at in range(0, len(content), size))
    return [line for line in b"".join(array_lines(blocks)).splitlines() if line]


@pytest.fixture(params=["kernel", "Python"])
def by_each(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Read by the kernel, and by Python."""
    if request.param == "Python":
        monkeypatch.setattr(reader_library, "open_reader", lambda: None)
    elif reader_library.open_reader() is None:
        pytest.skip("it was not built")


def values(random: Random, depth: int = 3) -> Any:
    kinds: list[Any] = [None, True, 7, -1.5, "", 'a "b" \\ [{,}] \n', "Zürich 𝄞", "\\", "]"]
    kind = random.randrange(11 if depth else 9)
    if kind == 9:
        return [values(random, depth - 1) for _ in range(random.randrange(4))]
    if kind == 10:
        return {
            str(values(random, 0)): values(random, depth - 1) for _ in range(random.randrange(4))
        }
    return kinds[kind]


@pytest.mark.usefixtures("by_each")
@pytest.mark.parametrize("indent", [None, 0, 2, "\t"])
@pytest.mark.parametrize("ascii_alone", [True, False])
def test_elements_are_those_of_json(indent: Any, ascii_alone: bool) -> None:
    random = Random(1)
    for _ in range(200):
        array = [values(random) for _ in range(random.randrange(6))]
        content = json.dumps(array, indent=indent, ensure_ascii=ascii_alone).encode() + b"\n"
        for size in (1, 2, 7, 1 << 20):
            assert [json.loads(line) for line in lines(content, size)] == array


SIGNS = [
    b"[",
    b"]",
    b"{",
    b"}",
    b'"',
    b"\\",
    b",",
    b":",
    b" ",
    b"\n",
    b"\r",
    b"\t",
    b"1",
    b"null",
    b"\xff",
    b"\0",
]


def test_the_kernel_and_python_split_any_bytes_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    functions, random = reader_library.open_reader(), Random(2)
    if functions is None:
        pytest.skip("it was not built")
    for _ in range(4000):
        content = b"".join(random.choices(SIGNS, k=random.randrange(1, 40)))
        monkeypatch.setattr(reader_library, "open_reader", lambda: functions)
        whole = b"".join(array_lines([content]))
        assert b"".join(array_lines([content[:9], content[9:10], content[10:]])) == whole
        monkeypatch.setattr(reader_library, "open_reader", lambda: None)
        assert b"".join(array_lines([content])) == whole
        assert b"".join(array_lines([content[:5], content[5:]])) == whole
        assert len(whole) == len(content)


MALFORMED = {
    "an element that is no JSON": (b'[{"a": "x"}, {"a": }, {"a": "x"}]', 3, 2),
    "a bracket too many": (b'[{"a": "x"}, {"a": 1}], {"a": "x"}]', 3, 2),
    "another bracket": (b'[{"a": "x"}, {"a": 1], {"a": "x"}]', 3, 2),
    "bytes that are no text": (b'[{"a": "x"}, {"a": "\xff"}, {"a": "x"}]', 3, 2),
    "the end of a line in a text": (b'[{"a": "x"}, {"a": "\n"}, {"a": "x"}]', 3, 2),
    "no object": (b'[{"a": "x"}, [1], 5, "a", null, {"a": "x"}]', 6, 2),
    "nothing between commas": (b'[{"a": "x"},, {"a": "x"},]', 2, 2),
    "no end": (b'[{"a": "x"}, {"a": "x"}', 2, 2),
    "a text without an end": (b'[{"a": "x"}, {"a": "x, {"b": 1}, {"a": "x"}', 2, 1),
    "a key twice": (b'[{"a": "x", "a": "y"}, {"a": "y", "a": "x"}]', 2, 1),
    "a key that is nested": (b'[{"a": {"x": 1}}, {"a": ["x"]}, {"a": "x"}]', 3, 1),
    "a key by its place": (b'[["x"], {"0": "x"}]', 2, 0),
    "empty": (b"[ \r\n\t]\n", 0, 0),
    "a mark": (b'\xef\xbb\xbf [{"a": "x"}]', 1, 1),
}


@pytest.mark.usefixtures("by_each")
@pytest.mark.parametrize("case", MALFORMED)
def test_what_is_malformed_is_a_record_by_itself(case: str, tmp_path: Path) -> None:
    content, records, fits = MALFORMED[case]
    (tmp_path / "t.json").write_bytes(content)
    assert discreet.count(tmp_path / "t.json", **ASK).value == records
    counts = discreet.counts(tmp_path / "t.json", "a", candidates=["x"], **ASK).value
    assert counts == {"x": fits}


def test_an_array_is_told_by_its_name_and_its_first_byte(tmp_path: Path) -> None:
    array = b' \n[{"a": "x"},\n{"a": "x"}]'
    assert BEGIN.match(array)
    for name, records in (("t.json", 2), ("t.jsonl", 2), ("t.ndjson", 2)):
        (tmp_path / name).write_bytes(array)
        counts = discreet.counts(tmp_path / name, "a", candidates=["x"], **ASK).value
        assert counts == {"x": records if name == "t.json" else 0}, "a line decides about no other"
    (tmp_path / "o.json").write_bytes(b'{"a": "x"}\n{"a": "x"}\n')
    assert discreet.count(tmp_path / "o.json", **ASK).value == 2


def test_one_object_of_several_lines_is_told(tmp_path: Path) -> None:
    (tmp_path / "t.json").write_text('{\n  "data": [{"a": 1}]\n}\n')
    with pytest.raises(UnreadableFile, match="jq"):
        discreet.count(tmp_path / "t.json", epsilon=1)


def _packed(folder: Path) -> Iterator[Path]:
    content = json.dumps([{"a": "x", "b": 1}] * 5)
    (folder / "t.json.gz").write_bytes(gzip.compress(content.encode()))
    yield folder / "t.json.gz"
    with zipfile.ZipFile(folder / "t.zip", "w") as archive:
        archive.writestr("x/t.json", content)
    yield folder / "t.zip"


def test_a_packed_array(tmp_path: Path) -> None:
    for file in _packed(tmp_path):
        assert discreet.counts(file, "a", candidates=["x"], **ASK).value == {"x": 5}
        assert discreet.median(file, "b", candidates=[0, 1, 2], **ASK).value == 1


UNREAD_LINES = [
    '{"a": 1, "p": "x"}', '{"a": null, "p": "y"}', '{"p": "y"}', '{"a": "", "p": "y"}', '{"a": {"b": 1}, "p": "x"}',
    '{"a": [1], "p": "z"}', "{bad", "[1]", "5", '{"a": "t", "p": "z"}', '{"a": 50, "p": "z"}',
]  # fmt: skip


def test_check_tells_what_is_missing_from_what_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_bytes("\n".join(UNREAD_LINES).encode() + b'\n{"a": "\xff"}\n')
    columns: Any = {"a": {"type": "integer", "minimum": 0, "maximum": 9}, "p": {"type": "string"}}
    cells = check_cells(discreet.Dataset(tmp_path / "t.jsonl", columns))
    assert cells["a"] == CellCounts(1, 1, 1, missing=3, unreadable=6)
    assert cells["p"] == CellCounts(8, 0, 0, missing=0, unreadable=4)
    of_units = discreet.Dataset(
        tmp_path / "t.jsonl", columns, privacy_unit="p", max_contributions=9
    )
    assert record_fits(of_units, "a") == CellCounts(1, 1, 1, missing=3, unreadable=2)
    release = discreet.check(discreet.Dataset(tmp_path / "t.jsonl", columns), epsilon=1000)
    assert (release.value["a"].missing, release.value["a"].unreadable) == (3, 6)


def test_a_column_that_folders_name_is_read_in_every_line(tmp_path: Path) -> None:
    (tmp_path / "year=2024").mkdir()
    (tmp_path / "year=2024" / "t.jsonl").write_text('{"a": 1}\n{bad\n')
    columns: Any = {"year": {"type": "integer"}, "a": {"type": "integer"}}
    cells = check_cells(discreet.Dataset(tmp_path, columns))
    assert cells == {"year": CellCounts(2, 0, 0, 0), "a": CellCounts(1, 0, 0, 0, unreadable=1)}


def test_more_columns_than_ten(tmp_path: Path) -> None:
    rows = [json.dumps({f"k{i}": i for i in range(12)})] * 3
    (tmp_path / "t.jsonl").write_text("\n".join(rows))
    columns: Any = {f"k{i}": {"type": "integer", "enum": [i]} for i in range(12)}
    cells = check_cells(discreet.Dataset(tmp_path / "t.jsonl", columns))
    assert set(cells.values()) == {CellCounts(3, 0, 0, 0)}
