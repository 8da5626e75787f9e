"""Distributions over ordered lists of candidates."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from flint import arb

from ..sampling.bits import Bits
from ..sampling.vectors import Vector
from .contract import Law


class Lists(ABC):
    """A distribution over ordered lists of different indices.

    Of candidates one by one it has `probabilities` too: balls around those of all lists, at the precision in
    force, in the order of `itertools.permutations`. Candidates in runs are too many for that.
    """

    @abstractmethod
    def draw(self, bits: Bits) -> list[int]:
        """Return one list, an exact sample of this distribution."""

    def draws(self, size: int, bits: Bits) -> list[list[int]]:
        """Return `size` independent lists."""
        return [self.draw(bits) for _ in range(size)]


def skipping(j: int, absent: Sequence[int]) -> int:
    """Return the j-th whole number, from 0, that is not among the ascending `absent`."""
    for place in absent:
        j += place <= j
    return j


def probabilities_of_rounds(scores: Vector, k: int, law: Callable[[Vector], Law]) -> list[arb]:
    """Return balls around the probabilities of all lists of k answers that `law` draws without replacement."""

    def after(remaining: list[int], rounds: int, chance: arb) -> Iterator[arb]:
        chances = law(scores.take(np.array(remaining))).probabilities()
        for place, own in enumerate(chances):
            if rounds == 1:
                yield chance * own
            else:
                yield from after(
                    [*remaining[:place], *remaining[place + 1 :]], rounds - 1, chance * own
                )

    return list(after(list(range(len(scores))), k, arb(1)))
