"""The epsilon of one of several answers of a mechanism that together are (epsilon, delta)-DP."""

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any

from ..privacy.approx_dp import ApproxDP
from ..privacy.calibration import largest_share
from ..privacy.contract import Guarantee
from ..privacy.epsilon_dp import mix_range
from ..privacy.sensitivity import Sensitivity
from .contract import Mechanism, PrivacyParameter, calibrate


def share_of(
    mechanism: Mechanism,
    sensitivity: Sensitivity,
    answers: int,
    together: ApproxDP,
    *,
    adaptive: bool,
) -> Fraction:
    """Return the epsilon of one of several answers, kept for the next call with the same public arguments.

    Args:
        mechanism: the mechanism of all answers.
        sensitivity: of the scores of every answer.
        answers: how many there are.
        together: the guarantee of all together, with a delta above zero and below 1.
        adaptive: whether the scores of an answer may depend on the answers before.
    """
    public: Any = (mechanism, sensitivity, answers, together, adaptive)
    try:
        hash(public)
    except TypeError:  # of a mechanism of a user's own
        return _share(*public)
    return _cached_share(*public)


def _share(
    mechanism: Mechanism,
    sensitivity: Sensitivity,
    answers: int,
    together: ApproxDP,
    adaptive: bool,
) -> Fraction:
    def guarantee(share: Fraction) -> Guarantee:
        parameter = PrivacyParameter("epsilon", share)
        single = calibrate(mechanism, sensitivity, parameter).guarantee
        return mix_range(single) if adaptive and answers > 1 else single

    epsilon, delta = together.epsilon, together.delta
    return largest_share(guarantee, answers, epsilon, delta, adaptive=adaptive)


_cached_share: Callable[..., Fraction] = lru_cache(maxsize=256)(_share)
