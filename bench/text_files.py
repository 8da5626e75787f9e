"""Files of text: our reader against DuckDB's `read_csv`, as questions read it before. `python -m bench.text_files`.

Times are the processor's, all threads together, and ratios are taken in turns of one run.
"""

import gzip
import importlib
import sys
from collections.abc import Callable, Sequence
from datetime import date, timedelta
from functools import partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import duckdb

from discreet.tables.formats import reader_library
from discreet.tables.formats.text_form import CellReading, TextForm, cell_form
from discreet.tables.formats.text_records import TextRecords

from .race import Contender, Run, race

ROWS, TURNS = 10**6, 7
COLUMNS = 5
CODES = ("cp1252", "shift_jis", "gb18030", "utf-16-le")
PLAIN = "the plain read"
OLD = "DuckDB's read_csv"

_OPTIONS = (
    "auto_detect=false, delim=',', header=true, quote='\"', escape='\"', null_padding=true, ignore_errors=true, "
    "strict_mode=false, parallel=false, max_line_size=16777216, buffer_size=33554432, hive_partitioning=false"
)
_CITIES = ("Bern", "Basel", "Genf", "Zürich", "Lausanne", "Winterthur")


def write(folder: Path, rows: int) -> dict[str, Path]:
    """Write the same rows in two codes; return their paths."""
    random = Random(1)
    texts = ["city,age,name,paid,day\n"]
    for _ in range(rows):
        city, age = random.choice(_CITIES), random.randrange(18, 99)
        name, paid = random.randrange(10**6), random.randrange(10**4) / 100
        texts.append(f"{city},{age},n{name},{paid},2024-0{random.randrange(1, 10)}-11\n")
    paths = {code: folder / f"{code}.csv" for code in ("utf-8", *CODES)}
    for code, path in paths.items():
        path.write_bytes("".join(texts).encode(code, "replace"))
    return paths


def _query(columns: int, source: str) -> str:
    most = "".join(f", max(c{i})" for i in range(1, columns))
    return f"SELECT c0, count(*){most} FROM {source} GROUP BY c0 ORDER BY ALL"


def old(database: Any, path: Path, columns: int) -> list[Any]:
    """Return the counts as DuckDB reads the file."""
    names = [f"c{i}" for i in range(COLUMNS)]
    types = ", ".join(f"'{name}': 'VARCHAR'" for name in names)
    options = f"columns={{{types}}}, force_not_null={names}, {_OPTIONS}"
    rows: list[Any] = (
        database.cursor().execute(_query(columns, f"read_csv('{path}', {options})")).fetchall()
    )
    return rows


def ours(database: Any, path: Path, columns: int, code: str, *, kernel: bool = True) -> list[Any]:
    """Return the counts as we read the file."""
    form = TextForm(delimiter=",")
    records = TextRecords(path, form, code, 0, tuple(range(columns)), 1)
    functions = reader_library.open_reader() if kernel else None
    with patch.object(reader_library, "open_reader", lambda: functions):
        connection = database.cursor()
        connection.register("records", records)
        rows: list[Any] = connection.execute(_query(columns, "records")).fetchall()
    return rows


def pack(plain: Path) -> dict[str, Path]:
    """Write a file in each packing; return the paths by the names of the packings."""
    zstd: Any = importlib.import_module("backports.zstd")
    packers: dict[str, Callable[[bytes], bytes]] = {"gzip": gzip.compress, "zstd": zstd.compress}
    paths = {name: plain.with_suffix(f".{name}") for name in packers}
    for name, path in paths.items():
        path.write_bytes(packers[name](plain.read_bytes()))
    return paths


def write_workbook(file: Path, rows: int) -> None:
    """Write a workbook of ten columns, as openpyxl does."""
    openpyxl: Any = importlib.import_module("openpyxl")
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("people")
    sheet.append([f"c{i}" for i in range(10)])
    for i in range(rows):
        day = date(2020, 1, 1) + timedelta(i % 1000)
        sheet.append([i, f"n{i}", i / 7, _CITIES[i % 6], "x,y", day, i % 100, True, i * 3, None])
    book.save(file)


def print_ratio(
    name: str, times: Sequence[float], others: Sequence[float], other: str = OLD
) -> None:
    """Print the middle ratio of times, turn by turn."""
    ratios = sorted(a / b for a, b in zip(times, others, strict=True))
    print(f"{name}: {ratios[len(ratios) // 2]:.2f} of {other}", file=sys.stdout)


