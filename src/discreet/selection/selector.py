"""selector: a select that settles its public arguments once."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Generic, TypeVar, Unpack, overload

from ..base.arguments import refuse_one_shot
from ..base.error_boundary import error_boundary
from ..base.numbers import Number, count
from ..errors import InvalidScores
from ..privacy.guarantees import Guarantee
from ..privacy.weak_promises import refuse_large_delta, say_weakness
from ..sampling.short_lists import draw_few
from .candidate_types import T
from .candidates import Labels
from .payment import Account
from .question import Query, Question, ask
from .releases import Release
from .scores.given import Given
from .select import SYSTEM_BITS
from .terms import SelectAnswerTerms, Terms, read_payment, takes_terms_without

_T = TypeVar("_T")

_MOST_CANDIDATES = 10**12


class Selector(Generic[T]):
    """A mechanism that is ready to select. `choose(scores)` returns a `Release`. Made by `discreet.selector`.

    It keeps nothing of the scores. With a ledger, every call is charged by itself, as with `select`.
    """

    __slots__ = ("_labels", "_order", "_question", "_rate", "_size", "_template")

    def __init__(self, question: Question, labels: Labels | None, size: int | None) -> None:
        self._question, self._labels, self._size = question, labels, size
        query = Query("select", {} if labels is None else labels.facts).per(question.unit)
        order = self._order = question.order(query)
        refuse_large_delta(order.guarantee)
        say_weakness(order.guarantee)
        self._rate = question.calibration.short_rate
        self._template: Release[Any] = Release(
            None,
            order.guarantee,
            order.mechanism,
            order.unit,
            order.query.words,
            question.candidates,
        )

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of one answer."""
        return self._order.guarantee

    @property
    def mechanism(self) -> str:
        """The name of the mechanism."""
        return self._order.mechanism

    @error_boundary
    def __call__(
        self, scores: object, *, request: str | None = None, ledger: Account | None = None
    ) -> Release[T]:
        """Release one of the candidates. Better scores are more likely.

        Args:
            scores: finite numbers, one per candidate, in the order of the candidates: an array, a series, a
                list, or a mapping from the candidates to scores.
            request: a name for this request in the ledger. If you repeat the request, you get the same answer at no
                cost. Without a name, every call is a new request.
            ledger: the account to charge for this call, in place of that of the selector.

        Raises:
            InvalidArgument: if the request or the ledger cannot be accepted.
            InvalidScores: if the scores are no finite numbers, or not as many as the candidates.

        Side channels: those of the mechanism. The type of the scores and how many there are count as public.
        """
        order = self._order
        if ledger is None and request is None and order.account is None:
            index = draw_few(scores, self._size or 0, self._rate, SYSTEM_BITS)
            if index is None:
                index = self._prepare(scores)()
            name = index if self._labels is None else self._labels[index]
            return self._template.with_value(name)
        refuse_one_shot(scores, "scores")
        account, name = read_payment({"ledger": ledger or order.account, "request": request})
        new_order = replace(order, account=account, request=name)
        return new_order.deliver(partial(self._prepare, scores, is_paid=True), self._name)

    def _prepare(self, scores: Any, *, is_paid: bool = False) -> Callable[[], int]:
        """Check the private scores, and return the function that draws from them."""
        if type(scores) is not list and isinstance(scores, Mapping):
            scores = self._in_order(scores)
        return self._question.calibration.prepare_draw(scores, self._size, is_paid=is_paid)

    def _in_order(self, scores: Mapping[object, object]) -> list[object]:
        """Return the scores in a mapping in the order of the candidates.

        Raises:
            InvalidScores: if there is not one for every name, or there are no names.
        """
        labels = self._labels or ()
        if labels and len(scores) == len(labels) and all(label in scores for label in labels):
            return [scores[label] for label in labels]
        raise InvalidScores(
            "a mapping of scores must have one for each of the candidates of the selector"
        )

    def _name(self, index: Any) -> Any:
        return index if self._labels is None else self._labels[index]

    def __repr__(self) -> str:
        among = "" if self._size is None else f" among {self._size:,} candidates"
        return f"Selector({self.mechanism}{among}: {self.guarantee} a call)"


@overload
def selector(
    candidates: int | None = None, **terms: Unpack[SelectAnswerTerms]
) -> Selector[int]: ...


@overload
def selector(candidates: Iterable[_T], **terms: Unpack[SelectAnswerTerms]) -> Selector[_T]: ...


@takes_terms_without("size", "request")
def selector(
    candidates: int | Iterable[object] | None = None,
    *,
    sensitivity: Number | None = None,
    spread: Number | None = None,
    monotonic: bool = False,
    **terms: Unpack[Terms],
) -> Selector[Any]:
    """Return a function from scores to a release, which checks everything public only once.

    After `choose = selector(...)`, `choose(scores)` releases the same as `select(scores, ...)`. For short lists it
    is many times faster. With a ledger, every call is charged.

    Args:
        candidates: the possible answers, public, in the order of the scores, or their number, and then an answer is
            an index. By default it accepts any number of scores.
        **terms: the shared arguments, described in `Terms`.

    Raises:
        InvalidArgument: if a public argument is invalid.
    """
    if "size" in terms or "request" in terms:
        raise TypeError(
            "a selector gives one answer a call: leave out size, and give request with the scores"
        )
    labels, size = _read_candidates(candidates)
    question = ask(Given((), sensitivity, spread, monotonic), terms, labels)
    return Selector(question, labels, size)


def _read_candidates(candidates: Any) -> tuple[Labels | None, int | None]:
    """Return the candidates, if they have names, and how many there are, if that is said.

    Raises:
        InvalidArgument: if they are no candidates, and no number of them.
    """
    if candidates is None:
        return None, None
    if isinstance(candidates, Iterable):
        labels = Labels(candidates)
        return labels, labels.size
    return None, count(candidates, "candidates", most=_MOST_CANDIDATES)
