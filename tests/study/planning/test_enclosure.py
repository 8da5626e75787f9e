"""Enclosures of probabilities, errors and entropies."""

import json
from fractions import Fraction
from typing import Any

import pytest
from flint import arb

import discreet
from discreet import Grid
from discreet.errors import InvalidArgument
from discreet.sampling.enclosures import ball, lower, precision, sharp, upper
from discreet.study.planning.enclosure import Enclosure
from tests.study.planning.test_distribution import AGES, GRID, NARROW, agree

SCORES = [[0], [0, 0], [3, 1, 1], [0, 1, 2, 3, 4], [Fraction(1, 3), -5, 2, 2, 1]]


@pytest.mark.parametrize("scores", SCORES)
@pytest.mark.parametrize("epsilon", ["1/3", 4])
def test_a_law_over_a_list_is_its_definition(scores: list[Any], epsilon: Any) -> None:
    law = discreet.distribution(scores, spread=2, epsilon=epsilon)
    eta, best = Fraction(epsilon) / 2, max(scores)
    with precision(200):
        weights = [(-ball(eta * (best - score))).exp() for score in scores]
        total = sum(weights, arb(0))
        chances = [weight / total for weight in weights]

        def holds(known: Enclosure, value: arb) -> bool:
            return agree(known, Enclosure(lower(value), upper(value)))

        for i, chance in enumerate(chances):
            assert law.lower[i] <= upper(chance)
            assert lower(chance) <= law.upper[i]
            assert holds(law.probability(i), chance)
            assert holds(law.cdf(i), sum(chances[: i + 1], arb(0)))
            behind = [
                p for p, s in zip(chances, scores, strict=True) if best - s >= best - scores[i]
            ]
            assert holds(law.tail(best - scores[i]), sum(behind, arb(0)))
        error = [p * ball(Fraction(best - s)) for p, s in zip(chances, scores, strict=True)]
        assert holds(law.expected_error(), sum(error, arb(0)))
        assert holds(law.entropy(), -sum((p * p.log() for p in chances), arb(0)))
        assert holds(law.expected_value(), sum((i * p for i, p in enumerate(chances)), arb(0)))
    assert sum(law.upper) - sum(law.lower) < Fraction(1, 2**64)


GOLDBERG = [1, 100, 102, 104, 105, 200, 365]


@pytest.mark.parametrize(
    ("epsilon", "mechanism", "golden"),
    [
        ("0.5", "exponential", ".0102658591"), (1, "exponential", ".0352423568"),
        (2, "exponential", ".2606193663"), (1, "permute_and_flip", ".0363915164"),
        (2, "permute_and_flip", ".3296611730"),
    ],
)  # fmt: skip
def test_goldbergs_median(epsilon: Any, mechanism: str, golden: str) -> None:
    law = discreet.distribution(
        discreet.median, GOLDBERG, candidates=Grid(1, 365), epsilon=epsilon, score="median_distance",
        mechanism=mechanism,
    )  # fmt: skip
    assert abs(float(law.probability(104)) - float(golden)) < 1e-10
    assert law.top(1)[0][0] == 104
    assert agree(law.cdf(365), Enclosure(Fraction(1), Fraction(1)))


def test_a_grid_too_long_to_list() -> None:
    law = discreet.distribution(discreet.median, AGES, candidates=Grid(0, 10**18), epsilon=1)
    assert law.size == 10**18 + 1
    assert "1,000,000,000,000,000,001 candidates in" in repr(law)
    assert law.quantile("1/2") > 10**17  # everything beyond the data, at e**-4 each
    with pytest.raises(InvalidArgument, match="100,000"):
        law.pmf()
    assert len(law.top(100)) == 100
    assert agree(law.cdf(10**18), Enclosure(Fraction(1), Fraction(1)))
    assert law.cdf(-1).upper == 0


@pytest.mark.parametrize("rows", [0, 1, 20_000])
def test_records_that_a_release_summarises_are_told_in_full(rows: int) -> None:
    data, grid = [i % 977 for i in range(rows)], Grid(0, 2**21)
    law = discreet.distribution(discreet.quantile, data, alpha="0.9", candidates=grid, epsilon=200)
    assert agree(law.cdf(2**21), Enclosure(Fraction(1), Fraction(1)))
    assert len(law.runs) <= 2 * 977 + 1
    assert law.size == 2**21 + 1


def test_what_is_told_says_that_it_is_private() -> None:
    law = discreet.distribution(discreet.median, AGES, candidates=GRID, epsilon=1)
    told = json.loads(json.dumps(law.as_dict()))
    assert "do not publish" in told["private"]
    assert told["guarantee"]["epsilon"] == "1"
    error = Enclosure(*map(Fraction, told["expected_error"].values()))
    assert agree(error, law.expected_error())
    assert sum(run["size"] for run in told["runs"]) == law.size == 29
    masses = [run["mass"] for run in told["runs"]]
    assert (
        sum(Fraction(m["lower"]) for m in masses) <= 1 <= sum(Fraction(m["upper"]) for m in masses)
    )
    assert told["runs"][0]["score"] == "-8"


def test_a_sharp_number_is_sharp() -> None:
    value = sharp(lambda: (1 + arb(2) ** -300) - 1)
    assert abs(value - arb(0)) < arb(2) ** -79
    wide = Enclosure(Fraction(1, 3), Fraction(1, 3) + NARROW)
    assert Fraction(1, 3) in wide
    assert 1 not in wide
    assert repr(wide) == "Enclosure(0.3333333333 ± 4e-16)"
    assert (
        Fraction(wide.as_dict()["lower"])
        <= wide.lower
        < wide.upper
        <= Fraction(wide.as_dict()["upper"])
    )
