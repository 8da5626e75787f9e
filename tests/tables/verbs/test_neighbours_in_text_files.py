"""Text files however malformed: every question is about the same records, and one line moves what is charged."""

import csv
import io
import itertools
import json
import random
import warnings
from collections.abc import Iterator
from dataclasses import astuple
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

import discreet
from discreet import Dataset
from discreet.cli import run
from discreet.privacy.guarantees import PureDP
from discreet.tables import engines as tables
from discreet.tables.datasets.cell_fits import (
    check_cells,
    check_cells_and_lines,
    count_spanning,
    read_once,
    record_fits,
)
from discreet.tables.datasets.noisy_cell_counts import CLASSES, MAY_BE_OPEN
from discreet.tables.engines.column import RecordCounts
from discreet.tables.engines.engine import open_table
from discreet.tables.engines.fits import DeclaredCells
from discreet.tables.engines.records import Records
from discreet.tables.formats.text_form import CsvFile
from discreet.tables.verbs.check import CellNoise

COLUMNS: dict[str, Any] = {
    "a": {"type": "string", "enum": ["x", "y"]},
    "b": {"type": "integer", "minimum": 0, "maximum": 5},
    "c": {"type": "number"},
}
BAD = {
    "latin1": b"M\xfcller", "truncated": b"\xe2\x82", "overlong": b"\xc0\xaf", "surrogate": b"\xed\xa0\x80",
    "beyond": b"\xf4\x90\x80\x80", "lone": b"\x80", "replacement": "\ufffd".encode(),
}  # fmt: skip
ROWS: dict[str, bytes] = {
    **{f"{name} in {'abc'[i]}": b",".join(bad if i == j else b"1" for j in range(3))
       for name, bad in BAD.items() for i in range(3)},
    "short": b"x", "shorter": b"x,1", "long": b"x,1,2,3,4", "empty cells": b",,", "blanks": b" , , ",
    "quoted": b'"x","1","2"', "doubled": b'"x""y",1,2', "behind": b'"x"y,1,2', "inside": b'x"y,1,2',
    "backslash": b'"x\\"y",1,2', "space": b'x, "1",2', "nul": b"x\0,1,2", "bom": b"\xef\xbb\xbfx,1,2",
    "cr in a cell": b"x,1\r2,3", "comment": b"#x,1,2", "separator": "x\u2028,1,2".encode(),
}  # fmt: skip


def described(data: Any, **more: Any) -> Dataset:
    return Dataset(data, COLUMNS, **more)


def counted(data: Path | CsvFile) -> dict[str, tuple[int, ...]]:
    """Return what verbs charge for, without noise: each is a tuple of which a record moves one number by one."""
    kinds = DeclaredCells(open_table(data, "b", Records())).kinds()
    in_c, missing = tables.count(data, "c", ["1"]), RecordCounts(data, "c", Records()).by_group()
    values = tables.count(data, "a", ["x", "y", ""])
    [size] = RecordCounts(data, None, Records()).by_group()
    return {
        **{name: astuple(record_fits(described(data), name)) for name in COLUMNS},
        "count": (size,),
        "profile": (kinds.numbers, kinds.dates, kinds.texts, kinds.missing),
        "counts with other": (*values, size - sum(values)),
        "cells": tuple(missing),
        "by": tuple(RecordCounts(data, None, Records(by="a", groups=("x", "y"))).by_group()),
        "mean": (len(tables.numbers(data, "b")),),
        "where": tuple(in_c),
        "spans": (spanning(data),),
    }


def spanning(data: Path | CsvFile, records: Records | None = None) -> int:
    """Return how many records span several lines."""
    whole, of = described(data), Records() if records is None else records
    return count_spanning(read_once(data, whole.columns.values(), of, spans=True), of)


