"""Opens tables of all kinds in one of the engines of `ENGINES`. Only the schema is looked at.

DuckDB reads files, relations, and columns in memory as Arrow or as arrays. Polars counts its own frames, Spark its
own tables, and PostgreSQL the rows of queries. A new engine is a class like theirs (see `native`) and a line in
`ENGINES`.
"""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import DiscreetError, InvalidArgument, UnreadableData
from ...privacy.sensitivity import columns_of_unit
from ...selection.any_column import AnyColumn
from ...selection.bins import Bins, CellColumns, CellLabels, column_words
from ..conditions.conditions import Condition
from ..formats.file_paths import names_files
from ..formats.text_form import CellUse
from ..values.kinds import CELL, ONLY
from .cell_columns import with_cells
from .engine_errors import missing_column, needing, quietly
from .expressions import OpenedTable
from .files import uses_of
from .filters import condition_columns, matching
from .kept_columns import KeptColumns
from .memory import (
    MemoryColumn,
    Objects,
    arrow_column,
    cells_in_memory,
    column_numbers,
    matching_cells,
    series_of_pandas,
    typed_array,
)
from .native import Native
from .records import PART, Records, column_aliases, unit_aliases
from .server_session import ServerRows
from .sql_queries import SqlQuery

if TYPE_CHECKING:
    from .in_polars import InPolars

ACCEPTED = (
    "the path of a CSV, JSON lines, Parquet or Arrow file, a list of paths, or a folder; a pandas, Polars, "
    "PyArrow, DuckDB, Dask or Spark table, or what exports Arrow streams; a list of dicts, a dict of lists or "
    "a record array of numpy; or discreet.scan_query(query, connection)"
)

_GROUPED = "give the table itself, and the column of groups as by=, with the groups that answer: groups=[...]"

_ADVICE = {
    **dict.fromkeys(("DataFrameGroupBy", "SeriesGroupBy", "GroupBy", "LazyGroupBy"), _GROUPED),
    "RecordBatchReader": "it can be read once only, so give data.read_all()",
    "Scanner": "give data.to_table()",
    "DuckDBPyConnection": "give discreet.scan_query('SELECT ...', data)",
    "Engine": "give discreet.scan_query('SELECT ...', data)",
    "Connection": "give discreet.scan_query('SELECT ...', data)",
    "Select": "give discreet.scan_query(str(data), engine)",
    "list": "paths in it must end as files do, or be of pathlib. For values give a dict, {column: "
    "values}",
}
"""What converts what is refused, by the name of its class."""

Columns = dict[str, str]
"""The names of columns, by what they are called once they are open. Empty: the data are the only column."""


def open_table(
    data: object,
    column: AnyColumn,
    records: Records | None = None,
    candidates: Sequence[object] = (),
) -> OpenedTable:
    """Return the columns of a question about a table.

    Args:
        data: the table.
        column: the column that is counted; None for data of one dimension.
        records: the privacy unit, the contribution bounds and the groups.
        candidates: the values that are counted. Of a file with a form for numbers or dates they say what is read.

    Raises:
        MissingColumn: There is no such column.
        UnreadableFile: The file is missing or not of the format of its name.
        UnreadableData: The data is no table.
    """
    records = Records() if records is None else records
    unit = dict(zip(unit_aliases(records.unit), columns_of_unit(records.unit), strict=True))
    names = {CELL: column, **unit, PART: records.by}
    columns = column_aliases(names)
    if column is None and columns:
        raise InvalidArgument("privacy units, groups and where need a table: name its column")
    labels = {CELL: candidates, PART: records.public_groups}
    cells = {
        alias: name.for_labels(labels.get(alias, ()))
        for alias, name in names.items()
        if isinstance(name, CellColumns)
    }
    uses: dict[str, CellUse] = {}
    for alias, constants in labels.items():
        if len(constants) or alias in cells:
            uses |= cell_uses(data, names[alias], constants, alias)
    native, failure = open_native(data, columns, records.where, uses, cells)
    shown = {alias: column_words(name) for alias, name in names.items() if name is not None}
    return OpenedTable(native, {CELL: ONLY, **shown}, records, failure)


