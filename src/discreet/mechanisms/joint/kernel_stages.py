"""The stages of joint quantiles in memory that the kernel reads and writes: `kernel.c`.

The sums are those of `masses`, in another order, so they lie within the same bounds: *A quantile* in
docs/reference/mechanisms/joint_quantiles.md. How many slots and states there are does not depend on the records:
see `place_slots`.
"""

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ...sampling.kernel import Doubles, Kernel, address
from ...sampling.vectors import Integers
from .arithmetic import QuantileCuts
from .place_slots import Slots, Window, slots_by_quantile

States = tuple[NDArray[np.int64], Doubles, Doubles]
"""The cuts of states, `up` and `down`."""

Factors = Callable[[Integers], tuple[Doubles, Doubles]]
"""Returns exp(2 eta e) and exp(-2 eta e) of offsets."""

_SUMMED_AT_ONCE = 256
"""Sums of so many numbers are summed up once more."""

_NEEDS_A_WORD = 1
"""The kernel returns it where the next choice is to be made."""

_NO_CUT = 2**62
"""The cut of a state that is none."""

_BYTES = 8

STAGE = np.dtype(
    [
        (name, np.int64)
        for name in (
            *("cuts", "up", "down", "entries", "ends", "kinds", "sizes"),
            *("grow", "shrink", "least", "number", "first", "slots", "target"),
        )
    ]
    + [("unit", np.float64), ("error", np.float64)]
)
"""A `JointStage` of kernel.c."""

DRAW = np.dtype(
    [
        *(
            ("stages", np.int64),
            ("number", np.int64),
            ("error", np.float64),
            ("omission", np.float64),
        ),
        *((name, np.int64) for name in ("outside", "sums", "groups")),
        *((name, np.int64) for name in ("left", "state", "placed", "found")),
    ]
)
"""A `JointDraw` of kernel.c."""


class Memory:
    """Numbers one after the other in one block, as long as they fit: so the system hands it out once."""

    def __init__(self, length: int) -> None:
        self._block, self._start = np.empty(length), 0
        self._at = address(self._block)

    def take(self, length: int) -> tuple[Doubles, int]:
        """Return so many numbers that are free, and their address."""
        stop = self._start + length
        if stop > len(self._block):
            apart = np.empty(length)
            return apart, address(apart)
        array, at = self._block[self._start : stop], self._at + self._start * _BYTES
        self._start = stop
        return array, at


class KernelStages:
    """The states of one quantile after the other, and draws from them."""

    def __init__(self, kernel: Kernel, cuts: QuantileCuts, reach: int) -> None:
        """Put the places of records in slots, and one state of no quantile before the others."""
        self._kernel, self._reach, self._targets = kernel, reach, cuts.targets
        self._windows, self._most = slots_by_quantile(cuts, reach)
        start = np.array([-1, 1, 1, 1, 1, 1], dtype=np.int64)
        start[2:] = np.ones(4).view(np.int64)
        self._table = np.zeros(len(cuts.targets), dtype=STAGE)
        at = address(start)
        self._table[0] = (*(at + 2 * i * _BYTES for i in range(3)), *[0] * 7, 1, 0, 0, -1, 1, 0)
        self._table[-1] = (*[0] * 13, cuts.targets[-1], 0, 0)
        self._table_at = address(self._table)
        self._numbers = [1]
        """How many states there are, by quantile."""
        self._states: list[tuple[Doubles, int]] = [(start.view(np.float64), 2)]
        """The states and entries by quantile, and for how many states there is room."""
        sizes = [(n, part.number) for n, part in zip([1, *self._most], self._windows, strict=False)]
        scratch = max(_scratch(*size) for size in sizes)
        self._memory = Memory(scratch + sum(3 * (number + n + 1) + n for number, n in sizes))
        self._scratch, self._scratch_at = self._memory.take(scratch)
        self._slots_at = {id(part.slots): _slot_addresses(part.slots) for part in self._windows}
        self._factors = FactorTables(cuts, self._windows, reach)

    def add(self, factors: Factors, unit: float) -> int:
        """Weigh the next quantile by the weight of a point; return the most additions that a sum went through."""
        rank = len(self._numbers)
        part, most, number = self._windows[rank - 1], self._most[rank - 1], self._numbers[-1]
        n, start, target = part.number, part.start, self._targets[rank]
        if len(self._scratch) < (length := _scratch(number, n)):
            self._scratch, self._scratch_at = self._memory.take(length)
        room = number + n + 1
        memory, at = self._memory.take(3 * room + n)
        ends, kinds, sizes = self._slots_at[id(part.slots)]
        self._table[rank] = (
            *(at, at + room * _BYTES, at + 2 * room * _BYTES, at + 3 * room * _BYTES),
            *(ends + start * _BYTES, kinds + start, sizes + start * _BYTES),
            *self._factors.of(rank, factors),
            *(0, part.first, n, target, unit, 0.0),
        )
        states = self._kernel.joint_stage(self._table_at, rank, self._reach, most, self._scratch_at)
        self._numbers.append(states)
        self._states.append((memory, room))
        return _SUMMED_AT_ONCE + number // _SUMMED_AT_ONCE + 3

    def states(self, rank: int) -> States:
        """Return the states of a quantile, from 0 on, which is before the first."""
        memory, room = self._states[rank]
        cuts = memory[: self._numbers[rank]].view(np.int64)
        number = int(cuts.searchsorted(_NO_CUT))
        return cuts[:number], memory[room:][:number], memory[2 * room :][:number]

    def entries(self, rank: int, cuts: Integers) -> Doubles:
        """Return the masses of a quantile as the first in the places of some cuts."""
        memory, room = self._states[rank]
        entries: Doubles = memory[3 * room :]
        return entries[self._windows[rank - 1].cuts.searchsorted(cuts, "right") - 1]

    def draw(
        self,
        errors: list[float],
        more: tuple[float, float],
        next_word: Callable[[], int],
        *,
        outside: bool,
    ) -> list[tuple[int, int]] | None:
        """Return the cuts of quantiles, from the last to the first, with their numbers, or None if a word is open.

        Args:
            errors: the bounds on the errors of the masses, by quantile.
            more: how much a choice adds to that, and a bound on all that is left out.
            next_word: returns a word of 64 bits, one for a choice.
            outside: whether places below are out of reach.
        """
        m = len(self._windows)
        self._table["error"][:-1] = errors
        sums = np.empty(max(m, *self._numbers))
        groups = np.empty((m, 2), dtype=np.int64)
        draw = np.array(
            (self._table_at, m, *more, outside, address(sums), address(groups), m, -1, 0, 0), DRAW
        )
        step = partial(self._kernel.joint_draw, address(draw))
        status = step(0)
        while status == _NEEDS_A_WORD:
            status = step(next_word())
        return None if status < 0 else [*map(tuple, groups[: draw["found"]].tolist())]


