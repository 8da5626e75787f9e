"""The server of an assistant's tools, with the SDK's own client over standard streams."""

import datetime as dt
import json
import os
import re
import sys
from collections.abc import Awaitable, Callable, Mapping
from fractions import Fraction
from pathlib import Path
from threading import Event
from typing import Any

import anyio
import anyio.to_thread
import pytest

from discreet import connect
from discreet.errors import InvalidArgument, NotAllowed, UnknownName
from discreet.ledger.toml_budgets import configuration, open_described
from discreet.service.asking.tokens import tokens_beside
from discreet.service.mcp.mcp_server import AssistantConnection, build_server, run_over_streams

from ...pages import ROOT

mcp = pytest.importorskip("mcp", reason="the SDK of the Model Context Protocol is not installed")

from mcp import types
from mcp.client.session import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client

TOML = """
ledger = "budget.db"
[datasets.people]
source = "people.csv"
budget = { epsilon = 100 }
[datasets.people.columns.age]
type = "integer"
minimum = 0
maximum = 99
[datasets.people.columns.city]
type = "string"
enum = ["Bern", "Basel"]
[datasets.people.questions.typical]
verb = "median"
column = "age"
epsilon = 1
[analysts.assistant]
datasets = ["people"]
share = { epsilon = 3 }
verbs = ["median", "mode", "sql"]
max_epsilon = 2
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "discreet.toml").write_text(TOML)
    rows = "".join(f"{20 + i % 50},{('Bern', 'Basel')[i % 2]}\n" for i in range(400))
    (tmp_path / "people.csv").write_text("age,city\n" + rows)
    description = configuration(tmp_path / "discreet.toml")
    open_described(description, "people")
    open_described(description, "people", "assistant")
    return tmp_path


def with_session(
    folder: Path, work: Callable[[ClientSession], Awaitable[None]], **settings: Any
) -> None:
    """Run work with a session of a client of `discreet mcp`, which is started as a client does."""
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "discreet", "mcp", "--analyst", "assistant"],
        env={**os.environ, "DISCREET_CONFIG": str(folder / "discreet.toml")}, cwd=folder,
    )  # fmt: skip

    async def run() -> None:
        async with (
            stdio_client(server) as (requests, replies),
            ClientSession(requests, replies, **settings) as session,
        ):
            await session.initialize()
            await work(session)

    anyio.run(run)


def text_of(content: Any) -> str:
    text: str = content.text
    return text


async def call(session: ClientSession, name: str, **arguments: Any) -> dict[str, Any]:
    reply = await session.call_tool(name, arguments)
    assert reply.structured_content == json.loads(text_of(reply.content[0]))
    assert reply.is_error == ("error" in reply.structured_content)
    assert not (reply.is_error and "value" in reply.structured_content)
    content: dict[str, Any] = reply.structured_content
    return content


def test_a_conversation(folder: Path) -> None:
    free: dict[str, Any] = {
        "dataset": "people",
        "verb": "median",
        "column": "age",
        "terms": {"epsilon": "1/4"},
    }

    async def talk(session: ClientSession) -> None:
        names = [tool.name for tool in (await session.list_tools()).tools]
        assert names == ["datasets", "quote", "ask", "budget", "past_answers"]
        described_data = await call(session, "datasets")
        [people] = described_data["datasets"]
        assert described_data["free_questions"] == {
            "verbs": ["median", "mode", "sql"], "max_epsilon": "2", "max_delta": None, "where": [],
        }  # fmt: skip
        assert people["remaining"] == {"epsilon": "3"}
        assert people["columns"] == [
            {"name": "age", "type": "integer", "minimum": "0", "maximum": "99"},
            {"name": "city", "type": "string", "enum": ["Bern", "Basel"]},
        ]
        assert [question["name"] for question in people["questions"]] == ["typical"]
        assert (await call(session, "quote", **free))["quote"]["cost"] == {"epsilon": "1/4"}
        first = await call(session, "ask", **free, request="age", max_cost="1/4")
        assert (first["value"] in range(100), first["charged"]) == (True, True)
        again = await call(session, "ask", **free, request="age", max_cost="1/4")
        assert {**again, "charged": True} == first
        other = await call(
            session, "ask", **{**free, "verb": "mode", "column": "city"}, request="age", max_cost=1
        )
        assert "another question" in other["error"]
        text = (
            "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1) MODE(city) AS city FROM people"
        )
        rows = await call(session, "ask", dataset="people", sql=text, request="sql", max_cost=1)
        assert rows["value"][0]["city"] in ("Bern", "Basel")
        named = await call(session, "ask", question="typical", request="named", max_cost=1)
        assert named["charged"] is True
        [budget] = (await call(session, "budget"))["budgets"]
        assert budget["spent"] == {"epsilon": "9/4"}
        dear = await call(
            session, "ask", **{**free, "terms": {"epsilon": 1}}, request="dear", max_cost=1
        )
        assert "cannot pay" in dear["error"]
        requests = [one["request"] for one in (await call(session, "past_answers"))["answers"]]
        assert sorted(requests) == ["age", "named", "sql"]
        assert "people.csv" not in str(await call(session, "datasets"))

    with_session(folder, talk)


def test_records_without_a_value_are_asked_for(folder: Path) -> None:
    text = (folder / "people.csv").read_text()
    (folder / "people.csv").write_text(text + "30,\n" * 200)
    groups: list[dict[str, Any]] = [
        {"by": "city", "groups": ["Bern", None]},
        {"by": {"column": "city", "missing": True}, "groups": ["Bern"]},
    ]

    async def talk(session: ClientSession) -> None:
        for terms in groups:
            free = {"epsilon": "1", "candidates": ["Bern", None], **terms}
            request = str(len(str(terms)))
            asked: dict[str, Any] = {"verb": "mode", "column": "city", "terms": free}
            answer = await call(
                session, "ask", dataset="people", **asked, request=request, max_cost=1
            )
            assert answer["value"] == [
                {"key": "Bern", "type": "text", "value": "Bern"},
                {"key": None, "type": "missing", "value": None},
            ]

    with_session(folder, talk)


CALL = re.compile(r"> (\w+) (\{.*?\})\n  (\{.*?\})\n(?=>|\Z)", re.S)
PAGES = [ROOT / "docs" / "how-to" / name for name in ("assistants.md", "assistants.zh.md")]


def conversation(page: Path) -> list[tuple[str, Any, Any]]:
    """The calls on a page, with a part of the result of each."""
    text = page.read_text("utf-8")
    [block] = re.findall(r"```text\n(> .*?)```", text, re.S)
    calls = [(name, *map(json.loads, parts)) for name, *parts in CALL.findall(block)]
    assert len(calls) == block.count("\n> ") + 1
    return calls


def has(reply: Any, part: Any) -> bool:
    """Whether a part stands in a reply."""
    if isinstance(part, dict):
        return all(name in reply and has(reply[name], one) for name, one in part.items())
    if isinstance(part, list):
        return len(reply) == len(part) and all(map(has, reply, part))
    return part in reply if isinstance(part, str) else bool(part == reply)


def test_the_conversation_of_the_page_is_what_happens(folder: Path) -> None:
    english, chinese = map(conversation, PAGES)
    assert english == chinese
    [analyst] = re.findall(r"```toml\n(.*?)```", PAGES[0].read_text("utf-8"), re.S)
    toml = folder / "discreet.toml"
    described = toml.read_text().partition("[analysts.assistant]")[0]
    (folder / "budget.db").unlink()
    toml.write_text(described + analyst)
    description = configuration(toml)
    open_described(description, "people")
    open_described(description, "people", "assistant")

    async def decline(_: Any, __: Any) -> Any:
        return types.ElicitResult(action="decline")

    async def talk(session: ClientSession) -> None:
        for name, arguments, part in english:
            reply = await call(session, name, **arguments)
            assert has(reply, part), (name, arguments, reply)

    with_session(folder, talk, elicitation_callback=decline)


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    (
        "ask",
        {
            "dataset": "people",
            "verb": "median",
            "column": "age",
            "terms": {"epsilon": 1},
            "max_cost": 1,
        },
        "needs request",
    ),
    (
        "ask",
        {
            "dataset": "people",
            "verb": "median",
            "column": "age",
            "terms": {"epsilon": 1},
            "request": "a",
        },
        "needs max_cost",
    ),
    ("ask", {"question": "typical", "request": "a", "max_cost": "1/2"}, "costs"),
    ("ask", {"question": "typical", "sql": "x", "request": "a", "max_cost": 1}, "takes no sql"),
    (
        "ask",
        {"dataset": "people", "verb": "sql", "sql": "x", "request": "a", "max_cost": 1},
        "leave out verb",
    ),
    (
        "ask",
        {
            "dataset": "people",
            "verb": "count",
            "terms": {"epsilon": 1},
            "request": "a",
            "max_cost": 1,
        },
        "not allowed here",
    ),
    (
        "ask",
        {
            "dataset": "people",
            "verb": "median",
            "column": "age",
            "terms": {"epsilon": 3},
            "request": "a",
            "max_cost": 9,
        },
        "up to ε = 2",
    ),
    (
        "ask",
        {
            "dataset": "people",
            "verb": "mode",
            "column": "city",
            "terms": {"epsilon": 1, "where": "age > 1"},
            "request": "a",
            "max_cost": 1,
        },
        "where may not compare",
    ),
    (
        "quote",
        {"dataset": "people", "verb": "mode", "column": "city", "terms": {"request": "x"}},
        "takes no 'request'",
    ),
    (
        "quote",
        {"dataset": "people", "verb": "mode", "column": "city", "terms": {"verb": "x"}},
        "takes no 'verb'",
    ),
    (
        "quote",
        {"dataset": "people", "verb": "mode", "column": "city", "terms": [1]},
        "terms must be a mapping",
    ),
    (
        "ask",
        {
            "dataset": "people",
            "verb": "median",
            "column": ["age", "city"],
            "terms": {"epsilon": 1},
            "request": "a",
            "max_cost": 1,
        },
        "column: one column is asked for here, got a list",
    ),
    (
        "ask",
        {
            "dataset": "people",
            "verb": "mode",
            "column": "city",
            "terms": {"epsilon": 1, "by": ["city", "SECRET"]},
            "request": "a",
            "max_cost": 1,
        },
        "by: the description of people has no column 'SECRET'",
    ),
    (
        "quote",
        {"dataset": "people", "verb": "mode", "column": {"column": "age", "low": 1}},
        "column: bins have no 'low'. They have column, lo, hi, step, edges, closed",
    ),
    ("quote", {"dataset": 5, "verb": "mode"}, "dataset must be"),
    ("quote", {"dataset": "people"}, "give question"),
    (
        "quote",
        {"dataset": "others", "verb": "mode", "column": "x"},
        "dataset must be one of people",
    ),
    ("quote", {"ledger": "x"}, "and no 'ledger'"),
    ("open_budget", {"dataset": "people", "epsilon": 9}, "there is no tool"),
    ("\x1b[31m\u202e", {}, "there is no tool"),
]


def test_refusals_are_results_that_cost_nothing(folder: Path) -> None:
    async def talk(session: ClientSession) -> None:
        for name, arguments, words in REFUSED:
            reply = await call(session, name, **arguments)
            assert words in reply["error"], (name, arguments, reply)
            assert reply["error"].isprintable()
        [budget] = (await call(session, "budget"))["budgets"]
        assert budget["spent"] == {"epsilon": "0"}

    with_session(folder, talk)


def test_a_dear_question_is_confirmed_by_the_user(folder: Path) -> None:
    toml = folder / "discreet.toml"
    toml.write_text(toml.read_text() + 'confirm_above = "1/2"\n')
    replies = ["decline", "accept"]
    messages: list[str] = []

    async def elicit(_: Any, params: Any) -> Any:
        messages.append(params.message)
        action: Any = replies.pop(0)
        return types.ElicitResult(
            action=action, content={"allow": True} if action == "accept" else None
        )

    async def talk(session: ClientSession) -> None:
        first = await call(session, "ask", question="typical", request="a", max_cost=1)
        assert "not. Nothing was charged" in first["error"]
        second = await call(session, "ask", question="typical", request="a", max_cost=1)
        assert second["charged"] is True
        assert len(messages) == 2
        assert 'up to 1 of the privacy budget on one question: question "typical"' in messages[0]

    with_session(folder, talk, elicitation_callback=elicit)


def test_without_elicitation_a_dear_question_is_refused() -> None:
    calls: list[str] = []

    async def work(name: str, _: Mapping[str, Any]) -> dict[str, Any]:
        calls.append(name)
        return {"value": 1}

    from mcp import Client

    async def run() -> None:
        async with Client(build_server(work, Fraction(1, 2))) as client:
            dear = await client.call_tool("ask", {"max_cost": 1})
            assert dear.is_error
            cheap = await client.call_tool("ask", {"max_cost": "1/2"})
            assert not cheap.is_error

    anyio.run(run)
    assert calls == ["ask"]


def test_nobody_asks_as_the_owner() -> None:
    with pytest.raises(InvalidArgument, match="name who asks"):
        run_over_streams(None)


@pytest.mark.parametrize("role", ["owner", "auditor"])
def test_owners_and_auditors_have_no_assistants(folder: Path, role: str) -> None:
    toml = folder / "discreet.toml"
    token, _ = tokens_beside(toml).create(role, None, dt.datetime(2999, 1, 1, tzinfo=dt.UTC))
    with pytest.raises(InvalidArgument, match="an assistant asks as an analyst"):
        run_over_streams(str(toml), token=token)


def test_who_cannot_connect_is_told_why(folder: Path) -> None:
    toml = str(folder / "discreet.toml")
    with pytest.raises(UnknownName, match="ghost"):
        run_over_streams(toml, analyst="ghost")
    with pytest.raises(NotAllowed, match="not valid"):
        run_over_streams(toml, token="discreet_wrong")


def test_what_fails_is_told_in_words_of_ours() -> None:
    class Broken:
        def budgets(self) -> list[Any]:
            raise RuntimeError("SECRET")

    broken: Any = Broken()
    reply = AssistantConnection(broken).call("budget", {})
    assert "call failed" in reply["error"]
    assert "SECRET" not in str(reply)


def test_one_call_is_worked_on_after_the_other_and_the_last_is_waited_for(folder: Path) -> None:
    """Also one that was cancelled."""
    connection = connect(folder / "discreet.toml", analyst="assistant")
    begun, may_end, steps = Event(), Event(), list[str]()

    class Slow:
        def budgets(self) -> Any:
            begun.set()
            may_end.wait(60)
            steps.append("ended")
            return connection.budgets()

    slow: Any = Slow()
    assistant = AssistantConnection(slow)

    async def cancel() -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(assistant.call_beside, "budget", {})
            await anyio.to_thread.run_sync(begun.wait)
            tasks.cancel_scope.cancel()

    anyio.run(cancel)
    assert steps == []
    may_end.set()
    assistant.close()
    assert steps == ["ended"]
