"""The service over HTTP: who may do what, replies that cannot be told apart, requests that are answered once."""

import asyncio
import datetime as dt
import json
import logging
import re
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="the extra server is not installed")
httpx = pytest.importorskip("httpx", reason="the extra server is not installed")

import discreet
from discreet.ledger.toml_budgets import configuration
from discreet.service.asking.free_questions import MOST_IN_FREE_QUESTION
from discreet.service.asking.operations import OPERATIONS
from discreet.service.asking.rights import Rights
from discreet.service.asking.tokens import ROLES, tokens_beside
from discreet.service.http.app import make_app
from discreet.service.http.auth import PLACES
from discreet.service.http.metrics import RequestCounts, as_text
from discreet.service.http.middleware import LONGEST_BODY
from discreet.service.queue.padding import LENGTH, Clock

from ..answer_times import answering
from ..asking.test_connect import TEXT, write_files

LATER = dt.datetime(2999, 1, 1, tzinfo=dt.UTC)
NAMED = {"question": "typical-age", "dataset": "people"}
FREE = {"verb": "mode", "dataset": "people", "column": "city", "terms": {"epsilon": "1/8"}}

ARGUMENTS: dict[str, dict[str, Any]] = {
    "columns": {"dataset": "people"},
    "quote": NAMED,
    "answer": NAMED,
    "quote_verb": FREE,
    "answer_verb": FREE,
    "open_budget": {"dataset": "people"},
    "extend_budget": {"dataset": "rivals", "epsilon": "10"},
    "renew_budget": {"dataset": "rivals", "period": "2027"},
    "reopen": {"dataset": "people"},
    "create_token": {"role": "auditor"},
}
"""What each operation is called with, if it takes anything; in the path, the id of a token."""

AT = {one: (one.route[0], f"/v1{one.route[1]}") for one in OPERATIONS}
ROUTES: dict[tuple[str, str], dict[str, Any]] = {
    ("GET", "/v1/metrics"): {},
    ("GET", "/v1/health"): {},
    **{
        at: {"params" if one.body is None else "json": ARGUMENTS.get(one.name, {})}
        for one, at in AT.items()
    },
}
PUBLIC = {("GET", "/healthz"), ("GET", "/v1/openapi.json"), ("HEAD", "/v1/openapi.json")}
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD", "TRACE")
ASKS = {AT[one] for one in OPERATIONS if one.is_paid}
FREELY = {("POST", "/v1/verbs/quotes"), ("POST", "/v1/verbs/answers")}


def allowed(role: str) -> set[tuple[str, str]]:
    """Return the routes that a role may use: those of its operations, and what only the owner is told."""
    others = {*ROUTES} - {*AT.values()} if role == "owner" else set()
    return {at for one, at in AT.items() if role in one.audience.roles} | others


ALLOWED = {
    "owner": allowed("owner"), "auditor": allowed("auditor"), "ann": allowed("analyst"),
    "bob": allowed("analyst") - FREELY, "nobody": set(),
}  # fmt: skip


class Called:
    """A service in this process, with a token for everybody."""

    def __init__(self, **replaced: str) -> None:
        text = answering(TEXT)
        for old, new in replaced.items():
            text = text.replace(old, new)
        Path("discreet.toml").write_text(text)
        self.app = make_app(configuration(), ["service.test"])
        self.tokens = {who: self.token(who) for who in ALLOWED if who != "nobody"}

    def token(self, who: str) -> str:
        """Return a new token."""
        role, analyst = (who, None) if who in ROLES else ("analyst", who)
        return tokens_beside(Path("discreet.toml")).create(role, analyst, LATER)[0]

    def spare(self) -> str:
        """Return the id of a token that may be revoked."""
        return tokens_beside(Path("discreet.toml")).create("auditor", None, LATER)[1].id

    def __call__(
        self, who: str, method: str, path: str, host: str = "service.test", **sent: Any
    ) -> Any:
        headers = {"Idempotency-Key": "k", **sent.pop("headers", {})}
        if who in self.tokens:
            headers["Authorization"] = f"Bearer {self.tokens[who]}"

        async def called() -> Any:
            transport = httpx.ASGITransport(self.app)
            async with httpx.AsyncClient(transport=transport, base_url=f"http://{host}") as client:
                return await client.request(method, path, headers=headers, **sent)

        return asyncio.run(called())


@pytest.fixture(scope="module")
def called(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Called]:
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(tmp_path_factory.mktemp("served"))
        patched.delenv("DISCREET_CONFIG", raising=False)
        write_files()
        yield Called()


