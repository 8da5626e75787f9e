"""Who may see which page: by enumeration of every page, role and method, with the headers of every reply."""

import asyncio
import threading
from pathlib import Path
from typing import Any

import httpx
import pytest

from discreet.service.asking.rights import Rights
from discreet.service.asking.tokens import tokens_beside
from discreet.service.http.auth import Places
from discreet.service.http.router import Router
from discreet.service.pages.page_request import LOGIN, SESSION
from discreet.service.pages.page_routes import PAGE_PATHS, PAGES
from discreet.service.pages.sessions import form_secret
from discreet.service.queue.padding import LENGTH

from .person import FROM_HERE, HOST, LATER, Person, Read, Served

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; "
    "frame-ancestors 'none'; base-uri 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""What every reply must have."""

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD")
ROLES = ("owner", "ann", "auditor", "nobody")
QUESTION = {"dataset": "people", "question": "typical-age"}
SENT: dict[str, dict[str, str]] = {
    "/plan": QUESTION,
    "/free": {"dataset": "people"},
    "/ask": {**QUESTION, "request": "walk"},
    "/budgets": {"dataset": "people", "epsilon": "100"},
    "/access": {"dataset": "rivals", "analyst": "eve", "epsilon": "1"},
    "/tokens": {"role": "auditor", "expires": "1d"},
    "/budgets/open": {"dataset": "rivals"},
    "/budgets/renew": {"dataset": "rivals", "period": "2027"},
    "/budgets/reopen": {"dataset": "rivals"},
    "/tokens/revoke": {"identity": "none"},
    "/history/report": {"dataset": "people"},
}
"""The fields that a page needs to be there."""

LEADS = {("GET", "/"), ("POST", "/logout"), ("POST", "/budgets"), ("POST", "/budgets/open"),
         ("POST", "/budgets/renew"), ("POST", "/budgets/reopen"), ("POST", "/access")}  # fmt: skip
"""Pages that lead to another when all is well."""

DOWNLOADS = {"/", "/history/events", "/history/checkpoint", "/history/report"}
"""What is no page of ours."""

ALLOWED = {(method, path): roles for method, path, _, roles in PAGES}
PATHS = sorted({path for _, path in ALLOWED} | {"/login", "/style.css"})


def role_of(who: str) -> str:
    return "analyst" if who == "ann" else who


def expected(who: str, method: str, path: str) -> set[int]:
    if who == "nobody" and path in PAGE_PATHS and method not in ("GET", "HEAD"):
        return {401}
    if path == "/style.css":
        return {200} if method == "GET" else {405}
    if path == "/login":
        return {"GET": {200, 303}, "POST": {403}}.get(method, {405})
    if (method, path) not in ALLOWED:
        return {401, 405} if path == "/logout" else {405}  # who has left is a stranger
    if who == "nobody":
        return {303}
    if role_of(who) not in ALLOWED[method, path]:
        return {403}
    if path == "/tokens/revoke":  # there is no such token
        return {404}
    return {303} if (method, path) in LEADS else {200}


def send(person: Person, method: str, path: str, secret: str = "") -> Any:
    fields = SENT.get(path, {})
    if method == "POST":
        return person.send(method, path, data={**fields, "secret": secret})
    return person.send(method, path, params=fields)


@pytest.mark.parametrize("who", ROLES)
@pytest.mark.one_in(2)
def test_every_page_of_every_role_by_every_method(served: Served, who: str) -> None:
    for path in PATHS:
        person = served.person(None if who == "nobody" else who)
        secret = form_secret(person.cookies.get(SESSION, ""))
        for method in METHODS:
            reply = send(person, method, path, secret)
            assert reply.status_code in expected(who, method, path), (
                who,
                method,
                path,
                reply.text[:500],
            )
            check_headers(reply)


def check_headers(reply: Any) -> None:
    for name, value in HEADERS.items():
        if name != "Cache-Control" or not reply.headers["content-type"].startswith("text/css"):
            assert reply.headers[name] == value, name
    for one in reply.headers.get_list("set-cookie"):
        name = one.split("=")[0]
        told = {part.strip().lower() for part in one.split(";")[1:]}
        assert name.startswith("__Host-discreet")
        assert {"secure", "httponly", "samesite=strict", "path=/"} <= told
        assert not any(part.startswith("domain") for part in told)


