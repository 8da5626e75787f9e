"""Noisy counts with discrete Gaussian noise: smaller where one record moves many of them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar, Literal

from ..base.numbers import root_above
from ..errors import InvalidArgument
from ..privacy.gaussian_calibration import least_sigma_squared
from ..privacy.guarantees import DiscreteGaussianDP
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

    Guarantee: `DiscreteGaussianDP` of the numbers that may move between neighbours, spread / change of them.

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
        cells, steps = _moves(sensitivity)
        guarantee = DiscreteGaussianDP(noise.sigma_squared, cells, steps, sensitivity.neighbors)
        law: Callable[[Any], Any] = partial(NoisyCountsLaw, noise=noise, cut=self)  # it draws lists
        return Calibrated(guarantee, law)

    def noise(self, sensitivity: Sensitivity, parameter: PrivacyParameter | None) -> GaussianNoise:
        """Return the least noise that keeps the wanted guarantee.

        Raises:
            InvalidArgument: unless there is a rho, or an epsilon and a delta.
        """
        amount, (cells, steps) = need_parameter(parameter), _moves(sensitivity)
        if amount.kind == "rho":
            return GaussianNoise(cells * steps**2 / (2 * amount.value))
        if amount.kind == "scale" or self.delta is None:
            raise InvalidArgument("Gaussian noise needs rho, or epsilon and delta")
        return GaussianNoise(least_sigma_squared(amount.value, self.delta, cells, steps))

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


def _moves(sensitivity: Sensitivity) -> tuple[int, int]:
    """Return how many numbers may move, and by how many steps each.

    Raises:
        InvalidArgument: if only their spread is known.
    """
    if sensitivity.change is None:
        raise InvalidArgument("Gaussian noise needs to know by how much one number moves")
    return changed_cells(sensitivity), int(sensitivity.change)
