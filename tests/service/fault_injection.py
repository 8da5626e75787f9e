"""A service whose files can be harmed one by one, and everybody who asks it at every route."""

import asyncio
import fcntl
import json
import re
import resource
import sqlite3
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

import discreet
from discreet import errors
from discreet.ledger.toml_budgets import configuration, open_described
from discreet.service.asking.tokens import ROLES, tokens_beside
from discreet.service.http.app import make_app
from discreet.service.http.metrics import kept_counts
from discreet.service.pages.page_request import SESSION
from discreet.service.pages.sessions import form_secret, sessions_beside
from discreet.service.queue.dispatcher_client import DispatcherClient
from discreet.service.queue.dispatcher_process import DispatcherProcess

from .answer_times import answering
from .asking.test_connect import TEXT
from .http.test_app import LATER, ROUTES

HOST = "service.test"
WHO = ("nobody", "ann", "auditor", "owner")
FILES = (
    "discreet.toml", "discreet.tokens", "discreet.tokens-lock", "discreet.sessions", "discreet.counts",
    "discreet.counts-journal", "budget.db", "budget.db-lock", "budget.db-journal", "checkpoints.jsonl",
    "SECRET-PLACE.csv",
)  # fmt: skip
FORMS: dict[tuple[str, str], dict[str, str]] = {
    ("GET", "/"): {}, ("GET", "/login"): {}, ("GET", "/questions"): {}, ("GET", "/answers"): {},
    ("GET", "/answer"): {},
    ("GET", "/budgets"): {}, ("GET", "/access"): {}, ("GET", "/tokens"): {}, ("GET", "/history"): {},
    ("GET", "/history/events"): {}, ("GET", "/history/checkpoint"): {},
    ("GET", "/history/report"): {"dataset": "people"},
    ("GET", "/free"): {"dataset": "people", "verb": "mode", "column": "city"},
    ("GET", "/plan"): {"dataset": "people", "question": "typical-age"},
    ("POST", "/ask"): {"dataset": "people", "question": "typical-age"},
    ("POST", "/budgets"): {"dataset": "people", "analyst": "ann", "epsilon": "9999"},
    ("POST", "/budgets/open"): {"dataset": "people"},
    ("POST", "/budgets/reopen"): {"dataset": "people"},
    ("POST", "/budgets/renew"): {"dataset": "none", "period": "2027"},
    ("POST", "/access"): {"dataset": "people", "analyst": "ann", "epsilon": "1"},
    ("POST", "/tokens"): {"role": "auditor"}, ("POST", "/tokens/revoke"): {"id": "none"},
    ("POST", "/history"): {}, ("POST", "/login"): {"token": "none"}, ("POST", "/logout"): {},
    ("GET", "/no-such-page"): {},
}  # fmt: skip
"""What is sent to each page."""

ASSISTANT = ("POST", "/mcp")
"""Where the tools of an assistant are called, which takes a message of its protocol."""

PUBLIC = {
    ("GET", "/healthz"),
    ("GET", "/v1/openapi.json"),
    ("HEAD", "/v1/openapi.json"),
    ("GET", "/style.css"),
}
ASKS = ("/v1/answers", "/v1/verbs/answers", "/ask")
CHAIN = ("/v1/audit", "/history", "/history/events", "/history/report")
"""Where auditors read the chain as it is: it holds the locations of the data, which its hashes cover."""

PAID = "paid"
"""The request under which everybody who asks was answered before."""

_OURS = {name for name in vars(errors) if name.endswith("Error")} | {"RefusedError"}
_FOREIGN = re.compile(
    r"sqlite|psycopg|sqlalchemy|postgres|Traceback|Errno|No such file|Permission denied|s a directory|"
    r"disk I/O|malformed|is locked|chmod|(?-i:SECRET)|budget\.db|checkpoints|"
    r"discreet\.(toml|tokens|sessions|counts)|\.py\b",
    re.IGNORECASE,
)  # fmt: skip
_CLASS = re.compile(r"\b[A-Z]\w*(?:Error|Exception)\b")


def foreign_words(text: str) -> set[str]:
    """Return the words in a reply that were not made for anybody but the owner."""
    found = {match[0] for match in _FOREIGN.finditer(text)}
    return found | ({*_CLASS.findall(text)} - _OURS)


@dataclass(frozen=True)
class Reply:
    """What somebody got at a route."""

    who: str
    method: str
    path: str
    request: str
    status: int
    head: str
    body: str

    @property
    def about(self) -> str:
        return f"{self.who} {self.method} {self.path} {self.request}: {self.status} {self.body.strip()[:500]}"

    @property
    def charged(self) -> Any:
        """Whether the reply says that it was charged: true, false, or None where nobody could find out."""
        if (self.method, self.path) == ASSISTANT:
            return (
                json.loads(self.body)
                .get("result", {})
                .get("structuredContent", {})
                .get("charged", False)
            )
        if self.path.startswith("/v1"):
            return json.loads(self.body).get("charged", False)
        return None if "if this was paid" in self.body else "this is paid" in self.body


