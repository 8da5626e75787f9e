"""The schedule of a service: when each question starts, and when its reply leaves.

It has no clock and does no work: it is told what happens and when, and says what is to be done. What callers see
of it is a function of three things: when questions arrive, how late the ledger is, and how often a delay had to
double. For the proof, see docs/explanation/threat_model.md, "Time".

A caller has one question under way. A question starts when it arrives, or when a reader is freed by the schedule,
never by how early it was ready. Its reply leaves so many units after its start: the caller's delay, doubled until
the answer is there. Of the callers that wait the one goes first that has held readers least.
"""

from collections import deque
from dataclasses import dataclass, field
from enum import Enum
from heapq import heappop, heappush
from itertools import count
from math import ceil, inf
from typing import Generic, TypeVar

Caller = str | None
"""The name of an analyst, or None for the owner."""

WAITING = 16
"""How many questions of a caller may wait."""

MARGIN = 1 / 10
"""The part of `answers_after` in which a question is charged, and in which its outcome is stored."""


@dataclass(frozen=True, slots=True)
class Promise:
    """The public times of a request, in seconds.

    Attributes:
        unit: its answer leaves so long after its start, times the delay; 0 for as soon as it is there.
        grain: by multiples of it a reply is later where the ledger is late: `answers_after` of the dataset.
        clock: its reading is given up after so long, rounded up to a delay.
    """

    unit: float
    grain: float
    clock: float = inf

    @property
    def margin(self) -> float:
        """The seconds for a charge, and for storing an outcome."""
        return MARGIN * self.grain

    def is_last(self, factor: int) -> bool:
        """Return whether a delay is not doubled any more."""
        return factor * self.unit >= self.clock


class Ending(Enum):
    """The end of a question, besides its time."""

    DRAWN = "drawn"
    FAILED = "failed"
    GIVEN_UP = "given up"
    UNCHARGED = "not charged"


@dataclass(slots=True, eq=False)
class QuestionRun:
    """One question on its way.

    Attributes:
        caller: who asks.
        promise: its times.
        arrival: when it joins the queue of its caller.
        start: when it starts; infinite while it waits.
        late: the seconds by which the ledger was late with the charge.
        factor: the delay.
        leaving: when its reply leaves, as far as is known.
        outcome: its end, once that is there.
        is_stored: whether the outcome is in the ledger, or none will be.
        number: its place among those that arrived, then those that started: it orders what is due at one time.
    """

    caller: Caller
    promise: Promise
    arrival: float
    start: float = inf
    late: float = 0.0
    factor: int = 1
    leaving: float = inf
    outcome: Ending | None = None
    is_stored: bool = False
    number: int = 0

    @property
    def ledger_late(self) -> float:
        """The seconds by which its reply leaves later for the ledger alone: for the charge, and for storing."""
        if not self.promise.unit or self.outcome is Ending.UNCHARGED:
            return 0.0
        return round(self.leaving - self.start - self.factor * self.promise.unit, 6)


R = TypeVar("R", bound=QuestionRun)


class ScheduleStep(Enum):
    """A step to take for a question.

    BEGIN: charge it and read. STOP: end its reader, for its clock. STORE: store its outcome, which leaves at
    `QuestionRun.leaving`. LEFT: it is over.
    """

    BEGIN = "begin"
    STOP = "stop"
    STORE = "store"
    LEFT = "left"


_STOP, _DECIDE, _LEAVE, _ARRIVE = range(4)
"""The order of what is due at the same time: a reader is freed before a question arrives."""


@dataclass(slots=True)
class _Queue(Generic[R]):
    """The questions of one caller.

    Attributes:
        waiting: those that have not started, the oldest first.
        is_served: whether one is under way.
        held: the seconds for which the caller has held readers since nobody waited.
        last: the number of the caller's latest start.
    """

    waiting: deque[R] = field(default_factory=deque)
    is_served: bool = False
    held: float = 0.0
    last: int = -1


