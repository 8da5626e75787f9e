"""Which noise whole numbers get, geometric or discrete Gaussian: that of the smaller variance, by public numbers.

Proof and table: docs/reference/mechanisms/gaussian_noise.md.
"""

from fractions import Fraction
from functools import lru_cache

from ..privacy.sensitivity import Sensitivity
from ..sampling.enclosures import precision
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
        delta: the δ that may be used; None for none. With an epsilon there is Gaussian noise only with one.
        size: how many numbers there are.
        largest: where they are cut, on both sides.
    """
    geometric = NoisyCounts(-largest, largest)
    has_gaussian = parameter.kind == "rho" or (parameter.kind == "epsilon" and delta is not None)
    if not has_gaussian or (sensitivity.change is None and sensitivity.replacement is None):
        return geometric
    loose = delta if parameter.kind == "epsilon" else None
    gaussian = GaussianCounts(-largest, largest, loose)
    noises = gaussian.noise(sensitivity, parameter), geometric.noise(sensitivity, parameter)
    return gaussian if is_better(*noises, size) else geometric


def is_better(gaussian: GaussianNoise, geometric: GeometricNoise, size: int) -> bool:
    """Return whether Gaussian noise has the smaller variance, and so many numbers with it are quickly drawn."""
    if not gaussian.has_table and size > _MOST_WIDE:
        return False
    with precision(_VARIANCE_BITS):
        return bool(gaussian.variance < geometric.variance)