def test_the_matrix_has_every_route(called: Called) -> None:
    listed = called("nobody", "GET", "/v1/openapi.json").json()["paths"]
    found = {(m.upper(), path) for path, methods in listed.items() for m in methods}
    assert found == {*ROUTES} | {("GET", "/healthz")}


@pytest.mark.parametrize("who", ALLOWED)
@pytest.mark.one_in(2)
def test_every_route_of_every_role_by_every_method(called: Called, who: str) -> None:
    for path in {path for _, path in {*ROUTES} | PUBLIC}:
        for method in METHODS:
            sent = ROUTES.get((method, path), {})
            if (method, path) in ASKS:
                sent = {**sent, "headers": {"Idempotency-Key": f"{who}-{path}"}}
            at = path.format(identity=called.spare()) if "{" in path else path
            reply = called(who, method, at, **sent)
            if (method, path) in PUBLIC:
                expected = {200}
            elif who == "nobody" and path != "/healthz":
                expected = {401}  # before anything else
            elif (method, path) not in ROUTES:
                expected = {405}
            else:
                expected = {200, 201} if (method, path) in ALLOWED[who] else {403, 422}
            assert reply.status_code in expected, (who, method, path, reply.text[:300])


def test_pages_of_the_framework_are_off(called: Called) -> None:
    for path in ("/docs", "/redoc", "/openapi.json", "/docs/oauth2-redirect", "/v1", "/v1/"):
        assert called("owner", "GET", path).status_code == 404


@pytest.mark.parametrize(
    "text",
    ["", "x", "Bearer", "Bearer ", "Basic {t}", "{t}", "Bearer {t}x", "Bearer  {t}", "bearer\t{t}"],
)
def test_what_is_no_token_lets_nobody_in(called: Called, text: str) -> None:
    headers = {"Authorization": text.format(t=called.tokens["owner"])}
    reply = called("nobody", "GET", "/v1/budgets", headers=headers)
    assert (reply.status_code, reply.headers["www-authenticate"]) == (401, "Bearer")
    assert reply.json()["error"] == "NotAllowed"


def test_one_key_is_charged_and_answered_once(called: Called) -> None:
    sent: dict[str, Any] = {"json": NAMED, "headers": {"Idempotency-Key": "once"}}
    before = called("ann", "GET", "/v1/budgets").json()[0]["spent"]
    first = called("ann", "POST", "/v1/answers", **sent)
    paid = called("ann", "GET", "/v1/budgets").json()[0]["spent"]
    again = called("ann", "POST", "/v1/answers", **sent)
    assert [r.headers["idempotent-replayed"] for r in (first, again)] == ["?0", "?1"]
    assert first.content == again.content
    assert paid == called("ann", "GET", "/v1/budgets").json()[0]["spent"] != before
    conflict = called(
        "ann", "POST", "/v1/verbs/answers", json=FREE, headers={"Idempotency-Key": "once"}
    )
    assert (conflict.status_code, conflict.json()["error"]) == (409, "RequestConflict")
    assert called("bob", "POST", "/v1/answers", **sent).headers["idempotent-replayed"] == "?0"


def test_an_answer_needs_a_key(called: Called) -> None:
    app = called.app

    async def asked() -> Any:
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://service.test") as client:
            bearer = {"Authorization": f"Bearer {called.tokens['ann']}"}
            return await client.post("/v1/answers", json=NAMED, headers=bearer)

    assert asyncio.run(asked()).status_code == 422


@pytest.mark.parametrize(
    "sent",
    [
        {"json": {**NAMED, "max_cost": "1/4"}}, {"json": {**NAMED, "max_cost": "0"}},
        {"json": {**NAMED, "size": 2}},
        {"json": {**NAMED, "max_cost": 2}}, {"json": {**NAMED, "max_cost": True}},
        {"json": {**NAMED, "request": "x"}},
        {"json": {}}, {"json": []}, {"json": None}, {"content": b"{"}, {"content": b"\xff"},
        {"content": b"[" * 10000},
        {"json": {**NAMED, "question": "\0"}}, {"json": {**NAMED, "question": "x" * 10000}},
        {"json": {**NAMED, "dataset": "../../etc/passwd"}}, {"json": {**NAMED, "question": "<script>"}},
        {"json": {"question": "typical-age", "dataset": "rivals"}},
        {"json": NAMED, "headers": {"Idempotency-Key": "x" * 201}},
        {"json": NAMED, "headers": {"Idempotency-Key": " "}},
        {"json": NAMED, "headers": {"Idempotency-Key": b"\xff"}},
    ],
)  # fmt: skip
def test_hostile_requests_are_refused_and_charge_nothing(
    called: Called, sent: dict[str, Any]
) -> None:
    before = called("ann", "GET", "/v1/budgets").json()
    reply = called(
        "ann", "POST", "/v1/answers", **{"headers": {"Idempotency-Key": "hostile"}, **sent}
    )
    assert reply.status_code in (404, 422), reply.text
    assert "SECRET" not in reply.text
    assert "rivals" not in reply.text.replace("got 'rivals'", "")
    assert called("ann", "GET", "/v1/budgets").json() == before


