"""The best of several private tries: how often it tries, what it answers, what that costs."""

import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import discreet
from discreet.errors import DiscreetError, InvalidArgument, InvalidScores
from discreet.privacy import ZCDP, ApproxDP, GaussianDP, PureDP, RenyiDP
from discreet.selection.payment import Bill, Indices


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
        ({"attempt": PureDP(Fraction(1))}, "either epsilon"),
        ({"epsilon": None}, "either epsilon"),
        ({"delta": "1e-6"}, "delta goes with attempt"),
        (
            {"epsilon": None, "attempt": ZCDP(Fraction(1), "replace_one")},
            "must be under add_remove",
        ),
        ({"epsilon": None, "attempt": ApproxDP(Fraction(1), Fraction(1, 9))}, "Rényi divergences"),
        ({"epsilon": None, "attempt": 3}, "guarantee"),
        ({"epsilon": None, "attempt": ZCDP(Fraction(1)), "delta": 1}, "delta must be below 1"),
        ({"request": "one"}, "Give ledger too"),
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


def test_attempts_with_renyi_divergences_are_called_with_their_guarantee() -> None:
    noise = GaussianDP(Fraction(1, 5))

    def run(data: Any, candidate: str, share: Any) -> tuple[float, Any]:
        return 1.0, share

    release = discreet.private_candidates(run, None, ["a"], attempt=noise)
    assert isinstance(release.guarantee, RenyiDP)
    assert release.value == ("a", 1.0, noise)
    approx = discreet.private_candidates(run, None, ["a"], attempt=noise, delta="1e-6")
    assert approx.guarantee == release.guarantee.approx("1e-6")
    pure = discreet.private_candidates(run, None, ["a"], attempt=PureDP(Fraction(1, 3)))
    assert pure.guarantee == PureDP(Fraction(2, 3))


def test_a_request_gives_the_stored_answer_and_is_charged_once(tmp_path: Path) -> None:
    """A run that fails leaves the charge; the same request tries anew and costs no more."""
    book = discreet.Ledger(tmp_path / "budget.db")
    book.open("people", epsilon=3)
    session, calls = book.session("people"), list[str]()

    def run(data: Any, candidate: str, share: Fraction) -> tuple[float, Any]:
        calls.append(candidate)
        if len(calls) == 1:
            raise MemoryError
        return len(calls) / 2, {"weights": [1.5, None], "where": ("a.bin", len(calls))}

    def ask(**changed: Any) -> Any:
        terms: dict[str, Any] = {"epsilon": 1, "ledger": session, "request": "one", **changed}
        return discreet.private_candidates(run, None, ["a", "b"], **terms)

    with pytest.raises(InvalidScores, match="at no cost"):
        ask()
    assert book.budgets()[0].remaining.epsilon == 2
    first = ask()
    tried = len(calls)
    again = ask()
    assert len(calls) == tried
    assert first.value == again.value
    assert first.value[2]["where"][0] == "a.bin"
    assert book.budgets()[0].remaining.epsilon == 2
    with pytest.raises(DiscreetError, match="another question"):
        ask(epsilon=2)


def test_a_result_that_cannot_be_stored_is_refused_without_quoting_it(tmp_path: Path) -> None:
    book = discreet.Ledger(tmp_path / "budget.db")
    book.open("people", epsilon=3)
    session = book.session("people")
    with pytest.raises(InvalidArgument, match="leave out request") as caught:
        discreet.private_candidates(
            lambda *_: (1, {12345}), None, ["a"], epsilon=1, ledger=session, request="one"
        )
    assert "12345" not in str(caught.value)