def test_the_walk_has_every_page(served: Served) -> None:
    inner: Any = served.app
    while not isinstance(inner, Router):
        inner = inner.app
    routes = {(route.method, route.path) for route in inner.routes}
    of_pages = {
        one for one in routes if not one[1].startswith("/v1") and one[1] not in ("/healthz", "/mcp")
    }
    assert of_pages == {*ALLOWED, ("GET", "/login"), ("POST", "/login"), ("GET", "/style.css")}


def test_no_page_has_a_script_a_style_or_anything_from_elsewhere(served: Served) -> None:
    for who in ROLES[:3]:
        person = served.person(who)
        for (method, path), roles in ALLOWED.items():
            if method != "GET" or role_of(who) not in roles or path in DOWNLOADS:
                continue
            text = person.send("GET", path, params=SENT.get(path, {})).text
            check_page(text)
    check_page(served.person().get("/login").text)
    check_page(served.person().get("/nothing").text)


def check_page(text: str) -> None:
    """Check what holds of every page: nothing runs, nothing is loaded, all has a label and a place."""
    read = Read(text)
    tags = [tag for tag, _ in read.elements]
    assert not {"script", "style", "iframe", "object", "embed", "base"} & {*tags}
    assert tags.count("h1") == 1
    assert tags.count("main") == 1
    assert next(attrs["lang"] for tag, attrs in read.elements if tag == "html") in ("en", "zh-Hans")
    assert ("a", {"class": "skip", "href": "#main"}) in read.elements
    named = {attrs["for"] for tag, attrs in read.elements if tag == "label"}
    ids = [attrs["id"] for _, attrs in read.elements if "id" in attrs]
    assert len(ids) == len({*ids})
    for tag, attrs in read.elements:
        assert not [name for name in attrs if name.startswith("on") or name == "style"], (
            tag,
            attrs,
        )
        for name in ("href", "src", "action"):
            assert attrs.get(name, "/")[0] in "/#?" or attrs[name] == "data:,", (tag, attrs)
            assert not attrs.get(name, "/").startswith("//")
        if tag in ("select", "textarea") or (tag == "input" and attrs.get("type") != "hidden"):
            assert attrs["id"] in named, attrs
    for form in read.forms:
        assert form.method == "GET" or "secret" in form.fields


POSTS = sorted(path for method, path in ALLOWED if method == "POST")
OTHERS: list[tuple[dict[str, str], str | None]] = [
    (FROM_HERE, ""), (FROM_HERE, "wrong"), (FROM_HERE, "ä"), ({}, None), ({"Origin": "null"}, None),
    ({"Origin": "http://["}, None),
    ({"Origin": "https://evil.test"}, None), ({"Origin": f"https://{HOST}.evil.test"}, None),
    ({"Sec-Fetch-Site": "cross-site"}, None), ({"Sec-Fetch-Site": "same-site"}, None),
    ({**FROM_HERE, "Sec-Fetch-Site": "cross-site"}, None), ({**FROM_HERE, "Origin": "https://evil.test"}, None),
]  # fmt: skip
"""Headers and secrets (None: the right one) of forms that no page of ours sent."""


@pytest.mark.parametrize("path", POSTS)
def test_forms_of_others_do_nothing(served: Served, path: str) -> None:
    person = served.person()
    person.enter(tokens_beside(Path("discreet.toml")).create("owner", None, LATER)[0])
    before = person.read("/budgets").text
    good = form_secret(person.cookies[SESSION])
    for headers, secret in OTHERS:
        data = {**SENT.get(path, {}), "secret": good if secret is None else secret}
        assert person.send("POST", path, headers, data=data).status_code == 403, headers
    assert person.read("/budgets").text == before


@pytest.mark.parametrize(
    "headers", [{}, {"Origin": "https://evil.test"}, {"Sec-Fetch-Site": "cross-site"}]
)
def test_nobody_is_logged_in_by_another_site(served: Served, headers: dict[str, str]) -> None:
    person = served.person()
    form = Read(person.get("/login").text).form("/login")
    sent = {**form.fields, "token": served.tokens["ann"]}
    reply = person.send("POST", "/login", headers, data=sent)
    assert (reply.status_code, SESSION in person.cookies) == (403, False)


def test_nobody_is_logged_in_by_a_form_of_somebody_else(served: Served) -> None:
    other = Read(served.person().get("/login").text).form("/login")
    person = served.person()
    person.get("/login")
    assert person.submit(other, token=served.tokens["ann"]).status_code == 403
    person.cookies.pop(LOGIN)
    assert person.submit(other, token=served.tokens["ann"]).status_code == 403


