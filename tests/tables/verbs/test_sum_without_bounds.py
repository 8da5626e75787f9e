"""Sums and means between bounds that are bought first."""

from decimal import Decimal
from fractions import Fraction
from typing import Any
from unittest.mock import patch

import numpy as np
import polars as pl
import pytest

import discreet
from discreet import Ledger
from discreet.errors import InvalidArgument, InvalidNumber, UnreadableData
from discreet.privacy import GeometricDP, PureDP
from discreet.privacy.composition import compose
from discreet.selection.decimals import RoundNumbers
from discreet.selection.verb_calls import bill_of
from discreet.service.asking.wire import read_release, write_release
from discreet.tables.verbs.bounds import BothEnds

from ...noisy import numbers_behind

ROUND = RoundNumbers()
PAY: list[float] = np.random.default_rng(5).lognormal(8, 1, 20_000).tolist()


def index_of(value: str) -> int:
    return next(i for i in range(ROUND.size) if ROUND[i] == Decimal(value))


def between(low: str, high: str) -> Any:
    """Let the bounds that are drawn be these."""
    ends = [index_of(low), index_of(high)]
    return patch.object(BothEnds, "prepare", lambda *_: lambda: ends)


def test_a_mean_of_numbers_that_nobody_bounded() -> None:
    release = discreet.mean(PAY, epsilon=10, bounds_share="1/10")
    low, high = release.bounds
    assert low < high
    assert abs(float(release.value) / np.mean(PAY) - 1) < 0.1
    assert abs(release.counts - len(PAY)) < 50
    total = discreet.sum(PAY, epsilon=10, bounds_share="1/10")
    assert abs(float(total.value) / np.sum(PAY) - 1) < 0.1
    assert total.counts is None


def test_the_guarantee_holds_whatever_bounds_are_drawn() -> None:
    ends = PureDP(Fraction(1, 20)).repeated(2)
    mean = discreet.mean([1.0], epsilon=1, bounds_share="1/10").guarantee
    assert mean == compose(ends, PureDP(Fraction(9, 20)).repeated(2))
    assert mean.pure == 1
    assert discreet.sum([1.0], epsilon=1, bounds_share="1/10").guarantee == compose(
        ends, PureDP(Fraction(9, 10))
    )
    table = pl.DataFrame({"u": ["a"], "n": [1.0]})
    units = discreet.mean(
        table, "n", epsilon=1, bounds_share="1/2", privacy_unit="u", max_contributions=3
    ).guarantee
    rows = GeometricDP(Fraction(1, 4), 3)
    assert units == compose(PureDP(Fraction(1, 4)).repeated(2), rows, PureDP(Fraction(1, 4)))
    assert units.pure == 1


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
def test_the_noise_is_that_of_the_bounds_that_were_drawn(neighbors: Any) -> None:
    terms: Any = {"epsilon": 1, "bounds_share": "1/10", "neighbors": neighbors}
    with between("-2", "10"):
        [total] = numbers_behind(discreet.sum, [1.0, 99.0, -99.0], **terms)
        size, centred = numbers_behind(discreet.mean, [1.0, 99.0, -99.0], **terms)
    thousandths = 10**4  # a width of 12 has steps of 1/10,000
    assert total.numbers == ((1 + 10 - 2) * thousandths,)
    most = 10 if neighbors == "add_remove" else 12
    assert total.sensitivity.spread == most * thousandths
    assert total.eta == Fraction(9, 10) / (most * thousandths)
    assert size.numbers == (3,)
    assert centred.numbers == ((1 - 4 + 6 - 6) * thousandths,)
    assert centred.sensitivity.spread == (6 if neighbors == "add_remove" else 12) * thousandths


def test_equal_bounds_are_a_constant_and_no_error() -> None:
    terms: Any = {"epsilon": 10**7, "bounds_share": "1/10"}
    for value in ("5", "0", "-2E+3"):
        with between(value, value):
            mean = discreet.mean([1.0, 2.0, 3.0], **terms)
            total = discreet.sum([1.0, 2.0, 3.0], **terms)
        assert mean.value == Decimal(value)
        assert mean.bounds == [Decimal(value)] * 2
        assert abs(total.value - 3 * Decimal(value)) < 1


