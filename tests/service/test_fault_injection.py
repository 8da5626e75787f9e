"""Every file of a service is harmed, at every route and role: what is told to whom, and what goes on."""

import os
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

pytest.importorskip("starlette", reason="the extra server is not installed")
pytest.importorskip("httpx", reason="the extra server is not installed")

from .. import postgres
from .fault_injection import (
    ASKS,
    ASSISTANT,
    CHAIN,
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
from .http.test_app import ROUTES

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
            assert reply.body == world.healthy[reply.method, reply.path], reply.about
        elif reply.who != "owner" and not (reply.path in CHAIN and reply.status == 200):
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
        if (reply.method, reply.path) == ASSISTANT and reply.charged is not None:
            assert reply.charged == ((reply.who, reply.request) in charged), (harm, reply.about)
        if reply.path in ASKS and reply.who in ("ann", "owner") and reply.request != PAID:
            if reply.status != 200 and reply.charged is None:
                continue
            is_charged = (reply.who, reply.request) in charged
            assert is_charged == (reply.status in (200, 500)), (harm, reply.about)


def replays(replies: list[Reply], harmed: str = "") -> list[tuple[str, str, int, str]]:
    """Return what those got who asked again what they had paid for: of a page its answer, if anybody can log in."""
    return [
        (one.who, one.path, one.status, one.body if "/v1" in one.path else _answer(one.body))
        for one in replies
        if one.request == PAID
        and one.who in ("ann", "owner")
        and ("/v1" in one.path or harmed != "discreet.sessions")
    ]


def _answer(page: str) -> str:
    return page.partition('id="answer">')[2].partition("</div>")[0]


def test_every_route_is_asked(folder: Path) -> None:
    world = World(folder)
    known = {*ROUTES, *FORMS, *PUBLIC, ASSISTANT} - {("GET", "/no-such-page")}
    assert world.routes() == known
    replies = world.replies(world.calls())
    assert {one.who for one in replies} == {*WHO}
    check(world, replies, "none")
    check_charges(world, replies, "none")
    assert replays(replies) == replays(world.first)


@pytest.mark.one_in(47)
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
        assert replays(replies, file) == replays(world.first, file), name
        check_reading(replies, name)
        check_charges(world, replies, name)
    if harm is locked and file.startswith("budget.db"):
        check_busy(replies)
        check_charges(world, replies, name)


def check_reading(replies: list[Reply], harm: str) -> None:
    """Assert that budgets, past releases and history are read."""
    paths = ("GET /v1/budgets", "GET /v1/releases", "GET /v1/questions", "POST /v1/quotes")
    for reply in replies:
        if f"{reply.method} {reply.path}" in paths and reply.who != "nobody":
            assert reply.status == 200, (harm, reply.about)
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
@pytest.mark.one_in(2)
def test_the_disk_is_full(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "discreet.service.http.health._FRESH", 0.0
    )  # the disk fills within a second
    with small_disk(tmp_path / "SECRET") as folder:
        world = World(folder)
        with disk(kind, folder):
            replies = world.replies(world.calls())
            check(world, replies, f"disk {kind}")
        assert replays(replies) == replays(world.first)
        check_reading(replies, kind)
        check_charges(world, replies, kind)
        asked = [one for one in replies if one.path in ASKS and one.request not in (PAID, "")]
        statuses = {one.status for one in asked if one.who == "ann"}
        # The journal keeps its place on the disk, so a charge may fit where its answer does not: `check_charges`.
        assert statuses == {503} or (kind == "full" and statuses == {500, 503})
        (health,) = [one.status for one in replies if one.path == "/healthz"]
        assert (health == 503) == (kind == "full")


def _admin(url: str, *statements: str) -> None:
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)


_END = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'SECRETDB'"
_TABLES = "discreet_events, discreet_budgets, discreet_account"


@contextmanager
def _held(server: str) -> Iterator[None]:
    import psycopg

    with psycopg.connect(_of(server)) as connection:
        connection.execute(f"LOCK TABLE {_TABLES} IN ACCESS EXCLUSIVE MODE")
        yield


@contextmanager
def _changed(server: str, *statements: str, within: bool = False) -> Iterator[None]:
    _admin(_of(server) if within else server, *statements)
    yield


def _of(server: str) -> str:
    return server.replace("/postgres?", "/SECRETDB?")


_DATABASE = 'ALTER DATABASE "SECRETDB"'
SERVERS: dict[str, Callable[[str], AbstractContextManager[None]]] = {
    "locked": _held,
    "refusing": lambda server: _changed(server, f"{_DATABASE} ALLOW_CONNECTIONS false", _END),
    "reading": lambda server: _changed(
        server, f"{_DATABASE} SET default_transaction_read_only = on", _END
    ),
    "renamed": lambda server: _changed(server, _END, f'{_DATABASE} RENAME TO "SECRET2"'),
    "without a table": lambda server: _changed(
        server, "ALTER TABLE discreet_events RENAME TO gone", within=True
    ),
    "without a trigger": lambda server: _changed(
        server, "ALTER TABLE discreet_events DISABLE TRIGGER ALL", within=True
    ),
    "edited": lambda server: _changed(
        server, "UPDATE discreet_budgets SET spent = '{}'", within=True
    ),
}


@pytest.mark.proof
@pytest.mark.one_in(7)
@pytest.mark.parametrize("harm", SERVERS)
def test_a_server_of_the_ledger_is_harmed(
    harm: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("discreet.ledger.store.LOCK_TIMEOUT", 0.5)  # also of a client that is slow
    with postgres.server() as server:
        _admin(server, 'CREATE DATABASE "SECRETDB"')
        folder.parent.mkdir(exist_ok=True)
        world = World(folder, ledger=_of(server))
        with SERVERS[harm](server):
            replies = world.replies(world.calls())
            check(world, replies, f"server {harm}")
        if harm == "locked":
            check_busy(replies)
            check_charges(world, replies, harm)
        (health,) = [one.status for one in replies if one.path == "/healthz"]
        assert (health == 200) == (harm in ("locked", "reading", "without a trigger", "edited"))


@pytest.mark.parametrize("path", ["/v1/answers", "/ask"])
def test_an_answer_that_cannot_be_shown_is_told_as_charged(
    path: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: object) -> object:
        raise ValueError("SECRET")

    world = World(folder)
    with monkeypatch.context() as broken:
        broken.setattr("discreet.service.asking.wire.write_release", failing)
        broken.setattr("discreet.service.pages.asking_pages.layout_of", failing)
        (reply,) = world.replies([("ann", "POST", path, "unseen")])
    assert (reply.status, reply.charged) == (500, True), reply.about
    assert ("ann", "unseen") in world.charged()
    assert not foreign_words(reply.body)
    (again,) = world.replies([("ann", "POST", path, "unseen")])
    assert again.status == 200