def cell_uses(
    table: object, column: Any, labels: Sequence[object], alias: str = CELL
) -> dict[str, CellUse]:
    """Return the uses of a column of files by its aliases, as it is compared with labels or put in bins."""
    if not isinstance(column, CellColumns):
        return uses_of(table, {alias: labels})
    parts = labels.parts if isinstance(labels, CellLabels) else [()] * len(column.parts)
    edges_or_labels = {
        f"{alias}{place}": part.edges if isinstance(part, Bins) else parts[place]
        for place, part in enumerate(column.parts)
    }
    return uses_of(table, edges_or_labels)


def open_native(
    data: Any,
    columns: Columns,
    condition: Condition | None = None,
    uses: Mapping[str, CellUse] | None = None,
    cells: Mapping[str, CellColumns] = MappingProxyType({}),
) -> tuple[Native, DiscreetError]:
    """Return the columns of rows of which a condition is true, and the error to raise when their engine fails.

    Columns of `cells` are put together after that.
    """
    if names_files(data, column=bool(columns)):
        from .files import open_columns

        if not columns:
            raise InvalidArgument("a file needs the name of a column: give it after the file")
        return open_columns(data, columns, condition, uses, cells)
    if isinstance(data, KeptColumns):
        return data.open(columns), data.failure
    data = unwrap_table(data)
    failure = failure_of(data)
    tests = {} if condition is None else condition_columns(condition)
    if isinstance(data, ServerRows):
        data = quietly(_of_server, failure, data, {**columns, **tests})
    opener = ENGINES.get(_package(data))
    if opener is None:
        some = memory_columns(data, {**columns, **tests})
        if condition is not None:
            some = quietly(matching_cells, failure, some, condition, tests, columns)
        return quietly(cells_in_memory, failure, some, cells), failure
    native = quietly(opener, failure, data, {**columns, **tests})
    if condition is not None:
        native = native.with_rows(quietly(matching, failure, native, condition, tests, columns))
    return (quietly(with_cells, failure, native, cells) if cells else native), failure


def failure_of(data: object) -> UnreadableData:
    """Return the error for an engine that fails on the data."""
    open_still = (
        ". Is its connection still open, and can what it reads be read again, as a reader of batches cannot?"
        if _package(data) == "duckdb"
        else ""
    )
    return UnreadableData(
        f"{_package(data)} failed. Its message may quote the data, so it is not shown{open_still}"
    )


def memory_columns(data: object, columns: Columns) -> Mapping[str, MemoryColumn]:
    """Return the columns of a table in memory."""
    opener = IN_MEMORY.get(_package(data), _others)
    return quietly(opener, failure_of(data), data, columns)


def array_of(data: object, column: str) -> Any | None:
    """Return the numbers of a column in memory as one array; None for a table in an engine."""
    if names_files(data):
        return None
    package, failure, columns = _package(data), failure_of(data), {CELL: column}
    if package == "polars" and not hasattr(data, "collect"):
        from .in_polars import numbers_of

        native = quietly(_polars, failure, data, columns)
        return quietly(numbers_of, failure, native, column)
    if package in ENGINES:
        return None
    cells = memory_columns(data, columns)[CELL]
    return quietly(column_numbers, failure, cells, column)


def has_truths(table: Any, column: str) -> bool:
    """Return whether the schema of a table has a column of truths; False of tables without one, and of queries."""
    if isinstance(table, SqlQuery):
        return False
    table = unwrap_table(table)
    if names_files(table, column=True) or _package(table) in ENGINES:
        return open_table(table, column).type().kind == "boolean"
    if hasattr(table, "dtypes"):  # of pandas or Dask
        return str(table.dtypes.get(column)) in ("bool", "boolean", "bool[pyarrow]")
    schema: Any = getattr(table, "schema", None)  # of Arrow
    return column in getattr(schema, "names", ()) and str(schema.field(column).type) == "bool"


def keeps_candidates(data: object) -> bool:
    """Return whether an engine has the data, or reads them from files, so that candidates can stay there."""
    return names_files(data) or _package(data) in ("duckdb", "polars", "pyspark")


