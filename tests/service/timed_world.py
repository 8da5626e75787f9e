"""A service whose time is a script: the routes, the dispatcher, the ledger and the readers are real.

The seconds that reading takes are invented, and nothing else takes any. Readers are threads here, that stop where
a process would be killed. So a run is a function of what was asked, and two runs can be compared whole.
"""

import asyncio
import contextlib
import hashlib
import json
import os
import queue
import random
import threading
from collections.abc import Callable, Coroutine, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from discreet.ledger.toml_budgets import configuration, open_described
from discreet.service.asking.checkout import Prepare
from discreet.service.asking.checkout import charge_first as charge_first_here
from discreet.service.asking.datasets import hold
from discreet.service.asking.tokens import tokens_beside
from discreet.service.http import app, auth, mcp_route, replies, routes
from discreet.service.queue import reader
from discreet.service.queue.dispatcher import Dispatcher
from discreet.service.queue.dispatcher_client import DispatcherClient
from discreet.service.queue.dispatcher_process import WorkerLink
from discreet.service.queue.promises import answer_times
from discreet.service.queue.readers import EndedError, Line, ReaderPool

from .fake_clock import FakeClock
from .http.test_app import LATER

HOST = "service.test"
TOKENS = 12
"""Tokens of everybody, which take turns."""

TEXT = """\
ledger = "budget.db"
[datasets.people]
source = "{data}/people.csv"
answers_after = "1s"
longest = "800ms"
max_failures = 3
budget = {{ epsilon = "4000" }}
columns.age = {{ type = "integer", minimum = 0, maximum = 120 }}
[datasets.people.questions.age]
verb = "median"
column = "age"
epsilon = 8
[datasets.rivals]
source = "{data}/rivals.csv"
answers_after = "1s"
longest = "800ms"
max_failures = 1000
budget = {{ epsilon = "2000" }}
columns.age = {{ type = "integer", minimum = 0, maximum = 120 }}
questions.low = {{ verb = "minimum", column = "age", epsilon = 1 }}
[analysts.ann]
datasets = ["people"]
share = {{ epsilon = "2000" }}
verbs = ["sql", "median"]
where = ["age"]
[analysts.bob]
datasets = ["people", "rivals"]
share = {{ epsilon = "1000" }}
[server]
"""
ROLES = {"ann": ("analyst", "ann"), "bob": ("analyst", "bob"), "owner": ("owner", None)}
ROLES["auditor"] = ("auditor", None)
ENDLESS = 1e9
DATED = (b"ledger-at",)
"""Headers with the time of day, by the clock of this machine, for auditors."""

Seconds = Mapping[str, float]
"""The seconds in which each dataset is read, or for a request; if negative, its reader dies then."""


class Reply(NamedTuple):
    """What a caller sees of one request.

    Attributes:
        name: the request.
        sent: when it was sent.
        left: when its reply left.
        status: its status.
        headers: its headers.
        body: its body.
    """

    name: str
    sent: float
    left: float
    status: int
    headers: tuple[tuple[bytes, bytes], ...]
    body: bytes

    @property
    def times(self) -> tuple[str, float, float, int]:
        """What is left of it, if what was drawn is another."""
        return self.name.partition(" ")[0], self.sent, self.left, self.status


class KilledError(BaseException):
    """The process of this thread was killed."""


@dataclass(slots=True)
class Work:
    """What threads do, while time stands still."""

    clock: FakeClock
    loop: asyncio.AbstractEventLoop
    busy: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, number: int) -> None:
        """Note that so many threads more, or fewer, are at work."""
        with self._lock:
            self.busy += number

    def wait(self, seconds: float, ends: "threading.Event") -> None:
        """Wait in a thread for seconds of the script."""
        done = threading.Event()
        if ends.is_set():
            raise KilledError

        async def sleep() -> None:
            await self.clock.sleep(seconds)
            if not ends.is_set():
                self.add(1)
            done.set()

        def begin() -> None:
            self.loop.create_task(sleep())
            self.add(-1)

        self.loop.call_soon_threadsafe(begin)
        while not done.wait(0.005):
            if ends.is_set():
                raise KilledError
        if ends.is_set():
            raise KilledError


