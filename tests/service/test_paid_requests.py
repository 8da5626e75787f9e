"""Paid questions in their usual form are read without the framework, and every reply is as through it."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the extra server is not installed")

from pydantic import ValidationError

from discreet.ledger.toml_budgets import configuration
from discreet.service.app import make_app
from discreet.service.operations import OPERATIONS
from discreet.service.paid_requests import PaidRequests
from discreet.service.routes import _body_model
from discreet.service.tokens import tokens_beside

from .answer_times import answering
from .test_connect import TEXT, write_files
from .test_http_client import LATER

ANSWERS, FREE = "/v1/answers", "/v1/verbs/answers"
QUESTION: Mapping[str, object] = {"question": "typical-age"}
MEDIAN: Mapping[str, object] = {
    "verb": "median", "dataset": "people", "column": "age", "terms": {"epsilon": "1/100"},
}  # fmt: skip
JSON = [(b"content-type", b"application/json")]
KEY = [(b"idempotency-key", b"k")]


class Calls:
    """A service, and how many requests have reached the framework in it."""

    def __init__(self) -> None:
        self.app: Any = make_app(configuration(), ["testserver"])
        self.token = tokens_beside(Path("discreet.toml")).create("owner", None, LATER)[0]
        inner: Any = self.app
        while not isinstance(inner, PaidRequests):
            inner = inner.app
        self.paid_requests, self.framework, self.number = inner, inner.app, 0

    async def count(self, *arguments: Any) -> None:
        self.number += 1
        await self.framework(*arguments)

    def send(
        self, path: str, body: bytes, headers: list[tuple[bytes, bytes]], query: bytes = b""
    ) -> tuple[int, bytes, list[tuple[bytes, bytes]]]:
        """Return the status, the body and the headers of the reply to a request."""
        bearer = (b"authorization", f"Bearer {self.token}".encode())
        scope = {
            "type": "http", "http_version": "1.1", "method": "POST", "path": path, "query_string": query,
            "raw_path": path.encode(), "root_path": "", "scheme": "http", "server": ("testserver", 80),
            "client": ("testclient", 1), "headers": [(b"host", b"testserver"), bearer, *headers],
        }  # fmt: skip
        parts, sent = [{"type": "http.request", "body": body, "more_body": False}], []

        async def receive() -> Any:
            return parts.pop()

        async def send(message: Any) -> None:
            sent.append(message)

        asyncio.run(self.app(scope, receive, send))
        return sent[0]["status"], sent[1]["body"], sorted(sent[0]["headers"])


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Calls:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DISCREET_CONFIG", raising=False)
    write_files()
    Path("discreet.toml").write_text(answering(TEXT))
    calls = Calls()
    object.__setattr__(calls.paid_requests, "app", calls.count)
    return calls


@pytest.mark.parametrize(("path", "question"), [(ANSWERS, QUESTION), (FREE, MEDIAN)])
def test_a_question_in_its_usual_form_does_not_reach_the_framework(
    calls: Calls, path: str, question: Mapping[str, object]
) -> None:
    """The reply is that of the framework, which gives the stored answer of the same request, and says so."""
    body = json.dumps(question).encode()
    first = calls.send(path, body, JSON + KEY)
    assert (first[0], calls.number) == (200, 0)
    other = calls.send(path, body, [(b"content-type", b"application/json; charset=utf-8"), *KEY])
    assert (other[:2], calls.number) == (first[:2], 1)
    again = calls.send(path, body, JSON + KEY)
    assert (again, calls.number) == (other, 1)
    assert calls.app.app.counts.read("requests") == {f"POST {path} 200": 3}


@pytest.mark.parametrize(
    ("body", "headers", "query", "status"),
    [
        (b"{", JSON + KEY, b"", 400),
        (b"", JSON + KEY, b"", 422),
        (b"[" * 100_000, JSON + KEY, b"", 400),
        (b'{"question": 1}', JSON + KEY, b"", 422),
        (b'{"question": "typical-age", "size": true}', JSON + KEY, b"", 422),
        (b'{"question": "typical-age", "more": 1}', JSON + KEY, b"", 422),
        (b'{"question": "typical-age"}', JSON, b"", 422),
        (b'{"question": "typical-age"}', KEY, b"", 422),
        (b'{"question": "typical-age"}', [(b"content-type", b"text/plain"), *KEY], b"", 422),
        (b'{"question": "typical-age"}', [*JSON, *KEY, *KEY], b"", 200),
        (b'{"question": "typical-age"}', JSON + KEY, b"x=1", 200),
        (b"\xff\xfe{\x00}\x00", JSON + KEY, b"", 422),
    ],
)
def test_every_other_request_goes_to_the_framework(
    calls: Calls, body: bytes, headers: list[tuple[bytes, bytes]], query: bytes, status: int
) -> None:
    reply = calls.send(ANSWERS, body, headers, query)
    assert (reply[0], calls.number) == (status, 1)


@pytest.mark.parametrize(
    ("question", "key", "status"),
    [({"question": "none"}, b"k", 404), (QUESTION, b"\xff", 422), (QUESTION, b"k" * 3000, 422)],
)
def test_a_refusal_is_the_same_without_the_framework(
    calls: Calls, question: Mapping[str, object], key: bytes, status: int
) -> None:
    body = json.dumps(question).encode()
    headers = [(b"idempotency-key", key)]
    reply = calls.send(ANSWERS, body, JSON + headers)
    assert (reply[0], calls.number) == (status, 0)
    assert reply == calls.send(ANSWERS, body, JSON + headers, b"x=1")
    assert calls.number == 1


def test_names_that_a_body_may_not_have_cost_no_time_each() -> None:
    """An error of every one took a second of 100,000, in which nobody was answered; the token was not read yet."""
    for operation in (one for one in OPERATIONS if one.body is not None):
        assert operation.body is not None
        body = {f"name {number}": 1 for number in range(1000)}
        with pytest.raises(ValidationError) as refused:
            _body_model(operation.body).model_validate(body)
        assert len(refused.value.errors()) == 1
