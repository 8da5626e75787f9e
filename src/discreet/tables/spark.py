"""Counting in Spark, in its own expressions: one row for each candidate comes to the driver.

The candidates go to the executors as one broadcast table and are compared in the column's own type, so
the driver's memory depends on the candidates only, and no row of the data ever leaves the cluster.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import DiscreetError
from .failures import needing, quietly
from .kinds import CELL, ColumnType, check_candidates, column_type, represent

POSITION = "position"


@dataclass(frozen=True)
class SparkColumn:
    """A column of a Spark DataFrame."""

    frame: Any
    """A DataFrame with this column only, called CELL."""
    column: str
    failure: DiscreetError
    """What is raised when the engine fails."""

    @property
    def type(self) -> ColumnType:
        """The type of the column."""
        return quietly(lambda: spark_type(self.frame, self.column), self.failure)

    def count(self, candidates: Sequence[object]) -> list[int]:
        """Return, for each candidate, the number of rows that equal it."""
        of = self.type
        exact = [represent(candidate, of) for candidate in check_candidates(candidates, of)]
        present = dict.fromkeys(value for value in exact if value is not None)
        if not present or of.kind == "nothing":
            return [0] * len(exact)
        values = list(present)
        counted = quietly(lambda: _count_positions(self.frame, of, values), self.failure)
        counts = {values[position]: rows for position, rows in counted}
        return [counts.get(value, 0) for value in exact]

    def values(self) -> list[Any]:
        """Return the values in the column, as Spark gives them."""
        return quietly(lambda: _distinct(self.frame), self.failure)

    def declared(self) -> None:
        """Return nothing: Spark's schemas declare no categories."""


def spark_columns(native: Any, columns: dict[str, int]) -> Any:
    """Return columns of a Spark DataFrame under other names: a mapping from those to positions."""
    # By position: a name may hold what Spark takes for its own syntax.
    renamed = native.toDF(*(f"c{i}" for i in range(len(native.columns))))
    return renamed.select(*(renamed[f"c{i}"].alias(alias) for alias, i in columns.items()))


def spark_type(frame: Any, column: str) -> ColumnType:
    """Return the type of the only column of a DataFrame."""
    import narwhals.stable.v2 as nw

    [(_, word)] = frame.dtypes
    if word == "void":
        return ColumnType(column, "nothing", word)
    return column_type(column, nw.from_native(frame).collect_schema()[CELL], word)


def _count_positions(frame: Any, of: ColumnType, values: list[Any]) -> list[tuple[int, int]]:
    """Return pairs of a value's position and how often it occurs."""
    functions = needing("pyspark.sql.functions", "spark")
    wanted = listed(frame, of, values)
    rows = frame.select(comparable(frame[CELL], of).alias(CELL))
    matched = rows.join(functions.broadcast(wanted), CELL)
    return [(row[0], row[1]) for row in matched.groupBy(POSITION).count().collect()]


def listed(frame: Any, of: ColumnType, values: list[Any]) -> Any:
    """Return the values as a DataFrame of CELL and POSITION, from 0, comparable with the column."""
    functions = needing("pyspark.sql.functions", "spark")
    # One literal holds them all, as text: Spark reads it exactly, while it would find a type of its
    # own for Python's values.
    texts = functions.lit(json.dumps([_literal(value) for value in values]))
    array = functions.from_json(texts, "array<string>")
    table = frame.sparkSession.range(1).select(functions.posexplode(array).alias(POSITION, CELL))
    text = table[CELL]
    typed = text if of.kind == "text" else text.cast(frame.schema[0].dataType)
    return table.select(table[POSITION], comparable(typed, of).alias(CELL))


def comparable(column: Any, of: ColumnType) -> Any:
    """Return the column as it is compared: text as bytes, lest a collation make words equal."""
    return column.cast("string").cast("binary") if of.kind == "text" else column


def _literal(value: Any) -> str:
    """Return the value in the text that Spark casts to it."""
    return repr(value) if isinstance(value, float) else str(value)


def _distinct(frame: Any) -> list[Any]:
    """Return the values in the only column, as Spark gives them."""
    table = frame.distinct().toArrow()
    values: list[Any] = table.column(0).to_pylist()
    return values