@dataclass
class World:
    """A service in a folder of its own, with everybody's token and session, and one answer for each who asks."""

    folder: Path
    ledger: str = "budget.db"
    readers: bool = False
    number: int = 0
    tokens: dict[str, str] = field(default_factory=dict)
    sessions: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.folder.mkdir(exist_ok=True)
        text = TEXT.replace('ledger = "budget.db"', f'ledger = "{self.ledger}"')
        text = text.replace("max_epsilon =", 'min_epsilon = "1/8"\nmax_epsilon =')
        text = text.replace('epsilon = "30"', 'epsilon = "2000"').replace(
            'epsilon = "10"', 'epsilon = "1000"'
        )
        self.path = self.folder / "discreet.toml"
        self.path.write_text(answering(text))
        (self.folder / "SECRET-PLACE.csv").write_text("age,city\n" + "30,Bern\n" * 99)
        (self.folder / "rivals.csv").write_text("x\n1\n2\n")
        declared = configuration(self.path)
        for name, analyst in (("people", None), ("rivals", None), ("people", "ann")):
            open_described(declared, name, analyst)
        for who in WHO[1:]:
            role, analyst = (who, None) if who in ROLES else ("analyst", who)
            self.tokens[who], token = tokens_beside(self.path).create(role, analyst, LATER)
            self.sessions[who] = sessions_beside(self.path).begin(token.id)
        counts = kept_counts(self.path)
        counts.begin()
        declared = configuration(self.path)
        self.process = DispatcherProcess(declared, 1) if self.readers else None
        dispatcher = None if self.process is None else DispatcherClient(self.process.path)
        self.app: Any = make_app(declared, [HOST], counts, dispatcher)
        self.first = self.replies([*_asked(PAID)])
        assert all(one.status == 200 for one in self.first if one.who in ("ann", "owner"))
        self.healthy = {(one.method, one.path): one.body for one in self.replies(PUBLIC_CALLS)}

    def routes(self) -> set[tuple[str, str]]:
        """Return all routes of the service, from its own list."""
        api = self.app
        while hasattr(api, "app"):
            api = api.app
        return {(one.method, one.path) for one in api.routes}

    def calls(self) -> "list[Call]":
        """Return a call of everybody at every route, and again those that were answered before."""
        self.number += 1
        found = [
            (who, method, path, f"{who}-{self.number}-{path}")
            for method, path in sorted(self.routes() - PUBLIC | {("GET", "/no-such-page")})
            for who in WHO
        ]
        found.sort(key=lambda call: call[2] == "/logout")  # afterwards pages lead to the login
        leaving = [call for call in found if call[2] == "/logout"]
        return [*found[: -len(leaving)], *_asked(PAID), *PUBLIC_CALLS, *leaving]

    def replies(self, calls: "Iterable[Call]") -> list[Reply]:
        """Return the replies to calls, one after the other."""

        async def answered() -> list[Reply]:
            transport = httpx.ASGITransport(self.app)
            async with httpx.AsyncClient(transport=transport, base_url=f"https://{HOST}") as client:
                return [await self._reply(client, *call) for call in calls]

        return asyncio.run(answered())

    async def _reply(
        self, client: httpx.AsyncClient, who: str, method: str, path: str, request: str
    ) -> Reply:
        sent: dict[str, Any] = {}
        headers = {"Idempotency-Key": request}
        if (method, path) == ASSISTANT:
            sent = {"json": _message(request)}
            headers = {"accept": "application/json, text/event-stream"}
            if who in self.tokens:
                headers["Authorization"] = f"Bearer {self.tokens[who]}"
        elif path.startswith("/v1"):
            sent = ROUTES.get((method, path), {})
            if who in self.tokens:
                headers["Authorization"] = f"Bearer {self.tokens[who]}"
        elif (method, path) in FORMS:
            fields = {**FORMS[method, path], "request": request}
            session = self.sessions.get(who, "x" * 43)
            headers |= {"Cookie": f"{SESSION}={session}", "Origin": f"https://{HOST}"}
            fields["secret"] = form_secret(session)
            sent = {"params" if method == "GET" else "data": fields}
        elif (method, path) not in PUBLIC:
            raise AssertionError(f"what is sent to {method} {path}?")
        at = path.format(identity="none")
        reply = await client.request(method, at, headers=headers, **sent)
        return Reply(who, method, path, request, reply.status_code, str(reply.headers), reply.text)

    def charged(self) -> set[tuple[str, str]]:
        """Return the requests that were charged, with those who asked them."""
        where = self.ledger if "://" in self.ledger else self.folder / self.ledger
        return {
            (event.analyst or "owner", str(event.request))
            for event in discreet.Ledger(where).history()
            if event.kind == "charged"
        }

    def end(self) -> None:
        """End the processes that read the data."""
        if self.process is not None:
            self.process.end()


def _message(request: str) -> dict[str, Any]:
    """Return the message by which an assistant asks the named question."""
    asked = {"dataset": "people", "question": "typical-age", "max_cost": "1", "request": request}
    return {
        "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "ask", "arguments": asked},
    }  # fmt: skip


