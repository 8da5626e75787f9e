"""A connection to a service gives what a connection in this process gives."""

import asyncio
import contextlib
import datetime as dt
import inspect
import json
import warnings
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="the extra server is not installed")
httpx = pytest.importorskip("httpx", reason="the extra server is not installed")

import discreet
from discreet import Connection
from discreet.errors import (
    DiscreetError,
    Exhausted,
    InvalidArgument,
    LedgerUnwritable,
    NotAllowed,
    RequestConflict,
    Unanswerable,
    UnreadableArgument,
)
from discreet.ledger.toml_budgets import configuration
from discreet.service.asking.operations import QUESTIONS
from discreet.service.asking.tokens import tokens_beside
from discreet.service.asking.wire import REPLAYED, write_release
from discreet.service.http import http_client
from discreet.service.http.app import make_app
from discreet.service.http.http_client import BoundedClient, HttpClient, connect_to
from discreet.service.http.replies import LONGEST_WAIT

from ..answer_times import answering
from ..asking.test_connect import REFUSED, TEXT, write_files

LATER = dt.datetime(2999, 1, 1, tzinfo=dt.UTC)


class InTheProcess:
    """A client that reaches an application without a network."""

    def __init__(self, app: Any, token: str) -> None:
        self.app, self.headers = app, {"Authorization": f"Bearer {token}"}

    def request(self, method: str, url: str, **sent: Any) -> Any:
        async def replied() -> Any:
            transport = httpx.ASGITransport(self.app)
            async with httpx.AsyncClient(
                transport=transport, base_url="http://testserver", headers=self.headers
            ) as client:
                return await client.request(method, url, **sent)

        return asyncio.run(replied())


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The connection in this process, and the one to a service."""
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(tmp_path_factory.mktemp("elsewhere"))
        patched.delenv("DISCREET_CONFIG", raising=False)
        write_files()
        Path("discreet.toml").write_text(answering(TEXT))
        token, _ = tokens_beside(Path("discreet.toml")).create("analyst", "ann", LATER)
        app: Any = make_app(configuration(), ["testserver"])
        there = HttpClient(InTheProcess(app, token))
        yield discreet.connect(analyst="ann"), Connection(there, "a service")


AGES = discreet.Bins("age", 0, 120, 60, missing=True)
OF_CELLS: list[tuple[Any, dict[str, Any]]] = [
    (["city", AGES], {}),
    (AGES, {"by": ["city", AGES]}),
    ("city", {"by": AGES}),
    (["age", "city"], {"candidates": [(30, "Bern"), (31, "Basel")]}),
    (["city", AGES], {"candidates": {"city": ["Bern"]}}),
    ("city", {"candidates": ["Bern", None]}),
    ("city", {"by": "city", "groups": ["Bern", None]}),
    (
        discreet.WithMissing("city"),
        {"by": ["age", discreet.WithMissing("city")], "groups": {"age": [30], "city": ["Bern"]}},
    ),
    (["city", "age"], {"candidates": [("Bern", None), (None, 30)]}),
]


@pytest.mark.parametrize(("column", "terms"), OF_CELLS)
def test_cells_are_the_same_from_both(
    both: tuple[Connection, Connection], column: Any, terms: dict[str, Any]
) -> None:
    here, there = both
    for verb in ("mode", "counts"):  # which is not allowed to ann
        for ask in (here.quote_free, there.quote_free):
            if verb == "counts":
                with pytest.raises(InvalidArgument, match="counts is not allowed here"):
                    ask(verb, "people", column, epsilon="1/4", **terms)
    asked = {"epsilon": "1/4", "request": f"{column} {terms}"[:200], **terms}
    assert here.quote_free("mode", "people", column, epsilon="1/4", **terms) == there.quote_free(
        "mode", "people", column, epsilon="1/4", **terms
    )
    first = there.mode("people", column, **asked)
    again = here.mode("people", column, **asked)
    assert (first.charged, again.charged) == (True, False)
    assert first.value == again.value
    assert repr(first.value) == repr(again.value)  # tuples are tuples on both sides


def test_both_tell_the_same(both: tuple[Connection, Connection]) -> None:
    here, there = both
    assert there.questions() == here.questions()
    assert there.columns("people") == here.columns("people")
    assert there.quote("typical-age") == here.quote("typical-age")
    asked = here.ask("typical-age", request="r")
    found = there.ask("typical-age", request="r")
    assert (found.charged, found.value, found.guarantee) == (False, asked.value, asked.guarantee)
    assert (str(found), repr(found)) == (str(asked), repr(asked))
    mine = there.mode(
        "people", "city", epsilon=Fraction(1, 8), by="age", groups=[30, 31], request="m"
    )
    yours = here.mode(
        "people", "city", epsilon=Fraction(1, 8), by="age", groups=[30, 31], request="m"
    )
    assert (mine.value, mine.charged, yours.charged) == (yours.value, True, False)
    assert there.budgets() == here.budgets()
    assert there.releases() == here.releases()
    with pytest.raises(RequestConflict):
        there.ask("typical-age", request="m")


def test_an_answer_of_many_digits_arrives(both: tuple[Connection, Connection]) -> None:
    lo, step = Fraction(10**240 + 7, 10**240 + 1), Fraction(1, 10**200 + 1)
    grid = discreet.Grid(lo, lo + 7 * step, step)  # its ends and step are short, its points are not
    asked: dict[str, Any] = {"epsilon": "1/100", "candidates": grid}
    found = both[1].median("people", "age", request="digits", **asked)
    assert found.value == both[0].median("people", "age", request="digits", **asked).value
    assert len(str(found.value)) > 400
    before = both[1].budgets()
    asked |= {"by": "age", "groups": list(range(30, 80))}
    with pytest.raises(InvalidArgument, match="Ask for less at once"):
        both[1].median("people", "age", request="long", **asked)
    assert both[1].budgets() == before


@pytest.mark.parametrize(("ask", "error", "match"), REFUSED)
def test_both_refuse_the_same(
    both: tuple[Connection, Connection], ask: Any, error: type[DiscreetError], match: str
) -> None:
    with pytest.raises(DiscreetError) as ours:
        ask(both[0])
    with pytest.raises(DiscreetError) as theirs:
        ask(both[1])
    if "plain" not in match:  # what does not travel is refused before it does
        assert (type(theirs.value), str(theirs.value)) == (type(ours.value), str(ours.value))


def test_a_failure_is_paid_and_stands_for_the_answer(both: tuple[Connection, Connection]) -> None:
    there, text = both[1], Path("SECRET-PLACE.csv").read_text()
    Path("SECRET-PLACE.csv").unlink()
    with pytest.raises(Unanswerable) as caught:
        there.mode("people", "city", epsilon="1/8", request="lost")
    final = ["this is paid: request='lost' gives the same error again, at no cost"]
    assert caught.value.__notes__ == final
    Path("SECRET-PLACE.csv").write_text(text)
    for asker in both:
        with pytest.raises(Unanswerable) as again:
            asker.mode("people", "city", epsilon="1/8", request="lost")
        assert (again.value.__notes__, again.value.charged) == (final, True)
    with pytest.raises(Exhausted, match="closed after 1 failure"):
        there.mode("people", "city", epsilon="1/8", request="new")


class Says:
    def __init__(self, status: int, said: Any) -> None:
        self.status_code, self.said = status, said
        self.headers: dict[str, str] = {}

    def request(self, method: str, url: str, **sent: Any) -> Any:
        return self

    def json(self) -> Any:
        if isinstance(self.said, Exception):
            raise self.said
        return self.said


@pytest.mark.parametrize("said", [ValueError("x"), None, [], "x", 1])
def test_what_is_no_service_is_told(said: Any) -> None:
    with pytest.raises(LedgerUnwritable, match="not this service") as caught:
        Connection(HttpClient(Says(502, said)), "x").ask("q", request="r")
    assert "request='r' at no cost" in caught.value.__notes__[0]
    refused = Connection(
        HttpClient(Says(401, {"error": "NotAllowed", "message": "x", "notes": []})), "x"
    )
    with pytest.raises(NotAllowed):
        refused.budgets()


@pytest.mark.filterwarnings("default:ε . .* is above 10")
def test_a_weak_promise_is_warned_of_where_it_arrives() -> None:
    with pytest.warns(UserWarning, match=r"^ε = 11 is above 10"):
        plain = write_release(discreet.select([1, 2], sensitivity=1, epsilon=11))
    answers = Says(200, {name: part for name, part in plain.items() if name != "charged"})
    answers.headers = {REPLAYED: "?0"}
    asking = Connection(HttpClient(answers), "x")
    with pytest.warns(UserWarning, match=r"^ε = 11 is above 10"):
        asking.ask("q", request="r")
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # the answer is paid, so it is not lost to that
        assert asking.ask("q", request="r").guarantee.pure == 11


def test_a_token_does_not_travel_in_the_clear() -> None:
    for url in (
        "http://example.com",
        "ftp://example.com",
        "example.com",
        "http://127.0.0.1.evil.test",
    ):
        with pytest.raises(InvalidArgument, match="https"):
            connect_to(url, "t")
    for url in ("https://example.com", "http://127.0.0.1:8765", "http://localhost"):
        assert connect_to(url, "t")


def test_the_client_waits_longer_than_a_service_that_postpones() -> None:
    """Else an answer of just more than a minute would be a service that cannot be reached."""
    with contextlib.closing(connect_to("https://data.example.org", "t")) as client:
        assert client.client.timeout.read >= LONGEST_WAIT + 10


def test_a_service_that_is_not_there() -> None:
    with pytest.raises(LedgerUnwritable, match="cannot be reached"):
        Connection(HttpClient(connect_to("http://127.0.0.1:9", "t")), "x").budgets()


IN_HAND = {"allow", "allow_simulation", "for_analyst", "limit", "simulate"}
"""What the owner of data in hand does besides, of which a service knows nothing."""

CALLS: dict[str, Any] = {
    "questions": lambda c: c.questions(),
    "rights": lambda c: c.rights(),
    "columns": lambda c: c.columns("people"),
    "quote": lambda c: c.quote("typical-age"),
    "quote_free": lambda c: c.quote_free("mode", "people", "city", epsilon="1/8"),
    "ask": lambda c: c.ask("typical-age", request="r"),
    "ask_free": lambda c: c.ask_free("mode", "people", "city", epsilon="1/8", request="m"),
    "count": lambda c: c.count("people", epsilon="1/8", request="n"),
    "sql": lambda c: c.sql(
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 0.125) MODE(city) FROM people",
        request="s",
    ),
    "budgets": lambda c: c.budgets(),
    "releases": lambda c: c.releases(),
    "open_budget": lambda c: c.open_budget("people"),
    "extend_budget": lambda c: c.extend_budget("rivals", epsilon=99),
    "renew_budget": lambda c: c.renew_budget("rivals", "2027"),
    "reopen": lambda c: c.reopen("rivals"),
    "create_token": lambda c: c.create_token("auditor"),
    "tokens": lambda c: c.tokens(),
    "revoke_token": lambda c: c.revoke_token("x"),
    "chain": lambda c: c.chain(),
    "audit": lambda c: c.audit(),
    "call": lambda c: c.call(QUESTIONS),
}


def is_verb(method: Any) -> bool:
    """Return whether a method asks a free question by its own name."""
    return bool(inspect.unwrap(method).__code__.co_name == "ask_verb")


def test_every_call_is_tried() -> None:
    public = {name for name in vars(Connection) if not name.startswith("_")}
    verbs = {name for name in public if is_verb(getattr(Connection, name))}
    assert {"median", "best_price"} < verbs
    assert public - verbs - IN_HAND == {*CALLS}


class Hostile:
    """A server that replies with one thing, whatever is asked."""

    def __init__(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.reply = status, body, headers

    def connection(self) -> Connection:
        def replied(request: Any) -> Any:
            status, body, headers = self.reply
            return httpx.Response(status, stream=httpx.ByteStream(body), headers=headers)

        found = httpx.Client(base_url="http://x", transport=httpx.MockTransport(replied))
        return Connection(HttpClient(BoundedClient(found)), "x")


def reply_or_error(call: Any, asking: Connection) -> Any:
    """Return a reply, or None for an error of ours that says what is wrong."""
    try:
        return call(asking)
    except UnreadableArgument:  # what the boundary makes of a foreign error
        raise
    except DiscreetError:
        return None


BODIES = [
    b"", b"{", b"null", b"1", b'"x"', b"[]", b"{}", b"[1]", b"[[]]", b"[{}]", b'[null, "x"]', b"\xff",
    b"[" * 200_000, b"9" * 5000, b"1e999", b"NaN", b'{"error": 1}',
    b'{"error": "Exhausted", "message": {}, "notes": 1}',
    b'{"error": "Exhausted", "message": "x", "notes": [], "spent": {"epsilon": "1/0"}}',
    b'{"error": "Exhausted", "message": "x", "notes": [], "spent": 1}',
    b'{"error": "shown", "message": "x", "notes": []}', b'{"value": {"$fraction": "1/0"}}', b"<html>",
    b"x" * 100_000,
]  # fmt: skip


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("status", [200, 302, 402])
@pytest.mark.one_in(5)
def test_a_hostile_server_ends_in_our_errors(status: int, body: bytes) -> None:
    replayed = {"Idempotent-Replayed": "?0", "Location": "https://evil.test", "Ledger-Events": "x"}
    for headers in (replayed, {**replayed, "Content-Type": "text/html"}, {}):
        asking = Hostile(status, body, headers).connection()
        for name, call in CALLS.items():
            found = reply_or_error(call, asking)
            assert found is None or (status, body, len(found)) == (200, b"[]", 0), name


def test_each_field_of_another_type_ends_in_our_errors(
    both: tuple[Connection, Connection], monkeypatch: pytest.MonkeyPatch
) -> None:
    right: dict[str, Any] = {}
    request = InTheProcess.request

    def noted(client: Any, method: str, url: str, **sent: Any) -> Any:
        reply = request(client, method, url, **sent)
        right[url] = reply
        return reply

    monkeypatch.setattr(InTheProcess, "request", noted)
    names = ("questions", "columns", "quote", "ask", "budgets", "releases")
    for name in names:
        CALLS[name](both[1])
        plain = next(iter(right.values())).json()
        headers = {"Idempotent-Replayed": "?0"}
        for wrong in mutated(plain):
            asking = Hostile(200, json.dumps(wrong).encode(), headers).connection()
            found = reply_or_error(CALLS[name], asking)
            assert str(found) + repr(found)
        right.clear()


def mutated(plain: Any) -> Iterator[Any]:
    """Yield what a service replies with one part of it left out, or of another type."""
    if isinstance(plain, list):
        yield from ([one, *plain[1:]] for one in mutated(plain[0]))
    elif isinstance(plain, dict):
        for name, value in plain.items():
            yield {key: one for key, one in plain.items() if key != name}
            yield from ({**plain, name: one} for one in mutated(value))
    yield from (None, 1, -1.5, "x", True, [], {}, [[1]], {"a": 1}, "1/0", "9" * 5000)


@pytest.mark.parametrize(
    ("headers", "size"), [({}, http_client.LONGEST_REPLY + 1), ({"Content-Encoding": "gzip"}, 1)]
)
def test_a_reply_without_end_is_not_read(
    headers: dict[str, str], size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_client, "LONGEST_REPLY", 1 << 16)
    asking = Hostile(200, b" " * min(size, 1 << 17), headers).connection()
    with pytest.raises(LedgerUnwritable, match="too long, too slow, or compressed"):
        asking.budgets()


def test_a_message_of_a_server_moves_no_cursor() -> None:
    told = {"error": "NotAllowed", "message": "a\x1b[2Jb\u202ec\x00", "notes": ["\x1b[31m"]}
    with pytest.raises(NotAllowed) as caught:
        Hostile(403, json.dumps(told).encode(), {}).connection().budgets()
    assert (str(caught.value), caught.value.__notes__) == (r"a\x1b[2Jb\u202ec\x00", [r"\x1b[31m"])
