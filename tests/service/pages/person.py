"""A person at the pages, without a browser: keeps cookies, reads forms, and sends them."""

import asyncio
import datetime as dt
from collections.abc import Mapping
from html.parser import HTMLParser
from itertools import count
from pathlib import Path
from typing import Any

import httpx

from discreet.ledger.toml_budgets import configuration
from discreet.service.asking.tokens import ROLES, tokens_beside
from discreet.service.http.app import make_app
from discreet.service.http.exchange import App

HOST = "service.test"
LATER = dt.datetime(2999, 1, 1, tzinfo=dt.UTC)
FROM_HERE = {"Origin": f"https://{HOST}", "Sec-Fetch-Site": "same-origin"}

_COUNTED = count(1)


class Form:
    """A form of a page: where it leads, and what its fields hold."""

    def __init__(self, method: str, action: str) -> None:
        self.method, self.action = method.upper(), action
        self.fields: dict[str, str] = {}


class Read(HTMLParser):
    """A page as a browser reads it: its forms, elements, and text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.forms: list[Form] = []
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.text = ""
        self._select = self._area = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.elements.append((tag, found))
        if tag == "form":
            self.forms.append(Form(found.get("method", "get"), found["action"]))
        if tag in ("select", "textarea"):
            self._select, self._area = found["name"], found["name"] if tag == "textarea" else ""
        is_chosen = found.get("type") != "checkbox" or "checked" in found
        if tag == "input" and "name" in found and is_chosen:
            self.forms[-1].fields[found["name"]] = found.get("value", "")
        if tag == "option" and ("selected" in found or self._select not in self.forms[-1].fields):
            self.forms[-1].fields[self._select] = found["value"]

    def handle_endtag(self, tag: str) -> None:
        if tag == "textarea":
            self._area = ""

    def handle_data(self, data: str) -> None:
        self.text += data
        if self._area:
            self.forms[-1].fields[self._area] = data

    def form(self, action: str, **holding: str) -> Form:
        """Return the first form that leads there and holds these fields."""
        wanted = holding.items()
        return next(f for f in self.forms if f.action == action and wanted <= f.fields.items())


class Served:
    """A service in this process, with a token for everybody."""

    def __init__(self, text: str, analysts: tuple[str, ...] = ("ann",)) -> None:
        Path("discreet.toml").write_text(text, encoding="utf-8")
        self.declared = configuration()
        self.app: App = make_app(self.declared, [HOST])
        known = tokens_beside(Path("discreet.toml"))
        self.tokens = {
            who: known.create(who if who in ROLES else "analyst", who if who not in ROLES else None, LATER)[0]
            for who in (*analysts, "owner", "auditor")
        }  # fmt: skip

    def person(self, who: str | None = None, lang: str = "en") -> "Person":
        """Return somebody, logged in if named."""
        person = Person(self.app, lang)
        if who is not None:
            entered = person.enter(self.tokens[who])
            assert entered.status_code == 303, entered.text
        return person


class Person:
    """Somebody with a browser of their own."""

    def __init__(self, app: App, lang: str = "en") -> None:
        self.app, self.lang = app, lang
        self.cookies: dict[str, str] = {}
        self.address = f"10.0.{next(_COUNTED)}.1"

    def send(
        self, method: str, path: str, headers: Mapping[str, str] | None = None, **sent: Any
    ) -> httpx.Response:
        """Send one request with the cookies, and keep those of the reply; lead nowhere else."""
        given = {"Accept-Language": self.lang, **(FROM_HERE if headers is None else headers)}
        if self.cookies:
            given["Cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        reply = asyncio.run(_sent(self.app, self.address, method, path, given, sent))
        for name, value in reply.cookies.items():
            self.cookies[name] = value
        for one in reply.headers.get_list("set-cookie"):
            if "Max-Age=0" in one:
                self.cookies.pop(one.split("=")[0], None)
        return reply

    def get(self, path: str) -> httpx.Response:
        """Return a page."""
        return self.send("GET", path)

    def read(self, path: str) -> Read:
        """Return a page that is there, read."""
        reply = self.get(path)
        assert reply.status_code == 200, reply.text[:2000]
        return Read(reply.text)

    def submit(self, form: Form, **filled: str) -> httpx.Response:
        """Send a form with some of its fields filled in."""
        fields = {**form.fields, **filled}
        if form.method == "GET":
            return self.send("GET", form.action, params=fields)
        return self.send("POST", form.action, data=fields)

    def enter(self, token: str) -> httpx.Response:
        """Log in."""
        form = Read(self.get("/login").text).form("/login")
        return self.submit(form, token=token)


async def _sent(
    app: App, address: str, method: str, path: str, headers: dict[str, str], sent: dict[str, Any]
) -> httpx.Response:
    transport = httpx.ASGITransport(app, client=(address, 1))
    async with httpx.AsyncClient(transport=transport, base_url=f"https://{HOST}") as client:
        return await client.request(method, path, headers=headers, **sent)
