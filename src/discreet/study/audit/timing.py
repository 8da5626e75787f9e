"""The audit of timing side channels: counted work, and running times, on two inputs."""

import time
from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass
from fractions import Fraction
from math import inf
from statistics import median
from typing import TypeVar

from ...base.error_boundary import error_boundary, foreign_function
from ...base.messages import AND, Message, join
from ...base.numbers import Number, count, positive
from ...errors import InvalidArgument, preview
from ...mechanisms.testing import Work, counted_work
from .binomial import fair_tail

_Input = TypeVar("_Input")

_SEEN = (*(f for f in Work.__slots__), "time")
"""The compared quantities: all kinds of work, and time."""


_MOST_PAIRS = 10**6


@dataclass(frozen=True, slots=True)
class TimingAudit:
    """How two inputs differ in work and in time. It can show a leak, but never its absence.

    Attributes:
        first: the least and the most work for the first input, by kind.
        second: the same for the second.
        ratio: median time of the second over median time of the first.
        chances: by kind of work and for time, the probability of such a consistent difference if there is none,
            from a two-sided sign test over the pairs of runs.
        repeats: the number of pairs of runs.
        risk: the significance level, divided among all comparisons.
    """

    first: dict[str, tuple[int, int]]
    second: dict[str, tuple[int, int]]
    ratio: float
    chances: dict[str, Fraction]
    repeats: int
    risk: Fraction

    @property
    def tells(self) -> list[str]:
        """The kinds of work, or time, that distinguish the inputs."""
        return [kind for kind, chance in self.chances.items() if chance <= self.risk / len(_SEEN)]

    @property
    def constant(self) -> bool:
        """Whether all runs on both inputs needed exactly the same counted work."""
        return self.first == self.second and all(low == high for low, high in self.first.values())

    def __str__(self) -> str:
        verdict = Message("not told apart")
        if self.tells:
            verdict = Message("told apart by {kinds}", kinds=join(AND, self.tells))
        return Message(
            "{verdict} ({runs} pairs of runs; {work}; time ratio {ratio:.2f})",
            verdict=verdict, runs=self.repeats, ratio=self.ratio,
            work=Message("the same work every time" if self.constant else "work varies"),
        )  # fmt: skip


@error_boundary
def timing(  # noqa: PLR0913  # two inputs, and how to run and judge
    run: Callable[[_Input], object],
    first: _Input,
    second: _Input,
    *,
    repeats: int = 200,
    confidence: Number = "0.999",
    clock: Callable[[], float] = time.perf_counter,
) -> TimingAudit:
    """Return whether work or time distinguishes two inputs.

    The inputs take turns, and the first of a pair alternates, so that a slowing machine is fair to both. A pair of
    runs has a winner. If the input made no difference, either would win with probability 1/2. Work is counted for
    this library's code (`discreet.testing.counted_work`). For other callables, only time is informative. Counting
    patches numpy, so don't compute in other threads meanwhile.

    Args:
        run: accepts an input and does the work to be timed.
        first: the first input, such as the scores of a dataset.
        second: the other.
        repeats: the number of pairs of runs.
        confidence: the probability that no difference is claimed if there is none.
        clock: returns the time in seconds.

    Raises:
        InvalidArgument: if a number is invalid. Nothing was run.
    """
    n, level = count(repeats, "repeats", most=_MOST_PAIRS), positive(confidence, "confidence")
    if level >= 1:
        raise InvalidArgument(f"confidence must be below 1, got {preview(confidence)}")
    run, clock = foreign_function(run, "run"), foreign_function(clock, "clock")
    run(first), run(second)  # the first run pays for imports and caches
    rows = [_turn(run, first, second, clock, second_first=i % 2 == 1) for i in range(n)]
    columns = [list(zip(*side, strict=True)) for side in zip(*rows, strict=True)]
    chances = {kind: _sign_test(a, b) for kind, a, b in zip(_SEEN, *columns, strict=True)}
    work = [
        {kind: (min(c), max(c)) for kind, c in zip(_SEEN[:-1], side, strict=False)}
        for side in columns
    ]
    ratio = _ratio(median(columns[0][-1]), median(columns[1][-1]))
    return TimingAudit(work[0], work[1], ratio, chances, n, 1 - level)


def _turn(
    run: Callable[[_Input], object],
    first: _Input,
    second: _Input,
    clock: Callable[[], float],
    *,
    second_first: bool,
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the work and time of the two inputs, run one after the other."""
    if second_first:
        later, earlier = _turn(run, second, first, clock, second_first=False)
        return earlier, later
    return _measure(run, first, clock), _measure(run, second, clock)


def _measure(
    run: Callable[[_Input], object], argument: _Input, clock: Callable[[], float]
) -> tuple[float, ...]:
    """Return the work by kind, and the time, of one run."""
    with counted_work() as work:
        start = clock()
        run(argument)
        seconds = clock() - start
    return (*astuple(work), seconds)


def _ratio(first: float, second: float) -> float:
    """Return second / first, where a coarse clock may show zero for either."""
    if first:
        return second / first
    return inf if second else 1.0


def _sign_test(first: Sequence[float], second: Sequence[float]) -> Fraction:
    """Return how likely so many wins of one side are by chance, either side; ties do not count."""
    wins = [a > b for a, b in zip(first, second, strict=True) if a != b]
    most = max(sum(wins), len(wins) - sum(wins))
    return min(Fraction(1), 2 * fair_tail(most, len(wins)))
