"""StatDP (Ding, Wang, Wang, Zhang and Kifer 2018): a hypothesis test on the event that looks worst."""

import logging
from typing import Any

from .auditor import CONFIDENCE, EPSILON, Finding
from .checkout import enter, load
from .streams import Stream

_STREAMS: list[Stream] = []
"""The subject; a process that StatDP starts inherits it, as its algorithms must be functions of a module."""


def answer(prng: Any, queries: list[int], epsilon: float) -> int:
    """Return one answer as StatDP asks for it: by a generator, a dataset and an epsilon."""
    del prng, epsilon
    return _next(queries[0])


def _next(side: int) -> int:
    if not _BUFFERS[side]:
        _BUFFERS[side].extend(_STREAMS[-1].take(side, 5000).tolist())
    return _BUFFERS[side].pop()


_BUFFERS: tuple[list[int], list[int]] = ([], [])


class StatDP:
    """StatDP, on given pairs."""

    name = "StatDP"
    figure = "p-value"
    takes_delta = False

    def start(self) -> str:
        """Return the revision of the checkout that STATDP names."""
        version = enter("STATDP", "")
        self._detect = load("statdp").detect_counterexample
        return version

    def look(self, stream: Stream) -> Finding:
        """Test the claim on the pair; it knows no delta."""
        _STREAMS.append(stream)
        for buffer in _BUFFERS:
            buffer.clear()
        many = stream.subject.draws
        # One process: two would be given the same draws.
        ((_, p, *_),) = self._detect(
            answer, EPSILON, {"epsilon": EPSILON}, databases=([0], [1]), event_iterations=many // 2,
            detect_iterations=many, cores=1, quiet=True, loglevel=logging.ERROR,
        )  # fmt: skip
        return Finding(p < 1 - CONFIDENCE, f"{p:.3f}")
