"""select_top_k: the best candidates in order, by scores of the caller."""

from collections.abc import Callable, Collection, Iterable, Mapping
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any, Literal, NamedTuple, TypeVar, Unpack, get_args, overload

from ..base.arguments import choice
from ..base.doors import spelling
from ..base.numbers import Number, count
from ..errors import InvalidArgument
from ..mechanisms import Mechanism, read_mechanism
from ..mechanisms.calibration_cache import Calibration, find_calibration
from ..mechanisms.gap import WithGap
from ..mechanisms.joint.joint_top_k import JointTopK
from ..mechanisms.peeling import Peeling
from ..privacy.calibration import read_share
from ..privacy.weak_promises import say_weakness
from ..sampling.bits import SystemBits
from ..sampling.vectors import Vector, read_vector
from .candidates import Answers
from .gaps import check_gap, with_gap
from .question import Query, answers_at, ask
from .releases import Release
from .scores.given import Given
from .select import PLAIN_SCORES, SYSTEM_BITS, only_calibrate, unfold
from .terms import SelectAnswerTerms, SelectTerms, Terms, check_names, takes_terms

_T = TypeVar("_T")

ListMethod = Literal["peeling", "joint"]
"""A method for lists of candidates with any scores."""


@overload
def select_top_k(
    scores: object,
    *,
    k: int,
    candidates: Iterable[_T],
    method: ListMethod = "peeling",
    delta: Number | None = None,
    gap: bool = False,
    **terms: Unpack[SelectAnswerTerms],
) -> Release[list[_T]]: ...


@overload
def select_top_k(
    scores: object,
    *,
    k: int,
    candidates: Iterable[object] | None = None,
    method: ListMethod = "peeling",
    delta: Number | None = None,
    gap: bool = False,
    **terms: Unpack[SelectTerms],
) -> Release: ...


@takes_terms
def select_top_k(  # noqa: PLR0913  # what select takes, and three more
    scores: object,
    *,
    k: int,
    sensitivity: Number | None = None,
    spread: Number | None = None,
    monotonic: bool = False,
    candidates: Iterable[object] | None = None,
    method: ListMethod = "peeling",
    delta: Number | None = None,
    gap: bool = False,
    **terms: Unpack[Terms],
) -> Release:
    """Release k different candidates in order. Better scores are more likely to come early.

    Args:
        scores: scores, as for `select`. For records in a table or a list, use `top_k`.
        k: the number of candidates to release, at most the number of scores.
        candidates: the possible answers, public. Without them, the answers are indices.
        method: "peeling" or "joint", as for `top_k`.
        delta: the δ of all answers together, as for `top_k`.
        gap: whether to release how far ahead an answer was of the remaining candidates, as for `top_k`.
        **terms: the shared arguments, described in `Terms`.

    Returns:
        A list of k candidates, with the guarantee of all of them together.

    Raises:
        InvalidArgument: if a public argument is invalid. No private data were read.
        InvalidScores: if the scores are not finite numbers, or their number differs from that of the candidates.

    Side channels: those of the method.

    Source and proof: docs/reference/mechanisms/top_k.md#peeling, docs/reference/mechanisms/top_k.md#joint_top_k.
    """
    if candidates is None and delta is None and gap is False and type(scores) in PLAIN_SCORES:
        ready = _find_lists(terms, method, k, sensitivity, spread, monotonic)
        if ready is not None:
            if ready.is_weak:
                say_weakness(ready.template.guarantee)
            law = ready.law(read_vector(scores))
            return ready.template.with_value(law.draw(SYSTEM_BITS))
    check_names(terms)
    terms = with_gap(terms, gap)
    scores, labels, _ = unfold(scores, candidates, terms)
    check_gap(
        gap, scores if labels is None and isinstance(scores, Collection) else labels, count(k, "k")
    )
    most = None if labels is None else labels.size
    mechanism = mechanism_of_lists(terms, method, delta, count(k, "k", most), counts=False)
    query = Query("select_top_k", {"k": count(k, "k")})
    score = Given(scores, sensitivity, spread, monotonic)
    question = ask(score, {**terms, "mechanism": mechanism}, labels)
    size, unit = question.size, question.unit
    name = question.naming(partial(naming_lists(labels), size=size))
    order = question.order(query.per(unit))
    return order.deliver(lambda: partial(draw_list, question.law(), size), name)


