"""How far off an answer may be, from public numbers alone: bounds that hold for all data."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR
from fractions import Fraction
from typing import TYPE_CHECKING

from ..base.messages import Message, plural
from ..base.numbers import decimal, exact, rounded_up
from ..sampling.enclosures import ball, precision, upper

if TYPE_CHECKING:
    from ..sampling.gaussian import GaussianNoise
    from ..sampling.geometric import GeometricNoise

_ERROR_DIGITS = 256

_BOUND_DIGITS = 12

_LONGEST_TEXT = 40

CONFIDENCE = Fraction(95, 100)
"""The probability with which a quoted error is not reached."""

RECORDS = "records"
ROWS_IN_RANK = "rows in rank"
ROWS_TO_CHANGE = "rows to add or remove"
REVENUE = "in revenue"
SCORE = "units of the score"
OF_NUMBER = "in the number"
LISTED_RECORDS = "records at any place of the list"
RANKS_OF_QUANTILES = "rows in rank at any of the quantiles"
LISTED_SCORE = "units of the score at any place of the list"
CELLS = "cells in each count"
COUNTED = "records in each count"
DISTINCT = "distinct values among those that count"
SUMMED = "in the sum of the clipped numbers"
AVERAGED = "in the mean of the clipped numbers"
AVERAGED_TIMES = {
    unit: f"{unit}s in the mean of the clipped times"
    for unit in ("second", "minute", "hour", "day")
}
SPREAD = "in the variance of the clipped numbers"
ROOT_OF_SPREAD = "in the standard deviation of the clipped numbers"
RECORDS_OF_KEY = "records of a key"
NUMBERS_FOR_A_TENTH = "numbers for a tenth of the variance"

UNITS = (
    RECORDS, ROWS_IN_RANK, ROWS_TO_CHANGE, REVENUE, SCORE, OF_NUMBER, CELLS, COUNTED, DISTINCT, SUMMED, AVERAGED,
    LISTED_RECORDS, LISTED_SCORE, RANKS_OF_QUANTILES, SPREAD, ROOT_OF_SPREAD, RECORDS_OF_KEY, NUMBERS_FOR_A_TENTH,
    *AVERAGED_TIMES.values(),
)  # fmt: skip
"""What an error is counted in."""

NEEDS = (RECORDS_OF_KEY, NUMBERS_FOR_A_TENTH)
"""Bounds that are no error, but say how many records an answer needs."""

UNITS_OF_ONE = {
    unit: unit.replace("s ", " ", 1)
    for unit in UNITS
    if not unit.startswith("in ") and unit not in (RECORDS, *NEEDS)
}
"""What an error of one is counted in, where several are named otherwise."""

_BRIEF = Message("within {error}, with probability {percent} %")

_BRIEF_TIMES = {
    AVERAGED_TIMES["second"]: Message("within {error} seconds, with probability {percent} %"),
    AVERAGED_TIMES["minute"]: Message("within {error} minutes, with probability {percent} %"),
    AVERAGED_TIMES["hour"]: Message("within {error} hours, with probability {percent} %"),
    AVERAGED_TIMES["day"]: Message("within {error} days, with probability {percent} %"),
}

_BRIEF_TIMES_OF_ONE = {
    AVERAGED_TIMES["second"]: Message("within {error} second, with probability {percent} %"),
    AVERAGED_TIMES["minute"]: Message("within {error} minute, with probability {percent} %"),
    AVERAGED_TIMES["hour"]: Message("within {error} hour, with probability {percent} %"),
    AVERAGED_TIMES["day"]: Message("within {error} day, with probability {percent} %"),
}

_DISTANCES = (OF_NUMBER, COUNTED, DISTINCT, SUMMED, AVERAGED, SPREAD, ROOT_OF_SPREAD, *_BRIEF_TIMES)


@dataclass(frozen=True, slots=True)
class Measure:
    """The unit in which an error of a score is stated.

    Attributes:
        unit: the name of the unit, one of `UNITS`.
        of_one: how much of it a score difference of 1 is.
        step: of a number with noise, the distance of neighbouring answers. Otherwise None.
    """

    unit: str = SCORE
    of_one: Fraction = Fraction(1)
    step: Fraction | None = None


_ANSWER = Message("the answer")

_ONE = "1"
"""An error of one, in words."""


@dataclass(frozen=True, slots=True)
class ErrorBound:
    """A bound on the error of one answer, which holds with a probability, for all data. Public.

    The error is how much worse the answer is than the best candidate or, for a count, how far it is from the true
    count. It is the error for the worst possible data, so it can be computed without any data, and most data do
    better. See docs/how-to/planning.md. For keys without a public list, it is the smallest number of records at
    which a key is released with that probability. For a variance, it is how many numbers, spread evenly between the
    bounds, keep its error below a tenth of it.

    Attributes:
        error: the error is less than this, or 0.
        probability: with at least this probability.
        unit: the unit of the error, one of `accuracy.UNITS`.
    """

    error: Fraction
    probability: Fraction
    unit: str

    @property
    def is_distance(self) -> bool:
        """Whether the error is the distance of a number from the true one."""
        return self.unit in _DISTANCES

    def as_dict(self) -> dict[str, str]:
        """Return the bound in plain values, numbers as text, ready for JSON; long ones are rounded up."""
        text = str(self.error)
        if len(text) > _LONGEST_TEXT:
            text = str(decimal(self.error, 12, ROUND_CEILING))
        return {"error": text, "probability": str(self.probability), "unit": self.unit}

    def in_words(self, subject: str = _ANSWER) -> Message:
        """Return the bound as a clause.

        Args:
            subject: the answer as the clause names it, such as "the city shown".
        """
        if self.unit == RECORDS_OF_KEY:
            return Message(
                "a key of fewer than {records} records is answered with a probability below one half",
                records=int(self.error),
            )
        answers = answers_in_words(self.probability)
        if self.unit == NUMBERS_FOR_A_TENTH:
            return Message(
                "in {answers} from {numbers:,} or more numbers, spread evenly between the bounds, the variance is "
                "off by less than a tenth",
                answers=answers, numbers=int(self.error),
            )  # fmt: skip
        whole = -(-self.error // 1) - 1  # differences of counts are whole, and less than the error
        if self.unit == RECORDS and whole > 0:
            records = plural("{count:,} record", "{count:,} records", int(whole))
            return Message(
                "in {answers} {shown} has at most {records} fewer than the most common one",
                answers=answers, shown=subject, records=records,
            )  # fmt: skip
        if self.error == 0 or self.unit == RECORDS:
            return Message(
                "in {answers} {shown} is as good as the best one", answers=answers, shown=subject
            )
        error = rounded_up(self.error, 3)
        unit = UNITS_OF_ONE.get(self.unit, self.unit) if error == _ONE else self.unit
        return Message(
            "in {answers} {shown} is off by less than {error} {unit}",
            answers=answers, shown=subject, error=error, unit=Message(unit, "an error"),
        )  # fmt: skip

    def in_brief(self) -> Message:
        """Return the bound of a number as "within 12, with probability 95 %"; of other answers the clause."""
        if not self.is_distance:
            return self.in_words()
        whole = Fraction(
            -(-self.error // 1) - 1
        )  # a count is off by whole numbers, and by less than the error
        off = max(whole, Fraction(0)) if self.unit in (COUNTED, DISTINCT) else self.error
        error = rounded_up(off, 3)
        times = _BRIEF_TIMES_OF_ONE if error == _ONE else _BRIEF_TIMES
        percent = decimal(100 * self.probability, 6, ROUND_FLOOR)
        return times.get(self.unit, _BRIEF).fill(error=error, percent=percent)

    def __str__(self) -> str:
        return self.in_words()


def bound_up(error: Fraction, unit: str) -> ErrorBound:
    """Return a bound that holds with `CONFIDENCE`, rounded up."""
    return ErrorBound(Fraction(decimal(error, _BOUND_DIGITS, ROUND_CEILING)), CONFIDENCE, unit)


NO_ERROR = Message("no error is known")
"""Said where there is no bound."""


def answers_in_words(probability: Fraction) -> Message:
    """Return a probability as so many of so many answers: 95 of 100."""
    all_answers = next(
        (10**power for power in range(2, 9) if (10**power * probability).denominator == 1), 0
    )
    whole = all_answers or probability.denominator
    return Message("{some:,} of {all:,} answers", some=int(whole * probability), all=whole)


def read_error_bound(plain: Mapping[str, str]) -> ErrorBound:
    """Return an error bound from its `as_dict`."""
    error, probability = (exact(plain[name], name) for name in ("error", "probability"))
    return ErrorBound(error, probability, plain["unit"])


def geometric_error(eta: Fraction, size: int, probability: Fraction) -> int:
    """Return the most by which any of so many counts with geometric noise is off, with at least that probability.

    Of one count P(|X| > t) = 2 a^(t+1) / (1 + a), a = exp(-eta); of several at most the sum of these. Rounded up.

    Args:
        eta: the rate of the noise: P(X = k) is proportional to exp(-eta * |k|).
        size: how many counts there are.
        probability: below 1.
    """
    with precision(_ERROR_DIGITS):
        share = ball((1 - probability) / (2 * size))
        least = -(share * (1 + (-ball(eta)).exp())).log() / ball(eta)
        return max(0, math.ceil(upper(least)) - 1)


def gaussian_error(noise: GaussianNoise, size: int, probability: Fraction) -> int:
    """Return the most by which any of so many counts with Gaussian noise is off, with at least that probability.

    Of one count P(|X| > t) = 2 P(X > t); of several at most the sum of these. Rounded up.

    Args:
        noise: the noise.
        size: how many counts there are.
        probability: below 1.
    """
    share = (1 - probability) / (2 * size)

    def keeps(error: int) -> bool:
        with precision(_ERROR_DIGITS):
            return bool(noise.above(error) <= ball(share))

    low, high = -1, noise.reach(1)
    while not keeps(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if keeps(middle) else (middle, high)
    return high


def counts_list_error(
    noise: GeometricNoise | GaussianNoise, candidates: int, k: int, probability: Fraction
) -> int:
    """Return by how many records no place of a list of noisy counts is behind, with at least that probability.

    A place is behind by t only if the noise of one of the k most common candidates is less by t than that of one
    below it: docs/reference/mechanisms/top_k.md. Their differences are at least t with the chance that the
    noise tells; of all pairs at most the sum of these.

    Args:
        noise: the noise of one count.
        candidates: the number of candidates.
        k: the length of the list.
        probability: below 1.
    """
    pairs = k * candidates - k * (k + 1) // 2

    def keeps(error: int) -> bool:
        with precision(_ERROR_DIGITS):
            return bool(pairs * noise.apart(error) <= ball(1 - probability))

    if pairs == 0:
        return 0
    low, high = 0, noise.reach(1)
    while not keeps(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if keeps(middle) else (middle, high)
    return high
