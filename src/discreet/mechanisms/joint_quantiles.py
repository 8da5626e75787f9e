"""Several quantiles by one exponential mechanism (Gillenwater, Joseph and Kulesza 2021)."""

from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, pairwise
from math import comb, floor
from typing import Any, NamedTuple, NoReturn

import flint
import numpy as np
from flint import arb
from numpy.typing import NDArray

from ..errors import InvalidNumber
from ..numbers import count
from ..privacy.guarantees import BoundedRange
from ..privacy.sensitivity import Neighbors, Sensitivity
from ..sampling.bits import Bits, below
from ..sampling.categorical import Table
from ..sampling.enclosures import NaturalRate
from ..sampling.vectors import Integers
from .contract import Calibrated, PrivacyParameter
from .exponential import Exponential

ChooseBranch = Callable[["Branch"], int]
"""How one of several branches is taken."""


@dataclass(frozen=True, slots=True)
class JointQuantiles:
    """Answer m points of a grid, never descending, at once; their score is -sum |count - wanted count|.

    The points cut the records in m + 1 cells: up to the first point, after it up to the second, and so
    on, after the last. Of n records, n * (alpha[j] - alpha[j-1]) are wanted in cell j, with 0 and 1
    around the alphas. Tuples are not enumerated: a dynamic programme in balls weighs them.

    Args:
        alphas: exact, rising, distinct, from 0 to 1.
        size: how many points the grid has.

    Guarantee: epsilon-bounded range for all quantiles together, hence epsilon-DP and (epsilon**2 / 8)-zCDP.

    Side channels: time and memory depend on how many distinct points have records, and on how many
    quantiles fall on the same stretch between them.

    Source: Gillenwater, Joseph and Kulesza, ICML 2021, https://arxiv.org/abs/2102.08244. Proof:
    docs/reference/mechanisms/joint_quantiles.md.
    """

    alphas: tuple[Fraction, ...]
    size: int

    def __post_init__(self) -> None:
        """Check the arguments.

        Raises:
            InvalidNumber: if the alphas do not rise from 0 to 1, or there is no point.
        """
        count(self.size, "size")
        rising = all(a < b for a, b in pairwise(self.alphas))
        if not self.alphas or not rising or self.alphas[0] < 0 or self.alphas[-1] > 1:
            raise InvalidNumber(f"alphas must rise from 0 to 1, got {list(map(str, self.alphas))}")

    def sensitivity(self, neighbors: Neighbors) -> Sensitivity:
        """Return how far the scores of neighbours may be apart.

        Proof: docs/reference/mechanisms/joint_quantiles.md.
        """
        shares = self._shares()
        if neighbors == "replace_one":
            both = any(shares[1:]) and any(shares[:-1])  # else the only alpha is 0 or 1
            return Sensitivity(Fraction(4 if both else 2), neighbors, Fraction(2))
        change = 2 * (1 - min(shares))
        # A cell in which nothing is wanted never has too few records.
        other = 2 * (1 - min(share for share in shares if share))
        return Sensitivity(change + other, neighbors, change)

    def calibrate(self, neighbors: Neighbors, parameter: PrivacyParameter | None) -> Calibrated:
        """Return the mechanism at the largest eta that keeps the wanted guarantee.

        The distribution is made from the indices of the records on the grid, in any order; or from distinct
        indices, ascending, with the numbers of their records.
        """
        sensitivity = self.sensitivity(neighbors)
        guarantee = Exponential().calibrate(sensitivity, parameter).guarantee
        assert isinstance(guarantee, BoundedRange)
        rate = NaturalRate(guarantee.epsilon / sensitivity.spread)

        def law(indices: NDArray[Any], counts: NDArray[np.int64] | None = None) -> Any:
            if counts is None:
                indices, counts = np.unique(indices, return_counts=True)
            return JointLaw(indices, counts, self.size, self._shares(), rate)

        return Calibrated(guarantee, law)

    def _shares(self) -> list[Fraction]:
        """Return the wanted shares of the records, by cell."""
        return [b - a for a, b in pairwise((Fraction(0), *self.alphas, Fraction(1)))]


