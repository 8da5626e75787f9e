"""Uniforms read in two steps: sixteen bits for everyone, and the rest of a word for the few that look first.

For most candidates sixteen bits tell that they are not first. How many are read on is fixed by the number of
candidates, so what is read tells nothing of their scores.
"""

import numpy as np
from numpy.typing import NDArray

from .bits import Bits

_SHORT, _WORD = 16, 64


def short_words(n: int, bits: Bits) -> tuple[NDArray[np.uint64], int]:
    """Return the first bits of n uniforms, and how many bits those are: 16, or a word if words are no longer."""
    if bits.width < _WORD:
        return bits.words(n), bits.width
    words = bits.words(-(-n * _SHORT // _WORD)).astype("<u8", copy=False)
    return words.view("<u2")[:n].astype(np.uint64), _SHORT


def read_on(first: NDArray[np.uint64], width: int, bits: Bits) -> tuple[NDArray[np.uint64], int]:
    """Return the uniforms that begin with these bits, to one word each, and how many bits those are."""
    more, length = bits.words(len(first)), min(bits.width, _WORD - width)
    more = more >> np.uint64(bits.width - length)
    return first << np.uint64(length) | more, width + length


def read_on_for(n: int) -> int:
    """Return for how many of n uniforms, besides those wanted, to read on, so that hardly ever another matters.

    At most n * 2**-16 others are expected to look as early as the first does, so this is 32 times as many, and 16:
    docs/reference/mechanisms/peeling.md.
    """
    return min(n, 16 + (n >> 11))
