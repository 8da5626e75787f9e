"""private_candidates: the best of several private attempts, such as models trained with privacy."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from operator import attrgetter
from typing import Any, TypeVar

from ..arguments import refuse_one_shot
from ..candidates import Labels
from ..datasets.calls import takes_dataset
from ..error_boundary import error_boundary
from ..errors import InvalidArgument, InvalidScores, preview
from ..mechanisms.repetitions import RepetitionKind, Repetitions
from ..numbers import Number, positive
from ..payment import Account, read_account
from ..privacy.guarantees import PureDP
from ..privacy.sensitivity import Neighbors, read_neighbors
from ..privacy.units import read_unit
from ..releases import Release
from ..sampling.bits import SystemBits, below
from ..sampling.vectors import read_vector
from ..scores.custom import replacing_errors
from ..selection import Order, Query

_T = TypeVar("_T")

RunCandidate = Callable[[Any, Any, Fraction], tuple[Any, Any]]
"""Tries a candidate on the data at an epsilon, and returns its score and its result."""


@dataclass(frozen=True, slots=True, repr=False)
class Attempt:
    """The outcome of one attempt. Private, but for the best."""

    index: int
    exact: Fraction
    score: object
    result: object


@error_boundary
@partial(takes_dataset, asks="anything")
def private_candidates(  # noqa: PLR0913  # what is tried, on what, how often, and who pays
    run: RunCandidate,
    data: object,
    candidates: Iterable[_T],
    *,
    epsilon: Number,
    repetitions: RepetitionKind = "logarithmic",
    gamma: Number = "0.01",
    neighbors: Neighbors = "add_remove",
    privacy_unit: str | Sequence[str] | None = None,
    ledger: Account | None = None,
) -> Release[tuple[_T, Any, Any]]:
    """Release the best of K private attempts, with candidates picked at random; K is random too.

    Args:
        run: called as run(data, candidate, share): returns a score, higher is better, and any result. You
            vouch that, for any candidate, score and result together are share-DP, with new randomness at
            every call. A score read off the private data breaks the promise: it needs noise as well.
        data: the first argument of `run`, untouched. Private.
        candidates: the settings to try, such as those of a model; public.
        epsilon: the privacy parameter ε of the whole release, a positive number without a unit; exact: 0.1 is one
            tenth. The share of an attempt is a half of it if logarithmic, a third if geometric.
        repetitions: the distribution of K: "logarithmic" (the default) costs less, "geometric" rarely stops early.
        gamma: between 0 and 1, "0.01" by default: the smaller, the more attempts: at 0.01 on average 21.5 if
            logarithmic, 100 if geometric.
        neighbors: the neighbouring relation that is protected: "add_remove" (the default) or "replace_one".
        privacy_unit: the name of the column of the privacy unit, if an attempt is private for all rows of a unit;
            without it a row is a record.
        ledger: the account to charge, such as `Ledger("budget.db").session("adult")`. Without it no budget is kept.

    Returns:
        (candidate, score, result) of the best attempt. Nothing of the others may be shown, nor how many they were.

    Raises:
        InvalidArgument: if a public argument cannot be accepted; `run` was not called.
        InvalidScores: if `run` fails, or its score is no finite number. The message never quotes the data.

    Guarantee: epsilon-DP, if every attempt is share-DP.

    Side channels: all that `run` does: its time, and whether it fails. The time also tells about how
    large K was; to stop when a time is up would break the promise.

    Source: Liu and Talwar, STOC 2019; Papernot and Steinke, ICLR 2022. Proof:
    docs/reference/mechanisms/private_candidates.md.
    """
    if not callable(run):
        raise InvalidArgument(
            f"run must be a function run(data, candidate, share), got {preview(run)}"
        )
    refuse_one_shot(data, "the data")
    labels, tries = Labels(candidates), Repetitions(repetitions, gamma)
    guarantee = PureDP(positive(epsilon, "epsilon"), read_neighbors(neighbors))
    share = guarantee.epsilon / tries.price
    account, unit = read_account(ledger), read_unit(privacy_unit)
    query = _query(getattr(run, "__name__", "a function"), labels, tries, guarantee)
    details = partial(_details, labels, guarantee)
    order = Order(query, guarantee, "private_candidates", details, account, unit=unit)
    trial = _Trial(run, data, labels, tries, share)
    return order.deliver(trial.prepare, trial.name)


def _query(function: str, labels: Labels, tries: Repetitions, guarantee: PureDP) -> Query:
    """Return the query, in words and in public values."""
    return Query(
        "private_candidates",
        f"private_candidates {function}, {labels.size} candidates",
        {
            "run": function,
            "repetitions": tries.kind,
            "gamma": tries.gamma,
            "neighbors": guarantee.neighbors,
        },
    )


def _details(labels: Labels, guarantee: PureDP) -> dict[str, object]:
    """Return the rest of the description that decides the distribution, for a digest."""
    return {
        "candidates": labels.description,
        "privacy_parameter": {"epsilon": guarantee.epsilon},
    }


@dataclass(slots=True, repr=False)
class _Trial:
    """The attempts of one release. Private, but for the best.

    Attributes:
        run: tries one candidate.
        data: the private data.
        labels: the candidates.
        tries: the distribution of the number of attempts.
        share: the epsilon of an attempt.
        best: the best attempt, once it has been drawn.
    """

    run: RunCandidate
    data: object
    labels: Labels
    tries: Repetitions
    share: Fraction
    best: Attempt | None = None

    def prepare(self) -> Callable[[], int]:
        """Return the function that draws: there are no scores to compute before payment."""
        return self.draw

    def draw(self) -> int:
        """Return the index of the best of K candidates, drawn uniformly and with replacement."""
        bits = SystemBits()
        indices = (below(self.labels.size, bits) for _ in range(self.tries.draw(bits)))
        # The first of equal scores is any of them, as all tries have the same law.
        self.best = max(map(self._attempt, indices), key=attrgetter("exact"))
        return self.best.index

    def name(self, index: int) -> tuple[object, object, object]:
        """Return the candidate with its score and its result."""
        assert self.best is not None
        return self.labels[index], self.best.score, self.best.result

    def _attempt(self, index: int) -> Attempt:
        return _attempt(self.run, self.data, self.labels[index], self.share, index)


def _attempt(
    run: RunCandidate, data: object, candidate: object, share: Fraction, index: int
) -> Attempt:
    """Try a candidate, and check its score."""

    def call() -> tuple[object, object]:
        score, result = run(data, candidate, share)
        return score, result

    def check() -> Fraction:
        scores = read_vector([score])
        scores.best()  # refuses what is not finite
        return scores.exact(0)

    score, result = replacing_errors(call, who="run")
    exact = replacing_errors(check, passing=(InvalidScores,), who="run")
    return Attempt(index, exact, score, result)
