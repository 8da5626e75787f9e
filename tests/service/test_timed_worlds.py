"""Worlds that differ in the data, or in what another does: all that an analyst sees is the same, and when.

Times are those of a script; `tests/service/test_real_turns.py` has real ones.
"""

import asyncio
import json
import shutil
from collections.abc import Coroutine, Iterator
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the extra server is not installed")
pytest.importorskip("httpx", reason="the extra server is not installed")

from discreet.service import reader
from discreet.service.turns import LENGTH

from .fake_clock import START
from .timed_world import ENDLESS, Reply, Script, TimedWorld, begin, scripted

_Pace = reader.Pace  # as it is outside of a script

FEW, MANY = 100_000, 300_000
SECONDS_OF_A_ROW = 2e-6
PEEKS = (
    ("ann", "GET", "/v1/budgets"), ("ann", "GET", "/v1/releases"), ("ann", "GET", "/v1/questions"),
    ("ann", "POST", "/v1/quotes"), ("ann", "GET", "/healthz"),
    ("auditor", "GET", "/v1/audit"), ("auditor", "GET", "/v1/budgets"),
    ("auditor", "GET", "/v1/releases"), ("owner", "GET", "/v1/metrics"), ("owner", "GET", "/v1/health"),
)  # fmt: skip
"""What may be looked at while a question runs."""

STATEMENT = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 8) MEDIAN(age) AS age FROM people WHERE age < 100"


@pytest.fixture(autouse=True)
def script() -> Iterator[None]:
    with scripted():
        yield


class Worlds:
    """Worlds with the same data, ledgers and tokens at their beginning."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._numbers = folder, count()
        self._beginning = folder / "beginning"
        self._beginning.mkdir()
        self._tokens = begin(self._beginning, folder)

    def run(self, script: Script, rows: int = FEW, **options: Any) -> list[Reply]:
        """Return what is seen in a world with so many rows: a thousandth of them, and the time of all."""
        (self._folder / "people.csv").write_text("age\n" + "30\n" * (rows // 1000))
        folder = self._folder / str(next(self._numbers))
        shutil.copytree(self._beginning, folder)
        seconds = {"people": rows * SECONDS_OF_A_ROW, "rivals": 0.1, **options.pop("seconds", {})}
        return TimedWorld(folder, self._tokens, seconds, **options).run(script)


@pytest.fixture(scope="module")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> Worlds:
    return Worlds(tmp_path_factory.mktemp("worlds"))


async def peek(world: TimedWorld, every: float, until: float) -> None:
    """Look at everything, again and again."""
    quoted = {"question": "age", "dataset": "people"}
    replies = []
    while world.clock.time - world.clock.start < until:
        for who, method, path in PEEKS:
            body = quoted if method == "POST" else None
            replies.append(asyncio.create_task(world.watch(world.send(who, method, path, body))))
        await world.clock.sleep(every)
    await asyncio.gather(*replies)


def load(number: int) -> Script:
    """Ask so many questions at once, all of them again, and look at everything beside."""

    async def script(world: TimedWorld) -> None:
        async def ask() -> None:
            for _ in range(2):
                asked = [world.watch(world.ask("ann", f"key-{i}")) for i in range(number)]
                await asyncio.gather(*asked)

        await asyncio.gather(ask(), peek(world, 0.37, 5))

    return script


@pytest.mark.parametrize("number", [1, 16, 64])
def test_rows_move_no_reply_under_any_load(worlds: Worlds, number: int) -> None:
    few, many = worlds.run(load(number)), worlds.run(load(number), rows=MANY)
    assert few == many
    statuses = {reply.status for reply in few if reply.name.startswith("POST /v1/answers")}
    assert 200 in statuses
    assert (202 in statuses) == (number > 1)
    assert (429 in statuses) == (number > 32)


def test_events_have_the_times_of_places(worlds: Worlds) -> None:
    replies = worlds.run(load(1))
    chain = [reply for reply in replies if reply.name.startswith("GET /v1/audit")][-1]
    events = [json.loads(line) for line in chain.body.decode().splitlines() if line.strip()]
    asked = [
        (event["kind"], datetime.fromisoformat(event["at"]) - START)
        for event in events
        if event["request"]
    ]
    # A round is three seconds. The place that begins with the script is too near, so it is the next one.
    assert asked == [("charged", timedelta(seconds=3)), ("answered", timedelta(seconds=4))]


def test_a_ledger_that_changes_when_reading_ends_is_seen(
    worlds: Worlds, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worlds differ if an outcome is not held back: so these tests can fail."""

    def finish(pace: reader.Pace) -> None:
        pace.report({"step": "drawn"})

    monkeypatch.setattr(_Pace, "finish", finish)
    few, many = worlds.run(load(1)), worlds.run(load(1), rows=MANY)
    differing = {one.name for one, other in zip(few, many, strict=True) if one != other}
    assert "GET /v1/audit " in differing
    assert "GET /v1/releases " in differing


