"""Noise on a million counts: Gaussian beside geometric, at the same epsilon."""

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

from discreet.mechanisms.contract import PrivacyParameter
from discreet.mechanisms.gaussian_counts import GaussianCounts
from discreet.mechanisms.noisy_counts import NoisyCounts, counts_sensitivity
from discreet.sampling.bits import SystemBits
from discreet.sampling.vectors import Vector, integers

from .race import Contender, Run, Watch, race
from .results import Row, Target, compared

COUNTS = 10**6
GEOMETRIC = "the same with geometric noise"


def noise(watch: Watch) -> Row:
    """Return the row of 10^6 counts with noise, of which one record moves fifty."""
    contenders = [
        Contender(
            "discreet counts with Gaussian noise", _draw(GaussianCounts(delta=Fraction(1, 10**6)))
        ),
        Contender(GEOMETRIC, _draw(NoisyCounts())),
    ]
    return Row(
        "noise of 10^6 counts", compared(race(contenders, 11, watch), Target(1.5, GEOMETRIC))
    )


def _draw(mechanism: Any) -> Callable[[], Run]:
    """Return the function that prepares a draw of all counts."""
    sensitivity = counts_sensitivity(50, "add_remove")
    calibrated = mechanism.calibrate(sensitivity, PrivacyParameter("epsilon", Fraction(1)))
    law = calibrated.law(Vector(integers(range(COUNTS))))
    return lambda: partial(law.draw, SystemBits())
