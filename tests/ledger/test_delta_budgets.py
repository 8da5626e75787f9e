"""Budgets in epsilon and delta: what adds up, where it ends, and how a budget gets a delta."""

from fractions import Fraction
from typing import Any

import pytest

from discreet import compose
from discreet.errors import Exhausted, InvalidArgument
from discreet.ledger import Ledger
from discreet.ledger.budget import Amount
from discreet.privacy import BoundedRange
from discreet.privacy.guarantees import ApproxDP

from ..ledgers import answering, bill, untouched

HALF = Fraction(1, 2)


def test_a_budget_in_epsilon_gets_a_delta_by_an_event(where: str) -> None:
    ledger = Ledger(where)
    ledger.open("adult", epsilon=2)
    ledger.open("adult", analyst="a", epsilon=1)
    ledger.session("adult", "a").buy(bill("1/2"), answering(0))
    keys = bill(guarantee=ApproxDP(Fraction(1, 4), Fraction(1, 10**7), "add_remove"))
    with pytest.raises(InvalidArgument, match="counts epsilon, and this release"):
        ledger.session("adult", "a").buy(keys, untouched)
    with pytest.raises(InvalidArgument, match="so a share of it is too"):  # it has none to give
        ledger.extend("adult", analyst="a", delta="1e-6", delta_for="questions")
    wrongs: list[dict[str, Any]] = [{}, {"delta_for": "composition"}]
    for wrong in wrongs:
        with pytest.raises(InvalidArgument, match="give delta_for='questions'"):
            ledger.extend("adult", delta="1e-6", **wrong)
    whole = ledger.extend("adult", delta="1e-6", delta_for="questions")
    assert (whole.delta_for, whole.total.delta) == ("questions", Fraction(1, 10**6))
    assert whole.spent == Amount(Fraction(1), None)
    with pytest.raises(InvalidArgument, match="counts epsilon, and this release"):
        ledger.session("adult", "a").buy(keys, untouched)
    share = ledger.extend("adult", analyst="a", delta="4e-7", delta_for="questions")
    assert share.spent == Amount(HALF, None)
    for _ in range(2):
        ledger.session("adult", "a").buy(keys, answering(0))
    with pytest.raises(Exhausted):  # of epsilon nothing is left
        ledger.session("adult", "a").buy(keys, untouched)
    assert ledger.history()[-6].body["delta_for"] == "questions"
    whole, share = ledger.budgets()
    assert share.remaining == Amount(Fraction(0), None, Fraction(2, 10**7))
    assert whole.remaining == Amount(Fraction(1), None, Fraction(6, 10**7))
    assert ledger.verify().events == len(ledger.history())
    assert ledger.open("adult", epsilon=2, delta="1e-6", delta_for="questions") == whole
    assert ledger.open("adult", analyst="b", epsilon="1/2").delta_for is None
    more = ledger.extend("adult", delta="3e-6")
    assert more.total.epsilon == 2
    assert more.total.delta == Fraction(3, 10**6)
    assert ledger.extend("adult", epsilon=3).total.delta == Fraction(3, 10**6)
    with pytest.raises(InvalidArgument, match="can only be extended to more"):
        ledger.extend("adult", delta="1e-6")
    with pytest.raises(InvalidArgument, match="is for questions, and stays so"):
        ledger.extend("adult", delta="1e-5", delta_for="composition")
    with pytest.raises(InvalidArgument, match="delta_for goes with delta"):
        ledger.extend("adult", epsilon=4, delta_for="questions")
    ledger.open("rho", rho=1)
    with pytest.raises(InvalidArgument):
        ledger.extend("rho", delta="1e-6", delta_for="questions")
    assert ledger.verify().events == len(ledger.history())


def test_delta_is_exhausted_exactly_at_its_limit() -> None:
    ledger = Ledger()
    ledger.open("adult", epsilon=100, delta="3e-7", delta_for="questions")
    third = bill(guarantee=ApproxDP(Fraction(1, 4), Fraction(1, 10**7), "add_remove"))
    least = bill(guarantee=ApproxDP(Fraction(1, 4), Fraction(1, 10**300), "add_remove"))
    for _ in range(3):
        ledger.session("adult").buy(third, answering(0))
    with pytest.raises(Exhausted, match="cannot pay"):
        ledger.session("adult").buy(least, untouched)
    ledger.session("adult").buy(bill("1/4"), answering(0))  # without a delta there is enough
    assert ledger.budgets()[0].remaining.delta == 0


def test_an_additive_slack_is_charged_beside_the_epsilon_of_its_core() -> None:
    core = BoundedRange(Fraction(1, 4), "add_remove")
    slack = compose([core, ApproxDP(Fraction(1, 8), Fraction(1, 10**8), "add_remove")])
    ledger = Ledger()
    ledger.open("adult", epsilon=1, delta="1e-7", delta_for="questions")
    ledger.session("adult").buy(bill(guarantee=slack), answering(0))
    spent = ledger.budgets()[0].spent
    assert spent.epsilon == Fraction(3, 8)
    assert Fraction(1, 10**8) <= spent.delta < Fraction(1, 10**8) * (1 + Fraction(1, 10**15))
    assert ledger.verify().events == 3
