"""The contract of a mechanism: public numbers first, then private scores, then bits.

A mechanism is calibrated from public numbers, the sensitivity of the score and a privacy parameter: the result
is a `Calibrated` with its guarantee. That turns private scores, once checked, into a `Law`: the distribution of
the answer, which alone reads bits. A new mechanism is one file with one class of this shape, and one line in
the registry.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

import numpy as np

from ..base.float_environment import in_default_environment
from ..base.numbers import positive
from ..errors import InvalidArgument, InvalidNumber, preview
from ..privacy.contract import Guarantee, check_guarantee, equals
from ..privacy.rho import RhoOf, largest_epsilon
from ..privacy.sensitivity import Sensitivity
from ..sampling.bits import Bits
from ..sampling.enclosures import Rate

if TYPE_CHECKING:
    from flint import arb
    from numpy.typing import NDArray

    from .gap_grid import GapGrid
    from .worst_case import WorstCase

NEGLIGIBLE_EXPONENT = 160
"""A weight of exp(-160) is nothing even when 2**150 candidates have it."""

_LEAST = Fraction(1, 10**300)


class Law(Protocol):
    """A distribution over the indices of a vector, ready to sample from."""

    def draw(self, bits: Bits) -> int:
        """Return one index, an exact sample of this distribution."""

    def draws(self, size: int, bits: Bits) -> NDArray[np.int64] | list[int]:
        """Return `size` independent indices."""

    def probabilities(self) -> list[arb]:
        """Return balls around the probabilities of all candidates or runs. Private."""


class PrivacyParameter(NamedTuple):
    """The privacy parameter: one positive number, as epsilon, as rho, or as the scale 1/eta of the noise."""

    kind: Literal["epsilon", "rho", "scale"]
    value: Fraction


class Calibrated(NamedTuple):
    """A calibrated mechanism: its guarantee, and the distribution of the answer for given scores."""

    guarantee: Guarantee
    law: Callable[[Any], Law]
    """From a `Vector` of scores, or from `Runs` if the mechanism takes them."""
    cutoff_gap: Fraction = Fraction(0)
    """A gap beyond which candidates hardly matter, for mechanisms that take runs."""
    rate: Rate | None = None
    """Where the distribution is P(i) proportional to exp(-rate * gap[i]), that rate: there are faster ways then."""
    flip_rate: Rate | None = None
    """Where it is that of permute-and-flip, with heads of probability exp(-rate * gap[i]), that rate."""
    list_length: int | None = None
    """The length of an answer that is an ordered list of candidates, whose distribution is one of `Lists`."""
    gap_grid: GapGrid | None = None
    """The grid of the gap, where an answer is [index, steps] in place of an index."""

    @property
    def is_several(self) -> bool:
        """Whether an answer is more than one index."""
        return self.list_length is not None or self.gap_grid is not None


class Mechanism(Protocol):
    """A family of distributions, with a proof of the guarantee of every one."""

    @property
    def name(self) -> str:
        """The name in the registry, on the command line and in the docs."""

    @property
    def parameters(self) -> Mapping[str, object]:
        """Its public parameters in plain values, which enter the digest of a request."""

    @property
    def takes_runs(self) -> bool | Literal["flat"]:
        """Whether it serves scores in runs, that is grids too long to list, or only flat ones."""

    def calibrate(self, sensitivity: Sensitivity, parameter: PrivacyParameter | None) -> Calibrated:
        """Return the mechanism for scores of that sensitivity at that much privacy.

        Call it through `calibrate` of this module, which rejects a guarantee weaker than the parameter.
        """


class RegisteredMechanism(Mechanism, Protocol):
    """A mechanism in the registry: it also states its worst case, and its options on a command line."""

    @property
    def options(self) -> Mapping[str, Callable[[str], object]]:
        """The arguments that a command line can give, with the functions that read them from text."""

    @property
    def worst_case(self) -> WorstCase | None:
        """The bounds on its error that hold for all scores, or None if none is known."""


def calibrate(
    mechanism: Mechanism, sensitivity: Sensitivity, parameter: PrivacyParameter | None
) -> Calibrated:
    """Return the calibrated mechanism, with a guarantee of at most the privacy parameter.

    The only way from a mechanism to a `Calibrated`: no mechanism is trusted to calibrate itself rightly. One that
    promises nothing (`NoGuarantee`), or brings its own privacy parameter, exceeds nothing.

    Raises:
        InvalidArgument: if the mechanism promises less privacy than the parameter says, or under another
            neighbouring relation, or nothing that can be compared with the parameter.
    """
    calibrated = mechanism.calibrate(sensitivity, parameter)
    problem = excess(mechanism, check_guarantee(calibrated.guarantee), sensitivity, parameter)
    if problem is not None:
        raise InvalidArgument(problem)
    # Between the verb and its distribution the data are read, by libraries that may have changed the environment.
    return calibrated._replace(law=in_default_environment(calibrated.law))


def excess(
    mechanism: Mechanism,
    guarantee: Guarantee,
    sensitivity: Sensitivity,
    parameter: PrivacyParameter | None,
) -> str | None:
    """Return in words how a guarantee exceeds the privacy parameter, or None if it does not."""
    if _is_kept(mechanism, guarantee, sensitivity, parameter):
        return None
    from ..privacy.approx_dp import NoGuarantee  # which a first answer does without

    if isinstance(guarantee, NoGuarantee):
        return None
    who = f"the mechanism {mechanism.name} is calibrated wrongly:"
    if parameter is None or guarantee.neighbors != sensitivity.neighbors:
        return f"{who} it promises {guarantee} for scores under {sensitivity.neighbors}"
    core = _core(guarantee)
    follows = core.rho if core is not None and parameter.kind == "rho" else None
    rho = f", of which {equals('ρ', follows)} follows" if isinstance(follows, Fraction) else ""
    return (
        f"{who} for {equals(parameter.kind, parameter.value)} it promises {guarantee}{rho}. Its `calibrate` must "
        "take the epsilon by `epsilon_of`, with `pure_rho` unless its guarantee is a bounded range (`range_rho`)"
    )


def _is_kept(
    mechanism: Mechanism,
    guarantee: Guarantee,
    sensitivity: Sensitivity,
    parameter: PrivacyParameter | None,
) -> bool:
    """Return whether a guarantee is of the neighbouring relation, and certainly at most the parameter, if any."""
    if guarantee.neighbors != sensitivity.neighbors:
        return False
    core = _core(guarantee)
    if parameter is None or core is None:
        return True
    delta = getattr(mechanism, "delta", None)
    if core.pure is None and parameter.kind == "epsilon" and delta is not None:
        return core.delta_at(parameter.value) <= Fraction(delta)
    return _is_within(core, parameter, spread_of(mechanism, sensitivity))


def _core(guarantee: Guarantee) -> Guarantee | None:
    """Return the guarantee, and where there is a delta, the rest that holds but with that probability."""
    return guarantee.core if guarantee.slack else guarantee


def _is_within(core: Guarantee, parameter: PrivacyParameter, spread: Fraction) -> bool:
    """Return whether a guarantee without a delta is certainly at most the parameter."""
    if parameter.kind == "rho":
        return core.rho is not None and core.rho <= parameter.value
    epsilon = parameter.value if parameter.kind == "epsilon" else spread / parameter.value
    if core.pure is None and parameter.kind == "scale":  # epsilon-DP would be epsilon**2 / 2-zCDP
        return core.rho is not None and core.rho <= epsilon**2 / 2
    return core.pure is not None and core.pure <= epsilon


def spread_of(mechanism: Mechanism, sensitivity: Sensitivity) -> Fraction:
    """Return the spread that a scale divides, to give the epsilon of the mechanism.

    A mechanism of several answers, or of other scores than it is given, states it by a method `spread`; that of
    all others is the spread of the scores.
    """
    own = getattr(mechanism, "spread", None)
    return own(sensitivity) if callable(own) else sensitivity.spread


def identity_of(mechanism: Mechanism) -> dict[str, object]:
    """Return the name and the parameters of a mechanism, which identify it.

    Raises:
        InvalidArgument: if it does not state them.
    """
    parameters = getattr(mechanism, "parameters", None)
    if not isinstance(parameters, Mapping):
        raise InvalidArgument(
            f"the mechanism {mechanism.name} does not state its parameters, so a ledger could not "
            "distinguish requests. Give it a property `parameters` that returns them in a dict"
        )
    return {"name": mechanism.name, "parameters": dict(parameters)}


def read_parameter(epsilon: object, rho: object, scale: object) -> PrivacyParameter | None:
    """Return the privacy parameter that is given, or None if none of the three is.

    Raises:
        InvalidArgument: if more than one is given, or it is not a finite number above zero.
    """
    parameters = {"epsilon": epsilon, "rho": rho, "scale": scale}
    kinds = [kind for kind, value in parameters.items() if value is not None]
    if not kinds:
        return None
    if len(kinds) > 1:
        raise InvalidArgument(f"give one of epsilon, rho and scale, got {' and '.join(kinds)}")
    value = positive(parameters[kinds[0]], kinds[0])
    if not _LEAST <= value <= 1 / _LEAST:
        raise InvalidNumber(
            f"{kinds[0]} must be between 1e-300 and 1e300, got {preview(parameters[kinds[0]])}"
        )
    return PrivacyParameter(kinds[0], value)  # type: ignore[arg-type]


def need_parameter(parameter: PrivacyParameter | None) -> PrivacyParameter:
    """Return the privacy parameter, for mechanisms that cannot do without one."""
    if parameter is None:
        raise InvalidArgument("how much privacy? give epsilon (or rho, or scale), for example 1")
    return parameter


def epsilon_of(parameter: PrivacyParameter, spread: Fraction, rho_of: RhoOf) -> Fraction:
    """Return the epsilon of a privacy parameter, given the spread and the rho that follows from an epsilon."""
    if parameter.kind == "rho":
        return largest_epsilon(rho_of, parameter.value)
    return spread / parameter.value if parameter.kind == "scale" else parameter.value


def split_text(text: str) -> list[str]:
    """Return the parts of a text between its commas."""
    return [part.strip() for part in text.split(",")]


def one_by_one(draw: Callable[[Bits], int], size: int, bits: Bits) -> NDArray[np.int64]:
    """Return `size` independent draws, for distributions that have no faster way."""
    return np.array([draw(bits) for _ in range(size)], dtype=np.int64)
