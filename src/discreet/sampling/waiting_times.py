"""Waiting times: exponential variables -ln(1 - U) of uniforms U that are known in part.

Whoever waits first of several is told by logarithms of these times, in doubles with a proved error first, then in
balls. Of a uniform of which one word is known, the cell [word, word + 1) / 2**width holds the rest.
"""

import numpy as np
from flint import arb
from numpy.typing import NDArray

LOG_TIME_ERROR = 2.0**-38
"""Proved bound on the error of a logarithm of a time in doubles, with a delay of at most 64 added to it."""

_ROUNDED = 2.0**-52
"""More than the rounding of 1 - U may add to its logarithm."""


def log_of_rest(
    words: NDArray[np.uint64], width: int, ahead: NDArray[np.float64] | float = 0.0
) -> NDArray[np.float64]:
    """Return ln(1 - U) for U = (word + ahead) / 2**width, with `ahead` 0 or 1: the two ends of a cell.

    The relative error is at most FUNCTION_ERROR + 2**-51.
    """
    half = np.uint64(1 << (width - 1))
    below_half = np.log1p((words + ahead) * -(2.0**-width))
    return np.where(words < half, below_half, np.log(_rest(words, width, ahead)))


def log_time_bounds(
    words: NDArray[np.uint64], width: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return ln(-ln(1 - U)) at both ends of the cells: from -inf for U = 0 to inf for U = 1."""
    n = len(words)
    ahead = np.repeat((0.0, 1.0), n)
    rest = log_of_rest(np.concatenate((words, words)), width, ahead)
    np.log(np.negative(rest, out=rest), out=rest)
    return rest[:n], rest[n:]


def earliest_log_times(words: NDArray[np.uint64], width: int) -> NDArray[np.float64]:
    """Return lower bounds on ln(-ln(1 - U)) for every U that begins with the word, but for LOG_TIME_ERROR.

    With one logarithm instead of the slower pair: it may be too low, by 2**-51 in the time.
    """
    times: NDArray[np.float64] = _rest(words, width, 0.0)
    np.log(times, out=times)
    np.subtract(-_ROUNDED, times, out=times)
    np.maximum(times, 0.0, out=times)
    np.log(times, out=times)
    return times


def _rest(
    words: NDArray[np.uint64], width: int, ahead: NDArray[np.float64] | float
) -> NDArray[np.float64]:
    """Return 1 - U for U = (word + ahead) / 2**width, of relative error at most 2**-52."""
    rest = np.uint64((1 << width) - 1) - words  # one less than what is left, so that it fits a word
    left: NDArray[np.float64] = np.multiply(rest + (1.0 - ahead), 2.0**-width)
    return left


def log_time(numerator: int, length: int) -> arb:
    """Return a ball around ln(-ln(1 - U)) for U = numerator / 2**length, at the precision in force."""
    if numerator == 0:
        return arb.neg_inf()
    if numerator == 1 << length:
        return arb.pos_inf()
    return (-(-arb(numerator) / arb(2) ** length).log1p()).log()
