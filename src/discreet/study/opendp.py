"""Mechanisms of this library as measurements of OpenDP (https://docs.opendp.org)."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from operator import attrgetter
from typing import Any

from ..base.error_boundary import error_boundary
from ..base.float_environment import in_default_environment
from ..base.numbers import Number, flag, float_up
from ..errors import InvalidArgument, preview
from ..mechanisms import Mechanism, read_mechanism
from ..mechanisms.contract import Calibrated, PrivacyParameter, calibrate, read_parameter
from ..privacy.sensitivity import sensitivity_of
from ..sampling.bits import SystemBits
from ..sampling.vectors import read_vector


def to_opendp(
    space: tuple[Any, Any],
    measure: Any,
    *,
    scale: Number,
    mechanism: str | Mechanism = "exponential",
    negate: bool = False,
) -> Any:
    """Return an OpenDP measurement from a vector of scores to the index of one of them.

    Its privacy map is that of the mechanism at eta = 1 / scale: for scores that move by at most d_in,
    2 * d_in / scale under `max_divergence`, or half of it if the metric is monotonic; under
    `zero_concentrated_divergence` the corresponding rho. It is rounded up to a float. Draws are exact.

    Args:
        space: the domain and the metric of the scores: a vector domain of numbers without NaN, and
            `linf_distance` of the same type. A transformation has it as its `output_space`.
        measure: `max_divergence()` or `zero_concentrated_divergence()` of OpenDP.
        scale: the scale of the noise in units of the score, 1 / eta.
        mechanism: a name, or a mechanism with a distribution that the scale determines, like all of this library.
        negate: whether lower scores are better.

    Raises:
        InvalidArgument: if scale, mechanism, measure or negate is invalid.
        OpenDPException: if OpenDP rejects the space, or its features "contrib" and "honest-but-curious" are not
            enabled.

    Side channels: those of the mechanism and of OpenDP. Vectors with an infinite score are rejected, and so are all
    vectors at a finite distance from them.
    """
    import opendp.prelude as dp

    if not issubclass(type(space), tuple) or len(space) != 2:
        raise InvalidArgument(f"space must be a domain and its metric, got {preview(space)}")
    number_of, sign = _reader(measure), -1 if flag(negate, "negate") else 1
    mechanism, parameter = _read_mechanism(mechanism, scale)
    dp.m.make_noisy_max(*space, dp.max_divergence(), scale=1.0)  # OpenDP checks the space
    metric = space[1]
    monotonic = metric == dp.linf_distance(T=metric.distance_type, monotonic=True)

    def calibrated(d_in: object) -> Calibrated:
        sensitivity = sensitivity_of(d_in, "add_remove", monotonic=monotonic)
        return calibrate(mechanism, sensitivity, parameter)

    law = calibrated(1).law  # the same for every d_in: it is the scale that is given

    @in_default_environment  # OpenDP calls both
    def select(scores: Sequence[Any]) -> int:
        return int(law(read_vector([sign * score for score in scores])).draw(SystemBits()))

    @in_default_environment
    def privacy_map(d_in: object) -> float:
        return 0.0 if d_in == 0 else float_up(number_of(calibrated(d_in).guarantee))

    return dp.m.make_user_measurement(*space, measure, select, privacy_map, TO="usize")


@error_boundary
def _read_mechanism(
    mechanism: str | Mechanism, scale: Number
) -> tuple[Mechanism, PrivacyParameter | None]:
    """Return the mechanism and its privacy parameter."""
    return read_mechanism(mechanism), read_parameter(None, None, scale)


def _reader(measure: object) -> Callable[[object], Fraction]:
    """Return a function that reads the number of this measure from a guarantee."""
    import opendp.prelude as dp

    for own_measure, number in (
        (dp.max_divergence(), "pure"),
        (dp.zero_concentrated_divergence(), "rho"),
    ):
        if type(measure) is type(own_measure) and measure == own_measure:
            return attrgetter(number)
    raise InvalidArgument(
        "measure must be max_divergence() or zero_concentrated_divergence(), got "
        f"{preview(measure)}"
    )
