"""The dispatcher: has every question read by the schedule, and reports every event to it.

All workers of a service have one. A question waits here and holds no thread anywhere. Of a reader it hears that a
question was charged, that its outcome is there, and the answer.
"""

import asyncio
import json
import logging
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from math import floor, inf
from typing import Any

from ...errors import LedgerBusy, RequestConflict, Unanswerable
from ...ledger.transaction import time_text
from ..asking import wire
from ..asking.isolation import Failure
from .padding import QUANTUM, Clock
from .promises import AnswerTimes
from .readers import EndedError, Line, Reader, ReaderPool
from .schedule import WAITING, Caller, Ending, QuestionRun, Schedule, ScheduleStep

RequestKey = tuple[Caller, str, str]
"""What a ledger knows a request by: who asks, about which dataset, under which name."""

LOG = logging.getLogger("discreet.failures")
"""One line of JSON for every question that failed, was given up or needed longer. For the owner."""

_TRIES = 3
_CLOCK, _KILLED, _OWN = "its clock", "ended by others", "processor time or memory"
"""Why a reader ended, for the owner."""


@dataclass(frozen=True, slots=True)
class QueuedQuestion:
    """A question that must be read, settled in all that is public.

    Attributes:
        caller: the analyst in whose queue it waits, or None for the owner.
        dataset: the name of the dataset.
        request: the name of the request.
        digest: of all that decides the distribution of the answer, but the data.
        line: the operation, its arguments and who asks, for the reader.
        parts: how many parts it has.
        arrival: when its request was whole.
    """

    caller: Caller
    dataset: str
    request: str
    digest: str
    line: Line
    parts: int = 1
    arrival: float = field(default=0.0, compare=False)

    @property
    def plain(self) -> Line:
        """The question as it travels, without the copies of all that is in it which `asdict` makes."""
        return {name: getattr(self, name) for name in self.__slots__}

    @property
    def key(self) -> RequestKey:
        """The names by which its request is known."""
        return self.caller, self.dataset, self.request


@dataclass(slots=True, eq=False, kw_only=True)
class Ticket(QuestionRun):
    """A question on its way, with its reply.

    Attributes:
        question: the question.
        reply: the answer or the failure, as it travels. It leaves at `end`.
        instruction: the line that lets its reader store the outcome.
        origin: the date at which the clock of the schedule was zero, as it was told when the question came.
        reader: the process that reads it.
        askers: how many have asked it; all but the first are told an answer of before.
        is_charged: whether its reader has reported the charge.
        reason: why its reader has ended, if it has.
    """

    question: QueuedQuestion
    reply: asyncio.Future[Line]
    instruction: asyncio.Future[Line]
    origin: datetime
    reader: Reader | None = None
    askers: int = 1
    is_charged: bool = False
    reason: str = ""

    @property
    def end(self) -> float:
        """When its reply leaves, once that is there; 0 for at once."""
        return self.leaving if self.promise.unit else 0.0

    @property
    def beginning(self) -> str:
        """The date and the time of day at which it starts."""
        return time_text(self.origin + timedelta(seconds=self.start))

    @property
    def storing(self) -> Line:
        """The date and the time of day at which its outcome is stored, and the delay: exactly by the schedule."""
        leaving = time_text(self.origin + timedelta(seconds=self.leaving))
        return {"stored_at": leaving, "factor": self.factor}


