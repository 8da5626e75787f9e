"""select: one of the candidates, by scores of the caller."""

from collections.abc import Collection, Iterable, Mapping, Set
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, Unpack, overload

import numpy as np

from ..base.numbers import Number, count
from ..errors import InvalidCandidates
from ..mechanisms.calibration_cache import Calibration, find_calibration
from ..sampling.bits import SystemBits
from ..sampling.short_lists import draw_few
from .payment import is_billed
from .releases import Release
from .terms import SelectAnswerTerms, SelectTerms, Terms, takes_terms

if TYPE_CHECKING:
    from .candidates import Labels

_T = TypeVar("_T")

PLAIN_SCORES = (list, np.ndarray)

SYSTEM_BITS = SystemBits()

_CALIBRATING = {"epsilon", "rho", "scale", "mechanism", "neighbors"}
"""The terms of a call without an account, a privacy unit and a size."""


class _SelectTerms(SelectAnswerTerms, total=False):
    """The terms of an answer from scores, for overloads."""

    mask: object
    base_measure: object
    log_base_measure: object


@overload
def select(
    scores: Mapping[_T, object], *, gap: bool = False, **terms: Unpack[_SelectTerms]
) -> Release[_T]: ...


@overload
def select(
    scores: object,
    *,
    candidates: Iterable[_T],
    gap: bool = False,
    **terms: Unpack[_SelectTerms],
) -> Release[_T]: ...


@overload
def select(
    scores: list[Any] | tuple[Any, ...] | np.ndarray[Any, Any],
    *,
    gap: bool = False,
    **terms: Unpack[_SelectTerms],
) -> Release[int]: ...


@overload
def select(
    scores: object,
    *,
    candidates: Iterable[object] | None = None,
    gap: bool = False,
    mask: object = None,
    base_measure: object = None,
    log_base_measure: object = None,
    **terms: Unpack[SelectTerms],
) -> Release: ...


@takes_terms
def select(  # noqa: PLR0913  # the sensitivity in three ways, the candidates, their measures and the gap
    scores: object,
    *,
    sensitivity: Number | None = None,
    spread: Number | None = None,
    monotonic: bool = False,
    candidates: Iterable[object] | None = None,
    gap: bool = False,
    mask: object = None,
    base_measure: object = None,
    log_base_measure: object = None,
    **terms: Unpack[Terms],
) -> Release:
    """Release one candidate. Better scores are more likely.

    Args:
        scores: finite numbers, one per candidate, higher is better: an array, a series, a list (ints,
            floats, Fractions, Decimals), or a mapping from candidates to scores.
        candidates: the possible answers, public, and so is their order. Without them, the answer is an index.
        gap: whether to release how far ahead the winner was, in `Release.gap`. This is how far its noisy score
            exceeds the next one, rounded down to a multiple of the largest power of ten that is at most a tenth of
            the noise's scale. It costs no extra ε. See docs/reference/mechanisms/exponential.md. By default only
            the answer is released.
        mask: True for every allowed candidate, public. Pass a list in the order of the scores, or a mapping from
            the candidates. Scores of the others are not read. By default all candidates are allowed.
        base_measure: public weights of the candidates, zero or more, which multiply their probabilities, in the
            same forms or as an array. Needs the exponential mechanism.
        log_base_measure: instead, the natural logarithms of such weights, with -inf as a weight of zero. A float
            means its binary value.
        **terms: the shared arguments, described in `Terms`.

    Returns:
        The answer with its guarantee.

    Raises:
        InvalidArgument: if a public argument is invalid. No private data were read.
        InvalidScores: if the scores are not finite numbers, or their number differs from that of the candidates.

    Side channels: those of the mechanism.
    """
    measures = {"mask": mask, "base_measure": base_measure, "log_base_measure": log_base_measure}
    has_measures = mask is not None or base_measure is not None or log_base_measure is not None
    if candidates is None and gap is has_measures is False and type(scores) in PLAIN_SCORES:
        size = terms.get("size")
        one_draw: Terms = terms if size is None else {**terms, "size": None}
        calibration = _calibration(one_draw, sensitivity, spread, monotonic)
        if calibration is not None and size is not None:
            return _sample(scores, calibration, size)
        if calibration is not None:
            if calibration.is_weak:
                from ..privacy.weak_promises import say_weakness

                say_weakness(calibration.calibrated.guarantee)
            index = draw_few(scores, 0, calibration.short_rate, SYSTEM_BITS)
            if index is None:
                index = calibration.prepare_draw(scores)()
            return _template(calibration).with_value(index)
    changes = (sensitivity, spread, monotonic)
    return _release_among(scores, candidates, changes, measures if has_measures else {}, gap, terms)


