"""Words, lazy uniforms, and uniform integers."""

from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import OutOfBits
from discreet.mechanisms.testing import ScriptedBits, bit_tree
from discreet.sampling.bits import LazyUniform, SystemBits, below


def test_system_words_are_64_bits() -> None:
    bits = SystemBits()
    words = bits.words(1000)
    assert words.dtype == np.uint64
    assert len(set(words.tolist())) == 1000
    assert 0 <= bits.word() < 2**64
    # All 64 positions take both values: a smoke test that fails with probability 2**-990.
    assert int(np.bitwise_or.reduce(words)) == 2**64 - 1
    assert int(np.bitwise_and.reduce(words)) == 0


def test_scripted_words_come_in_order_and_end() -> None:
    bits = ScriptedBits("10110", width=2)
    assert [bits.word(), bits.word()] == [0b10, 0b11]
    with pytest.raises(OutOfBits, match="the script of 5 bits came to its end"):
        bits.word()
    assert ScriptedBits([1, 0, 1, 1], width=2).words(2).tolist() == [0b10, 0b11]


def test_a_lazy_uniform_grows_at_its_end() -> None:
    u = LazyUniform(ScriptedBits("1011"))
    assert (u.prefix, u.length) == (1, 1)
    u.extend()
    u.extend()
    assert (u.prefix, u.length) == (0b101, 3)
    begun = LazyUniform.of_word(1, ScriptedBits("011"))
    begun.extend()
    assert (begun.prefix, begun.length) == (0b10, 2)


@pytest.mark.parametrize("n", [1, 2, 3, 5, 6, 7, 8])
def test_below_is_uniform(n: int) -> None:
    tree = bit_tree(lambda bits: below(n, bits), 14)
    assert set(tree.masses) == set(range(n))
    assert tree.undecided <= Fraction(n, 2**13)
    for mass in tree.masses.values():
        assert mass <= Fraction(1, n) <= mass + tree.undecided


def test_below_serves_integers_of_any_size() -> None:
    n = 10**50
    drawn = [below(n, SystemBits()) for _ in range(100)]
    assert all(0 <= i < n for i in drawn)
    assert max(drawn) > n // 10
    assert below(n, ScriptedBits("1" * 256, width=64)) == n - 1
    assert below(n, ScriptedBits("0" * 256, width=64)) == 0
