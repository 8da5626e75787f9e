"""Several ways to do one work, timed in turns: what slows the machine for one slows it for all.

Each turn times all contenders once, in a random order, by the clock on the wall and by the processor. Ratios are
taken within turns, and the median of them comes with an interval that assumes nothing of how times are distributed.
"""

import gc
import re
import statistics
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import comb
from random import Random
from time import perf_counter, process_time

if sys.platform != "win32":
    import resource

Run = Callable[[], object]
Watch = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Contender:
    """One way to do the work.

    Attributes:
        name: who does it.
        prepare: imports and sets up, untimed, and returns what is timed.
        calls: how many calls make one timing, where a single one is too short.
        turns: at most so many timings, where a single one is long.
        share: how much of the work one call does; the rest is extrapolated.
    """

    name: str
    prepare: Callable[[], Run]
    calls: int = 1
    turns: int | None = None
    share: float = 1.0


@dataclass(slots=True)
class Timing:
    """What one contender took: seconds for the whole work in each turn, or why it could not run.

    Attributes:
        seconds: by the clock on the wall.
        processor: by all threads of this process and the programs that it started.
        warned: the number of warnings.
        failure: the error that ended it.
    """

    seconds: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)
    warned: int = 0
    failure: str | None = None

    @property
    def median(self) -> float | None:
        """The median of the turns; none after a failure."""
        return None if self.failure else statistics.median(self.seconds)

    @property
    def best(self) -> float | None:
        """The quickest turn; none after a failure."""
        return None if self.failure else min(self.seconds)

    def beyond(self, base: "Timing") -> "Timing":
        """Return the time spent beyond another contender's median."""
        failure = self.failure or base.failure
        clocks = [(self.seconds, base.seconds), (self.processor, base.processor)]
        wall, processor = ([] if failure else _less(own, theirs) for own, theirs in clocks)
        return Timing(wall, processor, self.warned, failure)


@dataclass(frozen=True, slots=True)
class Ratio:
    """The median of the ratios of all turns, and the interval that has the true median 19 times in 20 or more.

    Its ends are ratios of two turns, by ranks: each side has the true median with probability 1/2 in each turn.
    With fewer than six turns no ranks reach that, and the ends are the extremes.
    """

    median: float
    low: float
    high: float


def paired_ratio(ours: Sequence[float], theirs: Sequence[float]) -> Ratio | None:
    """Return the ratio of two contenders by the turns that both have; None where there are none."""
    ratios = sorted(own / their for own, their in zip(ours, theirs, strict=False) if their > 0)
    if not ratios:
        return None
    rank = _rank(len(ratios))
    return Ratio(statistics.median(ratios), ratios[rank], ratios[-1 - rank])


def _rank(turns: int) -> int:
    """Return how many of the least and of the greatest may be left out, at most 1 in 40 lying beyond each end."""
    below, rank = 1, 0
    while 40 * below <= 2**turns:
        rank += 1
        below += comb(turns, rank)
    return max(0, rank - 1)


def _less(own: Sequence[float], base: Sequence[float]) -> list[float]:
    """Return times without the median of others."""
    return [seconds - statistics.median(base) for seconds in own]


def race(contenders: Sequence[Contender], turns: int, watch: Watch) -> dict[str, Timing]:
    """Return the timing of each contender, by name; the first turn of each warms up and is not kept."""
    timings = {contender.name: Timing() for contender in contenders}
    ready: dict[str, Run] = {}
    for contender in contenders:
        with _noted(timings[contender.name]):
            ready[contender.name] = contender.prepare()
    # To go through all of this before each timing would empty the caches of the processor.
    gc.collect()
    gc.freeze()
    order = Random(0)  # in a fixed order, each would find the cache that the same neighbour left
    for turn in range(-1, turns):
        for contender in order.sample(contenders, len(contenders)):
            timing = timings[contender.name]
            if timing.failure or turn >= (contender.turns or turns):
                continue
            watch(f"{contender.name}, {turn + 1} of {turns}")
            with _noted(timing):
                wall, processor = clock(ready[contender.name], contender.calls)
                if turn >= 0:
                    timing.seconds.append(wall / contender.share)
                    timing.processor.append(processor / contender.share)
    return timings


def clock(run: Run, calls: int) -> tuple[float, float]:
    """Return the seconds of one call, by the wall and by the processor, the garbage of others collected before."""
    gc.collect()
    gc.disable()
    try:
        busy, start = _processor(), perf_counter()
        for _ in range(calls):
            run()
        return (perf_counter() - start) / calls, (_processor() - busy) / calls
    finally:
        gc.enable()


def _processor() -> float:
    """Return the processor's seconds of this process and of the programs that it started and that ended."""
    if sys.platform == "win32":  # which does not add up the time of programs that were started
        return process_time()
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return process_time() + children.ru_utime + children.ru_stime


@contextmanager
def _noted(timing: Timing) -> Iterator[None]:
    """Note warnings and failures instead of letting them out: a peer's trouble is a result."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            yield
        except Exception as error:  # any failure of a peer is reported in the table
            timing.failure = _in_words(error)
    timing.warned += len(caught)


def _in_words(error: Exception) -> str:
    """Return the kind of the error and its first line, without paths of this machine."""
    said = str(error).splitlines() or [""]
    return f"{type(error).__name__}: {re.sub(r' [(]/[^)]*[)]', '', said[0])}"
