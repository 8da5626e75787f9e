"""How far behind the best candidate an answer may be, from public numbers alone."""

from dataclasses import dataclass
from fractions import Fraction

from ..mechanisms.accuracy import (
    CONFIDENCE,
    LISTED_RECORDS,
    LISTED_SCORE,
    RECORDS,
    ErrorBound,
    Measure,
    bound_up,
    geometric_error,
)
from ..mechanisms.calibration_cache import Calibration
from ..sampling.enclosures import NaturalRate


@dataclass(frozen=True, slots=True)
class SelectionError:
    """The error of selected answers, worked out when it is asked for. It holds no data.

    Attributes:
        calibration: the mechanism, the sensitivity and the privacy parameter.
        measure: the meaning of an error of the score; None without one.
        candidates: how many candidates there are, where that is public and finite.
        answers: how many answers there are, of all of which the bound holds together.
    """

    calibration: Calibration
    measure: Measure | None
    candidates: int | None
    answers: int = 1

    @property
    def confidence(self) -> Fraction:
        """The probability with which one answer keeps the bound."""
        return 1 - (1 - CONFIDENCE) / self.answers

    @property
    def has_numbers(self) -> bool:
        """Whether the score has a meaning, and either the number of candidates is public or it is noise."""
        measure = self.measure
        return measure is not None and (self.candidates or measure.step) is not None

    def __call__(self) -> ErrorBound | None:
        """Return a bound on the error; None where none is known."""
        settings, measure, n = self.calibration, self.measure, self.candidates
        if measure is not None and measure.step is not None:
            return self._of_noise(measure, measure.step)
        if measure is None or n is None:
            return None
        if settings.calibrated.list_length is not None:
            return self._of_list(n, measure)
        worst = getattr(settings.mechanism, "worst_case", None)
        epsilon = settings.calibrated.guarantee.pure
        if worst is None or epsilon is None:
            return None
        behind = worst.below(n, self.confidence) * settings.sensitivity.spread / epsilon
        return bound_up(behind * measure.of_one, measure.unit)

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the bound: a calibrated mechanism has functions that no file holds."""
        return _unpickled, (self(),)

    def _of_noise(self, measure: Measure, step: Fraction) -> ErrorBound | None:
        """Return a bound on the noise of a number, which goes to the nearest of the answers, a step apart, first.

        For the proof, see docs/reference/scores/your_own.md#distance. Ends only make large errors rarer.
        """
        rate = self.calibration.calibrated.rate
        if not isinstance(rate, NaturalRate):
            return None
        off = geometric_error(rate.eta * step, self.answers, CONFIDENCE)
        return bound_up((off + 1) * step, measure.unit)

    def _of_list(self, candidates: int, measure: Measure) -> ErrorBound | None:
        """Return a bound on how far a place of a list is behind the right candidate."""
        settings = self.calibration
        error_below = getattr(settings.mechanism, "error_below", None)
        if error_below is None or settings.parameter is None:
            return None
        behind = error_below(candidates, settings.sensitivity, settings.parameter, self.confidence)
        if behind is None:
            return None
        unit = LISTED_RECORDS if measure.unit == RECORDS else LISTED_SCORE
        return bound_up(behind * measure.of_one, unit)


def _unpickled(bound: ErrorBound | None) -> ErrorBound | None:
    return bound
