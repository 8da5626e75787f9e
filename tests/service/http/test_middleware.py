"""Bodies end in length and in time, and those of strangers are not read: see also `test_auth`."""

import asyncio
from typing import Any

import pytest

pytest.importorskip("starlette", reason="the extra server is not installed")

from discreet.service.asking.tokens import Token
from discreet.service.http.exchange import exchange_of
from discreet.service.http.middleware import LONGEST_BODY, LONGEST_LOGIN, TokenFirst

Parts = list[bytes]


def token(analyst: str) -> Token:
    return Token("1", "analyst", analyst, "", "")


class Sent:
    """What an application gets and what is sent, of one request."""

    def __init__(self, parts: Parts, caller: str | None, path: str = "/v1/answers") -> None:
        self.parts, self.caller, self.begun = parts, caller, 0
        self.body: bytes | None = None
        self.replies: list[Any] = []
        headers = [(b"content-length", b"%d" % sum(map(len, parts)))]
        self.scope: dict[str, Any] = {
            "type": "http",
            "method": "POST",
            "path": path,
            "headers": headers,
        }
        exchange_of(self.scope).begin = self.begin
        asyncio.run(TokenFirst(self.app, self.enter)(self.scope, self.receive, self.send))

    def begin(self) -> None:
        self.begun += 1

    async def enter(self, scope: Any) -> None:
        exchange_of(scope).caller = None if self.caller is None else token(self.caller)

    async def app(self, scope: Any, receive: Any, send: Any) -> None:
        self.body = (await receive())["body"]
        await send({"type": "http.response.start", "status": 200})

    async def receive(self) -> Any:
        body = self.parts.pop(0)
        return {"type": "http.request", "body": body, "more_body": bool(self.parts)}

    async def send(self, message: Any) -> None:
        self.replies.append(message)


def test_a_body_of_a_caller_is_whole_before_it_is_answered() -> None:
    sent = Sent([b"a", b"b", b"c"], "ann")
    assert (sent.body, sent.begun, sent.parts) == (b"abc", 1, [])
    assert sent.replies[0] == {"type": "http.response.start", "status": 200}


@pytest.mark.parametrize(
    ("caller", "path", "longest"),
    [("ann", "/v1/answers", LONGEST_BODY), (None, "/login", LONGEST_LOGIN)],
)
@pytest.mark.parametrize("piece", [1 << 12, 1 << 20])
def test_a_body_has_a_longest_length(
    caller: str | None, path: str, longest: int, piece: int
) -> None:
    for size, status in ((longest, 200), (longest + 1, 413), (2 * longest, 413)):
        whole = b"x" * size
        sent = Sent([whole[i : i + piece] for i in range(0, size, piece)], caller, path)
        assert sent.replies[0]["status"] == status
        assert (sent.body is None) == (status == 413)
        closes = (b"connection", b"close") in sent.replies[0].get("headers", ())
        assert closes == (status == 413)


def test_the_body_of_a_stranger_stays_unread() -> None:
    sent = Sent([b"x"], None)
    assert (sent.body, sent.parts, sent.begun) == (b"", [b"x"], 0)
    assert (b"connection", b"close") in sent.replies[0]["headers"]


def test_a_body_that_does_not_come_is_waited_for_a_while() -> None:
    sent: list[Any] = []

    async def never() -> Any:
        await asyncio.sleep(3600)

    async def send(message: Any) -> None:
        sent.append(message)

    async def app(scope: Any, receive: Any, send: Any) -> None:
        raise AssertionError("it was asked")

    async def enter(scope: Any) -> None:
        exchange_of(scope).caller = token("somebody")

    scope = {"type": "http", "method": "POST", "path": "/", "headers": []}
    asyncio.run(TokenFirst(app, enter, slowest=0.01)(scope, never, send))
    assert sent[0]["status"] == 408
    assert b"ten seconds" in sent[1]["body"]
