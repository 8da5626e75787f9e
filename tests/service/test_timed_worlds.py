"""Worlds that differ in the data, or in what another does: all that an analyst sees is the same, and when.

Times are those of a script.
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

pytest.importorskip("starlette", reason="the extra server is not installed")
pytest.importorskip("httpx", reason="the extra server is not installed")

from discreet.service.queue import reader
from discreet.service.queue.padding import LENGTH, QUANTUM

from .fake_clock import START
from .timed_world import ENDLESS, Reply, Script, TimedWorld, begin, scripted

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
    assert (429 in statuses) == (number > 32)


@pytest.mark.parametrize(("seconds", "other"), [((1.1, 1.7), 0.1), ((2.5, 3.7), 1.1)])
def test_rows_move_no_reply_where_delays_double_alike(
    worlds: Worlds, seconds: tuple[float, float], other: float
) -> None:
    """And they do where one world's double once more: so these tests can fail."""
    few, many, less = (worlds.run(load(2), seconds={"people": one}) for one in (*seconds, other))
    assert few == many
    assert [one.times for one in few] != [one.times for one in less]


def test_events_have_the_times_of_the_schedule(worlds: Worlds) -> None:
    replies = worlds.run(load(1), seconds={"people": 2.5})
    chain = [reply for reply in replies if reply.name.startswith("GET /v1/audit")][-1]
    events = [json.loads(line) for line in chain.body.decode().splitlines() if line.strip()]
    asked = [
        (event["kind"], datetime.fromisoformat(event["at"]) - START)
        for event in events
        if event["kind"] in ("charged", "delayed", "answered")
    ]
    leaves = timedelta(seconds=QUANTUM + 4)
    assert asked == [
        ("charged", timedelta(seconds=QUANTUM)),
        ("delayed", leaves),
        ("answered", leaves),
    ]


def test_polls_each_millisecond_see_nothing(worlds: Worlds) -> None:
    """The same key, earlier releases and the chain, while the outcomes are drawn and stored and leave."""

    async def poll(world: TimedWorld) -> None:
        asking = asyncio.create_task(world.watch(world.ask("ann", "key")))
        replies = []
        for moment in (0.2, 0.6, 0.9):
            await world.clock.sleep(moment - (world.clock.time - world.clock.start))
            for number in range(60):
                who, path = (("ann", "/v1/releases"), ("auditor", "/v1/audit"))[number % 2]
                replies.append(asyncio.create_task(world.watch(world.send(who, "GET", path))))
                if number % 6 == 0:
                    replies.append(asyncio.create_task(world.watch(world.ask("ann", "key"))))
                await world.clock.sleep(0.001)
        await asyncio.gather(asking, *replies)

    assert worlds.run(poll) == worlds.run(poll, rows=MANY)


def test_an_outcome_that_is_stored_when_it_is_there_is_seen(
    worlds: Worlds, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worlds differ if an outcome is not held back: so these tests can fail."""

    def finish(reading: reader.Reading) -> None:
        reading.timing.stored_at = None

    monkeypatch.setattr(reader.Reading, "finish", finish)
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


async def ask_again_and_again(world: TimedWorld) -> None:
    """Ask more than may wait, again and again, about both datasets."""
    for turn in range(3):
        asked = [world.ask("bob", f"{turn} {i}", "low", "rivals") for i in range(12)]
        asked += [world.ask("bob", f"{turn} {i} people") for i in range(12)]
        await asyncio.gather(*asked)


async def look(world: TimedWorld) -> None:
    """Ask what reads nothing."""
    for _ in range(30):
        await world.send("bob", "GET", "/v1/budgets")
        await world.send(
            "bob", "POST", "/v1/answers", {"question": "none", "dataset": "people"}, "x"
        )


@pytest.mark.parametrize("more", ["", "readers = 2\n"], ids=["one", "two"])
def test_what_another_asks_for_free_moves_no_reply(worlds: Worlds, more: str) -> None:
    options: Any = {"more": more, "readers": 2 if more else 1}
    alone = worlds.run(beside(nothing), **options)
    assert worlds.run(beside(look), **options) == alone
    assert {reply.status for reply in alone} == {200}


@pytest.mark.parametrize("more", ["", "readers = 2\n"], ids=["one", "two"])
def test_of_anothers_questions_only_their_times_and_delays_are_seen(
    worlds: Worlds, more: str
) -> None:
    """Neither how long they read, nor what they answer; but that they are asked, and that they are late."""
    options: Any = {"more": more, "readers": 2 if more else 1}
    script = beside(ask_again_and_again)
    usual = worlds.run(script, seconds={"rivals": 0.1}, **options)
    assert worlds.run(script, seconds={"rivals": 0.75}, **options) == usual
    if not more:
        for other, seconds in ((script, {"rivals": 1.5}), (beside(nothing), {})):
            seen = worlds.run(other, seconds=seconds, **options)
            assert [one.times for one in seen] != [one.times for one in usual]


@pytest.mark.parametrize("seconds", [ENDLESS, -0.1], ids=["clock", "killed"])
def test_what_is_given_up_is_charged_and_asked_again_three_times(
    worlds: Worlds, seconds: float
) -> None:
    """It closes nothing, until five were given up: more wait for the next reset, uncharged."""

    async def ask(world: TimedWorld) -> None:
        for key in ("a", "a", "a", "a", "b", "b", "c"):
            await world.watch(world.ask("ann", key))
        await world.watch(world.send("auditor", "GET", "/v1/audit"))
        await world.watch(world.send("owner", "GET", "/v1/health"))

    *asked, audit, health = sorted(
        worlds.run(ask, seconds=dict.fromkeys("abc", seconds)), key=lambda one: one.sent
    )
    assert [one.status for one in asked] == [500, 500, 500, 500, 500, 500, 402]
    assert all(b"at no cost" in one.body for one in (*asked[:3], *asked[4:6]))
    assert b"given up 3 times" in asked[3].body
    assert b"5 questions were given up" in asked[6].body
    events = [json.loads(line) for line in audit.body.decode().splitlines() if line.strip()]
    kinds = [one["kind"] for one in events[-10:]]
    assert kinds == [
        "charged", "given_up", "second_reading", "given_up", "third_reading", "given_up",
        "charged", "given_up", "second_reading", "given_up",
    ]  # fmt: skip
    (late,) = json.loads(health.body)["late_answers"]
    delay = 8 if seconds == ENDLESS else 1
    assert (late["analyst"], late["delay"], late["given_up"]) == ("ann", delay, 5)
