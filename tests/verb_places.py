"""The verbs of counts, keys, bounds and means, the places where they are asked, and why one is not.

`python -m tests.verb_places` writes the table of docs/reference/index.md#where-each-verb-goes.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import discreet
from discreet import Grid

from .pages import ROOT
from .place_tables import lines_of_notes, mark_of, page_with_tables, rows_of_table

PAGE = ROOT / "docs" / "reference" / "index.md"

CITIES = ["Basel", "Bern", "Zürich"]
DELTA = "1e-6"


@dataclass(frozen=True)
class Asked:
    """A verb with a question, small enough to be asked in every place.

    Attributes:
        verb: the name of the verb.
        column: its column, if it is about one.
        terms: its arguments.
        words: the same on the command line.
        described: the same about data with a description.
        promises_delta: whether it takes a delta.
    """

    verb: str
    column: str | None = None
    terms: Mapping[str, Any] = field(default_factory=dict)
    words: str = ""
    described: Mapping[str, Any] | None = None

    @property
    def function(self) -> Callable[..., Any]:
        """The verb."""
        function: Callable[..., Any] = getattr(discreet, self.verb)
        return function

    def about(self, data: Any) -> tuple[Any, ...]:
        """Return the arguments of the verb that have a place."""
        return (data,) if self.column is None else (data, self.column)

    def ask(self, data: Any, **terms: Any) -> Any:
        """Return the release about a table."""
        return self.function(*self.about(data), **{"epsilon": 1000, **self.terms, **terms})


_BY_COUNTS = {"k": 2, "candidates": CITIES, "method": "counts"}
_BOUNDED = {"minimum": 0, "maximum": 100}
_IN_WHOLE_STEPS = {**_BOUNDED, "step": 1}

VERBS: Mapping[str, Asked] = {
    "count": Asked("count", words="count FILE"),
    "counts, listed": Asked(
        "counts", "city", {"candidates": CITIES}, "counts FILE city --candidates Basel,Bern,Zürich", {}
    ),
    "counts, of what nobody listed": Asked(
        "counts", "city", {"delta": DELTA}, f"counts FILE city --delta {DELTA}"
    ),
    "keys": Asked("keys", "city", {"delta": DELTA}, f"keys FILE city --delta {DELTA}"),
    "count_distinct": Asked("count_distinct", "city", {}, "count-distinct FILE city", {}),
    "sum": Asked("sum", "age", _BOUNDED, "sum FILE age --minimum 0 --maximum 100", {}),
    "mean": Asked("mean", "age", _BOUNDED, "mean FILE age --minimum 0 --maximum 100", {}),
    "variance": Asked(
        "variance", "age", _IN_WHOLE_STEPS, "variance FILE age --minimum 0 --maximum 100 --step 1", {}
    ),
    "standard_deviation": Asked(
        "standard_deviation", "age", _IN_WHOLE_STEPS,
        "standard-deviation FILE age --minimum 0 --maximum 100 --step 1", {},
    ),
    "median, without bounds": Asked("median", "age", {}, "median FILE age"),
    "bounds": Asked("bounds", "age", {}, "bounds FILE age"),
    "top_k, by counts": Asked(
        "top_k", "city", _BY_COUNTS, "top-k FILE city -k 2 --method counts --candidates Basel,Bern,Zürich",
        {"k": 2, "method": "counts"},
    ),
    "mode, by counts": Asked(
        "mode", "city", {"candidates": CITIES, "method": "counts"},
        "mode FILE city --method counts --candidates Basel,Bern,Zürich", {"method": "counts"},
    ),
    "mode, of what nobody listed": Asked(
        "mode", "city", {"candidates": "private", "delta": DELTA},
        f"mode FILE city --candidates private --delta {DELTA}",
    ),
    "mode, with the gap": Asked(
        "mode", "city", {"candidates": CITIES, "gap": True},
        "mode FILE city --gap --candidates Basel,Bern,Zürich", {"gap": True},
    ),
    "median, by groups that nobody listed": Asked(
        "median", "age",
        {"candidates": Grid(0, 100), "by": "city", "groups": "private", "delta": DELTA},
        f"median FILE age --lo 0 --hi 100 --by city --groups private --delta {DELTA}",
        {"by": "city", "groups": "private", "delta": DELTA},
    ),
    "profile": Asked("profile", None, {"delta": DELTA}, f"profile FILE --delta {DELTA}"),
}  # fmt: skip

ENGINES = (
    "pandas", "pandas-arrow", "polars", "polars-lazy", "pyarrow", "duckdb", "dask", "spark", "parquet", "csv",
)  # fmt: skip
PLACES = (
    *ENGINES, "privacy_unit", "by", "where", "description", "ledger", "batch", "quote", "plan", "simulate",
    "distribution", "audit", "command line", "connection", "HTTP", "pages", "Chinese",
)  # fmt: skip

REASONS: dict[tuple[str, str], str] = {}


def empty(reason: str, *cells: tuple[str, str]) -> None:
    """Say why some verbs are not asked in some places; * is all verbs."""
    for verb, place in cells:
        for name in VERBS if verb == "*" else [verb]:
            REASONS[name, place] = reason


_SERVICE = ("connection", "HTTP", "pages")
_PRIVATE = ("counts, of what nobody listed", "keys", "mode, of what nobody listed")

empty(
    "Unlisted keys are one group. To ask about the rows of a group, use `where`.",
    *((verb, "by") for verb in _PRIVATE),
)
empty(
    "It counts the values of all rows. To count those of a group, use `where`.",
    ("count_distinct", "by"),
)
empty("Its groups are the drawn ones.", ("median, by groups that nobody listed", "by"))
empty(
    "A profile describes a whole table. Ask for one of the rows of a group instead.",
    ("profile", "by"),
)
empty(
    "A profile describes a whole table, before you ask about some of its rows.",
    ("profile", "where"),
)
empty(
    "It has too many possible answers to compute each of them, but `simulate` draws from it.",
    *(
        (verb, "distribution")
        for verb in ("bounds", "median, by groups that nobody listed", "profile")
    ),
)
empty(
    "An answer made of a quotient, of the ends of the records or of drawn values has no error bound that holds for "
    "all data. Each of its parts has one.",
    *((verb, "plan") for verb in ("mean", "bounds", "profile")),
)
empty(
    "A service answers about columns that its owner described. A profile is for the owner, before there is a "
    "description.",
    *(("profile", place) for place in _SERVICE),
)


def cells() -> Iterator[tuple[str, str]]:
    """Yield all pairs of a verb and a place."""
    for verb in VERBS:
        for place in PLACES:
            yield verb, place


def table() -> str:
    """Return the table of the docs: engines in one column, and footnotes for what is empty."""
    notes = list(dict.fromkeys(REASONS.values()))
    engines = "every engine"

    def mark(verb: str, place: str) -> str:
        if place == engines:
            return "yes" if not any((verb, one) in REASONS for one in ENGINES) else "no"
        return mark_of(REASONS.get((verb, place)), notes)

    lines = rows_of_table(VERBS, (engines, *PLACES[len(ENGINES) :]), mark)
    return "\n".join([*lines, "", *lines_of_notes(notes), ""])


def written() -> str:
    """Return the page with its table."""
    return page_with_tables(PAGE, "tests.verb_places", table())


if __name__ == "__main__":
    PAGE.write_text(written(), encoding="utf-8")
