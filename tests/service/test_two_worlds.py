"""Two services that are equal but for what *another* analyst did tell one analyst the same, byte for byte.

Bits and clocks are given: each request of the watched analyst has the same ones in both worlds, so nothing is
masked.
"""

import asyncio
import datetime as dt
import hashlib
import json
import os
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="the extra server is not installed")
httpx = pytest.importorskip("httpx", reason="the extra server is not installed")

import discreet
from discreet.ledger.toml_budgets import configuration, open_described
from discreet.service.asking.tokens import tokens_beside
from discreet.service.http.app import make_app
from discreet.service.mcp.assistant_tools import TOOLS
from discreet.service.pages.page_routes import PAGES
from discreet.service.pages.sessions import form_secret
from discreet.service.queue.padding import QUANTUM, Clock

from .asking.test_connect import TEXT
from .http.test_app import ROUTES
from .pages.person import Person, Read
from .released_numbers import EXAMPLES

HOST = "service.test"
LATER = dt.datetime(2999, 1, 1, tzinfo=dt.UTC)
START = dt.datetime(2026, 3, 1, 12, tzinfo=dt.UTC)
SESSION = "__Host-discreet"
OTHERS: dict[tuple[str, str], dict[str, Any]] = {
    ("GET", "/healthz"): {},
    ("GET", "/v1/openapi.json"): {},
}
FORMS: dict[str, dict[str, Any]] = {
    "/ask": {"dataset": "people", "question": "typical-age", "request": "page", "max_cost": "1/2"},
    "/plan?": {"dataset": "people", "question": "typical-age"},
    "/login": {"token": "discreet_of_nobody"},
}
STATEMENTS = tuple(
    f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = {epsilon}) {rest}"
    for epsilon, rest in (
        ("0.02", "COUNT(*) AS n, MEDIAN(age) AS age FROM people WHERE city = 'Bern'"),
        ("0.02", "city, COUNT(*) AS n FROM people GROUP BY city ORDER BY n"),
        ("40", "COUNT(*) AS n FROM people"),
        ("0.02", "COUNT(*) AS n FROM rivals"),
        ("0.02", "SUM(secret) FROM people"),
    )
)
STEPS = ("1/64", "1/8", "3/16", "1/4")  # a search for what is left
Reply = tuple[str, int, tuple[tuple[str, str], ...], bytes, float]


class Bits:
    """Bits that are a function of who asks, and how often."""

    def __init__(self) -> None:
        self.seed, self.drawn = "start", 0

    def begin(self, seed: str) -> None:
        self.seed, self.drawn = seed, 0

    def __call__(self, size: int) -> bytes:
        self.drawn += 1
        text = f"{self.seed} {self.drawn}".encode()
        return hashlib.shake_256(text).digest(size)


