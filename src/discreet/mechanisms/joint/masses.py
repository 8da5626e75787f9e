"""Sums of weights over all ways to place the first quantiles, in doubles or in balls.

After quantile j stands at the cut c, all that matters for the rest is the *offset* e = c - wanted[j]: the next
quantile stays at the offset if its place allows, and goes to the nearest end of its place else, at the weight
exp(-eta * distance). Two products of a mass w are kept, `up` = w * exp(eta * e) and `down` =
w * exp(-eta * e): a sum over all offsets below another is then a running sum of `up`, a sum over those above it
a window sum of `down`, and nothing is ever subtracted. Proof and error bounds:
docs/reference/mechanisms/joint_quantiles.md.
"""

from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ...sampling.bits import Bits, RestOfWords
from ...sampling.vectors import Integers
from .arithmetic import Arithmetic, Array, QuantileCuts
from .kernel_stages import KernelStages

_FEW_BLOCKS = 100
"""So many blocks of sums are summed up one after the other, more of them in rounds."""


_WORD_BITS = 64
"""The kernel looks up words of so many bits."""


class Stage(NamedTuple):
    """The places where quantile j may stand, last in its place or within a tied point, in order of their cuts."""

    cuts: Integers
    """All different. Before the first quantile there is one, below all."""
    offsets: Integers
    """cut - wanted, in steps."""
    up: Array
    """mass * exp(eta * offset)."""
    down: Array
    """mass * exp(-eta * offset)."""


class Choices(NamedTuple):
    """The alternatives of a choice and their masses, with the smaller one of `up` and `down` as their total."""

    names: Integers
    weights: Array
    error: float
    """Bound on their relative errors, if they are doubles."""
    omission: Any
    """Bound on the sum of all that is left out."""


