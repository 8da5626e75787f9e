"""The exact audit: the privacy loss between two distributions, in certified intervals, without sampling."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import Any, Protocol, Unpack, overload

from flint import arb

from ...base.arguments import read_sequence
from ...base.error_boundary import error_boundaries, error_boundary
from ...base.messages import AND, Message, join
from ...base.numbers import Number, positive
from ...base.numbers import exact as exact_number
from ...errors import InvalidArgument, InvalidNumber, preview
from ...privacy.guarantees import BoundedRange, Guarantee
from ...privacy.several_dp import reading_of
from ...sampling.enclosures import ball, lower, precision, upper
from ...sampling.runs import Runs
from ...sampling.vectors import read_vector
from ...selection.answers import refuse_too_many
from ...selection.question import Question, ask
from ...selection.releases import Release
from ...selection.scores.given import Given
from ...selection.terms import PAID, Terms, refuse_payment, takes_terms_without
from ...selection.verb_calls import delivery_of
from ..planning.answer_masses import chances_with_rest

_SAME = Fraction(1, 2**100)
"""Numbers that agree to within this count as equal: a ball can never show that two reals are."""

_MOST_PRECISION = 2**15

_LARGEST_EXPONENT = Fraction(10**5)
"""Of a larger epsilon, exp(epsilon) is not written out."""

_MOST_LISTED = 20_000
"""The most answers of a verb that are worked out one by one."""

_MOST_OUTPUTS = 10**5
"""The most outputs of a distribution that is given as a list."""

ExtendedNumber = Fraction | float
"""An exact number, or `math.inf`, or minus that."""


class ProbabilityLaw(Protocol):
    """A distribution that states its probabilities, as those of mechanisms do."""

    def probabilities(self) -> list[arb]:
        """Return balls around the probabilities of all outputs, at the current precision."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A real number between two bounds, which are exact and may be infinite."""

    lower: ExtendedNumber
    upper: ExtendedNumber

    def __float__(self) -> float:
        if math.isinf(self.lower) or math.isinf(self.upper):
            return float(self.upper)
        return float((Fraction(self.lower) + Fraction(self.upper)) / 2)

    def __str__(self) -> str:
        if math.isinf(self.upper):
            return Message("infinite")
        return "0" if -_SAME < self.lower <= self.upper < _SAME else f"{float(self):.10g}"


