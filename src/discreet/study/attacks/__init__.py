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
    "underflow": underflow.underflow_attack,
    "truncation": truncation.truncation_attack,
    "lost_event": lost_event.lost_event_attack,
    "low_bits": low_bits.low_bits_attack,
    "biased_index": biased_index.biased_index_attack,
    "crash": crash.crash_attack,
    "rejection": rejection.rejection_attack,
    "coarse_grid": coarse_grid.coarse_grid_attack,
}
"""The attacks by name; calling one runs it and returns its `AttackResult`."""
