"""Counts, sums and keys by every way to a service: one answer, paid once, allowed by no old list of verbs."""

import datetime as dt
import json
from collections.abc import Iterator
from fractions import Fraction
from operator import attrgetter
from pathlib import Path
from typing import Any

import polars as pl
import pytest

pytest.importorskip("starlette", reason="the extra server is not installed")
pytest.importorskip("httpx", reason="the extra server is not installed")

import discreet
from discreet import Connection
from discreet.errors import DiscreetError, Exhausted, InvalidArgument
from discreet.ledger.toml_budgets import configuration, open_described
from discreet.selection.verb_calls import Call
from discreet.service.asking import wire
from discreet.service.asking.datasets import hold
from discreet.service.asking.free_questions import verb_named
from discreet.service.asking.rights import rights_of
from discreet.service.asking.tokens import tokens_beside
from discreet.service.http.app import make_app
from discreet.service.http.http_client import HttpClient
from discreet.service.pages.page_routes import ANSWER_LENGTH
from discreet.service.queue.lengths import _FOR_THE_REST, _KEY, longest_answer
from discreet.service.queue.padding import LENGTH, Clock
from discreet.tables.values.key_values import MOST_KEY_BYTES

from ..base.test_escapes import INVISIBLE
from ..selection.test_released_values import HOSTILE
from .answer_times import answering
from .asking.test_connect import TEXT
from .http.test_http_client import InTheProcess
from .pages.person import Person, Read
from .released_numbers import EXAMPLES, KEYS

IS_PUBLIC = attrgetter("is_public")

START = dt.datetime(2026, 3, 1, 12, tzinfo=dt.UTC)
LATER = dt.datetime(2999, 1, 1, tzinfo=dt.UTC)
OLD_VERBS = [
    "mode",
    "top_k",
    "median",
    "minimum",
    "maximum",
    "quantile",
    "quantiles",
    "best_price",
    "check",
]
NEW_VERBS = sorted({one.verb for one in EXAMPLES.values()} - {*OLD_VERBS})
WORDS = (
    TEXT.replace('["mode", "median"]\nmax_epsilon = "1/4"', json.dumps([*NEW_VERBS, "mode", "median", "top_k"]))
    .replace("[datasets.people.questions.city]", "".join(
        f"[datasets.people.questions]\n{name} = {one.toml}\n" if at == 0 else f"{name} = {one.toml}\n"
        for at, (name, one) in enumerate(EXAMPLES.items())
    ) + "[datasets.people.questions.city]")
    .replace('budget = { epsilon = "30" }', 'budget = { epsilon = "30", delta = "1e-6", delta_for = "questions" }')
    .replace('share = { epsilon = "10" }', 'share = { epsilon = "10", delta = "1e-7" }')
    + f'[analysts.old]\ndatasets = ["people"]\nshare = {{ epsilon = "1" }}\nverbs = {json.dumps(OLD_VERBS)}\n'
)  # fmt: skip


class Ways:
    """Connections of one analyst in this process and over HTTP, and a person at the pages."""

    def __init__(self) -> None:
        Path("discreet.toml").write_text(answering(WORDS))
        Path("SECRET-PLACE.csv").write_text("age,city\n" + "30,Bern\n" * 99 + "40,Basel\n" * 50)
        Path("rivals.csv").write_text("x\n1\n2\n")
        for name, analyst in (
            ("people", None),
            ("rivals", None),
            ("people", "ann"),
            ("people", "old"),
        ):
            open_described(configuration(), name, analyst)
        self.tokens = tokens_beside(Path("discreet.toml"))
        app: Any = make_app(configuration(), ["testserver", "service.test"])
        self.here = discreet.connect(analyst="ann")
        self.there = Connection(HttpClient(InTheProcess(app, self.token("ann"))), "a service")
        self.person = Person(app)
        self.person.enter(self.token("ann"))

    def token(self, analyst: str) -> str:
        return self.tokens.create("analyst", analyst, LATER)[0]


