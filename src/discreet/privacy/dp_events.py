"""Compositions for Google's dp-accounting: as privacy losses, and as events. Proofs: docs/explanation/losses.md."""

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

from ..base.numbers import float_up
from ..errors import InvalidArgument
from ..sampling.enclosures import ball, precision, upper
from .coarsening import coarsen
from .contract import Guarantee, Parts
from .convolution import convolve, fits_grid
from .parts import in_chain
from .pld import UNIT, LossDistribution, missing_accounting

_MOST_KINDS = 100


def losses_of(core: Parts, slack: Fraction) -> LossDistribution | None:
    """Return a bound on the losses of all answers together, slack as infinite losses, or None if there is none."""
    infinite, few = math.ceil(slack * UNIT), coarsen(core, _MOST_KINDS)
    if slack == 1 or (few and not fits_grid(few)):
        return None
    if not few:
        return LossDistribution(Fraction(1), 0, (UNIT,), infinite)
    losses = convolve(few)
    return replace(losses, infinite=losses.infinite + infinite)


def event(parts: Parts) -> Any:
    """Return a composition as dp-accounting's events.

    Raises:
        InvalidArgument: if a part has no event.
        MissingPackage: if dp-accounting is not installed.
    """
    try:
        from dp_accounting import dp_event
    except ImportError:
        raise missing_accounting() from None
    events = [(_event(part, dp_event), n) for part, n in parts]
    dp_events = [one if n == 1 else dp_event.SelfComposedDpEvent(one, n) for one, n in events]
    return dp_events[0] if len(dp_events) == 1 else dp_event.ComposedDpEvent(dp_events)


def _event(part: Guarantee, dp_event: Any) -> Any:
    """Return the event of one answer. Its noise is rounded down."""
    if part.kind == "none":
        return dp_event.NonPrivateDpEvent()
    if part.kind == "gaussian_dp" and part.rho is not None:
        return dp_event.GaussianDpEvent(_float_down(1 / part.mu))  # type: ignore[attr-defined]
    if part.kind in ("zcdp", "discrete_gaussian_dp", "replaced_sums_dp") and part.rho is not None:
        return dp_event.ZCDpEvent(float_up(part.rho))
    if part.pure:
        laplace = part.pure if in_chain(part) and part.kind != "pure_dp" else _as_laplace(part.pure)
        return dp_event.LaplaceDpEvent(_float_down(1 / laplace))
    raise InvalidArgument(
        f"dp-accounting has no event for {part}. to_dp_accounting() hands over its privacy losses"
    )


def _as_laplace(epsilon: Fraction) -> Fraction:
    """Return the epsilon of Laplace noise that is as weak as randomised response: 2 ln((1 + e**epsilon) / 2)."""
    with precision(256):
        return upper(2 * ((1 + ball(epsilon).exp()) / 2).log())


def _float_down(value: Fraction) -> float:
    return -float_up(-value)