async def ask_slowly(world: TimedWorld) -> None:
    """Ask as an analyst does, one after the other and several at once, and look beside."""

    async def ask() -> None:
        await world.watch(world.ask("ann", "a"))
        await world.clock.sleep(0.6)
        several = [world.watch(world.ask("ann", key)) for key in ("b", "c", "d", "a")]
        await asyncio.gather(*several)

    async def look() -> None:
        for _ in range(7):
            for _, method, path in PEEKS[:5]:
                body = {"question": "age", "dataset": "people"} if method == "POST" else None
                await world.watch(world.send("ann", method, path, body))
            await world.clock.sleep(0.31)

    await asyncio.gather(ask(), look())


async def ask_as_an_assistant(world: TimedWorld) -> None:
    """Ask by tools, several at once, again under the same names, and look beside."""
    named = {"question": "age", "dataset": "people"}

    def ask(key: str) -> Coroutine[Any, Any, Reply]:
        question = {"dataset": "people", "sql": STATEMENT} if key == "sql" else named
        return world.watch(world.call_tool("ann", "ask", **question, request=key, max_cost="9"))

    async def look() -> None:
        for _ in range(5):
            await world.watch(world.call_tool("ann", "quote", **named))
            for tool in ("datasets", "budget", "past_answers", "nothing"):
                await world.watch(world.call_tool("ann", tool))
            await world.clock.sleep(0.31)

    await asyncio.gather(*(ask(key) for key in ("a", "sql", "b", "c", "a", "sql")), look())


def test_rows_move_no_reply_to_an_assistant(worlds: Worlds) -> None:
    few = worlds.run(ask_as_an_assistant)
    assert few == worlds.run(ask_as_an_assistant, rows=MANY)
    assert {reply.status for reply in few} == {200}
    assert {len(reply.body) for reply in few} == {4 * LENGTH}
    answers = [json.loads(reply.body)["result"]["structuredContent"] for reply in few]
    assert any(one.get("value") == [{"age": 30}] for one in answers)


async def ask_in_sql(world: TimedWorld) -> None:
    """Ask a statement by its operation, again under the same name, and another that is refused."""
    free = {"verb": "sql", "dataset": "people", "terms": {"statement": STATEMENT}}
    other = {**free, "terms": {"statement": STATEMENT.replace("100", "99")}}

    async def ask(key: str, body: object) -> None:
        await world.watch(world.send("ann", "POST", "/v1/verbs/quotes", body))
        await world.watch(world.send("ann", "POST", "/v1/verbs/answers", body, key))

    asked = [ask(*one) for one in (("a", free), ("b", free), ("a", free), ("a", other))]
    await asyncio.gather(*asked, peek(world, 0.37, 5))


def test_rows_move_no_reply_in_sql(worlds: Worlds) -> None:
    few = worlds.run(ask_in_sql)
    assert few == worlds.run(ask_in_sql, rows=MANY)
    statuses = {one.status for one in few if one.name.startswith("POST /v1/verbs/answers")}
    assert statuses == {200, 409}


