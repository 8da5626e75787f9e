"""The questions that an owner allows, with their prices and limits."""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Lock
from uuid import uuid4

from ...base.error_boundary import public_errors
from ...base.messages import AND, join
from ...base.text_tables import fact_table
from ...errors import (
    DataUnavailable,
    DiscreetError,
    Exhausted,
    InvalidArgument,
    InvalidScores,
    LedgerError,
    RequestConflict,
    Unanswerable,
)
from ...ledger import Session
from ...ledger.delays import GivenUp
from ...ledger.events import read_indices
from ...ledger.failed_questions import QuestionFailed
from ...privacy.guarantees import Guarantee
from ...privacy.sensitivity import Unit
from ...privacy.wording import by_mechanism, in_brief
from ...selection.payment import Bill, Indices, PaidAnswer
from ...selection.releases import Release
from ...selection.verb_calls import Call
from ...tables.datasets import Dataset
from ...tables.engines.engine_errors import is_out_of_memory
from .isolation import ChargedError

Prepare = Callable[[], Callable[[], Indices]]
"""Computes the private scores, and returns the function that draws from them."""


@dataclass(frozen=True, slots=True, repr=False)
class AllowedQuestion:
    """A question that an analyst may ask. Public.

    Attributes:
        name: the name of the data.
        access: the name of the question.
        query: the question in words.
        guarantee: the guarantee of one answer.
        mechanism: the name of the mechanism.
        candidates: the number of candidates, if it is known and finite.
        unit: the column that identifies the privacy unit, or a tuple of several. Rows with equal values there are
            one record. None if every row is a record.
        requests: the number of requests that this analyst has left. None if only the budget limits them.
    """

    name: str
    access: str
    query: str
    guarantee: Guarantee
    mechanism: str
    candidates: int | None
    unit: Unit | None
    requests: int | None

    def cells(self) -> dict[str, str]:
        """Return the question as the row of a table."""
        return {
            "data": self.name, "question": self.access, "in words": self.query,
            "guarantee": in_brief(self.guarantee, self.unit), "mechanism": self.mechanism,
            "requests left": "as the budget lasts" if self.requests is None else f"{self.requests:,}",
        }  # fmt: skip

    def _repr_html_(self) -> str:
        return fact_table("Allowed question", self.cells()).html()

    def __repr__(self) -> str:
        return f"AllowedQuestion({self})"

    def __str__(self) -> str:
        promise = join(AND, (in_brief(self.guarantee, self.unit), by_mechanism(self.mechanism)))
        return f"{self.name}, {self.access}: {self.query} [{promise}]"


@dataclass(slots=True, repr=False)
class Permission:
    """A question without its data, and the requests that analysts have made.

    Attributes:
        question: the question.
        bill: its bill.
        most_requests: the most requests of one analyst, in addition to the budgets; None: no limit.
        kept_bill: its bill as the verb has settled it for a request, for the next one.
    """

    question: Call
    bill: Bill
    most_requests: int | None = None
    kept_bill: Bill | None = None
    _requests: defaultdict[str, set[str]] = field(default_factory=partial(defaultdict, set))
    _lock: Lock = field(default_factory=Lock)

    def allowed_question(self, name: str, access: str, analyst: str) -> AllowedQuestion:
        """Return the question as one analyst may see it."""
        bill, remaining = self.bill, self.most_requests
        if remaining is not None:
            remaining = max(0, remaining - len(self._requests.get(analyst, ())))
        return AllowedQuestion(
            name, access, bill.query, bill.guarantee, bill.mechanism, bill.candidates, bill.unit,
            remaining,
        )  # fmt: skip

    def known_bill(self, dataset: object) -> Bill | None:
        """Return the bill as it was settled before, if it is the same for all callers.

        None if the data are elsewhere by now, or requests are counted here.
        """
        bill = self.kept_bill if self.most_requests is None else None
        if bill is None or bill.about is None or not isinstance(dataset, Dataset):
            return None
        return bill if dataset.whereabouts.source == bill.about.source else None

    @public_errors()
    def admit(self, analyst: str, request: str | None) -> None:
        """Count a request of an analyst if requests are limited, and raise if there are too many.

        Failed requests count too, as a failure may depend on the data. A repeated request counts once.
        """
        most = self.most_requests
        if most is None:
            return
        name = str(uuid4()) if request is None else request
        with self._lock:
            requests = self._requests[analyst]
            if name not in requests and len(requests) >= most:
                raise Exhausted(
                    f"this question may be asked {most:,} times, and was. Its owner can allow more"
                )
            requests.add(name)


def charge_failures(prepare: Prepare) -> Prepare:
    """Return a function that never fails, but returns a draw that does: a failure is charged like an answer.

    Whether a question fails may depend on the data. So it costs as much as an answer, and stands for it: the same
    request reads nothing, and fails again.
    """

    def prepare_wrapped() -> Callable[[], Indices]:
        try:
            return _fail_as_questions(prepare())
        except Exception as error:
            failure = QuestionFailed(error)
        return _failing(failure)

    return prepare_wrapped


def _fail_as_questions(draw: Callable[[], Indices]) -> Callable[[], Indices]:
    """Return a draw that turns its errors into failures of the question."""

    def draw_wrapped() -> Indices:
        try:
            return read_indices(draw())
        except Exception as error:
            failure = QuestionFailed(error)
        raise failure

    return draw_wrapped


