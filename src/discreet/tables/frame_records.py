"""Records of a dataframe: each column becomes an array of small integers, and those are counted."""

import itertools
import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidCandidates
from .candidate_table import Classes, Ranking
from .failures import quietly
from .frames import (
    TEMPORAL,
    FrameColumn,
    as_frame,
    broken,
    decoded,
    filtered,
    in_pandas,
    indices,
    objects,
)
from .kinds import CELL, ColumnType, check_candidates, key, plain, represent
from .records import (
    PART,
    PERSON,
    Recorded,
    Records,
    check_numbers,
    check_unit,
    chosen,
    offset,
    sums,
)
from .relations import picked
from .spark import spark_columns

ROW, CODE = "row", "code"
SHARED = frozenset({str, int, UUID})


@dataclass(frozen=True)
class FrameRecords:
    """The columns of a dataframe that a question needs, each one by itself and in the same order."""

    cell: FrameColumn
    person: FrameColumn | None
    part: FrameColumn | None
    records: Records

    def tally(self, candidates: Sequence[object]) -> list[list[int]]:
        """Return, for each group, the records per candidate."""
        wanted = check_candidates(candidates, self.cell.type)
        cells = positions(self.cell, wanted)
        counted = quietly(lambda: self._counted(cells), broken(self.cell.frame))
        places = {key(candidate): i for i, candidate in reversed(list(enumerate(wanted)))}
        return sums(counted, self._groups, places, list(map(key, wanted)))

    def classes(self, ranking: Ranking) -> list[Classes]:
        """Raise: what is in memory can be listed."""
        raise InvalidCandidates(
            "a CandidateTable is for data in files, DuckDB and Spark; for other tables list the candidates: "
            "candidates=table[column]"
        )

    def parts(self) -> list[tuple[Any, str | None]]:
        """Return, for each group, the numbers of its records."""
        if self.cell.type.name != "object":
            check_numbers(self.cell.type)
        return quietly(self._split, broken(self.cell.frame))

    @property
    def _groups(self) -> int:
        return 1 if self.part is None else len(self.records.groups)

    def _codes(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Return each row's group, person (the row itself if it is a record) and offset; -1 for none."""
        n = len(self.cell.frame)
        parts = np.zeros(n, dtype=np.int64)
        if self.part is not None:
            parts = positions(
                self.part, check_candidates(self.records.groups, self.part.type, "group")
            )
        if self.person is None:
            return parts, np.arange(n), parts
        check_unit(self.person.type)
        persons, offsets = _persons(self.person)
        kept = (persons >= 0) & (parts >= 0)
        if self.records.bounds_groups:
            kept[kept] = _in_few_groups(
                persons[kept], parts[kept], offsets[kept], self.records.most_groups
            )
        return np.where(kept, parts, -1), persons, offsets

    def _counted(self, cells: NDArray[np.int64]) -> list[tuple[int, int, int]]:
        """Return triples of a group, a position and the number of records."""
        parts, persons, _ = self._codes()
        kept = (parts >= 0) & (cells >= 0)
        parts, cells, persons = parts[kept], cells[kept], persons[kept]
        order = np.argsort(_together(parts, cells, persons))
        first = _changes(parts[order], cells[order], persons[order])
        parts, cells = parts[order][first], cells[order][first]
        starts = np.flatnonzero(_changes(parts, cells))
        rows = np.diff(np.append(starts, len(parts)))
        return list(zip(parts[starts].tolist(), cells[starts].tolist(), rows.tolist(), strict=True))

    def _split(self) -> list[tuple[Any, str | None]]:
        """Return the numbers of each group, those that stay of each person."""
        parts, persons, offsets = self._codes()
        values, kept = _numbers(self.cell, parts >= 0)
        parts, persons, offsets = parts[kept], persons[kept], offsets[kept]
        if self.person is not None and self.records.rows is not None:
            order = np.argsort(values, kind="stable")
            order = order[np.argsort(_together(persons, parts)[order], kind="stable")]
            blocks = np.cumsum(_changes(parts[order], persons[order]), dtype=np.int64)
            stay = order[chosen(blocks, offsets[order], self.records.rows)]
            values, parts = values[stay], parts[stay]
        return [(values[parts == group], None) for group in range(self._groups)]


def open_records(data: Any, columns: dict[str, str], records: Records) -> Recorded:
    """Return the records of a table that is in no file."""
    frame = as_frame(data)
    where, failure = indices(frame, columns), broken(frame)
    if frame.implementation.is_duckdb():
        from .relation_records import RelationRecords

        only = quietly(lambda: picked(frame.to_native(), columns, "the data"), failure)
        return RelationRecords(only, columns, records, failure)
    if frame.implementation.is_spark_like():
        from .spark_records import SparkRecords

        only = quietly(lambda: spark_columns(frame.to_native(), where), failure)
        return SparkRecords(only, columns, records, failure)
    return frame_records(frame, columns, records)


def frame_records(frame: Any, columns: dict[str, str], records: Records) -> FrameRecords:
    """Return the records of a dataframe; of a lazy one the columns that matter are collected."""
    import narwhals.stable.v2 as nw

    # By position: a name like "*" would mean something to an engine. All at once: a lazy frame need
    # not give its rows in the same order twice.
    wanted = [nw.nth(i).alias(alias) for alias, i in indices(frame, columns).items()]
    whole = quietly(lambda: frame.select(*wanted).lazy().collect(), broken(frame))
    opened = {
        alias: FrameColumn(quietly(partial(_one, whole, alias), broken(frame)), name)
        for alias, name in columns.items()
    }
    return FrameRecords(opened[CELL], opened.get(PERSON), opened.get(PART), records)


def _one(frame: Any, name: str) -> Any:
    """Return one column of a dataframe, called CELL."""
    import narwhals.stable.v2 as nw

    return decoded(frame.select(nw.col(name).alias(CELL)))


def positions(column: FrameColumn, wanted: Sequence[Any]) -> NDArray[np.int64]:
    """Return for each row the position of the first candidate that it equals, or -1."""
    of, frame = column.type, column.frame
    found = np.full(len(frame), -1, dtype=np.int64)
    exact = [value for value in (represent(one, of) for one in wanted) if value is not None]
    if of.kind == "nothing" or not exact:
        return found
    places = {key(candidate): i for i, candidate in reversed(list(enumerate(wanted)))}

    def fill() -> None:
        rows, cells = _candidates_of(frame, of, exact)
        distinct, codes = _distinct(cells, of)
        found[rows] = np.array([_place(value, places) for value in distinct] + [-1])[codes]

    quietly(fill, broken(frame))
    return found


def _place(value: Any, places: dict[Any, int]) -> int:
    """Return the position of a value, -1 for none."""
    try:
        return places.get(key(value), -1)
    except Exception:  # objects in a table may do anything
        return -1


def _candidates_of(frame: Any, of: ColumnType, exact: list[Any]) -> tuple[Any, Any]:
    """Return the numbers of rows and the column there, for the candidates at least."""
    if in_pandas(frame) and of.kind not in TEMPORAL:
        return slice(None), frame
    rows = filtered(frame.with_row_index(ROW), of, exact).lazy().collect()
    return rows.get_column(ROW).to_numpy(), rows.select(CELL)


def _distinct(frame: Any, of: ColumnType) -> tuple[list[Any], NDArray[np.int64]]:
    """Return the values in a column, and for each row the position of its own; -1 may stand for null."""
    engine, plainly = frame.implementation, of.kind in ("text", "integer")
    if engine.is_polars() and plainly:
        once = frame.unique(CELL).with_row_index(CODE)
        rows = frame.with_row_index(ROW).join(once, on=CELL, how="left")
        codes = np.full(len(frame), -1, dtype=np.int64)
        codes[rows.get_column(ROW).to_numpy()] = rows.get_column(CODE).fill_null(-1).to_numpy()
        return once.get_column(CELL).to_list(), codes
    if engine.is_pyarrow() and plainly:
        chunks = frame.to_native().column(0).dictionary_encode().unify_dictionaries()
        encoded = chunks.combine_chunks()
        codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        return encoded.dictionary.to_pylist(), codes
    if of.name == "object":
        return _encoded(list(objects(frame)), of)
    return _encoded(frame.get_column(CELL).to_list(), of)


def _encoded(cells: list[Any], of: ColumnType) -> tuple[list[Any], NDArray[np.int64]]:
    """Return the values in a list, and for each row the position of its own.

    Python takes 1, 1.0 and True for one value, and times of one zone that differ for equal. Where a
    column may hold them, rows share only texts, integers and UUIDs, and single objects like None. It
    is not left to pandas, for which some texts that are no Unicode are equal to others.
    """
    keys = cells
    if of.kind == "anything" or of.kind in TEMPORAL:
        keys = [cell if type(cell) in SHARED else (id(cell),) for cell in cells]
    places: dict[Any, int] = defaultdict(itertools.count().__next__)
    codes = np.fromiter(map(places.__getitem__, keys), np.int64, len(keys))
    rows = np.empty(len(places), dtype=np.int64)
    rows[codes] = np.arange(len(codes))
    return [cells[row] for row in rows.tolist()], codes


def _persons(column: FrameColumn) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return for each row the number of its person, -1 for nobody, and the person's offset."""
    distinct, codes = _distinct(column.frame, column.type)
    numbers: dict[str, int] = {}
    persons = np.array([_number(cell, numbers) for cell in distinct] + [-1])[codes]
    offsets = np.array([offset(person) for person in numbers] + [0], dtype=np.int64)
    return persons, offsets[persons]


def _number(cell: Any, numbers: dict[str, int]) -> int:
    """Return the number of a person: of a text, an integer or a UUID; all else is nobody.

    They are told apart as they are written: pandas mixes 7 and '7' when it reads a file in pieces.
    """
    try:
        value = plain(cell)
        named = isinstance(value, str | int | UUID) and not isinstance(value, bool)
        return numbers.setdefault(str(value), len(numbers)) if named else -1
    except Exception:  # objects in a table may do anything
        return -1


def _in_few_groups(
    persons: NDArray[np.int64], parts: NDArray[np.int64], offsets: NDArray[np.int64], most: int
) -> NDArray[np.bool_]:
    """Return which rows stay so that each person is in at most that many groups."""
    order = np.argsort(_together(persons, parts))
    pair = np.cumsum(_changes(persons[order], parts[order]), dtype=np.int64) - 1
    first = np.flatnonzero(_changes(pair))
    stay = chosen(persons[order][first], offsets[order][first], most)
    kept = np.empty(len(persons), dtype=np.bool_)
    kept[order] = stay[pair]
    return kept


def _together(*columns: NDArray[np.int64]) -> NDArray[Any]:
    """Return a number for each row, in the order of the columns: sorting it is faster than sorting them."""
    sizes = [int(column.max(initial=0)) + 1 for column in columns]
    whole = columns[0].astype(np.int64 if math.prod(sizes) < 2**63 else object)
    for column, size in zip(columns[1:], sizes[1:], strict=True):
        whole = whole * size + column
    return whole


def _changes(*columns: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return where some column differs from the row before; the first row does."""
    n = len(columns[0])
    new = np.ones(n, dtype=np.bool_)
    if n:
        new[1:] = np.any([column[1:] != column[:-1] for column in columns], axis=0)
    return new


def _present(frame: Any) -> NDArray[np.bool_]:
    """Return which cells are neither null nor NaN."""
    series = frame.get_column(CELL)
    missing = series.is_null()
    if series.dtype.is_float():
        missing = missing | series.is_nan().fill_null(value=True)
    return ~np.asarray(missing.to_numpy(), dtype=np.bool_)


def _numbers(column: FrameColumn, wanted: NDArray[np.bool_]) -> tuple[Any, NDArray[np.bool_]]:
    """Return the numbers in the rows that are wanted, and which of these rows have one."""
    from .numeric import exact, from_list, numbers

    if column.type.name == "object":
        cells = [exact(cell) for cell in objects(column.frame)]
        kept = wanted & np.array([cell is not None for cell in cells], dtype=np.bool_)
        return from_list([cells[row] for row in np.flatnonzero(kept).tolist()]), kept
    kept = wanted & _present(column.frame)
    series = column.frame.get_column(CELL)[np.flatnonzero(kept)]
    values = numbers(series.to_list() if series.dtype.is_decimal() else series.to_numpy())
    if len(values) != kept.sum():
        raise ValueError  # it would be aligned with the wrong persons
    return values, kept