class FactorTables:
    """The factors of all slots, which quantiles have in common where their slots are as far from their cuts."""

    def __init__(self, cuts: QuantileCuts, windows: list[Window], reach: int) -> None:
        """Find out how far off the slots of all quantiles are, if their cuts do not depend on the records."""
        self._targets, self._windows, self._reach = cuts.targets, windows, reach
        self._half = cuts.steps // 2
        self._spans = dict[int, tuple[int, int]]()
        self._tables = dict[int, tuple[Doubles, int, int]]()
        for rank, part in enumerate(windows, 1):
            if part.slots.is_even:
                low, kind = divmod(part.first * self._half - cuts.targets[rank], self._half)
                first, stop = self._spans.get(kind, (low, low))
                self._spans[kind] = min(first, low), max(stop, low + part.number)

    def of(self, rank: int, factors: Factors) -> tuple[int, int, int]:
        """Return the addresses of the factors of the slots of a quantile, and of the smaller ones of two."""
        part, target = self._windows[rank - 1], self._targets[rank]
        if not part.slots.is_even:
            return self._fill(-rank, part.cuts - target, factors, 0)
        low, kind = divmod(part.first * self._half - target, self._half)
        first, stop = self._spans[kind]
        if kind in self._tables:
            return self._table_addresses(kind, low - first)
        return self._fill(kind, np.arange(first, stop) * self._half + kind, factors, low - first)

    def _fill(
        self, kind: int, offsets: Integers, factors: Factors, start: int
    ) -> tuple[int, int, int]:
        # Beyond the reach, where nothing comes, any number will do.
        grow, shrink = factors(offsets.clip(-self._reach, self._reach))
        table = np.concatenate((grow, shrink, np.minimum(grow, shrink)))
        self._tables[kind] = table, address(table), len(offsets)
        return self._table_addresses(kind, start)

    def _table_addresses(self, kind: int, start: int) -> tuple[int, int, int]:
        _, at, number = self._tables[kind]
        first = at + start * _BYTES
        return first, first + number * _BYTES, first + 2 * number * _BYTES


def _slot_addresses(slots: Slots) -> tuple[int, int, int]:
    """Return where their cuts, kinds and sizes are."""
    return address(slots.cuts), address(slots.kinds), address(slots.sizes)


def _scratch(states: int, slots: int) -> int:
    """Return how many numbers the kernel writes down for a quantile after one of so many states."""
    return 11 * states + 13 * slots + 24
