"""The epsilon of one of several answers of a mechanism that together are (epsilon, delta)-DP."""

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any

from ..privacy.calibration import largest_share
from ..privacy.guarantees import ApproxDP, BoundedRange, Guarantee, MixedRange
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
    return _cached_share(*public) if _is_hashable(public) else _share(*public)


def in_rounds(guarantee: Guarantee, answers: int) -> Guarantee:
    """Return the guarantee of one of several rounds: a bounded range is a mixed one where rounds are adaptive."""
    if answers > 1 and isinstance(guarantee, BoundedRange):
        return MixedRange(guarantee.epsilon, guarantee.neighbors)
    return guarantee


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
        return in_rounds(single, answers) if adaptive else single

    epsilon, delta = together.epsilon, together.delta
    return largest_share(guarantee, answers, epsilon, delta, adaptive=adaptive)


_cached_share: Callable[..., Fraction] = lru_cache(maxsize=256)(_share)


def _is_hashable(value: object) -> bool:
    """Return whether the arguments can be kept; a mechanism of a user's own may not."""
    try:
        hash(value)
    except TypeError:
        return False
    return True