@pytest.mark.parametrize("kind", ROWS)
def test_every_question_is_about_the_same_records(kind: str, tmp_path: Path) -> None:
    good = [b"x,1,2", b"y,7,1e3", b"z,no,"]
    file = tmp_path / "t.csv"
    file.write_bytes(b"\r\n".join([b"a,b,c", *good, ROWS[kind], *good, b""]))
    found = counted(file)
    [records] = found["count"]
    assert records == 7 + (kind == "cr in a cell")
    for name in ("a", "b", "c", "profile", "counts with other"):
        assert sum(found[name]) == records, name
    together = {name: astuple(one) for name, one in check_cells(described(file)).items()}
    assert together == {name: found[name] for name in COLUMNS}
    unreadable = {name: counts[4] for name, counts in together.items()}
    expected = kind.rpartition(" in ")[2] if kind.rpartition(" in ")[0] in BAD else ""
    assert unreadable == {name: int(name == expected) for name in COLUMNS}
    assert discreet.count(file, epsilon=10**6).value == records
    private = discreet.check(described(file), epsilon=10**7).value
    assert {
        name: tuple(getattr(one, each) for each in CLASSES) for name, one in private.items()
    } == together


def moved(one: dict[str, tuple[int, ...]], other: dict[str, tuple[int, ...]]) -> dict[str, int]:
    return {
        name: sum(abs(n - m) for n, m in zip(one[name], other[name], strict=True)) for name in one
    }


PIECES = [
    b",", b",", b'"', b'""', b"\\", b"x", b"y", b"1", b"7.5", b" ", b"\xff", b"\xc3", b"\xc3\xa9", b"\0", b"#",
    b"2024-01-01", b"\xe2\x80\xa8", b"\x0b", b"'",
]  # fmt: skip


def random_lines(rng: random.Random) -> list[bytes]:
    """Return lines of any bytes, some of them empty, without their ends."""
    return [b"".join(rng.choices(PIECES, k=rng.randrange(9))) for _ in range(6)]


def random_rows(rng: random.Random) -> list[bytes]:
    """Return rows that close their quotes, whatever is in their cells, as a program writes them."""
    texts = ["x", "y", "", "1", "7.5", "a\nb", 'a"b', "a,b", "\r", "\r\n", "é", "\0", "x\n\ny", "'"]
    rows = []
    for _ in range(6):
        written = io.StringIO(newline="")
        csv.writer(written, quoting=rng.choice([csv.QUOTE_ALL, csv.QUOTE_MINIMAL])).writerow(
            rng.choices(texts, k=rng.choice([3, 3, 3, 2, 4]))
        )
        rows.append(
            written.getvalue().encode().replace(b"\xc3\xa9", rng.choice([b"\xc3\xa9", b"\xe9"]))
        )
    return rows


def neighbours(rng: random.Random, folder: Path, *, multiline: bool) -> Iterator[CsvFile]:
    """Yield a random file, and that without one of its lines or rows."""
    lines = random_rows(rng) if multiline else random_lines(rng)
    left_out = rng.randrange(len(lines))
    end = b"" if multiline else rng.choice([b"\n", b"\r\n", b"\r"])
    for name, some in (("all", lines), ("less", lines[:left_out] + lines[left_out + 1 :])):
        file = folder / f"{name}.csv"
        file.write_bytes(
            b"".join(line + end for line in [b"a,b,c" + (b"\n" if multiline else b""), *some])
        )
        yield discreet.scan_csv(file, multiline=multiline)


def check_neighbours(seeds: range, folder: Path, *, multiline: bool) -> int:
    moves = 0
    for seed in seeds:
        one, other = map(counted, neighbours(random.Random(seed), folder, multiline=multiline))
        found = moved(one, other)
        assert max(found.values()) <= 1, (seed, found)
        [more], [fewer] = one["count"], other["count"]
        assert more - fewer in (0, 1)
        for name in ("a", "b", "c", "profile", "counts with other"):
            assert found[name] == more - fewer
        moves += more - fewer
    return moves


