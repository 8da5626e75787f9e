"""The distribution of the answer of a verb, and samples from it, for study instead of release."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, Unpack, overload

from flint import arb

from ..candidates import Grid
from ..errors import InvalidArgument
from ..mechanisms.contract import Law
from ..numbers import Number
from ..releases import Release, Simulation
from ..sampling.bits import SystemBits
from ..sampling.enclosures import precision
from ..sampling.runs import Runs
from ..sampling.vectors import Vector
from ..scores.distance import Lattice
from ..selection import Question, named, order_of
from ..tables.candidate_table import CandidateTable
from ..terms import PAID, Terms, refuse_payment, takes_terms_without
from ..verbs.quantiles import quantiles
from ..verbs.select import select
from ..verbs.top_k import top_k
from .distribution import Distribution
from .support import GridSupport, ListSupport, Support
from .weighted_run import WeightedRun

_CLOSE = arb(2) ** -66
_DRAWS = 1000
_SEVERAL = (quantiles, top_k)


@overload
def distribution(
    verb: Callable[..., Release], /, *arguments: Any, **terms: Any
) -> Distribution: ...


@overload
def distribution(
    scores: object,
    /,
    *,
    sensitivity: Number | None = ...,
    spread: Number | None = ...,
    monotonic: bool = ...,
    candidates: Iterable[object] | None = ...,
    **terms: Unpack[Terms],
) -> Distribution: ...


@takes_terms_without(*PAID, "size")
def distribution(verb: object, /, *arguments: object, **terms: object) -> Distribution:
    """Return the certified distribution of the answer of a verb. It reveals the scores, so it is private.

    `distribution(median, data, grid, epsilon=1)` has the arguments of `median`; any verb with one
    answer will do. Without a verb the arguments are those of `select`. Nothing is drawn, and no budget is
    charged; `size` has no effect.

    Args:
        verb: a verb, such as `discreet.median`, or the scores of `select`.
        *arguments: the arguments of the verb; its keyword arguments are taken too.
        **terms: the shared arguments, described in `Terms`.

    Returns:
        The distribution. The widths of all intervals of probabilities add up to less than 2**-64.

    Raises:
        InvalidArgument: if a public argument cannot be accepted, or the verb gives several answers at
            once; nothing private was looked at.

    Side channels: many. The work is linear in the candidates or runs for the exponential mechanism,
    quadratic for permute_and_flip, cubic for noisy_max. This is for study.
    """
    question = _question(verb, arguments, terms)
    answers = question.answers
    if isinstance(answers, CandidateTable):
        raise InvalidArgument(
            "a distribution over a CandidateTable is not computed: it would name every candidate; "
            "list a few of them"
        )
    scores = question.scores()
    if isinstance(scores, Runs) and scores.whole is not None:
        scores = scores.whole()
    law = question.calibrated.law(scores)
    masses = _masses(law)
    candidates: Any = range(len(masses)) if answers is None else answers
    if isinstance(scores, Runs):
        support, weighted = _on_a_grid(scores, candidates, law)
    else:
        support, weighted = _in_a_list(scores, candidates)
    pairs = list(zip(weighted, masses, strict=True))
    if isinstance(scores, Runs):
        pairs.sort(key=lambda pair: pair[0].lowest)
    return Distribution(
        candidates,
        question.mechanism.name,
        question.calibrated.guarantee,
        getattr(question.score, "unit", Fraction(1)),
        support,
        *zip(*pairs, strict=True),
    )


@overload
def simulate(verb: Callable[..., Release], /, *arguments: Any, **terms: Any) -> Simulation: ...


@overload
def simulate(
    scores: object,
    /,
    *,
    sensitivity: Number | None = ...,
    spread: Number | None = ...,
    monotonic: bool = ...,
    candidates: Iterable[object] | None = ...,
    **terms: Unpack[Terms],
) -> Simulation: ...


@takes_terms_without(*PAID)
def simulate(verb: object, /, *arguments: object, **terms: object) -> Simulation:
    """Return samples for study from the exact distribution of the answer of a verb. Not for publication.

    Errors and side channels are those of `distribution`.

    Args:
        verb: a verb, such as `discreet.median`, or the scores of `select`.
        *arguments: the arguments of the verb; its keyword arguments are taken too.
        size: the number of samples, 1,000 by default.
        **terms: the shared arguments, described in `Terms`.
    """
    question = _question(verb, arguments, terms)
    drawn = [int(i) for i in question.law().draws(question.size or _DRAWS, SystemBits())]
    answers = question.answers
    return Simulation(drawn if answers is None else named(drawn, answers), question.mechanism.name)


def _question(verb: Any, arguments: tuple[object, ...], terms: Mapping[str, object]) -> Question:
    """Return the question that a verb asks, with everything public settled."""
    if not callable(verb):
        verb, arguments = select, (verb, *arguments)
    if verb in _SEVERAL:
        raise InvalidArgument(
            f"{verb.__name__} gives several answers at once; its distribution is over lists and is not computed"
        )
    refuse_payment(terms, "looking at a distribution")
    question = order_of(verb, *arguments, **terms).question
    assert question is not None  # of all verbs only those refused above ask several
    return question


def _masses(law: Law) -> list[arb]:
    """Return balls around the probabilities of all candidates or runs, together less than 2**-64 wide."""
    digits = 192
    while True:
        with precision(digits):
            balls = law.probabilities()
            if sum((ball.rad() for ball in balls), arb(0)) < _CLOSE:
                return balls
        digits *= 2


def _in_a_list(scores: Vector, candidates: Sequence[object]) -> tuple[Support, list[WeightedRun]]:
    """Return the candidates of a list as runs of one."""
    support = ListSupport(candidates)
    return support, [
        WeightedRun(place, 1, scores.exact(i)) for i, place in enumerate(support.places)
    ]


def _on_a_grid(runs: Runs, points: Grid | Lattice, law: Any) -> tuple[Support, list[WeightedRun]]:
    """Return the runs of a grid. Sloping runs need exponential weights."""
    return GridSupport(points), [
        WeightedRun(
            start=int(runs.starts[c]),
            size=int(runs.sizes[c]),
            top=runs.tops.exact(c),
            slope=Fraction(0) if runs.slopes is None else runs.slopes.exact(c),
            upward=runs.upward is None or bool(runs.upward[c]),
            dense=runs.dense,
            rate=None if runs.slopes is None else law.rate,
        )
        for c in range(len(runs))
    ]
