"""Records of a DuckDB relation or a file, bounded and counted by DuckDB."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ..errors import DiscreetError
from .candidate_table import Ranking, check_comparable, elsewhere
from .failures import quietly
from .files import as_texts
from .kept import ROWS, Kept
from .kinds import CELL, ColumnType, check_candidates, represent
from .records import OFFSET, PART, PERSON, SALT, Records, check_numbers, check_unit, sums
from .relation_classes import RelationClasses, RelationRanking, keep_counts
from .relations import FEW, comparable, constants, present, relation_type

RANK, SIZE = "rank", "size"


@dataclass(frozen=True)
class RelationRecords:
    """A relation of CELL, PERSON and PART, as far as they are asked for."""

    relation: Any
    names: dict[str, str]
    """What each of its columns is called in the table."""
    records: Records
    failure: DiscreetError
    csv: bool = False
    """Whether all columns are text, and an empty text is missing."""
    _kept: list[Kept] = field(default_factory=list, repr=False)

    def tally(self, candidates: Sequence[object]) -> list[list[int]]:
        """Return, for each group, the records per candidate."""
        exact = self._exact(CELL, candidates)
        values = list(dict.fromkeys(value for value in exact if value is not None))
        places = {value: i for i, value in enumerate(values)}
        counted: Any = []
        if values:
            counted = quietly(lambda: self._counted(self._narrowed(), values), self.failure)
        return sums(counted, len(self._groups), places, exact)

    def classes(self, ranking: Ranking) -> list[RelationClasses]:
        """Return, for each group, the candidates of a public table in classes of equal counts."""
        check_comparable(self._type(CELL), ranking)
        if not (isinstance(ranking, RelationRanking) and ranking.seen_by(self.relation)):
            raise elsewhere()
        of, persons = self._type(CELL), self.records.unit is not None
        kept = quietly(
            lambda: keep_counts(self._narrowed(), of, ranking, persons=persons), self.failure
        )
        groups = range(len(self._groups))
        return [RelationClasses(kept, group, ranking.size, self.failure) for group in groups]

    def parts(self) -> list[tuple[Any, str | None]]:
        """Return, for each group, a relation of the numbers of its records."""
        of = self._type(CELL)
        if not self.csv:
            check_numbers(of)
        rows = quietly(lambda: self._numbers(of), self.failure)
        return [
            (rows.filter(f"{PART} = {group}").select(CELL), CELL)
            for group in range(len(self._groups))
        ]

    def _numbers(self, of: ColumnType) -> Any:
        """Return a relation of the groups and the numbers of the records.

        It is asked several times for each group. So what is parsed, or chosen among the rows of a person, is
        kept; what is read from where it lies is not.
        """
        rows = self._bounded(self._narrowed(), of)
        if self.records.unit is None and not self.csv:
            return rows
        self._kept.append(Kept(rows, f"SELECT {PART}, {CELL} FROM {ROWS}"))
        return self._kept[-1].rows

    @property
    def _groups(self) -> tuple[Any, ...]:
        return (None,) if self.records.by is None else self.records.groups

    def _type(self, alias: str) -> ColumnType:
        name = self.names[alias]
        if self.csv:
            return ColumnType(name, "text", "CSV")
        column = self.relation.select(f"{alias} AS {CELL}")
        return quietly(lambda: relation_type(column, name), self.failure)

    def _exact(self, alias: str, values: Sequence[object]) -> list[Any]:
        """Return the values as the column holds them; None for what it cannot hold."""
        of, name = self._type(alias), "group" if alias == PART else "candidate"
        texts = as_texts(values, self.names[alias], name) if self.csv else values
        if of.kind == "nothing":
            return [None] * len(check_candidates(texts, of, name))
        return [represent(value, of) for value in check_candidates(texts, of, name)]

    def _narrowed(self) -> Any:
        """Return the rows that belong to somebody and to a group, in few groups for each person."""
        rows = self.relation
        if self.records.unit is not None:
            of = self._type(PERSON)
            check_unit(of)
            rows = _persons(rows, of, csv=self.csv)
        if self.records.by is None:
            rows = rows.select(f"*, 0 AS {PART}")
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
            placed = placed.select(f"{PART}, {CELL}, {PERSON}").distinct()
        counted = placed.aggregate(f"{PART}, {CELL}, count(*) AS records", f"{PART}, {CELL}")
        return counted.fetchall()  # type: ignore[no-any-return]

    def _bounded(self, rows: Any, of: ColumnType) -> Any:
        """Return the rows that hold a number, so many of each person in each group."""
        if self.csv:
            rows = rows.select(f"* REPLACE (TRY_CAST({CELL} AS DOUBLE) AS {CELL})")
        rows = present(rows, floating=self.csv or of.kind == "float")
        if self.records.unit is None or self.records.rows is None:
            return rows
        block = f"PARTITION BY {PERSON}, {PART}"
        ranked = rows.select(
            f"*, row_number() OVER ({block} ORDER BY {CELL} ASC) - 1 AS {RANK}, "
            f"count(*) OVER ({block}) AS {SIZE}"
        )
        return ranked.filter(_stays(self.records.rows))


def _persons(rows: Any, of: ColumnType, *, csv: bool) -> Any:
    """Return the rows that belong to somebody, the person as it is compared, with its offset."""
    text = f"CAST({PERSON} AS VARCHAR)"
    exact = f"encode({text})" if of.kind == "text" else PERSON  # a collation could merge persons
    hashed = f"('0x' || sha256(concat('{SALT}', {text}))[:8])::BIGINT AS {OFFSET}"
    missing = f" AND {PERSON} <> ''" if csv else ""
    somebody = rows.filter(f"{PERSON} IS NOT NULL{missing}")
    return somebody.select(f"* REPLACE ({exact} AS {PERSON}), {hashed}")


def _placed(rows: Any, name: str, of: ColumnType, exact: list[Any]) -> Any:
    """Return the rows whose value is among those, with its position instead of the value."""
    from duckdb import ColumnExpression, FunctionExpression, StarExpression

    where = {value: i for i, value in enumerate(exact) if value is not None}
    if not where:
        return rows.filter("false").select(f"* REPLACE (0 AS {name})")
    subject, wanted = comparable(rows, of, list(where), name)
    others = StarExpression(exclude=[name])
    places = constants(where.values(), "BIGINT")
    if len(where) <= FEW:
        position = FunctionExpression("list_position", wanted, subject)
        found = rows.select(others, position.alias("found")).filter("found > 0")
        place = FunctionExpression("list_extract", places, ColumnExpression("found")).alias(name)
        return found.select(StarExpression(exclude=["found"]), place)
    one = rows.limit(0).aggregate("count(*) AS nothing")
    table = one.select(
        FunctionExpression("unnest", wanted).alias("wanted"),
        FunctionExpression("unnest", places).alias(name),
    ).set_alias("candidates")
    keyed = rows.select(others, subject.alias("subject")).set_alias("cells")
    joined = keyed.join(table, "cells.subject = candidates.wanted")
    return joined.select(StarExpression(exclude=["subject", "wanted"]))


def _in_few_groups(rows: Any, most: int) -> Any:
    """Return the rows that stay so that each person is in at most that many groups."""
    ranked = rows.select(
        f"*, dense_rank() OVER (PARTITION BY {PERSON} ORDER BY {PART} ASC) - 1 AS {RANK}"
    )
    sized = ranked.select(f"*, max({RANK}) OVER (PARTITION BY {PERSON}) + 1 AS {SIZE}")
    return sized.filter(_stays(most)).select(f"* EXCLUDE ({RANK}, {SIZE})")


def _stays(most: int) -> str:
    """Return the rule of `records.chosen` as an expression."""
    return f"({RANK} * {int(most)} + {OFFSET}) % {SIZE} < {int(most)}"