def _failing(failure: QuestionFailed | GivenUp) -> Callable[[], Indices]:
    """Return a draw that fails."""

    def fail() -> Indices:
        raise failure

    return fail


def charge_first(
    begin: Callable[[], object], finish: Callable[[], object]
) -> Callable[[Prepare], Prepare]:
    """Return a wrapper of the reading, so that all of it follows the charge and its end waits for a public time.

    Then no time in a ledger tells how long the reading took, and nothing is read that is not paid.

    What stops it for a reason that is not the data's, such as a lock or a lost server, is given up, and no failure.

    Args:
        begin: called when the charge is committed.
        finish: called when there is an outcome; returns when that may be stored.
    """

    def wrap(prepare: Prepare) -> Prepare:
        def draw() -> Indices:
            begin()
            try:
                return charge_failures(prepare)()()
            except QuestionFailed as failure:
                outcome = _outcome_of(failure.error)
            finally:
                finish()
            raise outcome

        return lambda: draw

    return wrap


def _outcome_of(error: Exception) -> QuestionFailed | GivenUp:
    """Return the end of a question by its error: a failure because of the data, or no answer in time."""
    if isinstance(error, DataUnavailable):
        return GivenUp(str(error))
    if is_out_of_memory(error):
        return QuestionFailed(error, "memory")
    is_ours = type(error).__module__ == DiscreetError.__module__
    return QuestionFailed(error, type(error).__name__ if is_ours else InvalidScores.__name__)


def end_unread(reason: str, *, is_given_up: bool) -> Callable[[Prepare], Prepare]:
    """Return a wrapper of a reading without a process any more: it does not read, and its draw fails or gives up.

    Args:
        reason: why it has ended, for the owner.
        is_given_up: whether that was for a reason that is not its own.
    """
    error = Unanswerable(f"the process that read the data was ended before it answered: {reason}")
    failure = QuestionFailed(error, reason)
    return lambda _: lambda: _failing(GivenUp(reason) if is_given_up else failure)


class Checkout:
    """The account of one question: it checks the bill of its verb, and buys that very bill from a session.

    So the verb runs once, and the bill that is priced, checked for its length and paid is one object. No private
    data are read before it was checked.

    Args:
        check: raises if the bill may not be bought.
        wrap: returns the function to call in place of the one for the private scores, such as `charge_failures`.
        check_again: called in the transaction that charges; raises if the caller may not pay any more.

    Attributes:
        bill: the bill that was checked; None before the verb has settled its arguments.
        has_told_currency: whether the verb asked for the unit that is counted, on which its bill may depend.
        session: the session that is charged, once it is known.
        request: the name of the request.
        is_paid: whether this call charged.
    """

    def __init__(
        self,
        check: Callable[[Bill], object],
        wrap: Callable[[Prepare], Prepare],
        check_again: Callable[[], object],
    ) -> None:
        self._check, self._wrap, self._check_again = check, wrap, check_again
        self.session: Session
        self.bill: Bill | None = None
        self.request = ""
        self.is_paid = self._has_failed = self.has_told_currency = False

    def ask(self, question: Call, session: Session, request: str | None) -> Release:
        """Return the answer. An error after the charge names the request that asks again at no cost.

        Args:
            question: the question with its data.
            session: the session that is charged, which calls `allow` before it charges.
            request: the name of the request.
        """
        self.session = session
        terms = {} if request is None else {"request": request}
        try:
            return question.ask(ledger=self, **terms)
        except BaseException as error:
            failure = self._failure(error)
            if failure is error:
                raise
        raise failure

    @property
    def currency(self) -> str | None:
        """The unit that the session counts."""
        self.has_told_currency = True
        return self.session.currency

    def buy(self, bill: Bill, prepare: Prepare) -> Indices:
        """Charge for a release and draw, as the session does."""
        return self.bought(bill, prepare).indices

    def bought(self, bill: Bill, prepare: Prepare) -> PaidAnswer:
        """Check the bill, buy it, and tell whether this call charged.

        Raises:
            InvalidArgument: if the verb bought before: only its first release was priced and checked.
        """
        if self.bill is not None:
            raise InvalidArgument("a question is one release, and its verb asks for a second one")
        self._check(bill)
        self.request = bill.request or str(uuid4())
        self.bill = replace(bill, request=self.request)

        def prepare_wrapped() -> Callable[[], Indices]:
            draw = self._wrap(prepare)()

            def draw_paid() -> Indices:
                self.is_paid = True  # a session draws after the charge is committed
                try:
                    return draw()
                except QuestionFailed:
                    self._has_failed = True
                    raise

            return draw_paid

        try:
            return self.session.bought(self.bill, prepare_wrapped)
        except RequestConflict:
            self.bill = None  # nothing was bought
            raise

    def allow(self) -> None:
        """Raise if this may not be paid any more. For the transaction that charges."""
        with public_errors():
            self._check_again()

    def _failure(self, error: BaseException) -> BaseException:
        """Return the error to raise in place of another, or that one."""
        if isinstance(error, DiscreetError) and error.is_public:
            return ChargedError(error, self.request) if self.is_paid else error
        charged = True if self.is_paid else getattr(error, "charged", False)
        if charged is False:
            return error
        is_stored = isinstance(error, Unanswerable) and not self.is_paid  # of an earlier call
        is_final = is_stored or (self._has_failed and not isinstance(error, LedgerError))
        return ChargedError(error, self.request, is_certain=charged is True, is_final=is_final)
