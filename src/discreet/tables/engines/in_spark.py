"""Tables in Spark, classic and Connect: only counts come to the driver.

Constants go to the executors as one broadcast table of the column's own type, so the driver's memory depends on
them only, and no row of the data ever leaves the cluster.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from ..conditions.conditions import ConstantKind
from ..values.ids import SALT
from ..values.key_values import FIRST_INSTANT, LAST_INSTANT, MOST_KEY_BYTES, NO_VALUE, KeyColumn
from ..values.kinds import CELL, ColumnType, column_type
from ..values.numeric import DAY, FIRST, LAST, StandIn
from .engine_errors import needing
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
from .records import PART, PERSON, START, is_of_unit

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


BUCKET, BUCKETS, ROW = "bucket", 2**12, "row"


def _is_utf8(text: str) -> str:
    """Return the expression of whether a text is Unicode; Spark keeps any bytes."""
    return f"(encode({text}, 'utf-8') = CAST({text} AS BINARY))"


_ANSWERABLE = {
    "text": _is_utf8(f"CAST({CELL} AS STRING)"),
    "date": f"(year({CELL}) BETWEEN 1 AND 9999)",
    "timestamp": f"(year({CELL}) BETWEEN 1 AND 9999)",
}
"""Whether Python holds the value of CELL, for the kinds where it may not."""


@dataclass(frozen=True)
class InSpark(FrameEngine):
    """A DataFrame of the columns of a question: see `Native`."""

    frame: "DataFrame"

    def type(self, alias: str, column: str) -> ColumnType:
        """Return the type of a column."""
        import narwhals.stable.v2 as nw

        if alias in self.types:
            return self.types[alias]
        word = dict(self.frame.dtypes)[alias]
        if word == "void":
            return ColumnType(column, "nothing", word)
        return column_type(column, nw.from_native(self.frame).collect_schema()[alias], word)

    def numeric(self, stand_in: StandIn | None = None) -> "InSpark":
        """Return this, for columns of Spark hold numbers or not; or integers for times or truths."""
        if stand_in is None:
            return self
        truths = f"CAST({CELL} AS BIGINT)"
        cells = truths if stand_in == "truth" else _times(CELL, self.type(CELL, CELL).kind)
        others = [name for name in self.frame.columns if name != CELL]
        return replace(self, frame=self.frame.selectExpr(*others, f"{cells} AS {CELL}"))

    def rows(self) -> Frame:
        """Return the columns as they are compared."""
        parts = [name for name in self.frame.columns if is_of_unit(name) and name != PERSON]
        columns = [
            comparable(self.frame[name], self.type(name, name)).alias(name)
            for name in self.frame.columns
            if name not in parts
        ]
        if parts:
            ids = [_id_bytes(self.frame[name], self.type(name, name)) for name in parts]
            columns.append(_together(ids).alias(PERSON))
        return lazy(self.frame.select(*columns))

    def search_regions(self, *_: object) -> None:
        """Return None: a choice compares a cell with the edges that decide it."""

    def with_cells(self, alias: str, parts: Mapping[str, ColumnType], of: ColumnType) -> "InSpark":
        """Return the same with the texts of some columns in place of them, put together."""
        functions = needing("pyspark.sql.functions", "spark")
        texts = {name: _id_bytes(self.frame[name], part) for name, part in parts.items()}
        words = [
            functions.when(self.frame[null_name(name)], functions.lit(NO_VALUE.encode())).otherwise(
                _together([text])
            )
            if parts[name].has_null
            else _together([text])
            for name, text in texts.items()
        ]
        cells = functions.concat(*words) if of.parts else next(iter(texts.values()))
        together, names = cells.cast("string").alias(alias), names_of_parts(parts)
        others = [self.frame[name] for name in self.frame.columns if name not in names]
        return replace(
            self, frame=self.frame.select(*others, together), types={**self.types, alias: of}
        )

    def readable(self, kinds: Mapping[str, ConstantKind | None]) -> Frame:
        """Return the columns, some of them as constants of a kind are compared with them."""
        columns = [
            f"{_comparable_cell(alias, self.type(alias, alias), kinds[alias])} AS {alias}"
            if alias in kinds
            else alias
            for alias in self.frame.columns
        ]
        return lazy(self.frame.selectExpr(*columns))

    def join_positions(
        self, rows: Frame, alias: str, of: ColumnType, places: Mapping[object, int]
    ) -> Frame:
        """Return the rows with one of those values in `alias`, and its POSITION besides."""
        few = self._constants(alias, of, places)
        return rows.join(lazy(few), on=alias, how="inner")

    def _constants(self, alias: str, of: ColumnType, places: Mapping[object, int]) -> "DataFrame":
        """Return values as they are compared, and their places as POSITION, for every executor."""
        functions = needing("pyspark.sql.functions", "spark")
        # One literal holds them all, as text: Spark reads it exactly, while it would find a type of its
        # own for Python's values.
        texts = functions.lit(json.dumps([_literal(value) for value in places]))
        array = functions.from_json(texts, "array<string>")
        positions = functions.from_json(
            functions.lit(json.dumps([*places.values()])), "array<bigint>"
        )
        table = self.frame.sparkSession.range(1).select(
            functions.posexplode(array).alias("nth", alias)
        )
        cells = (
            table[alias]
            if of.kind == "text"
            else table[alias].cast(dict(self.frame.dtypes).get(alias, "bigint"))
        )
        place = functions.element_at(positions, table["nth"] + 1).alias(POSITION)
        few: DataFrame = functions.broadcast(
            table.select(comparable(cells, of).alias(alias), place)
        )
        return few

    def few_groups(
        self,
        rows: Frame,
        of: ColumnType,
        places: Mapping[object, int],
        unit: ColumnType,
        most: tuple[int, int | None],
    ) -> Frame:
        """Return the groups and positions that stay, by aggregates: no row is sorted or joined with others.

        A unit's groups and positions come to one place, of which there are at most as many as groups times values.
        """
        functions = needing("pyspark.sql.functions", "spark")
        native = rows.to_native().join(self._constants(CELL, of, places), on=CELL, how="left")
        # A group without any of the values has an empty set, and counts among the groups of its unit.
        groups = native.groupBy(PERSON, PART).agg(functions.collect_set(POSITION).alias(CELL))
        together = functions.collect_list(functions.struct(PART, CELL))
        units = groups.groupBy(PERSON).agg(functions.sort_array(together).alias(UNIT))
        start = self._start_of_rule(units[PERSON], unit).alias(START)
        most_groups, most_values = most
        few = units.select(start, UNIT).selectExpr(
            START, f"explode({_stay_in(UNIT, most_groups)}) AS {UNIT}"
        )
        cells = f"{UNIT}.{CELL}"
        values = cells if most_values is None else _stay_in(f"sort_array({cells})", most_values)
        return lazy(few.selectExpr(f"{UNIT}.{PART} AS {PART}", f"explode({values}) AS {POSITION}"))

    def units(self, rows: Frame, of: ColumnType) -> Frame:
        """Return the privacy units, identified by their ids: Spark might number them differently a second time."""
        functions = needing("pyspark.sql.functions", "spark")
        once = rows.to_native().groupBy(PERSON).agg(functions.count("*").alias(SIZE))
        start = self._start_of_rule(once[PERSON], of).alias(START)
        return lazy(once.select(PERSON, once[PERSON].alias(UNIT), start, SIZE))

    def _start_of_rule(self, person: "Column", of: ColumnType) -> "Column":
        """Return where the rule for the rows of a unit starts: see `ids.start_of_rule`."""
        functions = needing("pyspark.sql.functions", "spark")
        text = person if of.kind == "text" else _id_bytes(person, of)
        digests = functions.sha2(functions.concat(functions.lit(SALT.encode()), text), 256)
        start: Column = functions.conv(functions.substring(digests, 1, 8), 16, 10).cast("bigint")
        return start

    def keep(self, rows: Frame, *, shared: bool = False) -> Frame:
        """Return the rows from a local checkpoint: should it be lost, Spark fails rather than compute anew."""
        return lazy(rows.to_native().localCheckpoint())

    def values(self, of: ColumnType) -> list[object]:
        """Return the distinct values of CELL."""
        cells: list[object] = self.frame.select(CELL).distinct().toArrow().column(0).to_pylist()
        return cells

    def in_order(self, rows: Frame) -> Frame:
        """Return CELL with its rank as POSITION, in the order of buckets by a hash, and of the values in a bucket.

        So no executor sorts all of them, and the driver knows the sizes of the buckets only.
        """
        functions = needing("pyspark.sql.functions", "spark")
        native = rows.to_native()
        digits = functions.substring(
            functions.md5(native[CELL].cast("string").cast("binary")), 1, 3
        )
        bucket = functions.coalesce(functions.conv(digits, 16, 10).cast("int"), functions.lit(0))
        with_buckets = native.withColumn(BUCKET, bucket).localCheckpoint()
        sizes = dict(with_buckets.groupBy(BUCKET).count().collect())
        before = json.dumps([*accumulate((sizes.get(b, 0) for b in range(BUCKETS)), initial=0)])
        start = f"from_json('{before}', 'array<bigint>')[{BUCKET}]"
        inside = f"dense_rank() OVER (PARTITION BY {BUCKET} ORDER BY {CELL}) - 1"
        return lazy(with_buckets.selectExpr(CELL, f"{start} + {inside} AS {POSITION}"))

    def unanswerable(self, rows: Frame, of: ColumnType) -> Frame:
        """Return the rows with a text, a date or a time that Python cannot hold."""
        return lazy(rows.to_native().filter(f"NOT {_ANSWERABLE.get(of.kind, 'true')}"))

    def fingerprint(self, rows: Frame, of: ColumnType) -> str:
        """Return a digest of CELL that does not depend on the order of rows."""
        cell = f"CAST({CELL} AS BIGINT)" if of.kind == "integer" else CELL
        digests = rows.to_native().selectExpr(
            f"bit_xor(xxhash64({cell})) AS long", f"bit_xor(hash({cell})) AS short"
        )
        [[long, short]] = digests.collect()
        return f"{long} {short}"

    def cells(self, rows: Frame) -> list[tuple[Any, ...]]:
        """Return the rows with their values."""
        return [tuple(row) for row in rows.to_native().collect()]

    def seen_by(self, data: Native, rows: Frame) -> "Frame | None":
        """Return the rows; None if the data are not in Spark."""
        return rows if isinstance(data, InSpark) else None

    def with_keys(self, alias: str, of: ColumnType) -> "tuple[InSpark, KeyColumn]":
        """Return the same with a key or null in a column."""
        text = f"CAST({alias} AS STRING)"
        cell, is_key = {
            "text": (text, f"octet_length({text}) <= {MOST_KEY_BYTES} AND {_is_utf8(text)}"),
            "date": (alias, f"year({alias}) BETWEEN 1 AND 9999"),
            "timestamp": (alias, f"year({alias}) BETWEEN 1 AND 9999"),
            "timestamp with time zone": (
                f"unix_micros({alias})",
                f"unix_micros({alias}) BETWEEN {FIRST_INSTANT}L AND {LAST_INSTANT}L",
            ),
        }.get(of.kind, (alias, "true"))
        others = [name for name in self.frame.columns if name != alias]
        expression = f"CASE WHEN {is_key} THEN {cell} END AS {alias}"
        return replace(self, frame=self.frame.selectExpr(*others, expression)), KeyColumn(of)

    def with_places(self, rows: Frame, block: str) -> Frame:
        """Return the rows from a local checkpoint with their places in their block.

        In a block rows come by the part of the table that an executor has, and in a part in its order. So no
        executor sorts a whole block, and the driver knows the sizes of blocks in parts only.
        """
        functions = needing("pyspark.sql.functions", "spark")
        number = functions.monotonically_increasing_id()
        native = rows.to_native().withColumn(ROW, number).localCheckpoint()
        by_part = native.selectExpr("*", f"shiftright({ROW}, 33) AS {BUCKET}")
        sizes = by_part.groupBy(block, BUCKET).count()
        before = (
            f"coalesce(sum(count) OVER (PARTITION BY {block} ORDER BY {BUCKET}"
            " ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0)"
        )
        starts = sizes.selectExpr(block, BUCKET, f"{before} AS {START}").localCheckpoint()
        inside = f"row_number() OVER (PARTITION BY {block}, {BUCKET} ORDER BY {ROW}) - 1"
        places = by_part.join(functions.broadcast(starts), [block, BUCKET]).selectExpr(
            *rows.columns, f"{START} + {inside} AS {POSITION}"
        )
        return lazy(places)


def spark_columns(native: "DataFrame", columns: dict[str, int]) -> "DataFrame":
    """Return columns of a Spark DataFrame under other names: a mapping from those to positions."""
    # By position: a name may hold what Spark takes for its own syntax.
    by_position = native.toDF(*(f"c{i}" for i in range(len(native.columns))))
    return by_position.select(*(by_position[f"c{i}"].alias(alias) for alias, i in columns.items()))


def _stay_in(array: str, most: int) -> str:
    """Return the expression of those that stay of an array in order, at most so many: see `expressions._stay`."""
    stays = f"(CAST(rank AS BIGINT) * {most} + {START}) % size({array}) < {most}"
    return f"filter({array}, (one, rank) -> {stays})"


def _comparable_cell(cell: str, of: ColumnType, kind: ConstantKind | None) -> str:
    """Return the expression of a cell as constants of a kind are compared with it, null where it is NaN."""
    if kind == "text" and of.kind == "text":
        return f"CAST(CAST({cell} AS STRING) AS BINARY)"
    if kind in ("time", "instant") and of.kind != "nothing":
        return _times(cell, of.kind)
    return f"CASE WHEN NOT isnan({cell}) THEN {cell} END" if of.kind == "float" else cell


def _times(cell: str, kind: str) -> str:
    """Return the expression of the integers that stand for the times of a column of that kind.

    The clock of a time without a zone is taken apart: the session's zone, through which Spark would cast it,
    has hours that are not there.
    """
    native = {"date": "DATE", "timestamp": "TIMESTAMP_NTZ"}.get(kind, "TIMESTAMP")
    first, last = (
        f"CAST('{end[:10] if kind == 'date' else end}{'Z' * (native == 'TIMESTAMP')}' AS {native})"
        for end in (FIRST, LAST)
    )
    inside = f"(CASE WHEN {cell} < {first} THEN {first} WHEN {cell} > {last} THEN {last} ELSE {cell} END)"
    clock = (
        f" + hour({inside}) * 3600000000L + minute({inside}) * 60000000L"
        f" + CAST(extract(SECOND FROM {inside}) * 1000000 AS BIGINT)"
    )
    days = f"CAST(unix_date(CAST({inside} AS DATE)) AS BIGINT) * {DAY}L"
    return {"date": days, "timestamp": days + clock}.get(kind, f"unix_micros({inside})")


def comparable(column: "Column", of: ColumnType) -> "Column":
    """Return the column as it is compared: text as bytes, lest a collation make words equal."""
    return column.cast("string").cast("binary") if of.kind == "text" else column


def _id_bytes(column: "Column", of: ColumnType) -> "Column":
    """Return the text of an id in bytes; Spark writes small decimals with an exponent, as 1.5E-9."""
    functions = needing("pyspark.sql.functions", "spark")
    text = column.cast("string")
    if of.kind != "decimal" or not of.scale:
        return text.cast("binary")
    sign, digits = (functions.regexp_extract(text, p, 1) for p in ("^(-?)", "^-?([0-9.]+)E"))
    power = functions.concat(functions.lit("0"), functions.regexp_extract(text, "E-([0-9]+)$", 1))
    small = functions.concat(
        sign,
        functions.lit("0."),
        functions.lit("0" * of.scale).substr(functions.lit(1), power.cast("int") - 1),
        functions.regexp_replace(digits, "[.]", ""),
    )
    plain = functions.when(text.contains("E"), small).otherwise(text)
    shortest: Column = functions.regexp_replace(plain, "[.]?0*$", "")
    return shortest.cast("binary")


def _together(ids: "Sequence[Column]") -> "Column":
    """Return one column of the ids of several, all after their lengths in bytes: see `ids.unit_bytes`."""
    functions = needing("pyspark.sql.functions", "spark")
    lengths = (functions.octet_length(one).cast("string") for one in ids)
    prefixes = (functions.concat(length, functions.lit(":")).cast("binary") for length in lengths)
    pairs = (each for pair in zip(prefixes, ids, strict=True) for each in pair)
    together: Column = functions.concat(*pairs)
    return together


def _literal(value: object) -> str:
    """Return the value in the text that Spark casts to it."""
    return repr(value) if isinstance(value, float) else str(value)
