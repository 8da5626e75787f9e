"""Many independent Bernoulli draws at once, of computable real probabilities.

One word is read a coin. Where it settles the coin for every probability inside its error, it
does; the rest read on, against balls. So a coin falls with exactly its probability: docs/explanation/draw.md.
"""

from collections.abc import Callable

import numpy as np
from flint import arb
from numpy.typing import NDArray

from .bits import Bits, LazyUniform
from .enclosures import overflowing, precision

COIN_ERROR = 2.0**-42
"""How far a fast probability may be from the real one. A coin is in doubt with probability < 2**-39."""


def bernoulli(
    fast: NDArray[np.float64], exact: Callable[[int], arb], bits: Bits
) -> NDArray[np.bool_]:
    """Return independent booleans, the i-th True with probability exact(i).

    Args:
        fast: probabilities in doubles, within COIN_ERROR of the real ones, which are in [0, 1].
        exact: returns a ball around one probability, at the precision in force.
        bits: read one word a coin, and more for those in doubt.
    """
    words = bits.words(len(fast))
    with overflowing():
        ahead = fast - words * 2.0**-bits.width
    certain = (
        2.0**-bits.width + 2 * COIN_ERROR
    )  # the cell of the word, the error, and four roundings
    heads: NDArray[np.bool_] = ahead > certain  # Coq: FastPass.heads_are_certain
    for i in np.flatnonzero(np.abs(ahead) <= certain):  # Coq: FastPass.tails_are_certain
        heads[i] = is_below(LazyUniform.of_word(int(words[i]), bits), exact, int(i))
    return heads


def bernoulli_one(exact: Callable[[int], arb], i: int, bits: Bits) -> bool:
    """Return True with probability exact(i)."""
    return is_below(LazyUniform(bits), exact, i)


def is_below(u: LazyUniform, exact: Callable[[int], arb], i: int) -> bool:
    """Return whether `u` < exact(i), reading more of it where that is open."""
    digits = 128
    while True:
        with precision(digits):
            probability = exact(i)
            while (below := _compare(u, probability)) is None and u.length < digits // 2:
                u.extend()
        if below is not None:
            return below
        digits *= 2


def _compare(u: LazyUniform, probability: arb) -> bool | None:
    """Return whether `u` is certainly below the probability, or certainly not; None while it is open."""
    share = probability * arb(2) ** u.length
    if u.prefix + 1 <= share:
        return True
    return False if u.prefix >= share else None
