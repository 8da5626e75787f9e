"""The tools of an assistant at /mcp: their callers, the messages that are refused, and the lengths of replies."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="the extra server is not installed")
pytest.importorskip("mcp", reason="the SDK of the Model Context Protocol is not installed")
httpx = pytest.importorskip("httpx", reason="the extra server is not installed")

from discreet.errors import MissingPackage
from discreet.service.http import mcp_route
from discreet.service.http.auth import PLACES
from discreet.service.http.middleware import LONGEST_BODY
from discreet.service.mcp.assistant_tools import TOOLS
from discreet.service.queue.padding import LENGTH

from ..answer_times import answering
from ..asking.test_connect import write_files
from ..running import Running
from .test_app import Called

LEGACY = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-06-18"}
ASK: dict[str, Any] = {"question": "typical-age", "dataset": "people", "max_cost": "1/2"}


@pytest.fixture
def called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Called:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DISCREET_CONFIG", raising=False)
    write_files()
    return Called()


def send(called: Called, who: str, method: str, params: Any = None, **sent: Any) -> Any:
    """Send one message of the protocol."""
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params or {}}
    headers = {**LEGACY, **sent.pop("headers", {})}
    return called(who, "POST", "/mcp", json=sent.pop("message", message), headers=headers, **sent)


def call(called: Called, tool: str, who: str = "ann", **arguments: Any) -> dict[str, Any]:
    """Return the result of a tool."""
    reply = send(called, who, "tools/call", {"name": tool, "arguments": arguments})
    assert reply.status_code == 200
    result = reply.json()["result"]
    assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
    assert result["isError"] == ("error" in result["structuredContent"])
    assert not (result["isError"] and "value" in result["structuredContent"])
    content: dict[str, Any] = result["structuredContent"]
    return content


def spent(called: Called) -> Any:
    return call(called, "budget")["budgets"][0]["spent"]


def test_the_tools_are_those_of_standard_streams(called: Called) -> None:
    listed = send(called, "ann", "tools/list").json()["result"]["tools"]
    assert [tool["name"] for tool in listed] == [*TOOLS]
    begun = send(
        called, "ann", "initialize",
        {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}},
    )  # fmt: skip
    assert begun.json()["result"]["serverInfo"]["name"] == "discreet"
    assert "mcp-session-id" not in begun.headers


def test_a_question_is_charged_once_under_its_name(called: Called) -> None:
    first = call(called, "ask", **ASK, request="first")
    assert first["charged"] is True
    again = call(called, "ask", **ASK, request="first")
    assert again == {**first, "charged": False}
    other = call(called, "ask", **{**ASK, "question": "city", "max_cost": 9}, request="first")
    assert "another question" in other["error"]
    assert [one["request"] for one in call(called, "past_answers")["answers"]] == ["first"]


def test_the_number_of_a_message_is_no_name(called: Called) -> None:
    """Two clients begin to count at the same number, and have two answers."""
    for request in ("one", "two"):
        assert call(called, "ask", **ASK, request=request)["charged"] is True
    without = call(called, "ask", **ASK)
    assert "needs request" in without["error"]


@pytest.mark.parametrize(("who", "status"), [("nobody", 401), ("owner", 403), ("auditor", 403)])
def test_assistants_ask_by_the_tokens_of_analysts(called: Called, who: str, status: int) -> None:
    reply = send(called, who, "tools/call", {"name": "datasets", "arguments": {}})
    assert reply.status_code == status
    assert "datasets" not in reply.json().get("result", {})


@pytest.mark.parametrize("method", ["GET", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD", "TRACE"])
def test_there_is_no_stream_and_no_session(called: Called, method: str) -> None:
    assert called("ann", method, "/mcp").status_code == 405


def test_a_stream_is_not_begun_by_a_message_either(called: Called) -> None:
    for headers in ({}, {"mcp-protocol-version": "2026-07-28"}):
        reply = send(called, "ann", "subscriptions/listen", headers=headers)
        assert reply.status_code == 405
        assert reply.headers["content-type"] == "application/json"
    only = {"accept": "text/event-stream"}
    assert send(called, "ann", "tools/list", headers=only).status_code == 406


MALFORMED: list[Any] = [
    [], 5, "x", {}, {"jsonrpc": "2.0"}, [{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}] * 2,
    {"jsonrpc": "1.0", "id": 1, "method": "tools/list"}, {"jsonrpc": "2.0", "id": None, "method": "tools/list"},
    {"jsonrpc": "2.0", "id": [1], "method": "tools/list"}, {"jsonrpc": "2.0", "id": 1, "method": "tools/none"},
    {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": []},
    {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "ask", "arguments": 5}},
    {"jsonrpc": "2.0", "id": 1, "result": {}}, {"jsonrpc": "2.0", "id": 1, "method": 5},
]  # fmt: skip


@pytest.mark.parametrize("version", ["2025-03-26", "2025-06-18", "2026-07-28"])
def test_malformed_messages_are_refused(called: Called, version: str) -> None:
    before = spent(called)
    for message in MALFORMED:
        reply = send(called, "ann", "", message=message, headers={"mcp-protocol-version": version})
        assert reply.status_code in (200, 202, 400, 404, 422), message
        content = json.loads(reply.content) if reply.content.strip() else {}
        assert "result" not in content, message
        assert reply.status_code == 202 or "error" in content, message
    assert spent(called) == before


def test_what_is_no_json_is_refused(called: Called) -> None:
    headers = {**LEGACY, "content-type": "application/json"}
    for content in (b"", b"{", b"\xff", b"[" * 5000, b'{"id": ' + b"9" * 5000 + b"}"):
        reply = called("ann", "POST", "/mcp", content=content, headers=headers)
        assert reply.status_code == 400, content[:20]
    reply = called("ann", "POST", "/mcp", content=b" " * (LONGEST_BODY + 1), headers=headers)
    assert reply.status_code == 413


def test_a_page_of_another_site_asks_nothing(called: Called) -> None:
    assert (
        send(called, "ann", "tools/list", headers={"origin": "http://evil.test"}).status_code == 403
    )
    assert send(called, "ann", "tools/list", headers={"origin": "null"}).status_code == 403
    assert (
        send(called, "ann", "tools/list", headers={"origin": "http://service.test"}).status_code
        == 200
    )
    assert send(called, "ann", "tools/list", host="evil.test").status_code == 400


def test_all_replies_have_one_length(called: Called) -> None:
    replies = [
        send(called, "ann", "tools/list"),
        send(called, "ann", "ping"),
        send(called, "ann", "tools/call", {"name": "ask", "arguments": {**ASK, "request": "a"}}),
        send(called, "ann", "tools/call", {"name": "ask", "arguments": {}}),
        send(called, "owner", "tools/list"),
        send(called, "ann", "", message=[]),
        send(called, "ann", "", message={"jsonrpc": "2.0", "method": "notifications/initialized"}),
        called("ann", "GET", "/mcp"),
    ]
    assert {len(reply.content) for reply in replies[:-1]} == {4 * LENGTH}
    assert len(replies[-1].content) == LENGTH


def test_the_log_names_the_route(called: Called, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO"):
        send(called, "ann", "tools/list")
    lines = [json.loads(one.message) for one in caplog.records if one.message.startswith("{")]
    assert {"method": "POST", "path": "/mcp", "status": 200}.items() <= lines[-1].items()


def test_the_sdk_is_there_before_the_first_request(called: Called) -> None:
    lines = (
        "import sys",
        "from discreet.service.http.app import make_app",
        "from discreet.ledger.toml_budgets import configuration",
        "make_app(configuration(), ['x'])",
        "assert 'mcp.server.streamable_http_manager' in sys.modules",
    )
    subprocess.run([sys.executable, "-c", "; ".join(lines)], check=True)


def test_a_question_above_what_the_user_confirms_is_refused_free(called: Called) -> None:
    careful = Called(**{"[analysts.ann]": '[analysts.ann]\nconfirm_above = "1/4"'})
    before = spent(careful)
    refusal = call(careful, "ask", **ASK, request="dear")
    assert "confirmed by the user" in refusal["error"]
    assert refusal["charged"] is False
    assert spent(careful) == before


def test_without_the_extra_it_says_what_to_install(
    called: Called, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(*_: object) -> Any:
        raise MissingPackage("this needs mcp, which is not installed: pip install 'discreet[mcp]'")

    monkeypatch.setattr(mcp_route, "build_server", missing)
    reply = send(called, "ann", "tools/list")
    assert reply.status_code == 501
    assert "pip install" in reply.json()["message"]


def test_failures_of_the_service_are_results(
    called: Called, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> Any:
        raise ValueError("SECRET 42")

    monkeypatch.setattr(mcp_route, "call_tool", fails)
    result = call(called, "budget")
    assert "SECRET" not in json.dumps(result)
    assert result["charged"] is False


def test_too_many_requests_at_once_are_refused(called: Called) -> None:
    async def all_at_once() -> list[int]:
        headers = {**LEGACY, "authorization": f"Bearer {called.tokens['ann']}"}
        transport = httpx.ASGITransport(called.app)
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        async with httpx.AsyncClient(transport=transport, base_url="http://service.test") as client:
            asking = [client.post("/mcp", json=message, headers=headers) for _ in range(PLACES + 8)]
            return [reply.status_code for reply in await asyncio.gather(*asking)]

    assert set(asyncio.run(all_at_once())) == {200, 429}


@pytest.fixture
def running(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Running]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[3] / "src"))
    write_files()
    from ..asking.test_connect import TEXT

    Path("discreet.toml").write_text(answering(TEXT, "2s"))
    with Running(tmp_path, "--readers", "1") as service:
        yield service


async def _answer_to(session: Any, request: str) -> Any:
    """Return the answer, which is said to come later where the caller's next place is far off."""
    import anyio

    while True:
        reply = await session.call_tool("ask", {**ASK, "request": request})
        if "later" not in reply.structured_content:
            return reply.structured_content
        await anyio.sleep(0.5)