@pytest.mark.parametrize(
    "body",
    [b"\xff",
     b'{"question": "\xff"}', b"[" * 100_000, b"9" * 5000, b'{"max_cost": ' + b"9" * 4301 + b"}", b"{", b"{]",
     b"\0", b'{"question": "a', b"nul"],
)  # fmt: skip
@pytest.mark.parametrize("path", ["/v1/answers", "/v1/verbs/quotes", "/v1/tokens"])
def test_what_is_no_json_is_told_as_such(called: Called, path: str, body: bytes) -> None:
    headers = {"Content-Type": "application/json"}
    reply = called("owner", "POST", path, content=body, headers=headers)
    told = reply.json()
    assert (reply.status_code, told["error"]) == (400, "InvalidArgument"), told
    assert "cannot be read as JSON" in told["message"]


def test_nobody_is_led_to_another_address(called: Called) -> None:
    for path in ("/v1/tokens/", "/v1/budgets/", "/healthz/", "/v1/openapi.json/"):
        reply = called("owner", "GET", path)
        assert (reply.status_code, "location" in reply.headers) == (404, False), path


@pytest.mark.parametrize(
    "terms",
    [
        {"ledger": "x"}, {"request": "x"}, {"size": 2}, {"verb": "x"}, {"unsafe_candidates_from_data": True},
        {"candidates": {"$map": []}}, {"candidates": ["Rome"]}, {"candidates": {"$eval": "x"}},
        {"epsilon": {"$fraction": "1/0"}},
        {"epsilon": "1e999999999"}, {"mechanism": "os"}, {"self": 1}, {"by": "wage"},
    ],
)  # fmt: skip
def test_hostile_terms_are_refused(called: Called, terms: dict[str, Any]) -> None:
    sent = {**FREE, "terms": {"epsilon": "1/8", **terms}}
    reply = called("ann", "POST", "/v1/verbs/answers", json=sent, headers={"Idempotency-Key": "h"})
    assert reply.status_code in (404, 422), reply.text[:300]
    assert "SECRET" not in reply.text


AGES = {"column": "age", "lo": 0, "hi": 120, "step": 60}


