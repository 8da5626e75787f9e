"""One question of every verb that releases counts, sums or keys, for tests of all ways to a service."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Example:
    """A question, and whether an answer has its shape."""

    verb: str
    column: str | None
    terms: dict[str, Any]
    has_shape: Callable[[Any], bool]
    form: dict[str, str] | None = None

    @property
    def body(self) -> dict[str, Any]:
        """The question as JSON."""
        plain = {"verb": self.verb, "dataset": "people", "terms": self.terms}
        return plain if self.column is None else {**plain, "column": self.column}

    @property
    def fields(self) -> dict[str, str]:
        """The question as the fields of a form."""
        column = {} if self.column is None else {"column": self.column}
        return {"dataset": "people", "verb": self.verb, **column, **(self.form or self.terms)}

    @property
    def toml(self) -> str:
        """The question as the owner names it."""
        column = {} if self.column is None else {"column": self.column}
        keys = {"verb": self.verb, **column, **self.terms}
        return f"{{ {', '.join(f'{name} = {_toml(term)}' for name, term in keys.items())} }}"


def _toml(term: Any) -> str:
    if isinstance(term, list):
        return f"[{', '.join(map(_toml, term))}]"
    if isinstance(term, bool):
        return str(term).lower()
    return f'"{term}"' if isinstance(term, str) else str(term)


def is_count(value: Any) -> bool:
    """Return whether a value is a released count, which its noise may take below 0."""
    return type(value) is int and -(2**63) <= value < 2**63


def are_cities(value: Any) -> bool:
    """Return whether there is a count of both declared cities, in their order."""
    return list(value) == ["Bern", "Basel"] and all(map(is_count, value.values()))


def are_keys(value: Any) -> bool:
    """Return whether there are some of the values in the data, sorted."""
    return value == sorted(value) and {*value} <= {"Bern", "Basel"}


KEYS = {"epsilon": "1/4", "delta": "1e-9"}

EXAMPLES = {
    "count": Example("count", None, {"epsilon": "1/64"}, is_count),
    "count-of": Example("count", "age", {"epsilon": "1/64"}, is_count),
    "count-by": Example(
        "count", None, {"epsilon": "1/64", "by": "city"}, are_cities
    ),
    "counts": Example("counts", "city", {"epsilon": "1/64"}, are_cities),
    "counts-by": Example(
        "counts", "city", {"epsilon": "1/64", "by": "city"},
        lambda value: list(value) == ["Bern", "Basel"] and all(map(are_cities, value.values())),
    ),
    "sum": Example("sum", "age", {"epsilon": "1/64"}, lambda value: value == int(value)),
    "gap": Example(
        "mode", "city", {"epsilon": "1/64", "gap": True}, lambda value: value in ("Bern", "Basel"),
        {"epsilon": "1/64", "gap": "yes"},
    ),
    "most": Example(
        "top_k", "city", {"epsilon": "1/64", "k": 1}, lambda value: value in (["Bern"], ["Basel"])
    ),
    "most-gap": Example(
        "top_k", "city", {"epsilon": "1/64", "k": 1, "gap": True, "method": "peeling"},
        lambda value: value in (["Bern"], ["Basel"]), {"epsilon": "1/64", "k": "1", "gap": "yes"},
    ),
    "most-counts": Example(
        "top_k", "city", {"epsilon": "1/64", "k": 1, "method": "counts"},
        lambda value: value in (["Bern"], ["Basel"]), {"epsilon": "1/64", "k": "1"},
    ),
    "common-counts": Example(
        "mode", "city", {"epsilon": "1/64", "method": "counts"},
        lambda value: value in ("Bern", "Basel"), {"epsilon": "1/64"},
    ),
    "bounds": Example("bounds", "age", {"epsilon": "1/64"}, lambda value: value[0] <= value[1]),
    "bounds-q": Example("bounds", "age", {"epsilon": "1/64", "q": "9/10"}, lambda value: value == sorted(value)),
    "keys": Example("keys", "city", KEYS, are_keys),
    "keys-other": Example("keys", "city", {**KEYS, "other": "1/10", "minimum_count": 20}, are_keys),
    "counts-delta": Example(
        "counts", "city", KEYS, lambda value: are_keys(list(value)) and all(map(is_count, value.values()))
    ),
    "groups": Example(
        "median", "age", {**KEYS, "by": "city", "groups": "private"},
        lambda value: {*value} <= {"Bern", "Basel"} and all(0 <= one <= 120 for one in value.values()),
        {"epsilon": "1/4", "by": "city"},
    ),
    "mode-private": Example(
        "mode", "city", {**KEYS, "candidates": "private"}, lambda value: value in ("Bern", "Basel", None),
        {"epsilon": "1/4"},
    ),
    "most-private": Example(
        "top_k", "city", {**KEYS, "k": 2, "candidates": "private"},
        lambda value: {*value} <= {"Bern", "Basel"}, {"epsilon": "1/4", "k": "2"},
    ),
    "mean": Example("mean", "age", {"epsilon": "1/4"}, lambda value: value is None or 0 <= value <= 120),
    "distinct": Example("count_distinct", "city", {"epsilon": "1/4"}, lambda value: value == int(value)),
    "variance": Example("variance", "age", {"epsilon": "1/4"}, lambda value: value is None or 0 <= value <= 3600),
    "standard_deviation": Example(
        "standard_deviation", "age", {"epsilon": "1/4"}, lambda value: value is None or 0 <= value <= 60
    ),
}  # fmt: skip
"""By name."""