@pytest.fixture(scope="module")
def ways(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ways]:
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(tmp_path_factory.mktemp("numbers"))
        patched.delenv("DISCREET_CONFIG", raising=False)
        yield Ways()


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_question_has_one_answer_by_every_way(ways: Ways, name: str) -> None:
    one = EXAMPLES[name]
    terms = {"verb": one.verb, "dataset": "people", "column": one.column, **one.terms}
    before = ways.here.budgets()[0].spent
    quote = ways.here.quote_free(**terms)
    assert ways.there.quote_free(**terms) == quote
    assert ways.here.budgets()[0].spent == before
    first = ways.there.ask_free(**terms, request=name)
    assert first.charged
    assert one.has_shape(first.value)
    assert (ways.here.budgets()[0].spent - before).epsilon == quote.cost.epsilon
    for again in (
        ways.here.ask_free(**terms, request=name),
        ways.there.ask_free(**terms, request=name),
    ):
        assert (again.value, again.charged, again.guarantee) == (
            first.value,
            False,
            first.guarantee,
        )
        assert repr(again.value) == repr(first.value)
        assert again.parts() == first.parts()
    method = getattr(ways.there, one.verb)
    assert method("people", one.column, **one.terms, request=name).value == first.value


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_named_question_is_the_same_question(ways: Ways, name: str) -> None:
    one = EXAMPLES[name]
    released = ways.there.ask(name, dataset="people", request=f"named {name}")
    assert one.has_shape(released.value)
    assert ways.here.ask(name, dataset="people", request=f"named {name}").value == released.value
    assert (
        ways.here.quote(name, dataset="people").cost
        == ways.here.quote_free(one.verb, "people", one.column, **one.terms).cost
    )


@pytest.mark.parametrize("name", EXAMPLES)
def test_it_is_asked_at_the_pages(ways: Ways, name: str) -> None:
    one = EXAMPLES[name]
    query = "&".join(f"{key}={value}" for key, value in one.fields.items())
    plan = ways.person.read(f"/plan?{query}")
    page = ways.person.submit(plan.form("/ask"))
    assert page.status_code == 200, Read(page.text).text
    assert "It was paid now." in page.text
    if one.verb == "counts" and "delta" not in one.terms:
        assert page.text.count('<table class="counts">') == (2 if "by" in one.terms else 1)
        assert "Basel" in page.text
    free = ways.person.read(f"/free?{query}")
    assert "epsilon" in free.form("/plan").fields


@pytest.mark.parametrize("verb", NEW_VERBS)
def test_an_old_list_of_verbs_allows_no_new_one(ways: Ways, verb: str) -> None:
    old = discreet.connect(analyst="old")
    one = next(one for one in EXAMPLES.values() if one.verb == verb)
    for ask in (old.quote_free, old.ask_free):
        with pytest.raises(InvalidArgument, match=f"{verb} is not allowed here, only mode"):
            ask(verb, "people", one.column, **one.terms)
    assert old.budgets()[0].spent.epsilon == 0


def test_who_has_no_list_has_no_verb(ways: Ways) -> None:
    bob = rights_of(hold(configuration()), configuration(), "analyst", "bob")
    assert bob.own.verbs == ()
    for one in EXAMPLES.values():
        with pytest.raises(DiscreetError, check=IS_PUBLIC):
            bob.own.check(one.verb, Call(verb_named(one.verb), (), one.terms))


@pytest.mark.parametrize("name", EXAMPLES)
def test_no_answer_is_longer_than_is_said_beforehand(ways: Ways, name: str) -> None:
    one, rights = EXAMPLES[name], rights_of(hold(configuration()), configuration(), "owner", None)
    inquiry = rights._read_free_question(one.verb, "people", one.column, one.terms)
    bound = longest_answer(inquiry.call, inquiry.data)
    if one.verb in OLD_VERBS:
        return  # their answers are candidates: tests/service/queue/test_lengths.py
    counted = (2**63 - 1, -(2**63))
    answers: list[Any] = [*counted, -(2**126) * 120, Fraction(120 * 10**5 - 1, 10**5)]
    by = ["Bern", "Basel"] if "by" in one.terms else [None]
    for value in answers:
        inner = dict.fromkeys(["Bern", "Basel"], value) if one.verb == "counts" else value
        if one.verb in ("count", "counts", "count_distinct") and value not in counted:
            continue
        answer = inner if by == [None] else dict.fromkeys(by, inner)
        text = json.dumps(wire.write_value(answer), ensure_ascii=False)
        assert len(text.encode()) <= bound