class World:
    """A service in a folder, an analyst who is watched, and others who do something or not."""

    def __init__(self, folder: Path, bits: Bits, text: str) -> None:
        self.bits, self.requests, self.waited = bits, 0, 0.0
        (folder / "discreet.toml").write_text(text)
        (folder / "SECRET-PLACE.csv").write_text("age,city\n" + "30,Bern\n" * 99)
        (folder / "rivals.csv").write_text("x\n1\n2\n")
        (folder / "broken.csv").write_text("y\n1\n2\n")
        self.declared = configuration(folder / "discreet.toml")
        for name in ("people", "rivals", "broken"):
            open_described(self.declared, name)
        for name, analyst in (
            ("people", "ann"),
            ("people", "bob"),
            ("rivals", "bob"),
            ("broken", "bob"),
        ):
            open_described(self.declared, name, analyst)
        self.known = tokens_beside(folder / "discreet.toml")
        roles = {"ann": ("analyst", "ann"), "bob": ("analyst", "bob"), "owner": ("owner", None)}
        self.tokens = {who: self.known.create(*role, LATER) for who, role in roles.items()}
        clock = Clock(lambda: 0.0, self.wait, self.date)
        self.app = make_app(self.declared, [HOST], clock=clock)
        self.enter("owner")  # what a process draws once, it draws here
        bits.begin("ann enters")
        self.person = self.enter("ann")

    def enter(self, who: str) -> Person:
        """Return somebody who has logged in at the pages."""
        person = Person(self.app)
        person.address = "10.0.0.1"
        assert person.enter(self.tokens[who][0]).status_code == 303
        return person

    async def wait(self, seconds: float) -> None:
        self.waited += seconds

    def date(self) -> dt.datetime:
        return START + dt.timedelta(seconds=self.requests)

    def send(self, who: str, method: str, path: str, **sent: Any) -> Any:
        """Send one request to the interface with a token."""
        headers = {"Authorization": f"Bearer {self.tokens[who][0]}", **sent.pop("headers", {})}

        async def call() -> Any:
            transport = httpx.ASGITransport(self.app, client=("10.0.0.1", 1))
            async with httpx.AsyncClient(transport=transport, base_url=f"https://{HOST}") as client:
                return await client.request(method, path, headers=headers, **sent)

        return asyncio.run(call())

    def watch(self, method: str, path: str, *, pages: bool = False, **sent: Any) -> Reply:
        """Send a request of the watched analyst, with bits and a time of its own."""
        self.requests += 1
        self.bits.begin(f"ann {self.requests}")
        self.waited = 0.0
        reply = (
            self.person.send(method, path, **sent)
            if pages
            else self.send("ann", method, path, **sent)
        )
        self.bits.begin(f"others {self.requests}")
        headers = tuple(sorted(reply.headers.multi_items()))
        return f"{method} {path}", reply.status_code, headers, reply.content, self.waited

    @property
    def secret(self) -> str:
        """What the forms of the watched analyst hold."""
        return form_secret(self.person.cookies[SESSION])

    def probes(self) -> Iterator[Reply]:
        """Ask by every route of the interface and of the pages, and search for what others have spent."""
        for (method, path), sent in {**ROUTES, **OTHERS}.items():
            keyed = {"headers": {"Idempotency-Key": "once"}, **sent}
            yield self.watch(method, path.format(identity="none"), **keyed)
        for method, path in [*((m, p) for m, p, _, _ in PAGES), *STRANGERS]:
            if path == "/logout":
                continue  # it ends the session; tried last
            fields: dict[str, Any] = {**FORMS.get(path, {}), "secret": self.secret}
            sent = {"data": fields} if method == "POST" else {"params": FORMS.get(f"{path}?", {})}
            yield self.watch(method, path, pages=True, **sent)
        yield from self.free_questions()
        yield from self.tool_calls()
        named = {"question": "city", "dataset": "people"}
        for key in ("costly", "once more"):  # the second is refused: the share is spent
            yield self.watch("POST", "/v1/quotes", json=named)
            yield self.watch("POST", "/v1/answers", json=named, headers={"Idempotency-Key": key})
        for path in ("/v1/budgets", "/v1/releases"):
            yield self.watch("GET", path)
        for path in ("/questions", "/answers", "/budgets", "/free"):
            yield self.watch("GET", path, pages=True)

    def free_questions(self) -> Iterator[Reply]:
        """Search for what others have spent, and ask with every verb that releases numbers."""
        for epsilon in STEPS:
            free = {
                "verb": "mode",
                "dataset": "people",
                "column": "city",
                "terms": {"epsilon": epsilon},
            }
            yield self.watch("POST", "/v1/verbs/quotes", json=free)
            headers = {"Idempotency-Key": f"free {self.requests}"}
            yield self.watch("POST", "/v1/verbs/answers", json=free, headers=headers)
        for number, statement in enumerate(STATEMENTS):
            free = {"verb": "sql", "dataset": "people", "terms": {"statement": statement}}
            yield self.watch("POST", "/v1/verbs/quotes", json=free)
            headers = {"Idempotency-Key": f"sql {number} {self.requests}"}
            yield self.watch("POST", "/v1/verbs/answers", json=free, headers=headers)
        for name, one in EXAMPLES.items():
            yield self.watch("POST", "/v1/verbs/quotes", json=one.body)
            headers = {"Idempotency-Key": f"{name} {self.requests}"}
            yield self.watch("POST", "/v1/verbs/answers", json=one.body, headers=headers)

    def tool_calls(self) -> Iterator[Reply]:
        """Call every tool of an assistant, ask and search for what others have spent."""
        named: dict[str, Any] = {"question": "typical-age", "dataset": "people"}
        free = {"dataset": "people", "verb": "mode", "column": "city"}
        calls: list[tuple[str, dict[str, Any]]] = [(name, named) for name in TOOLS]
        calls += [("quote", {**free, "terms": {"epsilon": epsilon}}) for epsilon in STEPS]
        paying = {"request": f"tool {self.requests}", "max_cost": "1/4"}
        calls += [("ask", {**free, "terms": {"epsilon": "1/64"}, **paying})] * 2
        for name, arguments in calls:
            params = {"name": name, "arguments": arguments}
            message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
            yield self.watch("POST", "/mcp", json=message, headers={"accept": "application/json"})

    def end(self) -> Reply:
        return self.watch("POST", "/logout", pages=True, data={"secret": self.secret})


