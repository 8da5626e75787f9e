"""The distribution of the answer of a verb, and samples from it, for study instead of release."""

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from inspect import signature
from typing import Any, Unpack, overload

from flint import arb

from ...base.numbers import Number, count
from ...errors import InvalidArgument
from ...sampling.bits import SystemBits
from ...sampling.runs import Runs
from ...sampling.vectors import Vector
from ...selection.answers import Answer
from ...selection.candidates import Grid
from ...selection.date_grid import DateGrid
from ...selection.decimals import Decimals
from ...selection.noise import geometric, laplace
from ...selection.question import MOST_DRAWS, Delivery, Question, answers_at
from ...selection.releases import Release, as_hashable
from ...selection.scores.distance import Lattice
from ...selection.select import select
from ...selection.terms import PAID, Terms, refuse_payment, takes_terms_without
from ...selection.verb_calls import delivery_of
from ...tables.engines.candidate_table import CandidateTable
from .answer_masses import ANYTHING_ELSE, certified_masses, chances_with_rest
from .distribution import Distribution
from .simulations import Simulation
from .support import DateSupport, DecimalSupport, GridSupport, ListSupport, Support, WeightedRun

_DRAWS = 1000
_MOST_NAMED = 40
"""The most candidates that a picture names."""

_NOISE = (laplace, geometric)

_MOST_LISTS = 20_000
"""The most lists of several answers whose probabilities are worked out one by one."""


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

    `distribution(median, data, grid, epsilon=1)` has the arguments of `median`. You can use any verb with one
    answer, and `top_k` if there are at most 20,000 lists. Its candidates are tuples. Their score is how far the
    worst place is behind the candidate that should be there, as a negative number. For `keys`, `counts` with a
    delta and candidates="private", the distribution is known for tables with a few keys. Without a verb, the
    arguments are those of `select`. Nothing is drawn, and no budget is charged. `size` has no effect.

    Args:
        verb: a verb, such as `discreet.median`, or the scores of `select`.
        *arguments: the arguments of the verb. You can also pass its keyword arguments.
        **terms: the shared arguments, described in `Terms`.

    Returns:
        The distribution. The widths of all intervals of probabilities add up to less than 2**-64.

    Raises:
        InvalidArgument: if a public argument is invalid, or the verb returns several answers at once that
            can't be enumerated (`quantiles`, `select_rows`, groups). Nothing private was read.

    Side channels: many. The work is linear in the candidates or runs for the exponential mechanism,
    quadratic for permute_and_flip, cubic for noisy_max. This is for study.
    """
    delivery = _delivery_of(verb, arguments, terms)
    question, label = delivery.order.question, _column_of(verb, arguments, terms)
    if question is None:
        return _of_enumeration(delivery, label)
    if question.calibrated.list_length is not None:
        return _of_lists(delivery, question, question.calibrated.list_length, label)
    answers = question.answers
    if isinstance(answers, CandidateTable):
        raise InvalidArgument(
            "a distribution over a CandidateTable is not computed: it would name every candidate. "
            "List a few of them"
        )
    scores = question.scores()
    if isinstance(scores, Runs) and scores.whole is not None:
        scores = scores.whole()
    law = question.calibrated.law(scores)
    masses = certified_masses(law.probabilities)
    candidates: Any = range(len(masses)) if answers is None else answers
    if isinstance(scores, Runs):
        support, weighted = _on_a_grid(scores, candidates, law)
    else:
        support, weighted = _in_a_list(scores, candidates)
    if isinstance(scores, Runs):
        pairs = sorted(zip(weighted, masses, strict=True), key=lambda pair: pair[0].lowest)
        weighted, masses = [run for run, _ in pairs], [mass for _, mass in pairs]
    return Distribution(
        candidates,
        question.mechanism.name,
        question.calibrated.guarantee,
        getattr(question.score, "unit", Fraction(1)),
        support,
        tuple(weighted),
        tuple(masses),
        label=label,
        _name=next((noise.__name__ for noise in _NOISE if verb is noise), ""),
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

    You can use any verb. If it returns several answers at once, a sample contains all of them. Everything that
    depends on the data, such as the distribution of joint quantiles, is computed once for all samples.

    Errors and side channels are those of `distribution`.

    Args:
        verb: a verb, such as `discreet.median`, or the scores of `select`.
        *arguments: the arguments of the verb. You can also pass its keyword arguments.
        size: the number of samples, 1,000 by default.
        **terms: the shared arguments, described in `Terms`.
    """
    size = terms.pop("size", None)
    size = _DRAWS if size is None else count(size, "size", most=MOST_DRAWS)
    label = _column_of(verb, arguments, terms)
    delivery = _delivery_of(verb, arguments, terms)
    order, question = delivery.order, delivery.order.question
    if question is None or question.calibrated.is_several:
        draw = delivery.prepare()  # the distribution is computed once
        lists = [_plain_answer(Answer.of(delivery.name(draw())).value) for _ in range(size)]
        return Simulation(lists, order.mechanism, label=label)
    indices = [int(i) for i in question.law().draws(size, SystemBits())]
    answers = question.answers
    values = indices if answers is None else answers_at(indices, answers)
    return Simulation(values, order.mechanism, _few(question), label)


