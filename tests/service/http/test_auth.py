"""The token first: no byte of a body is read before it is known who asks, whatever is asked and sent."""

import asyncio
import datetime as dt
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="the extra server is not installed")

from discreet.ledger.toml_budgets import configuration
from discreet.service.asking import tokens as tokens_module
from discreet.service.asking.tokens import tokens_beside
from discreet.service.http.app import make_app
from discreet.service.http.middleware import LONGEST_LOGIN
from discreet.service.pages.page_request import SESSION
from discreet.service.pages.page_routes import PAGE_PATHS

from ..answer_times import answering
from ..asking.test_connect import TEXT, write_files
from .test_app import METHODS, PUBLIC, ROUTES

BODIES = {
    "none": None, "json": b'{"question":"typical-age"}', "broken": b"{", "bytes": b"\xff\xfe\0",
    "long": b'{"question":"x","a":[' + b"1," * 120_000 + b"1]}", "form": b"secret=x&token=y",
}  # fmt: skip
PATHS = sorted({path for _, path in ROUTES} | {"/mcp", "/v1/nothing", "/v1/tokens/abc", "/v1"})
OTHERS = {"/nothing", "/healthz", "/style.css", "//v1/tokens", "/v1x", "/mcp/"}
READ = ("GET", "HEAD")


class Heads:
    """A service, to which requests are sent whose bodies must not be read."""

    def __init__(self) -> None:
        Path("discreet.toml").write_text(answering(TEXT))
        self.app: Any = make_app(configuration(), ["service.test"])
        known = tokens_beside(Path("discreet.toml"))
        tomorrow = dt.datetime.now(dt.UTC) + dt.timedelta(days=1)
        self.good, _ = known.create("analyst", "ann", tomorrow)
        revoked, record = known.create("analyst", "ann", tomorrow)
        known.revoke(record.id)
        with pytest.MonkeyPatch.context() as patched:
            before = dt.datetime.now(dt.UTC) - dt.timedelta(days=9)
            patched.setattr(tokens_module, "_now", lambda: before)
            expired, _ = known.create("owner", None, before + dt.timedelta(days=1))
        self.kinds = {
            "none": None, "empty": "", "short": "Bearer x", "basic": f"Basic {self.good}",
            "unknown": "Bearer discreet_" + "A" * 43, "revoked": f"Bearer {revoked}",
            "expired": f"Bearer {expired}", "longer": f"Bearer {self.good}x", "bytes": "Bearer \xff",
        }  # fmt: skip
        self.reads = 0

    def send(
        self, method: str, path: str, body: bytes | None, **headers: str
    ) -> tuple[int, dict[bytes, bytes]]:
        """Return the status and the headers of a reply; note how often the body was asked for."""
        sent: list[Any] = []
        given = {"host": "service.test", "content-type": "application/json", **headers}
        if body is not None:
            given["content-length"] = str(len(body))
        pairs = [(name.encode(), text.encode("latin-1")) for name, text in given.items()]
        scope = {
            "type": "http", "http_version": "1.1", "method": method, "path": path, "query_string": b"",
            "raw_path": path.encode(), "root_path": "", "scheme": "http", "headers": pairs,
            "server": ("service.test", 80), "client": ("127.0.0.1", 1),
        }  # fmt: skip

        async def receive() -> Any:
            self.reads += 1
            return {"type": "http.request", "body": body or b"", "more_body": False}

        async def send(message: Any) -> None:
            sent.append(message)

        asyncio.run(self.app(scope, receive, send))
        return sent[0]["status"], dict(sent[0]["headers"])


@pytest.fixture(scope="module")
def heads(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Heads]:
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(tmp_path_factory.mktemp("heads"))
        patched.delenv("DISCREET_CONFIG", raising=False)
        write_files()
        yield Heads()


@pytest.mark.parametrize("path", PATHS)
def test_without_a_valid_token_every_route_is_401_and_no_body_is_read(
    heads: Heads, path: str
) -> None:
    for method in METHODS:
        if (method, path) in PUBLIC:
            continue
        for body in BODIES.values():
            for kind, text in heads.kinds.items():
                heads.reads = 0
                given = {} if text is None else {"authorization": text}
                status, headers = heads.send(method, path, body, **given)
                assert (status, heads.reads) == (401, 0), (method, path, kind)
                assert (headers.get(b"connection") == b"close") == (body is not None)
                assert headers[b"www-authenticate"] == b"Bearer"


@pytest.mark.parametrize("session", ["", "x", "A" * 43, "A" * 4000])
@pytest.mark.parametrize("path", sorted(PAGE_PATHS | OTHERS))
def test_without_a_session_no_form_is_read(heads: Heads, path: str, session: str) -> None:
    for method in METHODS:
        for body in BODIES.values():
            heads.reads = 0
            status, headers = heads.send(method, path, body, cookie=f"{SESSION}={session}")
            assert heads.reads == 0
            is_refused = path in PAGE_PATHS and method not in READ
            assert (status == 401) == is_refused, (method, path)
            assert (headers.get(b"connection") == b"close") == (body is not None)


def test_of_the_open_routes_no_body_is_read_but_that_of_the_login(heads: Heads) -> None:
    for method, path in sorted(PUBLIC):
        heads.reads = 0
        status, headers = heads.send(method, path, BODIES["long"])
        assert (status, heads.reads, headers[b"connection"]) == (200, 0, b"close")
    assert heads.send("POST", "/login", BODIES["form"])[0] == 403
    assert heads.reads == 1
    assert heads.send("POST", "/login", b"x" * LONGEST_LOGIN)[0] != 413
    assert heads.send("POST", "/login", b"x" * (LONGEST_LOGIN + 1))[0] == 413


def test_the_body_of_a_known_caller_is_read(heads: Heads) -> None:
    heads.reads = 0
    bearer = f"Bearer {heads.good}"
    sent = BODIES["json"]
    reply = heads.send(
        "POST", "/v1/answers", sent, authorization=bearer, **{"idempotency-key": "k"}
    )
    assert reply[0] == 200
    assert b"connection" not in reply[1]
    assert heads.reads == 1


def test_an_unknown_token_costs_one_hash_and_what_is_none_costs_none(
    heads: Heads, monkeypatch: pytest.MonkeyPatch
) -> None:
    hashed: list[str] = []
    hash_token = tokens_module._hash_token

    def note(text: str) -> str:
        hashed.append(text)
        return hash_token(text)

    monkeypatch.setattr(tokens_module, "_hash_token", note)
    for kind, expected in (("unknown", 1), ("short", 0), ("none", 0), ("longer", 0)):
        hashed.clear()
        text = heads.kinds[kind]
        heads.send(
            "POST", "/v1/answers", BODIES["long"], **({"authorization": text} if text else {})
        )
        assert len(hashed) == expected, kind
