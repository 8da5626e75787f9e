"""Waiting times: exponential variables -ln(1 - U) of uniforms U that are known in part.

Whoever waits first of several is told by logarithms of these times, in doubles with a proved error first, then in
balls. Of a uniform of which one word is known, the cell [word, word + 1) / 2**width holds the rest.
"""

from functools import lru_cache

import numpy as np
from flint import arb
from numpy.typing import NDArray

LOG_TIME_ERROR = 2.0**-38
"""Proved bound on the error of a logarithm of a time in doubles, with a delay of at most 64 added to it."""


def log_of_rest(
    words: NDArray[np.uint64], width: int, ahead: NDArray[np.float64] | float = 0.0
) -> NDArray[np.float64]:
    """Return ln(1 - U) for U = (word + ahead) / 2**width, with `ahead` 0 or 1: the two ends of a cell.

    The relative error is at most FUNCTION_ERROR + 2**-51.
    """
    half = np.uint64(1 << (width - 1))
    below_half = np.log1p((words + ahead) * -(2.0**-width))
    rest = np.uint64((1 << width) - 1) - words  # one less than what is left, so that it fits a word
    above_half = np.log(np.multiply(rest + (1.0 - ahead), 2.0**-width))
    logs: NDArray[np.float64] = np.where(words < half, below_half, above_half)
    return logs


def log_time_bounds(
    words: NDArray[np.uint64], width: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return ln(-ln(1 - U)) at both ends of the cells: from -inf for U = 0 to inf for U = 1."""
    n = len(words)
    ahead = np.repeat((0.0, 1.0), n)
    rest = log_of_rest(np.concatenate((words, words)), width, ahead)
    np.log(np.negative(rest, out=rest), out=rest)
    return rest[:n], rest[n:]


@lru_cache(maxsize=2)
def earliest_log_times(width: int) -> NDArray[np.float64]:
    """Return ln(-ln(1 - U)) for U = word / 2**width, for all words of so few bits; -inf for the first."""
    with np.errstate(divide="ignore"):
        return log_time_bounds(np.arange(1 << width, dtype=np.uint64), width)[0]


def log_time(numerator: int, length: int) -> arb:
    """Return a ball around ln(-ln(1 - U)) for U = numerator / 2**length, at the precision in force."""
    if numerator == 0:
        return arb.neg_inf()
    if numerator == 1 << length:
        return arb.pos_inf()
    return (-(-arb(numerator) / arb(2) ** length).log1p()).log()
