"""From a score to a release: the steps that all verbs share.

The order is always the same: public arguments are checked, private scores are computed and checked,
the ledger (if there is one) is charged, bits are read, an answer comes out.
"""

from __future__ import annotations  # else those of functions in functions are made at each release

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..base.digests import digest
from ..base.error_boundary import Notice
from ..base.float_environment import run_in_default_environment
from ..base.numbers import count
from ..errors import InvalidArgument
from ..mechanisms.accuracy import NEEDS, ErrorBound
from ..mechanisms.calibration_cache import Calibration, check_number, find_calibration
from ..mechanisms.contract import (
    Calibrated,
    Law,
    Mechanism,
    PrivacyParameter,
    calibrate,
    read_parameter,
)
from ..mechanisms.mechanism_names import read_mechanism, serving_runs
from ..privacy.approx_dp import NoGuarantee
from ..privacy.contract import Guarantee
from ..privacy.sensitivity import (
    Neighbors,
    Sensitivity,
    Unit,
    read_neighbors,
    read_unit,
    unit_in_words,
)
from ..privacy.weak_promises import refuse_large_delta, say_weakness
from ..sampling.bits import SystemBits
from ..sampling.runs import Runs
from ..sampling.vectors import Vector
from .answers import Answer, AnswerLists
from .candidates import Answers
from .payment import Account, Bill, BilledPart, Indices, Listener, PaidAnswer, PrepareDraw, buy_from
from .question_sentences import Facts, Sentence, sentence_of
from .released_values import ReleasedValue
from .releases import Release
from .scores.contract import Score, bounded_unit, measure_of
from .scores.given import Given
from .selection_error import SelectionError
from .terms import Terms, check_names, read_payment

if TYPE_CHECKING:
    from ..mechanisms.count_noise import NoiseChoice

MOST_DRAWS = 10**9


@dataclass(frozen=True, slots=True)
class Query:
    """A query, in facts for people and in plain public values for the digest of a ledger.

    Attributes:
        verb: the name of the verb.
        facts: the arguments that its sentence shows: see `question_sentences`.
        arguments: the public arguments of the verb, without those that the score, the candidates and the
            mechanism describe themselves.
    """

    verb: str
    facts: Facts = field(default_factory=dict)
    arguments: Mapping[str, object] = field(default_factory=dict)

    @property
    def words(self) -> Sentence:
        """The query in words, which may be said better in a later version."""
        return sentence_of({"verb": self.verb, **self.facts})

    def about(self, facts: Facts, **arguments: Any) -> Query:
        """The query with more facts and arguments."""
        return Query(self.verb, {**self.facts, **facts}, {**self.arguments, **arguments})

    def per(self, unit: Unit | None) -> Query:
        """The query with the privacy unit of its records."""
        return self if unit is None else self.about({"unit": unit_in_words(unit)})


def release(score: Score, answers: Answers | None, query: Query, terms: Terms) -> Release:
    """Draw from the mechanism on this score, and return the answer that the drawn index stands for."""
    question = ask(score, terms, answers)
    size = question.size

    def prepare() -> Callable[[], object]:
        if size is None and type(score) is Given and question.calibration.short_rate is not None:
            number = None if answers is None else answers.size
            is_paid = question.account is not None
            return question.calibration.prepare_draw(score.scores, number, is_paid=is_paid)
        return partial(draw, question.law(), size)

    def name(indices: Any) -> Any:
        if answers is None:
            return np.array(indices) if isinstance(indices, list) else indices
        return answers[indices] if size is None else answers_at(indices, answers)

    name = question.naming(name)
    return question.order(query.per(question.unit)).deliver(prepare, name)


