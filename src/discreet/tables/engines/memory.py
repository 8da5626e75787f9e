"""Tables in memory: typed columns go to DuckDB as they are, and integers stand for Python objects.

No type is ever inferred from rows. Python decides which objects are equal, once per distinct object.
"""

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from ...errors import NotCountable, UnreadableData
from ...sampling.vectors import ExactArray, types_of
from ...selection.bins import CellColumns
from ...selection.candidates import is_missing
from ..conditions.conditions import Condition, tests_of
from ..values.ids import check_unit, id_text, start_of_rule, unit_bytes
from ..values.key_values import KeyColumn, cell_text, check_keys, order_objects
from ..values.kinds import (
    CELL,
    INTEGER_TYPE,
    UNITS_PER_SECOND,
    CellKey,
    ColumnType,
    column_type,
    key,
    not_countable,
    timestamp,
)
from ..values.numeric import StandIn, clean, from_list, present_as
from .cell_columns import (
    type_of_cells,
    type_of_objects,
    with_cells,
    with_part,
    words_of_objects,
)
from .database import connect_memory
from .engine_errors import needing
from .filters import ROW, Filter, check_order, decide_objects
from .in_duckdb import InDuckDB
from .records import PERSON, START, check_numbers, is_of_unit

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation


@dataclass(frozen=True, slots=True, repr=False)
class Objects:
    """A column of Python objects. Private."""

    cells: Sequence[object]
    name: str = "object"
    of: ColumnType | None = None
    """The type of all of them, where the column says it: that of the categories of pandas."""
    has_order: bool = False
    """Whether they are ordered categories of pandas."""
    parts: tuple[ColumnType, ...] = ()
    """The types of several columns, where they are texts of cells."""


@dataclass(frozen=True, slots=True, repr=False)
class TypedArray:
    """A column with a type: an array of numpy, or of Arrow. Private."""

    array: Any
    of: ColumnType | None = None
    """The type, where DuckDB would not see it in the array."""


MemoryColumn = Objects | TypedArray


def column_numbers(cells: MemoryColumn, column: str) -> ExactArray:
    """Return the numbers in a column in memory; the type of the column must be one of numbers."""
    if isinstance(cells, Objects):
        if cells.name != "object":
            check_numbers(ColumnType(column, "anything", cells.name))
        return from_list(list(cells.cells))
    if isinstance(cells.array, np.ndarray):
        if cells.array.dtype.kind not in "iuf":
            kind = {"M": "timestamp", "b": "boolean"}.get(cells.array.dtype.kind, "other")
            check_numbers(ColumnType(column, kind, str(cells.array.dtype)))
        return clean(cells.array)
    assert cells.of is not None
    check_numbers(cells.of)
    if cells.of.kind == "decimal":
        return from_list(cells.array.to_pylist())
    return clean(cells.array.drop_null().to_numpy())


SHARED = frozenset({str, int, UUID})
OBJECTS = ("object", "category")
_PART_TEXT = "part_text"
"""The column of the texts of one column in cells."""
_LONGEST_DECIMAL = 38


