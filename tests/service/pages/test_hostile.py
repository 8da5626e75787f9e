"""Hostile names and values on every page: shown as text, never as markup, and never in an order that deceives."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import httpx
import pytest

from discreet.ledger.toml_budgets import configuration, open_described
from discreet.service.asking.tokens import ROLES
from discreet.service.http.app import make_app
from discreet.service.http.exchange import App
from discreet.service.pages.page_routes import PAGES

from .person import FROM_HERE, HOST, Person, Read, Served
from .test_access import DOWNLOADS, check_page

MARK = "kqz"
"""A tag and an attribute of this name are in no page of ours."""

HOSTILE = {
    "markup": f"<{MARK}>a</{MARK}><img src=x {MARK}=1>",
    "attribute": f"\" {MARK}=1 x='",
    "comment": f"--><{MARK}>",
    "title": f"</title></main><{MARK}>",
    "template": "{{ 'k' * 20 }}{% raw %}{{ token }}",
    "format": "{column}{0}{x.__class__}%s",
    "entity": f"&lt;{MARK}&gt;&#0;",
    "long": "x" * 190,
    "address": f"javascript:{MARK}?&a=b#c",
    "chinese": "城市名称",
}
ALL = "".join(HOSTILE[one] for one in ("title", "attribute", "template", "format", "entity"))
"""One text that holds most of them, for every run; each alone is a proof."""

NAMELESS = {"bidi": "abc\u202edef\u2066", "control": "a\x07b\x1b[31m", "lines": "a\r\nb"}
"""Texts that can be values and descriptions, but no names."""


def quoted(text: str) -> str:
    return (
        '"' + "".join(c if c.isalnum() and c.isascii() else f"\\U{ord(c):08X}" for c in text) + '"'
    )


def description(text: str, name: str) -> str:
    value, called = quoted(text), quoted(name)
    return f"""
ledger = "budget.db"
[datasets.{called}]
source = "data.csv"
answers_after = "0s"
budget = {{ epsilon = "2000" }}
columns.{called} = {{ type = "string", enum = [{value}, "other"] }}
columns.n = {{ type = "integer", minimum = 0, maximum = 9 }}
[datasets.{called}.questions.{called}]
verb = "mode"
column = {called}
epsilon = 100
description = {value}
[analysts.{called}]
datasets = [{called}]
share = {{ epsilon = "900" }}
verbs = ["mode", "median"]
"""


@pytest.fixture(params=["all", "bidi", *HOSTILE, "control", "lines"])
def hostile(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[str, str, Served]:
    everything = ALL + "".join(NAMELESS.values())
    text = {"all": everything, **HOSTILE, **NAMELESS}[request.param]
    name = {"all": ALL, **HOSTILE}.get(request.param, "data")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DISCREET_CONFIG", raising=False)
    Path("discreet.toml").write_text(description(text, name), encoding="utf-8")
    cell = text.replace('"', '""')
    lines = "".join(f'"{cell}",{i % 10}\n' for i in range(20))
    head = name.replace('"', '""')
    Path("data.csv").write_text(f'"{head}",n\n{lines}', encoding="utf-8", newline="")
    declared = configuration()
    open_described(declared, name)
    open_described(declared, name, name)
    return text, name, Served(description(text, name), (name,))


@pytest.mark.one_in(len(HOSTILE) + 4)
def test_hostile_texts_are_texts_on_every_page(hostile: tuple[str, str, Served]) -> None:
    text, name, served = hostile
    seen = 0
    for who in (name, *sorted({*ROLES} - {"analyst"})):
        person = served.person(who)
        role = who if who in ROLES else "analyst"
        for page in pages(person, role, name):
            check(page, text)
            seen += MARK in page or name in page
    assert seen


def pages(person: Person, role: str, name: str) -> Iterator[str]:
    """Yield every page that a role can see, with the hostile names, and what comes of asking."""
    about = {"dataset": name, "question": name}
    free = {"dataset": name, "verb": "mode", "column": name, "epsilon": "100"}
    sent = {"/plan": about, "/free": {"dataset": name}}
    for method, path, _, roles in PAGES:
        if method == "GET" and role in roles and path not in DOWNLOADS:
            yield person.send("GET", path, params=sent.get(path, {})).text
    yield person.send("GET", "/free", params=free).text
    yield person.send("GET", "/free", params={**free, "epsilon": name, "candidates": name}).text
    for wrong in ("epsilon", "verb", "column", "dataset", "candidates", "max_groups", "by"):
        yield person.send("GET", "/plan", params={**free, wrong: name + MARK}).text
    for asked in (about, free):
        plan = person.send("GET", "/plan", params=asked)
        yield plan.text
        if role != "auditor":
            assert plan.status_code == 200, plan.text
            answer = person.submit(Read(plan.text).form("/ask"))
            assert answer.status_code == 200, answer.text
            yield answer.text
    yield person.send("GET", f"/nothing/{MARK}", params={name: name}).text


def check(page: str, text: str) -> None:
    """Check that nothing in a page is made by the text, and that every character can be seen."""
    check_page(page)
    read = Read(page)
    assert not [1 for tag, attrs in read.elements if MARK in (tag, *attrs)]
    assert "k" * 20 not in page
    shown = read.text + "".join(
        value for _, attrs in read.elements for key, value in attrs.items() if key != "value"
    )
    assert all(letter.isprintable() or letter == "\n" for letter in shown), (
        "a character cannot be seen"
    )


ELSEWHERE = ["//evil.example/x", "///evil.example", "//evil.example/%2e%2e", "/\\evil.example/x", "//login",
             "/%2f%2fevil.example", "/budgets/", "/login/", "//evil.example/v1/tokens/"]  # fmt: skip


@pytest.mark.parametrize("path", ELSEWHERE)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_no_page_leads_to_a_place_that_a_request_named(
    served: Served, path: str, method: str
) -> None:
    named = {"next": "https://evil.example", "lang": "zh", "url": "//evil.example"}
    headers = {**FROM_HERE, "X-Forwarded-Host": "evil.example", "Forwarded": "host=evil.example"}
    for person in (served.person(), served.person("ann")):
        url = f"https://{HOST}{path}"
        reply = person.send(method, url, params=named, headers=headers)
        assert not reply.headers.get("location", "/").startswith(("//", "http", "/\\"))
        for _, attrs in Read(reply.text).elements:
            for where in (attrs[one] for one in ("href", "action", "src") if one in attrs):
                there = urljoin(url, where)
                assert where == "data:," or urlsplit(there)[:2] == ("https", HOST), (path, where)
        assert "evil.example" not in str(reply.headers)


def test_a_name_that_is_not_ours_is_led_nowhere(served: Served) -> None:
    app = make_app(served.declared, ["www.data.test"])
    reply = asyncio.run(sent_to(app, "http://data.test/login"))
    assert (reply.status_code, "location" in reply.headers) == (400, False)


async def sent_to(app: App, url: str) -> httpx.Response:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app)) as client:
        return await client.get(url)
