"""Questions about cells of two columns, the doors where they are asked, the sources they are about, and why not.

`python -m tests.cell_places` writes the tables of docs/explanation/cells.md#where-you-can-ask.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from discreet import Bins

from .pages import ROOT
from .place_tables import lines_of_notes, mark_of, page_with_tables, rows_of_table

PAGE = ROOT / "docs" / "explanation" / "cells.md"

COLUMNS: dict[str, Any] = {
    "city": {"type": "string", "enum": ["Bern", "Basel"]},
    "town": {"type": "string"},
    "age": {"type": "integer", "minimum": 0, "maximum": 120},
    "paid": {"type": "integer", "minimum": 0, "maximum": 100},
}
CELLS = {
    ("Bern", 30): (7, 20), ("Bern", 90): (11, 41), ("Basel", 30): (13, 62), ("Basel", 90): (17, 83),
}  # fmt: skip
"""How many rows a city and an age have, and what each of them paid."""

_COUNTS = ("7", "11", "13", "17")
_PAID = ("20", "41", "62", "83")


@dataclass(frozen=True)
class CellQuestion:
    """A question about cells.

    Attributes:
        verb: the verb.
        answer: texts that are in an answer without noise, wherever it is shown.
        column: the column, if it is about one beside those of cells.
        by: whether the cells are its groups.
        terms: the arguments.
        sql: what a statement selects, if it can.
        city: the column that is in a cell with bins of ages.
    """

    verb: str
    answer: tuple[str, ...]
    column: str | None = None
    by: bool = False
    terms: Mapping[str, Any] = field(default_factory=dict)
    sql: str = ""
    city: str = "city"

    def asked(self, bins: Any) -> tuple[Any, dict[str, Any]]:
        """Return the column and the terms, with ε for an answer without noise."""
        cells, terms = [self.city, bins], {"epsilon": "100000", **self.terms}
        return (self.column, {**terms, "by": cells}) if self.by else (cells, terms)

    @property
    def wire(self) -> tuple[Any, dict[str, Any]]:
        """The column and the terms in plain values."""
        return self.asked({"column": "age", "lo": 0, "hi": 120, "step": 60})

    @property
    def python(self) -> tuple[Any, dict[str, Any]]:
        """The column and the terms as Python has them."""
        return self.asked(Bins("age", 0, 120, 60))

    def command(self, name: str) -> list[str]:
        """Return the words of the command line about a described dataset."""
        cells, words = [self.city, "age:0:120:60"], [self.verb.replace("_", "-"), name]
        words += [] if self.column is None else [self.column]
        words += [f"--by={one}" for one in cells] if self.by else cells
        options = {"epsilon": "100000", **self.terms}
        return [
            *words,
            *(
                f"--{one}={term}" if len(one) > 1 else f"-{one}{term}"
                for one, term in options.items()
            ),
        ]

    def form(self, name: str) -> dict[str, str]:
        """Return the fields of a page."""
        one, other = ("by", "by_2") if self.by else ("column", "column_2")
        fields = {
            "dataset": name,
            "verb": self.verb,
            "bins": "age: 0 to 120 by 60",
            one: self.city,
            other: "age",
        }
        fields |= {} if self.column is None else {"column": self.column}
        return {**fields, "epsilon": "100000", **{term: str(of) for term, of in self.terms.items()}}

    def statement(self, name: str) -> str:
        """Return the statement of SQL."""
        options = ", ".join(
            f"{one} = {term}" for one, term in {"epsilon": "100000", **self.terms}.items()
        )
        return (
            f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS ({options}) "
            f"{self.city}, WIDTH_BUCKET(age, 0, 120, 2) AS part, "
            f"{self.sql or f'{self.verb}(city, age)'} AS answer FROM {name} GROUP BY {self.city}, part"
        )


_UNLISTED: dict[str, Any] = {"terms": {"delta": "1e-6"}, "city": "town"}
_BINS = ("[0, 60)", "[60, 120)")

QUESTIONS: Mapping[str, CellQuestion] = {
    "counts, listed": CellQuestion("counts", _COUNTS, sql="COUNT(*)"),
    "counts, of what nobody listed": CellQuestion("counts", _COUNTS, **_UNLISTED, sql="COUNT(*)"),
    "keys": CellQuestion("keys", ("Bern", "Basel", *_BINS), **_UNLISTED),
    "mode": CellQuestion("mode", ("Basel", "[60, 120)")),
    "top_k": CellQuestion("top_k", ("Basel", *_BINS), terms={"k": 2}),
    "count, by cells": CellQuestion("count", _COUNTS, by=True, sql="COUNT(*)"),
    "sum, by cells": CellQuestion("sum", ("140", "451", "806"), "paid", by=True, sql="SUM(paid)"),
    "mean, by cells": CellQuestion("mean", _PAID, "paid", by=True, sql="AVG(paid)"),
    "median, by cells": CellQuestion("median", _PAID, "paid", by=True, sql="MEDIAN(paid)"),
}

IN_PYTHON = ("lists", "Polars", "pandas", "Spark")
DESCRIBED = ("CSV", "Parquet", "Excel", "SQLite", "DuckDB", "PostgreSQL")
SOURCES = (*IN_PYTHON, *DESCRIBED)
DOORS = ("Python", "connect", "named question", "SQL", "command line", "HTTP", "MCP", "page")

_ELSEWHERE = (
    "Objects of your Python process are asked about there. A service and the command line read what discreet.toml "
    "describes: files and databases."
)
NO_SOURCE = {(door, source): _ELSEWHERE for door in DOORS[4:] for source in IN_PYTHON}
"""Why some doors have some sources not."""

NO_QUESTION = {
    ("keys", "SQL"): "A statement has no aggregate of keys alone. `COUNT(*)` gives the keys with their counts.",
    **dict.fromkeys(
        [("mode", "SQL"), ("top_k", "SQL")],
        "`MODE(x)` and `APPROX_TOP_COUNT(x, k)` take one column, as they do in databases. Order the counts of "
        "cells by `ORDER BY ... LIMIT`.",
    ),
}  # fmt: skip
"""Why some doors have some questions not."""


def reason(question: str, door: str, source: str) -> str | None:
    """Return why a question is not asked there; None where it is."""
    return NO_QUESTION.get((question, door)) or NO_SOURCE.get((door, source))


def every_cell() -> Iterator[tuple[str, str, str]]:
    """Yield all questions at all doors about all sources."""
    for question in QUESTIONS:
        for door in DOORS:
            for source in SOURCES:
                yield question, door, source


def tables() -> str:
    """Return the tables of the docs: a question is asked wherever neither of them has a note."""
    notes = [*dict.fromkeys([*NO_QUESTION.values(), *NO_SOURCE.values()])]

    def of_question(question: str, door: str) -> str:
        return mark_of(NO_QUESTION.get((question, door)), notes)

    def of_source(source: str, door: str) -> str:
        return mark_of(NO_SOURCE.get((door, source)), notes)

    lines = [
        *rows_of_table(QUESTIONS, DOORS, of_question), "", *rows_of_table(SOURCES, DOORS, of_source), "",
    ]  # fmt: skip
    return "\n".join([*lines, *lines_of_notes(notes), ""])


def written() -> str:
    """Return the page with its tables."""
    return page_with_tables(PAGE, "tests.cell_places", tables())


if __name__ == "__main__":
    PAGE.write_text(written(), encoding="utf-8")