def in_memory(
    columns: Mapping[str, MemoryColumn],
    present_values: "Callable[[Sequence[object]], tuple[NDArray[np.bool_], ExactArray]] | None" = None,
    connection: "DuckDBPyConnection | None" = None,
) -> InDuckDB:
    """Return columns of equal length for DuckDB to count.

    Args:
        columns: the columns, by their aliases.
        present_values: returns whether the objects in CELL count, and the numbers of those that do; then the
            integers that stand for objects are in the order of these.
        connection: that of the same columns in another form, whose tables are then seen; else a new one.
    """
    connection = connect_memory() if connection is None else connection
    arrays, types, codes = (
        dict[str, object](),
        dict[str, ColumnType](),
        dict[str, Mapping[CellKey, int]](),
    )
    code_values: ExactArray | None = None
    for alias, column in columns.items():
        if isinstance(column, TypedArray):
            arrays[alias] = column.array
            types |= {} if column.of is None else {alias: column.of}
            continue
        types[alias] = ColumnType(alias, "anything", column.name, parts=column.parts)
        if is_of_unit(alias):
            check_unit(column.of or types[alias])
        elif alias == CELL and present_values is not None:
            there, numbers = present_values(column.cells)
            (arrays[CELL], code_values), codes[CELL] = _in_order(there, numbers), {}
        else:
            arrays[alias], codes[alias] = encode_objects(column.cells)
    units = [column for alias, column in columns.items() if is_of_unit(alias)]
    if any(isinstance(column, Objects) for column in units):
        arrays[PERSON], arrays[START] = _persons([*map(_cells, units)])
        types.setdefault(PERSON, ColumnType(PERSON, "anything", "ids"))
        codes[PERSON] = {}
    projection = (f"nullif({a}, -1) AS {a}" if a in codes else a for a in arrays)
    relation = relation_of_arrays(arrays, connection).project(", ".join(projection))
    inexact = isinstance(columns.get(CELL), Objects) and present_values is None
    numeric_form = partial(_by_value, columns, connection) if inexact else None
    native = InDuckDB(relation, types, codes, numeric_form, code_values, connection=connection)
    return replace(native, key_form=partial(_in_key_order, native, columns, arrays, connection))


def matching_cells(
    columns: Mapping[str, MemoryColumn],
    condition: Condition,
    tests: Mapping[str, str],
    aliases: Iterable[str],
) -> dict[str, MemoryColumn]:
    """Return some columns of the rows of which a condition is true.

    Args:
        columns: the columns, those of the condition among them.
        condition: the condition.
        tests: the names of its columns, by their aliases here.
        aliases: the columns to return.
    """
    objects = {
        tests[alias]: column.cells
        for alias in tests
        if isinstance(column := columns[alias], Objects)
    }
    ordered = {tests[a] for a in tests if getattr(columns[a], "has_order", False)}
    for test in tests_of(condition):
        if test.column in ordered:
            check_order(test, ColumnType(test.column, "anything", "category", has_order=True))
    decisions = decide_objects(condition, objects)
    booleans = {decision: f"decision{i}" for i, decision in enumerate(decisions)}
    typed = {a: c for a in tests if isinstance(c := columns[a], TypedArray)}
    arrays: dict[str, object] = {alias: column.array for alias, column in typed.items()}
    arrays |= {booleans[decision]: truths for decision, truths in decisions.items()}
    arrays[ROW] = np.arange(_row_count(columns), dtype=np.int64)
    types = {alias: column.of for alias, column in typed.items() if column.of is not None}
    native = InDuckDB(relation_of_arrays(arrays, connect_memory()), types)
    names = {alias: tests[alias] for alias in typed}
    rows = Filter(condition, names, native, booleans).rows().select(ROW)
    [places] = native.fetch(rows, INTEGER_TYPE)
    places = np.sort(places.astype(np.int64))
    return {alias: _take(columns[alias], places) for alias in aliases}


def cells_in_memory(
    columns: Mapping[str, MemoryColumn], cells: Mapping[str, CellColumns]
) -> InDuckDB:
    """Return columns for DuckDB to count, with cells in place of their parts: see `cell_columns`.

    Where Python has objects, it puts all cells together.
    """
    if not any(isinstance(one, Objects) for alias, one in columns.items() if not is_of_unit(alias)):
        native: Any = with_cells(in_memory(columns), cells)
        return native  # type: ignore[no-any-return]
    some = dict(columns)
    for alias, several in cells.items():
        parts = {f"{alias}{place}": part for place, part in enumerate(several.parts)}
        pairs = [_words_of_part(some.pop(name), part) for name, part in parts.items()]
        of = type_of_cells(several, [of for _, of in pairs])
        texts = [cell_text(row) for row in zip(*(column for column, _ in pairs), strict=True)]
        if not of.parts:  # the bins of one column, without their lengths
            texts = [None if one is None else one.partition(":")[2] for one in texts]
        some[alias] = Objects(texts, parts=of.parts)
    return in_memory(some)