@dataclass(frozen=True, slots=True)
class Order:
    """A release with everything public settled: the question, the guarantee, and the account that pays.

    Attributes:
        query: the question, in words and in public values.
        guarantee: the guarantee of the whole release.
        mechanism: the name of the mechanism.
        details: everything else but the data that decides the distribution of the answer, in plain values;
            read only if an account pays.
        account: the account that is charged, or None.
        request: the name of the request in that account, or None.
        question: the question, where one mechanism answers from one score. It reaches the private data, so
            it never enters a `Bill`.
        unit: the privacy unit, a column; None if every row is a record.
        worst_error: returns a bound on the error of all answers from public numbers, or None where none is known.
        parts: returns the questions, where several are answered at this price.
        lists: reads the data, and returns the answers of several parts with their probabilities, for study; None
            where they are not worked out, or the question is one.
        digits: to how many digits the answer is drawn, where no candidates are named; None for all else.
        noise: returns which noise numbers have and why, where there was a choice; else None.
    """

    query: Query
    guarantee: Guarantee
    mechanism: str
    details: Callable[[], Mapping[str, object]]
    account: Account | None = None
    request: str | None = None
    question: Question | None = None
    unit: Unit | None = None
    worst_error: Callable[[], ErrorBound | None] = lambda: None
    parts: Callable[[], tuple[BilledPart, ...]] = tuple
    lists: Callable[[], AnswerLists] | None = None
    digits: int | None = None
    noise: Callable[[], NoiseChoice | None] = lambda: None

    def deliver(
        self, prepare: Callable[[], Callable[[], Any]], name: Callable[[Any], Any]
    ) -> Release:
        """Charge the account, draw, and return the release.

        Args:
            prepare: computes the private scores, before any payment, and returns the function that draws.
            name: returns the answer for a drawn index, or for a list of them: the value alone, or an `Answer`
                with what was drawn along with it.

        Raises:
            InvalidNumber: if the delta of the promise is too large for any question.
        """
        account = self.account
        if not isinstance(account, Listener) or account.billing:
            refuse_large_delta(self.guarantee)
        if isinstance(account, Listener):
            raise OrderTaken(Delivery(self, prepare, name))
        say_weakness(self.guarantee)
        ready, finish = partial(ready_to_draw, prepare), partial(self._release, name)
        if account is None:
            return finish(PaidAnswer(ready()(), None))
        return finish(self._buy(account, ready, finish))

    def _release(self, name: Callable[[Any], Any], purchase: PaidAnswer) -> Release:
        """Return the release of a draw."""
        answer = Answer.of(name(purchase.indices))
        return Release(
            answer.value,
            self.guarantee,
            self.mechanism,
            self.unit,
            query=self.query.words,
            candidates=self._candidates,
            charged=purchase.charged,
            counts=answer.counts,
            gap=answer.gap,
            other=answer.other,
            bounds=answer.bounds,
            digits=self.digits,
            error_source=answer.error or self._error_source(),
            noise=answer.noise or self.noise(),
        )

    def _error_source(self) -> SelectionError | ErrorBound | None:
        """Return a bound on the error, or the `SelectionError` that works it out later and holds no data."""
        worst = self.worst_error
        if isinstance(worst, SelectionError):
            return worst if worst.has_numbers else None
        return self.known_error()

    def known_error(self) -> ErrorBound | None:
        """Return the bound on the error of all answers; None where none is known, as of keys."""
        bound = self.worst_error()
        return None if bound is None or bound.unit in NEEDS else bound

    @property
    def _candidates(self) -> int | None:
        return None if self.question is None else self.question.candidates

    def _buy(
        self,
        account: Account,
        prepare: Callable[[], Callable[[], object]],
        name: Callable[[PaidAnswer], Release],
    ) -> PaidAnswer:
        """Return the draw that the account paid for, now or for the same request before."""

        def prepare_stored() -> Callable[[], Indices]:
            return partial(_listed_draw, prepare())

        return buy_from(account, self.bill(), prepare_stored, name)

    def bill(self) -> Bill:
        """Return the bill for the account: plain public values, from which no private data can be reached."""
        description = {
            "verb": self.query.verb,
            "arguments": self.query.arguments,
            "mechanism": self.mechanism,
            "unit": self.unit,
            **self.details(),
        }
        return Bill(
            self.guarantee,
            self.mechanism,
            self.query.words,
            digest(description),
            self.request,
            self._candidates,
            self.unit,
        )


