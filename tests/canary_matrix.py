"""What the matrix of canaries asks: verbs × ways to name data × faults of a file × faults of a question.

Every cell of the data is a canary: a text or number that occurs nowhere else. A header is public by contract, so
where there is one it holds names; where the owner gives the names, the first line is a row like all others.
"""

import bz2
import gzip
import io
import json
import logging
import lzma
import re
import sqlite3
import sys
import warnings
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from functools import partial
from inspect import CO_GENERATOR
from pathlib import Path
from types import FrameType
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

import discreet
from discreet import Grid
from discreet.errors import DiscreetError

from .canaries import LIBRARY, exception_leads_to
from .engines import SelfClosing

NAMES = ["name", "city", "age", "who", "g"]
NUMBER = 70_977_000
_CANARY = re.compile(r"zq7|7097700\d")
_HEADER = ",".join(NAMES)
_ROWS = [[f"zq7n{i}", f"zq7c{i} Zürich", str(NUMBER + i), f"zq7w{i}", f"zq7g{i}"] for i in range(9)]
_FIRST = ["zq7 Anna", "zq7 Bern", "zq7 old", "zq7 who", "zq7 g"]
"""It looks like a header: what takes it for one shows it."""
CELLS = "\n".join(map(",".join, [_FIRST, *_ROWS])) + "\n"

Made = Callable[[Path], Any]


def tells(text: str | bytes) -> bool:
    """Return whether a text holds a canary."""
    plain = text if isinstance(text, str) else text.decode("latin-1").replace("\0", "")
    return _CANARY.search(plain) is not None


def is_private(thing: Any) -> bool:
    """Return whether an object is a cell, or a table of cells."""
    if isinstance(thing, str | bytes):
        return tells(thing)
    if isinstance(thing, int | float):
        return tells(str(thing))
    if isinstance(thing, np.ndarray):
        return thing.size < 1000 and tells(str(thing.tolist()))
    return isinstance(
        thing, pd.DataFrame | pd.Series | pl.DataFrame | pl.Series | pa.Table | pa.Array
    )


# The faults of a file of text, as bytes below a header, or alone where the names are given.


def _text(header: str, rows: str) -> bytes:
    return f"{header}{rows}".encode()