class JointLaw:
    """The distribution P(o) proportional to exp(rate * score(o)) over the non-descending tuples o of grid points.

    A run is a stretch of the grid on which the number of records up to a point is constant. Before the
    first and after the last there is one more, without points, for the ends of the line.
    """

    def __init__(
        self,
        points: Integers,
        counts: NDArray[np.int64],
        size: int,
        shares: list[Fraction],
        rate: NaturalRate,
    ) -> None:
        """Find the runs between points with records; no bit is read before `draw`."""
        starts, reached = [0, *points.tolist()], [0, *np.cumsum(counts).tolist()]
        n = reached[-1]
        sizes = [end - start for start, end in pairwise([*starts, size])]
        there = [r for r, s in enumerate(sizes) if s > 0]
        self._starts = [0, *(starts[r] for r in there), size]
        self._sizes = [0, *(sizes[r] for r in there), 0]
        self._reached = [0, *(reached[r] for r in there), n]
        self._wanted = [Fraction(0), *(n * share for share in shares)]
        self._rate = rate
        self._masses: tuple[int, _Masses] | None = None

    def draw(self, bits: Bits) -> list[int]:
        """Return the indices of one tuple, an exact sample of this distribution."""

        def choose(branch: Branch) -> int:
            return Table(branch).draw(bits)

        drawn = list[int]()
        for run, k in self.groups(choose):
            drawn += (self._starts[run] + i for i in multiset(self._sizes[run], k, bits))
        return sorted(drawn)

    def draws(self, size: int, bits: Bits) -> list[list[int]]:
        """Return `size` independent tuples."""
        return [self.draw(bits) for _ in range(size)]

    def groups(self, choose: ChooseBranch) -> list[tuple[int, int]]:
        """Return the runs that hold quantiles, from the last to the first, with the number of quantiles in them.

        Every branch is taken by `choose`, given all branches before.
        """
        # Backward sampling of the dynamic programme. State: quantile i is the first in `run`. First the run of
        # quantile i - 1 is drawn, then which quantile is the first there; both by their exact conditional masses.
        # Quantile 0 and the last stand for the ends of the line, in runs without points.
        groups, i, run = list[tuple[int, int]](), len(self._wanted) - 1, len(self._sizes) - 1
        while i > 1:
            run = 1 + choose(Branch(self._before, i, run))
            first = 1 + choose(Branch(self._grouped, i - 1, run))
            groups.append((run, i - first))
            i = first
        return groups

    def _before(self, j: int, run: int) -> list[arb]:
        """Return the masses of the runs from 1 on for quantile j - 1, if quantile j is the first in `run`."""
        masses = self._forward()
        ends, up, down, split = masses.ends[j - 1], masses.up, masses.down, self._split(j, run)
        # The weight of cell j is exp(-eta |count - wanted|) with count = c[run] - c[r]. Without the absolute value
        # it is a product of a factor of r and one of `run`: exp(eta c[r]) exp(eta (wanted - c[run])) where the
        # cell holds too many records (r < split), and the reciprocal where it holds too few.
        far = masses.grow[j] * down[run]
        near = masses.shrink[j] * up[run]
        return [ends[r] * (up[r] * far if r < split else down[r] * near) for r in range(1, run)]

    def _grouped(self, j: int, run: int) -> list[arb]:
        """Return the masses of the quantiles from 1 on as the first in `run`, if quantile j is the last there."""
        return self._forward().grouped(j, run, self._sizes[run])

    def _split(self, j: int, run: int) -> int:
        """Return how many runs are so far below `run` that cell j would hold too many records, or enough."""
        return min(bisect_right(self._reached, floor(self._reached[run] - self._wanted[j])), run)

    def _forward(self) -> "_Masses":
        """Return the masses at the precision in force."""
        precision = flint.ctx.prec
        if self._masses is None or self._masses[0] != precision:
            self._masses = precision, self._weigh()
        return self._masses[1]

    def _weigh(self) -> "_Masses":
        """Place one quantile after the other, the end of the line last."""
        rate, runs = self._rate, range(len(self._sizes))
        masses = _Masses(
            up=[rate.exponent(Fraction(c)).exp() for c in self._reached],
            down=[rate.decay(Fraction(c)) for c in self._reached],
            grow=[rate.exponent(wanted).exp() for wanted in self._wanted],
            shrink=[rate.decay(wanted) for wanted in self._wanted],
            entries=[[]],
            ends=[[arb(r == 0) for r in runs]],
        )
        # Forward pass: quantile j enters a run from any run before, then it and its predecessors share that run.
        for j in range(1, len(self._wanted)):
            masses.enter(j, [self._split(j, run) for run in runs])
            masses.ends.append([sum(masses.grouped(j, r, self._sizes[r]), arb(0)) for r in runs])
        return masses

    def __repr__(self) -> str:
        return "<JointLaw of private records>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a distribution over private records is not to be copied or pickled")