class Masses:
    """The stages of all quantiles, the first one first."""

    def __init__(self, cuts: QuantileCuts, arithmetic: Arithmetic) -> None:
        self.cuts, self.targets, self.arithmetic = cuts, cuts.targets, arithmetic
        self._points = cuts.points(arithmetic.reach)
        self.units, self.errors = [arithmetic.zeros(1)[0] + 1], [0.0]
        """The weights of one point by quantile, and bounds on the relative error of the masses, if in doubles."""
        fast = arithmetic.kernel(cuts)
        self._in_c = KernelStages(fast, cuts, arithmetic.reach) if fast is not None else None
        if self._in_c is None:
            self._weigh()
        else:
            self._weigh_in_c(self._in_c)
        self._omission = arithmetic.omission(cuts, self.units)

    @cached_property
    def _entries(self) -> Array:
        """`down` of quantiles as the first in places of one cut, without the weight of its points."""
        entries = self.arithmetic.zeros(self.cuts.quantiles, len(self.cuts.single))
        if self._in_c is not None:
            for j, part in enumerate(self._within[1:-1]):
                entries[j, part] = self._in_c.entries(j + 1, self.cuts.cuts[part])
        return entries

    @cached_property
    def _within(self) -> list[slice]:
        """The places of one cut within reach, by quantile."""
        return self.cuts.within(self.cuts.cuts, self.arithmetic.reach)

    @cached_property
    def _sizes(self) -> Array:
        """The numbers of points of the places of one cut."""
        return self.arithmetic.whole(self.cuts.sizes)

    def _weigh(self) -> None:
        """Weigh one quantile after the other."""
        # For each quantile and each place of one cut: `_entries`, with all quantiles up to the latest one there.
        self._rows = self.arithmetic.zeros(*self._entries.shape)
        one = self.arithmetic.zeros(1) + 1
        below: Any = np.array([-1], dtype=self.cuts.low.dtype)
        self.stages = [Stage(below, below + 1, one, one)]
        for j, points in enumerate(self._points[1:-1], 1):
            unit = self.arithmetic.unit(points)
            cuts, up, down = self._states(j, unit)
            self.stages.append(Stage(cuts, cuts - self.targets[j], up, down))
            self._finish(unit)

    def _weigh_in_c(self, stages: KernelStages) -> None:
        """Do the same by the kernel."""
        for points in self._points[1:-1]:
            unit = self.arithmetic.unit(points)
            self.arithmetic.note(stages.add(self.arithmetic.factors, unit))
            self._finish(unit)

    def _finish(self, unit: Any) -> None:
        """Keep the unit of the next quantile, and the bound on its error."""
        # *A quantile* in the error of the pass in doubles: the errors of stages add up.
        self.units.append(unit)
        self.errors.append(self.errors[-1] + self.arithmetic.error(len(self.targets)))

    @cached_property
    def stages(self) -> list[Stage]:
        """The stages of all quantiles, and before them one of no quantile."""
        assert self._in_c is not None
        states = map(self._in_c.states, range(len(self.targets) - 1))
        return [
            Stage(cuts, cuts - (target if j else -1), up, down)
            for j, ((cuts, up, down), target) in enumerate(zip(states, self.targets, strict=False))
        ]

    def _states(self, j: int, unit: Any) -> tuple[Integers, Array, Array]:
        """Return the cuts, `up` and `down` of quantile j."""
        before, target = self.stages[j - 1], self.targets[j]
        step = _Step(before, target, target - self.targets[j - 1], self.arithmetic)
        part = self._within[j]
        cuts = self.cuts.cuts[part]
        grow, shrink = self.arithmetic.factors(cuts - target)
        # *The state*: all three terms of the sum over the states before; a place of one cut has one state.
        entries = step.entries(cuts, shrink)
        self._entries[j - 1, part] = entries
        down = self._group(j, part, unit)
        pieces = [(cuts, down * grow, down)]
        if len(self.cuts.ties):
            pieces += self._at_ties(step, j, unit)
        cuts, up, down = map(np.concatenate, zip(*pieces, strict=True))
        if len(pieces) > 1:
            order = cuts.argsort(kind="stable")
            cuts, up, down = cuts[order], up[order], down[order]
        return cuts, up, down

    def _at_ties(self, step: "_Step", j: int, unit: Any) -> list[tuple[Integers, Array, Array]]:
        """Return the cuts and masses in tied places: at their lower ends, at their upper ends, and within."""
        bottoms, tops, target = self.cuts.bottoms, self.cuts.tops, self.targets[j]
        below, above = (
            self.cuts.within(ends, self.arithmetic.reach)[j] for ends in (bottoms, tops)
        )
        _, shrink = self.arithmetic.factors(bottoms[below] - target)
        grow, _ = self.arithmetic.factors(tops[above] - target)
        rising = step.rising(bottoms[below]) * unit
        falling = step.falling(tops[above]) * unit
        point = np.searchsorted(bottoms, step.free) - 1
        # *The state*, a < e < b: the offset stays, and nothing is paid.
        stays = np.flatnonzero((point >= 0) & (step.free < tops[point]))
        up, down = step.before.up[stays] * unit, step.before.down[stays] * unit
        return [
            (bottoms[below], rising, rising * shrink),
            (tops[above], falling * grow, falling),
            (step.free[stays], up, down),
        ]

    def _group(self, j: int, part: slice, unit: Any) -> Array:
        """Return the masses of quantile j as the last in places of one cut.

        Row i holds the masses of quantiles i to j in the same place: of `size` points there are
        comb(size + j - i, j - i + 1) non-descending choices, and at one cut `down` stays as it is.
        """
        rows, more = self._rows[:j, part], self.arithmetic.whole(np.arange(j - 1, -1, -1))[:, None]
        # *The state*: C(s + j - i, j - i + 1) ways for quantiles i to j among s points, one factor more for each j.
        rows[-1] = self._entries[j - 1, part]
        rows *= (self._sizes[part] + more) * (unit / (more + 1))
        masses: Array = rows.sum(axis=0)
        return masses

    def draw_in_c(self, bits: Bits) -> tuple[list[tuple[int, int]] | None, Bits]:
        """Return cuts of quantiles, the last first, with their numbers, and the source of bits from there.

        None if the kernel does not compute the masses, or leaves a choice open.
        """
        if self._in_c is None or bits.width != _WORD_BITS:
            return None, bits
        words = list[int]()

        def next_word() -> int:
            words.append(bits.word())
            return words[-1]

        groups = self._in_c.draw(
            self.errors,
            (self.arithmetic.error(0), self._omission),
            next_word,
            outside=self.out_of_reach,
        )
        # The groups are a function of the words, so that all of them may be drawn again in another way.
        return groups, RestOfWords(
            np.array(words, dtype=np.uint64), bits
        ) if groups is None else bits

    @property
    def out_of_reach(self) -> bool:
        """Whether there may be places below the reach."""
        return self.arithmetic.reach < self.targets[-1]

    def arrivals(self, j: int, state: int) -> Choices:
        """Return with which masses quantile j comes to a cut from those of the quantile before."""
        before, offset = self.stages[j - 1], state - self.targets[j]
        # *Then backwards*: the same terms, in units of the smaller one of `up` and `down`.
        first, middle, end = self._sources(before, j, state, offset)
        up, down = before.up[first:middle], before.down[middle:end]
        (grow,), (shrink,) = self.arithmetic.factors(np.array([offset]))
        if offset <= 0:
            down = down * grow
        else:
            up = up * shrink
        error = self.errors[j - 1] + self.arithmetic.error(0)
        return Choices(before.cuts[first:end], np.concatenate((up, down)), error, self._omission)

    def firsts(self, j: int, state: int) -> Choices:
        """Return with which masses quantiles are the first in a place of one cut, if j is the last there."""
        k, more = int(self.cuts.cuts.searchsorted(state)), self.arithmetic.whole(np.arange(j))
        units = np.array(self.units[j:0:-1])
        # *Then backwards*, in a place of one cut: which quantile is the first there.
        ways = np.cumprod((self._sizes[k] + more) * (units / (more + 1)))
        entries = self._entries[:j, k][::-1]
        weights = np.where(
            entries == 0, entries, entries * ways
        )  # ways may overflow where no quantile comes
        (grow,), _ = self.arithmetic.factors(np.array([min(state - self.targets[j], 0)]))
        error = self.errors[j] + self.arithmetic.error(j)
        return Choices(np.arange(j, 0, -1), weights * grow, error, self._omission)

    def _sources(self, before: Stage, j: int, state: int, offset: int) -> tuple[int, int, int]:
        """Return where those begin that quantile j may come from, where those that fall do, and the end."""
        if j == len(self.targets) - 1:
            return 0, int(before.offsets.searchsorted(0, "right")), len(before.offsets)
        if self.cuts.is_single(state):
            end = int(before.cuts.searchsorted(state))
            return 0, min(int(before.offsets.searchsorted(offset, "right")), end), end
        if self.cuts.low[self.cuts.place(state)] == state:
            end = int(before.offsets.searchsorted(offset, "right"))
            return 0, end, end
        first = int(before.offsets.searchsorted(offset))
        return first, first, int(before.cuts.searchsorted(state, "right"))