MOST_OF_A_REPLY = (LENGTH // 2 - _FOR_THE_REST) // _KEY

HOSTILE_TOML = """\
ledger = "budget.db"
[datasets.pages]
source = "pages.parquet"
privacy_unit = "user"
budget = { epsilon = "9", delta = "1e-6", delta_for = "questions" }
columns.page = { type = "string" }
columns.user = { type = "integer" }
[analysts.ann]
datasets = ["pages"]
share = { epsilon = "9", delta = "1e-6" }
verbs = ["keys", "counts"]
max_epsilon = 1
max_delta = "1e-7"
"""


class Hostile:
    """A service about texts that somebody chose to do harm."""

    def __init__(self, texts: list[str], users: int = 60) -> None:
        rows = [(text, at * 1000 + user) for at, text in enumerate(texts) for user in range(users)]
        schema = {"page": pl.String, "user": pl.Int64}
        pl.DataFrame(rows, schema, orient="row").write_parquet("pages.parquet")
        Path("discreet.toml").write_text(HOSTILE_TOML)
        for analyst in (None, "ann"):
            open_described(configuration(), "pages", analyst)
        self.token = tokens_beside(Path("discreet.toml")).create("analyst", "ann", LATER)[0]
        self.waits: list[float] = []
        clock = Clock(lambda: 0.0, self.wait, lambda: START)
        self.app: Any = make_app(configuration(), ["testserver", "service.test"], clock=clock)
        self.client = InTheProcess(self.app, self.token)

    async def wait(self, seconds: float) -> None:
        self.waits.append(seconds)

    def send(self, verb: str, request: str, **terms: Any) -> Any:
        body = {"verb": verb, "dataset": "pages", "column": "page", "terms": terms}
        headers = {"Idempotency-Key": request, **self.client.headers}
        return self.client.request("POST", "/v1/verbs/answers", json=body, headers=headers)


SURE: dict[str, Any] = {"epsilon": 1, "delta": "1e-8"}
UNICODE = [text for text in HOSTILE if not any("\ud800" <= one <= "\udfff" for one in text)]


@pytest.mark.parametrize("verb", ["keys", "counts"])
def test_hostile_keys_travel_exactly_and_are_shown_inert(
    verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DISCREET_CONFIG", raising=False)
    service = Hostile(UNICODE)
    there = Connection(HttpClient(service.client), "a service")
    released = there.ask_free(verb, "pages", "page", **SURE, request="r")
    assert list(released.value) == sorted(UNICODE)  # each has 60 users, and from 45 on it is sure
    reply = service.send(verb, "r", **SURE)
    assert len(reply.content) == LENGTH
    person = Person(service.app)
    person.enter(service.token)
    plan = person.read(f"/plan?dataset=pages&verb={verb}&column=page&epsilon=1&delta=1e-8")
    page = person.submit(plan.form("/ask"))
    for shown in (str(released), repr(released), released._repr_html_(), page.text):
        assert not any(sign in shown for sign in INVISIBLE if sign not in "\t\r")
    assert "<script>alert" not in page.text + released._repr_html_()
    assert len(page.content) == ANSWER_LENGTH


def test_neither_length_nor_time_of_a_reply_tells_of_the_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No key, a few, and as many as fit, the longest that there are: the same headers, bytes and waits."""
    monkeypatch.delenv("DISCREET_CONFIG", raising=False)
    seen = set()
    longest = [f"{at:04d}" + "\x01" * (MOST_KEY_BYTES - 4) for at in range(MOST_OF_A_REPLY + 9)]
    for name, texts in {"none": [], "few": ["a", "b"], "most": longest}.items():
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        service = Hostile(texts)
        for verb in ("keys", "counts"):
            reply = service.send(verb, verb, **SURE)
            value = wire.read_value(json.loads(reply.content)["value"])
            assert (
                list(value) == texts[:MOST_OF_A_REPLY]
                if verb == "keys"
                else len(value) <= len(texts)
            )
            assert len(value) == min(len(texts), MOST_OF_A_REPLY)
            headers = tuple(sorted(reply.headers.multi_items()))
            seen.add((verb, reply.status_code, headers, len(reply.content), tuple(service.waits)))
            service.waits.clear()
    assert len(seen) == 2


def test_more_keys_than_a_reply_holds_are_refused_beforehand(ways: Ways) -> None:
    before = ways.there.budgets()[0].spent
    with pytest.raises(InvalidArgument, match="an answer may have up to 32,768 characters"):
        ways.there.keys("people", "city", **KEYS, most=MOST_OF_A_REPLY + 50)
    assert ways.there.budgets()[0].spent == before


def test_the_price_of_more_than_a_reply_holds_is_refused_too(ways: Ways) -> None:
    """So a plan that is accepted can be asked."""
    terms: dict[str, Any] = {**KEYS, "most": MOST_OF_A_REPLY + 50}
    with pytest.raises(InvalidArgument, match="an answer may have up to 32,768 characters"):
        ways.there.quote_free("keys", "people", "city", **terms)
    assert ways.there.quote_free("keys", "people", "city", **KEYS).cost.epsilon


@pytest.mark.parametrize(
    "terms", [{}, {"delta": "1e-7"}, {"delta": 1}, {"delta": "1e-9", "rho": 1}]
)
def test_keys_are_refused_free_of_charge(ways: Ways, terms: dict[str, Any]) -> None:
    before = ways.there.budgets()[0].spent
    question: dict[str, Any] = {"epsilon": "1/4", **terms, "minimum_count": 10**9}
    with pytest.raises((InvalidArgument, Exhausted)):
        ways.there.ask_free("keys", "people", "city", **question)
    assert ways.there.budgets()[0].spent == before
