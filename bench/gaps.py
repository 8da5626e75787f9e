"""Whether the time shows how far the best candidate is ahead, which is private."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np

from discreet.sampling import kernel

from . import peers
from .race import Contender, Run, Timing, Watch, race
from .work import bits_per_draw

CANDIDATES = 2_000
FEW = 10
GAPS = (0, 20, 100)
CALLS = 5

Prepare = Callable[[peers.Array], Run]


@dataclass(frozen=True, slots=True)
class Trace:
    """One mechanism on the same candidates, the best of them ahead by more and more.

    Attributes:
        name: the mechanism.
        timings: one for each gap.
        bits: for each gap, the random bits we read.
    """

    name: str
    timings: Sequence[Timing]
    bits: Sequence[float | None] = ()

    @property
    def spread(self) -> float | None:
        """The longest median by the shortest; 1 tells nothing about the gap."""
        medians = [timing.median for timing in self.timings]
        known = [median for median in medians if median is not None]
        return max(known) / min(known) if len(known) == len(medians) else None

    def as_dict(self) -> dict[str, Any]:
        """Return the trace in JSON's types, times in seconds."""
        return {
            "name": self.name,
            "gaps": list(GAPS),
            "median": [timing.median for timing in self.timings],
            "min": [timing.best for timing in self.timings],
            "spread": self.spread,
            "bits_per_draw": list(self.bits),
            "failure": next((timing.failure for timing in self.timings if timing.failure), None),
            "warnings": sum(timing.warned for timing in self.timings),
        }


def gaps(watch: Watch) -> list[Trace]:
    """Return what the time of each mechanism shows."""
    named: dict[str, Prepare] = {f"discreet {name}": partial(_ours, name) for name in _OURS}
    named["discreet exponential, by numpy"] = _by_numpy
    named[f"discreet exponential, {FEW} candidates"] = lambda scores: _ours(
        "exponential", scores[_FIRST]
    )
    theirs: dict[str, Prepare] = {
        "OpenDP exponential": peers.opendp_exponential,
        "OpenDP permute-and-flip": peers.opendp_permute_and_flip,
    }
    scores = {gap: _one_ahead(gap) for gap in GAPS}
    contenders = {
        name: [Contender(f"{name}, {gap}", partial(f, scores[gap]), calls=CALLS) for gap in GAPS]
        for name, f in {**named, **theirs}.items()
    }
    timings = race([one for each in contenders.values() for one in each], 15, watch)
    return [
        Trace(
            name,
            [timings[contender.name] for contender in each],
            [bits_per_draw(contender.prepare) for contender in each] if name in named else (),
        )
        for name, each in contenders.items()
    ]


_FIRST = slice(CANDIDATES // 3, CANDIDATES // 3 + FEW)
_OURS = ("exponential", "permute_and_flip", "noisy_max")


def _one_ahead(gap: int) -> peers.Array:
    """Return equal scores but for one in the midst of them."""
    scores = np.zeros(CANDIDATES)
    scores[CANDIDATES // 3] = gap
    return scores


def _by_numpy(scores: peers.Array) -> Run:
    """Return the release without the kernel."""
    release = _ours("exponential", scores)

    def run() -> object:
        with patch.object(kernel, "active", lambda: None):
            return release()

    return run


def _ours(mechanism: str, scores: peers.Array) -> Run:
    from discreet import select

    return partial(select, scores, sensitivity=1, epsilon=1, mechanism=mechanism)
