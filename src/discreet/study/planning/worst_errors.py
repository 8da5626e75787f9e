"""Worst-case utility: error bounds of a mechanism that hold for all scores.

A mechanism states its own worst case: see `mechanisms.worst_case`.
"""

from decimal import ROUND_CEILING
from fractions import Fraction

from ...base.error_boundary import error_boundary
from ...base.numbers import Number, count, decimal, exact, positive, positive_up
from ...errors import InvalidArgument, InvalidNumber, UnknownName, preview
from ...mechanisms import BOUNDED, Mechanism, read_mechanism
from ...mechanisms.worst_case import WorstCase

_DIGITS = 12


@error_boundary
def worst_error(
    candidates: int,
    *,
    spread: Number,
    epsilon: Number,
    mechanism: str | Mechanism = "exponential",
    confidence: Number | None = None,
) -> Fraction:
    """Return the expected error for the worst scores, or an error that holds with a given confidence.

    An error is how far the answer's score is behind the best one. It needs no data.

    Args:
        candidates: the number of candidates, at least 1 and without an upper limit.
        spread: the largest change of a score difference, in units of the score. It is twice the sensitivity, or
            once if the scores are monotonic.
        epsilon: the privacy parameter ε of an answer, a positive number without a unit.
        mechanism: "exponential" (the default), "permute_and_flip", or a noisy max with Gumbel or exponential noise,
            which are the same mechanisms.
        confidence: if given, the probability that the error is below the result, between 0 and 1. Without it the
            result is the expected error.

    Returns:
        The error in units of the score, rounded up to 12 digits: for the exponential mechanism and
        permute-and-flip, it is the smallest number that holds for all scores, up to this rounding.

    Raises:
        InvalidArgument: if an argument is invalid.
    """
    constant = _constant(candidates, mechanism, confidence)
    return _up(constant * positive_up(spread, "spread") / positive(epsilon, "epsilon"))


@error_boundary
def epsilon_for(
    error: Number,
    candidates: int,
    *,
    spread: Number,
    mechanism: str | Mechanism = "exponential",
    confidence: Number | None = None,
) -> Fraction:
    """Return the epsilon that bounds the error for all scores, the inverse of `worst_error`.

    Args:
        error: the largest allowed expected error, in units of the score. With `confidence`, the bound on the error.
        candidates: the number of candidates.
        spread: the largest change of a score difference, in units of the score. It is twice the sensitivity, or
            once if the scores are monotonic.
        mechanism: "exponential" (the default), "permute_and_flip", or a noisy max with Gumbel or exponential noise,
            which are the same mechanisms.
        confidence: the probability that the error stays below `error`, between 0 and 1. Without it the expected
            error does.

    Returns:
        The smallest such epsilon, rounded up to 12 digits.

    Raises:
        InvalidArgument: if an argument is invalid, or every epsilon keeps the error.
    """
    target = positive(error, "error")
    constant = _constant(candidates, mechanism, confidence)
    if constant == 0:
        raise InvalidArgument(
            f"a blind guess among {preview(candidates)} candidates is good enough already. Ask for "
            "more"
        )
    return _up(constant * positive_up(spread, "spread") / target)


def _constant(candidates: int, mechanism: str | Mechanism, confidence: Number | None) -> Fraction:
    """Return the worst error in units of spread / epsilon."""
    worst, n = _worst_case(read_mechanism(mechanism)), count(candidates, "candidates")
    if confidence is None:
        return worst.mean(n)
    share = exact(confidence, "confidence")
    if not 0 < share < 1:
        raise InvalidNumber(f"confidence must be above 0 and below 1, got {preview(confidence)}")
    return worst.below(n, share)


def _up(value: Fraction) -> Fraction:
    return Fraction(decimal(value, _DIGITS, ROUND_CEILING))


def _worst_case(mechanism: Mechanism) -> WorstCase:
    """Return the worst case that a mechanism states."""
    own_bound = getattr(mechanism, "worst_case", None)
    if own_bound is not None:
        return own_bound  # type: ignore[no-any-return]  # a mechanism of a user's own may state none
    raise UnknownName(
        f"the worst error is known for {', '.join(BOUNDED)}, and the noisy max with Gumbel or "
        f"exponential noise. For others, compare on sample scores, got {preview(mechanism)}"
    )
