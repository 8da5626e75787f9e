"""The dispatcher has questions read by the schedule alone. Time and readers are scripts."""

import asyncio
import json
from collections.abc import Coroutine
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import pytest

from discreet.errors import LedgerBusy, RequestConflict
from discreet.service.queue.dispatcher import Dispatcher, QueuedQuestion, Ticket
from discreet.service.queue.padding import QUANTUM
from discreet.service.queue.promises import AnswerTimes
from discreet.service.queue.readers import EndedError, Line, ReaderPool

from ..fake_clock import FakeClock

Log = list[tuple[str, str, float]]


@dataclass
class ScriptedReader:
    """A reader that takes the time that its question names, and does what that says."""

    clock: FakeClock
    log: Log
    lines: "asyncio.Queue[Line | None]" = field(default_factory=asyncio.Queue)
    task: Any = None
    end: asyncio.Event = field(default_factory=asyncio.Event)
    instruction: "asyncio.Queue[Line]" = field(default_factory=asyncio.Queue)
    has_failed: bool = False

    async def send(self, line: Line) -> None:
        if "name" in line:
            self.task = asyncio.create_task(self._work(line))
        else:
            await self.instruction.put(line)

    async def _work(self, line: Line) -> None:
        name = line["name"]
        if "record" in line:
            self.log.append(("record", name, self.clock.time))
            await self.lines.put({"answer": {"recorded": line["record"], "at": line["beginning"]}})
            return
        self.log.append(("begin", name, self.clock.time))
        if line.get("dies") == "before":
            self.kill()
            return
        await self.clock.sleep(line.get("charge", 0.01))
        if line.get("refused"):
            await self.lines.put({"answer": {"refused": name}})
            return
        await self.lines.put({"step": "charged", "factor": line.get("factor", 1)})
        await self.clock.sleep(line["takes"])
        if line.get("dies") in ("reading", "computing"):
            self.has_failed = line["dies"] == "computing"
            self.kill()
            return
        await self.lines.put({"step": "ended"})
        instruction = await self.instruction.get()
        if line.get("dies") == "storing":
            self.kill()
            return
        await self.clock.sleep(line.get("stores", 0.0))
        self.log.append(("store", name, self.clock.time))
        await self.lines.put({"answer": {"value": name, **instruction}})

    async def receive(self) -> Line:
        line = await self.lines.get()
        if line is None:
            raise EndedError
        return line

    def kill(self) -> None:
        self.log.append(("end", "", self.clock.time))
        if self.task is not None:
            self.task.cancel()
        self.lines.put_nowait(None)
        self.end.set()

    async def wait_for_end(self) -> None:
        await self.end.wait()


