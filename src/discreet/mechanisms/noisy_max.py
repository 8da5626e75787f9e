"""Report noisy max: add noise to every score, answer the one that comes out on top."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from flint import arb, arb_poly
from numpy.typing import NDArray

from ..base.arguments import choice
from ..privacy.guarantees import LaplaceDP
from ..privacy.rho import laplace_rho
from ..privacy.sensitivity import Sensitivity
from ..sampling.bits import Bits, LazyUniform
from ..sampling.enclosures import (
    FUNCTION_ERROR,
    NaturalRate,
    ball,
    has_fast_pass,
    laplace_quantile,
    overflowing,
    precision,
)
from ..sampling.vectors import Vector
from .contract import (
    Calibrated,
    PrivacyParameter,
    calibrate,
    epsilon_of,
    need_parameter,
    one_by_one,
)
from .exponential import Exponential
from .gap import DECAY_ERROR, Ends, FirstTwo
from .gap_grid import GapGrid
from .permute_and_flip import PermuteAndFlip
from .worst_case import WorstCase

Noise = Literal["laplace", "gumbel", "exponential"]

_CUT_DECAY = 2.0**20
"""Whoever is further behind counts as anywhere behind it: one word of noise never bridges that."""


@dataclass(frozen=True, slots=True)
class NoisyMax:
    """Return the index of the largest eta * score[i] + noise[i], with independent noise of scale 1.

    With Gumbel noise this is the exponential mechanism, and with exponential noise it is permute-and-flip. Both are
    drawn as such. Laplace noise is drawn as an exact race.

    Attributes:
        noise: "laplace" (the default), "gumbel" or "exponential".

    Guarantee: for epsilon = eta * spread, no worse than one number with Laplace noise of scale 1 / epsilon,
    so epsilon-DP. With Gumbel noise, epsilon-bounded range. The Laplace noise of textbooks, of scale sensitivity /
    epsilon, is enough only for monotonic scores.

    Side channels: one word is read per candidate. If doubles can't separate the two best, more are read and balls
    are used. This has a probability below 2**-33 + n * 2**-54 for n candidates.

    Source: Dwork and Roth 2014, section 3.3; Ding et al. 2021, https://arxiv.org/abs/2105.07260. Proof:
    docs/reference/mechanisms/permute_and_flip.md#noisy_max.
    """

    noise: Noise = "laplace"
    takes_runs: ClassVar[bool] = False
    options: ClassVar[Mapping[str, Callable[[str], object]]] = {"noise": str}

    @property
    def name(self) -> str:
        """The name, with the noise if it is not Laplace's."""
        return "noisy_max" if self.noise == "laplace" else f"noisy_max({self.noise})"

    @property
    def parameters(self) -> dict[str, str]:
        """The noise."""
        return {"noise": self.noise}

    @property
    def worst_case(self) -> WorstCase | None:
        """The worst case of the mechanism that the noise gives. None is known for Laplace noise."""
        return None if self._equal is None else self._equal.worst_case

    @property
    def _equal(self) -> Exponential | PermuteAndFlip | None:
        """The mechanism that the noise makes it, if it is one of the others."""
        if self.noise == "laplace":
            return None
        # Coq: FlipPrivate.noisy_max_is_flip
        return Exponential() if self.noise == "gumbel" else PermuteAndFlip()

    def __post_init__(self) -> None:
        object.__setattr__(self, "noise", choice(self.noise, "noise", get_args(Noise)))

    def calibrate(self, sensitivity: Sensitivity, parameter: PrivacyParameter | None) -> Calibrated:
        """Return the mechanism at the largest eta that keeps the requested guarantee."""
        if self._equal is not None:
            return calibrate(self._equal, sensitivity, parameter)
        epsilon = epsilon_of(need_parameter(parameter), sensitivity.spread, laplace_rho)
        rate = NaturalRate(epsilon / sensitivity.spread)
        guarantee = LaplaceDP(epsilon, sensitivity.neighbors)
        return Calibrated(guarantee, partial(LaplaceRace, rate=rate))

    def calibrate_with_gap(
        self, sensitivity: Sensitivity, parameter: PrivacyParameter | None
    ) -> Calibrated:
        """Return the mechanism that returns [index, steps].

        Guarantee: with Laplace noise `LaplaceDP`, as without the gap. With other noise that of the mechanism which
        it makes. For the proof, see docs/reference/mechanisms/exponential.md#gap.
        """
        if self._equal is not None:
            return self._equal.calibrate_with_gap(sensitivity, parameter)
        epsilon = epsilon_of(need_parameter(parameter), sensitivity.spread, laplace_rho)
        rate = NaturalRate(epsilon / sensitivity.spread)
        grid = GapGrid.of(rate.eta)

        def law(scores: Vector) -> Any:
            return FirstTwo(LaplaceRace(scores, rate), scores, rate, grid, LaplaceNoise())

        return Calibrated(LaplaceDP(epsilon, sensitivity.neighbors), law, gap_grid=grid)


class LaplaceNoise:
    """Laplace noise of scale 1: its quantile at U."""

    def fast_ends(self, words: NDArray[np.uint64], width: int) -> Ends:
        """Return doubles below and above the noise of every uniform number that begins with the word."""
        return _fast_noise_bounds(words, width)

    def ends(self, u: LazyUniform) -> tuple[arb, arb]:
        """Return balls around the least and the largest noise for the known part of `u`."""
        return _noise_bounds(u, arb(0))