@dataclass(eq=False)
class ThreadReader:
    """A reader that is a thread: it charges, reads, draws and stores as a process does, in invented time."""

    world: "TimedWorld"
    work: Work
    lines: "asyncio.Queue[Line | None]" = field(default_factory=asyncio.Queue)
    ends: threading.Event = field(default_factory=threading.Event)
    ended_at: asyncio.Event = field(default_factory=asyncio.Event)
    instructions: "queue.Queue[Line]" = field(default_factory=queue.Queue)
    has_failed: bool = False

    async def send(self, line: Line) -> None:
        """Answer a line in a thread, or instruct it."""
        self.work.add(1)
        if "operation" not in line:
            self.instructions.put(line)
            return
        self.work.loop.run_in_executor(self.world.threads, self._answer, line)

    def _answer(self, line: Line) -> None:
        _HERE.reader, _HERE.seed = self, json.dumps(line["arguments"], sort_keys=True)
        _HERE.drawn, _HERE.arguments = 0, line["arguments"]
        with contextlib.suppress(KilledError):
            reply = self.world.answer(line, self.report, self.instruct)
            if not self.ends.is_set():
                self.report({"answer": reply})
                self.work.add(-1)

    def report(self, line: Line) -> None:
        """Send a line to the dispatcher."""
        if self.ends.is_set():
            raise KilledError
        self.work.loop.call_soon_threadsafe(self.lines.put_nowait, line)

    def instruct(self) -> Line:
        """Wait until the outcome is to be stored."""
        if self.ends.is_set():
            raise KilledError
        self.work.add(-1)
        while True:
            with contextlib.suppress(queue.Empty):
                return self.instructions.get(timeout=0.005)
            if self.ends.is_set():
                raise KilledError

    def wait(self, seconds: float) -> None:
        """Wait, and stop for good if this reader is killed meanwhile."""
        self.work.wait(seconds, self.ends)

    def read(self) -> None:
        """Take the time of reading, or die of it."""
        arguments = _HERE.arguments
        seconds = self.world.seconds.get(arguments["request"])
        self.wait(self.world.seconds[arguments["dataset"]] if seconds is None else abs(seconds))
        if seconds is not None and seconds < 0:
            self.ends.set()
            self.work.loop.call_soon_threadsafe(self.kill)
            self.work.add(-1)
            raise KilledError

    async def receive(self) -> Line:
        """Return the next line of it."""
        line = await self.lines.get()
        if line is None:
            raise EndedError
        return line

    def kill(self) -> None:
        """End it."""
        self.ends.set()
        self.ended_at.set()
        self.lines.put_nowait(None)

    async def wait_for_end(self) -> None:
        """Return when it has ended."""
        await self.ended_at.wait()


_HERE = threading.local()
"""The reader of this thread, and the bits that it has drawn."""


Tokens = Mapping[str, list[str]]
"""The tokens of everybody."""


def begin(folder: Path, data: Path) -> Tokens:
    """Write a service about the files of another folder, which has answered nothing; return its tokens."""
    (folder / "discreet.toml").write_text(TEXT.format(data=data))
    (data / "rivals.csv").write_text("age\n" + "40\n" * 50)
    declared = configuration(folder / "discreet.toml")
    for dataset, analyst in (
        *((name, None) for name in ("people", "rivals")),
        ("people", "ann"), ("people", "bob"), ("rivals", "bob"),
    ):  # fmt: skip
        open_described(declared, dataset, analyst)
    known = tokens_beside(declared.path)
    return {
        who: [known.create(*role, LATER)[0] for _ in range(TOKENS)] for who, role in ROLES.items()
    }


@dataclass
class ClientInLoop(DispatcherClient):
    """Counts readers without a connection, which would wait for the loop that waits for it."""

    pool: ReaderPool | None = None

    def count_alive(self) -> tuple[int, int]:
        assert self.pool is not None
        return self.pool.count_alive()


