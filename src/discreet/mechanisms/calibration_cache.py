"""Calibrations that were asked for before: public arguments of plain types are read, and calibrated for, once."""

from collections.abc import Callable, Mapping, Sized
from dataclasses import fields, is_dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any

from ..errors import InvalidScores
from ..privacy.contract import Guarantee
from ..privacy.sensitivity import Sensitivity, read_neighbors, read_sensitivity
from ..sampling.bits import SystemBits
from ..sampling.enclosures import has_fast_pass
from ..sampling.short_lists import draw_short, short_list
from . import read_mechanism
from .contract import (
    Calibrated,
    Law,
    Mechanism,
    PrivacyParameter,
    calibrate,
    identity_of,
    read_parameter,
)

_PLAIN_TYPES = {type(None), bool, int, float, str, Fraction, Decimal}
"""Types whose values cannot change, and whose equality is Python's own."""

_MOST_CALIBRATIONS = 512
"""The most combinations of public arguments in the cache."""


class Calibration:
    """The consequences of public arguments alone: no two are equal, so they are keys of other caches.

    Attributes:
        mechanism: the mechanism.
        sensitivity: as it was declared.
        parameter: the privacy parameter, or None if the mechanism states it.
        calibrated: the mechanism, calibrated.
        short_rate: the rate at which a few numbers may be drawn from in plain Python, if they may.
        is_weak: whether its promise is to be warned of.
    """

    __slots__ = (
        "_description", "calibrated", "is_weak", "mechanism", "parameter", "sensitivity", "short_rate"
    )  # fmt: skip

    def __init__(
        self,
        mechanism: Mechanism,
        sensitivity: Sensitivity,
        parameter: PrivacyParameter | None,
        calibrated: Calibrated,
    ) -> None:
        self.mechanism, self.sensitivity, self.parameter = mechanism, sensitivity, parameter
        self.calibrated, rate = calibrated, calibrated.rate
        self.short_rate = rate if rate is not None and has_fast_pass(rate) else None
        self.is_weak = _is_weak(calibrated.guarantee)
        self._description: Mapping[str, object] | None = None

    @property
    def description(self) -> Mapping[str, object]:
        """The mechanism, the sensitivity and the parameter as they enter digests.

        Raises:
            InvalidArgument: if the mechanism does not say its parameters.
        """
        if self._description is None:
            from ..base.digests import described  # a first answer has no digest

            parameter = self.parameter
            self._description = described({
                "mechanism": identity_of(self.mechanism),
                "sensitivity": self.sensitivity.as_dict(),
                "privacy_parameter": None
                if parameter is None
                else {parameter.kind: parameter.value},
            })  # fmt: skip
        return self._description

    def prepare_draw(
        self, scores: Any, size: int | None = None, *, is_paid: bool = False
    ) -> Callable[[], int]:
        """Check the private scores, and return the function that draws an index from them.

        Args:
            scores: one per candidate.
            size: how many there must be, or None.
            is_paid: whether a charge comes before the draw: an array is copied then, as others may change it.

        Raises:
            InvalidScores: if they are no finite numbers, or not as many.
        """
        rate = self.short_rate
        few = None if rate is None else short_list(scores)
        if few is not None and rate is not None:
            check_number(few, size)

            def draw() -> int:  # a partial would show the scores
                return draw_short(few, rate, SystemBits())

            return draw
        from ..sampling.vectors import read_vector

        numbers = read_vector(scores)
        check_number(numbers, size)
        numbers = numbers.copy() if is_paid else numbers
        return partial(_draw_index, self.calibrated.law(numbers))


def _is_weak(guarantee: Guarantee) -> bool:
    """Return whether a promise is to be warned of."""
    if guarantee.pure is not None and guarantee.pure <= 1:
        return False
    from ..privacy.weak_promises import weaknesses  # a first answer does without

    return bool(weaknesses(guarantee))


def check_number(scores: Sized, size: int | None) -> None:
    """Raise unless there is one score for each of so many candidates. None for any number of them.

    Raises:
        InvalidScores: if there are more or fewer.
    """
    if size is not None and len(scores) != size:
        raise InvalidScores(
            f"there are {size} candidates but {len(scores)} scores. Give one for each"
        )


def _draw_index(law: Law) -> int:
    """Return an index, exactly."""
    return int(law.draw(SystemBits()))


def find_calibration(
    terms: Mapping[str, Any], change: object, spread: object, monotonic: object
) -> Calibration | None:
    """Return the mechanism calibrated to a declared sensitivity, from the cache if it is there.

    True, 1 and 1.0 are three arguments. A refusal is not cached.

    Args:
        terms: the arguments of a verb, of which those that calibrate are read.
        change: the declared sensitivity.
        spread: instead of `change`, that of differences.
        monotonic: whether all scores move the same way.

    Returns:
        The calibration, or None if an argument is of a type that cannot be looked up.
    """
    mechanism, relation = (
        terms.get("mechanism", "exponential"),
        terms.get("neighbors", "add_remove"),
    )
    parameters = terms.get("epsilon"), terms.get("rho"), terms.get("scale")
    public = relation, *parameters, change, spread, monotonic
    types = str if type(mechanism) is str else _types(mechanism)
    if types is None or not _PLAIN_TYPES.issuperset(map(type, public)):
        return None
    try:
        return _calibration(types, mechanism, *public)
    except TypeError:  # a signaling NaN has no hash; it is refused in words where it is read
        return None


def _types(value: Any) -> Any:
    """Return the types of a mechanism of this folder and of its fields; None unless all are compared by value."""
    kind = type(value)
    if kind in _PLAIN_TYPES:
        return kind
    if not kind.__module__.startswith(f"{__package__}.") or not is_dataclass(value):
        return None
    types = tuple(_types(getattr(value, field.name)) for field in fields(value))
    return None if None in types else (kind, types)


@lru_cache(maxsize=_MOST_CALIBRATIONS, typed=True)
def _calibration(  # noqa: PLR0913  # all of them, so that each is looked up by its own type
    types: object,
    mechanism: Any,
    neighbors: str,
    epsilon: Any,
    rho: Any,
    scale: Any,
    change: Any,
    spread: Any,
    monotonic: Any,
) -> Calibration:
    """Read the arguments and calibrate the mechanism, in the order of `selection.ask`.

    Args:
        types: the types of the fields of the mechanism, as equal values may be of several.
        mechanism: the mechanism or its name.
        neighbors: the neighbouring relation.
        epsilon: one of the three privacy parameters.
        rho: another.
        scale: another.
        change: the declared sensitivity.
        spread: instead of `change`, that of differences.
        monotonic: whether all scores move the same way.
    """
    family = read_mechanism(mechanism)
    relation = read_neighbors(neighbors)
    parameter = read_parameter(epsilon, rho, scale)
    sensitivity = read_sensitivity(change, spread, monotonic, relation)
    return Calibration(family, sensitivity, parameter, calibrate(family, sensitivity, parameter))
