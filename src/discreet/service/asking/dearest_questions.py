"""The questions with which an owner tries how long answers take: the named ones, and the dearest free ones.

Of those there is one of each kind, on the widest column. All of them follow from the description alone.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import product
from math import inf
from typing import Any, NamedTuple

from ...base.numbers import exact
from ...errors import DiscreetError
from ...ledger.toml_budgets import declared_neighbors
from ...selection.any_column import AnyColumn
from ...selection.bins import MOST_BINS, Bins
from ...selection.verb_calls import Call
from ...tables.conditions.conditions import MOST_PARTS
from ...tables.conditions.sql_statements import MOST_ITEMS
from ...tables.datasets import Dataset
from ...tables.datasets.columns import Column
from ...tables.datasets.configuration import Configuration
from ...tables.verb_table import VERBS
from ..queue.lengths import longest_release, with_most
from ..queue.padding import LENGTH
from ..queue.promises import PARTS_OF_A_UNIT
from ..queue.request_parts import COMPARISONS_OF_A_PART, request_parts
from .datasets import named_question
from .free_questions import read_free
from .own_rights import OwnRights

_COMPARISONS = COMPARISONS_OF_A_PART * (PARTS_OF_A_UNIT - 1)
"""So many comparisons fill the unit of a question about one column."""

_NUMBERS_OF_BINS = (MOST_BINS, 100)
"""So many bins of a column take longest to be found, as far as an answer can hold them."""

_MANY_GROUPS = 200
"""Groups are taken from the widest column with at most so many values: for each unit more take no longer."""

_DEAR_TERMS: Mapping[str, Any] = {
    "alpha": 0.5, "alphas": tuple(i / 20 for i in range(1, 20)), "k": 10, "delta": 1e-8,
}  # fmt: skip
"""The arguments that some verbs cannot do without, or are dear with, besides epsilon."""

_KINDS = (
    ("quantiles", "best_price", "median", "quantile", "minimum", "maximum"), ("mode", "top_k"),
    ("keys", "counts", "count_distinct"), ("bounds", "variance", "standard_deviation", "sum", "mean"),
    ("count",), ("check",), ("sql",),
)  # fmt: skip
"""The verbs that read alike, of each kind the slowest first."""

_AGGREGATES = {
    "median": "MEDIAN({column})", "quantile": "PERCENTILE_DISC({column}, 0.5)", "minimum": "MIN({column})",
    "maximum": "MAX({column})", "mode": "MODE({column})", "top_k": "TOP_K({column}, 10)",
    "variance": "VAR_POP({column})", "standard_deviation": "STDDEV_POP({column})",
    "mean": "AVG({column})", "sum": "SUM({column})", "count": "COUNT(*)",
}  # fmt: skip
"""The verbs in SQL, the slowest first."""


class Duration(NamedTuple):
    """How long a reading took. Private.

    Attributes:
        seconds: by the clock; infinite if it did not end.
        processor: the seconds that it computed.
        failure: the class of the error in which it ended, or an empty text if there was an answer.
    """

    seconds: float = 0.0
    processor: float = 0.0
    failure: str = ""


@dataclass(frozen=True, slots=True)
class DearQuestion:
    """A question to try. All but its duration is public.

    Attributes:
        dataset: the name of the dataset.
        name: the question, for the owner.
        call: the question without its data.
        parts: how many parts it has.
        duration: the largest numbers of all its tries so far.
    """

    dataset: str
    name: str
    call: Call
    parts: int
    duration: Duration = field(default_factory=Duration)

    @property
    def units(self) -> int:
        """The units of time that its answer may take."""
        return -(-self.parts // PARTS_OF_A_UNIT)

    @property
    def seconds_of_a_unit(self) -> float:
        """How long it took for each of its units."""
        return self.duration.seconds / self.units

    @property
    def processor_of_a_unit(self) -> float:
        """How long it computed for each of its units."""
        return self.duration.processor / self.units

    def as_dict(self) -> dict[str, object]:
        """Return it in plain values."""
        seconds, processor, failure = self.duration
        return {
            "question": self.name, "parts": self.parts, "units": self.units,
            "seconds": seconds if seconds < inf else None, "processor": processor, "failure": failure or None,
        }  # fmt: skip


def dearest_questions(description: Configuration) -> list[DearQuestion]:
    """Return the named questions, and the dearest that analysts may ask, of all datasets. No data are read."""
    return [one for name in description.datasets for one in _questions_about(description, name)]


def _questions_about(description: Configuration, name: str) -> Iterator[DearQuestion]:
    """Yield the questions about one dataset, one that several analysts may ask once."""
    dataset, neighbors = description.datasets[name], declared_neighbors(description, name)
    calls = {
        access: named_question(dataset, terms, neighbors)
        for access, terms in description.questions[name].items()
    }
    for analyst, about in description.analysts.items():
        if name in about["datasets"]:
            own = OwnRights.declared(analyst, about)
            calls |= _FreeQuestions(name, dataset, neighbors, own).calls()
    for text, call in calls.items():
        yield DearQuestion(name, text, call, request_parts(call, dataset))


@dataclass(frozen=True, slots=True)
class _FreeQuestions:
    """The dearest free questions about a dataset.

    Attributes:
        name: the name of the dataset.
        dataset: the dataset.
        neighbors: the neighbouring relation of its budget.
        own: what an analyst may ask.
    """

    name: str
    dataset: Dataset
    neighbors: str
    own: OwnRights

    def calls(self) -> dict[str, Call]:
        """Return the questions, by their names."""
        calls: dict[str, Call] = {}
        for kind in _KINDS:
            verb = next((one for one in kind if one in self.own.verbs), None)
            if verb is not None:
                calls |= dict(self._in_sql() if verb == "sql" else self._with_verb(verb))
        return calls

    def _with_verb(self, verb: str) -> Iterator[tuple[str, Call]]:
        """Yield the dearest questions: with a condition that fills a unit, of many bins, and by many groups."""
        yield from self._first(verb, _COMPARISONS)
        yield from self._of_bins(verb)
        for one in self._columns():
            if len(one.values or ()) in range(2, _MANY_GROUPS + 1):
                calls = dict(self._first(verb, 0, one.name))
                if calls:
                    yield from calls.items()
                    return

    def _of_bins(self, verb: str) -> Iterator[tuple[str, Call]]:
        """Yield the question of a verb about most bins of a column, if there is one."""
        bounded = [one for one in self._columns() if one.is_numeric and _has_bounds(one)]
        for column, number in product(bounded if VERBS[verb].takes_cells else (), _NUMBERS_OF_BINS):
            call = self._allowed(verb, _in_bins(column, number), {"epsilon": 1, **_own_terms(verb)})
            if call is not None:
                yield f"{verb} of {column.name} in {number:,} bins", call
                return

    def _in_sql(self) -> Iterator[tuple[str, Call]]:
        """Yield the dearest statements: a unit of aggregates, and as many as there may be, with conditions."""
        yield from self._statement(PARTS_OF_A_UNIT, 0)
        yield from self._statement(MOST_ITEMS, 0)
        yield from self._statement(1, MOST_PARTS)

    def _statement(self, number: int, comparisons: int) -> Iterator[tuple[str, Call]]:
        """Yield a statement of the slowest aggregate that is allowed, if there is one."""
        condition = self._condition(comparisons)
        if comparisons and not condition:
            return
        where = f" WHERE {condition}" if condition else ""
        for verb in (one for one in _AGGREGATES if one in self.own.verbs):
            for column in self._columns():
                aggregate = _AGGREGATES[verb].format(column=_quoted(column.name))
                selected = ", ".join(f"{aggregate} AS a{i}" for i in range(number))
                clause = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1)"
                text = f"{clause} {selected} FROM {_quoted(self.name)}{where}"
                call = self._allowed("sql", None, {"statement": text})
                if call is not None:
                    more = f", {comparisons:,} comparisons" if comparisons else ""
                    yield f"SQL: {number} × {aggregate}{more}", call
                    return

    def _first(
        self, verb: str, comparisons: int, by: str | None = None
    ) -> Iterator[tuple[str, Call]]:
        """Yield the question about the first column of which it may be asked, if there is one."""
        terms = {"epsilon": 1, **_own_terms(verb), **({} if by is None else {"by": by})}
        where = self._condition(comparisons)
        columns = [one.name for one in self._columns()] if VERBS[verb].needs_column else [None]
        for condition, column in product([where, ""] if where else [""], columns):
            call = self._allowed(verb, column, {**terms, "where": condition or None})
            if call is not None:
                words = (verb, column and f"of {column}", by and f"by {by}")
                name = " ".join(filter(None, words))
                yield f"{name}, {comparisons:,} comparisons" if condition else name, call
                return

    def _columns(self) -> list[Column]:
        """Return the columns, the widest first."""
        columns = self.dataset.columns.values()
        return sorted(columns, key=_width, reverse=True)

    def _condition(self, comparisons: int) -> str:
        """Return a condition of so many comparisons, or an empty text if none may be made."""
        allowed = self.own.where
        for column in self._columns():
            constants = _constants(column)
            if (allowed is None or column.name in allowed) and constants:
                each = (constants[i % len(constants)] for i in range(comparisons))
                return " OR ".join(f"{_quoted(column.name)} = {one}" for one in each)
        return ""

    def _allowed(self, verb: str, column: AnyColumn, terms: Mapping[str, Any]) -> Call | None:
        """Return a free question, or None if it may not be asked."""
        with suppress(DiscreetError, TypeError):
            question = read_free(verb, column, terms)
            self.own.check(verb, question)
            question = with_most(question, self.dataset)
            question = question._replace(terms={**question.terms, "neighbors": self.neighbors})
            bill = question.about(self.dataset).bill()
            return (
                question if longest_release(question, bill, self.dataset) <= LENGTH // 2 else None
            )
        return None


def _has_bounds(column: Column) -> bool:
    """Return whether both bounds of a column are declared, and differ."""
    low, high = column.minimum, column.maximum
    return low is not None and high is not None and low < high


def _in_bins(column: Column, number: int) -> Bins:
    """Return so many bins of a column of numbers between its bounds."""
    low, high = exact(column.minimum, "a bound"), exact(column.maximum, "a bound")
    return Bins(column.name, low, high, (high - low) / number)


def _own_terms(verb: str) -> dict[str, Any]:
    """Return the arguments of a verb's own with which it is asked."""
    return {name: one for name, one in _DEAR_TERMS.items() if name in VERBS[verb].own}


def _quoted(name: str) -> str:
    """Return a name as SQL has it."""
    return '"' + name.replace('"', '""') + '"'


def _width(column: Column) -> int:
    """Return how many answers a column has at most, as far as it is declared."""
    if column.values is not None:
        return len(column.values)
    return 0 if column.grid is None else column.grid.size


def _constants(column: Column) -> list[str]:
    """Return values with which a condition may compare a column, as SQL has them."""
    values = column.values if column.values is not None else column.grid
    if values is None or not (column.is_numeric or column.type == "string"):
        return []
    some = (values[i] for i in range(min(MOST_PARTS, _width(column))))
    return [
        "'" + one.replace("'", "''") + "'" if isinstance(one, str) else str(one) for one in some
    ]