@pytest.mark.parametrize(
    "token", ["", "xyzzy", "discreet_x", "discreet_" + "A" * 43, "<script>", "ä" * 50]
)
def test_what_is_no_token_lets_nobody_in(served: Served, token: str) -> None:
    person = served.person()
    reply = person.enter(token)
    assert (reply.status_code, SESSION in person.cookies) == (401, False)
    assert token not in reply.text or not token
    assert person.get("/budgets").headers["location"] == "/login"


def test_wrong_tokens_of_others_keep_nobody_out(served: Served) -> None:
    attacker, person = served.person(), served.person()
    person.address = attacker.address  # behind a proxy all have one
    assert {attacker.enter("discreet_wrong").status_code for _ in range(40)} == {401}
    assert person.enter(served.tokens["ann"]).status_code == 303
    assert SESSION in person.cookies


def test_whoever_asks_for_too_much_at_once_is_told(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    person = served.person("ann")
    monkeypatch.setattr(Places, "enter", lambda *_: False)
    reply = person.get("/budgets")
    assert reply.status_code == 429
    assert "too many pages at once" in reply.text


def test_another_host_gets_nothing(served: Served) -> None:
    person = served.person("ann")
    assert person.send("GET", "/budgets", {"Host": "evil.test"}).status_code == 400


def test_every_page_is_padded(served: Served) -> None:
    person = served.person("ann")
    for path in ("/", "/questions", "/budgets", "/login", "/style.css", "/nothing"):
        assert len(person.get(path).content) == LENGTH, path


def test_a_stolen_form_cannot_be_too_long(served: Served) -> None:
    person = served.person("ann")
    secret = form_secret(person.cookies[SESSION])
    for data in ({"secret": secret, "x": "y" * 5000}, {f"x{i}": "" for i in range(50)}):
        assert person.send("POST", "/ask", data=data).status_code == 422
    twice = f"secret={secret}&request=a&request=b"
    kind = {"Content-Type": "application/x-www-form-urlencoded", **FROM_HERE}
    assert person.send("POST", "/ask", kind, content=twice).status_code == 422
    assert person.send("POST", "/ask", kind, content=b"\xff=%ff").status_code in (403, 422)


def test_workers_share_sessions(served: Served) -> None:
    """A second application on the same files knows who is logged in at the first, and who left."""
    from discreet.service.http.app import make_app

    person = served.person("ann")
    other = Person(make_app(served.declared, [HOST]))
    other.cookies = dict(person.cookies)
    assert other.get("/budgets").status_code == 200
    assert (
        person.send(
            "POST", "/logout", data={"secret": form_secret(person.cookies[SESSION])}
        ).status_code
        == 303
    )
    assert other.get("/budgets").status_code == 303


def test_requests_at_once_are_answered(served: Served) -> None:
    person = served.person("ann")

    async def many() -> list[int]:
        found = [asyncio.to_thread(person.get, "/budgets") for _ in range(8)]
        return [reply.status_code for reply in await asyncio.gather(*found)]

    assert asyncio.run(many()) == [200] * 8


def test_the_pages_of_a_caller_are_worked_on_one_after_another(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As its requests to the other routes are: a page of others waits for one of them at a time."""
    begun: list[str] = []
    may_end = threading.Event()
    budgets = Rights.budgets

    def slow(rights: Rights) -> Any:
        begun.append(str(rights.analyst))
        if rights.analyst == "ann":
            may_end.wait(60)
        return budgets(rights)

    monkeypatch.setattr(Rights, "budgets", slow)
    people = {who: served.person(who) for who in ("ann", "auditor")}

    async def asked() -> None:
        transport = httpx.ASGITransport(served.app)
        async with httpx.AsyncClient(transport=transport, base_url=f"https://{HOST}") as client:

            def ask(who: str) -> Any:
                cookie = f"{SESSION}={people[who].cookies[SESSION]}"
                return asyncio.create_task(client.get("/budgets", headers={"Cookie": cookie}))

            asking = [ask("ann") for _ in range(8)]
            while not begun:
                await asyncio.sleep(0.01)
            assert (await ask("auditor")).status_code == 200
            assert begun == ["ann", "None"]
            may_end.set()
            assert {(await one).status_code for one in asking} == {200}

    asyncio.run(asked())
