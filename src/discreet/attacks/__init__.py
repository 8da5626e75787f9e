"""Attacks on naive mechanisms, run against them and against the mechanisms of this library, one per file.

Every naive mechanism here is named `unsafe_...`, lives in this package only, and is no mechanism of the
registry. Its distribution is counted or enumerated, not sampled, so a result is reproducible.
"""

from collections.abc import Callable

from . import (
    biased_index,
    coarse_grid,
    crash,
    lost_event,
    low_bits,
    rejection,
    truncation,
    underflow,
)
from .result import AttackResult

__all__ = ["ATTACKS", "AttackResult"]

ATTACKS: dict[str, Callable[[], AttackResult]] = {
    "underflow": underflow.run,
    "truncation": truncation.run,
    "lost_event": lost_event.run,
    "low_bits": low_bits.run,
    "biased_index": biased_index.run,
    "crash": crash.run,
    "rejection": rejection.run,
    "coarse_grid": coarse_grid.run,
}
"""The attacks by name; calling one runs it and returns its `AttackResult`."""