def unwrap_table(data: Any) -> Any:
    """Return the rows of a query, the native table of a Narwhals frame, and anything else as it is."""
    if isinstance(data, SqlQuery):
        return data.read_rows()
    if _ADVICE.get(type(data).__name__) == _GROUPED:
        raise no_table(data)
    if _package(data) == "narwhals":
        return data.to_native()
    if _package(data) == "deltalake" and hasattr(data, "to_pyarrow_dataset"):
        return data.to_pyarrow_dataset()
    return data


def _package(data: object) -> str:
    """Return the package that a table is of; datasets of PyArrow are read by DuckDB."""
    if isinstance(data, ServerRows):
        return "PostgreSQL"
    package: str = type(data).__module__.partition(".")[0]
    if package == "pyarrow" and type(data).__name__.endswith("Dataset"):
        return "dataset"
    return package.lstrip("_")


def no_table(data: object) -> UnreadableData:
    """Return the error for data that are no table, with the line that converts them."""
    kind = type(data)
    advice = _ADVICE.get(kind.__name__, "")
    for method in ("to_arrow", "to_pandas", "to_polars", "to_pyarrow", "collect", "compute"):
        if not advice and callable(getattr(kind, method, None)):
            advice = f"give data.{method}()"
    type_name = f"{kind.__module__.split('.')[0]}.{kind.__qualname__}"
    return UnreadableData(
        f"data must be {ACCEPTED}, got a {type_name}" + (f": {advice}" if advice else "")
    )


def _where(names: Sequence[object], columns: Columns) -> dict[str, int]:
    """Return the positions of columns."""
    headings = list(names)
    for alias, column in columns.items():
        if column not in headings:
            raise missing_column(column, headings, "the data", alias)
        if headings.count(column) > 1:
            raise UnreadableData(
                f"data must have distinct columns, but {headings.count(column)} are named "
                f"{column!r}"
            )
    return {alias: headings.index(column) for alias, column in columns.items()}


def _check_table(data: object, columns: Columns, *, has: str) -> None:
    """Raise unless the data are a table, and a column of it is named."""
    if not hasattr(type(data), has):
        raise no_table(data)
    if not columns:
        raise InvalidArgument("a table needs the name of a column: give it after the table")


def _duckdb(data: Any, columns: Columns) -> Native:
    from .in_duckdb import InDuckDB, select_columns

    _check_table(data, columns, has="project")
    return InDuckDB(select_columns(data, columns, "the data"))


def _dataset(data: Any, columns: Columns) -> Native:
    from .database import connect_memory
    from .in_duckdb import InDuckDB, select_columns

    _check_table(data, columns, has="schema")
    _where(data.schema.names, columns)
    return InDuckDB(select_columns(connect_memory().from_arrow(data), columns, "the data"))


def _polars(data: Any, columns: Columns) -> "InPolars":
    import polars as pl

    from .in_polars import InPolars

    if isinstance(data, pl.Series) and not columns:
        return InPolars(data.alias(CELL).to_frame().lazy())
    _check_table(data, columns, has="columns")
    lazy = data.lazy()
    where = _where(lazy.collect_schema().names(), columns)
    # By position: a name like "*" would mean something to the engine.
    return InPolars(lazy.select(pl.nth(i).alias(alias) for alias, i in where.items()))


def _of_server(rows: ServerRows, columns: Columns) -> object:
    """Return the rows of a query, to be counted where they are; or columns of them, as their types decide."""
    _check_table(rows, columns, has="fetch")
    _where(rows.columns, columns)
    names = [*dict.fromkeys(columns.values())]
    return rows if rows.counts(names) else rows.read(names)


def _postgresql(rows: Any, columns: Columns) -> Native:
    from .in_postgresql import InPostgreSQL

    places = _where(rows.columns, columns)
    types = {alias: rows.description[place].type for alias, place in places.items()}
    return InPostgreSQL(rows.frame(places), types, server=rows)


def _spark(data: Any, columns: Columns) -> Native:
    from .in_spark import InSpark, spark_columns

    _check_table(data, columns, has="sparkSession")
    return InSpark(spark_columns(data, _where(data.columns, columns)))


