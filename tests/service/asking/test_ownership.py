"""What owners do by a connection, here and at a service: budgets, tokens, and the chain of events."""

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="the extra server is not installed")
pytest.importorskip("httpx", reason="the extra server is not installed")

import discreet
from discreet import Connection
from discreet.errors import (
    DiscreetError,
    InvalidArgument,
    InvalidNumber,
    LedgerCorrupt,
    NotAllowed,
    UnknownBudget,
    UnknownName,
)
from discreet.ledger import Event
from discreet.ledger.toml_budgets import configuration, open_described
from discreet.service.asking import connection as connections
from discreet.service.asking.operations import AUDIT, Operation
from discreet.service.asking.tokens import tokens_beside
from discreet.service.http.app import make_app
from discreet.service.http.http_client import HttpClient

from ..answer_times import answering
from ..http.test_http_client import LATER, InTheProcess
from .test_connect import TEXT, write_files

WIDER = TEXT.replace('datasets = ["rivals"]', 'datasets = ["rivals", "people"]')


@pytest.fixture(params=["here", "there"])
def owner(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Connection:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DISCREET_CONFIG", raising=False)
    write_files()
    Path("discreet.toml").write_text(answering(WIDER))
    return connected("owner") if request.param == "there" else discreet.connect()


def connected(role: str, analyst: str | None = None) -> Connection:
    """Return a connection to a service in this process."""
    token, _ = tokens_beside(Path("discreet.toml")).create(role, analyst, LATER)
    app: Any = make_app(configuration(), ["testserver"])
    return Connection(HttpClient(InTheProcess(app, token)), "a service")


def test_an_owner_opens_and_extends_budgets(owner: Connection) -> None:
    share = owner.open_budget("people", analyst="eve", epsilon="1/3")
    assert (share.name, share.total.epsilon) == ("people / eve", Fraction(1, 3))
    assert owner.open_budget("people", analyst="eve", epsilon="1/3") == share
    assert owner.extend_budget("people", analyst="eve", epsilon=2).total.epsilon == 2
    assert owner.extend_budget("rivals", epsilon=10).total.epsilon == 10
    assert {b.name for b in owner.budgets()} >= {"people", "rivals", "people / eve"}
    assert discreet.connect(analyst="eve").budgets()[0].total.epsilon == 2


@pytest.mark.parametrize(
    ("ask", "error", "match"),
    [
        (lambda c: c.open_budget("nobody's"), UnknownName, "nobody's"),
        (lambda c: c.open_budget("people", analyst="mallory", epsilon=1), UnknownName, "no analyst 'mallory'"),
        (lambda c: c.open_budget("rivals", analyst="ann", epsilon=1), InvalidArgument, "does not let 'ann' ask"),
        (lambda c: c.open_budget("people", epsilon=1), InvalidArgument, "declares the amounts"),
        (lambda c: c.open_budget("people", analyst="eve", epsilon=-1), InvalidNumber, "epsilon"),
        (lambda c: c.extend_budget("people", epsilon=1), InvalidArgument, "only be extended"),
        (lambda c: c.extend_budget("people", rho=99), InvalidArgument, "is in epsilon"),
        (lambda c: c.extend_budget("people", analyst="eve", epsilon=9), UnknownBudget, "eve"),
        (lambda c: c.create_token("king"), InvalidArgument, "role"),
        (lambda c: c.create_token("owner", analyst="ann"), InvalidArgument, "role analyst"),
        (lambda c: c.create_token("analyst", analyst="mallory"), UnknownName, "no analyst 'mallory'"),
        (lambda c: c.create_token("auditor", expires="soon"), InvalidArgument, "expires"),
        (lambda c: c.revoke_token("000000000000"), UnknownName, "no token"),
        (lambda c: c.revoke_token("../../budgets"), UnknownName, "no token|nothing at this path"),
        (lambda c: c.chain(-1), InvalidNumber, "after"),
        (lambda c: c.chain(0, 1001), InvalidNumber, "limit"),
        (lambda c: c.audit("0" * 64), LedgerCorrupt, "older copy"),
        (lambda c: c.audit("0"), InvalidArgument, "64 digits"),
    ],
)  # fmt: skip
@pytest.mark.one_in(5)
def test_what_is_wrong_is_said_alike(
    owner: Connection, ask: Callable[[Any], object], error: type[DiscreetError], match: str
) -> None:
    before = owner.budgets()
    with pytest.raises(error, match=match):
        ask(owner)
    assert owner.budgets() == before


def test_an_owner_renews_a_budget(owner: Connection) -> None:
    owner.ask("high")
    renewed = owner.renew_budget("rivals", "2027")
    assert renewed.name == "rivals 2027"
    assert [renewed.total.epsilon, renewed.spent.epsilon] == [9, 3]  # bob's share is declared
    assert owner.renew_budget("rivals", "2027") == renewed
    assert owner.renew_budget("rivals", "2028", epsilon="7").total.epsilon == 7
    current = {b.name: b.is_current for b in owner.budgets() if b.dataset.startswith("rivals")}
    assert current["rivals"] is current["rivals 2027"] is False
    assert current["rivals 2028"] is current["rivals 2028 / bob"] is True
    assert owner.quote("high").name == "rivals 2028"


def test_a_dataset_of_the_same_table_is_given_a_budget_of_its_own(owner: Connection) -> None:
    text = Path("discreet.toml").read_text()
    again = '[datasets.others]\nsource = "rivals.csv"\nbudget = { epsilon = "2" }\n'
    again += 'columns.x = { type = "integer", minimum = 0, maximum = 9 }\n'
    Path("discreet.toml").write_text(text.replace("[analysts.ann]", again + "[analysts.ann]"))
    owner = connected("owner") if "service" in repr(owner) else discreet.connect()
    with pytest.raises(InvalidArgument, match="--separate"):
        owner.open_budget("others")
    assert owner.open_budget("others", separate=True).name == "others"


def test_an_owner_makes_tokens_and_revokes_them(owner: Connection) -> None:
    made = owner.create_token("analyst", analyst="ann", expires="7d")
    assert made.text not in repr(made)
    assert made.text not in str(made)
    assert made.kept in owner.tokens()
    assert {one.hashed for one in owner.tokens()} == {""}
    assert discreet.connect("discreet.toml", token=made.text).budgets()[0].analyst == "ann"
    assert owner.revoke_token(made.kept.id) == made.kept
    assert made.kept not in owner.tokens()
    with pytest.raises(NotAllowed, match="not valid"):
        discreet.connect("discreet.toml", token=made.text)


def test_the_chain_is_told_in_pages_and_verified(
    owner: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    for i in range(4):
        owner.ask("typical-age", request=f"Zürich {i} 名")
    told = discreet.Ledger("budget.db")
    chain, events = owner.chain()
    assert events == told.history()
    assert (chain.events, chain.head) == (len(events), events[-1].head)
    assert owner.chain(after=2, limit=3)[1] == events[2:5]
    assert owner.chain(after=len(events))[1] == []
    monkeypatch.setattr(connections, "MOST_EVENTS", 3)
    found = owner.audit(events[2].head)
    assert found == told.verify()


class Forging:
    """A service that tells another chain than its ledger's."""

    def __init__(self, owner: Connection, change: Callable[[list[Event]], list[Event]]) -> None:
        self._owner, self._change = owner, change

    def call(self, operation: Operation[Any], *, after: int, limit: int) -> Any:
        assert operation is AUDIT
        chain, events = self._owner.chain(0, 1000)
        return chain, [one for one in self._change(events) if one.number > after][:limit]


def forged(event: Event, **other: Any) -> Event:
    return Event(**{**json.loads(json.dumps(event.as_dict())), **other})


@pytest.mark.parametrize(
    "change",
    [
        lambda events: events[:-1],
        lambda events: events[1:],
        lambda events: [],
        lambda events: [*events[:2], forged(events[2], dataset="people"), *events[3:]],
        lambda events: [*events[:2], forged(events[2], at="2020-01-01T00:00:00+00:00"), *events[3:]],
        lambda events: [*events[:2], events[3], events[2], *events[4:]],
        lambda events: [*events, *events[-1:]],
    ],
)  # fmt: skip
@pytest.mark.one_in(3)
def test_a_forged_chain_is_detected(owner: Connection, change: Any) -> None:
    owner.ask("typical-age", request="a")
    assert owner.audit().events == len(owner.chain()[1])
    node: Any = Forging(owner, change)
    with pytest.raises(LedgerCorrupt):
        Connection(node, "a forger").audit()


def test_auditors_see_the_chain_and_analysts_do_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_files()
    Path("discreet.toml").write_text(answering(TEXT))
    assert connected("auditor").audit() == discreet.Ledger("budget.db").verify()
    with pytest.raises(NotAllowed, match="owners and auditors"):
        connected("analyst", "ann").audit()


@pytest.mark.parametrize("role", ["here", "there"])
def test_a_budget_that_is_not_open_yet_is_opened_by_the_owner(
    role: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DISCREET_CONFIG", raising=False)
    write_files()
    Path("budget.db").unlink()
    open_described(configuration(), "people")
    Path("discreet.toml").write_text(answering(WIDER))
    owner = connected("owner") if role == "there" else discreet.connect()
    assert [budget.name for budget in owner.budgets()] == ["people"]
    assert ("rivals", "high") in {(one.name, one.access) for one in owner.questions()}
    for ask in (owner.quote, owner.ask):
        with pytest.raises(UnknownBudget, match="rivals"):
            ask("high")
    with pytest.raises(UnknownBudget, match="rivals"):
        owner.maximum("rivals", "x", epsilon=1)
    assert owner.open_budget("rivals").total.epsilon == 9
    assert owner.quote("high").fits
    assert owner.ask("high").charged is True
    assert owner.open_budget("rivals", analyst="bob").total.epsilon == 3
    assert discreet.connect(analyst="bob").ask("high").charged is True
