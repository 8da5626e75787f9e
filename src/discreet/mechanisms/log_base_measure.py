"""A base measure of which the logarithms are given, such as the log-probabilities of a public language model."""

from collections.abc import Iterable, Iterator, Mapping, Set
from contextlib import suppress
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from flint import arb
from numpy.typing import NDArray

from ..errors import InvalidArgument, InvalidScores, shown
from ..sampling.arrays import as_array
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
from ..sampling.vectors import Vector, read_vector
from .among import Among, Places
from .contract import Law

_WIDEST = 2.0**20
"""Logarithms that are farther apart than this go to balls at once."""

_EXPECTED = (
    "log_base_measure must be a list or an array of finite numbers, one for each candidate in their order, "
    "or -inf where the weight is zero"
)


class LogMeasure:
    """Logarithms of public weights, one for each candidate: exact numbers, or -inf for a weight of zero.

    Attributes:
        size: how many candidates there are.
        places: the indices of those with a weight above zero.
        logs: the logarithms of these weights, in order.
    """

    def __init__(self, size: int, places: Places, logs: Vector) -> None:
        self.size, self.places, self.logs = size, places, logs
        self.top = logs.best()

    @cached_property
    def values(self) -> tuple[Fraction | None, ...]:
        """All logarithms, exactly; None for -inf."""
        found: list[Fraction | None] = [None] * self.size
        for i, place in enumerate(self.places.tolist()):
            found[place] = self.logs.exact(i)
        return tuple(found)

    @cached_property
    def gaps(self) -> NDArray[np.float64]:
        """How far each logarithm is below the largest, relative error at most 2**-53."""
        with overflowing():
            return self.logs.gaps(self.top)

    @property
    def possible(self) -> list[bool]:
        """Whether each candidate has a weight above zero."""
        found = np.zeros(self.size, dtype=np.bool_)
        found[self.places] = True
        return found.tolist()

    def masked(self, mask: NDArray[np.bool_]) -> "LogMeasure":
        """Return the measure with weights of zero where the mask is False."""
        among = np.flatnonzero(mask[self.places])
        return LogMeasure(self.size, self.places[among], self.logs.kept(among))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LogMeasure) and self.values == other.values

    def __hash__(self) -> int:
        return hash(self.values)

    def __repr__(self) -> str:
        return f"LogMeasure({self.size} candidates, {len(self.places)} of them possible)"


def read_log_base_measure(logs: object) -> LogMeasure:
    """Return the logarithms, exactly; a float means its binary value, as among scores.

    Raises:
        InvalidArgument: if there are none, or one is no number, NaN or +inf, or all are -inf.
    """
    if isinstance(logs, LogMeasure):
        return logs
    unordered = isinstance(logs, str | bytes | Mapping | Set)
    if unordered or not (isinstance(logs, Iterable) or hasattr(logs, "__dlpack__")):
        raise InvalidArgument(f"{_EXPECTED}, got {shown(logs)}")
    found = None
    with suppress(InvalidScores):  # its message speaks of scores
        found = _read(logs)
    if found is None:
        raise InvalidArgument(f"{_EXPECTED}, got {shown(logs)}")
    return found


def _read(logs: Any) -> LogMeasure | None:
    """Return the logarithms; None if all are -inf."""
    values = logs if isinstance(logs, list | tuple) else as_array(logs)
    kept: Any
    if isinstance(values, np.ndarray) and values.dtype.kind == "f" and values.ndim == 1:
        places = np.flatnonzero(values != -np.inf)
        kept = values[places]
    else:
        listed = [i for i, value in enumerate(values) if not _is_zero(value)]
        places = np.array(listed, dtype=np.int64)
        kept = [values[i] for i in listed]
    return LogMeasure(len(values), places, read_vector(kept)) if len(kept) else None


def _is_zero(log: object) -> bool:
    """Return whether this is the logarithm of zero."""
    return isinstance(log, float | np.floating) and bool(log == -np.inf)


def log_measured(scores: Vector, rate: Rate, measure: LogMeasure) -> Law:
    """Return the distribution P(i) = exp(log[i] - rate * gap[i]) / (sum over all j).

    Raises:
        InvalidArgument: if there are not as many logarithms as scores.
        InvalidScores: if a score is not finite.
    """
    if measure.size != len(scores):
        raise InvalidArgument(
            f"log_base_measure has {measure.size} numbers, but there are {len(scores)} candidates; "
            "give one for each"
        )
    if len(measure.places) == len(scores):
        return Table(LogMeasuredWeights(scores, rate, measure))
    kept = scores.kept(measure.places)
    return Among(Table(LogMeasuredWeights(kept, rate, measure)), measure.places, len(scores))


class LogMeasuredWeights:
    """The weights exp(log[i] - rate * gap[i]) of the numbers of a vector, whose logarithms are finite."""

    __slots__ = ("_best", "_measure", "_rate", "_vector")

    def __init__(self, vector: Vector, rate: Rate, measure: LogMeasure) -> None:
        self._vector, self._rate, self._measure = vector, rate, measure
        self._best = vector.best()

    def sums(self) -> Sums | None:
        """Return their cumulated sums in doubles, scaled so that the heaviest is 1.

        The error is derived in docs/reference/mechanisms/base_measure.md.
        """
        behind = self._measure.gaps
        width = float(np.maximum.reduce(behind))
        if not has_fast_pass(self._rate) or width > _WIDEST:
            return None
        with overflowing():
            decays = self._vector.gaps(self._best)
            decays *= self._rate.double
            decays += behind
            # The best score has no gap, so the least decay is finite: at most the width.
            exponents = np.subtract(np.minimum.reduce(decays), decays, out=decays)
        np.maximum(exponents, -CUT, out=exponents)
        ends, chain = cumulate(cut_exponential(exponents))
        error = WEIGHT_ERROR + width * 2.0**-50
        return Sums(ends, error_of_sums(error, chain, len(ends)))

    def balls(self) -> Iterator[arb]:
        """Yield balls around the weights."""
        logs, top = self._measure.logs, self._measure.top
        for i in range(len(self._vector)):
            behind = ball(logs.exact_gap(i, top))
            yield (-behind).exp() * self._rate.decay(self._vector.exact_gap(i, self._best))