@error_boundaries
@dataclass(frozen=True, slots=True, eq=False)
class ExactAudit:
    """The privacy loss between the distributions on two neighbours, against a claim. As private as both.

    It is about these two datasets only. The epsilon of a mechanism is the largest over all neighbours.

    Attributes:
        claimed: the epsilon that was claimed.
        delta: the delta that was claimed with it, 0 for pure differential privacy.
        bounded_range: whether the range was claimed to be at most epsilon as well.
        epsilon: the largest log-ratio of the two distributions, in either direction.
        output: the index of the output that attains it.
        forward: the largest ln P(r) / Q(r), P the first distribution and Q the second.
        backward: the largest ln Q(r) / P(r).
        range: the largest difference of two log-ratios: forward + backward.
    """

    claimed: Fraction
    delta: Fraction
    bounded_range: bool
    epsilon: Interval
    output: int
    forward: Interval
    backward: Interval
    range: Interval
    _laws: tuple[list[arb], list[arb]] = field(repr=False)

    @property
    def holds(self) -> bool:
        """Whether the claim certainly holds for this pair, up to 2**-100."""
        if self.delta:
            return self.hockey_stick(self.claimed).upper <= self.delta + _SAME
        largest = self.range if self.bounded_range else self.epsilon
        return largest.upper <= self.claimed + _SAME

    @property
    def slack(self) -> float:
        """The claimed epsilon divided by the true one."""
        true = float(self.epsilon)
        return float(self.claimed) / true if true else math.inf

    def hockey_stick(self, epsilon: Number) -> Interval:
        """Return the largest P(E) - exp(epsilon) Q(E) over all events E, in either direction.

        It is the least delta with which (epsilon, delta)-differential privacy holds for the pair. The best
        event consists of the outputs whose ratio is above exp(epsilon).
        """
        excesses = [_excesses(a, b, _not_negative(epsilon)) for a, b in self._directions()]
        sums = [Interval(sum(e[0] for e in es), sum(e[1] for e in es)) for es in excesses]
        return Interval(max(s.lower for s in sums), max(s.upper for s in sums))

    def event(self, epsilon: Number) -> list[int]:
        """Return the outputs of the event that attains `hockey_stick`."""
        bound = _not_negative(epsilon)
        excesses = [_excesses(a, b, bound) for a, b in self._directions()]
        best = max(excesses, key=lambda es: sum(e[0] for e in es))
        return [i for i, (least, _) in enumerate(best) if least > 0]

    def losses(self) -> list[Interval]:
        """Return the privacy losses ln P(r) / Q(r) by output r. Positive if r is likelier on the first."""
        with precision(512):
            return [_log_ratio(p, q) for p, q in zip(*self._laws, strict=True)]

    def as_dict(self) -> dict[str, object]:
        """Return the audit in plain values, ready for JSON."""
        return {
            "holds": self.holds,
            "claimed": {"epsilon": str(self.claimed), "delta": str(self.delta),
                        "bounded_range": self.bounded_range},
            "epsilon": str(self.epsilon), "output": self.output, "range": str(self.range),
            "hockey_stick": str(self.hockey_stick(self.claimed)), "slack": f"{self.slack:.4g}",
        }  # fmt: skip

    def _directions(self) -> tuple[tuple[list[arb], list[arb]], tuple[list[arb], list[arb]]]:
        first, second = self._laws
        return (first, second), (second, first)

    def __str__(self) -> str:
        verdict = Message("holds for this pair" if self.holds else "FALSE")
        return Message(
            "claimed  {claim}: {verdict}\ntrue     ε = {epsilon} (output {output}), range {range}\n"
            "δ at the claimed ε: {delta}",
            claim=self.claim, verdict=verdict, epsilon=self.epsilon, output=self.output,
            range=self.range, delta=self.hockey_stick(self.claimed),
        )  # fmt: skip

    @property
    def claim(self) -> str:
        """The claim in words."""
        numbers = [f"ε = {float(self.claimed):.10g}"]
        if self.delta:
            numbers.append(f"δ = {float(self.delta):.6g}")
        claim = join(AND, numbers)
        return Message("{epsilon}, bounded range", epsilon=claim) if self.bounded_range else claim


@overload
def exact(
    verb: Callable[..., Release],
    data: object,
    data_of_neighbor: object,
    /,
    *arguments: Any,
    **terms: Any,
) -> ExactAudit: ...


@overload
def exact(
    scores: object,
    scores_of_neighbor: object,
    /,
    *,
    sensitivity: Number | None = ...,
    spread: Number | None = ...,
    monotonic: bool = ...,
    **terms: Unpack[Terms],
) -> ExactAudit: ...


@takes_terms_without(*PAID, "size")
def exact(
    scores: object,
    scores_of_neighbor: object,
    *arguments: Any,
    sensitivity: Number | None = None,
    spread: Number | None = None,
    monotonic: bool = False,
    **terms: Any,
) -> ExactAudit:
    """Return the true privacy loss of `select` on the scores of two neighbours, against its guarantee.

    If you pass a verb first, the two are neighbouring tables. For example, `exact(top_k, data, data_of_neighbor,
    "drink", k=2, epsilon=1)` audits the answers of `top_k`. Lists and counts work too, if at most 20,000 answers
    can be enumerated. The others, such as counts far from the true ones, count as one answer.

    Args:
        scores: the scores on one dataset, as for `select`, without names, or a verb.
        scores_of_neighbor: the scores on the other, in the same order.
        *arguments: for a verb, the data of the neighbour and the arguments after the data.
        sensitivity: the most that one score can change between neighbours, as for `select`. It is not checked
            against the scores, so that the audit can refute it.
        spread: instead of `sensitivity`, the most that a difference of two scores can change (range sensitivity).
        monotonic: whether one record more or less moves all scores in the same direction, False by default.
        **terms: the shared arguments, described in `Terms`.

    Raises:
        InvalidArgument: if a public argument is invalid, or the answers of a verb can't be enumerated.
        InvalidScores: if the scores are not finite numbers, or their numbers differ.
    """
    if terms.get("size") is not None:
        raise InvalidArgument("size must be left out: an audit is of one answer")
    if callable(scores):
        if not arguments:
            raise InvalidArgument("a verb needs the data and those of a neighbour")
        change = {"sensitivity": sensitivity, "spread": spread, "monotonic": monotonic}
        options = {name: value for name, value in change.items() if value not in (None, False)}
        return _of_answers(scores, (scores_of_neighbor, *arguments), {**terms, **options})
    if arguments:
        raise InvalidArgument("give the scores on two datasets, or a verb before two tables")
    return _of_scores(
        scores, scores_of_neighbor, Given(scores, sensitivity, spread, monotonic), terms
    )


