"""Paths: literal, patterns of files that are one table, and files that are not there."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet.errors import MissingColumn, UnreadableFile
from discreet.tables.engines import count, numbers

from .test_tables import MARKER, assert_silent


@pytest.mark.parametrize(
    "name", ["a*.csv", "a?[b].csv", 'it\'s "q".csv', "a]b.CSV", "k=v/t.csv", "[x]*/t.csv", "$p.csv"]
)
def test_paths_are_literal(tmp_path: Path, name: str) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("c\na\n")
    (tmp_path / "ab.csv").write_text("c\na\na\n")
    assert count(str(tmp_path / name), "c", ["a"]) == [1]
    parquet = (tmp_path / name).with_suffix(".parquet")
    pq.write_table(pa.table({"c": ["a"]}), parquet)
    pq.write_table(pa.table({"c": ["a", "a"]}), tmp_path / "ab.parquet")
    assert count(parquet, "c", ["a"]) == [1]


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet"])
def test_files_that_match_are_one_table(tmp_path: Path, ending: str) -> None:
    for i, words in enumerate((["a", "b"], ["a"], ["c", "a"])):
        file = tmp_path / f"part{i}.{ending}"
        if ending == "parquet":
            pq.write_table(pa.table({"n": [i] * len(words), "c": words}), file)
        else:
            packed = "\n".join(["n,c", *(f"{i},{word}" for word in words)]).encode()
            file.write_bytes(gzip.compress(packed) if ending == "csv.gz" else packed)
    assert count(tmp_path / f"part*.{ending}", "c", ["a", "b", "c"]) == [3, 1, 1]
    assert count(tmp_path / f"part[01].{ending}", "c", ["a", "b", "c"]) == [2, 1, 0]
    assert sorted(numbers(tmp_path / f"*.{ending}", "n").tolist()) == [0, 0, 1, 2, 2]
    (tmp_path / f"part?.{ending}").write_bytes((tmp_path / f"part1.{ending}").read_bytes())
    assert count(tmp_path / f"part?.{ending}", "c", ["a"]) == [1], "a file of that name goes first"


def test_files_that_do_not_go_together(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match="no file matches"):
        count(tmp_path / "*.parquet", "c", ["a"])
    pq.write_table(pa.table({"c": ["a"]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"c": [1]}), tmp_path / "b.parquet")
    with pytest.raises(UnreadableFile, match=r"b\.parquet has columns of other types"):
        count(tmp_path / "*.parquet", "c", ["a"])
    (tmp_path / "c.csv").write_text("d\n1\n")
    with pytest.raises(MissingColumn):
        count(tmp_path / "*.csv", "c", ["a"])
    with pytest.raises(UnreadableFile, match="directory"):
        count(tmp_path.parent / f"{tmp_path.name[:-1]}?", "c", ["a"])


def test_a_partition_in_the_path_is_no_column(tmp_path: Path) -> None:
    (tmp_path / "c=a").mkdir()
    pq.write_table(pa.table({"c": ["b"]}), tmp_path / "c=a" / "t.parquet")
    assert count(tmp_path / "c=a" / "t.parquet", "c", ["a", "b"]) == [0, 1]


def parquet_bytes(folder: Path) -> bytes:
    pq.write_table(pa.table({"c": [MARKER] * 9}), folder / "whole.parquet")
    return (folder / "whole.parquet").read_bytes()


FILES: dict[str, tuple[str, Callable[[Path], bytes], str]] = {
    "empty": ("t.csv", lambda _: b"", "is empty"),
    "empty line": ("t.csv", lambda _: b" \n1\n", "empty first line"),
    "binary": ("t.csv", lambda _: b"\x89PNG\0\xff" + MARKER.encode(), "not text in utf-8"),
    "utf-16": ("t.csv", lambda _: f"c,{MARKER}\n".encode("utf-16-le"), "say csv.encoding"),
    "unreadable first line": (
        "t.csv.gz",
        lambda _: gzip.compress(f"{MARKER}\xff\n{MARKER}\n".encode("cp1252")),
        "not text in utf-8",
    ),
    "half of a long gzip": (
        "t.csv.gz",
        lambda _: (whole := gzip.compress(f"c,d\n{MARKER},{MARKER}\n".encode() * 99_999))[
            : len(whole) // 2
        ],
        "damaged",
    ),
    "cp1252": ("t.csv", lambda _: f"c,Stra\xdfe {MARKER}\n".encode("cp1252"), "encoding=.cp1252"),
    "half of a parquet in csv": ("t.csv", lambda p: parquet_bytes(p)[:-9], "damaged"),
    "half of a gzip in csv": ("t.csv", lambda _: gzip.compress(MARKER.encode())[:9], "damaged"),
    "empty gzip": ("t.csv.gz", lambda _: gzip.compress(b""), "is empty"),
    "csv in parquet": ("t.parquet", lambda _: f"c\n{MARKER}\n".encode(), "not a Parquet file"),
    "half of a parquet": ("t.parquet", lambda p: parquet_bytes(p)[:-9], "damaged"),
    "unknown extension": ("t.xlsx", lambda _: MARKER.encode(), r"is not one of \.csv"),
    "no extension": ("table", lambda _: MARKER.encode(), "is not one of"),
    "open quote": ("t.csv", lambda _: f'"c,d\n{MARKER}\n'.encode(), "not closed"),
    "closed by a row": ("t.csv", lambda _: f'd,"c\n{MARKER},"x"\n'.encode(), "not closed"),
    "two columns": ("t.csv", lambda _: f"c,c\n{MARKER},1\n".encode(), "2 columns named 'c'"),
    "long header": ("t.csv", lambda _: b"x" * (2 << 20), "more than"),
    "half of a gzip": (
        "t.csv.gz",
        lambda _: gzip.compress(b"c\n" + MARKER.encode() + bytes(range(48, 58)) * 99)[:-12],
        "damaged|gzip",
    ),
}


@pytest.mark.parametrize("case", FILES)
def test_unreadable_files(tmp_path: Path, case: str) -> None:
    name, content, words = FILES[case]
    (tmp_path / name).write_bytes(content(tmp_path))
    with pytest.raises(UnreadableFile, match=words) as caught:
        count(tmp_path / name, "c", ["a"])
    assert_silent(caught.value)
    assert isinstance(caught.value, OSError)


def test_files_that_are_not_there(tmp_path: Path) -> None:
    (tmp_path / "d.csv").mkdir()
    for name, words in (("d.csv", "directory"), ("no.csv", "does not exist")):
        with pytest.raises(UnreadableFile, match=words):
            count(tmp_path / name, "c", ["a"])
    with pytest.raises(UnreadableFile, match="regular"):
        count("/dev/null", "c", ["a"])


def test_folders_name_columns_of_text_files(tmp_path: Path) -> None:
    """As of Parquet: for values, conditions, units and groups, and whether a column of the file is asked or not."""
    for year, rows in {
        "2024": "Bern,1",
        "2025": "Bern,2\nBasel,3",
        "__HIVE_DEFAULT_PARTITION__": "Bern,4",
    }.items():
        (tmp_path / "csv" / f"year={year}").mkdir(parents=True)
        (tmp_path / "csv" / f"year={year}" / "t.csv").write_text(f"city,n\n{rows}\n")
        (tmp_path / "json" / f"year={year}").mkdir(parents=True)
        lines = [dict(zip(("city", "n"), row.split(","), strict=True)) for row in rows.split("\n")]
        (tmp_path / "json" / f"year={year}" / "t.jsonl").write_text(
            "\n".join(map(json.dumps, lines))
        )
    for kind in ("csv", "json"):
        data = tmp_path / kind
        assert count(data, "year", ["2024", "2025", "2026"]) == [1, 2, 0]
        where: Any = {"where": "year = '2025' AND city = 'Bern'", "epsilon": 10**6}
        assert discreet.count(data, **where).value == 1
        assert discreet.count(data, privacy_unit="year", epsilon=10**6).value == 2
        by = discreet.sum(
            data, "n", minimum=0, maximum=9, by="year", groups=["2024", "2025"], epsilon=10**7
        )
        assert {group: round(one) for group, one in by.value.items()} == {"2024": 1, "2025": 5}
        described = discreet.Dataset(data, {"year": {"type": "string", "enum": ["2024"]}})
        fits = discreet.check(described, epsilon=10**7).value["year"]
        assert (fits.fits, fits.out_of_range, fits.missing, fits.unreadable) == (1, 2, 1, 0)