STRANGERS = [("GET", "/style.css"), ("GET", "/login"), ("POST", "/login"), ("GET", "/nowhere")]


# What another analyst does, and what the owner does about this analyst.


def nothing(world: World) -> None:
    """Do nothing."""


def asked(world: World) -> None:
    for i in range(3):
        named = {"question": "typical-age", "dataset": "people"}
        reply = world.send(
            "bob", "POST", "/v1/answers", json=named, headers={"Idempotency-Key": f"{i}"}
        )
        assert reply.status_code == 200
        assert world.send("bob", "POST", "/v1/quotes", json=named).status_code == 200


def refused(world: World) -> None:
    dear = {"question": "city", "dataset": "people"}
    reply = world.send("bob", "POST", "/v1/answers", json=dear, headers={"Idempotency-Key": "dear"})
    assert reply.status_code == 402
    for path in ("/v1/tokens", "/v1/audit", "/nowhere"):
        assert world.send("bob", "GET", path).status_code >= 400


def failed(world: World) -> None:
    question = {"question": "high", "dataset": "broken"}
    reply = world.send(
        "bob", "POST", "/v1/answers", json=question, headers={"Idempotency-Key": "bad"}
    )
    assert reply.status_code == 500


def closed(world: World) -> None:
    """A failure about the data that the watched analyst asks too closes them for bob."""
    named = {"question": "typical-age", "dataset": "people"}
    with data_away(world):
        for _ in range(2):  # the second is the stored failure
            reply = world.send(
                "bob", "POST", "/v1/answers", json=named, headers={"Idempotency-Key": "away"}
            )
            assert reply.status_code == 500
    reply = world.send("bob", "POST", "/v1/answers", json=named, headers={"Idempotency-Key": "x"})
    assert reply.status_code == 402
    assert "closed after 1 failure" in reply.text
    assert world.send("bob", "POST", "/v1/quotes", json=named).json()["fits"] is False
    cheap = {"verb": "mode", "dataset": "people", "column": "city", "terms": {"epsilon": "1/4096"}}
    assert world.send("bob", "POST", "/v1/verbs/quotes", json=cheap).status_code == 422


def reopened(world: World) -> None:
    """The owner opens again for bob, and for all, whose questions fail once more."""
    closed(world)
    for body in ({"dataset": "people", "analyst": "bob"}, {"dataset": "people"}):
        reply = world.send("owner", "POST", "/v1/budgets/reopenings", json=body)
        assert reply.status_code == 200
    named = {"question": "typical-age", "dataset": "people"}
    with data_away(world):
        keyed = {"headers": {"Idempotency-Key": "away again"}}
        assert world.send("bob", "POST", "/v1/answers", json=named, **keyed).status_code == 500
        owners = {"headers": {"Idempotency-Key": "owner's"}}
        assert world.send("owner", "POST", "/v1/answers", json=named, **owners).status_code == 500
    assert world.send("owner", "GET", "/v1/budgets").status_code == 200


@contextmanager
def data_away(world: World) -> Iterator[None]:
    """Questions about people fail because of the data."""
    path = world.declared.path.with_name("SECRET-PLACE.csv")
    text = path.read_text()
    path.write_text("city\nBern\n")
    yield
    path.write_text(text)


def revoked(world: World) -> None:
    identity = world.tokens["bob"][1].id
    assert world.send("owner", "DELETE", f"/v1/tokens/{identity}").status_code == 200
    assert world.send("bob", "GET", "/v1/questions").status_code == 401


def exhausted(world: World) -> None:
    for i in range(8):
        named = {"question": "typical-age", "dataset": "people"}
        world.send(
            "bob", "POST", "/v1/answers", json=named, headers={"Idempotency-Key": f"all {i}"}
        )


def granted(world: World) -> None:
    ledger = discreet.Ledger(world.declared.ledger)
    people = world.declared.dataset("people")
    ledger.extend(people, analyst="bob", epsilon=5)
    ledger.shrink(people, analyst="bob")
    ledger.open(people, analyst="cy", epsilon=2)
    ledger.session(people).median(people, "age", epsilon=2)


def used_at_the_pages(world: World) -> None:
    bob = world.enter("bob")
    fields = {**FORMS["/ask"], "request": "bob's", "secret": form_secret(bob.cookies[SESSION])}
    assert bob.send("POST", "/ask", data=fields).status_code == 200
    stranger = Person(world.app)
    form = Read(stranger.get("/login").text).form("/login")
    for _ in range(40):
        stranger.submit(form, token="discreet_wrong")


