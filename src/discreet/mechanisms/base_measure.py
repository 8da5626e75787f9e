"""A base measure: public weights of the candidates that multiply those of the exponential mechanism.

They are given as weights, or as their logarithms, such as the log-probabilities of a public language model.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Set
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from flint import arb
from numpy.typing import NDArray

from ..base.arguments import read_sequence
from ..base.numbers import not_negative
from ..errors import InvalidArgument, InvalidScores, preview
from ..privacy.sensitivity import Sensitivity
from ..sampling.bits import Bits
from ..sampling.categorical import PreparedWeights, Sums, cumulate
from ..sampling.enclosures import (
    CUT,
    WEIGHT_ERROR,
    Rate,
    ball,
    cut_exponential,
    error_of_sums,
    has_fast_pass,
    overflowing,
)
from ..sampling.vectors import Vector, as_array, read_vector
from .contract import (
    Calibrated,
    Law,
    Mechanism,
    PrivacyParameter,
    calibrate,
    identity_of,
    spread_of,
)

_WIDEST = 2**20
"""Weights that are more bits apart than this, or logarithms more nats, go to balls at once."""

_EXPECTED = (
    "log_base_measure must be a list or an array of finite numbers, one for each candidate in "
    "their order, or -inf if its weight is zero"
)

CandidatePlaces = NDArray[np.int64]
"""The indices of the candidates that may be answered, in order."""

WeightTuple = tuple[Fraction, ...]
"""One weight for each candidate, in their order; one of them at least is above zero."""


class _Doubles(NamedTuple):
    """The weights above zero in doubles: factor * exp(-behind) times a number that is the same for all.

    Attributes:
        behind: the logarithms below the largest.
        factors: doubles from 1/4 to 1, or None if all are 1.
        width: how far apart they are, of which the error of a weight is 2**-50 times so much.
    """

    behind: NDArray[np.float64]
    factors: NDArray[np.float64] | None
    width: float


class WeightMeasure:
    """A base measure by its weights.

    Attributes:
        size: the number of candidates.
        places: the indices of those with a weight above zero.
    """

    argument: ClassVar[str] = "base_measure"
    numbers: ClassVar[str] = "weights"

    def __init__(self, weights: WeightTuple) -> None:
        self.size, self._all = len(weights), weights
        self.places: CandidatePlaces = np.flatnonzero([weight > 0 for weight in weights])
        self._weights = tuple(filter(None, weights))

    def restrict(self, mask: NDArray[np.bool_]) -> list[Fraction | int]:
        """Return the weights, zero where the mask is False."""
        pairs = zip(self._all, mask.tolist(), strict=True)
        return [weight if may else 0 for weight, may in pairs]

    def doubles(self) -> _Doubles:
        """Return the weights above zero in doubles."""
        mantissas, lengths = zip(*map(_split_weight, self._weights), strict=True)
        longest = max(lengths)
        behind = (longest - np.array(lengths)) * math.log(2)
        return _Doubles(behind, np.array(mantissas), longest - min(lengths))

    def ball(self, i: int) -> arb:
        """Return a ball around the i-th weight above zero."""
        return ball(self._weights[i])


class LogMeasure:
    """A base measure by the logarithms of its weights: exact numbers, or -inf for a weight of zero.

    Attributes:
        size: the number of candidates.
        places: the indices of those with a weight above zero.
        logs: the logarithms of these weights, in order.
    """

    argument: ClassVar[str] = "log_base_measure"
    numbers: ClassVar[str] = "numbers"

    def __init__(self, size: int, places: CandidatePlaces, logs: Vector) -> None:
        self.size, self.places, self.logs = size, places, logs
        self._top = logs.best()

    @cached_property
    def values(self) -> tuple[Fraction | None, ...]:
        """All logarithms, exactly. None for -inf."""
        values: list[Fraction | None] = [None] * self.size
        for i, place in enumerate(self.places.tolist()):
            values[place] = self.logs.exact(i)
        return tuple(values)

    @cached_property
    def _behind(self) -> NDArray[np.float64]:
        """The distances of the logarithms below the largest, relative error at most 2**-53."""
        with overflowing():
            return self.logs.gaps(self._top)

    def restrict(self, mask: NDArray[np.bool_]) -> "LogMeasure":
        """Return the measure with weights of zero where the mask is False."""
        among = np.flatnonzero(mask[self.places])
        return LogMeasure(self.size, self.places[among], self.logs.take(among))

    def doubles(self) -> _Doubles:
        """Return the weights above zero in doubles."""
        return _Doubles(self._behind, None, float(np.maximum.reduce(self._behind)))

    def ball(self, i: int) -> arb:
        """Return a ball around the i-th weight above zero, relative to the largest."""
        return (-ball(self.logs.exact_gap(i, self._top))).exp()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LogMeasure) and self.values == other.values

    def __hash__(self) -> int:
        return hash(self.values)

    def __repr__(self) -> str:
        return f"LogMeasure({self.size} candidates, {len(self.places)} of them possible)"


BaseMeasure = WeightMeasure | LogMeasure


def read_base_measure(weights: object) -> WeightTuple:
    """Return the weights as exact fractions; a float means the decimal that it prints as.

    Raises:
        InvalidArgument: if there are none, or one is no finite number of at least zero, or all are zero.
    """
    if _has_no_order(weights) or not isinstance(weights, Iterable):
        raise InvalidArgument(
            "base_measure must be a list of weights, one for each candidate in their order, got "
            f"{preview(weights)}"
        )
    measure = tuple(
        not_negative(weight, "each weight of base_measure")
        for weight in read_sequence(weights, "base_measure")
    )
    if not any(measure):
        raise InvalidArgument("base_measure must have a weight above zero: there must be an answer")
    return measure


def read_log_base_measure(logs: object) -> LogMeasure:
    """Return the logarithms, exactly; a float means its binary value, as among scores.

    Raises:
        InvalidArgument: if there are none, or one is no number, NaN or +inf, or all are -inf.
    """
    if isinstance(logs, LogMeasure):
        return logs
    measure = None
    if not _has_no_order(logs) and (isinstance(logs, Iterable) or hasattr(logs, "__dlpack__")):
        with suppress(InvalidScores):  # its message speaks of scores
            measure = _read_logs(logs)
    if measure is None:
        raise InvalidArgument(f"{_EXPECTED}, got {preview(logs)}")
    return measure


def _has_no_order(values: object) -> bool:
    return isinstance(values, str | bytes | Mapping | Set)


def _read_logs(logs: Any) -> LogMeasure | None:
    """Return the logarithms, or None if all are -inf."""
    values = logs if isinstance(logs, list | tuple) else as_array(logs)
    finite: Any
    if isinstance(values, np.ndarray) and values.dtype.kind == "f" and values.ndim == 1:
        places = np.flatnonzero(values != -np.inf)
        finite = values[places]
    else:
        indices = [i for i, value in enumerate(values) if not _is_zero(value)]
        places = np.array(indices, dtype=np.int64)
        finite = [values[i] for i in indices]
    return LogMeasure(len(values), places, read_vector(finite)) if len(finite) else None


def _is_zero(log: object) -> bool:
    """Return whether this is the logarithm of zero."""
    return isinstance(log, float | np.floating) and bool(log == -np.inf)


def weigh(scores: Vector, rate: Rate, measure: BaseMeasure) -> Law:
    """Return the distribution P(i) = measure[i] * exp(-rate * gap[i]) / (sum over all j).

    Raises:
        InvalidArgument: if the measure is of another length than the scores.
        InvalidScores: if a score is not finite.
    """
    if measure.size != len(scores):
        raise InvalidArgument(
            f"{measure.argument} has {measure.size} {measure.numbers}, but there are {len(scores)} "
            "candidates. Give one for each"
        )
    if len(measure.places) == len(scores):
        return PreparedWeights(MeasuredWeights(scores, rate, measure))
    weights = MeasuredWeights(scores.take(measure.places), rate, measure)
    return MaskedLaw(PreparedWeights(weights), measure.places, len(scores))


class MeasuredWeights:
    """The weights measure[i] * exp(-rate * gap[i]) of the numbers of a vector, all above zero."""

    __slots__ = ("_best", "_measure", "_rate", "_vector")

    def __init__(self, vector: Vector, rate: Rate, measure: BaseMeasure) -> None:
        self._vector, self._rate, self._measure = vector, rate, measure
        self._best = vector.best()

    def sums(self) -> Sums | None:
        """Return their cumulated sums in doubles, scaled so that the heaviest is near 1.

        The error is derived in docs/reference/mechanisms/exponential.md#base_measure.
        """
        behind, factors, width = self._measure.doubles()
        if not has_fast_pass(self._rate) or width > _WIDEST:
            return None
        with overflowing():
            decays = self._vector.gaps(self._best)
            decays *= self._rate.double
            decays += behind
            # The best score has no gap, so the least decay is finite: at most the width.
            exponents = np.subtract(np.minimum.reduce(decays), decays, out=decays)
        np.maximum(exponents, -CUT, out=exponents)
        weights = cut_exponential(exponents)
        if factors is not None:
            weights *= factors
        ends, chain = cumulate(weights)
        error = WEIGHT_ERROR + width * 2.0**-50
        return Sums(ends, error_of_sums(error, chain, len(ends)))

    def balls(self) -> Iterator[arb]:
        """Yield balls around the weights."""
        for i in range(len(self._vector)):
            yield self._measure.ball(i) * self._rate.decay(self._vector.exact_gap(i, self._best))


def _split_weight(weight: Fraction) -> tuple[float, int]:
    """Return m and k with weight = m * 2**k, m a double from 1/4 to 1 of relative error 2**-53."""
    length = weight.numerator.bit_length() - weight.denominator.bit_length() + 1
    return float(weight / Fraction(2) ** length), length


class MaskedLaw:
    """A distribution over some of the candidates, as one over all of them."""

    __slots__ = ("_law", "_places", "_size")

    def __init__(self, law: Law, places: CandidatePlaces, size: int) -> None:
        self._law, self._places, self._size = law, places, size

    def draw(self, bits: Bits) -> int:
        """Return one index, an exact sample."""
        return int(self._places[self._law.draw(bits)])

    def draws(self, size: int, bits: Bits) -> NDArray[np.int64]:
        """Return `size` independent indices."""
        indices: CandidatePlaces = self._places[np.asarray(self._law.draws(size, bits))]
        return indices

    def probabilities(self) -> list[arb]:
        """Return balls around the probabilities of all candidates. Those of the others are zero."""
        balls = [arb(0)] * self._size
        for place, probability in zip(
            self._places.tolist(), self._law.probabilities(), strict=True
        ):
            balls[place] = probability
        return balls


@dataclass(frozen=True, slots=True)
class MaskedMechanism:
    """The mechanism among the candidates that a mask leaves.

    The mask is public and the same for neighbours, so scores of the others are never looked at, and the
    guarantee is that of the mechanism for fewer candidates.

    Args:
        mechanism: the mechanism.
        mask: True for every candidate that may be answered, in their order; one of them at least.
    """

    mechanism: Mechanism
    mask: tuple[bool, ...]
    takes_runs: ClassVar[bool] = False

    @property
    def possible(self) -> tuple[bool, ...]:
        """The mask."""
        return self.mask

    @property
    def name(self) -> str:
        """That of the mechanism."""
        return self.mechanism.name

    @property
    def parameters(self) -> Mapping[str, object]:
        """The mechanism and the mask."""
        return {"mechanism": identity_of(self.mechanism), "mask": self.mask}

    def spread(self, sensitivity: Sensitivity) -> Fraction:
        """Return the spread that a scale divides: that of the mechanism."""
        return spread_of(self.mechanism, sensitivity)

    def calibrate(self, sensitivity: Sensitivity, parameter: PrivacyParameter | None) -> Calibrated:
        """Return the calibrated mechanism among fewer candidates."""
        calibrated = calibrate(self.mechanism, sensitivity, parameter)
        places, size = np.flatnonzero(self.mask), len(self.mask)

        def law(scores: Vector) -> Law:
            return MaskedLaw(calibrated.law(scores.take(places)), places, size)

        return Calibrated(calibrated.guarantee, law)