def turns(database: Any, work: Any, *arguments: Any, **named: Any) -> Callable[[], Run]:
    """Return what prepares a run of work."""

    def prepare() -> Run:
        return partial(work, database, *arguments, **named)

    return prepare


def race_texts(database: Any, paths: dict[str, Path], small: Path) -> None:
    """Race both ways over text in each code."""
    utf8 = paths["utf-8"]
    assert old(database, utf8, COLUMNS) == ours(database, utf8, COLUMNS, "utf-8")
    races = {
        "UTF-8, one column": (utf8, 1, "utf-8", {}, 1),
        "UTF-8, five columns": (utf8, COLUMNS, "utf-8", {}, 1),
        **{f"{code}, one column": (paths[code], 1, code, {}, 1) for code in CODES},
        "1 kB": (small, 1, "utf-8", {}, 100),
        "without the kernel": (utf8, 1, "utf-8", {"kernel": False}, 1),
    }
    for name, (path, columns, code, named, calls) in races.items():
        before = small if calls > 1 else utf8
        contenders = [
            Contender(OLD, turns(database, old, before, columns), calls=calls),
            Contender(name, turns(database, ours, path, columns, code, **named), calls=calls),
        ]
        timings = race(contenders, TURNS, lambda _: None)
        print_ratio(name, timings[name].processor, timings[OLD].processor)


def race_packed(database: Any, utf8: Path, folder: Path) -> None:
    """Race packed files against the plain one, and time a workbook."""
    for name, path in pack(utf8).items():
        contenders = [
            Contender(PLAIN, turns(database, ours, utf8, 1, "utf-8")),
            Contender(name, turns(database, ours, path, 1, "utf-8")),
        ]
        timings = race(contenders, TURNS, lambda _: None)
        print_ratio(name, timings[name].processor, timings[PLAIN].processor, PLAIN)
    book = folder / "people.xlsx"
    write_workbook(book, ROWS // 10)
    timings = race([Contender("", turns(database, ours, book, 1, "utf-8"))], 3, lambda _: None)
    print(f"a workbook of {ROWS} cells: {min(timings[''].processor):.1f} s")


def race_numbers(database: Any, folder: Path) -> None:
    """Race numbers that are read in a form against a cast of plain ones, each without the read of its texts."""
    random, names = Random(2), ("plain", "German")
    amounts = [random.randrange(10**7) / 100 for _ in range(2 * ROWS)]
    paths = [folder / f"{name}.csv" for name in names]
    signs = str.maketrans(",.", ".,")
    paths[0].write_text("\n".join(["n", *(f"{one:.2f}" for one in amounts)]))
    paths[1].write_text("\n".join(["n", *(f"{one:,.2f}".translate(signs) for one in amounts)]))
    readings = (None, cell_form({"decimal": ",", "thousands": "."}).reading("number"))

    def run(path: Path, reading: CellReading | None, total: str) -> Run:
        def work() -> Any:
            form = TextForm(delimiter=";")
            records = TextRecords(path, form, "utf-8", 0, (0,), 1, readings=(reading,))
            connection = database.cursor()
            connection.register("records", records)
            return connection.execute(f"SELECT {total} FROM records").fetchall()

        return work

    contenders = [
        Contender(f"{name}, {total}", partial(run, path, reading, total))
        for name, path, each in zip(names, paths, readings, strict=True)
        for total, reading in (("count(c0)", None), ("sum(TRY_CAST(c0 AS DOUBLE))", each))
    ]
    timings = [one.processor for one in race(contenders, TURNS, lambda _: None).values()]
    plain, german = ([b - a for a, b in zip(*timings[i : i + 2], strict=True)] for i in (0, 2))
    print_ratio("a number of a declared form", german, plain, "a plain cast")


def main() -> None:
    """Race both ways, and print the ratios of the processor's time."""
    database = duckdb.connect(config={"threads": 2})
    with TemporaryDirectory() as directory:
        paths = write(Path(directory), ROWS)
        folder = Path(directory, "small")
        folder.mkdir()
        race_texts(database, paths, write(folder, 30)["utf-8"])
        race_packed(database, paths["utf-8"], Path(directory))
        race_numbers(database, Path(directory))


if __name__ == "__main__":
    main()