class Script:
    """A dispatcher whose time and readers are scripts."""

    def __init__(self, readers: int = 1, after: str = "1", waiting: int = 16) -> None:
        self.clock = FakeClock(100.0)
        self.log: Log = []
        self.pool = ReaderPool(self._fork, readers)
        times = AnswerTimes(Fraction(after), Fraction(8, 10), "day")
        self.dispatcher = Dispatcher({"people": times}, self.pool, self.clock.clock, waiting)

    async def _fork(self) -> ScriptedReader:
        return ScriptedReader(self.clock, self.log)

    def ask(self, name: str, caller: str | None = "ann", takes: float = 0.1, **more: Any) -> Ticket:
        """Ask a question under its own name as its request."""
        line = {"name": name, "takes": takes, **more}
        parts, arrival = more.get("parts", 1), self.clock.time
        question = QueuedQuestion(caller, "people", name, f"digest {name}", line, parts, arrival)
        return self.dispatcher.ask(question)

    def answer(self, name: str, **more: Any) -> tuple[Line, float]:
        """Return the reply to one question, and how long after its arrival it leaves."""

        async def work() -> tuple[Line, float]:
            ticket = self.ask(name, **more)
            return await ticket.reply, round(ticket.end - 100.0 - QUANTUM, 6)

        reply: tuple[Line, float] = self.run(work())
        return reply

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Return the result of work, once the readers are there."""

        async def begin() -> Any:
            self.pool.start()
            self.pool.give_back(await self.pool.take())
            try:
                return await work
            finally:
                self.log = self.log[:]  # without the end of the readers now
                self.pool.close()

        return self.clock.run(begin())

    def when(self, step: str) -> list[float]:
        """Return when a step was taken, after the first arrival."""
        return [round(time - 100.0 - QUANTUM, 6) for kind, _, time in self.log if kind == step]


@pytest.mark.parametrize("takes", [0.0, 0.3, 0.7])
def test_a_question_begins_after_its_arrival_and_leaves_after_its_unit(takes: float) -> None:
    script = Script()
    reply, leaves = script.answer("a", takes=takes)
    assert leaves == 1.0
    assert reply == {"value": "a", "stored_at": "2026-03-01T12:00:01.050000+00:00", "factor": 1}
    assert script.when("begin") == [0.0]
    assert script.when("store") == [0.9]


def test_a_longer_request_has_longer_units() -> None:
    assert Script().answer("a", takes=5.0, parts=64)[1] == 8.0


def test_late_is_late_and_the_delay_is_stored_with_the_outcome() -> None:
    reply, leaves = Script().answer("a", takes=2.5)
    assert (reply["factor"], leaves) == (4, 4.0)
    reply, leaves = Script().answer("a", takes=0.1, factor=2)
    assert (reply["factor"], leaves) == (2, 2.0)


@pytest.mark.parametrize(
    ("more", "late"),
    [({}, 0.0), ({"charge": 0.3}, 1.0), ({"stores": 0.3}, 1.0), ({"charge": 1.3, "stores": 2.3}, 5.0),
     ({"takes": 2.5}, 0.0), ({"takes": 2.5, "charge": 0.3}, 1.0), ({"refused": True, "charge": 2.5}, 0.0)],
)  # fmt: skip
def test_the_owner_is_told_how_late_the_ledger_was(
    more: dict[str, Any], late: float, caplog: pytest.LogCaptureFixture
) -> None:
    """Apart from how long reading took: a line for what was late by either, and none else."""
    script = Script()

    async def work() -> float:
        ticket = script.ask("a", **more)
        await ticket.reply
        await script.clock.sleep(20.0)
        return ticket.ledger_late

    assert script.run(work()) == late
    lines = [json.loads(one.message) for one in caplog.records if one.name == "discreet.failures"]
    assert len(lines) == (1 if late or more.get("takes") else 0)
    assert [one["ledger_late"] for one in lines] == [late] * len(lines)


def test_waiting_for_the_ledger_makes_a_reply_late_by_whole_grains() -> None:
    assert Script().answer("a", charge=0.3)[1] == 2.0
    assert Script().answer("a", stores=0.3)[1] == 2.0


@pytest.mark.parametrize(
    ("more", "leaves", "reason", "is_given_up"),
    [
        ({"takes": 99.0}, 8.0, "its clock", True),
        ({"takes": 0.3, "dies": "reading"}, 1.0, "ended by others", True),
        ({"takes": 0.3, "dies": "computing"}, 1.0, "processor time or memory", False),
        ({"takes": 0.3, "dies": "storing"}, 1.0, "ended by others", True),
    ],
)
def test_what_becomes_of_readers_that_end_leaves_like_an_answer(
    more: dict[str, Any], leaves: float, reason: str, is_given_up: bool
) -> None:
    reply, left = Script().answer("a", **more)
    assert left == leaves
    record = reply["recorded"]
    assert (record["reason"], record["is_given_up"]) == (reason, is_given_up)
    assert record["factor"] == leaves


def test_a_reader_that_ended_before_the_charge_is_replaced_at_no_cost() -> None:
    script = Script()
    reply, leaves = script.answer("a", dies="before")
    assert reply["failure"]["charged"] is None  # it ended three times, and nothing more is known
    assert len(script.when("begin")) == 3
    assert leaves == 1.0


def test_a_question_that_is_refused_by_its_reader_leaves_like_an_answer() -> None:
    assert Script().answer("a", refused=True) == ({"refused": "a"}, 1.0)
    assert Script().answer("a", refused=True, charge=2.5) == ({"refused": "a"}, 3.0)


def test_each_caller_has_one_queue_of_so_many_questions() -> None:
    script = Script(waiting=2)

    async def work() -> None:
        tickets = [script.ask("a"), script.ask("b")]
        with pytest.raises(LedgerBusy, match="you already have 2 waiting questions"):
            script.ask("c")
        assert script.ask("b") is tickets[1]  # the same one again
        script.ask("d", "bob")
        await tickets[0].reply
        script.ask("c")
        await tickets[1].reply

    script.run(work())


def test_a_request_that_waits_is_one_question() -> None:
    script = Script()

    async def work() -> None:
        ticket = script.ask("a")
        with pytest.raises(RequestConflict):
            script.dispatcher.ask(QueuedQuestion("ann", "people", "a", "another", {}))
        await ticket.reply

    script.run(work())
    assert len(script.when("begin")) == 1


def test_a_question_that_nobody_waits_for_any_more_is_not_begun() -> None:
    script = Script()

    async def work() -> None:
        first, gone, last = script.ask("a"), script.ask("b"), script.ask("c")
        assert script.ask("c") is last
        await script.clock.sleep(0.5)
        for ticket in (first, gone, last):  # one has begun, and one is waited for by another
            script.dispatcher.leave(ticket)
        await last.reply

    script.run(work())
    assert [name for kind, name, _ in script.log if kind == "begin"] == ["a", "c"]


def test_a_caller_who_was_late_goes_after_the_others() -> None:
    script = Script()

    async def work() -> None:
        tickets = [script.ask(f"e{i}", "eve", takes=3.0) for i in range(3)]
        tickets += [script.ask(f"a{i}") for i in range(3)]
        await asyncio.gather(*(ticket.reply for ticket in tickets))

    script.run(work())
    order = [name for kind, name, _ in script.log if kind == "begin"]
    assert order == ["a0", "e0", "a1", "a2", "e1", "e2"]


def test_without_a_promise_answers_leave_when_they_are_ready() -> None:
    script = Script(after="0")

    async def work() -> list[Line]:
        tickets = [script.ask(name, who) for name, who in (("a", "ann"), ("b", "bob"))]
        replies = await asyncio.gather(*(ticket.reply for ticket in tickets))
        assert [ticket.end for ticket in tickets] == [0.0, 0.0]
        return replies

    assert [reply["value"] for reply in script.run(work())] == ["a", "b"]
    assert script.clock.time == pytest.approx(100.22)


@pytest.mark.parametrize("after", ["1", "0"])
def test_draining_drops_what_waits_and_ends_what_is_read(after: str) -> None:
    script = Script(after=after)

    async def work() -> tuple[Ticket, Ticket]:
        first, _, last = (script.ask(name, takes=0.4) for name in "abc")
        await script.clock.sleep(0.3)
        await script.dispatcher.drain()
        return first, last

    first, last = script.run(work())
    assert first.reply.done()
    assert not last.reply.done() or last.reply.cancelled()
    assert [name for kind, name, _ in script.log if kind == "begin"] == ["a"]