def _pandas(data: Any, columns: Columns) -> Mapping[str, MemoryColumn]:
    if not columns and not hasattr(data, "columns"):
        return {CELL: series_of_pandas(data, ONLY)}
    _check_table(data, columns, has="columns")
    where = _where(data.columns, columns)
    return {a: series_of_pandas(data.iloc[:, i], columns[a]) for a, i in where.items()}


def _dask(data: Any, columns: Columns) -> Mapping[str, MemoryColumn]:
    """Return columns of a Dask table: those of the question come here, and are counted as those of pandas."""
    _check_table(data, columns, has="columns")
    where = _where(data.columns, columns)
    return _pandas(data.iloc[:, sorted({*where.values()})].compute(), columns)


def _arrow(data: Any, columns: Columns) -> Mapping[str, MemoryColumn]:
    if hasattr(data, "type") and not columns:
        return {CELL: arrow_column(data, ONLY)}
    if type(data).__name__ in _ADVICE:
        raise no_table(data)
    _check_table(data, columns, has="schema")
    where = _where(data.schema.names, columns)
    return {alias: arrow_column(data.column(i), columns[alias]) for alias, i in where.items()}


def _others(data: object, columns: Columns) -> Mapping[str, MemoryColumn]:
    """Return columns of arrays of numpy, Python's lists and dicts, and whatever exports an Arrow stream."""
    if isinstance(data, np.ndarray):
        return _numpy(data, columns)
    if isinstance(data, Mapping) and columns:
        return _lists(data, columns)
    if isinstance(data, list | tuple):
        return _rows(data, columns)
    if not hasattr(data, "__arrow_c_stream__") or not columns:
        raise no_table(data)
    pa = needing("pyarrow", "arrow")
    reader = pa.RecordBatchReader.from_stream(data)
    positions = sorted({*_where(reader.schema.names, columns).values()})
    schema = pa.schema([reader.schema.field(i) for i in positions])
    batches = [batch.select(positions) for batch in reader]
    return _arrow(pa.Table.from_batches(batches, schema), columns)


def _numpy(data: Any, columns: Columns) -> Mapping[str, MemoryColumn]:
    if not columns:
        return {CELL: typed_array(data, ONLY)}
    if data.dtype.names is None:
        raise no_table(data)
    _where(data.dtype.names, columns)
    return {alias: typed_array(np.asarray(data[name]), name) for alias, name in columns.items()}


def _lists(data: Mapping[Any, Any], columns: Columns) -> Mapping[str, MemoryColumn]:
    _where([*data], columns)
    if len({len(data[name]) for name in columns.values()}) > 1:
        raise UnreadableData("the columns of a dict of lists must be equally long")
    columns_of = {alias: (data[name], name) for alias, name in columns.items()}
    return {
        alias: typed_array(cells, name) if isinstance(cells, np.ndarray) else Objects(list(cells))
        for alias, (cells, name) in columns_of.items()
    }


def _rows(data: Sequence[object], columns: Columns) -> Mapping[str, MemoryColumn]:
    """Return columns of a list of values, or of dicts, where absent keys are null: keys are no schema."""
    if not columns:
        return {CELL: Objects(list(data))}
    if data and not isinstance(data[0], Mapping):
        raise no_table(data)
    rows = [row if isinstance(row, Mapping) else {} for row in data]
    return {alias: Objects([row.get(name) for row in rows]) for alias, name in columns.items()}


ENGINES: dict[str, Callable[[object, Columns], Native]] = {
    "duckdb": _duckdb,
    "dataset": _dataset,
    "polars": _polars,
    "pyspark": _spark,
    "PostgreSQL": _postgresql,
}
"""What opens the tables of a package in their engine."""

IN_MEMORY: dict[str, Callable[[object, Columns], Mapping[str, MemoryColumn]]] = {
    "pandas": _pandas,
    "dask": _dask,
    "pyarrow": _arrow,
}
"""What takes columns out of the tables of a package that are in memory; DuckDB counts them."""
