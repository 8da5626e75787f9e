"""Permute-and-flip by its heads, and the noise by which it is a noisy max."""

from fractions import Fraction

import numpy as np
import pytest
from flint import arb

from discreet.mechanisms.permute_and_flip import ExponentialNoise, OneOfTheHeads
from discreet.mechanisms.testing import bit_tree
from discreet.sampling.bits import LazyUniform, SystemBits
from discreet.sampling.enclosures import NaturalRate, overflowing, precision
from discreet.sampling.vectors import read_vector


@pytest.mark.parametrize("width", [8, 53, 64])
def test_doubles_around_exponential_noise_hold_it(width: int) -> None:
    """For every uniform that begins with the word, and closely."""
    words = [0, 1, (1 << width) // 3, 1 << (width - 1), (1 << width) - 2, (1 << width) - 1]
    noise = ExponentialNoise()
    with overflowing():
        low, high = noise.fast_ends(np.array(words, dtype=np.uint64), width)
    with precision(256):
        for word, least, most in zip(words, low.tolist(), high.tolist(), strict=True):
            begin, end = noise.ends(LazyUniform.of_word(word, _Bits(width)))
            assert arb(least) <= begin
            assert begin - arb(least) < (1 + begin) * arb(2) ** -42
            if end.is_finite():
                assert end <= arb(most)
                assert arb(most) - end < (1 + end) * arb(2) ** -42
            else:
                assert most == np.inf


class _Bits(SystemBits):
    def __init__(self, width: int) -> None:
        self.width = width


@pytest.mark.parametrize(
    ("rate", "is_fast"), [(Fraction(1, 2), True), (Fraction(10) ** 300, False)]
)
def test_heads_are_thrown_in_doubles_where_these_serve(rate: Fraction, is_fast: bool) -> None:
    scores = [0, 0] if not is_fast else [0, 1]
    law = OneOfTheHeads(read_vector(scores), NaturalRate(rate))
    assert (law._fast is not None) is is_fast
    tree = bit_tree(law.draw, 12)
    with precision(200):
        for i, chance in enumerate(law.probabilities()):
            assert tree.admits(i, chance)
