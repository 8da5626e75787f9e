"""Permute-and-flip (McKenna and Sheldon 2020, https://arxiv.org/abs/2010.12603)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from flint import arb, arb_poly
from numpy.typing import NDArray

from ...privacy.guarantees import LaplaceDP
from ...privacy.rho import laplace_rho
from ...privacy.sensitivity import Sensitivity
from ...sampling.bernoulli import bernoulli, bernoulli_one
from ...sampling.bits import Bits, LazyUniform, below
from ...sampling.categorical import BLOCK
from ...sampling.enclosures import (
    FUNCTION_ERROR,
    NaturalRate,
    Rate,
    fast_weights,
    has_fast_pass,
    overflowing,
)
from ...sampling.runs import Runs
from ...sampling.vectors import Vector
from ...sampling.waiting_times import log_of_rest
from ..contract import (
    NEGLIGIBLE_EXPONENT,
    Calibrated,
    Law,
    PrivacyParameter,
    epsilon_of,
    need_parameter,
    one_by_one,
)
from ..gap import Ends, FirstTwo
from ..gap_grid import GapGrid
from ..worst_case import FLIPS_ERROR, WorstCase
from .run_race import RunRace


@dataclass(frozen=True, slots=True)
class PermuteAndFlip:
    """Visit candidates in random order and stop at i with probability exp(-eta * gap[i]).

    The sampler draws the same distribution in another way. It draws one Bernoulli variable for every candidate,
    true with that probability, and then one of the candidates for which it is true, all equally likely. At the same
    epsilon, its expected score is never worse than that of the exponential mechanism.

    Guarantee: no worse than Laplace noise of scale 1 / epsilon, so epsilon-DP and (epsilon - 1 +
    e**-epsilon)-zCDP, which is below epsilon**2 / 2. It has no bounded range of epsilon, so epsilon**2 / 8
    does not hold for it.

    Side channels: the time depends on the number of candidates. One word per candidate is read. With probability
    below 2**-39 per candidate, more words are read and balls are used. On a grid, one word per run is read, and
    more with probability below sqrt(runs) * 2**-29.

    Source: McKenna and Sheldon, NeurIPS 2020. Proof: docs/reference/mechanisms/permute_and_flip.md.
    """

    name: ClassVar[str] = "permute_and_flip"
    takes_runs: ClassVar[Literal["flat"]] = "flat"
    parameters: ClassVar[Mapping[str, object]] = {}
    options: ClassVar[Mapping[str, Callable[[str], object]]] = {}
    worst_case: ClassVar[WorstCase] = FLIPS_ERROR

    def calibrate(self, sensitivity: Sensitivity, parameter: PrivacyParameter | None) -> Calibrated:
        """Return the mechanism at the largest eta that keeps the requested guarantee."""
        # Coq: FlipLaplace.pf_is_laplace, FlipPrivate.pf_private
        epsilon = epsilon_of(need_parameter(parameter), sensitivity.spread, laplace_rho)
        rate = NaturalRate(epsilon / sensitivity.spread)

        def law(scores: Vector | Runs) -> Law:
            if isinstance(scores, Runs):
                return RunRace(scores, rate)
            return OneOfTheHeads(scores, rate)

        guarantee = LaplaceDP(epsilon, sensitivity.neighbors)
        return Calibrated(guarantee, law, NEGLIGIBLE_EXPONENT / rate.eta, flip_rate=rate)

    def calibrate_with_gap(
        self, sensitivity: Sensitivity, parameter: PrivacyParameter | None
    ) -> Calibrated:
        """Return the mechanism that returns [index, steps].

        It is report noisy max with exponential noise. Guarantee: `LaplaceDP`, as without the gap. For the proof,
        see docs/reference/mechanisms/exponential.md#gap.
        """
        epsilon = epsilon_of(need_parameter(parameter), sensitivity.spread, laplace_rho)
        rate = NaturalRate(epsilon / sensitivity.spread)
        grid = GapGrid.of(rate.eta)

        def law(scores: Vector) -> Any:
            return FirstTwo(OneOfTheHeads(scores, rate), scores, rate, grid, ExponentialNoise())

        return Calibrated(LaplaceDP(epsilon, sensitivity.neighbors), law, gap_grid=grid)


class ExponentialNoise:
    """Exponential noise of scale 1: -ln(1 - U)."""

    def fast_ends(self, words: NDArray[np.uint64], width: int) -> Ends:
        """Return doubles below and above the noise of every uniform number that begins with the word."""
        low, high = (-log_of_rest(words, width, ahead) for ahead in (0.0, 1.0))
        return low * (1 - 2 * FUNCTION_ERROR) - 2.0**-50, high * (1 + 2 * FUNCTION_ERROR) + 2.0**-50

    def ends(self, u: LazyUniform) -> tuple[arb, arb]:
        """Return balls around the least and the largest noise for the known part of `u`."""
        cell = arb(2) ** -u.length
        is_last = u.prefix + 1 == 1 << u.length
        high = arb.pos_inf() if is_last else -(-(u.prefix + 1) * cell).log1p()
        return -(-u.prefix * cell).log1p(), high


class OneOfTheHeads:
    """The distribution of permute-and-flip: Bernoulli variables of mean exp(-rate * gap), then one that is true."""

    __slots__ = ("_best", "_fast", "_rate", "_scores")

    def __init__(self, scores: Vector, rate: Rate) -> None:
        self._scores, self._rate, self._best = scores, rate, scores.best()
        self._fast = self._weights() if has_fast_pass(rate) else None

    def draw(self, bits: Bits) -> int:
        """Return i with probability w[i] * integral over 0 < s < 1 of prod over j != i of (1 - w[j] s)."""
        # *It is one of the heads* in permute_and_flip.md: all coins at once, then any one of the heads.
        # Coq: Flip.flip_is_one_of_the_heads, Flip.pf_law
        if self._fast is not None:
            heads = bernoulli(self._fast, self._weight, bits)
        else:
            everyone = range(len(self._scores))
            heads = np.array([bernoulli_one(self._weight, i, bits) for i in everyone])
        # Counted up, so that the work does not tell how many heads there are. The best is always one.
        totals = heads.cumsum()
        return int(totals.searchsorted(below(int(totals[-1]), bits) + 1))

    def draws(self, size: int, bits: Bits) -> NDArray[np.int64]:
        """Return `size` independent draws."""
        return one_by_one(self.draw, size, bits)

    def probabilities(self) -> list[arb]:
        """Return balls around the probabilities, at the precision in force. Quadratic in the candidates."""
        weights = [self._weight(i) for i in range(len(self._scores))]
        # *Distribution*: P(r) = w(r) times the integral of prod over j != r of (1 - w(j) s).
        # Coq: Flip.flip_is_the_integral
        everyone = arb_poly([1])
        for weight in weights:
            everyone *= arb_poly([1, -weight])
        return [weight * _integral_of_quotient(everyone, weight) for weight in weights]

    def _weight(self, i: int) -> arb:
        return self._rate.decay(self._scores.exact_gap(i, self._best))

    def _weights(self) -> NDArray[np.float64]:
        """Return all weights in doubles, block by block to stay in the cache."""
        weights = np.empty(len(self._scores))
        with overflowing():
            for start in range(0, len(weights), BLOCK):
                gaps = self._scores.part(start, start + BLOCK).gaps(self._best)
                weights[start : start + BLOCK] = fast_weights(gaps, self._rate)
        return weights


def _integral_of_quotient(product: arb_poly, weight: arb) -> arb:
    """Return the integral over [0, 1] of product(s) / (1 - weight * s), a polynomial."""
    coefficient, integral = arb(0), arb(0)
    for k in range(product.degree()):
        coefficient = product[k] + weight * coefficient
        integral += coefficient / (k + 1)
    return integral