def _release_among(  # noqa: PLR0913  # a call of select, in parts
    scores: object,
    candidates: Iterable[object] | None,
    changes: tuple[Number | None, Number | None, bool],
    measures: Mapping[str, object],
    gap: bool,
    terms: Terms,
) -> Release:
    """Release one candidate by the steps of all verbs.

    Args:
        scores: those of `select`.
        candidates: likewise.
        changes: the sensitivity, the spread, and whether scores are monotonic.
        measures: the mask and the base measure by the names of their arguments, if there are any.
        gap: whether the gap is released.
        terms: the shared arguments.
    """
    from .gaps import check_gap, with_gap
    from .question import Query, release
    from .scores.given import Given  # a first answer of those above does without

    scores, labels, places = unfold(scores, candidates, terms)
    possible = None
    if measures:
        from .measures import mechanism_among, refuse_gap_beside_measures

        refuse_gap_beside_measures(gap)
        mechanism, possible = mechanism_among(terms.get("mechanism"), labels, places, measures)
        terms = {**terms, "mechanism": mechanism}
    terms = with_gap(terms, gap)
    check_gap(gap, scores if labels is None and isinstance(scores, Collection) else labels)
    query = Query("select", {} if labels is None else labels.facts)
    return release(Given(scores, *changes, possible), labels, query, terms)


@lru_cache
def _template(calibration: Calibration, size: int = 1) -> Release:
    """Return the release of an answer to come, or of several."""
    guarantee = calibration.calibrated.guarantee.repeated(size)
    return Release(None, guarantee, calibration.mechanism.name, query="select")


def _sample(scores: object, calibration: Calibration, size: object) -> Release:
    """Release so many answers."""
    from ..privacy.weak_promises import say_weakness
    from ..sampling.vectors import read_vector
    from .question import MOST_DRAWS

    number = count(size, "size", most=MOST_DRAWS)
    template = _template(calibration, number)
    say_weakness(template.guarantee)
    law = calibration.calibrated.law(read_vector(scores))
    return template.with_value(np.asarray(law.draws(number, SYSTEM_BITS)))


def _calibration(
    terms: Terms, change: object, spread: object, monotonic: object
) -> Calibration | None:
    """Return the calibration of a call that says how an answer is drawn and no more; None for other calls."""
    return find_calibration(terms, change, spread, monotonic) if only_calibrate(terms) else None


def only_calibrate(terms: Terms) -> bool:
    """Return whether terms say how an answer is drawn, by a mechanism's name, and no more."""
    if not _CALIBRATING.issuperset(terms):  # a None says nothing
        rest = {n: x for n, x in terms.items() if n not in _CALIBRATING}
        if any(x is not None or n not in Terms.__annotations__ for n, x in rest.items()):
            return False
    return type(terms.get("mechanism", "")) is str  # one of a list has no single index


class LabelledScores(NamedTuple):
    """Scores and their candidates, apart.

    Attributes:
        scores: the scores.
        labels: the candidates, if they have names.
        places: the positions of the scores before they were put in another order, if they were.
    """

    scores: object
    labels: "Labels | None"
    places: list[int] | None = None


def unfold(scores: Any, candidates: Any, terms: Terms) -> LabelledScores:
    """Return the scores and the candidates, which a mapping or a labelled series holds together.

    If a ledger pays, the scores are put in the order of the names. The order of a mapping is
    often that of the scores (`value_counts()`) or of the rows (`Counter`), so it is private, and a ledger
    keeps the index of the answer, and a hash of the candidates.
    """
    if isinstance(candidates, Set):
        raise InvalidCandidates("candidates must be in the order of their scores, got a set")
    from .candidates import Labels

    if candidates is None and _is_labelled(scores):
        return _order_by_name(scores, Labels(scores.index), terms)
    if not isinstance(scores, Mapping):
        return LabelledScores(scores, None if candidates is None else Labels(candidates))
    if candidates is not None:
        raise InvalidCandidates("a mapping of scores names its candidates. Leave out candidates")
    return _order_by_name(list(scores.values()), Labels(scores), terms)


def _order_by_name(scores: Any, labels: "Labels", terms: Terms) -> LabelledScores:
    """Return the scores in the order of the names of their candidates if a ledger pays, else as they are."""
    if not is_billed(terms):
        return LabelledScores(scores, labels)

    names = [(type(label).__qualname__, repr(label)) for label in labels]
    places = sorted(range(labels.size), key=names.__getitem__)
    values = list(scores)
    return LabelledScores([values[i] for i in places], labels.in_order(places), places)


def _is_labelled(scores: Any) -> bool:
    """Return whether the scores are a pandas series with names of its own, such as value_counts()."""
    kind = type(scores)
    if kind.__name__ != "Series" or kind.__module__.partition(".")[0] != "pandas":
        return False
    return type(scores.index).__name__ != "RangeIndex"
