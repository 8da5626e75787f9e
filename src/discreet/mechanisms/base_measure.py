"""A base measure: public weights of the candidates that multiply those of the exponential mechanism."""

import math
from collections.abc import Iterable, Iterator, Mapping, Set
from fractions import Fraction

import numpy as np
from flint import arb

from ..arguments import listed
from ..errors import InvalidArgument, shown
from ..numbers import not_negative
from ..sampling.categorical import Sums, Table, cumulate, error_of_sums
from ..sampling.enclosures import (
    CUT,
    WEIGHT_ERROR,
    Rate,
    ball,
    cut_exponential,
    has_fast_pass,
    overflowing,
)
from ..sampling.vectors import Vector
from .among import Among
from .contract import Law

_WIDEST = 2**20
"""Weights whose ratio has more bits than this go to balls at once."""

BaseMeasure = tuple[Fraction, ...]
"""One weight for each candidate, in their order; one of them at least is above zero."""


def read_base_measure(weights: object) -> BaseMeasure:
    """Return the weights as exact fractions; a float means the decimal that it prints as.

    Raises:
        InvalidArgument: if there are none, or one is no finite number of at least zero, or all are zero.
    """
    unordered = isinstance(weights, str | bytes | Mapping | Set)
    if unordered or not isinstance(weights, Iterable):
        raise InvalidArgument(
            "base_measure must be a list of weights, one for each candidate in their order, "
            f"got {shown(weights)}"
        )
    measure = tuple(
        not_negative(weight, "each weight of base_measure")
        for weight in listed(weights, "base_measure")
    )
    if not any(measure):
        raise InvalidArgument("base_measure must have a weight above zero: there must be an answer")
    return measure


def measured(scores: Vector, rate: Rate, measure: BaseMeasure) -> Law:
    """Return the distribution P(i) = measure[i] * exp(-rate * gap[i]) / (sum over all j).

    Raises:
        InvalidArgument: if there are not as many weights as scores.
        InvalidScores: if a score is not finite.
    """
    if len(measure) != len(scores):
        raise InvalidArgument(
            f"base_measure has {len(measure)} weights, but there are {len(scores)} candidates; "
            "give one for each"
        )
    if all(measure):
        return Table(MeasuredWeights(scores, rate, measure))
    places = np.flatnonzero([weight > 0 for weight in measure])
    weights = MeasuredWeights(scores.kept(places), rate, tuple(filter(None, measure)))
    return Among(Table(weights), places, len(scores))


class MeasuredWeights:
    """The weights measure[i] * exp(-rate * gap[i]) of the numbers of a vector, all above zero."""

    __slots__ = ("_best", "_measure", "_rate", "_vector")

    def __init__(self, vector: Vector, rate: Rate, measure: BaseMeasure) -> None:
        self._vector, self._rate, self._measure = vector, rate, measure
        self._best = vector.best()

    def sums(self) -> Sums | None:
        """Return their cumulated sums in doubles, scaled so that the heaviest is near 1.

        The error is derived in docs/reference/mechanisms/base_measure.md.
        """
        mantissas, lengths = zip(*map(_halved, self._measure), strict=True)
        width = max(lengths) - min(lengths)
        if not has_fast_pass(self._rate) or width > _WIDEST:
            return None
        with overflowing():
            decays = self._vector.gaps(self._best) * self._rate.double
        exponents = (np.array(lengths) - max(lengths)) * math.log(2) - decays
        exponents -= exponents.max()
        np.maximum(exponents, -CUT, out=exponents)
        ends, chain = cumulate(cut_exponential(exponents) * np.array(mantissas))
        error = WEIGHT_ERROR + width * 2.0**-50
        return Sums(ends, error_of_sums(error, chain, len(ends)))

    def balls(self) -> Iterator[arb]:
        """Yield balls around the weights."""
        for i, weight in enumerate(self._measure):
            yield ball(weight) * self._rate.decay(self._vector.exact_gap(i, self._best))


def _halved(weight: Fraction) -> tuple[float, int]:
    """Return m and k with weight = m * 2**k, m a double from 1/4 to 1 of relative error 2**-53."""
    length = weight.numerator.bit_length() - weight.denominator.bit_length() + 1
    return float(weight / Fraction(2) ** length), length
