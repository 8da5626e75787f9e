"""The sensitivity sampler keeps its gamma, by enumerating every sample it could draw."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from math import log, prod, sqrt
from typing import Any

import pytest

from discreet import audit, per_candidate
from discreet.errors import InvalidArgument, InvalidScores

total = per_candidate(lambda data, c: c * sum(data))
LAW = {0: Fraction(1, 2), 1: Fraction(1, 3), 5: Fraction(1, 6)}


def estimate(records: Any, samples: int, order: int | None = None, **vouched: Any) -> Any:
    given = iter(records)
    return audit.estimate_sensitivity(
        total, [0, 1], lambda: next(given), 1, samples=samples, order=order, **vouched
    )


def every_sample(m: int) -> Iterator[tuple[tuple[int, ...], Fraction]]:
    for sample in product(LAW, repeat=m):
        yield sample, prod((LAW[r] for r in sample), start=Fraction(1))


@pytest.mark.parametrize(("m", "k"), [(1, 1), (3, 3), (3, 2), (4, 1)])
def test_a_fresh_pair_goes_further_as_rarely_as_gamma_says(m: int, k: int) -> None:
    """One record comes or goes, and moves the score by its value: three values, all samples."""
    further = Fraction(0)
    for sample, chance in every_sample(m):
        found = estimate(sample, m, k)
        assert found.change == found.spread == sorted(sample)[k - 1]
        assert found.gamma == Fraction(m - k + 1, m + 1)
        further += chance * sum(p for value, p in LAW.items() if value > found.spread)
    assert 0 < further <= Fraction(m - k + 1, m + 1)


@pytest.mark.parametrize(("m", "k", "confidence"), [(3, 3, Fraction(2, 3)), (4, 2, Fraction(1, 4))])
def test_the_share_is_exceeded_as_rarely_as_the_confidence_says(
    m: int, k: int, confidence: Fraction
) -> None:
    wrong = Fraction(0)
    for sample, chance in every_sample(m):
        found = estimate(sample, m, k)
        beyond = sum(p for value, p in LAW.items() if value > found.spread)
        wrong += chance * (beyond > found.share(confidence))
    assert 0 < wrong <= 1 - confidence


def test_replacing_draws_two_records() -> None:
    found = estimate([3, 7, 10, 2], 2, neighbors="replace_one")
    assert found.change == 8
    assert found.neighbors == "replace_one"


def test_larger_databases_have_records_in_common() -> None:
    seen: list[list[int]] = []
    given = iter(range(100))

    def u(data: list[int], candidates: list[int]) -> list[int]:
        seen.append(data)
        return [c * len(data) for c in candidates]

    found = audit.estimate_sensitivity(u, [1, 3], lambda: next(given), 3, samples=2)
    assert seen == [[0, 1], [0, 1, 2], [3, 4], [3, 4, 5]]
    assert [found.change, found.spread] == [Fraction(3), Fraction(2)]


def test_floats_and_their_error() -> None:
    halves = per_candidate(lambda data, c: c * 0.5 * sum(data))
    with pytest.raises(InvalidScores, match="u returns floats"):
        audit.estimate_sensitivity(halves, [0, 1], lambda: 1, 1, samples=1)
    found = audit.estimate_sensitivity(halves, [0, 1], lambda: 1, 1, samples=1, error="0.1")
    assert (found.change, found.spread) == (Fraction(7, 10), Fraction(9, 10))
    exact = audit.estimate_sensitivity(halves, [0, 1], lambda: 1, 1, samples=1, granularity="1/2")
    assert exact.spread == Fraction(1, 2)


def test_fewer_samples_than_by_the_inequality_of_the_paper() -> None:
    """For gamma = 1/20 all 19 changes do; by Dvoretzky, Kiefer and Wolfowitz it takes a thousand."""
    assert estimate([1] * 19, 19).gamma == Fraction(1, 20)

    def gamma(m: int) -> float:
        return min(
            rho + sqrt(log(1 / rho) / (2 * m)) for rho in (i / 10_000 for i in range(1, 500))
        )

    assert gamma(1000) > 0.05


def test_how_it_is_told() -> None:
    assert str(estimate([1, 2, 3], 3)) == (
        "spread 3, sensitivity 3, but for a share of 0.25 of chance pairs (3 drawn, add_remove). Random "
        "differential privacy only, with no promise for other data"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"samples": 0}, "samples must be a whole number"),
        ({"order": 4}, "order must be a whole number from 1 to 3"),
        ({"size": 0}, "size must be a whole number"),
        ({"neighbors": "twins"}, "neighbors must be one of"),
        ({"record": 7}, "record must be a function"),
        ({"u": 7}, "u must be a function"),
        ({"error": -1}, "error must not be below zero"),
    ],
)
def test_arguments_are_checked_before_anything_is_drawn(arguments: Any, message: str) -> None:
    def never() -> int:
        raise AssertionError("was drawn")

    given = {"u": total, "candidates": [1], "record": never, "size": 1, "samples": 3}
    with pytest.raises(InvalidArgument, match=message):
        audit.estimate_sensitivity(**{**given, **arguments})


@pytest.mark.parametrize("confidence", [0, 1])
def test_a_confidence_is_between_0_and_1(confidence: int) -> None:
    with pytest.raises(InvalidArgument, match="confidence must be"):
        estimate([1], 1).share(confidence)
