"""Accounts: what of them the library asks, and the dataset that goes along with a bill."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from discreet.errors import InvalidArgument
from discreet.privacy import PureDP
from discreet.selection.account import (
    DescribedAccount,
    Indices,
    Listener,
    PaidAnswer,
    buy_from,
    currency_of,
    describe_account,
    is_billed,
    is_paid,
    is_quoted,
    read_account,
)
from discreet.selection.payment import About, Bill

from .test_payment import Purse

BILL = Bill(PureDP(Fraction(1, 2)), "exponential", "select", "2:abc")
ABOUT, OTHER = About("adult"), About("census")


class TellingPurse(Purse):
    """An account that tells whether it charged, and what it counts."""

    currency = "rho"

    def bought(self, bill: Bill, prepare: Callable[[], Callable[[], Indices]]) -> PaidAnswer:
        return PaidAnswer(self.buy(bill, prepare), True)


def test_an_account_tells_whether_it_charged_if_it_can() -> None:
    for purse, charged in ((Purse(), None), (TellingPurse(), True)):
        assert buy_from(purse, BILL, lambda: lambda: 3) == (3, charged)


def test_a_bill_goes_with_the_dataset_that_it_is_about() -> None:
    purse = TellingPurse()
    described = describe_account(purse, ABOUT)
    assert type(described) is DescribedAccount
    assert described.currency == "rho"
    assert described.buy(BILL, lambda: lambda: 3) == 3
    assert described.bought(BILL, lambda: lambda: 4) == (4, True)
    assert [bill.about for bill in purse.bills] == [ABOUT, ABOUT]
    assert [bill.digest for bill in purse.bills] == [BILL.digest, BILL.digest]


def test_the_outermost_verb_names_the_dataset() -> None:
    described = describe_account(Purse(), ABOUT)
    assert describe_account(described, OTHER).about is ABOUT
    listener = Listener(billing=True)
    assert describe_account(describe_account(listener, ABOUT), OTHER).about is ABOUT


def test_what_is_no_account_is_left_to_be_refused() -> None:
    assert describe_account("budget.db", ABOUT) == "budget.db"
    with pytest.raises(InvalidArgument, match="ledger must be a session"):
        read_account("budget.db")
    assert read_account(None) is None
    purse = Purse()
    assert read_account(purse) is purse


def test_an_account_counts_epsilon_or_rho_or_does_not_tell() -> None:
    assert [currency_of(one) for one in (TellingPurse(), Purse(), None)] == ["rho", None, None]
    assert Listener(billing=True, payer=TellingPurse()).currency == "rho"


@pytest.mark.parametrize(
    ("ledger", "paid", "quoted", "billed"),
    [
        (None, False, False, False),
        (Purse(), True, False, True),
        (Listener(billing=True), False, True, True),
        (Listener(billing=False), False, True, False),
    ],
)
def test_who_pays(ledger: Any, paid: bool, quoted: bool, billed: bool) -> None:
    terms = {"ledger": ledger}
    assert (is_paid(terms), is_quoted(terms), is_billed(terms)) == (paid, quoted, billed)
    assert not is_paid({})


def test_a_listener_pays_nothing() -> None:
    with pytest.raises(InvalidArgument, match="only to see what it would cost"):
        Listener(billing=True).buy(BILL, None)