@pytest.mark.filterwarnings("ignore:multiline is false")
@pytest.mark.parametrize("multiline", [False, True])
def test_one_line_of_a_random_file_moves_one_record(multiline: bool, tmp_path: Path) -> None:
    assert check_neighbours(range(3), tmp_path, multiline=multiline) > 0


@pytest.mark.parametrize("most", [1, 2, 3])
def test_a_unit_moves_the_records_of_several_lines_by_its_bound(most: int, tmp_path: Path) -> None:
    """All units of up to four rows, of which some span several lines, beside others."""
    file, others = tmp_path / "t.csv", ["v,1", 'v,"\n"', ',"\n"']
    columns = {"b": COLUMNS["b"]}
    moves = set()

    def counts(rows: list[str]) -> int:
        file.write_text("\n".join(["u,b", *rows, ""]))
        of = Records("u", most)
        kept = read_once(file, Dataset(file, columns).columns.values(), of, spans=True)
        return count_spanning(kept, of)

    without = counts(others)
    for size in range(5):
        for kinds in itertools.product(["u,1", 'u,"1\r"'], repeat=size):
            found = counts([*kinds, *others])
            assert 0 <= found - without <= min(most, sum("\r" in row for row in kinds))
            moves.add(found - without)
    assert moves == {*range(most + 1)}


SPANNING = ["1,1", '9,"\n"', ',"x\ry"', '"1\n1","\r\n"']
"""Rows of two columns, of which some span several lines."""


@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
def test_the_records_of_several_lines_are_paid_with_the_classes(
    relation: Any, tmp_path: Path
) -> None:
    """All files of up to two rows and two columns, and all their neighbours: none loses more than ε."""
    columns = dict.fromkeys("xy", COLUMNS["b"])
    counts: dict[tuple[str, ...], list[int]] = {}
    for size in range(3):
        for rows in itertools.combinations_with_replacement(SPANNING, size):
            (tmp_path / "t.csv").write_bytes("\n".join(["x,y", *rows, ""]).encode())
            fits, spans, _ = check_cells_and_lines(Dataset(tmp_path / "t.csv", columns))
            assert spans == len(rows) - rows.count("1,1")
            counts[tuple(sorted(rows))] = [n for one in fits.values() for n in astuple(one)] + [
                spans
            ]
    with patch.object(CellNoise, "add", autospec=True, side_effect=CellNoise.add) as add:
        release = discreet.check(
            Dataset(tmp_path / "t.csv", columns), epsilon=1, neighbors=relation
        )
    noise = add.call_args.args[0]
    assert len(add.call_args.args[1]) == 2
    assert add.call_args.args[3] == 2
    assert release.guarantee == PureDP(Fraction(1, 3), relation).repeated(3)
    worst = Fraction(0)
    for rows in counts:
        for i in range(len(rows)):
            rest = rows[:i] + rows[i + 1 :]
            others = [rest] if relation == "add_remove" else [(*rest, one) for one in SPANNING]
            for other in others:
                found = counts[tuple(sorted(other))]
                moved = sum(abs(n - m) for n, m in zip(counts[rows], found, strict=True))
                worst = max(worst, moved * noise.epsilon / noise.shift)  # reached at y = n
    assert worst == (1 if relation == "add_remove" else Fraction(5, 6))