def beside(other: Script) -> Script:
    """Ask as `ask_slowly` does, while another does something."""

    async def script(world: TimedWorld) -> None:
        acting = asyncio.create_task(other(world))
        await ask_slowly(world)
        acting.cancel()
        await asyncio.gather(acting, return_exceptions=True)

    return script


async def nothing(world: TimedWorld) -> None:
    """Do nothing."""


async def flood(world: TimedWorld) -> None:
    """Ask more than may wait, again and again, about both datasets."""
    for turn in range(4):
        asked = [world.ask("bob", f"{turn} {i}", "low", "rivals") for i in range(12)]
        asked += [world.ask("bob", f"{turn} {i} people") for i in range(12)]
        await asyncio.gather(*asked)


async def fail(world: TimedWorld) -> None:
    """Ask what fails, at once and again, and questions whose readers die or are ended."""
    for turn in range(3):
        asked = [world.ask("bob", f"{how} {turn}", "low", "rivals") for how in ("dies", "endless")]
        await asyncio.gather(*asked)


async def look(world: TimedWorld) -> None:
    """Ask what reads nothing."""
    for _ in range(30):
        await world.send("bob", "GET", "/v1/budgets")
        await world.send(
            "bob", "POST", "/v1/answers", {"question": "none", "dataset": "people"}, "x"
        )


BAD = {f"dies {turn}": -0.1 for turn in range(3)} | {
    f"endless {turn}": ENDLESS for turn in range(3)
}


@pytest.mark.parametrize("more", ["", "readers = 2\n"], ids=["one", "two"])
@pytest.mark.parametrize("other", [flood, fail, look])
def test_what_another_asks_moves_no_reply(worlds: Worlds, other: Script, more: str) -> None:
    options: Any = {"more": more, "seconds": BAD, "readers": 2 if more else 1}
    alone = worlds.run(beside(nothing), **options)
    assert worlds.run(beside(other), **options) == alone
    assert {reply.status for reply in alone} == {200}


@pytest.mark.parametrize("other", [flood, fail])
def test_what_another_asks_moves_no_reply_to_an_assistant(worlds: Worlds, other: Script) -> None:
    async def by_tools(world: TimedWorld) -> None:
        acting = asyncio.create_task(other(world))
        await ask_as_an_assistant(world)
        acting.cancel()
        await asyncio.gather(acting, return_exceptions=True)

    assert worlds.run(by_tools, seconds=BAD) == worlds.run(ask_as_an_assistant, seconds=BAD)


@pytest.mark.parametrize("other", [flood, fail])
def test_what_another_asks_moves_no_reply_in_sql(worlds: Worlds, other: Script) -> None:
    async def beside_another(world: TimedWorld) -> None:
        acting = asyncio.create_task(other(world))
        await ask_in_sql(world)
        acting.cancel()
        await asyncio.gather(acting, return_exceptions=True)

    seconds: Any = {"seconds": BAD}

    def own(replies: list[Reply]) -> list[Reply]:
        """The watched analyst's replies: what owners and auditors see is more."""
        return [one for one in replies if "/v1/verbs/" in one.name]

    assert own(worlds.run(beside_another, **seconds)) == own(worlds.run(ask_in_sql, **seconds))


@pytest.mark.parametrize("seconds", [0.4, ENDLESS, -0.1])
def test_lent_places_tell_that_others_ask_and_not_how_long(worlds: Worlds, seconds: float) -> None:
    async def ask(world: TimedWorld) -> None:
        for turn in range(4):
            asked = [world.ask("bob", f"{turn} {i}", "low", "rivals") for i in range(4)]
            await asyncio.gather(*asked)

    slow = {f"{turn} {i}": seconds for turn in range(4) for i in range(4)}
    options: Any = {"more": "shared_turns = true\n"}
    usual = worlds.run(beside(ask), **options)
    assert worlds.run(beside(ask), **options, seconds=slow) == usual
    if seconds == 0.4:
        assert [one.times for one in worlds.run(beside(nothing), **options)] != [
            one.times for one in usual
        ]
