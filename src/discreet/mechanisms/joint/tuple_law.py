"""The distribution of joint quantiles, drawn backwards: the last quantile first."""

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from typing import NoReturn

import flint
import numpy as np
from flint import arb
from numpy.typing import NDArray

from ...sampling.bits import Bits, below
from ...sampling.categorical import PreparedWeights, Sums
from ...sampling.enclosures import HALF_ULP, NaturalRate, has_fast_pass, overflowing
from ...sampling.vectors import Integers
from .arithmetic import Balls, DoubleArithmetic, QuantileCuts
from .grid_records import GridRecords
from .masses import Choices, Masses

_DOUBT = 2.0**-30
"""A pass in doubles with a larger error is not worth while."""

_LARGEST_GRID = 2**900
"""Larger grids have no pass in doubles."""

_LONGEST_WAY = 2**42
"""Longer ways, in steps, have none: their factors would not be exact enough."""


class JointLaw:
    """The distribution P(o) proportional to exp(rate * score(o)) over non-descending tuples o of grid points."""

    def __init__(
        self,
        records: GridRecords,
        alphas: Sequence[Fraction],
        rate: NaturalRate,
    ) -> None:
        """Weigh all places in doubles; no bit is read before `draw`."""
        self.cuts = QuantileCuts(records, alphas)
        self._step = 2 * rate.eta / self.cuts.steps
        self._balls: tuple[int, Masses] | None = None
        with overflowing():
            self.fast = self._in_doubles()

    def draw(self, bits: Bits) -> list[int]:
        """Return the indices of one tuple, an exact sample of this distribution."""
        indices = list[int]()
        cuts, bits = (None, bits) if self.fast is None else self.fast.draw_in_c(bits)
        for cut, k in cuts or self.groups(lambda branch: PreparedWeights(branch).draw(bits)):
            start, size = self.cuts.stretch(cut)
            indices += (start + i for i in multiset(size, k, bits))
        return sorted(indices)

    def draws(self, size: int, bits: Bits) -> list[list[int]]:
        """Return `size` independent tuples."""
        return [self.draw(bits) for _ in range(size)]

    def groups(self, choose: Callable[["Branch"], int]) -> list[tuple[int, int]]:
        """Return the cuts of quantiles, from the last to the first, with their numbers of quantiles.

        Every branch is taken by `choose`, given all branches before.
        """
        # Backward sampling of the dynamic programme. The state is a quantile and the cut at which it stands. A
        # place of one cut is left by all its quantiles at once, a tied one by one after the other.
        groups, j, state = list[tuple[int, int]](), self.cuts.quantiles + 1, self.cuts.targets[-1]
        while j > 1:
            state, j = self._before(j, state, choose), j - 1
            first = j
            if j > 1 and self.cuts.is_single(state):
                first = self._choice(choose, partial(Masses.firsts, j=j, state=state))
            groups.append((state, j - first + 1))
            j = first
        return groups

    def _before(self, j: int, state: int, choose: Callable[["Branch"], int]) -> int:
        """Return the cut of the quantile before j, which is the first at a cut of a place."""
        if j <= self.cuts.quantiles and self.cuts.is_within(state):
            return state - self.cuts.targets[j] + self.cuts.targets[j - 1]
        return self._choice(choose, partial(Masses.arrivals, j=j, state=state))

    def _choice(
        self, choose: Callable[["Branch"], int], choices: Callable[[Masses], Choices]
    ) -> int:
        branch = Branch(self, choices)
        return branch.name(choose(branch))

    def _in_doubles(self) -> Masses | None:
        """Return the masses in doubles, or None if doubles cannot serve them."""
        if not has_fast_pass(NaturalRate(self._step)) or self.cuts.size >= _LARGEST_GRID:
            return None
        arithmetic = DoubleArithmetic(self._step, self.cuts)
        fits = 0 < arithmetic.reach < _LONGEST_WAY or self.cuts.targets[-1] == 0
        return Masses(self.cuts, arithmetic) if fits else None

    def in_balls(self) -> Masses:
        """Return the masses as balls at the precision in force."""
        precision = flint.ctx.prec
        if self._balls is None or self._balls[0] != precision:
            self._balls = precision, Masses(self.cuts, Balls(self._step, self.cuts))
        return self._balls[1]

    def __repr__(self) -> str:
        return "<JointLaw of private records>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a distribution over private records is not to be copied or pickled")


class Branch:
    """The weights of one choice, in doubles or from the masses at the precision in force."""

    def __init__(self, law: JointLaw, choices: Callable[[Masses], Choices]) -> None:
        self._law, self._choices = law, choices
        self._names: Integers = np.empty(0, dtype=np.int64)
        self._ahead = 0

    def sums(self) -> Sums | None:
        """Return the cumulated masses in doubles, if they are certain enough."""
        if self._law.fast is None:
            return None
        masses = self._law.fast
        with overflowing():
            choices = self._choices(masses)
            ends = np.concatenate((self._below(masses), choices.weights, [0.0])).cumsum()
        error = error_of(choices, float(ends[-1]), len(ends))
        if not error < _DOUBT:
            return None
        self._names = choices.names
        # The last one, without weight, is for all that is out of reach: a draw that comes near it is in doubt.
        return Sums(ends, error)

    def balls(self) -> Iterator[arb]:
        """Yield balls around the masses."""
        masses = self._law.in_balls()
        choices = self._choices(masses)
        self._names = choices.names
        # What is out of reach below comes first in the sums, and last what is so above: neither is ever certain.
        for _ in self._below(masses):
            yield arb(0).union(choices.omission)
        yield from choices.weights
        if choices.omission != 0:
            yield arb(0)

    def name(self, i: int) -> int:
        """Return the i-th alternative: a cut, or the first quantile in a place."""
        return int(self._names[i - self._ahead])

    def _below(self, masses: Masses) -> NDArray[np.float64]:
        """Return a weight of 0 for all that is out of reach below, if there may be any: no draw falls on it."""
        # Else the first one within reach would be answered in its place, and tuples below would never be.
        self._ahead = int(masses.out_of_reach)
        return np.zeros(self._ahead)


def error_of(choices: Choices, total: float, chain: int) -> float:
    """Return a bound on the errors of running sums of masses, relative to their total."""
    if not total > 0:
        return math.inf
    # *What is left out*: each choice divides the bounds by its own total.
    return 1.001 * (choices.error + (chain + 8) * HALF_ULP + float(choices.omission) / total)


def multiset(size: int, k: int, bits: Bits) -> list[int]:
    """Return a uniform one of the comb(size + k - 1, k) multisets of k members of range(size): Pólya's urn."""
    # Draw i is a new member, one of `size`, or a copy of one of the i before: size + i equally likely cases.
    # Coq: JointCuts.urn_is_even, JointCuts.even_chance_is_one_of_all
    members = list[int]()
    for i in range(k):
        v = below(size + i, bits)
        members.append(v if v < size else members[v - size])
    return members