@dataclass(slots=True)
class Dispatcher:
    """Questions on their way, and the readers that answer them.

    Attributes:
        times: the public times of answers, by dataset.
        pool: the readers.
        clock: the time.
        waiting: how many questions of a caller may wait.
    """

    times: Mapping[str, AnswerTimes]
    pool: ReaderPool
    clock: Clock = field(default_factory=Clock)
    waiting: int = WAITING
    _schedule: Schedule[Ticket] = field(init=False)
    _tickets: dict[RequestKey, Ticket] = field(default_factory=dict)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)
    _timer: asyncio.Task[None] | None = None
    _due: float = inf

    def __post_init__(self) -> None:
        self._schedule = Schedule(self.pool.number)

    def ask(self, question: QueuedQuestion) -> Ticket:
        """Return the ticket of a question. For one that is on its way, its ticket again.

        Raises:
            RequestConflict: if its request is another question there.
            LedgerBusy: if as many of the caller's questions wait as may.
        """
        ticket = self._tickets.get(question.key)
        if ticket is not None:
            if ticket.question.digest == question.digest:
                ticket.askers += 1
                return ticket
            raise RequestConflict(
                "this request is another question, which waits. Give this one another name"
            )
        waiting = Counter(one.caller for one in self._tickets.values() if one.start == inf)
        if waiting[question.caller] >= self.waiting:
            raise LedgerBusy(f"you already have {self.waiting} waiting questions. Retry later")
        return self._take(question)

    def _take(self, question: QueuedQuestion) -> Ticket:
        """Put a question into the queue of its caller: whole quanta after its arrival, as a free reply leaves."""
        now, loop = self.clock.now(), asyncio.get_running_loop()
        promise = self.times[question.dataset].promise(question.parts)
        quanta = max(0, floor((now - question.arrival) / QUANTUM)) + 1
        arrival = question.arrival + quanta * QUANTUM if promise.unit else now
        ticket = Ticket(
            question.caller, promise, arrival, question=question, reply=loop.create_future(),
            instruction=loop.create_future(), origin=self.clock.date() - timedelta(seconds=now),
        )  # fmt: skip
        self._tickets[question.key] = ticket
        self._schedule.ask(ticket)
        self._follow()
        return ticket

    def leave(self, ticket: Ticket) -> None:
        """Note that a caller has gone: a question without a caller is not begun."""
        ticket.askers -= 1
        if not ticket.askers and self._schedule.drop(ticket):
            del self._tickets[ticket.question.key]

    async def drain(self) -> None:
        """Drop the questions that wait, and return when no reader has one any more."""
        self._schedule.close()
        while any(one.start < inf for one in self._tickets.values()):
            await self.clock.sleep(QUANTUM)
        for task in (self._timer, *self._tasks):
            if task is not None:
                task.cancel()

    def _follow(self) -> None:
        """Take the steps that are due, and wake for the next."""
        while steps := self._schedule.advance(self.clock.now()):
            for step, ticket in steps:
                self._do(step, ticket)
        due = self._schedule.next_time()
        if due < self._due or self._timer is None or self._timer.done():
            self._due = due
            if self._timer is not None:
                self._timer.cancel()
            self._timer = None if due == inf else asyncio.create_task(self._wake(due))

    async def _wake(self, due: float) -> None:
        await self.clock.sleep(max(0.0, due - self.clock.now()))
        self._timer, self._due = None, inf
        self._follow()

    def _do(self, step: ScheduleStep, ticket: Ticket) -> None:
        """Do one step."""
        if step is ScheduleStep.BEGIN:
            self._spawn(self._read(ticket))
        elif step is ScheduleStep.STOP:
            ticket.reason = _CLOCK
            if ticket.reader is not None:
                ticket.reader.kill()
        elif step is ScheduleStep.STORE and ticket.outcome is Ending.DRAWN:
            ticket.instruction.set_result(ticket.storing)
        elif step is ScheduleStep.STORE:
            self._spawn(self._record(ticket))
        else:
            del self._tickets[ticket.question.key]
            self._tell(ticket)

    def _spawn(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _read(self, ticket: Ticket) -> None:
        """Have a question read, by another reader if the first one ends before the charge."""
        line = self._line(ticket)
        for _ in range(_TRIES):
            try:
                ticket.reader = await self.pool.take()
                reply = await self._converse(ticket, ticket.reader, line)
            except TimeoutError:
                break
            except EndedError:
                if ticket.is_charged:
                    await self._note_end(ticket)
                    return
            else:
                self.pool.give_back(ticket.reader)
                self._settle(ticket, reply)
                return
        self._settle(ticket, _no_answer(is_charged=False))

    def _line(self, ticket: Ticket) -> Line:
        """Return a question for its reader, with its limits."""
        question = ticket.question
        limit = self.times[question.dataset].processor_limit(question.parts)
        return {
            **question.line, "beginning": ticket.beginning, "limit": limit, "clock": ticket.promise.clock,
        }  # fmt: skip

    async def _converse(self, ticket: Ticket, reader: Reader, line: Line) -> Line:
        """Return the reply of a reader.

        Raises:
            EndedError: if it ended before.
        """
        await reader.send(line)
        while "answer" not in (message := await reader.receive()):
            if message["step"] == "charged":
                ticket.is_charged = True
                self._schedule.charged(ticket, self.clock.now(), message["factor"])
            else:
                self._schedule.ended(ticket, self.clock.now(), Ending.DRAWN)
            self._follow()
            if ticket.outcome is Ending.DRAWN:
                await reader.send(await ticket.instruction)
        answer: Line = message["answer"]
        return answer

    async def _note_end(self, ticket: Ticket) -> None:
        """Note the end of a question that lost its reader after the charge."""
        assert ticket.reader is not None
        await ticket.reader.wait_for_end()
        is_own = ticket.reader.has_failed and not ticket.reason
        ticket.reason = ticket.reason or (_OWN if is_own else _KILLED)
        outcome = Ending.FAILED if is_own else Ending.GIVEN_UP
        self._schedule.ended(ticket, self.clock.now(), outcome)
        if ticket.instruction.done():  # it ended while it stored
            self._spawn(self._record(ticket))
        self._follow()

    async def _record(self, ticket: Ticket) -> None:
        """Have a failure recorded, or that a question was given up, by another reader."""
        is_given_up = ticket.outcome is Ending.GIVEN_UP
        record = {
            **ticket.storing,
            "reason": ticket.reason or _CLOCK,
            "is_given_up": is_given_up,
        }
        line = {**self._line(ticket), "record": record}
        for _ in range(_TRIES):
            with suppress(EndedError, TimeoutError):
                reader = await self.pool.take()
                await reader.send(line)
                reply: Line = (await reader.receive())["answer"]
                self.pool.give_back(reader)
                self._settle(ticket, reply)
                return
        self._settle(ticket, _no_answer(is_charged=True))

    def _settle(self, ticket: Ticket, reply: Line) -> None:
        """Note that a reply is there, which leaves by the schedule."""
        now = self.clock.now()
        if ticket.is_charged:
            self._schedule.stored(ticket, now)
        else:
            self._schedule.uncharged(ticket, now)
        self._follow()
        ticket.reply.set_result(reply)

    def _tell(self, ticket: Ticket) -> None:
        """Write a line for the owner about a question that was late, failed or was given up."""
        question = ticket.question
        is_ended = ticket.outcome in (Ending.FAILED, Ending.GIVEN_UP)
        if is_ended or ticket.factor > 1 or ticket.ledger_late:
            line = {
                "dataset": question.dataset, "analyst": question.caller, "delay": ticket.factor,
                "outcome": ticket.outcome and ticket.outcome.value, "reason": ticket.reason or None,
                "ledger_late": ticket.ledger_late,
                "answers_after": float(self.times[question.dataset].longer(ticket.factor)),
            }  # fmt: skip
            LOG.warning(json.dumps(line))


def _no_answer(*, is_charged: bool) -> Line:
    """Return the reply to a question that no reader could answer."""
    error = Unanswerable("no data can be read now. Retry, or contact their owner")
    error.charged = is_charged or None
    return wire.write_answer(Failure(error))
