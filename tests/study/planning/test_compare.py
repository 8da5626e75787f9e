"""Mechanisms side by side."""

import json
from fractions import Fraction
from typing import Any

import pytest

import discreet
from discreet import Grid, compare
from discreet.errors import InvalidArgument

SCORES = [0, 1, 2, 3, 4]


def test_each_error_is_that_of_the_law() -> None:
    table = compare(
        SCORES,
        sensitivity=1,
        epsilons=["1/3", 2],
        mechanisms=["noisy_max", discreet.mechanisms.PermuteAndFlip()],
    )
    assert table.mechanisms == ("noisy_max", "permute_and_flip")
    assert table.epsilons == (Fraction(1, 3), Fraction(2))
    for epsilon, row in zip(table.epsilons, table.errors, strict=True):
        for mechanism, error in zip(table.mechanisms, row, strict=True):
            law = discreet.distribution(SCORES, sensitivity=1, epsilon=epsilon, mechanism=mechanism)
            assert error == law.expected_error()


def test_a_comparison_reads_well_and_its_repr_tells_nothing() -> None:
    table = compare(SCORES, sensitivity=1, epsilons=["0.5", 1])
    assert str(table) == (
        "expected error (as private as the scores)\n"
        "         exponential  permute_and_flip\n"
        "ε = 0.5        1.513             1.397\n"
        "ε = 1          1.094            0.9126"
    )
    assert (
        repr(table)
        == "Comparison(exponential, permute_and_flip at 2 epsilons; as private as the scores)"
    )
    html = table._repr_html_()
    assert html.count("<tr>") == 3
    assert ">0.9126</td>" in html
    told = json.loads(json.dumps(table.as_dict()))
    assert told["expected_error"][1]["epsilon"] == "1"
    assert told["expected_error"][1]["permute_and_flip"]["lower"].startswith("0.91257")


@pytest.mark.parametrize("error", ["0.5", "0.01", 1.9])
def test_the_epsilon_for_an_error_is_enough_and_no_more(error: Any) -> None:
    mechanisms = ["exponential", "permute_and_flip", "noisy_max", "base2"]
    needed = compare(SCORES, sensitivity=1, epsilons=[1], mechanisms=mechanisms).epsilon_for(error)
    assert needed["permute_and_flip"] <= needed["exponential"]
    for mechanism, epsilon in needed.items():

        def at(epsilon: Fraction, mechanism: str = mechanism) -> Any:
            law = discreet.distribution(SCORES, sensitivity=1, epsilon=epsilon, mechanism=mechanism)
            return law.expected_error()

        assert at(epsilon).upper <= Fraction(str(error))
        assert at(epsilon * Fraction(995, 1000)).lower > Fraction(str(error))


@pytest.mark.parametrize("mechanism", ["exponential", "permute_and_flip", "noisy_max"])
def test_errors_fall_as_epsilon_grows(mechanism: str) -> None:
    for scores in (SCORES, [0, 0, 5], [1, Fraction(1, 2), -8, 1]):
        errors = [
            discreet.distribution(scores, spread=1, epsilon=Fraction(k, 4), mechanism=mechanism)
            for k in range(1, 30)
        ]
        for near, far in zip(errors[1:], errors, strict=False):
            for error in (Fraction(1, 4), 1, 3):
                assert near.tail(error).lower <= far.tail(error).upper
            assert near.expected_error().upper < far.expected_error().lower


def test_verbs_are_compared_too() -> None:
    table = compare(discreet.median, [1, 5, 9], candidates=Grid(0, 10), epsilons=[1, 4])
    assert [float(a) > float(b) for a, b in table.errors] == [True, True]
    priced = compare(
        discreet.best_price,
        [1, 5, 9],
        candidates=Grid(0, 10),
        epsilons=[1],
        mechanisms=["exponential"],
    )
    law = discreet.distribution(discreet.best_price, [1, 5, 9], candidates=Grid(0, 10), epsilon=1)
    assert priced.errors[0][0] == law.expected_error()


@pytest.mark.parametrize(
    ("terms", "message"),
    [
        ({"epsilon": 1}, "leave out epsilon"),
        ({"mechanism": "base2"}, "leave out mechanism"),
        ({"epsilons": []}, "at least one epsilon"),
        ({"mechanisms": []}, "at least one epsilon and one mechanism"),
        ({"mechanisms": ["none"]}, "mechanism must be one of"),
        ({"epsilons": [0]}, "each of epsilons must be greater"),
    ],
)
def test_what_makes_no_sense_is_refused(terms: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidArgument, match=message):
        compare(SCORES, sensitivity=1, **terms)


def test_an_error_out_of_reach_is_refused() -> None:
    table = compare([0, Fraction(1, 10**12)], sensitivity=1, epsilons=[1])
    with pytest.raises(InvalidArgument, match="1e9 is not enough"):
        table.epsilon_for(Fraction(1, 10**30))
    assert max(table.epsilon_for(1).values()) < Fraction(1, 10**8)  # any epsilon does