class _ReadyLists(NamedTuple):
    """The consequences of the public arguments of a list of indices.

    Attributes:
        law: returns the distribution of the list, from the scores.
        template: the release of a list to come.
        is_weak: whether its promise is to be warned of.
    """

    law: Callable[[Vector], Any]
    template: Release
    is_weak: bool


def _find_lists(
    terms: Terms, method: object, length: object, *changes: object
) -> _ReadyLists | None:
    """Return the lists of a call that says how they are drawn and no more, from the cache if they are there.

    Args:
        terms: the terms of the call.
        method: the method by which a list is drawn.
        length: how many answers there are.
        changes: the sensitivity, the spread, and whether scores are monotonic.

    Returns:
        The lists; None for other calls, and for arguments that cannot be looked up.
    """
    name: Any = terms.get("mechanism", "exponential")
    if method != "peeling" or type(length) is not int or not only_calibrate(terms):
        return None
    calibration = find_calibration({**terms, "mechanism": _peeling(name, length)}, *changes)
    return None if calibration is None else _ready_lists(calibration, length)


@lru_cache
def _peeling(mechanism: str, length: int) -> Mechanism:
    """Return the mechanism that answers lists of so many indices in turn."""
    return Peeling(read_mechanism(mechanism), count(length, "k"), None)


@lru_cache
def _ready_lists(calibration: Calibration, length: int) -> _ReadyLists:
    """Return the lists of so many answers of a calibrated mechanism."""
    guarantee, query = calibration.calibrated.guarantee, Query("select_top_k", {"k": length})
    template: Release = Release(None, guarantee, calibration.mechanism.name, query=query.words)
    return _ReadyLists(calibration.calibrated.law, template, calibration.is_weak)


def mechanism_of_lists(
    terms: Mapping[str, Any], method: str, delta: Number | None, k: int, *, counts: bool
) -> Mechanism:
    """Return the mechanism that answers lists of k by that method.

    Args:
        terms: the terms, which may name the mechanism of a round.
        method: the name of the method.
        delta: the δ of all answers together, or None.
        k: the length of a list.
        counts: whether the scores are numbers of rows, which are the records.
    """
    share = None if delta is None else read_share(delta)
    each_round = read_mechanism(terms.get("mechanism", "exponential"))
    return _over_lists(method, each_round, k, counts, share)


def _over_lists(
    method: str, mechanism: Mechanism, k: int, counts: bool, delta: Fraction | None
) -> Mechanism:
    """Return the mechanism that answers lists by that method."""
    if choice(method, "method", get_args(ListMethod)) == "peeling":
        return Peeling(mechanism, k, delta)
    if delta is not None:
        raise InvalidArgument(
            f"{spelling(method='joint')} draws the list at once, so delta gains nothing: leave it "
            "out"
        )
    if isinstance(mechanism, WithGap):
        raise InvalidArgument(
            f"{spelling(method='joint')} draws the list at once, and has no gaps: take peeling or "
            "counts"
        )
    return JointTopK(mechanism, k, counts)


def draw_list(law: Any, size: int | None) -> Any:
    """Return a list of indices, or that many lists."""
    lists = law.draws(1 if size is None else size, SystemBits())
    return lists[0] if size is None else lists


def naming_lists(labels: Answers | None) -> Callable[..., Any]:
    """Return the function that names the candidates of a list, or of several."""

    def name(lists: Any, size: int | None) -> Any:
        if labels is None:
            return lists
        return (
            answers_at(lists, labels)
            if size is None
            else [answers_at(one, labels) for one in lists]
        )

    return name
