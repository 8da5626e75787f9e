"""Calls of verbs that are not made: their orders and bills, with nothing read and nothing paid."""

from typing import Any

import pytest

import discreet
from discreet.errors import InvalidArgument
from discreet.selection.verb_calls import Call, bill_of, delivery_of

TERMS: dict[str, Any] = {"sensitivity": 1, "candidates": ["a", "b"], "epsilon": 100}


def test_a_call_has_its_bill_and_is_asked_with_its_data() -> None:
    call = Call(discreet.select, (), TERMS).about([0, 9])
    assert call.bill() == bill_of(discreet.select, [0, 9], **TERMS)
    assert call.bill(request="r").request == "r"
    assert call.ask().value == "b"
    assert call.ask(epsilon=1).guarantee.pure == 1


def test_a_delivery_draws_when_it_is_asked_to() -> None:
    delivery = delivery_of(discreet.select, [0, 9], **TERMS)
    assert delivery.order.guarantee.pure == 100
    assert delivery.name(delivery.prepare()()) == "b"


@pytest.mark.parametrize("verb", [None, 3, lambda **_: None])
def test_what_releases_nothing_is_no_verb(verb: Any) -> None:
    with pytest.raises(InvalidArgument, match="verb"):
        bill_of(verb)


def test_arguments_that_can_be_read_once_are_refused() -> None:
    with pytest.raises(InvalidArgument, match="candidates"):
        bill_of(discreet.select, [0, 9], **{**TERMS, "candidates": iter("ab")})
