"""A question from its price to its purchase: see also `test_rights`."""

from collections.abc import Callable
from fractions import Fraction
from operator import attrgetter
from typing import Any

import pytest

import discreet
from discreet import Dataset
from discreet.errors import DiscreetError, InvalidArgument, Unanswerable
from discreet.ledger import Amount, Quote
from discreet.selection.verb_calls import Call
from discreet.service.asking.checkout import Inquiry, share_error
from discreet.service.asking.datasets import Datasets

IS_PUBLIC = attrgetter("is_public")


@pytest.mark.parametrize("unit", ["epsilon", "rho"])
def test_nothing_is_asked_that_costs_more_than_the_caller_will_pay(unit: str) -> None:
    half = Fraction(1, 2)
    terms: dict[str, Any] = {unit: 1}
    budget = discreet.Ledger().open("d", **terms)
    call = Call(discreet.mode, (["a", "b"],), {unit: half, "candidates": ["a", "b"]})

    def priced(most: Fraction | None) -> None:
        Inquiry("d", None, call, budget, max_cost=most).check_price(call.bill(ledger=budget))

    for enough in (None, Fraction(1, 2), Fraction(1)):
        priced(enough)
    with pytest.raises(DiscreetError, check=IS_PUBLIC) as refused:
        priced(Fraction(1, 3))
    assert "more than max_cost" in str(refused.value)


class Failing:
    """A question, and its checkout, that end with an error before or after its bill is known."""

    def __init__(self, error: Exception, bill: object = None) -> None:
        self._error, self._bill = error, bill

    verb = staticmethod(discreet.median)

    def about(self, _data: object) -> "Failing":
        return self

    def bill(self, **_: object) -> Any:
        raise self._error


class FailingCheckout:
    def __init__(self, error: Exception, bill: object) -> None:
        self._error, self.bill = error, bill

    def ask(self, *_: object) -> Any:
        raise self._error


ERRORS: list[tuple[Exception, bool]] = [
    (InvalidArgument("SECRET"), True),
    (TypeError("SECRET"), True),
    (Unanswerable("SECRET"), False),
    (OSError("SECRET"), False),
]
"""What may go wrong, and whether it is told of a free question that was not read yet."""


@pytest.mark.parametrize(("error", "is_told"), ERRORS)
@pytest.mark.parametrize("is_named", [True, False])
@pytest.mark.parametrize("bill", [None, object()])
def test_errors_of_a_free_question_are_told_only_before_anything_is_read(
    error: Exception, is_told: bool, is_named: bool, bill: object
) -> None:
    """Of a named one never: its arguments are its owner's."""
    call: Any = Failing(error)
    budget: Any = None
    permission: Any = object() if is_named else None
    inquiry = Inquiry("people", None, call, budget, permission)
    checkout: Any = FailingCheckout(error, bill)
    session: Any = None
    asks: list[tuple[Callable[[], object], bool]] = [
        (lambda: inquiry.bill(), not is_named and is_told),
        (
            lambda: inquiry.ask(checkout, session),
            not is_named and is_told and bill is None,
        ),
    ]
    for ask, is_public in asks:
        vars(error).pop("is_public", None)
        with pytest.raises(Exception) as raised:  # noqa: PT011  # of whichever kind
            ask()
        assert getattr(raised.value, "is_public", False) is is_public
        assert is_public or raised.value is error


def test_what_a_budget_cannot_count_may_be_told() -> None:
    ledger = discreet.Ledger()
    held = Datasets(ledger)
    held.hold("d", Dataset({"x": ["a", "b"]}, {"x": {"type": "string"}}, name="d"))
    budget = held.open_budget("d", None, rho=1)
    question = Call(discreet.keys, (["a", "b"],), {"epsilon": 1, "delta": "1/100"})
    inquiry = Inquiry("d", None, question, budget)
    with pytest.raises(DiscreetError, check=IS_PUBLIC) as caught:
        inquiry.cost(question.bill())
    assert "counts rho" in str(caught.value)


@pytest.mark.parametrize(("fits", "is_oversubscribed", "words"), [
    (True, False, "has just changed. Retry"),
    (True, True, "all analysts of people may spend together"),
    (False, False, "cannot pay"), (False, True, "cannot pay"),
])  # fmt: skip
def test_others_have_spent_the_budget_only_if_it_is_oversubscribed(
    fits: bool, is_oversubscribed: bool, words: str
) -> None:
    """A share that could pay on a second look was given more meanwhile, or is another one."""
    half = Amount(Fraction(1, 2))
    quote = Quote(half, half, half, fits, "people", None, None)
    assert words in str(share_error("people", quote, is_oversubscribed))