def test_the_clients_of_the_sdk(running: Running) -> None:
    """A conversation over HTTP; a call that is cancelled goes on, and its answer waits under its name."""
    import datetime as dt

    import anyio
    import httpx2
    from mcp.client.session import ClientSession
    from mcp.client.streamable_http import streamable_http_client

    from discreet.service.asking.tokens import tokens_beside

    later = dt.datetime(2999, 1, 1, tzinfo=dt.UTC)
    token, _ = tokens_beside(Path("discreet.toml")).create("analyst", "ann", later)

    async def talk(work: Any) -> None:
        async with (
            httpx2.AsyncClient(headers={"authorization": f"Bearer {token}"}, timeout=60) as client,
            streamable_http_client(f"{running.url}/mcp", http_client=client) as (requests, replies),
            ClientSession(requests, replies) as session,
        ):
            await session.initialize()
            await work(session)

    async def first(session: ClientSession) -> None:
        assert [tool.name for tool in (await session.list_tools()).tools] == [*TOOLS]
        assert "people.csv" not in str(await session.call_tool("datasets", {}))
        wrong = await session.call_tool("ask", {"question": "none", "request": "x", "max_cost": 1})
        assert wrong.is_error
        answers.append(await _answer_to(session, "kept"))
        with anyio.move_on_after(1):  # it has started
            await session.call_tool("ask", {**ASK, "request": "cancelled"})

    async def second(session: ClientSession) -> None:
        assert await _answer_to(session, "kept") == {**answers[0], "charged": False}
        for _ in range(100):
            past = (await session.call_tool("past_answers", {})).structured_content["answers"]
            if any(one["request"] == "cancelled" and one["is_answered"] for one in past):
                break
            await anyio.sleep(0.1)
        waiting = await session.call_tool("ask", {**ASK, "request": "cancelled"})
        assert waiting.structured_content["charged"] is False

    answers: list[Any] = []
    anyio.run(talk, first)
    anyio.run(talk, second)
