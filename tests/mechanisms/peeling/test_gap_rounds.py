"""Rounds with gaps: fresh randomness for every gap, and the lists of peeling."""

from fractions import Fraction
from typing import Any

import pytest

from discreet.errors import InvalidScores
from discreet.mechanisms import Exponential
from discreet.mechanisms.contract import PrivacyParameter, calibrate
from discreet.mechanisms.gap import WithGap
from discreet.mechanisms.peeling import Peeling
from discreet.privacy.guarantees import LogisticDP
from discreet.sampling.enclosures import precision
from discreet.sampling.vectors import read_vector

from ...scripted_words import Words
from ..gap_laws import KINDS, UNIT_SPREAD

WORDS = [k * 0x9E3779B97F4A7C15 % 2**64 for k in range(1, 200)]


def rounds(kind: str, scores: list[int], k: int) -> Any:
    mechanism = Peeling(WithGap(KINDS[kind]), k)
    return calibrate(mechanism, UNIT_SPREAD, PrivacyParameter("epsilon", Fraction(k)))


def test_the_gap_of_a_round_is_drawn_by_a_word_of_its_own() -> None:
    """Words: winner, gap, winner, gap. The first gap says nothing about the second round: no race is shared."""
    law = rounds("exponential", [2, 1, 0], 2).law(read_vector([2, 1, 0]))
    seconds, firsts = set(), set()
    for word in WORDS:
        bits = Words([1 << 62, word, 1 << 61, 1 << 60])
        first, second = law.draw(bits)
        assert bits._read == 4
        firsts.add(tuple(first))
        seconds.add(tuple(second))
    assert len(firsts) > 20
    assert len(seconds) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_the_lists_are_those_of_peeling(kind: str) -> None:
    scores = read_vector([2, 1, 0])
    with_gaps = rounds(kind, [2, 1, 0], 2).law(scores)
    without = calibrate(
        Peeling(KINDS[kind], 2), UNIT_SPREAD, PrivacyParameter("epsilon", Fraction(2))
    )
    with precision(128):
        pairs = zip(with_gaps.probabilities(), without.law(scores).probabilities(), strict=True)
        assert all(abs(one - other) < 2.0**-60 for one, other in pairs)
    for _ in range(3):
        answer = with_gaps.draw(Words(WORDS))
        assert len({index for index, _ in answer}) == 2


def test_the_guarantee_is_the_composition_of_the_rounds() -> None:
    calibrated = rounds("exponential", [2, 1, 0], 2)
    assert calibrated.guarantee == LogisticDP(Fraction(1), "add_remove").repeated(2)
    by_rho = calibrate(
        Peeling(WithGap(Exponential()), 2), UNIT_SPREAD, PrivacyParameter("rho", Fraction(1))
    )
    assert by_rho.guarantee.rho is not None
    assert Fraction(99, 100) < by_rho.guarantee.rho <= 1


def test_a_last_candidate_has_no_gap() -> None:
    with pytest.raises(InvalidScores, match="more candidates than k"):
        rounds("exponential", [1, 2], 2).law(read_vector([1, 2]))
