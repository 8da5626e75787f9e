"""Noisy counts with discrete Gaussian noise: smaller where one record moves many of them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar, Literal

from ..base.numbers import root_above
from ..errors import InvalidArgument
from ..privacy.gaussian_cells import (
    Cases,
    Cells,
    cases_of_sums,
    least_common_parameter,
    rho_of_cases,
)
from ..privacy.guarantees import DiscreteGaussianDP, Guarantee, ReplacedSumsDP
from ..privacy.sensitivity import Sensitivity
from ..sampling.gaussian import GaussianNoise
from .accuracy import gaussian_error
from .contract import Calibrated, PrivacyParameter, need_parameter
from .noisy_counts import LARGEST_COUNT, NoisyCountsLaw, changed_cells


@dataclass(frozen=True, slots=True)
class GaussianCounts:
    """Answer whole numbers as n + X, cut to a public range, with independent discrete Gaussian noise X.

    P(X = j) is proportional to exp(-j**2 / (2 sigma**2)). Of numbers of which m move by d each, sigma**2 is
    m d**2 / (2 rho), exactly, or the least found for an epsilon and a delta.

    Attributes:
        least: the least number that is answered.
        largest: the largest number that is answered.
        delta: the δ of all numbers together; None with a rho, which needs none.

    Guarantee: `DiscreteGaussianDP` of the numbers that may move between neighbours, spread / change of them; of
        the sums of groups where a record is replaced `ReplacedSumsDP`.

    Side channels: the noise is drawn before it is added, and independent of the numbers: see `GaussianNoise`.

    Source: Canonne, Kamath and Steinke, NeurIPS 2020. Proof: docs/reference/mechanisms/gaussian_noise.md.
    """

    least: int = -LARGEST_COUNT
    largest: int = LARGEST_COUNT
    delta: Fraction | None = None
    name: ClassVar[Literal["gaussian"]] = "gaussian"
    takes_runs: ClassVar[Literal[False]] = False

    @property
    def parameters(self) -> Mapping[str, object]:
        """The range of answers, and delta."""
        loose = {} if self.delta is None else {"delta": self.delta}
        return {"least": self.least, "largest": self.largest, **loose}

    def calibrate(self, sensitivity: Sensitivity, parameter: PrivacyParameter | None) -> Calibrated:
        """Return the mechanism with the least noise that keeps the wanted guarantee."""
        noise = self.noise(sensitivity, parameter)
        guarantee = _guarantee(noise.sigma_squared, sensitivity)
        law: Callable[[Any], Any] = partial(NoisyCountsLaw, noise=noise, cut=self)  # it draws lists
        return Calibrated(guarantee, law)

    def noise(self, sensitivity: Sensitivity, parameter: PrivacyParameter | None) -> GaussianNoise:
        """Return the least noise that keeps the wanted guarantee.

        Raises:
            InvalidArgument: unless there is a rho, or an epsilon and a delta.
        """
        amount, cases = need_parameter(parameter), _cases(sensitivity)
        if amount.kind == "rho":
            return GaussianNoise(rho_of_cases(cases) / amount.value)
        if amount.kind == "scale" or self.delta is None:
            raise InvalidArgument("Gaussian noise needs rho, or epsilon and delta")
        return GaussianNoise(least_common_parameter(amount.value, self.delta, cases))

    def scale(self, sensitivity: Sensitivity, parameter: PrivacyParameter) -> Fraction:
        """Return sigma, rounded up: about the standard deviation of the noise."""
        return root_above(self.noise(sensitivity, parameter).sigma_squared)

    def error(
        self,
        sensitivity: Sensitivity,
        parameter: PrivacyParameter,
        size: int,
        probability: Fraction,
    ) -> int:
        """Return the most by which any of so many numbers is off, with at least that probability."""
        return gaussian_error(self.noise(sensitivity, parameter), size, probability)


def _cases(sensitivity: Sensitivity) -> Cases:
    """Return the ways in which the numbers may move, with noise of the parameter 1.

    Raises:
        InvalidArgument: if only their spread is known.
    """
    one, moves = Fraction(1), sensitivity.replacement
    if moves is not None:
        return cases_of_sums(one, moves.groups, moves.common, moves.steps, moves.shift)
    if sensitivity.change is None:
        raise InvalidArgument("Gaussian noise needs to know by how much one number moves")
    return ((Cells(one, changed_cells(sensitivity), int(sensitivity.change)),),)


def _guarantee(sigma_squared: Fraction, sensitivity: Sensitivity) -> Guarantee:
    """Return the guarantee of noise of a parameter."""
    moves, neighbors = sensitivity.replacement, sensitivity.neighbors
    if moves is not None:
        return ReplacedSumsDP(
            sigma_squared, moves.groups, moves.common, moves.steps, moves.shift, neighbors
        )
    [[cells]] = _cases(sensitivity)
    return DiscreteGaussianDP(sigma_squared, cells.cells, cells.steps, neighbors)
