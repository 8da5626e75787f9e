"""Sensitivity estimated on random datasets: a statement about random data, not about all data."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from ...base.error_boundary import error_boundary
from ...base.messages import Message
from ...base.numbers import Number, count, positive, spell
from ...errors import InvalidArgument, InvalidNumber, preview
from ...privacy.sensitivity import Neighbors, read_neighbors
from ...selection.candidates import Labels
from ...selection.scores.custom import Custom, ScoreFunction
from .binomial import at_most

_MOST_SAMPLES = 10**7


@dataclass(frozen=True, slots=True)
class SensitivityEstimate:
    """The change of scores between random neighbours, except rare ones. It is not a sensitivity.

    A mechanism run with it is *random* differentially private (Hall, Rinaldo and Wasserman 2012): the
    bound of the mechanism holds for a random pair of neighbours, with probability at least 1 - gamma over
    that pair and over the sample. It guarantees nothing for real data that are not drawn like the sample, or for a
    person with an unusual record.

    Attributes:
        change: the most one score changed, after dropping the `samples - order` largest.
        spread: the same for a difference of two scores.
        gamma: the probability that a fresh pair changes more, with the sample counted as random too.
        samples: how many pairs were drawn.
        order: which of them in ascending order was taken.
        neighbors: the relation.
    """

    change: Fraction
    spread: Fraction
    gamma: Fraction
    samples: int
    order: int
    neighbors: Neighbors

    def share(self, confidence: Number) -> Fraction:
        """Return an upper confidence bound on the share of pairs that exceed the spread.

        Here only the sample is random: P(X <= samples - order) is at most 1 - confidence for X binomial.
        """
        level = positive(confidence, "confidence")
        if level >= 1:
            raise InvalidNumber(f"confidence must be below 1, got {preview(confidence)}")
        return at_most(self.samples - self.order, self.samples, 1 - level)

    def __str__(self) -> str:
        return Message(
            "spread {spread}, sensitivity {sensitivity}, but for a share of {gamma:.4g} of chance "
            "pairs ({samples:,} drawn, {neighbors}). Random differential privacy only, with no "
            "promise for other data",
            spread=spell(self.spread), sensitivity=spell(self.change), gamma=float(self.gamma),
            samples=self.samples, neighbors=self.neighbors,
        )  # fmt: skip


@error_boundary
def estimate_sensitivity(  # noqa: PLR0913  # the arguments of select_by, and how to sample
    u: ScoreFunction,
    candidates: Iterable[object],
    record: Callable[[], object],
    size: int,
    *,
    samples: int = 999,
    order: int | None = None,
    neighbors: Neighbors = "add_remove",
    error: Number | None = None,
    granularity: Number | None = None,
) -> SensitivityEstimate:
    """Return the `order`-th smallest of the changes between `samples` random pairs of neighbours.

    Use it for scores with a sensitivity that you can't compute. With gamma = (samples - order + 1) / (samples + 1),
    a fresh pair changes more with probability at most gamma, because it is as likely as any other pair to be among
    the largest. Rubinstein and Aldà bound the same gamma by the Dvoretzky-Kiefer-Wolfowitz inequality, which needs
    many more samples. See docs/how-to/audit.md.

    Args:
        u: as for `select_by`.
        candidates: the possible answers.
        record: returns one random record, independent and identically distributed. It must not read private data.
        size: the number of records of the larger dataset.
        samples: the number of pairs to draw.
        order: the rank of the returned change, in ascending order. By default the largest.
        neighbors: the relation. The last record is left out, or replaced by another random one.
        error: as for `select_by`. Two ideal scores may move apart by four times this error in addition.
        granularity: as for `select_by`.

    Raises:
        InvalidArgument: if an argument is invalid. Nothing was drawn.
        InvalidScores: if `u` fails, or does not return finite numbers.

    Source: Rubinstein and Aldà, ICML 2017, https://arxiv.org/abs/1706.02562.
    """
    m, n = count(samples, "samples", most=_MOST_SAMPLES), count(size, "size")
    k = m if order is None else count(order, "order", most=m)
    relation, labels = read_neighbors(neighbors), list(Labels(candidates))
    if not callable(record):
        raise InvalidArgument(
            f"record must be a function that returns one record, got {preview(record)}"
        )
    score = partial(Custom, u, candidates=labels, spread=1, error=error, granularity=granularity)
    slack = score(None).sensitivity(relation).spread - 1
    moves = [_moves(score, record, n, relation) for _ in range(m)]
    changes = sorted(max(map(abs, each)) + slack / 2 for each in moves)
    spreads = sorted(max(each) - min(each) + slack for each in moves)
    gamma = Fraction(m - k + 1, m + 1)
    return SensitivityEstimate(changes[k - 1], spreads[k - 1], gamma, m, k, relation)


def _moves(
    score: Callable[[list[object]], Custom],
    record: Callable[[], object],
    size: int,
    neighbors: Neighbors,
) -> list[Fraction]:
    """Return how far the scores move between two random neighbours, the larger of `size` records."""
    common = [record() for _ in range(size - 1)]
    other = [record()] if neighbors == "replace_one" else []
    before, after = _exact_scores(score(common + other)), _exact_scores(score([*common, record()]))
    return [b - a for a, b in zip(before, after, strict=True)]


def _exact_scores(score: Custom) -> list[Fraction]:
    """Return all scores as fractions, after making sure that they are finite."""
    vector = score.compute(Fraction(0))
    vector.best()
    return [vector.exact(i) for i in range(len(vector))]
