"""Records of a Spark DataFrame, bounded and counted by Spark."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import DiscreetError
from .candidate_table import Ranking, check_comparable, elsewhere
from .failures import needing, quietly
from .kinds import CELL, ColumnType, check_candidates, represent
from .records import OFFSET, PART, PERSON, SALT, Records, check_numbers, check_unit, sums
from .spark import POSITION, comparable, listed, spark_type
from .spark_classes import SparkClasses, SparkRanking, keep_counts

RANK, SIZE, KEY = "rank", "size", "key"


@dataclass(frozen=True)
class SparkRecords:
    """A DataFrame of CELL, PERSON and PART, as far as they are asked for."""

    frame: Any
    names: dict[str, str]
    """What each of its columns is called in the table."""
    records: Records
    failure: DiscreetError

    def tally(self, candidates: Sequence[object]) -> list[list[int]]:
        """Return, for each group, the records per candidate."""
        exact = self._exact(CELL, candidates)
        values = list(dict.fromkeys(value for value in exact if value is not None))
        places = {value: i for i, value in enumerate(values)}
        counted: Any = []
        if values:
            counted = quietly(lambda: self._counted(self._narrowed(), values), self.failure)
        return sums(counted, len(self._groups), places, exact)

    def classes(self, ranking: Ranking) -> list[SparkClasses]:
        """Return, for each group, the candidates of a public table in classes of equal counts."""
        of, persons = self._type(CELL), self.records.unit is not None
        check_comparable(of, ranking)
        if not isinstance(ranking, SparkRanking):
            raise elsewhere()
        kept = quietly(
            lambda: keep_counts(self._narrowed(), of, ranking, persons=persons), self.failure
        )
        groups = range(len(self._groups))
        return [SparkClasses(kept, group, ranking, self.failure) for group in groups]

    def parts(self) -> list[tuple[Any, str | None]]:
        """Return, for each group, a DataFrame of the numbers of its records."""
        of = self._type(CELL)
        check_numbers(of)
        rows = quietly(lambda: self._numbers(of), self.failure)
        return [
            (rows.filter(f"{PART} = {group}").select(CELL), CELL)
            for group in range(len(self._groups))
        ]

    def _numbers(self, of: ColumnType) -> Any:
        """Return a DataFrame of the groups and the numbers of the records.

        It is asked several times for each group. So what is chosen among the rows of a person is kept.
        """
        rows = self._bounded(self._narrowed(), of).select(PART, CELL)
        return rows if self.records.unit is None else rows.localCheckpoint()

    @property
    def _groups(self) -> tuple[Any, ...]:
        return (None,) if self.records.by is None else self.records.groups

    def _type(self, alias: str) -> ColumnType:
        column = self.frame.select(self.frame[alias].alias(CELL))
        return quietly(lambda: spark_type(column, self.names[alias]), self.failure)

    def _exact(self, alias: str, values: Sequence[object]) -> list[Any]:
        """Return the values as the column holds them; None for what it cannot hold."""
        of, name = self._type(alias), "group" if alias == PART else "candidate"
        if of.kind == "nothing":
            return [None] * len(check_candidates(values, of, name))
        return [represent(value, of) for value in check_candidates(values, of, name)]

    def _narrowed(self) -> Any:
        """Return the rows that belong to somebody and to a group, in few groups for each person."""
        functions = needing("pyspark.sql.functions", "spark")
        rows = self.frame
        if self.records.unit is not None:
            of = self._type(PERSON)
            check_unit(of)
            rows = _persons(rows, of)
        if self.records.by is None:
            rows = rows.withColumn(PART, functions.lit(0))
        else:
            exact = self._exact(PART, self.records.groups)
            rows = _placed(rows, PART, self._type(PART), exact)
        return (
            _in_few_groups(rows, self.records.most_groups) if self.records.bounds_groups else rows
        )

    def _counted(self, rows: Any, values: list[Any]) -> list[tuple[int, int, int]]:
        """Return triples of a group, a position and the number of records."""
        placed = _placed(rows, CELL, self._type(CELL), values)
        if self.records.unit is not None:
            placed = placed.select(PART, CELL, PERSON).distinct()
        return [tuple(row) for row in placed.groupBy(PART, CELL).count().collect()]

    def _bounded(self, rows: Any, of: ColumnType) -> Any:
        """Return the rows that hold a number, so many of each person in each group."""
        functions = needing("pyspark.sql.functions", "spark")
        rows = rows.filter(f"{CELL} IS NOT NULL")
        if of.kind == "float":
            rows = rows.filter(f"NOT isnan({CELL})")
        if self.records.unit is None or self.records.rows is None:
            return rows
        block = f"PARTITION BY {PERSON}, {PART}"
        rank = functions.expr(f"row_number() OVER ({block} ORDER BY {CELL}) - 1")
        size = functions.expr(f"count(*) OVER ({block})")
        return rows.select("*", rank.alias(RANK), size.alias(SIZE)).filter(
            _stays(self.records.rows)
        )


def _persons(rows: Any, of: ColumnType) -> Any:
    """Return the rows that belong to somebody, the person as it is compared, with its offset."""
    functions = needing("pyspark.sql.functions", "spark")
    somebody = rows.filter(f"{PERSON} IS NOT NULL")
    text = somebody[PERSON].cast("string").cast("binary")
    salted = functions.concat(functions.lit(SALT.encode()), text)
    start = functions.substring(functions.sha2(salted, 256), 1, 8)
    hashed = functions.conv(start, 16, 10).cast("bigint")
    return somebody.withColumn(OFFSET, hashed).withColumn(PERSON, comparable(somebody[PERSON], of))


def _placed(rows: Any, name: str, of: ColumnType, exact: list[Any]) -> Any:
    """Return the rows whose value is among those, with its position instead of the value."""
    functions = needing("pyspark.sql.functions", "spark")
    where = {value: i for i, value in enumerate(exact) if value is not None}
    if not where:
        return rows.filter("false").withColumn(name, functions.lit(0))
    subject = rows.select(rows[name].alias(CELL))
    wanted = listed(subject, of, list(where)).withColumnRenamed(CELL, KEY)
    places = functions.array(*map(functions.lit, where.values()))
    keyed = rows.withColumn(KEY, comparable(rows[name], of)).drop(name)
    joined = keyed.join(functions.broadcast(wanted), KEY)
    place = functions.element_at(places, joined[POSITION] + 1)
    return joined.withColumn(name, place).drop(KEY, POSITION)


def _in_few_groups(rows: Any, most: int) -> Any:
    """Return the rows that stay so that each person is in at most that many groups."""
    functions = needing("pyspark.sql.functions", "spark")
    rank = functions.expr(f"dense_rank() OVER (PARTITION BY {PERSON} ORDER BY {PART}) - 1")
    size = functions.expr(f"max({RANK}) OVER (PARTITION BY {PERSON}) + 1")
    ranked = rows.withColumn(RANK, rank).withColumn(SIZE, size)
    return ranked.filter(_stays(most)).drop(RANK, SIZE)


def _stays(most: int) -> str:
    """Return the rule of `records.chosen` as an expression."""
    return f"({RANK} * {int(most)}L + {OFFSET}) % {SIZE} < {int(most)}"
