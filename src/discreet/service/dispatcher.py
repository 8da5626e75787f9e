"""The dispatcher: gives every question to a reader at its caller's place in the timetable.

All workers of a service have one. A question waits here in the queue of its caller, and holds no thread anywhere.
All that this file decides by is public: the timetable, the queues, and the time. Of a reader it hears that a
question was charged, that its outcome is there, and the outcome.
"""

import asyncio
from collections import deque
from collections.abc import Coroutine
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from ..errors import LedgerBusy, RequestConflict, Unanswerable
from ..ledger.transaction import time_text
from ..node.isolation import Failure
from . import wire
from .reader_pool import SPARES, EndedError, Line, Reader, ReaderPool
from .timetable import Caller, Place, Timetable
from .turns import Clock

RequestKey = tuple[Caller, str, str]
"""What a ledger knows a request by: who asks, about which dataset, under which name."""

ALLOWANCE = 1 / 4
"""The part of a turn in which a question is charged, at the beginning of its place, and stored, at its end.

As long before that a reader that has no outcome is ended: so the failure is stored at the same time as an answer.
"""

_NO_PACE = {"charge_by": 0.0, "turn": 0.0, "limit": 0.0}
_TRIES = 3


@dataclass(frozen=True, slots=True)
class QueuedQuestion:
    """A question that must be read, settled in all that is public.

    Attributes:
        caller: the analyst whose place it takes, or None for the owner.
        dataset: the name of the dataset.
        request: the name of the request.
        digest: of all that decides the distribution of the answer, but the data.
        line: the operation, its arguments and who asks, for the reader.
        earliest: the time before which no place of it begins: that at which a reply would leave that needs no data.
            It follows from the arrival alone, so the time of settling decides no place.
    """

    caller: Caller
    dataset: str
    request: str
    digest: str
    line: Line
    earliest: float = field(default=0.0, compare=False)

    @property
    def plain(self) -> Line:
        """The question as it travels, without the copies of all that is in it which `asdict` makes."""
        return {
            "caller": self.caller, "dataset": self.dataset, "request": self.request,
            "digest": self.digest, "line": self.line, "earliest": self.earliest,
        }  # fmt: skip

    @property
    def key(self) -> RequestKey:
        """The names by which its request is known."""
        return self.caller, self.dataset, self.request


@dataclass(slots=True)
class Ticket:
    """A question with its place.

    Attributes:
        question: the question.
        end: when its reply leaves at the latest, unless the ledger was waited for; 0 for as soon as it is ready.
        reply: the answer or the failure, as it travels. `end` is when it leaves once this is there.
        askers: how many have asked it; all but the first are told an answer of before.
    """

    question: QueuedQuestion
    end: float
    reply: asyncio.Future[Line]
    askers: int = 1


@dataclass(frozen=True, slots=True)
class Span:
    """The time of a place in one round.

    Attributes:
        begin: when it begins.
        end: when it ends, and its reply leaves.
    """

    begin: float
    end: float