def _words_of_part(column: MemoryColumn, part: Any) -> tuple[list[str | None], ColumnType]:
    """Return the words of a column in cells by row, and its type."""
    if isinstance(column, Objects):
        distinct, codes = _distinct(column.cells)
        words = words_of_objects(distinct, part)
        return [words[code] for code in codes.tolist()], type_of_objects(part)
    arrays = {CELL: column.array, ROW: np.arange(len(column.array), dtype=np.int64)}
    types = {} if column.of is None else {CELL: column.of}
    native: Any = InDuckDB(relation_of_arrays(arrays, connect_memory()), types)
    native, name, of = with_part(native, CELL, part)
    of_word = ColumnType(_PART_TEXT, "text", "words", parts=(of,))
    native = native.with_cells(_PART_TEXT, {name: of}, of_word)
    in_order = sorted(native.cells(native.rows().select(ROW, _PART_TEXT)))
    return [None if text is None else bytes(text).decode() for _, text in in_order], of


def _row_count(columns: Mapping[str, MemoryColumn]) -> int:
    """Return how many rows there are."""
    column = next(iter(columns.values()))
    return len(column.cells if isinstance(column, Objects) else column.array)


def _take(column: MemoryColumn, places: NDArray[np.int64]) -> MemoryColumn:
    """Return a column of some rows."""
    if isinstance(column, Objects):
        return replace(column, cells=[column.cells[place] for place in places.tolist()])
    return replace(column, array=column.array.take(places))


def _by_value(
    columns: Mapping[str, MemoryColumn],
    connection: "DuckDBPyConnection",
    stand_in: StandIn | None,
) -> InDuckDB:
    """Return the columns with objects in CELL in the order of the numbers among them, of times or of truths."""
    return in_memory(columns, partial(present_as, stand_in=stand_in), connection)


def _in_key_order(
    native: InDuckDB,
    columns: Mapping[str, MemoryColumn],
    arrays: Mapping[str, object],
    connection: "DuckDBPyConnection",
    alias: str,
) -> tuple[InDuckDB, KeyColumn]:
    """Return the columns with objects in one of them in the order of its keys, and those keys."""
    column = columns[alias]
    assert isinstance(column, Objects), "others have keys as they are"
    of = column.of or ColumnType(alias, "anything", column.name, parts=column.parts)
    check_keys(of)
    keys, places = order_objects(*_distinct(column.cells))
    codes = {**native.codes, alias: dict[CellKey, int]()}
    in_order = {**arrays, alias: places}
    projection = (f"nullif({a}, -1) AS {a}" if a in codes else a for a in in_order)
    relation = relation_of_arrays(in_order, connection).project(", ".join(projection))
    types = {**native.types, alias: ColumnType(alias, "integer", "places")}
    return replace(native, source=relation, types=types, codes=codes), KeyColumn(of, keys)


def relation_of_arrays(
    arrays: Mapping[str, object], connection: "DuckDBPyConnection"
) -> "DuckDBPyRelation":
    """Return a relation of arrays of numpy or of Arrow."""
    if all(isinstance(array, np.ndarray) for array in arrays.values()):
        columns_in_memory = dict(arrays)  # noqa: F841  # DuckDB finds it by its name
        return connection.sql("SELECT * FROM columns_in_memory")
    import pyarrow as pa

    return connection.from_arrow(pa.table(dict(arrays)))


def encode_objects(cells: Sequence[object]) -> tuple[NDArray[np.int64], dict[CellKey, int]]:
    """Return integers for objects, -1 for those that equal no value, and the integers by `key`."""
    if _of_one_type(cells):  # then each is its own key, and None another
        numbers, codes = number_keys(cells)
        return codes, dict(
            zip(zip(itertools.repeat(False), numbers), numbers.values(), strict=False)
        )
    distinct, codes = _distinct(cells)
    places: dict[CellKey, int] = {}
    codes_of_distinct = [code_of(value, places) for value in distinct]
    return np.array([*codes_of_distinct, -1], dtype=np.int64)[codes], places


def _of_one_type(cells: Sequence[object]) -> bool:
    """Return whether all objects but None are of one exact type with values that tell themselves apart."""
    types = types_of(cells) - {type(None)}
    return len(types) == 1 and types <= {str, int, float}