Call = tuple[str, str, str, str]
PUBLIC_CALLS: list[Call] = [("nobody", method, path, "") for method, path in sorted(PUBLIC)]


def _asked(request: str) -> Iterator[Call]:
    for who in WHO:
        yield who, "POST", "/v1/answers", request
        yield who, "POST", "/ask", request


@contextmanager
def removed(file: Path) -> Iterator[None]:
    file.unlink(missing_ok=True)
    yield


@contextmanager
def emptied(file: Path) -> Iterator[None]:
    file.write_bytes(b"")
    yield


@contextmanager
def cut(file: Path) -> Iterator[None]:
    _in_place(file, file.read_bytes()[: file.stat().st_size // 2] if file.exists() else b"x")
    yield


@contextmanager
def corrupted(file: Path) -> Iterator[None]:
    size = file.stat().st_size if file.exists() else 100
    _in_place(file, b"\x00\xffSECRET{[" * (size // 9 + 1))
    yield


@contextmanager
def replaced(file: Path) -> Iterator[None]:
    """Put another file of its kind in its place."""
    file.unlink(missing_ok=True)
    _REPLACED.get(file.name, _other_text)(file)
    yield


@contextmanager
def folder_instead(file: Path) -> Iterator[None]:
    file.unlink(missing_ok=True)
    file.mkdir()
    yield


@contextmanager
def writable(file: Path) -> Iterator[None]:
    file.touch()
    file.chmod(0o666)
    yield
    if file.exists():
        file.chmod(0o600)


@contextmanager
def locked(file: Path) -> Iterator[None]:
    """Hold every lock that there is on a file, and release it at the end."""
    with ExitStack() as stack:
        opened = stack.enter_context(open(file, "ab"))
        fcntl.flock(opened, fcntl.LOCK_EX)
        if file.suffix in (".db", ".sessions", ".counts"):
            held = sqlite3.connect(file, isolation_level=None)
            stack.callback(held.close)
            held.execute("BEGIN EXCLUSIVE")
        yield


Harm = Callable[[Path], Any]
LASTING: tuple[Harm, ...] = (removed, emptied, cut, corrupted, replaced, folder_instead)
"""Harms after which the file stays as it is."""

HARMS: tuple[Harm, ...] = (*LASTING, writable, locked)


def _in_place(file: Path, content: bytes) -> None:
    """Write into a file, which stays the one that others have open."""
    with open(file, "r+b" if file.exists() else "wb") as there:
        there.truncate(len(content))
        there.write(content)


def _other_ledger(file: Path) -> None:
    discreet.Ledger(file).open("SECRET", epsilon=1)


def _other_text(file: Path) -> object:
    return file.write_text("SECRET,other\n1,2\n")


def _other_database(file: Path) -> None:
    with closing(sqlite3.connect(file)) as other, other:
        for table in ("sessions", "asked", "counted"):
            other.execute(f"CREATE TABLE {table} (SECRET TEXT)")


_REPLACED: Mapping[str, Callable[[Path], object]] = {
    "budget.db": _other_ledger,
    "discreet.sessions": _other_database,
    "discreet.counts": _other_database,
    "discreet.tokens": lambda file: file.write_text('{"version": 1, "tokens": []}'),
    "discreet.toml": lambda file: file.write_text('ledger = "SECRET.db"\n[datasets.SECRET]\n'),
    "checkpoints.jsonl": lambda file: file.write_text(
        '{"ledger": "SECRET", "number": 999, "at": null, "head": "SECRET"}\n'
    ),
}


@contextmanager
def full_disk(folder: Path) -> Iterator[None]:
    """Fill the disk of a folder, which is a small one of its own: see `small_disk`."""
    filler = folder / "filler"
    with open(filler, "wb", buffering=0) as file:
        for size in (65536, 4096, 512, 1):
            try:
                while True:
                    file.write(b"\0" * size)
            except OSError:
                continue
    yield
    filler.unlink()


@contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    """Mount a disk of a few megabytes; skip where nobody may."""
    folder.mkdir(exist_ok=True)
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", folder],
        capture_output=True,
        check=False,
        timeout=30,
    )
    if mounted.returncode:
        pytest.skip("nobody but root mounts a disk")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True, timeout=30)


@contextmanager
def no_writes() -> Iterator[None]:
    """Let no file of this process be written: the disk refuses every byte."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@contextmanager
def short_patience() -> Iterator[pytest.MonkeyPatch]:
    """Wait for no lock, and keep checkpoints."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("discreet.ledger.store.LOCK_TIMEOUT", 0.05)
        patched.setattr("discreet.service.pages.sessions._SECONDS_FOR_THE_FILE", 0.05)
        patched.setattr("discreet.service.http.metrics._PATIENCE", 0.05)
        patched.setattr("discreet.service.asking.tokens._SECONDS_FOR_WRITERS", 0.05)
        patched.delenv("DISCREET_CONFIG", raising=False)
        yield patched