@dataclass(slots=True)
class Dispatcher:
    """Queues of questions, and the readers that answer them.

    Attributes:
        timetable: whose place is when.
        pool: the readers.
        clock: the time.
    """

    timetable: Timetable
    pool: ReaderPool
    clock: Clock = field(default_factory=Clock)
    _queues: dict[Place, deque[Ticket]] = field(default_factory=dict)
    _tickets: dict[RequestKey, Ticket] = field(default_factory=dict)
    _rounds: dict[int, asyncio.Task[None]] = field(default_factory=dict)
    _running: set[asyncio.Task[None]] = field(default_factory=set)
    _being_read: set[tuple[Caller, str]] = field(default_factory=set)
    _permits: asyncio.Semaphore = field(init=False)

    def __post_init__(self) -> None:
        self._permits = asyncio.Semaphore(self.pool.number)

    def ask(self, question: QueuedQuestion) -> Ticket:
        """Return the place of a question in the queue of its caller; of one that is there, its place again.

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
                "this request is another question, which waits; give this one a name of its own"
            )
        place = self.timetable.place(question.caller, question.dataset)
        if self._count_waiting(question.caller) >= self.timetable.waiting:
            raise LedgerBusy(
                "{waiting} questions of yours wait already; ask again later",
                waiting=self.timetable.waiting,
            )
        return self._queue(question, place)

    def _queue(self, question: QueuedQuestion, place: Place) -> Ticket:
        """Put a question last in the queue of a place."""
        queue, now = self._queues.setdefault(place, deque()), self.clock.now()
        time = max(now, question.earliest)
        end = self.timetable.span(place, time, len(queue))[1] if self.timetable.is_timed else 0.0
        ticket = Ticket(question, end, asyncio.get_running_loop().create_future())
        self._tickets[question.key] = ticket
        queue.append(ticket)
        if self.timetable.is_timed:
            self._begin(place.reader, self._keep_round(place.reader, now))
        else:
            for number in range(self.pool.number + SPARES):
                self._begin(number, self._take_turns(number))
        return ticket

    async def drain(self) -> None:
        """Drop the questions that wait, and return when no reader has one any more."""
        for task in self._rounds.values():
            task.cancel()
        self._queues.clear()
        while self._running:
            await asyncio.wait(self._running)

    def _count_waiting(self, caller: Caller) -> int:
        return sum(len(queue) for place, queue in self._queues.items() if place.caller == caller)

    def _begin(self, number: int, work: Coroutine[Any, Any, None]) -> None:
        """Begin the work of a reader, unless it has begun; it goes on as long as questions wait."""
        if number in self._rounds:
            work.close()
        else:
            self._rounds[number] = asyncio.get_running_loop().create_task(work)

    def _is_waited_for(self, reader: int) -> bool:
        """Return whether questions wait for the places of a reader."""
        return any(self._queues.get(place) for place in self.timetable.rounds[reader])

    async def _keep_round(self, reader: int, time: float) -> None:
        """Give the places of a reader from a time on to the questions that wait, when they begin."""
        while self._is_waited_for(reader):
            place, span = self._next_place(reader, time)
            await self.clock.sleep(max(0.0, span.begin - self.clock.now()))
            taker = self._taker(place, span.begin)
            if taker is not None:
                self._run(self._queues[taker].popleft(), span)
            time = span.begin + float(self.timetable.turn) / 2  # after this one, before any other
        del self._rounds[reader]

    def _next_place(self, reader: int, time: float) -> tuple[Place, Span]:
        """Return the place of a reader that begins next after a time."""
        spans = (
            (place, Span(*self.timetable.span(place, time)))
            for place in self.timetable.rounds[reader]
        )
        return min(spans, key=lambda pair: pair[1].begin)

    def _taker(self, place: Place, begin: float) -> Place | None:
        """Return the place of the question that is read in a place: its own, or one that it is lent to; or None.

        None while another one of its caller about its dataset is read, which is late then: as that one may fail, by
        which the dataset is closed, and both would.
        """
        for one in (place, *self.timetable.borrowers(place)):
            queue = self._queues.get(one)
            if queue and queue[0].question.earliest <= begin:
                question = queue[0].question
                if (question.caller, question.dataset) not in self._being_read:
                    return one
        return None

    async def _take_turns(self, number: int) -> None:
        """Without turns: answer one question of every waiting caller after the other.

        The spare reader takes turns too, so that one is charged or stored, for which the disk is waited for, while
        another is read. No more are read at the same time than the timetable has readers.
        """
        while places := [place for place, queue in self._queues.items() if queue]:
            queue = self._queues.pop(places[0])
            ticket = queue.popleft()
            self._queues[places[0]] = queue  # the last one now
            await asyncio.wait([self._run(ticket, None)])
        del self._rounds[number]

    def _run(self, ticket: Ticket, span: Span | None) -> asyncio.Task[None]:
        """Begin to answer a question in its place."""
        self._being_read.add((ticket.question.caller, ticket.question.dataset))
        task = asyncio.get_running_loop().create_task(self._answer(ticket, span))
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return task

    async def _answer(self, ticket: Ticket, span: Span | None) -> None:
        """Answer a question in its place, and reply to whoever asked."""
        question = ticket.question
        try:
            reply = await self._read(question.line, span)
        finally:  # whatever happened: the caller's next question waits for this
            self._being_read.discard((question.caller, question.dataset))
        if span is not None:
            ticket.end = span.end
        del self._tickets[question.key]
        ticket.reply.set_result(reply)

    async def _read(self, question: Line, span: Span | None) -> Line:
        """Return the reply of a reader; of one that ended after the charge, the failure that another records."""
        line, is_charged = {**question, **self._times(span)}, False
        for _ in range(_TRIES):
            try:
                conversation = Conversation(await self.pool.take(), self.clock, line, self._permits)
                reply = await conversation.hold()
            except TimeoutError:
                break
            except EndedError:
                if not conversation.is_charged:  # nothing was read, so this tells nothing
                    continue
            else:
                self.pool.give_back(conversation.reader)
                return reply
            is_charged, store_at = True, line["store_at"]
            if store_at is not None:  # the same as for a failure that was read in time
                store_at += conversation.late
            line = {**line, "pace": None, "store_at": store_at}
        return _no_answer(is_charged)

    def _times(self, span: Span | None) -> Line:
        """Return the times of a place for its reader: those of its events, and those that it must keep."""
        now, date = self.clock.now(), self.clock.date()
        if span is None:
            times = {"beginning": time_text(date), "stored_at": None, "store_at": None}
            return {**times, "pace": _NO_PACE}
        turn = float(self.timetable.turn)
        texts = (time_text(date + timedelta(seconds=one - now)) for one in (span.begin, span.end))
        pace = {
            "charge_by": span.begin + ALLOWANCE * turn, "turn": turn,
            "limit": span.end - span.begin - 3 * ALLOWANCE * turn,  # then another reader gets ready to record
        }  # fmt: skip
        times = dict(zip(("beginning", "stored_at"), texts, strict=True))
        return {**times, "store_at": span.end - ALLOWANCE * turn, "pace": pace}


@dataclass(slots=True)
class Conversation:
    """A question to a reader, and the reports about it.

    Attributes:
        reader: the reader.
        clock: the time.
        line: the question.
        permits: how many may read now, where no place of a timetable says who.
        is_charged: whether the reader has reported the charge.
        late: by how many seconds the ledger has delayed it.
    """

    reader: Reader
    clock: Clock
    line: Line
    permits: asyncio.Semaphore
    is_charged: bool = False
    late: float = 0.0
    _is_permitted: bool = False

    async def hold(self) -> Line:
        """Return the reply; end the reader if the outcome is not there in time after the charge.

        Raises:
            EndedError: if the reader ended before it replied.
        """
        killing: asyncio.Task[None] | None = None
        try:
            await self.reader.send(self.line)
            while "answer" not in (message := await self.reader.receive()):
                if message["step"] == "charged":
                    self.is_charged = True
                    killing = self._time(message)
                    await self._permit()
                    continue
                self._end_reading()
                if killing is not None:
                    killing.cancel()
        finally:
            self._end_reading()
            if killing is not None:
                killing.cancel()
        answer: Line = message["answer"]
        return answer

    async def _permit(self) -> None:
        """Let the reader read, when it may, where no place says when."""
        if self.line["store_at"] is None:
            await self.permits.acquire()
            self._is_permitted = True
            await self.reader.send({})

    def _end_reading(self) -> None:
        """Let another one read, if this one was let."""
        if self._is_permitted:
            self._is_permitted = False
            self.permits.release()

    def _time(self, message: Line) -> asyncio.Task[None] | None:
        """Begin the time of the reading with its charge."""
        pace = self.line["pace"]
        if pace is None or self.line["store_at"] is None:
            return None
        self.late = message["late_turns"] * pace["turn"]
        until = message["at"] + pace["limit"]
        return asyncio.get_running_loop().create_task(self._kill(until))

    async def _kill(self, until: float) -> None:
        await self.clock.sleep(max(0.0, until - self.clock.now()))
        self.reader.kill()


def _no_answer(is_charged: bool) -> Line:
    """Return the reply to a question that no reader could answer."""
    error = Unanswerable("no data can be read now; ask again, or tell their owner")
    error.charged = is_charged or None
    return wire.write_answer(Failure(error))