class Branch:
    """The weights of one choice, from the masses at the precision in force."""

    def __init__(self, masses: Callable[[int, int], list[arb]], j: int, run: int) -> None:
        self._masses, self._j, self._run = masses, j, run

    def sums(self) -> None:
        """Return None: there is no pass in doubles."""

    def balls(self) -> Iterator[arb]:
        """Yield balls around the weights."""
        yield from self._masses(self._j, self._run)


class _Masses(NamedTuple):
    """Sums of weights over all ways to place the first quantiles, as balls.

    With c records up to a run, `up` is exp(eta c) and `down` is exp(-eta c); with w records wanted in
    a cell, `grow` is exp(eta w) and `shrink` is exp(-eta w).
    """

    up: list[arb]
    down: list[arb]
    grow: list[arb]
    shrink: list[arb]
    entries: list[list[arb]]
    """entries[j][r]: quantile j is the first in run r, whose points are not weighed yet."""
    ends: list[list[arb]]
    """ends[j][r]: quantile j is the last in run r."""

    def enter(self, j: int, splits: list[int]) -> None:
        """Append the entries of quantile j, by sums of positive terms alone."""
        # By the product form, the sum over all runs r is a prefix sum (r below the split) times a factor of the
        # entered run, and a window sum (split to run) times another: linear in the runs, not quadratic.
        ends = self.ends[j - 1]
        far = list(accumulate((e * u for e, u in zip(ends, self.up, strict=True)), initial=arb(0)))
        near = window_sums([e * d for e, d in zip(ends, self.down, strict=True)], splits)
        self.entries.append(
            [
                far[split] * self.grow[j] * self.down[r] + near[r] * self.shrink[j] * self.up[r]
                for r, split in enumerate(splits)
            ]
        )

    def grouped(self, j: int, run: int, size: int) -> list[arb]:
        """Return the masses of the quantiles from 1 to j as the first in a run in which j is the last.

        Nothing enters the first run but the first quantile.
        """
        # Quantiles i to j in one run of `size` points: comb(size + j - i, j - i + 1) non-descending choices. The
        # cells between them hold no record, so cell k weighs exp(-eta wanted[k]) = shrink[k].
        masses, empty = list[arb](), arb(1)
        for i in range(j, 0, -1):
            if i == 1 or run > 1:
                masses.append(self.entries[i][run] * empty * comb(size + j - i, j - i + 1))
            empty *= self.shrink[i]
        return masses[::-1]


def window_sums(values: list[arb], firsts: list[int]) -> list[arb]:
    """Return sum(values[firsts[r]:r]) for all r; the firsts never fall. Nothing is subtracted."""
    # A queue of two stacks. Invariant: the window [first, r) is [first, split), whose suffix sums are in `heads`,
    # and [split, r), whose sum is `tail`. A difference of prefix sums would lose all digits.
    sums, split, tail, heads = list[arb](), 0, arb(0), list[arb]()
    for r, first in enumerate(firsts):
        if first >= split:  # heads[k] is the sum of the last k values before the split
            heads = list(accumulate(reversed(values[first:r]), initial=arb(0)))
            split, tail = r, arb(0)
        sums.append(heads[split - first] + tail)
        tail += values[r]
    return sums


def multiset(size: int, k: int, bits: Bits) -> list[int]:
    """Return a uniform one of the comb(size + k - 1, k) multisets of k members of range(size): Pólya's urn."""
    # Draw i is a new member, one of `size`, or a copy of one of the i before: size + i equally likely cases.
    drawn = list[int]()
    for i in range(k):
        v = below(size + i, bits)
        drawn.append(v if v < size else drawn[v - size])
    return drawn