def number_keys(keys: Sequence[object]) -> tuple[dict[object, int], NDArray[np.int64]]:
    """Return the numbers of the distinct keys, in order of their first row, and those by row."""
    places: dict[object, int] = defaultdict(itertools.count().__next__)
    codes = np.fromiter(map(places.__getitem__, keys), np.int64, len(keys))
    return places, codes


def code_of(value: object, places: dict[CellKey, int]) -> int:
    """Return the integer of an object, -1 if it cannot be hashed or compared."""
    try:
        cell = None if is_missing(value) else value  # a NaN that signals has no hash
        return places.setdefault(key(cell), len(places))
    except Exception:  # objects in a table may do anything
        return -1


def _distinct(cells: Sequence[object]) -> tuple[list[object], NDArray[np.int64]]:
    """Return the distinct objects, and their positions by row.

    Python takes 1, 1.0 and True for one value, and times of one zone that differ for equal. So rows share only
    texts, integers and UUIDs, and single objects like None. It is not left to pandas, for which some texts that
    are no Unicode are equal to others.
    """
    keys = [cell if type(cell) in SHARED else (id(cell),) for cell in cells]
    places, codes = number_keys(keys)
    rows = np.empty(len(places), dtype=np.int64)
    rows[codes] = np.arange(len(codes))
    return [cells[row] for row in rows.tolist()], codes


def _cells(column: MemoryColumn) -> Sequence[object]:
    """Return the cells of a column as Python has them."""
    if isinstance(column, Objects):
        return column.cells
    cells: list[object] = (
        column.array.tolist() if isinstance(column.array, np.ndarray) else column.array.to_pylist()
    )
    return cells