class Delivery(NamedTuple):
    """The order of a verb with how it would be delivered, without paying or reading private data.

    Attributes:
        order: the order.
        prepare: computes the private scores, and returns the function that draws.
        name: returns the answer for a draw: the value, or an `Answer`.
    """

    order: Order
    prepare: PrepareDraw
    name: Callable[[Any], Any]


class OrderTaken(Notice):
    """Raised in place of an answer, with the order that a `Listener` took."""

    def __init__(self, delivery: Delivery) -> None:
        super().__init__("an order was taken, and no answer given")
        self.delivery = delivery


def ready_to_draw(prepare: Callable[[], Callable[[], Any]]) -> Callable[[], Any]:
    """Compute the private scores, and return the function that draws.

    Both in the default floating-point environment: readers of the data, or an account, may have loaded a library
    that leaves another one behind.
    """
    return partial(run_in_default_environment, run_in_default_environment(prepare))


def draw(law: Law, size: int | None) -> object:
    """Return an index, or a sample of that many."""
    return law.draw(SystemBits()) if size is None else law.draws(size, SystemBits())


def _listed_draw(draw: Callable[[], object]) -> Indices:
    """Draw, and return the indices as an account stores them."""
    return plain_indices(draw())


def plain_indices(indices: Any) -> Indices:
    """Return indices as Python integers, and released values as they are, in lists."""
    if type(indices) is int:
        return indices
    if hasattr(indices, "tolist"):
        return indices.tolist()  # type: ignore[no-any-return]
    if isinstance(indices, list | tuple):
        return [plain_indices(each) for each in indices]
    return indices if isinstance(indices, ReleasedValue) else int(indices)


@dataclass(frozen=True, slots=True, repr=False)
class Question:
    """One score, one mechanism and the answers among which it selects, with every public argument settled.

    Attributes:
        score: the score (utility function) of the candidates.
        calibration: the mechanism that selects one, how far the scores of neighbouring datasets may be apart
            (neighbours by `unit`), the privacy parameter, and the mechanism calibrated to them.
        size: the number of independent answers, or None for a single one.
        account: the account that is charged, or None.
        request: the name of the request in that account, or None.
        unit: the privacy unit, a column; None if every row is a record.
        answers: the answers that the drawn indices stand for, or None where the index is the answer.
    """

    score: Score
    calibration: Calibration
    size: int | None
    account: Account | None = None
    request: str | None = None
    unit: Unit | None = None
    answers: Answers | None = None

    @property
    def mechanism(self) -> Mechanism:
        """The mechanism that selects an answer."""
        return self.calibration.mechanism

    @property
    def sensitivity(self) -> Sensitivity:
        """How far the scores of neighbouring datasets may be apart."""
        return self.calibration.sensitivity

    @property
    def parameter(self) -> PrivacyParameter | None:
        """The privacy parameter, or None where the mechanism states it."""
        return self.calibration.parameter

    @property
    def calibrated(self) -> Calibrated:
        """The mechanism, calibrated."""
        return self.calibration.calibrated

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of the whole release, all draws together."""
        once = self.calibrated.guarantee
        return once if self.size is None else once.repeated(self.size)

    @property
    def candidates(self) -> int | None:
        """How many candidates there are, where that is public and finite, and none is preferred."""
        has_preference = not getattr(self.mechanism, "uniform", True)
        has_no_guarantee = isinstance(
            self.calibrated.guarantee, NoGuarantee
        )  # they may be of the data
        continuous = getattr(self.score, "continuous", False)
        if self.answers is None or has_preference or has_no_guarantee or continuous:
            return None
        return self.answers.size or None

    def law(self) -> Law:
        """Compute the private scores and return the distribution of the answer."""
        return self.calibrated.law(self.scores())

    def scores(self) -> Vector | Runs:
        """Compute the private scores, and check that there is one for every answer.

        Where an account pays they are a copy: the array may be the caller's.

        Raises:
            InvalidScores: if there are more or fewer scores than answers, or they are not finite.
        """
        scores = self.score.compute(self.calibrated.cutoff_gap)
        if not isinstance(scores, Vector):
            return scores
        if self.answers is not None:
            check_number(scores, self.answers.size)
        return scores if self.account is None else scores.copy()

    def naming(self, name: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function that names a draw with its gaps, of one that names indices."""
        grid = self.calibrated.gap_grid
        if grid is None:
            return name

        def name_with_gap(drawn: Any, *size: int | None) -> Answer:
            indices, gaps = grid.split(drawn)
            return Answer(name(indices, *size), gap=gaps)

        return name_with_gap

    def order(self, query: Query) -> Order:
        """Return the order for a release that answers this question."""
        return Order(
            query,
            self.guarantee,
            self.mechanism.name,
            self._details,
            self.account,
            self.request,
            self,
            self.unit,
            self.worst_error,
            digits=getattr(self.answers, "digits", None),
        )

    @property
    def worst_error(self) -> SelectionError:
        """Returns a bound on the error of all answers, from public numbers; None where none is known."""
        measure = measure_of(self.score)
        return SelectionError(self.calibration, measure, self.candidates, self.size or 1)

    def _details(self) -> Mapping[str, object]:
        """Return the rest of the description that decides the distribution, for a digest."""
        return {
            "score": {"name": self.score.name, "parameters": self.score.parameters},
            **self.calibration.description,
            "candidates": None if self.answers is None else self.answers.description,
            "size": self.size,
        }


