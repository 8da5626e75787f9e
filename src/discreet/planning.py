"""Looking at a law instead of drawing from it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Unpack

from .enclosures import lower, precision, upper
from .numbers import Number
from .scores import Given
from .selection import Terms, ask, law_of, refuse_payment, takes_terms
from .verbs.select import unfold

_CLOSE = Fraction(1, 2**64)


@dataclass(frozen=True, slots=True, repr=False)
class Distribution:
    """The law of an answer, each probability certified between two fractions. Private, like the scores.

    Attributes:
        candidates: what may be answered, or the indices.
        lower: a lower bound on each probability.
        upper: an upper bound on each probability.
    """

    candidates: Sequence[Any]
    lower: Sequence[Fraction]
    upper: Sequence[Fraction]

    def pmf(self) -> dict[Any, float]:
        """Return each probability as the double nearest to the middle of its bounds."""
        bounds = zip(self.candidates, self.lower, self.upper, strict=True)
        return {candidate: float((low + high) / 2) for candidate, low, high in bounds}

    def __len__(self) -> int:
        return len(self.candidates)

    def __repr__(self) -> str:
        return f"Distribution(over {len(self)} candidates; private, do not publish)"


@takes_terms
def distribution(
    scores: Any,
    *,
    sensitivity: Number | None = None,
    spread: Number | None = None,
    monotonic: bool = False,
    candidates: Iterable[Any] | None = None,
    **terms: Unpack[Terms],
) -> Distribution:
    """Return the law of what `select` would answer, certified. It tells the scores, so it is private.

    Takes what `select` takes; `size` changes nothing. The two bounds on each probability differ by less
    than 2**-64.
    """
    refuse_payment(terms, "distribution")
    scores, labels = unfold(scores, candidates)
    law = law_of(ask(Given(scores, sensitivity, spread, monotonic), terms), labels)
    digits = 128
    while True:
        with precision(digits):
            balls = law.probabilities()
        bounds = [(lower(p), upper(p)) for p in balls]
        if all(high - low < _CLOSE for low, high in bounds):
            return Distribution(labels or range(len(bounds)), *zip(*bounds, strict=True))
        digits *= 2