ACTS: list[Callable[[World], None]] = [
    asked,
    refused,
    failed,
    used_at_the_pages,
    closed,
    reopened,
    exhausted,
    granted,
    revoked,
]
WORDS = (
    TEXT
    + """
[datasets.broken]
source = "broken.csv"
budget = { epsilon = "9" }
columns.x = { type = "integer", minimum = 0, maximum = 9 }
questions.high = { verb = "maximum", column = "x", epsilon = 1 }
"""
)
for _old, _new in (
    ('datasets = ["people", "rivals"]', 'datasets = ["people", "rivals", "broken"]'),
    (
        '"mode", "median"',
        f'"mode", "median", {json.dumps(sorted({"sql", "count", *(one.verb for one in EXAMPLES.values())}))[1:-1]}',
    ),
    ('{ epsilon = "30" }', '{ epsilon = "30", delta = "1e-6", delta_for = "questions" }'),
    ('share = { epsilon = "10" }', 'share = { epsilon = "15.5", delta = "1e-7" }'),
    ('max_epsilon = "1/4"', 'max_epsilon = "1/4"\nmax_delta = "1e-8"\nwhere = ["city"]'),
):
    assert _old in WORDS
    WORDS = WORDS.replace(_old, _new)


@contextmanager
def given_bits() -> Iterator[Bits]:
    bits = Bits()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(os, "urandom", bits)
        patched.setattr(random, "_urandom", bits)
        patched.setattr("http.cookies._getdate", lambda *_: "Sun, 01 Mar 2026 12:00:00 GMT")
        patched.delenv("DISCREET_CONFIG", raising=False)
        yield bits


def replies(folder: Path, text: str, *acts: Callable[[World], None]) -> list[Reply]:
    """Return what the watched analyst is told before, between and after what others do."""
    folder.mkdir()
    with given_bits() as bits:
        world = World(folder, bits, text)
        told = list(world.probes())
        for act in acts:
            bits.begin(f"others {act.__name__}")
            act(world)
        told += world.probes()
        return [*told, world.end()]


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> list[Reply]:
    return replies(tmp_path_factory.mktemp("alone") / "world", WORDS, nothing)


def test_every_route_is_asked(alone: list[Reply]) -> None:
    asked_for = {told[0].partition("?")[0] for told in alone}
    for method, path in [*ROUTES, *OTHERS, *((m, p) for m, p, _, _ in PAGES), *STRANGERS]:
        assert f"{method} {path.format(identity='none')}" in asked_for
    assert {told[1] for told in alone} >= {200, 402, 403, 404}
    assert all(
        told[4] == QUANTUM for told in alone if told[1] != 431
    )  # each left after one quantum


@pytest.mark.parametrize(
    "acts", [[act] for act in ACTS] + [ACTS], ids=lambda acts: acts[-1].__name__
)
@pytest.mark.one_in(7)
def test_what_another_does_moves_no_reply(
    tmp_path: Path, alone: list[Reply], acts: list[Callable[[World], None]]
) -> None:
    for mine, theirs in zip(alone, replies(tmp_path / "world", WORDS, *acts), strict=True):
        assert mine == theirs


def test_the_harness_sees_a_difference_where_there_is_one(tmp_path: Path) -> None:
    """Of an oversubscribed budget refusals tell, as the docs say."""
    text = WORDS.replace(
        'budget = { epsilon = "30",', 'oversubscribed = true\nbudget = { epsilon = "15.5",'
    )
    one = replies(tmp_path / "one", text, nothing)
    other = replies(tmp_path / "other", text, exhausted)
    differing = [mine[0] for mine, theirs in zip(one, other, strict=True) if mine != theirs]
    assert differing[0] in (
        "POST /v1/answers",
        "POST /v1/verbs/answers",
    )  # a refusal, and no quote before


def test_the_times_that_are_told_are_those_of_requests(tmp_path: Path) -> None:
    """A release is charged after its data are read where no dispatcher is; its time is that of its request."""
    folder = tmp_path / "world"
    folder.mkdir()
    with given_bits() as bits:
        world = World(folder, bits, WORDS)
        named = {"question": "typical-age", "dataset": "people"}
        world.watch("POST", "/v1/answers", json=named, headers={"Idempotency-Key": "k"})
        (release,) = world.send("ann", "GET", "/v1/releases").json()
        (owners,) = world.send("owner", "GET", "/v1/releases").json()
        events = discreet.Ledger(world.declared.ledger).history()
    begins = START + dt.timedelta(seconds=1)
    assert {
        dt.datetime.fromisoformat(e.at) for e in events if e.kind in ("charged", "answered")
    } == {begins}
    assert {dt.datetime.fromisoformat(one["at"]) for one in (owners, release)} == {begins}