class _Step:
    """The ways from the places of one quantile to those of the next."""

    def __init__(self, before: Stage, target: int, width: int, arithmetic: Arithmetic) -> None:
        self.before, self._width = before, width
        self.free = before.offsets + target
        """The cuts of no price."""
        # *The state*: what rises is a running sum of `up`, what falls a window of `down`, from two blocks.
        self._below = arithmetic.running(before.up)
        self._blocks = before.cuts // width if len(before.cuts) > 1 else before.cuts
        self._prefixes, self._suffixes, chain = sums_in_blocks(before.down, self._blocks)
        arithmetic.note(chain)

    def entries(self, cuts: Integers, shrink: Array) -> Array:
        """Return `down` for a quantile that comes to places of one cut from places before them."""
        earlier = self.before.cuts.searchsorted(cuts)
        # *The state*: e <= a rises to a at exp(-eta (a - e)), e >= b falls to b, from places before it only.
        middle = np.minimum(self.free.searchsorted(cuts, "right"), earlier)
        entries: Array = self._below[middle] * shrink + self._window(middle, earlier, cuts)
        return entries

    def rising(self, bottoms: Integers) -> Array:
        """Return `up` for a quantile that rises to the least cut of a tied place."""
        # *The state*, e <= a: those that nothing is paid for at a, and all below.
        rising: Array = self._below[self.free.searchsorted(bottoms, "right")]
        return rising

    def falling(self, tops: Integers) -> Array:
        """Return `down` for a quantile that falls to the largest cut of a tied place, from it or from before."""
        # *The state*, e >= b: also from the place itself, as it is tied.
        first = self.free.searchsorted(tops)
        return self._window(first, self.before.cuts.searchsorted(tops, "right"), tops)

    def _window(self, first: Integers, end: Integers, cuts: Integers) -> Array:
        """Return the sums of `down` from one place to another, all at most `width` below the cuts."""
        # Blocks of cuts are `width` wide, so a window lies in two: the end of one and the beginning of the next.
        some = first < end
        if len(self._blocks) <= 1:
            return np.where(some, self.before.down.sum(), 0)
        block = cuts // self._width
        first, last = np.minimum(first, len(self._blocks) - 1), np.maximum(end - 1, 0)
        earlier = some & (self._blocks[first] == block - 1)
        later = some & (self._blocks[last] == block)
        sums: Array = np.where(earlier, self._suffixes[first], 0) + np.where(
            later, self._prefixes[last], 0
        )
        return sums


def sums_in_blocks(values: Array, blocks: Integers) -> tuple[Array, Array, int]:
    """Return the sums from the beginning of each block, those to its end, and how many additions they took at most.

    A block is a stretch of equal numbers.
    """
    begins = np.flatnonzero(np.diff(blocks)) + 1
    if len(begins) >= _FEW_BLOCKS:
        return *_sums_by_doubling(values, blocks), len(values).bit_length()
    before, after = np.empty_like(values), np.empty_like(values)
    ends = [0, *begins.tolist(), len(values)]
    for start, end in pairwise(ends):
        np.add.accumulate(values[start:end], out=before[start:end])
        np.add.accumulate(values[start:end][::-1], out=after[start:end][::-1])
    return before, after, max(end - start for start, end in pairwise(ends))


def _sums_by_doubling(values: Array, blocks: Integers) -> tuple[Array, Array]:
    """Return the sums from the beginning of each block, and those to its end, after k rounds of 2**k terms."""
    before, after, step = values.copy(), values.copy(), 1
    while step < len(blocks) and (same := blocks[step:] == blocks[:-step]).any():
        before[step:], after[:-step] = (
            before[step:] + np.where(same, before[:-step], 0),
            after[:-step] + np.where(same, after[step:], 0),
        )
        step *= 2
    return before, after