def test_the_number_is_asked_where_a_record_may_span_lines(tmp_path: Path) -> None:
    text = 'a,b,c\nx,1,"2\n"\ny,"3\r",4\nx,1,2\n'
    (tmp_path / "folder").mkdir()
    for name in ("t.csv", "t.txt", "folder/t.csv"):
        (tmp_path / name).write_text(text, newline="")
    (tmp_path / "t.jsonl").write_text('{"a": "x", "b": 1, "c": 2}\n')
    file = tmp_path / "t.csv"
    given, lines = discreet.scan_csv(file), discreet.scan_csv(file, multiline=False)
    for data in (
        file,
        str(file),
        [file],
        tmp_path / "*.csv",
        tmp_path / "t.txt",
        tmp_path / "folder",
        given,
    ):
        one = discreet.check(described(data), "a", epsilon=10**6)
        assert one.value.multiline_records == 2
        assert one.guarantee == PureDP(Fraction(10**6, 2)).repeated(2)
        assert check_cells_and_lines(described(data))[1] == 2
    bare = discreet.scan_csv(file, quote="")
    frame = {"a": ["x"], "b": [1], "c": [2.0]}
    others: list[Any] = [bare, lines, tmp_path / "t.jsonl", frame]
    for other in others:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            one = discreet.check(described(other), "a", epsilon=10**6)
            assert check_cells_and_lines(described(other))[1] is None
        assert one.value.multiline_records is None
        assert "multiline_records" not in one.value.as_dict()
        assert one.guarantee == PureDP(Fraction(10**6)).repeated(1)