class LaplaceRace:
    """The distribution of the argmax of X[i] - rate * gap[i], with X[i] independent Laplace noise of scale 1."""

    __slots__ = ("_best", "_decays", "_rate", "_scores")

    def __init__(self, scores: Vector, rate: NaturalRate) -> None:
        self._scores, self._rate, self._best = scores, rate, scores.best()
        self._decays: NDArray[np.float64] | None = None
        if has_fast_pass(rate):
            with overflowing():
                self._decays = np.minimum(scores.gaps(self._best) * rate.double, _CUT_DECAY)

    def draw(self, bits: Bits) -> int:
        """Return the index of the largest, an exact sample of this distribution."""
        words = bits.words(len(self._scores))
        everyone = range(len(self._scores))
        runners = everyone if self._decays is None else _leaders(self._decays, words, bits.width)
        noise = {i: LazyUniform.of_word(int(words[i]), bits) for i in runners}
        while len(noise) > 1:
            with precision(64 + 2 * next(iter(noise.values())).length):
                noise = self._still_running(noise)
            for u in noise.values() if len(noise) > 1 else ():
                u.extend()
        return next(iter(noise))

    def draws(self, size: int, bits: Bits) -> NDArray[np.int64]:
        """Return `size` independent draws."""
        return one_by_one(self.draw, size, bits)

    def probabilities(self) -> list[arb]:
        """Return balls around the probabilities, at the precision in force. Cubic in the candidates."""
        places = [-self._decay(i) for i in range(len(self._scores))]
        order = sorted(range(len(places)), key=self._scores.exact)
        return [_chance_of_winning(i, places, order) for i in range(len(places))]

    def _decay(self, i: int) -> arb:
        return ball(self._scores.exact_gap(i, self._best) * self._rate.eta)

    def _still_running(self, noise: dict[int, LazyUniform]) -> dict[int, LazyUniform]:
        """Return the candidates that no other certainly beats."""
        bounds = {i: _noise_bounds(u, self._decay(i)) for i, u in noise.items()}
        lead = max(low for low, _ in bounds.values())
        return {i: u for i, u in noise.items() if not bounds[i][1] < lead}


def _leaders(decays: NDArray[np.float64], words: NDArray[np.uint64], width: int) -> list[int]:
    """Return the candidates that may still be first, given one word of noise for every one."""
    with overflowing():
        low, high = _fast_noise_bounds(words, width)
        error = decays * DECAY_ERROR
        low -= decays + error
        high -= decays - error
    low[decays >= _CUT_DECAY] = -np.inf
    return np.flatnonzero(high >= low.max()).tolist()


def _fast_noise_bounds(
    words: NDArray[np.uint64], width: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return doubles below and above the Laplace quantile of every uniform that begins with the word."""
    upper_half = words >= np.uint64(1 << (width - 1))
    distances = np.where(upper_half, np.uint64((1 << width) - 1) - words, words)
    outer = np.log(distances * 2.0 ** (1 - width))  # the outermost cell reaches to infinity
    inner = np.log((distances + np.uint64(1)) * 2.0 ** (1 - width))
    outer = outer * (1 + 2 * FUNCTION_ERROR) - 2.0**-50
    inner = inner * (1 - 2 * FUNCTION_ERROR) + 2.0**-50
    return np.where(upper_half, -inner, outer), np.where(upper_half, -outer, inner)


def _noise_bounds(u: LazyUniform, decay: arb) -> tuple[arb, arb]:
    """Return balls around the least and the largest value of noise - decay for the known part of `u`."""
    cell = arb(2) ** -u.length
    return laplace_quantile(u.prefix * cell) - decay, laplace_quantile(
        (u.prefix + 1) * cell
    ) - decay


def _chance_of_winning(i: int, places: list[arb], order: list[int]) -> arb:
    """Return the integral of density[i](t) * product over the others of their distribution at t.

    `order` sorts the places of the noise. Between two neighbouring places the integrand is a polynomial
    in exp(t) and exp(-t), integrated term by term.
    """
    chance = arb(0)
    for count_below in range(len(order) + 1):
        below, above = order[:count_below], order[count_below:]
        lower = places[below[-1]] if below else None
        upper = places[above[0]] if above else None
        polynomial = arb_poly([1])
        for j in below:
            tail = places[j].exp() / 2
            polynomial *= arb_poly([0, tail]) if j == i else arb_poly([1, -tail])
        for j in above:
            polynomial *= (-places[j]).exp() / 2
        chance += _integral_of_terms(polynomial, len(above), lower, upper)
    return chance


def _integral_of_terms(
    polynomial: arb_poly, power: int, lower: arb | None, upper: arb | None
) -> arb:
    """Return the integral of sum over k of c[k] * exp((power - k) t) from `left` to `right`."""
    total = arb(0)
    for k in range(polynomial.degree() + 1):
        slope = power - k
        if slope == 0 and lower is not None and upper is not None:
            total += polynomial[k] * (upper - lower)
        elif slope != 0:
            upper_end = arb(0) if upper is None else (slope * upper).exp()
            lower_end = arb(0) if lower is None else (slope * lower).exp()
            total += polynomial[k] * (upper_end - lower_end) / slope
    return total
