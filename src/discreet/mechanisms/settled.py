"""Public arguments that were settled before: a question that is asked again is not read and calibrated again."""

from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

from ..privacy.sensitivity import Sensitivity, read_neighbors, read_sensitivity
from . import MECHANISMS, read_mechanism
from .contract import Calibrated, Mechanism, PrivacyParameter, calibrate, read_parameter
from .joint_top_k import JointTopK
from .peeling import Peeling

PLAIN_TYPES = {type(None), bool, int, float, str, Fraction, Decimal}
"""Types whose values cannot change, and whose equality is Python's own."""

_LISTING, _OURS = {Peeling, JointTopK}, set(MECHANISMS.values())
"""Types that are compared by values of plain types."""

KEPT = 512
"""How many combinations of public arguments are kept."""


class Settled(NamedTuple):
    """What follows from public arguments alone.

    Attributes:
        mechanism: the mechanism.
        sensitivity: as it was declared.
        parameter: the privacy parameter, or None where the mechanism states it.
        calibrated: the mechanism, calibrated.
    """

    mechanism: Mechanism
    sensitivity: Sensitivity
    parameter: PrivacyParameter | None
    calibrated: Calibrated


def settled_mechanism(*public: Any) -> Settled | None:
    """Return what follows from these arguments, kept for the next call; None if one is of another type.

    True, 1 and 1.0 are three arguments. What is refused is not kept.

    Args:
        *public: as for `_settle`.
    """
    mechanism, *numbers = public
    if not (_is_kept(mechanism) and PLAIN_TYPES.issuperset(map(type, numbers))):
        return None
    try:
        return _settle(*public)
    except TypeError:  # a signaling NaN has no hash; it is refused in words where it is read
        return None


def _is_kept(mechanism: Any) -> bool:
    """Return whether a mechanism can be looked up: a name, or several answers of one of ours."""
    if type(mechanism) in _LISTING:
        return type(mechanism.k) is int and type(mechanism.mechanism) in _OURS
    return type(mechanism) is str


@lru_cache(maxsize=KEPT, typed=True)
def _settle(  # noqa: PLR0913  # all of them, so that each is looked up by its own type
    mechanism: Any,
    neighbors: str,
    epsilon: Any,
    rho: Any,
    scale: Any,
    change: Any,
    spread: Any,
    monotonic: Any,
) -> Settled:
    """Read the arguments and calibrate the mechanism, in the order of `selection.ask`."""
    read = read_mechanism(mechanism)
    relation = read_neighbors(neighbors)
    parameter = read_parameter(epsilon, rho, scale)
    sensitivity = read_sensitivity(change, spread, monotonic, relation)
    return Settled(read, sensitivity, parameter, calibrate(read, sensitivity, parameter))