def test_the_texts_name_an_open_quote(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DISCREET_CONFIG", raising=False)
    Path("t.csv").write_text('b\n1\n"2\n3\n4\n')
    Path("discreet.toml").write_text(
        '[datasets.t]\nsource = "t.csv"\ncolumns.b = { type = "integer", maximum = 5 }\n'
    )
    assert run(["check", "t", "--not-private"]) == 1
    assert capsys.readouterr().out.splitlines()[-2:] == [
        "1 records span several lines",
        MAY_BE_OPEN,
    ]
    assert run(["check", "t", "--epsilon", "1000000"]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[-2:] == ["about 1 records span several lines", MAY_BE_OPEN]
    assert run(["check", "t", "--epsilon", "1000000", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["value"]["b"]["multiline_records"] == 1


LINES = ["1,1", "9,x", "#1,1", ',"\n#"']
"""Rows of two columns, of which one is a comment."""


@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
def test_comments_are_counted_at_the_price_of_the_classes(relation: Any, tmp_path: Path) -> None:
    """All files of up to two lines and two columns, and all their neighbours: none loses more than ε."""
    columns, file = dict.fromkeys("xy", COLUMNS["b"]), tmp_path / "t.csv"
    data = discreet.scan_csv(file, comment="#", quote='"')
    counts: dict[tuple[str, ...], list[int]] = {}
    for size in range(3):
        for lines in itertools.combinations_with_replacement(LINES, size):
            file.write_bytes("\n".join(["# of", "x,y", *lines, ""]).encode())
            fits, spans, comments = check_cells_and_lines(Dataset(data, columns))
            assert comments == lines.count("#1,1")
            assert {one.records + comments for one in fits.values()} == {size}
            assert spans is not None
            counts[tuple(sorted(lines))] = [
                *(n for one in fits.values() for n in astuple(one)),
                spans,
                comments,
            ]
    with patch.object(CellNoise, "add", autospec=True, side_effect=CellNoise.add) as add:
        release = discreet.check(Dataset(data, columns), epsilon=1, neighbors=relation)
    noise = add.call_args.args[0]
    assert len(add.call_args.args[1]) == 2
    assert add.call_args.args[3:] == (2, 0)
    assert release.guarantee == PureDP(Fraction(1, 3), relation).repeated(3)
    worst = Fraction(0)
    for lines in counts:
        for i in range(len(lines)):
            rest = lines[:i] + lines[i + 1 :]
            others = [rest] if relation == "add_remove" else [(*rest, one) for one in LINES]
            for other in others:
                found = counts[tuple(sorted(other))]
                moved = sum(abs(n - m) for n, m in zip(counts[lines], found, strict=True))
                worst = max(worst, moved * noise.epsilon / noise.shift)
    assert worst == (1 if relation == "add_remove" else Fraction(5, 6))


def test_comments_are_told_where_a_row_is_a_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DISCREET_CONFIG", raising=False)
    Path("t.csv").write_text("#1\nu,b\n#2\nx,1\n#3\ny,2\n")
    rows = 'source = "t.csv"\ncsv.comment = "#"\ncolumns.b = { type = "integer", maximum = 5 }\n'
    units = 'privacy_unit = "u"\nmax_contributions = 1\n'
    Path("discreet.toml").write_text(f"[datasets.t]\n{rows}\n[datasets.v]\n{units}{rows}")
    assert run(["check", "t", "--not-private"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "2 lines are comments, and no records"
    assert run(["check", "t", "--epsilon", "1000000"]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[-1] == "about 2 lines are comments, and no records"
    assert run(["check", "t", "--epsilon", "1000000", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["value"]["b"]["comment_lines"] == 2
    assert run(["check", "v", "--epsilon", "1000000", "--json"]) == 0
    assert "comment_lines" not in json.loads(capsys.readouterr().out)["value"]["b"]


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("most", [1, 2])
def test_a_unit_moves_the_five_counts_by_its_bound(most: int, seed: int, tmp_path: Path) -> None:
    """Units with rows of any bytes: one that comes or goes, with all its rows, moves them by its bound at most."""
    file, reached = tmp_path / "t.csv", 0
    rng = random.Random(seed)
    rows = [
        (unit, b",".join([unit, *(b"".join(rng.choices(PIECES[4:], k=2)) for _ in "bc")]))
        for unit in rng.choices([b"u", b"v", b"\xff", b""], k=9)
    ]

    def counts(rows: list[tuple[bytes, bytes]]) -> list[tuple[int, ...]]:
        file.write_bytes(b"\n".join([b"u,b,c", *(row for _, row in rows), b""]))
        data = discreet.scan_csv(file, multiline=False)
        columns = {name: COLUMNS[name] for name in "bc"}
        units = Dataset(data, columns, privacy_unit="u", max_contributions=most)
        return [astuple(record_fits(units, name)) for name in columns]

    whole = counts(rows)
    for unit in (b"u", b"v", b"\xff", b""):
        less = counts([row for row in rows if row[0] != unit])
        for one, other in zip(whole, less, strict=True):
            moves = sum(abs(n - m) for n, m in zip(one, other, strict=True))
            assert moves <= (
                most if unit in (b"u", b"v") else 0
            )  # no unit can be read: nobody's rows
            reached = max(reached, moves)
    assert reached == most


@pytest.mark.parametrize(
    ("row", "code"), [(b"x,1,2", 0), (b",,", 0), (b"x,9,2", 1), (b"x,1,\xff", 1)]
)
def test_the_exact_check_ends_with_1_if_a_cell_does_not_fit(
    row: bytes,
    code: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DISCREET_CONFIG", raising=False)
    Path("t.csv").write_bytes(b"a,b,c\nx,1,2\n" + row + b"\n")
    columns = 'columns.b = { type = "integer", minimum = 0, maximum = 5 }\ncolumns.c = { type = "number" }\n'
    Path("discreet.toml").write_text(f'[datasets.t]\nsource = "t.csv"\n{columns}')
    assert run(["check", "t", "--not-private"]) == code
    lines = [line.split() for line in capsys.readouterr().out.splitlines()[1:]]
    assert lines.pop() == ["0", "records", "span", "several", "lines"]
    assert [line[:2] for line in lines] == [["b", "2"], ["c", "2"]]
    assert all(sum(map(int, line[2:])) == 2 for line in lines)


@pytest.mark.proof
@pytest.mark.filterwarnings("ignore:multiline is false")
@pytest.mark.parametrize("part", range(10))
@pytest.mark.parametrize("multiline", [False, True])
def test_one_line_of_many_random_files_moves_one_record(
    multiline: bool, part: int, tmp_path: Path
) -> None:
    seeds = range(150 * part, 150 * (part + 1))
    assert check_neighbours(seeds, tmp_path, multiline=multiline) > 50
