"""The best of several private tries: how often it tries, what it answers, what that costs."""

import math
from fractions import Fraction
from typing import Any

import pytest

import discreet
from discreet.errors import InvalidArgument, InvalidScores
from discreet.payment import Bill, Indices


class Purse:
    """An account that keeps the bills, or refuses them."""

    def __init__(self, willing: bool) -> None:
        self.willing, self.bills = willing, list[Bill]()

    def buy(self, bill: Bill, prepare: Any) -> Indices:
        self.bills.append(bill)
        if not self.willing:
            raise InvalidArgument("nothing is left")
        return prepare()()  # type: ignore[no-any-return]


def test_it_pays_once_and_before_it_tries() -> None:
    def run(data: Any, candidate: str, share: Fraction) -> tuple[float, str]:
        return 1.0, candidate

    purse = Purse(willing=True)
    release = discreet.private_candidates(
        run, None, ["a"], epsilon=3, repetitions="geometric", ledger=purse
    )
    assert release.value == ("a", 1.0, "a")
    (bill,) = purse.bills
    assert bill.guarantee == release.guarantee

    def never(*_: Any) -> tuple[float, str]:
        raise AssertionError

    with pytest.raises(InvalidArgument, match="nothing is left"):
        discreet.private_candidates(never, None, ["a"], epsilon=1, ledger=Purse(willing=False))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"epsilon": 0}, "epsilon must be greater than zero"),
        ({"gamma": 1}, "gamma must be at least 1e-6 and below 1"),
        ({"gamma": "1e-7"}, "gamma must be at least"),
        ({"repetitions": "poisson"}, "repetitions must be one of logarithmic, geometric"),
        ({"run": 3}, "run must be a function"),
        ({"neighbors": "rows"}, "neighbors must be one of"),
        ({"ledger": 3}, "ledger must be a session"),
        ({"candidates": ["a", "a"]}, "distinct"),
    ],
)
def test_what_it_refuses_before_it_tries(changed: dict[str, Any], message: str) -> None:
    def never(*_: Any) -> tuple[float, str]:
        raise AssertionError

    given: dict[str, Any] = {"run": never, "data": None, "candidates": ["a"], "epsilon": 1}
    with pytest.raises(InvalidArgument, match=message):
        discreet.private_candidates(**{**given, **changed})


@pytest.mark.parametrize("returned", [(math.nan, 0), (math.inf, 0), ("12345", 0), 12345, None])
def test_a_bad_try_is_refused_and_never_quoted(returned: Any) -> None:
    with pytest.raises(InvalidScores) as caught:
        discreet.private_candidates(lambda *_: returned, None, ["a"], epsilon=1)
    assert "12345" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


def test_an_error_of_the_run_is_replaced() -> None:
    def run(*_: Any) -> tuple[float, str]:
        raise ValueError("12345")

    with pytest.raises(InvalidScores, match="run failed with ValueError") as caught:
        discreet.private_candidates(run, None, ["a"], epsilon=1)
    assert "12345" not in str(caught.value)