def _of_scores(scores: object, scores_of_neighbor: object, score: Given, terms: Any) -> ExactAudit:
    """Return the audit of `select` on two lists of scores."""
    question = ask(score, terms)
    first, second = read_vector(scores), read_vector(scores_of_neighbor)
    if len(first) != len(second):
        raise InvalidArgument(
            f"neighbours score the same candidates, got {len(first)} and {len(second)}"
        )
    guarantee = question.calibrated.guarantee
    claim = (_epsilon_of(guarantee), Fraction(0), isinstance(guarantee, BoundedRange))
    return _audit(
        question.law().probabilities, question.calibrated.law(second).probabilities, claim
    )


def _of_answers(
    verb: Callable[..., Release], arguments: tuple[Any, ...], terms: Mapping[str, Any]
) -> ExactAudit:
    """Return the audit of the answers of a verb on two tables.

    Raises:
        InvalidArgument: if they are not worked out, one by one.
    """
    refuse_payment(terms, "an audit")
    data, data_of_neighbor, *rest = arguments
    one, other = (
        delivery_of(verb, table, *rest, **terms).order for table in (data, data_of_neighbor)
    )
    claim = _claim_of(reading_of(one.guarantee, 0))
    if one.question is not None and other.question is not None:
        return _audit(_listed_law(one.question), _listed_law(other.question), claim)
    if one.lists is None or other.lists is None:
        raise InvalidArgument(
            f"the answers of {one.query.verb} are not worked out one by one here. See "
            "audit.sampling"
        )
    pair = one.lists(), other.lists()
    answers = sorted({answer for lists in pair for answer in lists.answers(_MOST_LISTED)})
    first, second = (partial(chances_with_rest, lists, answers) for lists in pair)
    return _audit(first, second, claim)


def _listed_law(question: Question) -> Callable[[], list[arb]]:
    """Return the probabilities of the answers of a question over a list."""
    scores = question.scores()
    if isinstance(scores, Runs):
        raise InvalidArgument("an audit of a verb needs candidates in a list, not on a grid")
    length = question.calibrated.list_length or 1
    refuse_too_many(math.perm(len(scores), length), _MOST_LISTED)
    return question.calibrated.law(scores).probabilities


def _claim_of(guarantee: Guarantee) -> tuple[Fraction, Fraction, bool]:
    """Return the epsilon and the delta that a guarantee claims, and whether it is of a bounded range."""
    if guarantee.pure is not None:
        return guarantee.pure, Fraction(0), isinstance(guarantee, BoundedRange)
    delta = getattr(guarantee, "delta", None)
    return _epsilon_of(guarantee), delta if isinstance(delta, Fraction) else Fraction(0), False


@error_boundary
def laws(
    law: ProbabilityLaw | Sequence[Number],
    law_of_neighbor: ProbabilityLaw | Sequence[Number],
    *,
    epsilon: Number,
    delta: Number = 0,
) -> ExactAudit:
    """Return the privacy loss between two distributions over the same outputs, against a claim of (epsilon, delta).

    Args:
        law: the exact probabilities of the outputs (fractions, decimals), summing to one, or an object with
            `probabilities()`, such as mechanisms return.
        law_of_neighbor: the same for the other dataset.
        epsilon: the claimed epsilon.
        delta: the claimed delta, 0 for pure differential privacy.

    Raises:
        InvalidArgument: if they are not two distributions over the same outputs.
    """
    claim = (positive(epsilon, "epsilon"), _not_negative(delta, "delta"), False)
    first, second = _reader(law, "law"), _reader(law_of_neighbor, "law_of_neighbor")
    return _audit(first, second, claim)


