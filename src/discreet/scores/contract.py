"""The contract of a score: how far it may move is public, the numbers themselves are read last."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Literal, Protocol

from ..errors import InvalidArgument
from ..privacy.sensitivity import Neighbors, Sensitivity
from ..sampling.runs import Runs
from ..sampling.vectors import Vector


class Score(Protocol):
    """What says how good each candidate is: higher is better, always."""

    @property
    def name(self) -> str:
        """The name in the registry and in the docs."""
        ...

    @property
    def parameters(self) -> Mapping[str, Any]:
        """What is public about it beside its name, candidates and sensitivity, in plain values."""
        ...

    def sensitivity(self, neighbors: Neighbors) -> Sensitivity:
        """Return how far the scores of neighbours may be apart, without looking at any data."""
        ...

    @property
    def in_runs(self) -> bool | Literal["sloping"]:
        """Whether `compute` returns runs, for ranges too long to list, and whether those may slope."""
        ...

    @property
    def counts_rows(self) -> bool:
        """Whether `sensitivity` is that of one row, so that it says nothing about a person of many rows.

        Such a score is refused a `privacy_unit`. It is False where rows were bounded (`PerUnit`), where persons
        are counted, and where the caller declares the sensitivity and so says whose it is. A score that does
        not say counts rows.
        """
        ...

    def compute(self, cutoff_gap: Fraction) -> Vector | Runs:
        """Return the scores, one for each candidate, or in runs. Private.

        What is worse than the best by more than `cutoff_gap` hardly matters, and runs may summarise it.
        """
        ...


def bounded_unit(score: Score, unit: str | None) -> str | None:
    """Return the privacy unit, after making sure that the score's sensitivity is about it.

    A score that does not say what it counts is taken to count rows: silence promises nothing.

    Raises:
        InvalidArgument: if nothing bounds what all rows of one person do to it.
    """
    if unit is None or getattr(score, "counts_rows", True) is False:
        return unit
    raise InvalidArgument(
        f"privacy_unit={unit!r} would promise to protect all rows of one {unit}, but {type(score).__name__} "
        "counts rows, and nothing bounds how many one may have. Leave out privacy_unit; in a verb of your own read "
        "the terms with verbs.records.read_inquiry, bound the rows with parts_of, and answer from "
        "per_person(inquiry, scores)"
    )
