"""What callers see is a function of arrivals, of how late the ledger is, and of how often delays double."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from heapq import heappop, heappush
from itertools import count
from math import inf

import pytest

from discreet.service.queue.schedule import (
    Caller,
    Ending,
    Promise,
    QuestionRun,
    Schedule,
    ScheduleStep,
)

DAY = 300.0
"""The seconds between two public resets of delays in these worlds."""

CALLERS: tuple[Caller, ...] = (None, "ann", "ben", "eve", "zoe")
Seen = tuple[int, float, float, Ending | None]
"""The number of a question, when it started and left, and what became of it."""

CLOCK = 16.0
"""After so many units a reading is given up."""


@dataclass(frozen=True)
class Question:
    """A question, and what becomes of it: all but the first three are the machine's, and may depend on the data.

    Attributes:
        caller: who asks.
        arrival: when.
        units: how many units it has.
        charge: the seconds from its start to its durable charge, or to its refusal.
        read: the seconds from there to its outcome.
        outcome: what that is.
        store: the seconds in which it is stored.
        dies: whether its reader is killed while it stores, so that another one records that.
    """

    caller: Caller
    arrival: float
    units: int
    charge: float
    read: float
    outcome: Ending = Ending.DRAWN
    store: float = 0.0
    dies: bool = False


@dataclass(frozen=True)
class Symbol:
    """What may be seen of a question, besides its arrival.

    Attributes:
        outcome: what became of it.
        charge: by how many grains the ledger was late with its charge.
        before: the delay of its caller.
        factor: the delay of its answer.
        store: by how many grains the ledger was late with its outcome.
    """

    outcome: Ending | None
    charge: int
    before: int
    factor: int
    store: int


@dataclass
class World:
    """A service whose machine does what the questions say.

    Attributes:
        readers: how many there are.
        grain: `answers_after`.
        symbols: what may be seen of each question.
    """

    readers: int
    grain: float
    symbols: list[Symbol] = field(default_factory=list)
    _schedule: Schedule[QuestionRun] = field(init=False)
    _real: list[tuple[float, int, Callable[[float], None]]] = field(default_factory=list)
    _ties: "count[int]" = field(default_factory=count)

    def run(self, questions: list[Question]) -> list[Seen]:
        """Return when every question started and left, in the order in which they left."""
        self._schedule, self._delays = Schedule(self.readers), dict[Caller, tuple[float, int]]()
        self.questions, self.left = questions, list[int]()
        self.runs = [self._run_of(one) for one in questions]
        self.before, self.stored = dict[int, int](), dict[int, float]()
        for run in self.runs:
            self._happen(run.arrival, partial(self._ask, run))
        now = 0.0
        while (time := min(self._schedule.next_time(), self._next())) < inf:
            now = max(now, time)
            self._follow(now)
            if self._next() <= now < self._schedule.next_time():
                heappop(self._real)[2](now)
                self._follow(now)
        self.symbols = [self._symbol(place) for place in range(len(questions))]
        return [
            (p, self.runs[p].start, self.runs[p].leaving, self.runs[p].outcome) for p in self.left
        ]

    def _ask(self, run: QuestionRun, _: float) -> None:
        self._schedule.ask(run)

    def _run_of(self, one: Question) -> QuestionRun:
        unit = one.units * self.grain
        return QuestionRun(
            one.caller, Promise(unit, self.grain, CLOCK * (unit or 1.0)), one.arrival
        )

    def _next(self) -> float:
        return self._real[0][0] if self._real else inf

    def _happen(self, time: float, what: Callable[[float], None]) -> None:
        if time < inf:
            heappush(self._real, (time, next(self._ties), what))

    def _follow(self, now: float) -> None:
        for step, run in self._schedule.advance(now):
            place = self.runs.index(run)
            one = self.questions[place]
            if step is ScheduleStep.BEGIN and one.outcome is Ending.UNCHARGED:
                self._happen(now + one.charge, partial(self._schedule.uncharged, run))
            elif step is ScheduleStep.BEGIN:
                self._happen(now + one.charge, partial(self._charge, place))
            elif step is ScheduleStep.STORE:
                self.stored[place] = run.leaving
                self._happen(now + one.store, partial(self._store, place))
            elif step is ScheduleStep.LEFT:
                self.left.append(place)

    def _charge(self, place: int, now: float) -> None:
        one, run = self.questions[place], self.runs[place]
        since, factor = self._delays.get(one.caller, (-inf, 1))
        self.before[place] = factor if since >= run.start // DAY * DAY else 1
        self._schedule.charged(run, now, self.before[place])
        self._happen(now + one.read, partial(self._end, place))

    def _end(self, place: int, now: float) -> None:
        if self.runs[place].outcome is None:
            self._schedule.ended(self.runs[place], now, self.questions[place].outcome)

    def _store(self, place: int, now: float) -> None:
        one, run = self.questions[place], self.runs[place]
        self._delays[one.caller] = run.start // DAY * DAY, run.factor
        if one.dies and run.outcome is Ending.DRAWN:
            self._schedule.ended(run, now, Ending.GIVEN_UP)
        self._schedule.stored(run, now)

    def _symbol(self, place: int) -> Symbol:
        run, grain = self.runs[place], self.grain or 1.0
        store = round((run.leaving - self.stored.get(place, run.leaving)) / grain)
        return Symbol(
            run.outcome, round(run.late / grain), self.before.get(place, 1), run.factor, store
        )

    def other(self, dice: random.Random) -> list[Question]:
        """Return the questions with another machine and other data, of which the same may be seen."""
        return [self._other(*pair, dice) for pair in zip(self.questions, self.symbols, strict=True)]

    def _other(self, one: Question, symbol: Symbol, dice: random.Random) -> Question:
        if symbol.outcome is Ending.UNCHARGED:
            units = max(1, -(-one.charge // (one.units * self.grain)))
            return replace(
                one, charge=dice.uniform((units - 1) * one.units * self.grain, one.charge)
            )
        margin, unit = self.grain / 10, one.units * self.grain
        charge = _within(dice, symbol.charge, margin, self.grain)
        latest = symbol.charge * self.grain + symbol.factor * unit - margin
        if symbol.factor * unit >= CLOCK * unit:
            latest -= margin
        earliest = charge
        if symbol.factor > symbol.before:
            earliest = symbol.charge * self.grain + symbol.factor * unit / 2 - margin + 1e-6
        read = max(0.0, dice.uniform(earliest, latest) - charge)
        if symbol.outcome is not one.outcome and not (one.dies and one.outcome is Ending.DRAWN):
            read = inf  # its clock gave it up
        return replace(
            one, charge=charge, read=read, store=_within(dice, symbol.store, margin, self.grain)
        )


def _within(dice: random.Random, grains: int, margin: float, grain: float) -> float:
    """Return seconds that make the ledger late by so many grains."""
    if not grains:
        return dice.uniform(0, margin * 0.999)
    return dice.uniform(margin + (grains - 1) * grain + 1e-6, margin + grains * grain - 1e-6)


def drawn_world(dice: random.Random) -> tuple[World, list[Question]]:
    """Return a world and its questions."""
    world = World(dice.randint(1, 4), dice.choice([0.5, 1.0, 2.0]))
    callers = CALLERS[: dice.randint(1, 5)]
    gaps, slow = dice.choice([0.0, 0.3, 3.0, 30.0]), dice.choice([0.3, 1.5, 6.0, 20.0])
    questions, time = [], 100.0
    for _ in range(dice.randint(1, 14)):
        time += dice.choice([0.0, world.grain, dice.uniform(0, gaps)])
        outcome = dice.choice(
            [Ending.DRAWN] * 6 + [Ending.FAILED, Ending.GIVEN_UP, Ending.UNCHARGED]
        )
        charge = world.grain * dice.choice([0.01, 0.05, dice.uniform(0, 3)])
        store = world.grain * dice.choice([0.01, 0.05, dice.uniform(0, 2)])
        read = dice.expovariate(1 / (slow * world.grain))
        units, dies = dice.choice([1, 1, 1, 2, 8]), dice.random() < 0.1
        one = Question(dice.choice(callers), time, units, charge, read, outcome, store, dies)
        questions.append(one)
    return world, questions


@pytest.mark.parametrize("block", range(50))
@pytest.mark.one_in(50)
def test_times_are_a_function_of_arrivals_lateness_and_doublings(block: int) -> None:
    doubled = given_up = late = 0
    for number in range(200):
        dice = random.Random(f"{block} {number}")
        world, questions = drawn_world(dice)
        seen = world.run(questions)
        another = World(world.readers, world.grain)
        assert another.run(world.other(dice)) == seen
        assert another.symbols == world.symbols
        doubled += sum(one.factor > one.before for one in world.symbols)
        given_up += sum(one.outcome is Ending.GIVEN_UP for one in world.symbols)
        late += sum(one.charge + one.store > 0 for one in world.symbols)
    assert min(doubled, given_up, late) > 100


@pytest.mark.parametrize("block", range(10))
@pytest.mark.one_in(10)
def test_each_question_leaves_when_the_promise_says(block: int) -> None:
    """An oracle without a queue: from the start, the lateness, the delay and the units alone."""
    for number in range(200):
        dice = random.Random(f"leave {block} {number}")
        world, questions = drawn_world(dice)
        world.run(questions)
        for one, run, symbol in zip(questions, world.runs, world.symbols, strict=True):
            if symbol.outcome is not Ending.UNCHARGED:
                delay = (symbol.charge + symbol.store + symbol.factor * one.units) * world.grain
                assert run.leaving == pytest.approx(run.start + delay)
                assert symbol.factor & (symbol.factor - 1) == 0
        # One question of a caller at a time, and no more at once than there are readers.
        spans = [(run.start, run.leaving, run.caller) for run in world.runs]
        for start, _, caller in spans:
            at = [who for begin, end, who in spans if begin <= start < end]
            assert at.count(caller) == 1
            assert len(at) <= world.readers
        # A question waits for nothing else: just before it started all readers or its caller were busy.
        for run in world.runs:
            if run.start > run.arrival:
                busy = [who for begin, end, who in spans if begin < run.start <= end]
                assert len(busy) >= world.readers or run.caller in busy


def simple(caller: Caller, arrival: float, read: float = 0.1, units: int = 1) -> Question:
    """Return a question that takes so long."""
    return Question(caller, arrival, units, 0.01, read)


def starts(world: World, *questions: Question) -> list[float]:
    """Return when questions start."""
    world.run(list(questions))
    return [run.start for run in world.runs]


def test_a_reply_leaves_after_its_unit_though_it_is_ready_before() -> None:
    world = World(1, 1.0)
    seen = world.run([simple("ann", 5.0, 0.2), simple("ann", 5.0, 0.7, units=3)])
    assert [leaving for _, _, leaving, _ in seen] == [6.0, 9.0]


def test_a_delay_doubles_with_an_answer_that_needs_it_and_stays_until_the_reset() -> None:
    world = World(1, 1.0)
    arrivals = [0.0, 10.0, 20.0, 30.0, DAY]
    reads = [0.1, 2.5, 0.1, 5.0, 0.1]
    seen = world.run([simple("ann", at, read) for at, read in zip(arrivals, reads, strict=True)])
    assert [leaving - start for _, start, leaving, _ in seen] == [1.0, 4.0, 4.0, 8.0, 1.0]


def test_an_answer_that_is_late_delays_no_other_caller_after_it() -> None:
    world = World(1, 1.0)
    seen = world.run([simple("ann", 0.0, 5.0), simple("ben", 20.0)])
    assert [leaving - start for _, start, leaving, _ in seen] == [8.0, 1.0]


def test_a_reading_is_given_up_with_the_last_delay() -> None:
    world = World(1, 1.0)
    (seen,) = world.run([simple("ann", 0.0, inf)])
    assert seen == (0, 0.0, CLOCK, Ending.GIVEN_UP)


def test_readers_that_are_free_idle_while_a_caller_has_a_question_under_way() -> None:
    assert starts(World(2, 1.0), simple("ann", 0.0), simple("ann", 0.0), simple("ben", 0.5)) == [
        0.0,
        1.0,
        0.5,
    ]


def test_of_those_that_wait_the_one_that_held_readers_least_goes_first() -> None:
    """By questions a flooder that is late would have the reader most of the time."""
    flood = [simple("eve", 0.0, 7.0) for _ in range(40)]
    others = [simple(name, 1.0 + i) for name in ("ann", "ben") for i in range(16)]
    world = World(1, 1.0)
    world.run(flood + others)
    last = max(run.leaving for run in world.runs[40:])
    held = sum(run.leaving - run.start for run in world.runs[:40] if run.start < last)
    assert held <= 8 + 8 + (last - 1.0) / 3


def test_nobody_is_refused_or_starved_by_a_flood_of_others() -> None:
    dice = random.Random(5)
    for _ in range(200):
        readers, grain, callers = dice.randint(1, 3), 1.0, dice.randint(2, 5)
        flood = [
            simple(who, 0.0, dice.uniform(0, 20)) for who in CALLERS[1:callers] for _ in range(10)
        ]
        world = World(readers, grain)
        world.run([*flood, simple(None, dice.uniform(0, 50))])
        run = world.runs[-1]
        assert run.start - run.arrival <= -(-callers // readers) * CLOCK * grain


def test_ties_are_freed_before_they_arrive() -> None:
    assert starts(World(1, 1.0), simple("ann", 0.0), simple("ben", 1.0)) == [0.0, 1.0]


@pytest.mark.parametrize("charge", [0.0, 0.09, 0.11, 1.09, 1.11])
def test_a_late_ledger_makes_a_reply_late_by_whole_grains(charge: float) -> None:
    world = World(1, 1.0)
    (seen,) = world.run([replace(simple("ann", 0.0), charge=charge)])
    late = 0 if charge < 0.1 else 1 if charge < 1.1 else 2
    assert seen[2] == 1.0 + late


def test_without_a_promise_replies_leave_when_they_are_ready() -> None:
    world = World(1, 0.0)
    seen = world.run([simple("ann", 0.0, 0.25), simple("ben", 0.0, 0.5)])
    assert [leaving for _, _, leaving, _ in seen] == pytest.approx([0.26, 0.77])


def test_what_is_taken_back_before_it_starts_never_starts() -> None:
    schedule: Schedule[QuestionRun] = Schedule(1)
    runs = [
        QuestionRun("ann", Promise(1.0, 1.0), 0.0),
        QuestionRun("ann", Promise(1.0, 1.0), 0.0),
        QuestionRun("ben", Promise(1.0, 1.0), 5.0),
    ]
    for run in runs:
        schedule.ask(run)
    assert schedule.advance(0.0) == [(ScheduleStep.BEGIN, runs[0])]
    assert [schedule.drop(run) for run in runs] == [False, True, True]
    schedule.charged(runs[0], 0.0, 1)
    schedule.ended(runs[0], 0.0, Ending.DRAWN)
    schedule.stored(runs[0], 0.95)
    steps = [step for _ in range(9) for step in schedule.advance(9.0)]
    assert steps == [(ScheduleStep.STORE, runs[0]), (ScheduleStep.LEFT, runs[0])]
    assert schedule.next_time() == inf


def test_after_its_end_a_service_starts_no_more() -> None:
    schedule: Schedule[QuestionRun] = Schedule(1)
    schedule.close()
    schedule.ask(QuestionRun("ann", Promise(1.0, 1.0), 0.0))
    assert schedule.advance(1.0) == []