def _persons(columns: Sequence[Sequence[object]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the numbers of the privacy units by row, -1 for none, and the starts of the rule for them.

    A row without an id in one of the columns is nobody's.
    """
    texts, numbers = zip(*map(_id_texts, columns), strict=True)
    persons, rows = numbers[0], None
    for ids, column in zip(texts[1:], numbers[1:], strict=True):
        pairs = np.where((persons < 0) | (column < 0), -1, persons * len(ids) + column)
        there = np.flatnonzero(pairs >= 0)
        _, first, places = np.unique(pairs[there], return_index=True, return_inverse=True)
        persons, rows = np.full_like(pairs, -1), there[first]
        persons[there] = places
    units: Iterable[Sequence[str]] = ([text] for text in texts[0])
    if rows is not None:
        units = ([ids[n[row]] for ids, n in zip(texts, numbers, strict=True)] for row in rows)
    starts = np.array([*(start_of_rule(unit_bytes(unit)) for unit in units), 0], dtype=np.int64)
    return persons, starts[persons]


def _id_texts(cells: Sequence[object]) -> tuple[list[str], NDArray[np.int64]]:
    """Return the distinct texts of the ids in a column, and their numbers by row, -1 for none."""
    distinct, codes = _distinct(cells)
    numbers: dict[str, int] = {}
    codes_of_distinct = np.array(
        [*(number_of_id(cell, numbers) for cell in distinct), -1], dtype=np.int64
    )
    return [*numbers], codes_of_distinct[codes]


def number_of_id(cell: object, numbers: dict[str, int]) -> int:
    """Return the number of an id, -1 for a value that is no id: see `id_text`."""
    try:
        text = id_text(cell)
        return -1 if text is None else numbers.setdefault(text, len(numbers))
    except Exception:  # objects in a table may do anything
        return -1


def _in_order(there: NDArray[np.bool_], numbers: ExactArray) -> tuple[ExactArray, ExactArray]:
    """Return the positions of the numbers by row, -1 for none, and the numbers that occur, ascending."""
    values: Any
    values, places = np.unique(numbers, return_inverse=True)
    codes = np.full(len(there), -1, dtype=np.int64)
    codes[there] = places
    return codes, values


def typed_array(array: NDArray[Any], column: str) -> MemoryColumn:
    """Return a column of an array of numpy, by its type.

    Raises:
        UnreadableData: if no argument accepts the type.
    """
    if array.ndim != 1:
        raise NotCountable(
            f"the data must be one-dimensional, got an array of {array.ndim} dimensions"
        )
    kind = array.dtype.kind
    if kind in "OUT":
        return Objects(array.tolist())
    unit = np.datetime_data(array.dtype)[0] if kind == "M" else ""
    if (
        kind not in "biufM"
        or array.dtype.itemsize > 8
        or (kind == "M" and unit not in UNITS_PER_SECOND)
    ):
        raise not_countable(column, str(array.dtype))
    native = array.astype(array.dtype.newbyteorder("="), copy=False)
    if native.dtype == np.float16:  # which DuckDB has not
        return TypedArray(native.astype(np.float32), half(column))
    return TypedArray(native)


def series_of_pandas(series: Any, column: str) -> MemoryColumn:
    """Return a column of pandas. Its type says how it is read, never its rows."""
    dtype = series.dtype
    word, kind = str(dtype), type(dtype).__name__
    if word in OBJECTS:
        of = _type_of_categories(series.cat.categories, column) if word == "category" else None
        return Objects(list(series), word, of, word == "category" and series.cat.ordered)
    if kind == "DatetimeTZDtype":
        moments = np.asarray(series.array.tz_convert("UTC").tz_localize(None))
        return TypedArray(moments, timestamp(column, dtype.unit, str(dtype.tz)))
    if isinstance(dtype, np.dtype):
        return typed_array(series.to_numpy(), column)
    if kind == "StringDtype" or kind == "ArrowDtype" or hasattr(dtype, "numpy_dtype"):
        pa = needing("pyarrow", "arrow")
        return arrow_column(pa.chunked_array(pa.array(series, from_pandas=True)), column)
    raise not_countable(column, word)


def _type_of_categories(categories: Any, column: str) -> ColumnType | None:
    """Return the type of the values of a pandas category; None if they are objects of any type."""
    import narwhals.stable.v2 as nw

    word = f"category of {categories.dtype}"
    if str(categories.dtype) == "object":
        return None
    try:
        dtype = nw.from_native(categories.to_series(), series_only=True).dtype
        return replace(column_type(column, dtype, word), name=word)
    except (TypeError, UnreadableData):  # a type that nothing else here knows, such as intervals
        return ColumnType(column, "other", word)


def arrow_column(array: Any, column: str) -> MemoryColumn:
    """Return a column of Arrow, with rare types as common ones."""
    import narwhals.stable.v2 as nw
    import pyarrow as pa

    word = str(array.type)
    short, array = _is_half(array.type), _common(array)
    if short:
        return TypedArray(array, half(column))
    if array.type == pa.null():
        return TypedArray(array.cast(pa.int8()), ColumnType(column, "nothing", word))
    dtype = nw.from_native(pa.table({CELL: array})).schema[CELL]
    of = column_type(column, dtype, word)
    if (
        of.kind == "timestamp with time zone"
    ):  # as a clock in UTC, which DuckDB takes without converting
        array = array.cast(pa.timestamp(of.unit, "UTC")).cast(pa.timestamp(of.unit))
    return TypedArray(array, of)


def half(column: str) -> ColumnType:
    """Return the type of a column of floats in 16 bits, which are counted as floats in 32."""
    return ColumnType(column, "float", "Float16", layout="<e")


def _is_half(of: Any) -> bool:
    """Return whether Arrow's type is that of floats in 16 bits, or a dictionary of them."""
    import pyarrow as pa

    return bool(pa.types.is_float16(of.value_type if hasattr(of, "index_type") else of))


def _common(array: Any) -> Any:
    """Return a column of Arrow without dictionaries and types that DuckDB has not."""
    import pyarrow as pa

    of = array.type
    if hasattr(of, "index_type"):
        return _common(array.cast(of.value_type))
    if of == pa.string_view():
        return array.cast(pa.string())
    if of == pa.float16():
        return array.cast(pa.float32())
    if pa.types.is_decimal256(of) and of.precision <= _LONGEST_DECIMAL:
        return array.cast(pa.decimal128(of.precision, of.scale))
    return array