def ask(score: Score, terms: Terms, answers: Answers | None = None) -> Question:
    """Check everything public and calibrate the mechanism.

    Args:
        score: the score; its data are not read.
        terms: the arguments that verbs share.
        answers: the answers, where the drawn indices stand for any.

    Raises:
        InvalidArgument: if something cannot be accepted, or there is a privacy unit while the score counts
            rows: no sensitivity bounds the effect of all rows of a unit together.
        TypeError: if there is a term of another name.
    """
    check_names(terms)
    neighbors = read_neighbors(terms.get("neighbors", "add_remove"))
    return question_of(score, terms, neighbors, read_unit(terms.get("privacy_unit")), answers)


def question_of(
    score: Score, terms: Terms, neighbors: Neighbors, unit: Unit | None, answers: Answers | None
) -> Question:
    """Return the question of a score, of which the neighbouring relation and the privacy unit were read."""
    bounded_unit(score, unit)  # refused before a sensitivity is asked
    calibration = _calibration(score, terms, neighbors)
    size = terms.get("size")
    size = None if size is None else count(size, "size", most=MOST_DRAWS)
    account, request = read_payment(terms)
    return Question(score, calibration, size, account, request, unit, answers)


def _calibration(score: Score, terms: Terms, neighbors: Neighbors) -> Calibration:
    """Return the mechanism, the sensitivity of the score, the privacy parameter, and the mechanism calibrated."""
    if type(score) is Given:  # its sensitivity is declared by plain values
        settings = find_calibration(terms, score.change, score.spread, score.monotonic)
        if settings is not None:
            return settings
    mechanism = read_mechanism(terms.get("mechanism", "exponential"))
    parameter = read_parameter(terms.get("epsilon"), terms.get("rho"), terms.get("scale"))
    _check_range(score, mechanism)
    sensitivity = score.sensitivity(neighbors)
    calibrated = calibrate(mechanism, sensitivity, parameter)
    return Calibration(mechanism, sensitivity, parameter, calibrated)


def _check_range(score: Score, mechanism: Mechanism) -> None:
    """Raise if the mechanism cannot serve the kind of range the score is over."""
    if score.in_runs and not mechanism.takes_runs:
        raise InvalidArgument(
            f"{mechanism.name} needs candidates in a list. On a grid or in a table use "
            f"{serving_runs()}"
        )
    if score.in_runs == "sloping" and mechanism.takes_runs == "flat":
        raise InvalidArgument(
            f"{mechanism.name} needs scores in steps. For scores that slope, use the exponential "
            "mechanism"
        )


def answers_at(indices: Any, answers: Answers) -> list[Any]:
    """Return the answers with the drawn indices."""
    return [answers[int(i)] for i in indices]
