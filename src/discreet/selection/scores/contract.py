"""The contract of a score: how far it may move is public, the numbers themselves are read last."""

from collections.abc import Mapping
from fractions import Fraction
from typing import ClassVar, Literal, Protocol

from ...errors import InvalidArgument
from ...mechanisms.accuracy import Measure
from ...privacy.sensitivity import Neighbors, Sensitivity, Unit, one_record
from ...sampling.runs import Runs
from ...sampling.vectors import Vector


class Score(Protocol):
    """A score (utility function) of the candidates: higher is better, always."""

    @property
    def name(self) -> str:
        """The name in the registry and in the docs."""

    @property
    def parameters(self) -> Mapping[str, object]:
        """Its public parameters beside candidates and sensitivity, in plain values."""

    def sensitivity(self, neighbors: Neighbors) -> Sensitivity:
        """Return how far the scores of neighbours may be apart, without looking at any data."""

    @property
    def in_runs(self) -> bool | Literal["sloping"]:
        """Whether `compute` returns runs, for ranges too long to list, and whether those may slope."""

    @property
    def counts_rows(self) -> bool:
        """Whether `sensitivity` is that of one row, and so no bound for a privacy unit of many rows.

        Such a score is refused a `privacy_unit`. It is False where rows were bounded (`PerUnit`), where privacy
        units are counted, and where the caller declares the sensitivity for that unit. A score without this
        property counts rows.
        """

    @property
    def measure(self) -> Measure | None:
        """The meaning of an error of the score to people, or None without one.

        An error of a score without this property is told in units of the score.
        """

    def compute(self, cutoff_gap: Fraction) -> Vector | Runs:
        """Return the scores, one per candidate, or in runs. Private.

        Candidates worse than the best by more than `cutoff_gap` weigh next to nothing, and runs may summarise
        them.
        """


class BaseScore:
    """The usual answers of a score, of which a class states those that differ."""

    __slots__ = ()
    public_fields: ClassVar[tuple[str, ...]] = ()
    """The fields that may be shown: the others hold data."""

    @property
    def parameters(self) -> Mapping[str, object]:
        """None."""
        return {}

    @property
    def in_runs(self) -> bool | Literal["sloping"]:
        """Never: every candidate has a score of its own."""
        return False

    @property
    def counts_rows(self) -> bool:
        """Always; `PerUnit` makes it a score of privacy units."""
        return True

    @property
    def measure(self) -> Measure | None:
        """Units of the score."""
        return Measure()

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={getattr(self, name)}" for name in self.public_fields)
        return f"{type(self).__name__}({fields})"


def measure_of(score: Score) -> Measure | None:
    """Return the meaning of an error of a score; units of the score, if it does not say more."""
    return getattr(score, "measure", Measure())


def bounded_unit(score: Score, unit: Unit | None) -> Unit | None:
    """Return the privacy unit, after making sure that the score's sensitivity is about it.

    A score that does not declare `counts_rows` is taken to count rows.

    Raises:
        InvalidArgument: if nothing bounds the effect of all rows of one unit.
    """
    if unit is None or getattr(score, "counts_rows", True) is False:
        return unit
    raise InvalidArgument(
        f"privacy_unit={unit!r} would promise to protect {one_record(unit)}, but "
        f"{type(score).__name__} counts rows, and nothing bounds how many one may have. Leave out "
        "privacy_unit. In a verb of your own read the terms with verbs.units.read_unit_query, "
        "bound the rows with its columns, and answer from per_person(unit_query, scores)"
    )
