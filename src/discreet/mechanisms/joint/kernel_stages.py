"""The stages of joint quantiles in memory that the kernel reads and writes: `kernel.c`.

The sums are those of `masses`, in another order, so they lie within the same bounds: *A quantile* in
docs/reference/mechanisms/joint_quantiles.md.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...sampling.kernel import Doubles, Kernel, address

States = tuple[NDArray[np.int64], Doubles, Doubles]
"""The cuts of states, `up` and `down`."""

_SUMMED_AT_ONCE = 256
"""Sums of so many numbers are summed up once more."""

_NEEDS_A_WORD = 1
"""The kernel returns it where the next choice is to be made."""

_STAGE = np.dtype(
    [(name, np.int64) for name in ("cuts", "up", "down", "least", "number", "first", "target")]
    + [("unit", np.float64), ("error", np.float64)]
)
"""A `JointStage` of kernel.c."""


class PlaceEnds(NamedTuple):
    """The least and largest cuts of all places, in order, and their kinds. One more is in front of all."""

    cuts: NDArray[np.int64]
    kinds: NDArray[np.int32]
    """The number of a place of one cut, or `ON_BOTTOM` or `ON_TOP` of one of several."""


class KernelStages:
    """The states of one quantile after the other, and draws from them."""

    def __init__(self, kernel: Kernel, ends: PlaceEnds, sizes: Doubles, entries: Doubles) -> None:
        """Keep the arrays of all stages; `entries` is for the masses of places of one cut by quantile."""
        self._kernel, self._shape = kernel, (len(ends.cuts), *entries.shape)
        start, units = (np.array([-1]), np.ones(1), np.ones(1)), np.empty(len(entries))
        self._scratch, self._scratch_at = np.empty(0), 0
        self._units = units
        self._memory: list[Any] = [ends, sizes, entries]
        """The arrays of which the kernel has addresses, besides those of states."""
        self._states: list[tuple[int, Any]] = [(1, start)]
        self._at = [address(array) for array in (*ends, sizes, units, entries)]
        self._stages: list[tuple[int, ...]] = [(*map(address, start), 0, 1, 0)]

    def add(
        self,
        targets: tuple[int, int],
        within: tuple[slice, slice],
        factors: tuple[Doubles, Doubles],
        unit: float,
    ) -> int:
        """Weigh the next quantile, and return how many additions a sum went through at most.

        Args:
            targets: the cuts that the quantile before and this one want.
            within: which ends are within reach, and which places of one cut.
            factors: exp(2 eta e) and exp(-2 eta e) at the ends within reach; the latter is used up.
            unit: the weight of one point.
        """
        rank, (*before, _, number, _) = len(self._stages), self._stages[-1]
        (first, stop), (start, end) = ((part.start, part.stop) for part in within)
        n, most, singles = stop - first, number + stop - first, self._shape[2]
        # Before the first quantile the cut is one less than the offset says.
        step = targets[1] - targets[0] + (rank == 1)
        if len(self._scratch) < (scratch := 5 * number + 6 * n + 8):
            self._scratch = np.empty(2 * scratch)
            self._scratch_at = address(self._scratch)
        self._units[rank - 1] = unit
        room = np.empty((3, most))
        cuts, (ends, kinds, *tables, entries) = address(room), self._at
        (grow, shrink), places = map(address, factors), (cuts, cuts + 8 * most, cuts + 16 * most)
        size = self._kernel.joint_stage(
            *(
                *before,
                number,
                step,
                max(step, 1),
                ends + 8 * first,
                kinds + 4 * first,
                grow,
                shrink,
            ),
            *(n, *tables, rank, singles, start, end, entries, *places, self._scratch_at),
        )
        self._stages.append((*places, shrink, size, first))
        self._states.append((size, room))
        self._memory.append(factors[1])
        return _SUMMED_AT_ONCE + number // _SUMMED_AT_ONCE + 3

    def states(self, rank: int) -> States:
        """Return the states of a quantile, from 0 on, which is before the first."""
        number, (cuts, up, down) = self._states[rank]
        return cuts[:number].view(np.int64), up[:number], down[:number]

    def draw(
        self,
        targets: list[int],
        stages: list[tuple[float, float]],
        errors: tuple[float, float],
        next_word: Callable[[], int],
        *,
        outside: bool,
    ) -> list[tuple[int, int]] | None:
        """Return the cuts of quantiles, from the last to the first, with their numbers; None where a word is open.

        Args:
            targets: the cuts that all quantiles want, and the end.
            stages: the units of quantiles and the bounds on the errors of their masses.
            errors: how much a choice adds to that, and a bound on all that is left out.
            next_word: returns a word of 64 bits, one for a choice.
            outside: whether places below are out of reach.
        """
        rows = [
            (*memory, target, *numbers)
            for memory, target, numbers in zip(self._stages[1:], targets, stages, strict=False)
        ]
        table = np.array([*rows, (0, 0, 0, 0, 0, 0, targets[-1], 0.0, 0.0)], dtype=_STAGE)
        (ends, kinds, sizes, _, entries), (number, m, singles) = self._at, self._shape
        sums = np.empty(max(m, *(states[4] for states in self._stages)))
        groups, progress = np.empty((m, 2), dtype=np.int64), np.array([m, -1, 0, 0, 0])
        step = partial(
            self._kernel.joint_draw,
            *(address(table), m, ends, kinds, number, sizes, entries, singles, *errors, outside),
            *map(address, (sums, groups, progress)),
        )
        status = step(0)
        while status == _NEEDS_A_WORD:
            status = step(next_word())
        return None if status < 0 else [*map(tuple, groups[: progress[4]].tolist())]