def _reader(law: object, name: str) -> Callable[[], list[arb]]:
    """Return a function that returns balls around the probabilities, at the current precision."""
    if hasattr(law, "probabilities"):
        return law.probabilities  # type: ignore[no-any-return]
    shares = [
        exact_number(p, f"{name}[{i}]")
        for i, p in enumerate(read_sequence(law, name, _MOST_OUTPUTS))
    ]
    if not shares or min(shares) < 0 or sum(shares) != 1:
        raise InvalidNumber(
            f"{name} must be probabilities that sum to exactly one, got {preview(law)}"
        )

    def balls() -> list[arb]:
        return [ball(p) for p in shares]

    return balls


def _audit(
    first: Callable[[], list[arb]],
    second: Callable[[], list[arb]],
    claim: tuple[Fraction, Fraction, bool],
) -> ExactAudit:
    """Return the audit at a precision where everything is narrow."""
    digits = 256
    while True:
        with precision(digits):
            p, q = first(), second()
            if len(p) != len(q):
                raise InvalidArgument(
                    f"both distributions must be over the same outputs, got {len(p)} and {len(q)}"
                )
            losses = [_log_ratio(a, b) for a, b in zip(p, q, strict=True)]
        if digits >= _MOST_PRECISION or all(_is_narrow(loss) for loss in losses):
            return _summary(losses, claim, (p, q))
        digits *= 2


def _summary(
    losses: list[Interval],
    claim: tuple[Fraction, Fraction, bool],
    pair: tuple[list[arb], list[arb]],
) -> ExactAudit:
    """Return the audit with these log-ratios."""
    forward = Interval(max(e.lower for e in losses), max(e.upper for e in losses))
    backward = Interval(-min(e.upper for e in losses), -min(e.lower for e in losses))
    largest = Interval(max(forward.lower, backward.lower), max(forward.upper, backward.upper))
    output = max(range(len(losses)), key=lambda i: max(losses[i].lower, -losses[i].upper))
    both = Interval(forward.lower + backward.lower, forward.upper + backward.upper)
    return ExactAudit(*claim, largest, output, forward, backward, both, pair)


def _log_ratio(a: arb, b: arb) -> Interval:
    """Return ln a / b, infinite where one of them is zero; 0 where both are."""
    if a == 0 or b == 0:
        sign = int(b == 0) - int(a == 0)
        bound = sign * math.inf if sign else Fraction(0)
        return Interval(bound, bound)
    if not (a > 0 and b > 0):  # too wide to tell
        return Interval(-math.inf, math.inf)
    ratio = (a / b).log()
    return Interval(lower(ratio), upper(ratio))


def _is_narrow(e: Interval) -> bool:
    return e.lower == e.upper or e.upper - e.lower < _SAME / 8


def _excesses(p: list[arb], q: list[arb], epsilon: Fraction) -> list[tuple[Fraction, Fraction]]:
    """Return bounds on max(0, p[r] - exp(epsilon) q[r]) by output r."""
    with precision(512):
        factor = ball(min(epsilon, _LARGEST_EXPONENT)).exp()
        rests = [a - factor * b for a, b in zip(p, q, strict=True)]
    bounds = [(max(Fraction(0), lower(r)), max(Fraction(0), upper(r))) for r in rests]
    if epsilon <= _LARGEST_EXPONENT:
        return bounds
    # Of a larger factor the excess is no more, and where q is 0 it is the same.
    return [
        (low if b == 0 else Fraction(0), high) for (low, high), b in zip(bounds, q, strict=True)
    ]


def _epsilon_of(guarantee: Guarantee) -> Fraction:
    """Return the epsilon of pure differential privacy that a guarantee speaks of."""
    epsilon = getattr(guarantee, "epsilon", None)
    if not isinstance(epsilon, Fraction):
        raise InvalidArgument(
            f"the claim has no epsilon, so there is nothing to audit: {guarantee}"
        )
    return epsilon


def _not_negative(value: object, name: str = "epsilon") -> Fraction:
    number = exact_number(value, name)
    if number < 0:
        raise InvalidNumber(f"{name} must not be below zero, got {preview(value)}")
    return number
