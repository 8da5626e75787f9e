"""Lists of whole numbers with noise: their details, their order by group, and what is drawn for each."""

from fractions import Fraction
from typing import Any
from unittest.mock import patch

import pytest

from discreet.mechanisms.contract import PrivacyParameter
from discreet.mechanisms.noisy_counts import NoisyCounts, counts_sensitivity
from discreet.mechanisms.testing import SeededBits
from discreet.privacy import PureDP
from discreet.privacy.composition import compose
from discreet.tables.verbs.noisy_numbers import COUNT_TERMS, ListNoise, NoisyNumbers, read_terms
from discreet.tables.verbs.units import read_unit_query


def noise_of(epsilon: Any, change: int = 1) -> ListNoise:
    parameter = PrivacyParameter("epsilon", Fraction(epsilon))
    return ListNoise(
        NoisyCounts(-99, 99), counts_sensitivity(1, "add_remove", change=change), parameter
    )


def test_a_list_of_each_noise_follows_the_other_in_each_group() -> None:
    terms: Any = {"by": "g", "groups": ["x", "y"]}
    numbers = [[[1, 2], [30]], [[4, 5], [60]]]
    plan = NoisyNumbers(
        read_unit_query(terms), [noise_of(50), noise_of(60)], numbers, list, lambda: None
    )
    assert plan._draw(numbers, SeededBits()) == [[1, 2, 30], [4, 5, 60]]
    alone = NoisyNumbers(read_unit_query({}), [noise_of(50)], [[[7]]], list, lambda: None)
    assert alone._draw([[[7]]], SeededBits()) == [7]
    assert alone.guarantee == PureDP(Fraction(50))
    assert plan.guarantee == compose(PureDP(Fraction(50)), PureDP(Fraction(60)))


def test_the_noise_of_each_number_is_its_own() -> None:
    drawn = noise_of(1).draw([0] * 50, SeededBits())
    assert len(set(drawn)) > 3


def test_all_that_decides_the_noise_is_in_its_details() -> None:
    details = [noise_of(*one).details for one in ((1,), (2,), (1, 3))]
    assert len({str(one) for one in details}) == 3
    assert noise_of(1, 4).scale == 4


def test_terms_are_read_before_anything_else() -> None:
    own = read_terms({"rho": "1/2", "by": None, "delta": "1e-9"}, COUNT_TERMS)
    assert own.parameter == PrivacyParameter("rho", Fraction(1, 2))
    assert own.delta == "1e-9"
    assert own.of_units == {"by": None}
    with pytest.raises(TypeError, match="mechanism"):
        read_terms({"mechanism": "exponential", "epsilon": 1}, COUNT_TERMS)


def test_nothing_is_drawn_before_the_numbers_are_read() -> None:
    read: list[str] = []

    def numbers(column: str) -> list[list[int]]:
        read.append(column)
        return [[1]]

    plan = NoisyNumbers(read_unit_query({}), [noise_of(1)], ["numbers"], numbers, lambda: None)

    def noise(*_: Any) -> list[int]:
        read.append("noise")
        return [1]

    with patch.object(ListNoise, "draw", noise):
        draw = plan._prepare()
        assert read == ["numbers"]
        assert draw() == [1]
    assert read == ["numbers", "noise"]
