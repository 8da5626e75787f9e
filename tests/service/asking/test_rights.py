"""Rights: a question is settled once, from its check to its purchase, and whoever may ask no more pays nothing."""

from collections.abc import Callable
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest

import discreet
from discreet.errors import DiscreetError, Exhausted, InvalidArgument, NotAllowed, Unanswerable
from discreet.ledger import Budget, Quote
from discreet.ledger.store import Store
from discreet.ledger.toml_budgets import configuration
from discreet.selection.payment import Bill
from discreet.selection.verb_calls import Call
from discreet.service.asking.checkout import Checkout
from discreet.service.asking.datasets import Datasets, hold
from discreet.service.asking.own_rights import OwnRights
from discreet.service.asking.rights import Rights, caller_rights
from discreet.service.asking.tokens import Tokens, tokens_beside

from ..http.test_app import LATER
from .test_connect import folder, spent, tells

IS_PUBLIC = attrgetter("is_public")

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
    with pytest.raises(
        DiscreetError, check=IS_PUBLIC
    ) as quoted:  # it said where the data were and are
        ann.quote("typical-age")
    assert not tells(str(quoted.value))
    with pytest.raises(InvalidArgument, match="its source was"):
        owner.quote("typical-age")


def test_the_rights_of_an_auditor_answer_nothing_by_themselves(folder: Path) -> None:
    """The table of operations refuses by the role before; this holds without it."""
    description = configuration("discreet.toml")
    rights = caller_rights(hold(description), description, "auditor", None)
    with pytest.raises(DiscreetError, check=IS_PUBLIC) as named:
        rights.ask("typical-age", "people", None, None)
    with pytest.raises(DiscreetError, check=IS_PUBLIC) as free:
        rights.ask_free("median", "people", "age", {"epsilon": 1}, None, None)
    assert isinstance(named.value, NotAllowed)
    assert isinstance(free.value, NotAllowed)


def test_who_has_no_share_is_told_who_opens_it(folder: Path) -> None:
    description = configuration("discreet.toml")
    rights = Rights(hold(description), OwnRights("dora"), ("people",))
    with pytest.raises(DiscreetError, check=IS_PUBLIC) as refused:
        rights.check()
    assert "no share was opened for dora" in str(refused.value)
    Rights(hold(description), OwnRights("ann"), ("people",)).check()
    Rights(hold(description), OwnRights.of_all(), ("people",)).check()


def test_columns_are_those_of_a_dataset_with_a_budget_of_the_caller(folder: Path) -> None:
    description = configuration("discreet.toml")
    assert "age" in Rights(hold(description), OwnRights("ann"), ("people",)).columns("people")
    for rights in (
        Rights(hold(description), OwnRights("dora"), ("people",)),
        Rights(hold(description), OwnRights("ann"), ()),
    ):
        with pytest.raises(DiscreetError, check=IS_PUBLIC) as refused:
            rights.columns("people")
        assert not tells(str(refused.value))


def test_a_budget_that_is_extended_between_refusal_and_words_says_so(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody is told that all analysts have spent a budget of reserved shares."""
    data, ledger = discreet.connect(analyst="ann"), discreet.Ledger("budget.db")
    while True:
        try:
            data.ask("typical-age")
        except Exhausted:
            break
    whole = Datasets.quote_share

    def extend_first(self: Datasets, share: Budget, *terms: Any) -> Quote:
        return whole(self, ledger.extend("people", analyst="ann", epsilon=500), *terms)

    ledger.extend("people", epsilon=1000)
    monkeypatch.setattr(Datasets, "quote_share", extend_first)
    with pytest.raises(Exhausted, match=r"has just changed. Retry"):
        data.ask("typical-age")


def test_a_free_question_is_refused_in_words_for_its_analyst(folder: Path) -> None:
    """One of a column that is not there, before its groups are bounded; and one that costs less than the least."""
    path = Path("discreet.toml")
    path.write_text(path.read_text().replace('"mode", "median"]', '"mode", "median", "keys"]'))
    description = configuration("discreet.toml")
    rights = caller_rights(hold(description), description, "analyst", "ann")
    private = {"epsilon": "1/8", "delta": "1e-9", "groups": "private", "by": "city"}
    with pytest.raises(DiscreetError, check=IS_PUBLIC):
        rights.quote_free("mode", "people", "nowhere", private)
    with pytest.raises(DiscreetError, check=IS_PUBLIC, match="cost"):
        rights.quote_free("mode", "people", "city", {"epsilon": "1e-9"})
