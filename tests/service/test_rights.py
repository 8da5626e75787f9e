"""Rights: a question is settled once, from its check to its purchase, and whoever may ask no more pays nothing."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import discreet
from discreet.batches import Call
from discreet.errors import DiscreetError, InvalidArgument, NotAllowed, Unanswerable
from discreet.ledger.store import Store
from discreet.ledger.toml_budgets import configuration
from discreet.node.allowed_questions import Checkout
from discreet.node.isolation import PublicError
from discreet.payment import Bill
from discreet.service.permissions import auditor_rights, hold
from discreet.service.tokens import Tokens, tokens_beside

from .test_app import LATER
from .test_connect import folder, spent, tells

__all__ = ["folder"]


def token_of_ann() -> tuple[Tokens, str, str]:
    """Return the tokens, and the text and the id of one of ann's."""
    tokens = tokens_beside(Path("discreet.toml"))
    text, token = tokens.create("analyst", "ann", LATER)
    return tokens, text, token.id


def before_writing(monkeypatch: pytest.MonkeyPatch, work: Callable[[], object]) -> None:
    """Do something once, after a question was checked and before it is charged."""
    write, waiting = Store.write, [work]

    def writing(store: Store, *args: Any, **kwargs: Any) -> Any:
        if waiting:
            waiting.pop()()
        return write(store, *args, **kwargs)

    monkeypatch.setattr(Store, "write", writing)


def test_the_bill_that_was_checked_is_the_one_that_is_bought(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann, checked, bought, settled = discreet.connect(analyst="ann"), [], [], []
    length, buy, bill_of_call = Checkout.bought, discreet.Session.bought, Call.bill

    def checking(checkout: Checkout, bill: Bill, prepare: Any) -> Any:
        checked.append(bill)
        return length(checkout, bill, prepare)

    def buying(session: discreet.Session, bill: Bill, prepare: Any) -> Any:
        bought.append(bill)
        return buy(session, bill, prepare)

    def billing(call: Call, **terms: object) -> Bill:
        settled.append(call)
        return bill_of_call(call, **terms)

    monkeypatch.setattr(Checkout, "bought", checking)
    monkeypatch.setattr(discreet.Session, "bought", buying)
    monkeypatch.setattr(Call, "bill", billing)
    assert ann.ask("typical-age", request="a", max_cost=1).charged
    assert ann.median("people", "age", epsilon="1/8", request="b", max_cost=1).charged
    assert checked == bought
    assert [bill.request for bill in bought] == ["a", "b"]
    assert settled == []  # no second run of the verb for its price or its length
    with pytest.raises(InvalidArgument, match="more than max_cost"):
        ann.ask("typical-age", max_cost="1/4")
    with pytest.raises(InvalidArgument, match="up to ε"):
        ann.median("people", "age", epsilon=1)
    assert len(bought) == 2


def test_a_token_that_is_revoked_between_check_and_charge_pays_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokens, text, identity = token_of_ann()
    ann, owner = discreet.connect(token=text), discreet.connect()
    before = spent(owner)
    before_writing(monkeypatch, lambda: tokens.revoke(identity))
    with pytest.raises(NotAllowed, match="not valid") as caught:
        ann.ask("typical-age", request="a")
    assert caught.value.charged is False
    assert spent(owner) == before
    assert not [event for event in owner.chain()[1] if event.kind == "charged"]


def test_a_share_that_is_spent_between_check_and_charge_pays_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann, other = discreet.connect(analyst="ann"), discreet.connect(analyst="ann")
    before_writing(monkeypatch, lambda: other.ask("city", dataset="people"))
    with pytest.raises(discreet.errors.Exhausted, match="remaining ε = 2") as caught:
        ann.ask("city", dataset="people", request="a")
    assert caught.value.charged is False
    assert spent(ann) == {"people / ann": 8}


def test_a_description_that_is_changed_between_check_and_charge_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger, ann, owner = (
        discreet.Ledger("budget.db"), discreet.connect(analyst="ann"), discreet.connect(),
    )  # fmt: skip
    before = spent(owner)
    elsewhere = discreet.Dataset(
        "SECRET-PLACE-2.csv", {"age": {"type": "integer", "minimum": 0, "maximum": 120}}, name="people"
    )  # fmt: skip
    before_writing(monkeypatch, lambda: ledger.describe(elsewhere))
    with pytest.raises(Unanswerable) as caught:
        ann.ask("typical-age", request="a")
    assert not tells(str(caught.value))
    assert spent(owner) == before
    with pytest.raises(DiscreetError) as quoted:  # it said where the data were and are
        ann.quote("typical-age")
    assert not tells(str(quoted.value))
    with pytest.raises(InvalidArgument, match="its source was"):
        owner.quote("typical-age")


def test_the_rights_of_an_auditor_answer_nothing_by_themselves(folder: Path) -> None:
    """The table of operations refuses by the role before; this holds without it."""
    description = configuration("discreet.toml")
    rights = auditor_rights(hold(description), description)
    with pytest.raises(PublicError) as named:
        rights.ask("typical-age", "people", None, None, None)
    with pytest.raises(PublicError) as free:
        rights.ask_free("median", "people", "age", None, {"epsilon": 1}, None, None)
    assert isinstance(named.value.error, NotAllowed)
    assert isinstance(free.value.error, NotAllowed)
