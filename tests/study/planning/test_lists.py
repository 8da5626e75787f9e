"""Distributions and audits of lists, of quantiles and of counts: certified, and those that are drawn."""

from collections import Counter
from fractions import Fraction
from typing import Any

import pytest
from flint import arb

import discreet
from discreet import Grid, audit
from discreet.errors import InvalidArgument
from discreet.mechanisms.top_counts import probabilities_of_largest
from discreet.sampling.enclosures import lower, precision, upper
from discreet.sampling.geometric import GeometricNoise
from discreet.study.planning.answer_masses import ANYTHING_ELSE

from ...mechanisms.test_top_counts import answers, chance

ROWS = ["tea"] * 4 + ["milk"] * 3 + ["soda"]
DRINKS = ["milk", "tea", "soda"]
NUMBERS = [1, 1, 2, 4]
ALPHAS = ["1/4", "1/2", "3/4"]

LISTS: dict[str, tuple[Any, ...]] = {
    "counts": (discreet.top_k, ROWS, {"k": 2, "candidates": DRINKS, "method": "counts"}),
    "all": (discreet.top_k, ROWS, {"k": 3, "candidates": DRINKS, "method": "counts"}),
    "peeling": (discreet.top_k, ROWS, {"k": 2, "candidates": DRINKS, "method": "peeling"}),
    "joint": (discreet.top_k, ROWS, {"k": 2, "candidates": DRINKS, "method": "joint"}),
    "mode": (discreet.mode, ROWS, {"candidates": DRINKS, "method": "counts"}),
    "recursive": (discreet.quantiles, NUMBERS, {"alphas": ALPHAS, "candidates": Grid(0, 4)}),
    "independent": (
        discreet.quantiles, NUMBERS,
        {"alphas": ALPHAS[1:], "candidates": Grid(0, 4), "method": "independent"},
    ),
    "histogram": (discreet.counts, ["a", "a", "b"], {"candidates": ["a", "b"]}),
    "number": (discreet.count, ["a", "a", "b"], {}),
}  # fmt: skip


@pytest.mark.parametrize("name", LISTS)
def test_a_distribution_is_certified_and_the_one_that_is_drawn(name: str) -> None:
    verb, data, terms = LISTS[name]
    law = discreet.distribution(verb, data, **terms, epsilon=2)
    assert sum(law.lower) <= 1 <= sum(law.upper) < sum(law.lower) + Fraction(1, 2**64)
    size = 2000
    drawn = discreet.simulate(verb, data, **terms, epsilon=2, size=size)
    seen = Counter(drawn.frequencies())
    for answer, probability in law.top(4):
        share = float(probability)
        assert abs(seen[answer] - share) < 6 * (share * (1 - share) / size) ** 0.5, answer
    assert set(seen) <= set(law.candidates) | {ANYTHING_ELSE}
    assert str(law.top(1)[0][0]) in str(law.table(3))
    assert law.series().chances


@pytest.mark.parametrize("eta", ["1/2", "2"])
def test_lists_have_the_probabilities_of_their_noisy_counts(eta: str) -> None:
    """The sum over the counts, in another order and another window."""
    numbers = [3, 3, 2]
    with precision(128):
        noise = GeometricNoise(Fraction(eta))
        for k in (1, 2):
            stated = probabilities_of_largest(numbers, k, noise)
            a = (-arb(Fraction(eta).numerator) / Fraction(eta).denominator).exp()
            reach = 30 if eta == "1/2" else 9
            sums: dict[tuple[int, ...], Any] = {}
            for listed, noisy in answers(3, k, 2 - reach, 3 + reach):
                one = chance(numbers, listed, noisy, a)
                sums[tuple(listed)] = sums.get(tuple(listed), 0) + one
            assert len(stated) == len(sums)
            for ball, one in zip(stated, (sums[key] for key in sorted(sums)), strict=True):
                assert abs(upper(ball) - lower(ball)) < Fraction(1, 10**20)
                assert abs(float(ball.mid()) - float(one.mid())) < 1e-5


EXACT: Any = audit.exact
AUDITS: dict[str, tuple[Any, ...]] = {
    **{name: LISTS[name] for name in ("counts", "peeling", "joint", "mode")},
    "recursive": (discreet.quantiles, NUMBERS, {"alphas": ALPHAS[1:], "candidates": Grid(0, 4)}),
    "histogram": LISTS["histogram"],
}


@pytest.mark.parametrize("name", AUDITS)
def test_an_audit_of_answers_holds_on_neighbours(name: str) -> None:
    verb, data, terms = AUDITS[name]
    result = audit.exact(verb, data, data[:-1], **terms, epsilon=1)
    assert result.holds
    assert 0 < result.epsilon.lower <= 1
    if name == "histogram":  # reached
        assert result.epsilon.upper > 1 - Fraction(1, 2**90)
    assert audit.exact(verb, data, data, **terms, epsilon=1).epsilon.upper < Fraction(1, 2**90)


def test_an_audit_tells_tables_that_are_no_neighbours() -> None:
    verb, data, terms = LISTS["counts"]
    assert not audit.exact(verb, data, data[:2], **terms, epsilon=1).holds


def test_an_approximate_guarantee_is_audited_with_its_delta() -> None:
    verb, data, terms = LISTS["peeling"]
    result = audit.exact(verb, data, data[1:], **terms, epsilon=1, delta="1e-3")
    assert result.delta == Fraction(1, 1000)
    assert result.holds


def test_too_many_answers_are_refused_with_their_number() -> None:
    grid: dict[str, Any] = {"alphas": ["1/4", "3/4"], "candidates": Grid(0, 400), "epsilon": 1}
    with pytest.raises(InvalidArgument, match="80,601 answers"):
        discreet.distribution(discreet.quantiles, NUMBERS, **grid)
    many = [f"drink {i}" for i in range(10)]
    with pytest.raises(InvalidArgument, match="59,049 answers"):
        discreet.distribution(discreet.counts, ROWS, candidates=many, epsilon=1)
    with pytest.raises(InvalidArgument, match="products"):
        discreet.distribution(discreet.top_k, ROWS, k=3, candidates=many, epsilon="1/100")


@pytest.mark.parametrize(
    "call",
    [
        lambda: EXACT(discreet.mode, ROWS),
        lambda: EXACT([1, 2], [1, 2], [1, 2], sensitivity=1, epsilon=1),
        lambda: audit.exact(
            discreet.quantiles, NUMBERS, NUMBERS, alphas=["1/2"], candidates=Grid(0, 4), epsilon=1,
            method="joint",
        ),
        lambda: audit.exact(discreet.median, NUMBERS, NUMBERS, candidates=Grid(0, 4), epsilon=1),
    ],
)  # fmt: skip
def test_what_is_not_worked_out_is_refused(call: Any) -> None:
    with pytest.raises(InvalidArgument):
        call()