@dataclass(slots=True)
class Schedule(Generic[R]):
    """The questions of all callers, and the readers.

    Attributes:
        readers: how many questions are read at the same time.
    """

    readers: int
    _busy: int = 0
    _is_closed: bool = False
    _queues: dict[Caller, _Queue[R]] = field(default_factory=dict)
    _due: list[tuple[float, int, int, R]] = field(default_factory=list)
    _numbers: "count[int]" = field(default_factory=count)
    _steps: list[tuple[ScheduleStep, R]] = field(default_factory=list)

    def ask(self, run: R) -> None:
        """Take a question that arrives now or later."""
        run.number = next(self._numbers)
        self._add(run.arrival, _ARRIVE, run)

    def drop(self, run: R) -> bool:
        """Take a question back, and return whether it had not started."""
        if run.start < inf:
            return False
        queue = self._queues.get(run.caller)
        if queue is not None and run in queue.waiting:
            queue.waiting.remove(run)
        run.leaving = -inf  # one that has not arrived will not
        return True

    def close(self) -> None:
        """Start no more questions."""
        self._is_closed = True

    def charged(self, run: R, now: float, factor: int) -> None:
        """Note that a charge is durable, and the delay of the caller before it."""
        promise = run.promise
        if promise.unit:
            run.late = promise.grain * max(
                0, ceil((now - run.start - promise.margin) / promise.grain)
            )
            run.factor = factor
            self._plan(run)
        else:
            self._add(now + promise.clock, _STOP, run)

    def ended(self, run: R, now: float, outcome: Ending) -> None:
        """Note that an outcome is there. For several that come the last is the outcome."""
        is_first = run.outcome is None
        run.outcome = outcome
        if is_first and not run.promise.unit:
            run.leaving = now
            self._steps.append((ScheduleStep.STORE, run))

    def stored(self, run: R, now: float) -> None:
        """Note that an outcome is in the ledger."""
        run.is_stored = True
        if not run.promise.unit:
            self._leave_at(run, now)

    def uncharged(self, run: R, now: float) -> None:
        """Note that a question was rejected when it was to be charged: no data were read."""
        run.outcome, run.is_stored = Ending.UNCHARGED, True
        unit = run.promise.unit
        units = max(1, ceil((now - run.start) / unit)) if unit else 0
        self._leave_at(run, run.start + units * unit if unit else now)

    def advance(self, now: float) -> list[tuple[ScheduleStep, R]]:
        """Return the steps to take up to a time, in their order."""
        while self._due and self._due[0][0] <= now:
            time = self._due[0][0]
            while self._due and self._due[0][0] == time:
                _, kind, _, run = heappop(self._due)
                (self._stop, self._decide, self._leave, self._arrive)[kind](run, time)
            self._start(
                time
            )  # of all that is due at a time, nothing starts before the rest of it was done
        steps, self._steps = self._steps, []
        return steps

    def next_time(self) -> float:
        """Return the time of the next step; infinite if there is none."""
        return self._due[0][0] if self._due else inf

    def _add(self, time: float, kind: int, run: R) -> None:
        if time < inf:
            heappush(self._due, (time, kind, run.number, run))

    def _leave_at(self, run: R, time: float) -> None:
        run.leaving = time
        self._add(time, _LEAVE, run)

    def _plan(self, run: R) -> None:
        """Set when a reply leaves, if its outcome is there by then."""
        promise = run.promise
        run.leaving = run.start + run.late + run.factor * promise.unit
        self._add(run.leaving - promise.margin, _DECIDE, run)
        if promise.is_last(run.factor):
            self._add(run.leaving - 2 * promise.margin, _STOP, run)

    def _stop(self, run: R, _: float) -> None:
        """Give a question up for its clock."""
        if run.outcome is None:
            self._steps.append((ScheduleStep.STOP, run))
            self.ended(run, _, Ending.GIVEN_UP)

    def _decide(self, run: R, _: float) -> None:
        """Store the answer if there is one, or double the delay."""
        if run.outcome is None:
            run.factor *= 2
            self._plan(run)
        else:
            self._steps.append((ScheduleStep.STORE, run))
            self._add(run.leaving, _LEAVE, run)

    def _leave(self, run: R, time: float) -> None:
        """Free the reader of a reply that leaves. One that is not stored leaves a grain later."""
        if not run.is_stored:
            self._leave_at(run, time + run.promise.grain)
            return
        queue = self._queues[run.caller]
        queue.is_served = False
        queue.held += time - run.start
        self._busy -= 1
        self._steps.append((ScheduleStep.LEFT, run))

    def _arrive(self, run: R, time: float) -> None:
        if run.leaving == -inf:
            return
        present = [one.held for one in self._queues.values() if one.waiting or one.is_served]
        queue = self._queues.setdefault(run.caller, _Queue())
        if present and not (queue.waiting or queue.is_served):
            queue.held = max(queue.held, min(present))
        queue.waiting.append(run)

    def _start(self, time: float) -> None:
        """Start questions while readers are free, first for the caller that has held them least, ties in turn."""
        while self._busy < self.readers and not self._is_closed:
            able = [
                (one.held, one.last, who or "", who)
                for who, one in self._queues.items()
                if one.waiting and not one.is_served
            ]
            if not able:
                break
            queue = self._queues[min(able)[3]]
            run = queue.waiting.popleft()
            queue.is_served, queue.last = True, next(self._numbers)
            run.start, run.number = time, queue.last
            self._busy += 1
            self._steps.append((ScheduleStep.BEGIN, run))
        if not any(one.waiting for one in self._queues.values()):
            self._queues = {who: one for who, one in self._queues.items() if one.is_served}
            for one in self._queues.values():
                one.held = 0.0