def _few(question: Question) -> tuple[object, ...]:
    """Return the candidates, or their indices, if a picture can name them all."""
    n, answers = question.candidates, question.answers
    if n is None or n > _MOST_NAMED or isinstance(answers, CandidateTable):
        return ()
    return tuple(range(n) if answers is None else answers_at(list(range(n)), answers))


def _column_of(verb: object, arguments: tuple[object, ...], terms: Mapping[str, object]) -> str:
    """Return the name of the column that a verb is asked of: the label of the axis of candidates."""
    takes_column = callable(verb) and "column" in signature(verb).parameters
    column = arguments[1] if takes_column and len(arguments) > 1 else terms.get("column")
    return column if takes_column and isinstance(column, str) else "candidate"


def _plain_answer(answer: Any) -> Any:
    """Return several answers in an array as a list."""
    return answer.tolist() if hasattr(answer, "tolist") else answer


def _delivery_of(verb: Any, arguments: tuple[object, ...], terms: Mapping[str, object]) -> Delivery:
    """Return the delivery that a verb would make, with everything public settled."""
    if not callable(verb):
        verb, arguments = select, (verb, *arguments)
    refuse_payment(terms, "looking at a distribution")
    return delivery_of(verb, *arguments, **terms)


def _of_enumeration(delivery: Delivery, label: str) -> Distribution:
    """Return the distribution of an answer of several parts, worked out answer by answer. They have no score.

    Raises:
        InvalidArgument: if they are not worked out, or are too many.
    """
    order = delivery.order
    if order.lists is None:
        raise InvalidArgument(
            f"{order.query.verb} gives several answers here, and their joint distribution is not "
            "computed. Draw from it with simulate, or ask for one quantile, row or group"
        )
    lists = order.lists()
    answers = lists.answers(_MOST_LISTS)
    several = certified_masses(partial(chances_with_rest, lists, answers))
    one_by_one = [as_hashable(Answer.of(delivery.name(one)).value) for one in answers]
    one_by_one += [ANYTHING_ELSE] * (len(several) - len(answers))
    together: dict[Any, arb] = {}  # answers that differ in what was drawn besides are one
    for name, mass in zip(one_by_one, several, strict=True):
        together[name] = together[name] + mass if name in together else mass
    names, masses = [*together], [*together.values()]
    weighted = tuple(WeightedRun(place, 1, Fraction(0)) for place in range(len(names)))
    return Distribution(
        names,
        order.mechanism,
        order.guarantee,
        Fraction(1),
        ListSupport(names),
        weighted,
        tuple(masses),
        label=label,
    )


def _of_lists(delivery: Delivery, question: Question, k: int, label: str) -> Distribution:
    """Return the distribution of a list of several candidates. Its score is that of its worst place.

    That is how far a place of the list is behind the candidate that should be there, at worst, below zero: the
    score of the joint mechanism, and an error to compare others by.

    Raises:
        InvalidArgument: if there are too many lists.
    """
    scores, answers = question.scores(), question.answers
    if isinstance(answers, CandidateTable) or not isinstance(scores, Vector):
        raise InvalidArgument(
            "a distribution over a CandidateTable is not computed. List a few candidates"
        )
    n = len(scores)
    if count(k, "k", most=n) and math.perm(n, k) > _MOST_LISTS:
        raise InvalidArgument(
            f"there are {math.perm(n, k):,} lists of {k} of {n:,} candidates, and up to "
            f"{_MOST_LISTS:,} are worked out. Use simulate, which draws from any number"
        )
    masses = certified_masses(question.calibrated.law(scores).probabilities)
    names = range(n) if answers is None else answers
    exact = [scores.exact(i) for i in range(n)]
    best_first = sorted(exact, reverse=True)
    lists = list(itertools.permutations(range(n), k))
    losses = [max(w - exact[i] for w, i in zip(best_first, one, strict=False)) for one in lists]
    is_single = delivery.order.query.verb == "mode"
    candidates = [names[one[0]] if is_single else tuple(names[i] for i in one) for one in lists]
    weighted = [WeightedRun(place, 1, -loss) for place, loss in enumerate(losses)]
    unit = getattr(question.score, "unit", Fraction(1))
    return Distribution(
        candidates, question.mechanism.name, question.calibrated.guarantee, unit, ListSupport(candidates),
        tuple(weighted), tuple(masses), label=label,
    )  # fmt: skip


def _in_a_list(scores: Vector, candidates: Sequence[object]) -> tuple[Support, list[WeightedRun]]:
    """Return the candidates of a list as runs of one."""
    support = ListSupport([candidates[i] for i in range(len(scores))])
    return support, [
        WeightedRun(place, 1, scores.exact(i)) for i, place in enumerate(support.places)
    ]


def _on_a_grid(
    runs: Runs, points: Grid | DateGrid | Decimals | Lattice, law: Any
) -> tuple[Support, list[WeightedRun]]:
    """Return the runs of a grid. Sloping runs need exponential weights."""
    support: Support
    if isinstance(points, Decimals):
        support = DecimalSupport(points)
    else:
        support = DateSupport(points) if isinstance(points, DateGrid) else GridSupport(points)
    return support, [
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
