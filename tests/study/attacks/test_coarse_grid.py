"""The attack on noise of a coarse grid."""

from fractions import Fraction
from typing import Any

import pytest

from discreet.mechanisms.testing import bit_tree
from discreet.study.attacks import coarse_grid


def test_the_published_base_two_sampler_loses_an_outcome() -> None:
    assert coarse_grid.counts(coarse_grid.COSTS) == [8193, 0]
    assert coarse_grid.counts(coarse_grid.NEIGHBOR) == [8193, 1]
    assert coarse_grid.counts([0, 0]) == [8193, 8192]  # the lowest point counts for the first twice
    assert coarse_grid.encloses(coarse_grid.COSTS, 0)


@pytest.mark.proof
def test_the_enumeration_catches_it() -> None:
    """Fed with every string of bits, the naive sampler misses the truth that our enumeration encloses."""

    def draw(bits: Any) -> int | None:
        k = sum(bits.word() << i for i in range(15))
        return coarse_grid.unsafe_point([0, 1], k)

    tree = bit_tree(draw, 15)
    accepted = 1 - tree.masses[None]
    assert tree.masses[1] / accepted != Fraction(1, 3)