def test_a_mean_of_nothing_is_none() -> None:
    release = discreet.mean([], epsilon=10, bounds_share="1/2")
    while release.value is not None:  # noise of a count of 0 at ε = 5/2 is rarely above it
        release = discreet.mean([], epsilon=10, bounds_share="1/2")
    assert release.counts <= 0


def test_a_ledger_is_charged_once_and_answers_again() -> None:
    ledger = Ledger()
    ledger.open("pay", epsilon=2)
    ask: Any = {"epsilon": 1, "bounds_share": "1/10", "request": "r"}
    first = ledger.session("pay").mean(PAY, **ask)
    again = ledger.session("pay").mean([0.0], **ask)
    assert (first.value, first.bounds, first.counts) == (again.value, again.bounds, again.counts)
    assert again.charged is False
    assert ledger.budgets()[0].spent.epsilon == 1
    back = read_release(write_release(first))
    assert back.bounds == first.bounds
    assert f"bounds {first.as_dict()['bounds']}".replace("'", "") in str(first)


def test_a_quote_reads_nothing() -> None:
    bill = bill_of(discreet.mean, "no/such/file.csv", "n", epsilon=1, bounds_share="1/10")
    assert bill.guarantee.pure == 1
    assert bill.query == "mean of n, bounds for 1/10 of epsilon"


@pytest.mark.parametrize(
    ("terms", "words"),
    [
        ({"minimum": 0}, "buys bounds where none are known"),
        ({"step": 1}, "buys bounds where none are known"),
        ({"by": "g", "groups": ["x"]}, "for one answer"),
        ({"epsilon": None, "rho": 1}, "with epsilon, not rho"),
        ({"bounds_share": 1}, "between 0 and 1"),
        ({"bounds_share": 0}, "between 0 and 1"),
        ({"bounds_share": None}, "bounds_share='1/10'"),
    ],
)
def test_public_mistakes_are_refused_before_data_are_opened(terms: Any, words: str) -> None:
    arguments = {"epsilon": 1, "bounds_share": "1/10", **terms}
    for verb in (discreet.sum, discreet.mean):
        with pytest.raises((InvalidArgument, InvalidNumber), match=words):
            verb("no/such/file.csv", "n", **arguments)


def test_columns_without_numbers_are_refused_by_their_type() -> None:
    with pytest.raises(UnreadableData, match="not a column of numbers"):
        discreet.mean(pl.DataFrame({"n": ["a"]}), "n", epsilon=1, bounds_share="1/10")


def test_a_description_without_bounds_lets_them_be_bought() -> None:
    table = pl.DataFrame({"n": [1, 2, 3], "m": [1, 2, 3]})
    columns: Any = {"n": {"type": "integer"}, "m": {"type": "integer", "minimum": 0, "maximum": 9}}
    data = discreet.Dataset(table, columns)
    assert discreet.mean(data, "n", epsilon=1, bounds_share="1/10").bounds is not None
    with pytest.raises(InvalidArgument, match="leave it out"):
        discreet.mean(data, "m", epsilon=1, bounds_share="1/10")
    with pytest.raises(InvalidArgument, match="minimum and maximum are missing"):
        discreet.mean(data, "n", epsilon=1)


def test_a_constant_is_said_to_be_one() -> None:
    """After it was paid for, never as an error: where both bounds are one number, or next to 0."""
    with between("5", "5"):
        release = discreet.mean([1.0, 9.0, 9.0] * 30, epsilon=4, bounds_share="1/10")
    assert release.value == 5
    assert "[5, 5], so all records count as 5" in str(release)
    assert "so all records count as 5" in release._repr_html_()
    with between("-1e-307", "2e-142"):
        zeros = discreet.mean([0.0] * 90, epsilon=4, bounds_share="1/10")
        total = discreet.sum([0.0] * 90, epsilon=4, bounds_share="1/10")
    assert zeros.bounds == total.bounds == [0, 0]
    assert "so all records count as 0" in str(zeros)
    assert len(str(total.value)) < 20
    with between("1e-99", "2e-99"):
        assert discreet.mean([0.0] * 90, epsilon=4, bounds_share="1/10").bounds[0] > 0
    with between("5", "10"):
        assert "so all records" not in str(discreet.mean([7.0], epsilon=4, bounds_share="1/10"))
