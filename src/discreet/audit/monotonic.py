"""The audit of the claim that one record moves all scores the same way."""

from collections.abc import Iterable
from dataclasses import dataclass

from ..error_boundary import error_boundary
from ..messages import Message
from ..scores.custom import ScoreFunction
from .sensitivity import Counterexample, nothing_found, sensitivity

_ANY = 10**300
"""A sensitivity that no score exceeds, so that the audit is of the direction alone."""


@dataclass(frozen=True, slots=True)
class MonotonicAudit:
    """The result of an audit: without a counterexample and exhaustive, a proof for that universe and those sizes.

    Attributes:
        pairs: how many pairs of neighbours were looked at.
        exhaustive: whether they are all there are.
        counterexample: two neighbours between which one score rises and another falls; None if there are none.
    """

    pairs: int
    exhaustive: bool
    counterexample: Counterexample | None

    @property
    def holds(self) -> bool:
        """Whether no counterexample was found. Only if exhaustive that is a proof."""
        return self.counterexample is None

    def __str__(self) -> str:
        if self.counterexample is not None:
            return Message("FALSE: {counterexample}", counterexample=self.counterexample)
        return Message(
            "monotonic: {search}", search=nothing_found(self.pairs, exhaustive=self.exhaustive)
        )


@error_boundary
def monotonic(
    u: ScoreFunction,
    candidates: Iterable[object],
    universe: Iterable[object],
    sizes: Iterable[int],
    *,
    budget: int = 20_000,
) -> MonotonicAudit:
    """Return whether one record that comes or goes moves all scores the same way, and a counterexample if not.

    That is the claim `monotonic=True` by itself, whatever the sensitivity. The search is that of `sensitivity`.

    Args:
        u: as for `select_by`: u(data, candidates), where data is a list of records. `u` must not depend on their
            order: it gets them in the order of the universe.
        candidates: the possible answers.
        universe: the records that a dataset may contain, with repetition.
        sizes: how many records a dataset may have, such as range(4).
        budget: how many pairs to look at.

    Raises:
        InvalidArgument: if an argument cannot be accepted; `u` was not called.
    """
    sensitivity_audit = sensitivity(
        u, candidates, universe, sizes, budget=budget, sensitivity=_ANY, monotonic=True
    )
    return MonotonicAudit(
        sensitivity_audit.pairs, sensitivity_audit.exhaustive, sensitivity_audit.counterexample
    )
