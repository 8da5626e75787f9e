"""Every file of a service is harmed, at every route and role: what is told to whom, and what goes on."""

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

pytest.importorskip("fastapi", reason="the extra server is not installed")
pytest.importorskip("httpx", reason="the extra server is not installed")

from .harms import (
    ASKS,
    FILES,
    FORMS,
    HARMS,
    PAID,
    PUBLIC,
    WHO,
    Harm,
    Reply,
    World,
    foreign_words,
    full_disk,
    locked,
    no_writes,
    short_patience,
    small_disk,
)
from .test_app import ROUTES

NEEDED = ("discreet.tokens", "budget.db", "budget.db-lock", "budget.db-journal")
"""Without these nobody is known, or nothing is read; whatever else fails, what was paid is given again."""

COMPARED: Counter[str] = Counter()
"""The number of replies by harm."""


@pytest.fixture(autouse=True)
def patience() -> Iterator[None]:
    with short_patience() as patched:
        patched.delenv("DISCREET_CHECKPOINTS", raising=False)
        yield


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory, where there is such a place: a thousand commits are made in it."""
    if not os.access("/dev/shm", os.W_OK):
        yield tmp_path / "SECRET"
        return
    with TemporaryDirectory(dir="/dev/shm") as made:
        yield Path(made) / "SECRET"


def check(world: World, replies: list[Reply], harm: str) -> None:
    """Assert that nobody but the owner is told what was not made for them, and that 500 means charged."""
    COMPARED[harm] += len(replies)
    for reply in replies:
        if (reply.method, reply.path) in PUBLIC - {("GET", "/healthz")}:
            assert reply.body == world.healthy[reply.path], reply.about
        elif reply.who != "owner":
            told = foreign_words(reply.head + reply.body)
            assert not told, (harm, told, reply.about)
        if reply.status >= 400 and reply.method == "POST" and reply.path in ASKS:
            assert (reply.status == 500) == (reply.charged is True), (harm, reply.about)
        else:
            assert reply.status != 500, (harm, reply.about)


def check_charges(world: World, replies: list[Reply], harm: str) -> None:
    """Assert that a question is charged if it was answered or failed with 500, and else not."""
    charged = world.charged()
    for reply in replies:
        if reply.path in ASKS and reply.who in ("ann", "owner") and reply.request != PAID:
            if reply.status != 200 and reply.charged is None:
                continue
            is_charged = (reply.who, reply.request) in charged
            assert is_charged == (reply.status in (200, 500)), (harm, reply.about)


def replays(replies: list[Reply]) -> list[tuple[str, str, int, str]]:
    """Return what those got who asked again what they had paid for; of a page its answer."""
    return [
        (one.who, one.path, one.status, one.body if "/v1" in one.path else _answer(one.body))
        for one in replies
        if one.request == PAID and one.who in ("ann", "owner")
    ]


def _answer(page: str) -> str:
    return page.partition('id="answer">')[2].partition("<")[0]


def test_every_route_is_asked(folder: Path) -> None:
    world = World(folder)
    known = {*ROUTES, *FORMS, *PUBLIC} - {("GET", "/no-such-page")}
    assert {one for one in world.routes() if one[0] != "HEAD"} == known - {
        ("HEAD", "/v1/openapi.json")
    }
    replies = world.replies(world.calls())
    assert {one.who for one in replies} == {*WHO}
    check(world, replies, "none")
    check_charges(world, replies, "none")
    assert replays(replies) == replays(world.first)


@pytest.mark.one_in(22)
@pytest.mark.parametrize("harm", HARMS)
@pytest.mark.parametrize("file", FILES)
def test_a_file_is_harmed(
    file: str, harm: Harm, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DISCREET_CHECKPOINTS", str(folder / "checkpoints.jsonl"))
    world = World(folder)
    name = f"{file} {harm.__name__}"
    with harm(world.folder / file):
        replies = world.replies(world.calls())
        check(world, replies, name)
    if file not in NEEDED:
        assert replays(replies) == replays(world.first), name
        check_reading(replies, name)
        check_charges(world, replies, name)
    if harm is locked and file.startswith("budget.db"):
        check_busy(replies)
        check_charges(world, replies, name)


def check_reading(replies: list[Reply], harm: str) -> None:
    """Assert that budgets, past releases and history are read."""
    reading = ("/v1/budgets", "/v1/releases", "/v1/questions", "/v1/quotes")
    for reply in replies:
        if reply.path in reading and reply.who in ("ann", "owner"):
            expected = (200, 201, 422) if reply.method == "POST" else (200,)
            assert reply.status in expected, (harm, reply.about)
        if reply.path == "/v1/audit" and reply.who == "auditor":
            assert reply.status == 200, (harm, reply.about)


def check_busy(replies: list[Reply]) -> None:
    """Assert that a ledger which others hold is up, and that who asks is asked to ask again."""
    for reply in replies:
        if reply.path == "/healthz":
            assert reply.status == 200
        if reply.path == "/v1/budgets" and reply.method == "GET" and reply.who == "ann":
            assert reply.status in (200, 503)
            if reply.status == 503:
                assert "ask again" in reply.body


def disk(kind: str, folder: Path) -> AbstractContextManager[object]:
    return full_disk(folder) if kind == "full" else no_writes()


@pytest.mark.parametrize("kind", ["full", "refused"])
def test_the_disk_is_full(kind: str, tmp_path: Path) -> None:
    with small_disk(tmp_path / "SECRET") as folder:
        world = World(folder)
        with disk(kind, folder):
            replies = world.replies(world.calls())
            check(world, replies, f"disk {kind}")
        assert replays(replies) == replays(world.first)
        check_reading(replies, kind)
        check_charges(world, replies, kind)
        asked = [one for one in replies if one.path in ASKS and one.request not in (PAID, "")]
        assert {one.status for one in asked if one.who == "ann"} == {503}
        (health,) = [one.status for one in replies if one.path == "/healthz"]
        assert (health == 503) == (kind == "full")
