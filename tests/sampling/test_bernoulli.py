"""Coins with certified probabilities."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from flint import arb

from discreet.mechanisms.testing import ScriptedBits, bit_tree
from discreet.sampling.bernoulli import bernoulli, bernoulli_one
from discreet.sampling.bits import Bits
from discreet.sampling.enclosures import ball

CHANCES = [
    Fraction(0),
    Fraction(1),
    Fraction(1, 2),
    Fraction(1, 3),
    Fraction(5, 7),
    Fraction(1, 2**50),
]


def exactly(*chances: Fraction) -> Callable[[int], arb]:
    return lambda i: ball(chances[i])


@pytest.mark.parametrize("chance", CHANCES)
def test_a_coin_falls_with_its_probability(chance: Fraction) -> None:
    for draw in (
        lambda bits: bool(bernoulli(np.array([float(chance)]), exactly(chance), bits)[0]),
        lambda bits: bernoulli_one(exactly(chance), 0, bits),
    ):
        tree = bit_tree(draw, 60)
        mass = tree.masses.get(True, Fraction(0))
        assert mass <= chance <= mass + tree.undecided
        assert tree.undecided <= Fraction(2, 2**60)


def test_coins_are_independent() -> None:
    chances = [Fraction(1, 3), Fraction(3, 4)]

    def draw(bits: Bits) -> tuple[bool, ...]:
        return tuple(bernoulli(np.array([1 / 3, 0.75]), exactly(*chances), bits).tolist())

    tree = bit_tree(draw, 14)
    for first in (False, True):
        for second in (False, True):
            chance = (chances[0] if first else 1 - chances[0]) * (
                chances[1] if second else 1 - chances[1]
            )
            mass = tree.masses[(first, second)]
            assert mass <= chance <= mass + tree.undecided


@pytest.mark.parametrize("step", [-2, -1, 0, 1, 2])
def test_words_next_to_the_probability_fall_on_the_right_side(step: int) -> None:
    chance = Fraction(2, 3)
    word = int(chance * 2**64) + step
    script = f"{word:064b}{0:064b}"  # the uniform is exactly word / 2**64
    fast = np.array([2 / 3])
    expected = Fraction(word, 2**64) < chance
    assert bernoulli(fast, exactly(chance), ScriptedBits(script, width=64)).tolist() == [expected]