def _zipped(*contents: bytes) -> bytes:
    """Return an archive of files, or a workbook of these parts."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for i, content in enumerate(contents):
            archive.writestr(f"{i}.csv", content)
    return packed.getvalue()


def _zstd(content: bytes) -> bytes:
    try:
        from backports import zstd
    except ImportError:  # it is refused by its first bytes
        return b"\x28\xb5\x2f\xfd" + content
    packed: bytes = zstd.compress(content)
    return packed


_SPREADSHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def _workbook(text: str, *, sheets: int = 1, end: str = "</sheetData></worksheet>") -> bytes:
    """Return a workbook of the lines of a text, whose cells are in the sheet itself and shared by turns."""
    shared, rows = list[str](), list[str]()
    for line in text.splitlines():
        rows.append("<row>")
        for i, cell in enumerate(line.split(",")):
            shared.append(f"<si><t>{cell}</t></si>")
            inline = f'<c t="inlineStr"><is><t>{cell}</t></is></c>'
            rows.append(f'<c t="s"><v>{len(shared) - 1}</v></c>' if i % 2 else inline)
        rows.append("</row>")
    kinds = ["officeDocument", *["worksheet"] * sheets, "sharedStrings"]
    places = ["xl/workbook.xml", *["s.xml"] * sheets, "shared.xml"]
    relations = [
        f'<Relationship Id="r{i}" Type="{_OFFICE}/{kind}" Target="{place}"/>'
        for i, (kind, place) in enumerate(zip(kinds, places, strict=True))
    ]
    names = "".join(f'<sheet name="s{i}" r:id="r{i}"/>' for i in range(1, sheets + 1))
    parts = {
        "[Content_Types].xml": "<Types/>",
        "_rels/.rels": f"<Relationships>{relations[0]}</Relationships>",
        "xl/_rels/workbook.xml.rels": f"<Relationships>{''.join(relations[1:])}</Relationships>",
        "xl/workbook.xml": f'<workbook xmlns:r="{_OFFICE}"><sheets>{names}</sheets></workbook>',
        "xl/shared.xml": f"<sst>{''.join(shared)}</sst>",
        "xl/s.xml": f'<worksheet xmlns="{_SPREADSHEET}"><sheetData>{"".join(rows)}{end}',
    }
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:  # stored: damage is in the text itself
        for name, part in parts.items():
            archive.writestr(name, part)
    return packed.getvalue()


def _damaged(content: bytes, at: bytes) -> bytes:
    """Return bytes with others from a place on."""
    place = content.index(at)
    return content[:place] + b"\xff" * 9 + content[place + 9 :]


_SCRAMBLED = CELLS.replace("zq7n3", 'zq7n3"tail').replace("zq7c5", '"zq7c5"zq7')
FILES: Mapping[str, Callable[[str], bytes]] = {
    "sound": lambda header: _text(header, CELLS),
    "in another code": lambda header: f"{header}{CELLS}".encode("cp1252"),
    "in another code from its header": lambda header: f"é{header}{CELLS}".encode("cp1252"),
    "UTF-16 without a mark": lambda header: f"{header}{CELLS}".encode("utf-16-le"),
    "UTF-16 of an odd length": lambda header: f"{header}{CELLS}".encode("utf-16")[:-1],
    "by semicolons": lambda header: _text(header, CELLS).replace(b",", b";"),
    "rows by semicolons": lambda header: _text(header, CELLS.replace(",", ";")),
    "an open quote": lambda header: _text(header, CELLS.replace("zq7n2", '"zq7n2')),
    "an open quote in its first line": lambda header: b'"' + _text(header, CELLS),
    "a quote that its first row closes": lambda header: _text('"' + header, '"' + CELLS),
    "quotes within cells": lambda header: _text(header, _SCRAMBLED),
    "too many cells": lambda header: _text(header, CELLS.replace("\n", ",zq7x\n")),
    "too few cells": lambda header: _text(header, re.sub(r",zq7w.*", "", CELLS)),
    "characters 0": lambda header: _text(header, CELLS.replace("zq7c", "\0zq7c")),
    "a character 0 in its first line": lambda header: b"\0" + _text(header, CELLS),
    "a first row that is a number": lambda header: _text(header, f"{NUMBER},{CELLS}"),
    "a long first line": lambda header: b"zq7 " * 300_000 + _text(header, CELLS),
    "Parquet": lambda header: b"PAR1" + _text(header, CELLS),
    "gzip": lambda header: gzip.compress(_text(header, CELLS), mtime=0),
    "zstd": lambda header: _zstd(_text(header, CELLS)),
    "zstd that ends early": lambda header: _zstd(_text(header, CELLS))[:-9],
    "bzip2": lambda header: bz2.compress(_text(header, CELLS)),
    "bzip2 that ends early": lambda header: bz2.compress(_text(header, CELLS))[:-9],
    "xz": lambda header: lzma.compress(_text(header, CELLS)),
    "xz that ends early": lambda header: lzma.compress(_text(header, CELLS))[:-30],
    "a zip archive": lambda header: _zipped(_text(header, CELLS)),
    "a zip archive of two": lambda header: _zipped(_text(header, CELLS), _text(header, CELLS)),
    "a zip archive that is damaged": lambda header: _zipped(_text(header, CELLS) * 9)[:-30],
    "a zip archive of a workbook": lambda header: _zipped(_workbook(header + CELLS)),
    "a workbook": lambda header: _workbook(header + CELLS),
    "a workbook of two sheets": lambda header: _workbook(header + CELLS, sheets=2),
    "a workbook without an end": lambda header: _workbook(header + CELLS, end=""),
    "a workbook that is damaged": lambda header: _damaged(_workbook(header + CELLS), b"zq7n4"),
    "a workbook of damaged texts": lambda header: _damaged(_workbook(header + CELLS), b"zq7c4"),
    "an array of JSON": lambda header: json.dumps(_ROWS).encode(),
    "a bare return": lambda header: _text(header, CELLS).replace(b"\n", b"\r"),
    "a mark within": lambda header: _text(header, CELLS.replace("zq7n4", "\ufeffzq7n4")),
}
_PACKED: Mapping[str, Callable[[bytes], bytes]] = {
    "gzip that ends early": lambda packed: packed[:-30],
    "gzip that is damaged": lambda packed: packed[:60] + b"\xff" * 20 + packed[80:],
    "two members of gzip, the second damaged": lambda packed: packed + packed[:40],
    "no gzip": gzip.decompress,
}
FAULTS = [*FILES, *_PACKED, "in a lake"]


def _file(folder: Path, fault: str, *, header: bool) -> Path:
    """Return a file with this fault, in a folder of its own."""
    first, name = f"{_HEADER}\n" if header else "", "a.csv"
    content = FILES.get(fault, FILES["sound"])(first)
    if fault in _PACKED:
        name, content = "a.csv.gz", _PACKED[fault](gzip.compress(content, mtime=0))
    if fault == "in a lake":
        (folder / "_delta_log").mkdir(exist_ok=True)
    (folder / name).write_bytes(content)
    return folder / name


# The ways to name data.


def _hive(file: Path) -> Path:
    below = file.parent / "year=2020"
    below.mkdir()
    file.rename(below / file.name)
    return file.parent


def _form(**words: Any) -> Callable[[Path], Any]:
    return lambda file: discreet.scan_csv(file, **words)


_COLUMNS: dict[str, Any] = {
    "city": {"type": "string", "enum": ["Bern", "Basel"]},
    "age": {"type": "integer", "minimum": 0, "maximum": 100},
    "who": {"type": "string"},
}


_CELLS: dict[str, Any] = {
    "decimal": ",", "thousands": ".", "units": ["CHF"], "negative": "parentheses", "date": "%d.%m.%Y",
    "missing": ["zq", "-"],
}  # fmt: skip
"""A form of cells in which some of the numbers are none, and those without a sign between groups are some."""
_OF_AGE = {"units": ["kg"], "thousands": "'", "missing": ["-"]}


def _described(source: Callable[[Path], Any]) -> Callable[[Path], Any]:
    return lambda file: discreet.Dataset(source(file), _COLUMNS)


OF_FILES: Mapping[str, Callable[[Path], Any]] = {
    "path": lambda file: file,
    "text": str,
    "list": lambda file: [file, file.parent / "b" / file.name],
    "folder": lambda file: file.parent,
    "pattern": lambda file: f"{file.parent}/*{file.suffix}",
    "hive": _hive,
    "form": _form(),
    "delimiter": _form(delimiter="|"),
    "encoding": _form(encoding="cp1252"),
    "wide encoding": _form(encoding="utf-16-le"),
    "no quote": _form(quote=""),
    "lines": _form(multiline=False),
    "described": _described(lambda file: file),
    "described pattern": _described(lambda file: f"{file.parent}/*{file.suffix}"),
    "names": _form(names=NAMES),
    "names in a list": lambda file: [discreet.scan_csv(file, names=NAMES)],
    "names, delimiter": _form(names=NAMES, delimiter=";"),
    "names, encoding": _form(names=NAMES, encoding="utf-8-sig"),
    "names, wide encoding": _form(names=NAMES, encoding="utf-16"),
    "names, no quote": _form(names=NAMES, quote=""),
    "names, lines": _form(names=NAMES, multiline=False),
    "names, too few": _form(names=["city"]),
    "names, described": _described(_form(names=NAMES)),
    "cells": _form(**_CELLS),
    "cells, described": lambda file: discreet.Dataset(
        file, {**_COLUMNS, "age": {**_COLUMNS["age"], **_OF_AGE}}
    ),
    "comments": _form(comment="z"),
    "escape": _form(escape="\\"),
    "blanks": _form(skip_initial_space=True),
    "a sheet": _form(sheet="s1"),
    "another sheet": _form(sheet="s9"),
    "names, titles": _form(names=NAMES, skip=1),
    "names, cells": _form(names=NAMES, **_CELLS),
    "names, cells, described": _described(_form(names=NAMES, **_CELLS)),
}

_TABLE = pa.table(
    {
        **{n: [row[i] for row in _ROWS] for i, n in enumerate(NAMES)},
        "age": [int(row[2]) for row in _ROWS],
    }
)


def _sqlite(folder: Path) -> Any:
    connection = sqlite3.connect(folder / "a.sqlite", factory=SelfClosing)
    connection.execute(f"create table t ({_HEADER})")
    connection.executemany("insert into t values (?, ?, ?, ?, ?)", _ROWS)
    connection.commit()
    return connection


def _parquet(folder: Path, *, cut: int = 0) -> Path:
    pq.write_table(_TABLE, folder / "a.parquet", compression="none")
    content = (folder / "a.parquet").read_bytes()
    (folder / "a.parquet").write_bytes(content[:4] + bytes(cut) + content[4 + cut :])
    return folder / "a.parquet"


def _lines_of_json(folder: Path, end: str = "") -> Path:
    rows = [json.dumps(dict(zip(NAMES, row, strict=True))) + end for row in _ROWS]
    (folder / "a.jsonl").write_text("\n".join(rows), encoding="utf-8")
    return folder / "a.jsonl"


def _one_object(folder: Path) -> Path:
    (folder / "a.json").write_text(json.dumps({"rows": _ROWS}, indent=1), encoding="utf-8")
    return folder / "a.json"


def _array_of_json(folder: Path, *, name: str = "a.json", end: str = "") -> Path:
    rows = [json.dumps(dict(zip(NAMES, row, strict=True))) + end for row in _ROWS]
    (folder / name).write_text(f"[{','.join(rows)}]", encoding="utf-8")
    return folder / name


_BAD_SQL = "select name, city, cast(city as integer) as age, who, g from t"


def _relation(text: str) -> Any:
    connection = duckdb.connect()
    connection.register("t", _TABLE)
    return connection.sql(text)


def _lazy_failure() -> pl.LazyFrame:
    return pl.LazyFrame(_TABLE.to_pydict()).with_columns(age=pl.col("city").str.to_integer())


OF_TABLES: Mapping[str, Made] = {
    "pandas": lambda _: _TABLE.to_pandas(),
    "rows": lambda _: _TABLE.to_pylist(),
    "columns": lambda _: _TABLE.to_pydict(),
    "polars": lambda _: pl.DataFrame(_TABLE.to_pydict()),
    "polars, lazy": lambda _: pl.LazyFrame(_TABLE.to_pydict()),
    "polars that fails": lambda _: _lazy_failure(),
    "pyarrow": lambda _: _TABLE,
    "duckdb": lambda _: _relation("from t"),
    "duckdb that fails": lambda _: _relation(_BAD_SQL),
    "query of SQLite": lambda f: discreet.scan_query("select * from t", _sqlite(f)),
    "query of SQLite that fails": lambda f: discreet.scan_query(
        "select name, city, json(city) as age, who, g from t", _sqlite(f)
    ),
    "described table": lambda _: discreet.Dataset(_TABLE.to_pandas(), _COLUMNS),
    "Parquet": _parquet,
    "Parquet that is damaged": partial(_parquet, cut=400),
    "lines of JSON": _lines_of_json,
    "lines of broken JSON": partial(_lines_of_json, end="}"),
    "an array of JSON": _array_of_json,
    "an array of JSON as lines": partial(_array_of_json, name="a.jsonl"),
    "an array of broken JSON": partial(_array_of_json, end='}]"zq7'),
    "one object of JSON": lambda f: _one_object(f),
}


def made(way: str, fault: str, folder: Path) -> Any:
    """Return data of this way to name them and with this fault, in an empty folder."""
    if way in OF_TABLES:
        return OF_TABLES[way](folder)
    file = _file(folder, fault, header=not way.startswith("names"))
    if way == "list":
        (folder / "b").mkdir()
        (folder / "b" / file.name).write_bytes(file.read_bytes())
    return OF_FILES[way](file)


WAYS = [
    *((way, fault) for way in OF_FILES for fault in FAULTS),
    *((way, "sound") for way in OF_TABLES),
]


# The questions.


@dataclass(frozen=True)
class Verb:
    """A verb, its column and its terms."""

    name: str
    column: str | None
    terms: Mapping[str, Any]

    def ask(self, data: Any, column: str | None, terms: Mapping[str, Any]) -> object:
        """Return the release."""
        function = getattr(discreet, self.name)
        if self.name == "sql":
            return function(data, self.terms["statement"].format(column=column))
        about = () if column is None else ([column],) if self.name == "check" else (column,)
        return function(data, *about, **{"epsilon": 1, **self.terms, **terms})


_AGES, _CITIES, _DELTA = Grid(0, 100), ["Bern", "Basel"], "1e-9"
_TERMS: Mapping[str, tuple[str, str | None, Mapping[str, Any]]] = {
    "count": ("count", None, {}),
    "count of cells": ("count", "city", {}),
    "counts": ("counts", "city", {"candidates": _CITIES}),
    "counts with others": ("counts", "city", {"delta": _DELTA, "other": "1/10"}),
    "keys": ("keys", "city", {"delta": _DELTA}),
    "sum": ("sum", "age", {"minimum": 0, "maximum": 100}),
    "mean": ("mean", "age", {"minimum": 0, "maximum": 100}),
    "count_distinct": ("count_distinct", "city", {}),
    "variance": ("variance", "age", {"minimum": 0, "maximum": 100}),
    "standard_deviation": ("standard_deviation", "age", {"minimum": 0, "maximum": 100}),
    "minimum": ("minimum", "age", {"candidates": _AGES}),
    "maximum": ("maximum", "age", {"candidates": _AGES}),
    "median": ("median", "age", {"candidates": _AGES}),
    "median without bounds": ("median", "age", {}),
    "quantile": ("quantile", "age", {"candidates": _AGES, "alpha": "0.9"}),
    "quantiles": ("quantiles", "age", {"candidates": _AGES, "alphas": ["0.2", "0.8"]}),
    "best_price": ("best_price", "age", {"candidates": Grid(1, 100)}),
    "bounds": ("bounds", "age", {}),
    "mode": ("mode", "city", {"candidates": _CITIES}),
    "mode of private": ("mode", "city", {"candidates": "private", "delta": _DELTA}),
    "top_k": ("top_k", "city", {"candidates": _CITIES, "k": 1, "method": "peeling"}),
    "top_k by counts": ("top_k", "city", {"candidates": _CITIES, "k": 1, "method": "counts"}),
    "profile": ("profile", None, {"delta": _DELTA}),
    "check": ("check", None, {}),
    "sql": ("sql", "city", {"statement": "SELECT {column}, count(*) FROM data GROUP BY {column}"}),
}
VERBS = {name: Verb(*terms) for name, terms in _TERMS.items()}

_QUESTIONS: Mapping[str, tuple[str | None, Mapping[str, Any]]] = {
    "right": (None, {}),
    "wrong column": ("nam", {}),
    "another column": ("name", {}),
    "number of text": ("age", {"candidates": ["Bern", 5]}),
    "numbers": ("age", {"candidates": [5, Fraction(1, 2)]}),
    "dates": ("age", {"candidates": [date(2024, 1, 1)]}),
    "a marker": ("city", {"candidates": ["Bern", "zq"]}),
    "a marker in where": (None, {"where": "city <> 'zq'"}),
    "wrong column in where": (None, {"where": "citi = 'Bern'"}),
    "wrong constant in where": (None, {"where": "age = 'old'"}),
    "where": (None, {"where": "city = 'Bern' or age > 5"}),
    "wrong unit": (None, {"privacy_unit": "whom"}),
    "unit": (None, {"privacy_unit": "who"}),
    "wrong groups": (None, {"by": "gg", "groups": ["x"]}),
    "groups": (None, {"by": "g", "groups": ["x", 1]}),
    "groups of numbers": (None, {"by": "age", "groups": ["x"]}),
}
QUESTIONS = [*_QUESTIONS, "interrupt early", "interrupt late"]


def asked(verb: Verb, question: str, data: Any, number: int) -> object:
    """Return the release that a question gets; an interrupt comes at the call of this number or so."""
    column, terms = _QUESTIONS.get(question, (None, {}))
    if question in _QUESTIONS:
        return verb.ask(data, column or verb.column, terms)
    with interrupted(5 + number % 40 if "early" in question else 60 + number % 400):
        return verb.ask(data, verb.column, {})


@contextmanager
def interrupted(calls: int) -> Iterator[None]:
    """Interrupt at a call inside the part of the library that reads."""
    left = calls

    def look(frame: FrameType, event: str, _: object) -> None:
        nonlocal left
        file = frame.f_code.co_filename
        is_read = file.startswith((f"{LIBRARY}/tables", f"{LIBRARY}/datasets"))
        # Nothing gets out of what C calls, nor of a generator that is closed.
        if (
            event == "call"
            and is_read
            and not frame.f_code.co_flags & CO_GENERATOR
            and frame.f_back
        ):
            left -= 1
            if left == 0:
                raise KeyboardInterrupt

    before = sys.getprofile()
    sys.setprofile(look)
    try:
        yield
    finally:
        sys.setprofile(before)


# What a question leaves behind.


@contextmanager
def listening() -> Iterator[list[str]]:
    """Yield a list in which all is that is warned of or logged."""
    heard: list[str] = []
    handler = logging.Handler(0)
    handler.emit = lambda record: heard.append(f"{record.getMessage()} {record.args}")  # type: ignore[method-assign]
    root = logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(0)
    try:
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            yield heard
        heard += [f"{one.message!r} {one.source!r}" for one in warned]
    finally:
        root.setLevel(level)
        root.removeHandler(handler)


def leak_of(verb: Verb, question: str, data: Any, number: int = 0) -> str | None:
    """Return where a question about data leaves a canary, or None."""
    with listening() as heard:
        try:
            answer = asked(verb, question, data, number)
            heard += [str(answer), repr(answer)]
        except (DiscreetError, TypeError, KeyboardInterrupt) as error:
            if way := exception_leads_to(error, is_private):
                return f"the error: {way}"
            heard += [str(error)]
    found = next((one for one in heard if tells(one)), None)
    return None if found is None else f"in {found!r}"


def left_in(folder: Path) -> list[str]:
    """Return the files below a folder that hold a canary, also in their names."""
    return [
        str(file)
        for file in sorted(folder.rglob("*"))
        if tells(file.name) or (file.is_file() and tells(file.read_bytes()))
    ]