def test_cells_are_asked_for_and_answered_as_arrays(called: Called) -> None:
    of_cells = {**FREE, "column": ["city", AGES], "terms": {"epsilon": "1/8", "by": ["city", AGES]}}
    assert called("ann", "POST", "/v1/verbs/quotes", json=of_cells).json()["cost"] == {
        "epsilon": "1/8"
    }
    reply = called(
        "ann", "POST", "/v1/verbs/answers", json=of_cells, headers={"Idempotency-Key": "c"}
    )
    assert reply.status_code == 200, reply.text
    cells = [[city, ages] for city in ("Bern", "Basel") for ages in ("[0, 60)", "[60, 120)")]
    groups = reply.json()["value"]["$map"]
    assert [group for group, _ in groups] == cells
    assert all(winner in cells for _, winner in groups)
    assert reply.json()["asked"]["column"] == "city × age [0, 60, 120)"
    listed = {**of_cells, "terms": {"epsilon": "1/8", "candidates": {"city": ["Bern"]}}}
    reply = called(
        "ann", "POST", "/v1/verbs/answers", json=listed, headers={"Idempotency-Key": "d"}
    )
    assert reply.json()["value"] in [["Bern", "[0, 60)"], ["Bern", "[60, 120)"]]
    tuples = {**of_cells, "terms": {"epsilon": "1/8", "candidates": [["Bern", "[0, 60)"]]}}
    reply = called(
        "ann", "POST", "/v1/verbs/answers", json=tuples, headers={"Idempotency-Key": "e"}
    )
    assert reply.json()["value"] == ["Bern", "[0, 60)"]


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        ({"column": ["city"]}, "a list of 2 to 10 columns"),
        ({"column": ["city", "city"]}, "columns that differ"),
        ({"column": ["city", "SALARY"]}, "no column 'SALARY'"),
        ({"column": ["city", {**AGES, "column": "SALARY"}]}, "no column 'SALARY'"),
        ({"column": {**AGES, "column": "city"}}, "'city' is declared as string"),
        ({"column": {**AGES, "column": "\0"}}, "must be a printable name"),
        ({"column": {"column": "age", "edges": list(range(5000))}}, "from 2 to 1,001 edges"),
        ({"column": {"column": "age", **{f"k{i}": i for i in range(1000)}}}, "bins have no 'k0'"),
        ({"column": [AGES] * 1000}, "a list of 2 to 10 columns"),
        ({"column": [[[]]]}, "must be the name of a column"),
        ({"column": 5}, "openapi.json says"),
        ({"column": True}, "openapi.json says"),
        ({"verb": "median", "column": ["age", "city"]}, "one column is asked for here"),
        ({"terms": {"by": ["city", "SALARY"]}}, "no column 'SALARY'"),
        ({"terms": {"by": {**AGES, "step": 0}}}, "step must be greater than zero"),
        ({"terms": {"by": [AGES, {"$date": "2024-01-01"}]}}, "bins have no '$date'"),
        ({"terms": {"by": 5}}, "must be a text, got 5"),
        ({"terms": {"by": "city", "groups": {"city": ["Bern"]}}}, "groups by column are for several columns"),
        ({"column": ["city", "age"], "terms": {"candidates": {"town": ["Bern"]}}}, "and of no other"),
        ({"column": ["city", "age"], "terms": {"candidates": {"city": {"a": 1}}}}, "a value cannot be read as 'a'"),
        ({"column": ["city", "age"], "terms": {"candidates": [["Bern"]]}}, "tuples of 2 values"),
        (
            {"column": ["age", AGES | {"column": "city"}]},
            "declared as string",
        ),
        (
            {"column": ["age", "city"], "terms": {"by": ["city", "age"], "candidates": {
                "age": list(range(100)), "city": ["Bern"] * 101}}},
            "at most 10,000 cells, and this one has 2 × 121 × 100 × 101 = 2,444,200",
        ),
    ],
)  # fmt: skip
def test_hostile_cells_are_refused_and_charge_nothing(
    called: Called, sent: dict[str, Any], words: str
) -> None:
    before = called("ann", "GET", "/v1/budgets").json()
    asked = {**FREE, **sent, "terms": {"epsilon": "1/8", **sent.get("terms", {})}}
    for path in ("quotes", "answers"):
        reply = called(
            "ann", "POST", f"/v1/verbs/{path}", json=asked, headers={"Idempotency-Key": "hostile"}
        )
        assert reply.status_code in (404, 422), reply.text
        assert words in reply.json()["message"]
        assert "SECRET" not in reply.text
    assert called("ann", "GET", "/v1/budgets").json() == before


def test_a_token_makes_none_that_outlives_it(called: Called) -> None:
    known = tokens_beside(Path("discreet.toml"))
    text, kept = known.create("owner", None, dt.datetime.now(dt.UTC) + dt.timedelta(days=1))
    as_owner = {"Authorization": f"Bearer {text}"}
    wanted = {"role": "owner", "expires": "9999d"}
    made = called("nobody", "POST", "/v1/tokens", json=wanted, headers=as_owner).json()
    assert (made["expires"], made["parent"]) == (kept.expires, kept.id)
    bearer = {"Authorization": f"Bearer {made['token']}"}
    assert called("nobody", "GET", "/v1/budgets", headers=bearer).status_code == 200
    assert {kept.id, None} <= {one["parent"] for one in called("owner", "GET", "/v1/tokens").json()}
    called("owner", "DELETE", f"/v1/tokens/{kept.id}")
    for one in (as_owner, bearer):
        assert called("nobody", "GET", "/v1/budgets", headers=one).status_code == 401


def test_a_long_request_is_refused(called: Called) -> None:
    reply = called("ann", "POST", "/v1/answers", content=b" " * (LONGEST_BODY + 1))
    assert reply.status_code == 413


def test_another_host_is_refused(called: Called) -> None:
    assert called("owner", "GET", "/v1/budgets", host="evil.test").status_code == 400


