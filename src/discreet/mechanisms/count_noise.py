"""Which noise whole numbers get, geometric or discrete Gaussian: that of the smaller variance, by public numbers.

Proof and table: docs/reference/mechanisms/gaussian_noise.md.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

from ..base.messages import Message
from ..base.numbers import rounded_up
from ..privacy.sensitivity import Sensitivity
from ..sampling.enclosures import precision, upper
from ..sampling.gaussian import GaussianNoise
from ..sampling.geometric import GeometricNoise
from .contract import PrivacyParameter
from .gaussian_counts import GaussianCounts
from .noisy_counts import LARGEST_COUNT, NoisyCounts

CountNoise = NoisyCounts | GaussianCounts

_VARIANCE_BITS = 256

_MOST_WIDE = 10_000
"""The most numbers with noise beyond the table of `GaussianNoise`, of which one takes about a millisecond."""


@lru_cache(maxsize=256)
def choose_noise(
    sensitivity: Sensitivity,
    parameter: PrivacyParameter,
    delta: Fraction | None,
    size: int,
    largest: int = LARGEST_COUNT,
) -> CountNoise:
    """Return the noise of the smaller variance at the same price; of equal ones the geometric.

    Args:
        sensitivity: how many numbers move between neighbours, and by how much.
        parameter: the privacy parameter of all of them together.
        delta: the δ that may be used. None for none. With an epsilon there is Gaussian noise only with one.
        size: how many numbers there are.
        largest: where they are cut, on both sides.
    """
    geometric = NoisyCounts(-largest, largest)
    if not _has_gaussian(sensitivity, parameter, delta):
        return geometric
    gaussian = GaussianCounts(-largest, largest, delta if parameter.kind == "epsilon" else None)
    noises = gaussian.noise(sensitivity, parameter), geometric.noise(sensitivity, parameter)
    return gaussian if is_better(*noises, size) else geometric


@dataclass(frozen=True, slots=True)
class NoiseChoice:
    """The noise that numbers have, beside the other noise at the same price. Public.

    Attributes:
        name: the noise that was taken, "geometric" or "gaussian".
        geometric: the standard deviation of geometric noise, rounded up to three digits.
        gaussian: that of Gaussian noise.
    """

    name: str
    geometric: Fraction
    gaussian: Fraction

    def times(self, step: Fraction) -> "NoiseChoice":
        """Return the choice in units of which one step is so many."""
        return replace(self, geometric=step * self.geometric, gaussian=step * self.gaussian)

    def as_dict(self) -> dict[str, str]:
        """Return the choice in plain values, the deviations as text, ready for JSON."""
        return {
            "name": self.name,
            "geometric": rounded_up(self.geometric, 3),
            "gaussian": rounded_up(self.gaussian, 3),
        }

    def __str__(self) -> str:
        wide, narrow = rounded_up(self.geometric, 3), rounded_up(self.gaussian, 3)
        if self.name == "gaussian":
            return Message(
                "Gaussian noise with a standard deviation of {own}. Geometric noise would have "
                "{other}",
                own=narrow, other=wide,
            )  # fmt: skip
        return Message(
            "geometric noise with a standard deviation of {own}. Gaussian noise would have {other}",
            own=wide, other=narrow,
        )  # fmt: skip


def read_noise_choice(plain: Mapping[str, str]) -> NoiseChoice:
    """Return a choice from its `as_dict`."""
    return NoiseChoice(plain["name"], Fraction(plain["geometric"]), Fraction(plain["gaussian"]))


@lru_cache(maxsize=256)
def compare_noise(
    name: str, sensitivity: Sensitivity, parameter: PrivacyParameter, delta: Fraction | None
) -> NoiseChoice | None:
    """Return both deviations beside the noise that was taken, or None if there was no choice."""
    if not _has_gaussian(sensitivity, parameter, delta):
        return None
    gaussian = GaussianCounts(delta=delta if parameter.kind == "epsilon" else None)
    return choice_between(
        name, NoisyCounts().noise(sensitivity, parameter), gaussian.noise(sensitivity, parameter)
    )


def choice_between(name: str, geometric: GeometricNoise, gaussian: GaussianNoise) -> NoiseChoice:
    """Return both deviations beside the noise that was taken."""
    with precision(_VARIANCE_BITS):
        return NoiseChoice(name, upper(geometric.variance.sqrt()), upper(gaussian.variance.sqrt()))


def _has_gaussian(
    sensitivity: Sensitivity, parameter: PrivacyParameter, delta: Fraction | None
) -> bool:
    """Return whether there is Gaussian noise at a price: with a rho, or with epsilon and delta."""
    is_priced = parameter.kind == "rho" or (parameter.kind == "epsilon" and delta is not None)
    return is_priced and not (sensitivity.change is None and sensitivity.replacement is None)


def is_better(gaussian: GaussianNoise, geometric: GeometricNoise, size: int) -> bool:
    """Return whether Gaussian noise has the smaller variance, and so many numbers with it are quickly drawn."""
    if not gaussian.has_table and size > _MOST_WIDE:
        return False
    with precision(_VARIANCE_BITS):
        return bool(gaussian.variance < geometric.variance)
