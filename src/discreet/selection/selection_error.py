"""How far behind the best candidate an answer may be, from public numbers alone."""

from dataclasses import dataclass
from decimal import ROUND_CEILING
from fractions import Fraction
from typing import Any

from ..base.numbers import decimal
from ..mechanisms.accuracy import (
    CONFIDENCE,
    LISTED_RECORDS,
    LISTED_SCORE,
    RECORDS,
    ErrorBound,
    Measure,
)
from ..mechanisms.calibration_cache import Calibration

ERROR_DIGITS = 12
"""Significant digits of an error bound, which is rounded up."""


@dataclass(frozen=True, slots=True)
class SelectionError:
    """The error of one selected answer, worked out when it is asked for. It holds no data.

    Attributes:
        calibration: the mechanism, the sensitivity and the privacy parameter.
        measure: the meaning of an error of the score; None without one.
        candidates: how many candidates there are, where that is public and finite.
    """

    calibration: Calibration
    measure: Measure | None
    candidates: int | None

    @property
    def has_numbers(self) -> bool:
        """Whether the score has a meaning, and the number of candidates is public."""
        return self.measure is not None and self.candidates is not None

    def __call__(self) -> ErrorBound | None:
        """Return a bound on the error; None where none is known."""
        settings, measure, n = self.calibration, self.measure, self.candidates
        if measure is None or n is None:
            return None
        if settings.calibrated.list_length is not None:
            return self._of_list(n, measure)
        worst = getattr(settings.mechanism, "worst_case", None)
        epsilon = settings.calibrated.guarantee.pure
        if worst is None or epsilon is None:
            return None
        behind = worst.below(n, CONFIDENCE) * settings.sensitivity.spread / epsilon
        return _error_bound(behind * measure.of_one, measure.unit)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the bound: a calibrated mechanism has functions that no file holds."""
        return _unpickled, (self(),)

    def _of_list(self, candidates: int, measure: Measure) -> ErrorBound | None:
        """Return a bound on how far a place of a list is behind the right candidate."""
        settings = self.calibration
        error_below = getattr(settings.mechanism, "error_below", None)
        if error_below is None or settings.parameter is None:
            return None
        behind = error_below(candidates, settings.sensitivity, settings.parameter, CONFIDENCE)
        if behind is None:
            return None
        unit = LISTED_RECORDS if measure.unit == RECORDS else LISTED_SCORE
        return _error_bound(behind * measure.of_one, unit)


def _unpickled(bound: ErrorBound | None) -> ErrorBound | None:
    return bound


def _error_bound(error: Fraction, unit: str) -> ErrorBound:
    """Return a bound, rounded up."""
    return ErrorBound(Fraction(decimal(error, ERROR_DIGITS, ROUND_CEILING)), CONFIDENCE, unit)
