"""Draws for study: a `Simulation`, which may not be published."""

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...base.error_boundary import error_boundaries
from ...selection.releases import as_hashable

if TYPE_CHECKING:
    from ..plots.figure import Figure


@error_boundaries
@dataclass(frozen=True, slots=True)
class Simulation:
    """Draws for study. They were not charged, so they are not private: do not publish them.

    Attributes:
        values: the draws, as candidates or indices, or lists of them if a draw has several answers.
        mechanism: the name of the mechanism.
        candidates: those that could be drawn, if they are few enough to be named in a picture.
        label: the name of the axis of candidates in a picture.
    """

    values: list[Any]
    mechanism: str
    candidates: tuple[Any, ...] = ()
    label: str = "candidate"

    def frequencies(self) -> dict[Any, float]:
        """Return the relative frequencies of the answers, most frequent first. Several at once form a tuple."""
        counts = Counter(map(as_hashable, self.values)).most_common()
        return {value: n / len(self.values) for value, n in counts}

    def plot(self, *, label: str | None = None) -> "Figure":
        """Return a picture of the frequencies as a matplotlib figure. Do not publish it.

        Args:
            label: the name of the axis of candidates. By default the column.
        """
        from .. import plots

        draws, candidates = map(as_hashable, self.values), map(as_hashable, self.candidates)
        name = self.label if label is None else label
        return plots.frequencies(list(draws), label=name, candidates=list(candidates))

    def __repr__(self) -> str:
        return (
            f"Simulation({len(self.values)} draws, {self.mechanism}; not private, do not publish)"
        )
