"""Distributions over ordered lists of candidates."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from ..sampling.bits import Bits


class Lists(ABC):
    """A distribution over ordered lists of different indices."""

    @abstractmethod
    def draw(self, bits: Bits) -> list[int]:
        """Return one list, an exact sample of this distribution."""

    def draws(self, size: int, bits: Bits) -> list[list[int]]:
        """Return `size` independent lists."""
        return [self.draw(bits) for _ in range(size)]


def skipping(j: int, gone: Sequence[int]) -> int:
    """Return the j-th whole number, from 0, that is not among the ascending `gone`."""
    for place in gone:
        j += place <= j
    return j