def test_a_caller_has_so_many_places_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_files()
    called = Called(**{'answers_after = "0s"': 'answers_after = "250ms"'})
    app: Any = called.app
    second = {"ann": called.token("ann")}

    async def asked() -> None:
        last, waits = asyncio.Event(), 0

        async def sleep(_: float) -> None:
            nonlocal waits
            waits += 1
            await last.wait()

        app.clock = Clock(sleep=sleep)
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://service.test") as client:

            def ask(token: str) -> Any:
                bearer = {"Authorization": f"Bearer {token}"}
                return asyncio.create_task(client.get("/v1/budgets", headers=bearer))

            tokens = (called.tokens["ann"], second["ann"])
            asking = [ask(tokens[i % 2]) for i in range(PLACES + 5)]
            while waits < PLACES + 5:
                await asyncio.sleep(0.01)
            other = ask(called.tokens["bob"])  # others have places of their own
            last.set()
            replies = [await one for one in asking]
            assert Counter(one.status_code for one in replies) == {200: PLACES, 429: 5}
            assert all(
                "at once" in one.json()["message"] for one in replies if one.status_code == 429
            )
            assert (await other).status_code == 200
            assert (await ask(called.tokens["ann"])).status_code == 200

    asyncio.run(asked())


def test_the_chain_is_told_line_by_line(called: Called) -> None:
    reply = called("auditor", "GET", "/v1/audit")
    events = [json.loads(line) for line in reply.text.rstrip(" ").splitlines()]
    told = discreet.Ledger("budget.db").history()
    assert events == json.loads(json.dumps([event.as_dict() for event in told]))
    assert reply.headers["ledger-head"] == told[-1].head


