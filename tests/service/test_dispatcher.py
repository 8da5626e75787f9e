"""The dispatcher gives places by the clock, the queues and the timetable alone. Time and readers are scripts."""

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import pytest

from discreet.errors import LedgerBusy, RequestConflict, UnknownName
from discreet.service.dispatcher import ALLOWANCE, Dispatcher, QueuedQuestion, Ticket
from discreet.service.reader_pool import EndedError, Line, ReaderPool
from discreet.service.timetable import Place, Timetable

from .fake_clock import FakeClock

TURN = 0.25


def timetable(*rounds: dict[str | None, int], turn: float = TURN, **options: Any) -> Timetable:
    """Return a timetable with these lengths of the places of every reader."""
    places = []
    for reader, lengths in enumerate(rounds):
        starts = [sum(list(lengths.values())[:i]) for i in range(len(lengths))]
        places.append(
            tuple(
                Place(caller, reader, start, turns)
                for (caller, turns), start in zip(lengths.items(), starts, strict=True)
            )
        )
    return Timetable(Fraction(turn), tuple(places), {}, **options)


@dataclass
class ScriptedReader:
    """A reader that takes the time that its question names, and does what that says."""

    clock: FakeClock
    log: list[tuple[str, str, float]]
    lines: "asyncio.Queue[Line | None]" = field(default_factory=asyncio.Queue)
    task: Any = None
    end: asyncio.Event = field(default_factory=asyncio.Event)
    permit: asyncio.Event = field(default_factory=asyncio.Event)

    async def send(self, line: Line) -> None:
        if not line:
            self.permit.set()
            return
        self.permit.clear()
        self.task = asyncio.create_task(self._work(line))

    async def _work(self, line: Line) -> None:
        name, pace = line["name"], line["pace"]
        if pace is None and line["store_at"] is not None:
            await self.clock.sleep(max(0.0, line["store_at"] - self.clock.time))
        self.log.append(("begin" if pace else "record", name, self.clock.time))
        if pace is None:
            await self.lines.put({"answer": {"failed": name, "at": line["stored_at"]}})
            return
        if line.get("dies") == "before":
            self.kill()
            return
        await self.clock.sleep(line.get("charge", 0.01))
        late = (
            max(0, -int(-(self.clock.time - pace["charge_by"]) // pace["turn"]))
            if pace["turn"]
            else 0
        )
        await self.lines.put({"step": "charged", "at": self.clock.time, "late_turns": late})
        if not pace["turn"]:
            await self.permit.wait()
            self.log.append(("read", name, self.clock.time))
        await self.clock.sleep(line["takes"])
        if line.get("dies") == "reading":
            self.kill()
            return
        await self.lines.put({"step": "drawn"})
        if line["store_at"] is not None:
            store_at = line["store_at"] + late * pace["turn"]
            await self.clock.sleep(max(0.0, store_at - self.clock.time))
        await self.clock.sleep(line.get("stores", 0.0))
        self.log.append(("store", name, self.clock.time))
        await self.lines.put({"answer": {"value": name, "at": line["beginning"]}})

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

    def __init__(self, table: Timetable, time: float = 100.0) -> None:
        self.clock = FakeClock(time)
        self.log: list[tuple[str, str, float]] = []
        self.pool = ReaderPool(self._fork, len(table.rounds))
        self.dispatcher = Dispatcher(table, self.pool, self.clock.clock)

    async def _fork(self) -> ScriptedReader:
        return ScriptedReader(self.clock, self.log)

    def ask(self, name: str, caller: str | None = "ann", takes: float = 0.1, **more: Any) -> Ticket:
        """Ask a question under its own name as its request."""
        line = {"name": name, "takes": takes, **more}
        return self.dispatcher.ask(QueuedQuestion(caller, "people", name, f"digest {name}", line))

    def answer(self, name: str, **more: Any) -> tuple[Line, float]:
        """Return the reply to one question, and when it leaves."""

        async def work() -> tuple[Line, float]:
            ticket = self.ask(name, **more)
            return await ticket.reply, ticket.end

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


def test_a_question_begins_with_its_place_and_ends_with_it() -> None:
    script = Script(timetable({None: 4, "ann": 4}), time=100.3)

    async def work() -> None:
        ticket = script.ask("a")
        expected = ticket.end
        reply = await ticket.reply
        assert reply["value"] == "a"
        assert reply["at"].startswith("2026-03-01T12:00:00.7")  # the beginning of the place
        assert ticket.end == expected == 102.0

    script.run(work())
    assert [kind for kind, _, _ in script.log] == ["begin", "store"]
    times = [time for _, _, time in script.log]
    assert times == pytest.approx([101.0, 102.0 - ALLOWANCE * TURN])


@pytest.mark.parametrize("takes", [0.0, 0.1, 0.5, 0.8])
@pytest.mark.parametrize("number", [1, 7, 16])
def test_times_are_the_same_however_long_the_data_are_read_and_however_many_ask_at_once(
    takes: float, number: int
) -> None:
    def times(takes: float) -> list[tuple[float, float]]:
        script = Script(timetable({None: 4, "ann": 4}))

        async def work() -> list[tuple[float, float]]:
            tickets = [script.ask(f"q{i}", takes=takes) for i in range(number)]
            expected = [ticket.end for ticket in tickets]
            await asyncio.gather(*(ticket.reply for ticket in tickets))
            return list(zip(expected, [ticket.end for ticket in tickets], strict=True))

        ends = script.run(work())
        stored = [time for kind, _, time in script.log if kind == "store"]
        return [*ends, *zip(stored, stored, strict=True)]

    seen = times(takes)
    assert seen == times(0.05)
    assert all(expected == end for expected, end in seen)
    assert [end for end, _ in seen[:number]] == [102.0 + 2 * i for i in range(number)]


def test_a_flood_and_failures_of_one_move_no_reply_of_another() -> None:
    def ends(*others: dict[str, Any]) -> list[float]:
        script = Script(timetable({None: 4, "ann": 4, "bob": 4}))

        async def work() -> list[float]:
            for i, other in enumerate(others):
                script.ask(f"bob {i}", "bob", **other)
            tickets = [script.ask(f"a{i}") for i in range(3)]
            replies = await asyncio.gather(*(ticket.reply for ticket in tickets))
            assert [reply["value"] for reply in replies] == ["a0", "a1", "a2"]
            return [ticket.end for ticket in tickets]

        times: list[float] = script.run(work())
        return times

    alone = ends()
    for other in ({}, {"takes": 99.0}, {"dies": "reading"}, {"dies": "before"}, {"charge": 0.6}):
        assert ends(*[other] * 16) == alone


def test_a_question_that_outlasts_its_place_is_ended_and_recorded_as_failed_at_the_same_time() -> (
    None
):
    for takes, more in ((99.0, {}), (0.3, {"dies": "reading"})):
        script = Script(timetable({"ann": 4}))
        reply, end = script.answer("a", takes=takes, **more)
        assert (reply["failed"], end) == ("a", 101.0)
        recorded = [time for kind, _, time in script.log if kind == "record"]
        assert recorded == [pytest.approx(101.0 - ALLOWANCE * TURN)]
        ended = next(time for kind, _, time in script.log if kind == "end")
        assert ended < recorded[0] - ALLOWANCE * TURN  # in time for another one to be ready


@pytest.mark.parametrize("settled", [100.51, 100.74, 100.99])
def test_the_time_that_settling_takes_decides_no_place(settled: float) -> None:
    """What arrived at 100.5 could be answered at 101.25 without data: the place at 101 is not for it."""
    script = Script(timetable({"ann": 4, None: 4}), settled)

    async def work() -> float:
        line = {"name": "a", "takes": 0.1}
        ticket = script.dispatcher.ask(QueuedQuestion("ann", "people", "a", "a", line, 101.25))
        promise = ticket.end
        await ticket.reply
        assert ticket.end == promise
        return promise

    assert script.run(work()) == 103.0
    assert [time for kind, _, time in script.log if kind == "begin"] == [102.0]


def test_a_reader_has_the_same_time_to_read_however_long_it_waited_for_the_ledger() -> None:
    limit = 4 * TURN - 3 * ALLOWANCE * TURN
    for charge in (0.01, 0.06, 0.3, 2.0):
        for takes, outcome in ((limit - 0.001, "value"), (limit + 0.001, "failed")):
            reply, _ = Script(timetable({"ann": 4})).answer("a", takes=takes, charge=charge)
            assert outcome in reply


def test_waiting_for_the_ledger_makes_a_reply_late_by_whole_turns_and_is_no_failure() -> None:
    script = Script(timetable({"ann": 4, "ben": 4}))

    async def work() -> list[Line]:
        tickets = [script.ask("late", charge=1.3), script.ask("next", "ben")]
        return await asyncio.gather(*(ticket.reply for ticket in tickets))

    late, following = script.run(work())
    assert (late["value"], following["value"]) == ("late", "next")
    times = {name: time for kind, name, time in script.log if kind == "store"}
    assert (times["late"] - (101.0 - ALLOWANCE * TURN)) % TURN == pytest.approx(0)
    assert times["next"] == pytest.approx(102.0 - ALLOWANCE * TURN)  # a spare had the next place


@pytest.mark.parametrize(("caller", "begins"), [("ann", "second"), ("ben", "other")])
def test_a_question_begins_after_the_last_of_its_caller_though_that_is_late(
    caller: str, begins: str
) -> None:
    """As the last may fail, by which the dataset is closed: both would fail where one may. Others do not wait."""
    script = Script(timetable({"ann": 4}, {"ben": 4}))

    async def work() -> None:
        tickets = [script.ask("first", charge=0.4, takes=0.5)]
        while not script.log:
            await script.clock.sleep(0.01)
        tickets.append(script.ask(begins, caller))
        for ticket in tickets:
            await ticket.reply

    script.run(work())
    steps = [(step, name) for step, name, _ in script.log if step in ("begin", "store")]
    is_after = steps.index(("begin", begins)) > steps.index(("store", "first"))
    assert is_after is (caller == "ann")


def test_a_reader_that_ended_before_the_charge_is_replaced_at_no_cost() -> None:
    script = Script(timetable({"ann": 4}))
    reply, _ = script.answer("a", dies="before")
    assert reply["failure"]["error"] == "Unanswerable"
    assert reply["failure"]["charged"] is None  # it ended three times, and nothing more is known
    assert [kind for kind, _, _ in script.log].count("record") == 0


def test_each_caller_has_one_queue_of_so_many_questions() -> None:
    script = Script(timetable({"ann": 4, "bob": 4}, waiting=2))

    async def work() -> None:
        first, second = script.ask("a"), script.ask("b")
        with pytest.raises(LedgerBusy, match="2 questions of yours wait"):
            script.ask("c")
        assert script.ask("b") is second  # the same one again
        script.ask("d", "bob")
        await first.reply
        script.ask("c")
        with pytest.raises(UnknownName):
            script.ask("e", "nobody")
        await second.reply

    script.run(work())


def test_a_request_that_waits_is_one_question() -> None:
    script = Script(timetable({"ann": 4}))

    async def work() -> None:
        ticket = script.ask("a")
        with pytest.raises(RequestConflict):
            script.dispatcher.ask(QueuedQuestion("ann", "people", "a", "another", {}))
        await ticket.reply

    script.run(work())
    assert [kind for kind, _, _ in script.log] == ["begin", "store"]


@pytest.mark.parametrize("lends", [False, True])
def test_an_empty_place_is_lent_at_its_full_length(lends: bool) -> None:
    script = Script(timetable({None: 4, "ann": 4, "bob": 2}, lends=lends))

    async def work() -> list[float]:
        tickets = [script.ask("a"), script.ask("b"), script.ask("short", "bob")]
        await asyncio.gather(*(ticket.reply for ticket in tickets))
        return [ticket.end for ticket in tickets]

    assert script.run(work()) == ([101.0, 102.0, 102.5] if lends else [102.0, 104.5, 102.5])


def test_rounds_of_several_readers_begin_apart() -> None:
    script = Script(timetable({"ann": 4}, {"bob": 4}))

    async def work() -> list[float]:
        tickets = [script.ask("a"), script.ask("b", "bob")]
        await asyncio.gather(*(ticket.reply for ticket in tickets))
        return [ticket.end for ticket in tickets]

    first, second = script.run(work())
    assert (second - first) % (4 * TURN) == pytest.approx(TURN / 2)


def test_without_turns_callers_take_turns() -> None:
    script = Script(timetable({None: 1, "ann": 1, "bob": 1}, turn=0))

    async def work() -> None:
        tickets = [script.ask(f"a{i}") for i in range(3)] + [script.ask("b", "bob")]
        assert [ticket.end for ticket in tickets] == [0.0] * 4
        await asyncio.gather(*(ticket.reply for ticket in tickets))

    script.run(work())
    order = [name for kind, name, _ in script.log if kind == "begin"]
    assert order == ["a0", "b", "a1", "a2"]


def test_without_turns_one_is_charged_or_stored_while_another_is_read() -> None:
    """As many are read at a time as there are readers; the spare one takes turns too."""
    script = Script(timetable({"ann": 1}, turn=0))

    async def work() -> None:
        tickets = [script.ask(f"a{i}", charge=0.1, takes=0.2, stores=0.1) for i in range(4)]
        await asyncio.gather(*(ticket.reply for ticket in tickets))

    script.run(work())
    times = {(kind, name): time - 100.0 for kind, name, time in script.log}
    expected = {"begin": [0.0, 0.0, 0.4, 0.6], "read": [0.1, 0.3, 0.5, 0.7]}
    for kind, moments in expected.items():
        assert [times[kind, f"a{i}"] for i in range(4)] == pytest.approx(moments)


def test_without_turns_a_question_that_fails_before_it_is_read_holds_up_no_other() -> None:
    script = Script(timetable({"ann": 1}, turn=0))

    async def work() -> list[Line]:
        tickets = [script.ask("a", dies="before"), script.ask("b"), script.ask("c", dies="reading")]
        return [await ticket.reply for ticket in (*tickets, script.ask("d"))]

    replies = script.run(work())
    assert [reply.get("value") for reply in replies] == [None, "b", None, "d"]


@pytest.mark.parametrize("turn", [TURN, 0.0])
def test_draining_drops_what_waits_and_ends_what_is_read(turn: float) -> None:
    script = Script(timetable({"ann": 4}, turn=turn))

    async def work() -> tuple[Ticket, Ticket]:
        first, _, last = (script.ask(name, takes=0.4) for name in "abc")
        await script.clock.sleep(0.3)
        await script.dispatcher.drain()
        return first, last

    first, last = script.run(work())
    assert first.reply.done()
    assert not last.reply.done() or last.reply.cancelled()
    begins = [name for kind, name, _ in script.log if kind == "begin"]
    assert begins == (["a"] if turn else ["a", "b"])
