"""Dataframes of any library, through Narwhals.

Engines are sent the candidates, in the column's own type, and give back one row for each. In
pandas, whose `isin` compares integers as floats as soon as one candidate is a float, values are
grouped first and compared by Python.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import UnreadableData
from ..instants import instant
from .failures import missing_column, quietly
from .kinds import CELL, ColumnType, check_candidates, column_type, key, represent
from .relations import RelationColumn, picked
from .spark import SparkColumn, spark_columns

TEMPORAL = ("date", "timestamp", "timestamp with time zone")
ACCEPTED = (
    "a pandas, Polars, PyArrow, DuckDB, Dask or Spark table, or the path of a CSV or Parquet file"
)


@dataclass(frozen=True)
class FrameColumn:
    """A column of a dataframe."""

    frame: Any
    """The Narwhals frame with this column only."""
    column: str

    @property
    def type(self) -> ColumnType:
        """The type of the column."""
        return quietly(lambda: frame_type(self.frame, self.column), broken(self.frame))

    def count(self, candidates: Sequence[object]) -> list[int]:
        """Return, for each candidate, the number of rows that equal it."""
        of = self.type
        wanted = check_candidates(candidates, of)
        if of.kind == "nothing" or not wanted:
            return [0] * len(wanted)
        rows = quietly(lambda: _weighed(self.frame, of, wanted), broken(self.frame))
        return tally(rows, wanted)

    def values(self) -> list[Any]:
        """Return the values in the column, as the engine gives them."""
        return quietly(lambda: _distinct(self.frame, self.type), broken(self.frame))

    def declared(self) -> list[str] | None:
        """Return the categories of a Polars Enum."""
        return quietly(lambda: _declared(self.frame), broken(self.frame))


def open_frame(data: object, column: str) -> FrameColumn | RelationColumn | SparkColumn:
    """Return the column of a table."""
    import narwhals.stable.v2 as nw

    frame = as_frame(data)
    [index] = indices(frame, {CELL: column}).values()
    engine, failure = frame.implementation, broken(frame)
    if engine.is_duckdb():
        only = quietly(lambda: picked(frame.to_native(), {CELL: column}, "the data"), failure)
        return RelationColumn(only, column, failure)
    if engine.is_spark_like():
        only = quietly(lambda: spark_columns(frame.to_native(), {CELL: index}), failure)
        return SparkColumn(only, column, failure)
    # By position: a name like "*" would mean something to an engine.
    only = quietly(lambda: decoded(frame.select(nw.nth(index).alias(CELL))), failure)
    return FrameColumn(only, column)


def indices(frame: Any, columns: dict[str, str]) -> dict[str, int]:
    """Return the positions of columns, under other names."""
    names = quietly(lambda: frame.collect_schema().names(), broken(frame))
    for alias, column in columns.items():
        if column not in names:
            raise missing_column(column, names, "the data", alias)
    return {alias: names.index(column) for alias, column in columns.items()}


def as_frame(data: Any) -> Any:
    """Return the table as Narwhals sees it."""
    import narwhals.stable.v2 as nw

    given = f"{type(data).__module__.split('.')[0]}.{type(data).__qualname__}"
    failure = UnreadableData(f"data must be {ACCEPTED} with distinct columns, got a {given}")
    return quietly(lambda: nw.from_native(data), failure)


def broken(frame: Any) -> UnreadableData:
    """Return the error for an engine that fails on the data."""
    engine = str(frame.implementation)
    return UnreadableData(f"{engine} failed; its message may quote the data, so it is not shown")


def decoded(frame: Any) -> Any:
    """Return the table with Arrow's dictionaries and rare types as common ones."""
    import narwhals.stable.v2 as nw

    native = frame.to_native()
    if frame.implementation.is_pandas() and type(native.dtypes.iloc[0]).__name__ == "ArrowDtype":
        import pyarrow as pa

        native = pa.Table.from_pandas(native, preserve_index=False)
        frame = nw.from_native(native)
    if frame.implementation.is_pyarrow():
        values = native.column(0)
        if hasattr(values.type, "index_type"):
            values = values.cast(values.type.value_type)
        if str(values.type) == "string_view":
            values = values.cast("string")
        frame = nw.from_native(native.set_column(0, CELL, values))
    if type(frame.collect_schema()[CELL]).__name__ == "Float16":
        frame = frame.select(nw.col(CELL).cast(nw.Float32))
    return frame


def frame_type(frame: Any, column: str) -> ColumnType:
    """Return the type of the only column of a table."""
    dtype = frame.collect_schema()[CELL]
    word = str(_native_type(frame))
    if word.lower() == "null":
        return ColumnType(column, "nothing", word)
    if in_pandas(frame) and word in ("object", "category"):
        # What Narwhals says of these depends on the rows.
        return ColumnType(column, "anything", word)
    return column_type(column, dtype, word)


