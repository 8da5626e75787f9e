"""Requests of operations: what is read of them, and what is refused, in which words and with which status."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="the extra server is not installed")

from pydantic import ValidationError

from discreet.ledger.toml_budgets import configuration
from discreet.service.asking.operations import OPERATIONS
from discreet.service.asking.tokens import tokens_beside
from discreet.service.http.app import make_app
from discreet.service.http.models import body_model

from ..answer_times import answering
from ..asking.test_connect import TEXT, write_files
from .test_http_client import LATER

ANSWERS, FREE = "/v1/answers", "/v1/verbs/answers"
QUESTION: Mapping[str, object] = {"question": "typical-age"}
MEDIAN: Mapping[str, object] = {
    "verb": "median", "dataset": "people", "column": "age", "terms": {"epsilon": "1/100"},
}  # fmt: skip
JSON = [(b"content-type", b"application/json")]
KEY = [(b"idempotency-key", b"k")]


class Calls:
    """A service, to which requests are sent byte by byte."""

    def __init__(self) -> None:
        self.app: Any = make_app(configuration(), ["testserver"])
        self.token = tokens_beside(Path("discreet.toml")).create("owner", None, LATER)[0]

    def send(
        self,
        path: str,
        body: bytes,
        headers: list[tuple[bytes, bytes]],
        query: bytes = b"",
        method: str = "POST",
    ) -> tuple[int, bytes, list[tuple[bytes, bytes]]]:
        """Return the status, the body and the headers of the reply to a request."""
        bearer = (b"authorization", f"Bearer {self.token}".encode())
        scope = {
            "type": "http", "http_version": "1.1", "method": method, "path": path, "query_string": query,
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
    return Calls()


@pytest.mark.parametrize(("path", "question"), [(ANSWERS, QUESTION), (FREE, MEDIAN)])
def test_a_question_is_answered_the_same_however_its_json_is_called(
    calls: Calls, path: str, question: Mapping[str, object]
) -> None:
    body = json.dumps(question).encode()
    first = calls.send(path, body, JSON + KEY)
    assert first[0] == 200
    names = (b"application/json; charset=utf-8", b"application/problem+json", b"APPLICATION/JSON")
    for kind in names:
        assert calls.send(path, body, [(b"content-type", kind), *KEY])[:2] == first[:2]
    assert calls.app.app.counts.read("requests") == {f"POST {path} 200": 1 + len(names)}


@pytest.mark.parametrize(
    ("body", "headers", "query", "status"),
    [
        (b"{", JSON + KEY, b"", 400),
        (b"", JSON + KEY, b"", 422),
        (b"[" * 100_000, JSON + KEY, b"", 400),
        (b'{"question": 1}', JSON + KEY, b"", 422),
        (b'{"question": "typical-age", "max_cost": true}', JSON + KEY, b"", 422),
        (b'{"question": "typical-age", "more": 1}', JSON + KEY, b"", 422),
        (b'{"question": "typical-age"}', JSON, b"", 422),
        (b'{"question": "typical-age"}', KEY, b"", 422),
        (b'{"question": "typical-age"}', [(b"content-type", b"text/plain"), *KEY], b"", 422),
        (b'{"question": "typical-age"}', [*JSON, *KEY, *KEY], b"", 200),
        (b'{"question": "typical-age"}', JSON + KEY, b"x=1", 200),
        (b"\xff\xfe{\x00}\x00", JSON + KEY, b"", 422),
    ],
)
def test_what_is_not_as_declared_is_refused(
    calls: Calls, body: bytes, headers: list[tuple[bytes, bytes]], query: bytes, status: int
) -> None:
    assert calls.send(ANSWERS, body, headers, query)[0] == status


@pytest.mark.parametrize(
    ("question", "key", "status"),
    [({"question": "none"}, b"k", 404), (QUESTION, b"\xff", 422), (QUESTION, b"k" * 3000, 422)],
)
def test_a_refusal_is_told(
    calls: Calls, question: Mapping[str, object], key: bytes, status: int
) -> None:
    headers = [*JSON, (b"idempotency-key", key)]
    assert calls.send(ANSWERS, json.dumps(question).encode(), headers)[0] == status


def test_numbers_in_an_address_are_numbers(calls: Calls) -> None:
    for query, status in (
        (b"after=0&limit=1", 200), (b"after=0&after=1", 200), (b"other=x", 200), (b"after=-1", 422),
        (b"limit=0", 422), (b"limit=1001", 422), (b"after=x", 422), (b"after=", 422), (b"after=1.5", 422),
    ):  # fmt: skip
        assert calls.send("/v1/audit", b"", [], query, "GET")[0] == status, query
    assert calls.send("/v1/columns", b"", [], b"", "GET")[0] == 422


def test_names_that_a_body_may_not_have_cost_no_time_each() -> None:
    """An error of every one took a second of 100,000, in which nobody was answered."""
    for operation in (one for one in OPERATIONS if one.body is not None):
        assert operation.body is not None
        body = {f"name {number}": 1 for number in range(1000)}
        with pytest.raises(ValidationError) as refused:
            body_model(operation.body).model_validate(body)
        assert len(refused.value.errors()) == 1
