"""Tables in Polars, eager and lazy. It needs no other package, but for the hash, which Python computes."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ...sampling.vectors import ExactArray
from ..conditions.conditions import ConstantKind
from ..values.ids import start_of_rule
from ..values.key_values import MOST_KEY_BYTES, NO_VALUE, KeyColumn
from ..values.kinds import CELL, UNITS_PER_SECOND, ColumnType, column_type
from ..values.numeric import DAY, FIRST_DAY, LAST_DAY, StandIn, clean, from_series
from .native import (
    POSITION,
    SIZE,
    UNIT,
    Frame,
    FrameEngine,
    Native,
    lazy,
    names_of_parts,
    null_name,
)
from .records import PERSON, START, check_numbers, is_of_unit

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class InPolars(FrameEngine):
    """A lazy frame of the columns of a question: see `Native`."""

    frame: "pl.LazyFrame"

    def type(self, alias: str, column: str) -> ColumnType:
        """Return the type of a column."""
        import narwhals.stable.v2 as nw

        if alias in self.types:
            return self.types[alias]
        dtype = nw.from_native(self.frame).collect_schema()[alias]
        word = str(self.frame.collect_schema()[alias])
        if word == "Null":
            return ColumnType(column, "nothing", word)
        of = column_type(column, dtype, word)
        return (
            replace(of, enum_categories=tuple(dtype.categories), has_order=True)
            if isinstance(dtype, nw.Enum)
            else of
        )

    def numeric(self, stand_in: StandIn | None = None) -> "InPolars":
        """Return this, for columns of Polars hold numbers or not; or integers for times or truths."""
        import polars as pl

        if stand_in is None:
            return self
        truths = pl.col(CELL).cast(pl.Int64)
        cells = truths if stand_in == "truth" else _times(CELL, self.type(CELL, CELL))
        return replace(self, frame=self.frame.with_columns(cells))

    def rows(self) -> Frame:
        """Return the columns as they are compared."""
        import narwhals.stable.v2 as nw
        import polars as pl

        kinds = {name: self.type(name, name).kind for name in self.frame.collect_schema()}
        texts = [pl.col(n).cast(pl.String).cast(pl.Binary) for n in kinds if kinds[n] == "text"]
        zeros = [pl.col(n) + 0 for n in kinds if kinds[n] == "float"]  # there are two, as bits
        parts = {n: self.type(n, n) for n in kinds if is_of_unit(n) and n != PERSON}
        of_unit = _cell_text(parts, alone=len(parts) == 1) if parts else None
        together = [] if of_unit is None else [of_unit.cast(pl.Binary).alias(PERSON)]
        frame = self.frame.with_columns(texts + zeros + together)
        return nw.from_native(frame.drop(*parts))

    def search_regions(
        self,
        rows: Frame,
        alias: str,
        name: str,
        edges: Sequence[object],
        texts: Sequence[str | None],
    ) -> Frame:
        """Return the rows with the text of the region of a cell, by a search: a choice computes every branch."""
        import polars as pl

        frame, cell = rows.to_native(), pl.col(alias)
        bounds = pl.lit(pl.Series(edges, dtype=frame.collect_schema()[alias]))
        regions = pl.lit(pl.Series(texts, dtype=pl.String))
        text = regions.gather(bounds.search_sorted(cell, side="right"))
        return lazy(frame.with_columns(pl.when(cell.is_not_null()).then(text).alias(name)))

    def with_cells(self, alias: str, parts: Mapping[str, ColumnType], of: ColumnType) -> "InPolars":
        """Return the same with the texts of some columns in place of them, put together."""
        together = _cell_text(parts, alone=not of.parts)
        frame = self.frame.with_columns(together.alias(alias)).drop(*names_of_parts(parts))
        return replace(self, frame=frame, types={**self.types, alias: of})

    def readable(self, kinds: Mapping[str, ConstantKind | None]) -> Frame:
        """Return the columns, some of them as constants of a kind are compared with them."""
        cells = [
            _comparable_cell(alias, self.type(alias, alias), kind) for alias, kind in kinds.items()
        ]
        return lazy(self.frame.with_columns(cells))

    def join_positions(
        self, rows: Frame, alias: str, of: ColumnType, places: Mapping[object, int]
    ) -> Frame:
        """Return the rows with one of those values in `alias`, and its POSITION besides."""
        import polars as pl

        dtype, values = self.frame.collect_schema().get(alias, pl.Int64()), list(places)
        if of.kind == "text":
            dtype, values = pl.Binary(), [str(value).encode() for value in values]
        columns = {
            alias: pl.Series(values, dtype=dtype),
            POSITION: pl.Series(list(places.values()), dtype=pl.Int64),
        }
        return rows.join(lazy(pl.LazyFrame(columns)), on=alias, how="inner")

    def units(self, rows: Frame, of: ColumnType) -> Frame:
        """Return the privacy units, hashed one by one."""
        import polars as pl

        starts = pl.col(PERSON).map_batches(_starts, return_dtype=pl.Int64).alias(START)
        once = rows.to_native().group_by(PERSON).agg(pl.len().cast(pl.Int64).alias(SIZE))
        return lazy(once.with_columns(starts).with_row_index(UNIT))

    def keep(self, rows: Frame, *, shared: bool = False) -> Frame:
        """Return the rows in memory."""
        return lazy(rows.collect().lazy().to_native())

    def values(self, of: ColumnType) -> list[object]:
        """Return the distinct values of CELL."""
        cells: list[object] = self.frame.collect().get_column(CELL).unique().to_list()
        return cells

    def in_order(self, rows: Frame) -> Frame:
        """Return CELL with its rank as POSITION, in the order of the values."""
        import narwhals.stable.v2 as nw

        rank = nw.col(CELL).rank("dense").cast(nw.Int64) - 1
        return rows.with_columns(rank.alias(POSITION))

    def unanswerable(self, rows: Frame, of: ColumnType) -> Frame:
        """Return the rows with a date or a time that Python cannot hold."""
        import polars as pl

        answerable, cell = pl.lit(True), pl.col(CELL)
        if of.kind in ("date", "timestamp"):
            answerable = cell.dt.year().is_between(1, 9999)
        if of.unit == "ns":
            answerable &= cell.to_physical() % 1000 == 0
        return lazy(rows.to_native().filter(~answerable))

    def fingerprint(self, rows: Frame, of: ColumnType) -> str:
        """Return a digest of CELL: of the texts of its values in their order, all after their lengths."""
        digest = hashlib.sha256()
        cells = rows.sort(POSITION).collect().get_column(CELL)
        for cell in cells:
            text = cell if isinstance(cell, bytes) else str(cell).encode()
            digest.update(b"%d:%b" % (len(text), text))
        return digest.hexdigest()

    def cells(self, rows: Frame) -> list[tuple[Any, ...]]:
        """Return the rows with their values."""
        cells: list[tuple[Any, ...]] = rows.collect().to_native().rows()
        return cells

    def seen_by(self, data: Native, rows: Frame) -> "Frame | None":
        """Return the rows; None if the data are not in Polars."""
        return rows if isinstance(data, InPolars) else None

    def with_keys(self, alias: str, of: ColumnType) -> "tuple[InPolars, KeyColumn]":
        """Return the same with a key or null in a column."""
        import polars as pl

        cell, is_key = _key_cell(pl.col(alias), of)
        frame = self.frame.with_columns(pl.when(is_key).then(cell).alias(alias))
        return replace(self, frame=frame), KeyColumn(of)

    def with_places(self, rows: Frame, block: str) -> Frame:
        """Return the rows in memory with their places in their block."""
        import polars as pl

        places = pl.int_range(pl.len(), dtype=pl.Int64).over(block).alias(POSITION)
        return lazy(self.keep(rows).to_native().with_columns(places).collect().lazy())


def numbers_of(native: InPolars, column: str) -> ExactArray:
    """Return the numbers in CELL as one array."""
    import narwhals.stable.v2 as nw

    check_numbers(native.type(CELL, column))
    cells = native.frame.collect().get_column(CELL).drop_nulls()
    return clean(from_series(nw.from_native(cells, series_only=True)))


def _key_cell(cell: "pl.Expr", of: ColumnType) -> "tuple[pl.Expr, pl.Expr]":
    """Return a cell as a key, and whether it is one."""
    import polars as pl

    if of.kind == "text":
        text = cell.cast(pl.String)
        return text, text.str.len_bytes() <= MOST_KEY_BYTES
    if of.kind == "date":
        return cell, cell.dt.year().is_between(1, 9999)
    if not of.kind.startswith("timestamp"):
        return cell, pl.lit(True)
    units, per_second = cell.to_physical(), UNITS_PER_SECOND[of.unit]
    first, last = FIRST_DAY * 86_400 * per_second, (LAST_DAY + 1) * 86_400 * per_second - 1
    inside = pl.lit(True) if of.unit == "ns" else units.is_between(first, last)
    finest = units % 1000 == 0 if of.unit == "ns" else pl.lit(True)
    micros = units // 1000 if of.unit == "ns" else units * (10**6 // per_second)
    clock = micros if of.kind != "timestamp" else micros.cast(pl.Datetime("us"))
    return clock, inside & finest


def _comparable_cell(alias: str, of: ColumnType, kind: ConstantKind | None) -> "pl.Expr":
    """Return a cell as constants of a kind are compared with it, null where it is NaN."""
    import polars as pl

    if kind == "text" and of.kind == "text":
        return pl.col(alias).cast(pl.String).cast(pl.Binary)
    if kind in ("time", "instant") and of.kind != "nothing":
        return _times(alias, of)
    return pl.col(alias).fill_nan(None) if of.kind == "float" else pl.col(alias)


def _times(alias: str, of: ColumnType) -> "pl.Expr":
    """Return the integers that stand for the times of a column."""
    import polars as pl

    cells = pl.col(alias).to_physical().cast(pl.Int64)
    if of.unit != "ns":
        per = 1 if of.kind == "date" else UNITS_PER_SECOND[of.unit] * 86_400
        first, last = FIRST_DAY * per, (LAST_DAY + 1) * per - 1
        cells = cells.clip(first, last) * (DAY // per)
    return cells.alias(alias)


def _cell_text(parts: Mapping[str, ColumnType], *, alone: bool) -> "pl.Expr":
    """Return the texts of columns, all after their lengths in bytes; or of one its text alone."""
    import polars as pl

    texts = {name: _id_text(name, of.kind) for name, of in parts.items()}
    if alone:
        return next(iter(texts.values()))
    words = {
        name: pl.concat_str(text.str.len_bytes(), pl.lit(":"), text) for name, text in texts.items()
    }
    or_none = {
        name: pl.when(pl.col(null_name(name))).then(pl.lit(NO_VALUE)).otherwise(words[name])
        for name, of in parts.items()
        if of.has_null
    }
    return pl.concat_str([*{**words, **or_none}.values()])


def _id_text(name: str, kind: str) -> "pl.Expr":
    """Return the text of an id."""
    import polars as pl

    text = pl.col(name).cast(pl.String)
    if kind != "decimal":
        return text
    shortest = text.str.strip_chars_end("0").str.strip_chars_end(".")
    return pl.when(text.str.contains(".", literal=True)).then(shortest).otherwise(text)


def _starts(persons: "pl.Series") -> "pl.Series":
    """Return the starts of the rule for ids."""
    import polars as pl

    starts = [None if person is None else start_of_rule(person) for person in persons.to_list()]
    return pl.Series(starts, dtype=pl.Int64)