def in_pandas(frame: Any) -> bool:
    """Return whether the cells are in pandas, here or in Dask's workers."""
    engine = frame.implementation
    return bool(engine.is_pandas_like() or engine.is_dask())


def holds_objects(frame: Any, index: int) -> bool:
    """Return whether a column has Python objects in pandas; what Narwhals calls it depends on the rows."""
    return in_pandas(frame) and str(frame.to_native().dtypes.iloc[index]) == "object"


def objects(frame: Any) -> Iterable[Any]:
    """Return the Python objects of the only column."""
    objects: Iterable[Any] = frame.lazy().collect().get_column(CELL).to_native()
    return objects


def _native_type(frame: Any) -> object:
    """Return the engine's own type of the only column, as far as it is needed here."""
    native = frame.to_native()
    if in_pandas(frame):
        return native.dtypes.iloc[0]
    if frame.implementation.is_pyarrow():
        return native.schema.types[0]
    if frame.implementation.is_polars():
        return next(iter(native.lazy().collect_schema().values()))
    return frame.collect_schema()[CELL]


def _weighed(frame: Any, of: ColumnType, candidates: list[Any]) -> Iterable[tuple[Any, int]]:
    """Return pairs of a value and a number of rows that have it, for the candidates at least."""
    if of.name == "object":  # may hold what cannot be grouped
        return _counted_objects(objects(frame))
    if in_pandas(frame) and of.kind not in TEMPORAL:
        return _grouped(frame)
    exact = {value for value in (represent(c, of) for c in candidates) if value is not None}
    return _grouped(filtered(frame, of, list(exact))) if exact else []


def _counted_objects(values: Iterable[Any]) -> Iterable[tuple[Any, int]]:
    """Return pairs of a Python object and a number of times it is there."""
    try:  # with the type, lest True and 1 be counted together
        counter = Counter((type(value), instant(value)) for value in values)
    except Exception:  # something cannot be hashed or compared: leave each to `tally`
        return ((value, 1) for value in values)
    return ((value, weight) for (_, value), weight in counter.items())


def _grouped(frame: Any) -> list[tuple[Any, int]]:
    """Return pairs of a value and the number of rows that have it."""
    import narwhals.stable.v2 as nw

    counted = frame.group_by(CELL).agg(nw.len().alias("rows"))
    rows: list[tuple[Any, int]] = counted.lazy().collect().rows()
    return rows


def filtered(frame: Any, of: ColumnType, values: list[Any]) -> Any:
    """Return the rows whose value is among `values`, compared in the column's own type."""
    import narwhals.stable.v2 as nw

    dtype = frame.collect_schema()[CELL]
    engine = frame.implementation
    if type(dtype).__name__ in ("Categorical", "Enum"):
        frame, dtype = frame.with_columns(nw.col(CELL).cast(nw.String)), nw.String()
    if of.kind == "float" and 0.0 in values:
        values = [*values, -0.0, 0.0]  # two values, for engines that compare bits
    if engine.is_polars():
        table = nw.from_dict({CELL: values}, {CELL: dtype}, backend="polars")
        return frame.lazy().join(table.lazy(), on=CELL, how="semi")
    if isinstance(frame, nw.DataFrame):
        return frame.filter(nw.col(CELL).is_in(nw.new_series(CELL, values, dtype, backend=engine)))
    return frame.filter(nw.col(CELL).is_in(values))


def tally(weighed: Iterable[tuple[Any, int]], candidates: Sequence[Any]) -> list[int]:
    """Return, for each candidate, the sum of the weights of the values that equal it.

    A value that cannot be hashed or compared equals no candidate.
    """
    totals = dict.fromkeys(map(key, candidates), 0)
    for value, weight in weighed:
        try:
            if key(value) in totals:
                totals[key(value)] += int(weight)
        except Exception:  # objects in a table may do anything
            continue
    return [totals[key(candidate)] for candidate in candidates]


def _distinct(frame: Any, of: ColumnType) -> list[Any]:
    """Return the values in the only column of the table, as the engine gives them."""
    if of.kind == "nothing":
        return []
    if of.name == "object":
        return list(objects(frame))
    return [row[0] for row in frame.lazy().collect().unique(CELL).rows()]


def _declared(frame: Any) -> list[str] | None:
    """Return the categories of the only column, if it is a Polars Enum."""
    dtype = frame.collect_schema()[CELL]
    enum = frame.implementation.is_polars() and type(dtype).__name__ == "Enum"
    return list(dtype.categories) if enum else None