def test_the_requests_of_a_caller_are_worked_on_one_after_another(
    called: Called, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever their number and their work: a reply to others waits for one of them at a time."""
    begun: list[str] = []
    may_end = threading.Event()
    budgets = Rights.budgets

    def slow(rights: Rights) -> Any:
        begun.append(str(rights.analyst))
        if rights.analyst == "ann":
            may_end.wait(60)
        return budgets(rights)

    monkeypatch.setattr(Rights, "budgets", slow)

    async def asked() -> None:
        transport = httpx.ASGITransport(called.app)
        async with httpx.AsyncClient(transport=transport, base_url="http://service.test") as client:

            def ask(who: str) -> Any:
                bearer = {"Authorization": f"Bearer {called.tokens[who]}"}
                return asyncio.create_task(client.get("/v1/budgets", headers=bearer))

            asking = [ask("ann") for _ in range(8)]
            while not begun:
                await asyncio.sleep(0.01)
            assert (await ask("bob")).status_code == 200
            assert begun == ["ann", "bob"]
            may_end.set()
            assert {(await one).status_code for one in asking} == {200}

    asyncio.run(asked())
    assert begun.count("ann") == 8


def test_a_free_question_lists_so_many_values(called: Called) -> None:
    """Its price is settled by workers and readers that others wait for: 100,000 took five seconds."""
    for number in (MOST_IN_FREE_QUESTION, MOST_IN_FREE_QUESTION + 1):
        terms = {"epsilon": "1/8", "candidates": list(map(str, range(number)))}
        for path in ("/v1/verbs/quotes", "/v1/verbs/answers"):
            reply = called("ann", "POST", path, json={**FREE, "terms": terms})
            assert reply.status_code == 422  # they are not declared
            assert ("lists at most 10,000" in reply.text) is (number > MOST_IN_FREE_QUESTION)


def test_the_log_has_every_request_and_nothing_of_the_caller(
    called: Called, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, logger="discreet.access"):
        called("ann", "POST", "/v1/answers", json=NAMED, headers={"Idempotency-Key": "CALLERS"})
        called("ann", "GET", "/CALLERS?token=CALLERS")
        called("ann", "CALLERS", "/v1/budgets")
        called("ann", "GET", "/v1/budgets", host="callers.test")
        called("nobody", "GET", "/v1/budgets", headers={"Authorization": "Bearer CALLERS"})
        called("ann", "POST", "/v1/answers", content=b"CALLERS" * LONGEST_BODY)
        called("owner", "DELETE", "/v1/tokens/CALLERS")
    lines = [record.message for record in caplog.records if record.name == "discreet.access"]
    told = list(map(json.loads, lines))
    assert [(one["method"], one["path"], one["status"]) for one in told] == [
        ("POST", "/v1/answers", 200), ("GET", "unknown", 404), ("other", "/v1/budgets", 405),
        ("GET", "/v1/budgets", 400), ("GET", "/v1/budgets", 401), ("POST", "/v1/answers", 413),
        ("DELETE", "/v1/tokens/{identity}", 404),
    ]  # fmt: skip
    assert all({*one} == {"method", "path", "status", "milliseconds"} for one in told)
    assert not any("callers" in line.lower() or "SECRET" in line for line in lines)


def test_metrics_are_counted_by_route_and_by_error(called: Called) -> None:
    def refusals() -> int:
        found: int = called("owner", "GET", "/v1/metrics").json()["refusals"].get("UnknownName", 0)
        return found

    before = refusals()
    called("ann", "POST", "/v1/quotes", json={"question": "no-such"})
    assert refusals() == before + 1
    told = called("owner", "GET", "/v1/metrics").json()
    of_quotes = [one for one in told["requests"] if one["route"] == "/v1/quotes"]
    assert {"method": "POST", "route": "/v1/quotes", "status": 404, "number": 1} in [
        {**one, "number": min(one["number"], 1)} for one in of_quotes
    ]
    assert told["late_answers"] == []
    assert told["budgets"] == called("owner", "GET", "/v1/budgets").json() != []


def test_metrics_as_prometheus_reads_them(called: Called) -> None:
    called("nobody", "GET", "/v1/budgets")
    accepts = {
        "Accept": "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5"
    }
    reply = called("owner", "GET", "/v1/metrics", headers=accepts)
    assert reply.headers["content-type"].startswith("text/plain")
    lines = reply.text.rstrip(" ").splitlines()
    sample = re.compile(r'[a-z_]+({([a-z]+="[^"]*",?)+})? [0-9.e+-]+')
    assert all(line.startswith(("# HELP ", "# TYPE ")) or sample.fullmatch(line) for line in lines)
    assert "# TYPE discreet_requests_total counter" in lines
    assert 'discreet_budget_total{dataset="people",analyst="ann",unit="epsilon"} 10.0' in lines
    assert "# TYPE discreet_delay gauge" in lines
    assert any('status="401"' in line for line in lines)


def test_labels_are_escaped() -> None:
    budget = discreet.Ledger().open('a"b\\c', epsilon=1)
    assert r'dataset="a\"b\\c"' in as_text(RequestCounts(), [budget], [])


def test_health_says_whether_the_ledger_can_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_files()
    for lost, expected in (
        (True, (503, {"status": "unavailable"})),
        (False, (200, {"status": "ok"})),
    ):
        fresh = Called()
        if lost:
            Path("budget.db").rename("elsewhere.db")
        reply = fresh("nobody", "GET", "/healthz")
        assert (reply.status_code, reply.json()) == expected
        if lost:
            Path("elsewhere.db").rename("budget.db")


def test_replies_about_neighbouring_data_have_one_length(called: Called) -> None:
    lengths = set()
    there = Path("SECRET-PLACE.csv").read_text()
    for i, text in enumerate((there, there + "1,Basel\n", "age,city\n", None)):
        if text is None:
            Path("SECRET-PLACE.csv").unlink()
        else:
            Path("SECRET-PLACE.csv").write_text(text)
        for path, sent in (("/v1/answers", NAMED), ("/v1/verbs/answers", FREE)):
            reply = called(
                "owner", "POST", path, json=sent, headers={"Idempotency-Key": f"n{i}{path}"}
            )
            lengths.add((len(reply.content), reply.headers["content-length"], tuple(reply.headers)))
    Path("SECRET-PLACE.csv").write_text(there)
    assert lengths == {
        (LENGTH, str(LENGTH), ("idempotent-replayed", "content-type", "content-length"))
    }


def test_what_fails_because_of_the_data_is_one_reply(called: Called) -> None:
    there = Path("SECRET-PLACE.csv").read_text()
    replies = set()
    for i, text in enumerate(("age\n1\n", "", None)):
        if text is None:
            Path("SECRET-PLACE.csv").unlink()
        else:
            Path("SECRET-PLACE.csv").write_text(text)
        sent = {**FREE, "terms": {"epsilon": "1/8"}}
        reply = called(
            "ann", "POST", "/v1/verbs/answers", json=sent, headers={"Idempotency-Key": f"f{i}"}
        )
        replies.add((reply.status_code, reply.text.replace(f"f{i}", "f"), str(dict(reply.headers))))
        reopening = {"dataset": "people"}
        assert called("owner", "POST", "/v1/budgets/reopenings", json=reopening).status_code == 200
    Path("SECRET-PLACE.csv").write_text(there)
    assert len(replies) == 1
    assert replies.pop()[0] == 500