class TimedWorld:
    """A service in a folder, in which reading takes as many seconds as it is told.

    Args:
        folder: a copy of a folder in which one was begun.
        tokens: its tokens.
        seconds: those of reading.
        more: more lines of discreet.toml.
        readers: how many readers there are.
    """

    def __init__(
        self, folder: Path, tokens: Tokens, seconds: Seconds, *, more: str = "", readers: int = 1
    ) -> None:
        self.tokens, self.seconds, self.readers = tokens, seconds, readers
        with (folder / "discreet.toml").open("a") as text:
            text.write(more)
        self.declared = configuration(folder / "discreet.toml")
        self._turns = {who: count() for who in ROLES}
        self.answer = reader.answering(self.declared, hold(self.declared))
        self.clock, self.threads = FakeClock(), ThreadPoolExecutor(readers + 40)
        self.watched: list[Reply] = []

    def run(self, script: "Script") -> list[Reply]:
        """Return what was watched in a script."""
        self.clock.run(self._served(script))
        self.threads.shutdown()
        return sorted(self.watched, key=lambda reply: (reply.sent, reply.name, reply.left))

    async def _served(self, script: "Script") -> None:
        loop = asyncio.get_running_loop()
        work = Work(self.clock, loop)
        self.clock.is_busy = lambda: work.busy > 0

        async def fork() -> ThreadReader:
            return ThreadReader(self, work)

        pool = ReaderPool(fork, self.readers)
        dispatcher = Dispatcher(answer_times(self.declared), pool, self.clock.clock)
        pool.start()
        pool.give_back(await pool.take())

        async def serve(lines: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await WorkerLink(dispatcher, lines, writer).serve()

        path = str(self.declared.path.with_name("socket"))
        server = await asyncio.start_unix_server(serve, path)
        client = ClientInLoop(path, self.readers, pool=pool)
        self.app = app.make_app(self.declared, [HOST], None, client, self.clock.clock)
        try:
            await script(self)
        finally:
            (await client._reconnect()).writer.close()
            for _ in range(20):  # until both ends have seen it
                await asyncio.sleep(0)
            server.close()
            await dispatcher.drain()
            pool.close()

    async def ask(
        self, who: str, key: str, question: str = "age", dataset: str = "people"
    ) -> Reply:
        """Ask a named question."""
        body = {"question": question, "dataset": dataset}
        return await self.send(who, "POST", "/v1/answers", body, key)

    async def call_tool(self, who: str, name: str, **arguments: str) -> Reply:
        """Call a tool of an assistant."""
        params = {"name": name, "arguments": arguments}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        return await self.send(who, "POST", "/mcp", message, arguments.get("request"))

    async def send(
        self, who: str, method: str, path: str, body: object = None, key: str | None = None
    ) -> Reply:
        """Return the reply to one request."""
        token = self.tokens[who][next(self._turns[who]) % TOKENS]
        headers = [(b"host", HOST.encode()), (b"authorization", f"Bearer {token}".encode())]
        headers += [(b"content-type", b"application/json"), (b"accept", b"application/json")]
        if key is not None:
            headers.append((b"idempotency-key", key.encode()))
        scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "path": path,
            "raw_path": path.encode(), "query_string": b"", "headers": headers, "scheme": "http",
            "client": ("10.0.0.1", 1), "server": (HOST, 80), "root_path": "",
        }  # fmt: skip
        parts = [
            {"type": "http.request", "body": b"" if body is None else json.dumps(body).encode()}
        ]
        messages: list[Any] = []
        sent, left = self.clock.time, []

        async def receive() -> Any:
            if parts:
                return parts.pop()
            await asyncio.get_running_loop().create_future()

        async def take(message: Any) -> None:
            left.append(self.clock.time)
            messages.append(message)

        await self.app(scope, receive, take)
        start, whole = messages
        since = self.clock.start
        return Reply(
            f"{method} {path} {key or ''}", sent - since, left[0] - since, start["status"],
            tuple(pair for pair in sorted(start["headers"]) if pair[0] not in DATED), whole["body"],
        )  # fmt: skip

    async def watch(self, request: Coroutine[Any, Any, Reply]) -> Reply:
        """Note a reply that the watched caller sees."""
        reply = await request
        self.watched.append(reply)
        return reply


Script = Callable[[TimedWorld], Coroutine[Any, Any, None]]
"""What everybody does in a world."""


async def _at_once(work: Callable[..., Any], *arguments: Any) -> Any:
    """Do the work of a thread here, so that it has an order."""
    return work(*arguments)


def _bits(size: int) -> bytes:
    """Return bits that are a function of the question, if this is a reader."""
    if not hasattr(_HERE, "seed"):
        return _URANDOM(size)
    _HERE.drawn += 1
    return hashlib.shake_256(f"{_HERE.seed} {_HERE.drawn}".encode()).digest(size)


_URANDOM = os.urandom


@contextmanager
def scripted() -> Iterator[None]:
    """Let readers take the time, and the bits, of the script."""

    def charge_first(begin: Any, finish: Any) -> Callable[[Prepare], Prepare]:
        def wrap(prepare: Prepare) -> Prepare:
            def read() -> Any:
                _HERE.reader.read()
                return prepare()

            return charge_first_here(begin, finish)(read)

        return wrap

    timers = SimpleNamespace(ITIMER_PROF=2, setitimer=lambda *_: None)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(reader, "signal", timers)
        patched.setattr(reader, "charge_first", charge_first)
        for module in (auth, mcp_route, replies, routes):
            patched.setattr(module, "run_in_threadpool", _at_once)
        patched.setattr(os, "urandom", _bits)
        patched.setattr(random, "_urandom", _bits)
        patched.delenv("DISCREET_CONFIG", raising=False)
        yield
