"""The law of the rejection sampler is right, and its length tells."""

from fractions import Fraction

import pytest

import discreet
from discreet.mechanisms import Exponential
from discreet.mechanisms.testing import SeededBits
from discreet.sampling.enclosures import precision
from discreet.study.attacks import rejection

from .test_attacks import law


def test_the_law_of_the_rejection_sampler_is_right_and_its_length_tells() -> None:
    ours = law(Exponential(), [0, 1, 0], 1)
    naive = rejection.UnsafeRejection([0, 1, 0], Fraction(1, 2))
    bits = SeededBits()
    drawn = [naive.draw(bits) for _ in range(4000)]
    with precision(64):
        assert drawn.count(1) / 4000 == pytest.approx(float(ours.probabilities()[1]), abs=0.03)
    words = rejection.words_read(
        rejection.UnsafeRejection(rejection.NEIGHBOR, rejection._EPSILON / 2)
    )
    assert max(words) > 3 * min(words)
    for mechanism in discreet.mechanisms.MECHANISMS:
        read = [
            rejection.words_read(rejection.law_of(mechanism, s))
            for s in (rejection.SCORES, rejection.NEIGHBOR)
        ]
        assert read[0] == read[1]
        assert len(read[0]) == 1
