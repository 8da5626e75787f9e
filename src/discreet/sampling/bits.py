"""Where randomness comes from: the operating system, or a script in tests.

A *word* is `width` uniform bits. Everything random in the library is a deterministic function of the
words it reads, one after another; a test may put any words it likes in their place.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Bits(Protocol):
    """A source of independent uniform words of `width` bits (at most 64)."""

    width: int

    def word(self) -> int:
        """Return one word, an integer below 2**width."""

    def words(self, n: int) -> NDArray[np.uint64]:
        """Return `n` words, in the order in which they were drawn."""


class SystemBits:
    """Words of 64 bits from the operating system's cryptographic generator (`os.urandom`)."""

    width = 64

    def word(self) -> int:
        """Return one uniform word of 64 bits."""
        return int.from_bytes(os.urandom(8), "little")

    def words(self, n: int) -> NDArray[np.uint64]:
        """Return `n` uniform words of 64 bits."""
        return np.frombuffer(os.urandom(8 * n), dtype="<u8").astype(np.uint64, copy=False)


class RestOfWords:
    """Words that were read from a source and not used, and then those of the source."""

    def __init__(self, words: NDArray[np.uint64], bits: Bits) -> None:
        self.width, self._words, self._bits = bits.width, words.tolist()[::-1], bits

    def word(self) -> int:
        """Return one word."""
        return self._words.pop() if self._words else self._bits.word()

    def words(self, n: int) -> NDArray[np.uint64]:
        """Return `n` words, in the order in which they were drawn."""
        return np.array([self.word() for _ in range(n)], dtype=np.uint64)


class LazyUniform:
    """A uniform real U in [0, 1) of which `length` bits are known: prefix <= U * 2**length < prefix + 1.

    The bits not read yet are as good as drawn: a decision that holds for every real number in the
    known interval is a decision about U itself.
    """

    __slots__ = ("_bits", "length", "prefix")

    def __init__(self, bits: Bits) -> None:
        self._bits = bits
        self.prefix = bits.word()
        self.length = bits.width

    @classmethod
    def of_word(cls, word: int, bits: Bits, length: int | None = None) -> LazyUniform:
        """Return a uniform from its first word, or its first bits, which were read from `bits`."""
        uniform = cls.__new__(cls)
        uniform._bits, uniform.prefix = bits, word
        uniform.length = bits.width if length is None else length
        return uniform

    def extend(self) -> None:
        """Read one more word of U."""
        self.prefix = self.prefix << self._bits.width | self._bits.word()
        self.length += self._bits.width


def below(n: int, bits: Bits) -> int:
    """Return a uniform draw from range(n): floor(n * U) for one lazy uniform U.

    Reads 64 bits more than n has, in whole words; more are needed with probability at most 2**-64.
    """
    uniform = LazyUniform(bits)
    for _ in range((n.bit_length() + 63) // 64):
        uniform.extend()
    while True:
        index = uniform.prefix * n >> uniform.length
        if (uniform.prefix + 1) * n <= (index + 1) << uniform.length:
            return index
        uniform.extend()
