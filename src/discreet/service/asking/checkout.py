"""A question of a caller, settled once, from its price to its purchase. Failures are charged like answers."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any
from uuid import uuid4

from ...base.error_boundary import public_errors
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
from ...ledger import Budget, Quote, Session
from ...ledger.budget import Amount
from ...ledger.delays import GivenUp
from ...ledger.events import read_indices
from ...ledger.failed_questions import QuestionFailed
from ...privacy.contract import equals
from ...selection.payment import Bill, Indices, PaidAnswer
from ...selection.releases import Release
from ...selection.verb_calls import Call
from ...tables.engines.engine_errors import is_out_of_memory
from .allowed_questions import Permission
from .free_questions import refusal
from .isolation import ChargedError

Prepare = Callable[[], Callable[[], Indices]]
"""Computes the private scores, and returns the function that draws from them."""


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


@dataclass(frozen=True, slots=True, repr=False)
class Inquiry:
    """A question of a caller about a dataset, which is settled once: from its price to its purchase.

    Attributes:
        dataset: the name of the dataset.
        data: the dataset.
        call: the question without its data.
        budget: the budget that is charged first: the caller's share, or that of the dataset.
        permission: how its owner allowed it. None for a free question.
        request: the name of the request. None for one without, and for a price.
        max_cost: the most that the answer may cost, in the unit of the budget: ε, or ρ if it counts that.
    """

    dataset: str
    data: Any
    call: Call
    budget: Budget
    permission: Permission | None = None
    request: str | None = None
    max_cost: Any = None

    @property
    def question(self) -> Call:
        """The question with its data."""
        return self.call.about(self.data)

    def bill(self) -> Bill:
        """Return the bill. No data are read."""
        try:
            return self.question.bill(ledger=self.budget)
        except Exception as error:
            failure = None if self.permission is not None else refusal(error)
            if failure is None:
                raise
        raise failure

    def ask(self, checkout: Checkout, session: Session) -> Release:
        """Return the answer, for which a session is charged."""
        try:
            return checkout.ask(self.question, session, self.request)
        except Exception as error:
            is_settled = self.permission is not None or checkout.bill is not None
            failure = None if is_settled else refusal(error)
            if failure is None:
                raise
        raise failure

    def keep_bill(self, checkout: Checkout) -> None:
        """Keep the bill of a named question that its verb has settled from the description alone."""
        bill, permission = checkout.bill, self.permission
        if permission is None or bill is None or checkout.has_told_currency:
            return
        if bill.about is not None and bill.about.check is None:
            permission.kept_bill = bill

    def known_bill(self) -> Bill | None:
        """Return the bill that was kept, unless the data are elsewhere by now."""
        return None if self.permission is None else self.permission.known_bill(self.data)

    @public_errors()
    def cost(self, bill: Bill) -> Amount:
        """Return the cost in the budget that is charged first.

        Raises:
            InvalidArgument: if that cannot count it.
        """
        return self.budget.cost(bill.guarantee, bill.unit)

    @public_errors()
    def check_price(self, bill: Bill) -> None:
        """Raise if the price is higher than the caller will pay."""
        cost = self.cost(bill)
        main = cost.epsilon if cost.epsilon is not None else cost.rho
        if self.max_cost is None or (main is not None and main <= self.max_cost):
            return
        raise InvalidArgument(f"this costs {cost}, more than {equals('max_cost', self.max_cost)}")


class UnreadError(Unanswerable):
    """A question has no stored answer, and is not refused: its data must be read.

    Args:
        dataset: the name of the dataset.
        bill: the bill of the question.
        parts: how many parts it has.
    """

    is_public = True

    def __init__(self, dataset: str, bill: Bill, parts: int) -> None:
        super().__init__("this was not answered before")
        self.dataset, self.bill, self.parts = dataset, bill, parts


def share_error(name: str, quote: Quote, is_oversubscribed: bool) -> Exhausted:
    """Return the error for a share that could not pay, with amounts that its analyst may see.

    Args:
        name: the name of the dataset.
        quote: of the share, read after the refusal.
        is_oversubscribed: whether a release must fit the budget of all analysts too.
    """
    amounts: dict[str, Any] = {
        "requested": quote.cost, "spent": quote.spent, "remaining": quote.remaining,
    }  # fmt: skip
    if quote.closed is not None:
        return Exhausted(f"the budget of {name} cannot pay any more: {quote.closed}", **amounts)
    if quote.fits and not is_oversubscribed:  # its owner gave it more, or another budget, meanwhile
        return Exhausted(f"the budget of {name} has just changed. Retry", **amounts)
    if quote.fits:
        return Exhausted(
            f"your share could pay {quote.cost}, but what all analysts of {name} may spend "
            "together cannot. Contact the owner of the data",
            **amounts,
        )
    return Exhausted(
        f"the budget of {quote.name} cannot pay {quote.cost}: spent {quote.spent}, "
        f"remaining {quote.remaining}",
        **amounts,
    )
