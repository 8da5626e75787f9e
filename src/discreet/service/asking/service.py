"""The service that every way in shares: its datasets, its callers, and the connection of each."""

from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any
from uuid import uuid4

from ...base.error_boundary import public_errors
from ...errors import DiscreetError, NotAllowed
from ...ledger import Budget
from ...selection.releases import Release
from ...tables.datasets.configuration import Configuration
from ..http.auth import Places
from ..http.exchange import Arrival
from ..queue.disclosures import Disclosure, LateAnswers, disclosures_of, late_answers, periods_of
from ..queue.dispatcher import QueuedQuestion
from ..queue.dispatcher_client import DispatcherClient
from ..queue.padding import Clock
from ..queue.promises import answer_times
from .checkout import UnreadError
from .connection import Connection
from .datasets import Datasets
from .in_process import InProcess
from .isolation import Failure, call_isolated, isolated, translation_for, unwrap
from .operations import Operation
from .ownership import Ownership
from .refusals import RefusedError
from .rights import Rights, rights_of
from .tokens import Token, Tokens


class ReadingNeeded(Exception):
    """A question has no stored answer, and is not refused: its data must be read.

    Args:
        question: the question.
    """

    def __init__(self, question: QueuedQuestion) -> None:
        super().__init__()
        self.question = question


@dataclass(slots=True)
class Service:
    """Everything that answers: the datasets, the tokens, and the limits.

    Attributes:
        configuration: the description.
        datasets: its datasets.
        tokens: who may ask.
        dispatcher: asked for all that must be read; None to read it in this process.
        clock: the time.
        places: how many requests of one caller are answered at the same time.
    """

    configuration: Configuration
    datasets: Datasets
    tokens: Tokens
    dispatcher: DispatcherClient | None = None
    clock: Clock = field(default_factory=Clock)
    places: Places = field(default_factory=Places)

    def connection(
        self,
        token: Token,
        arrival: Arrival | None = None,
        answer: Release | Failure | None = None,
    ) -> Connection:
        """Return the connection of a caller, for a request that came at that time; perhaps with its answer."""
        rights = replace(
            self._rights(token.role, token.analyst),
            beginning=None if arrival is None else arrival.date,
            check_again=partial(self.tokens.check, token.id),
        )
        ownership = Ownership(self.configuration, self.tokens, self.datasets, token)
        here = InProcess(token.role, rights, ownership, rights.check)
        if answer is not None:  # its caller was let in before it was asked for
            here = InProcess(token.role, rights, ownership, read=lambda _, **__: answer)
        elif self.dispatcher is not None:
            here = InProcess(
                token.role, rights, ownership, rights.check, partial(settle_request, rights, token)
            )
        return Connection(here, "a service")

    def charged(self, token: Token) -> dict[str, Budget]:
        """Return the open budgets that are charged first when a caller asks, by the names of the datasets."""
        rights = self._rights(token.role, token.analyst)
        with public_errors():
            return unwrap(isolated(rights.charged, translation_for(rights.are_the_owners))())

    def rights_of(self, analyst: str) -> Rights:
        """Return the rights of an analyst, for the owner."""
        return self._rights("analyst", analyst)

    def disclosures_of(self, analyst: str) -> list[Disclosure]:
        """Return the failures and the times that an analyst can see, for the owner."""
        periods = periods_of(self.configuration)
        return disclosures_of(self.rights_of(analyst), answer_times(self.configuration), periods)

    def late_answers(self) -> list[LateAnswers]:
        """Return the delays that have doubled since the last reset, and the questions given up, for the owner."""
        times, names = answer_times(self.configuration), list(self.configuration.datasets)
        budgets = [
            (name, one)
            for name, several in zip(names, self.datasets.budgets_of(*names), strict=True)
            for one in several
            if one.is_current
        ]
        now = self.clock.date()
        delays = self.datasets.delays(one for _, one in budgets)
        shares = [
            (name, one, delay.after_reset(times[name].reset_before(now)))
            for (name, one), delay in zip(budgets, delays, strict=True)
        ]
        seen = [one for name in self.configuration.analysts for one in self.disclosures_of(name)]
        return late_answers(shares, times, seen)

    def _rights(self, role: str, analyst: str | None) -> Rights:
        """Return the rights of a caller.

        Raises:
            RefusedError: if the description has no such analyst any more.
        """
        if analyst is not None and analyst not in self.configuration.analysts:
            raise RefusedError(NotAllowed("this token may not ask here. Contact the owner"))
        return rights_of(self.datasets, self.configuration, role, analyst)


def settle_request(
    rights: Rights, token: Token, operation: Operation[Any], **arguments: Any
) -> Release | Failure:
    """Return the stored answer of a question, its refusal, or a `ReadingNeeded` as a failure. No data are read."""
    with_request = {**arguments, "request": arguments["request"] or str(uuid4())}
    rights = replace(rights, is_unread=True)
    try:
        plain = operation.write(with_request)
    except DiscreetError as error:
        return Failure(error)
    work = isolated(operation.bound(rights), translation_for(rights.are_the_owners))
    answer: Release | Failure = call_isolated(work, **with_request)
    if not isinstance(answer, Failure) or not isinstance(answer.error, UnreadError):
        return answer
    unread = answer.error
    line = {
        "operation": operation.name, "arguments": plain, "role": token.role, "analyst": token.analyst,
        "token": token.id,
    }  # fmt: skip
    question = QueuedQuestion(
        token.analyst, unread.dataset, plain["request"], unread.bill.digest, line, unread.parts
    )
    return Failure(ReadingNeeded(question))
