"""Several ways to do one work, timed in turns: what slows the machine for one slows it for all."""

import gc
import re
import statistics
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random
from time import perf_counter

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
    """What one contender took: seconds for the whole work in each turn, or why it could not run."""

    seconds: list[float] = field(default_factory=list)
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
        extra = [own - (base.median or 0.0) for own in self.seconds]
        return Timing(extra, self.warned, self.failure or base.failure)


def race(contenders: Sequence[Contender], turns: int, watch: Watch) -> dict[str, Timing]:
    """Return the timing of each contender, by name; the first turn of each warms up and is not kept."""
    timings = {contender.name: Timing() for contender in contenders}
    ready: dict[str, Run] = {}
    for contender in contenders:
        with _noted(timings[contender.name]):
            ready[contender.name] = contender.prepare()
    order = Random(0)  # in a fixed order, each would find the cache that the same neighbour left
    for turn in range(-1, turns):
        for contender in order.sample(contenders, len(contenders)):
            timing = timings[contender.name]
            if timing.failure or turn >= (contender.turns or turns):
                continue
            watch(f"{contender.name}, {turn + 1} of {turns}")
            with _noted(timing):
                seconds = _clock(ready[contender.name], contender.calls) / contender.share
                timing.seconds += [seconds] if turn >= 0 else []
    return timings


def _clock(run: Run, calls: int) -> float:
    """Return the seconds of one call, the garbage of others collected before."""
    gc.collect()
    gc.disable()
    try:
        start = perf_counter()
        for _ in range(calls):
            run()
        return (perf_counter() - start) / calls
    finally:
        gc.enable()


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
