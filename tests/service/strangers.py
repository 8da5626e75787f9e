"""A stranger without a token beside two analysts, with a proxy of the examples or without: how many are answered.

    python -m tests.service.strangers                      # a minute each: quiet, bodies, half bodies
    python -m tests.service.strangers --proxy nginx --seconds 20
    python -m tests.service.strangers --busy 2           # beside two busy loops

`bodies`: four threads send long bodies with an unknown token, as fast as they can. `half bodies`: 520 connections,
each with a head and one byte of nine, which are begun anew every 9.8 seconds. The stranger calls from another
address. One analyst asks for answers, one after the other, the other for what reads no data. Figures are printed as
JSON. The exit code is 1 if a question failed, was charged without an answer, or another request was not answered.
"""

import argparse
import json
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

from discreet.ledger import Ledger
from discreet.ledger.toml_budgets import configuration, open_described
from discreet.service.asking.tokens import read_expiry, tokens_beside

from .proxies import Front, behind_caddy, behind_nginx
from .running import Running, command_of

TEXT = """
ledger = "budget.db"
[datasets.people]
source = "people.csv"
budget = { epsilon = "1000" }
answers_after = "1s"
columns.age = { type = "integer", minimum = 0, maximum = 120 }
questions.age = { verb = "median", column = "age", epsilon = "1/100" }
[analysts.ann]
datasets = ["people"]
share = { epsilon = "100" }
[analysts.ben]
datasets = ["people"]
share = { epsilon = "100" }
"""
ROWS, CONNECTIONS, THREADS = 100_000, 520, 4
LONG = b'{"question":"x","a":[' + b"1," * 120_000 + b"1]}"
ELSEWHERE = ("127.0.0.2", 0)
"""The address of the stranger."""


@dataclass
class Siege:
    """A service, the address at which it is called, and what became of requests.

    Attributes:
        front: how it is called.
        tokens: those of the analysts.
        over: whether it is over.
        replies: the statuses of each caller.
    """

    front: Front
    tokens: dict[str, str]
    over: threading.Event = field(default_factory=threading.Event)
    replies: Counter[str] = field(default_factory=Counter)

    def connect(self, source: tuple[str, int] | None = None, wait: float = 90) -> HTTPConnection:
        """A connection to the service."""
        address = urlsplit(self.front.url)
        host, port = str(address.hostname), int(address.port or 0)
        if address.scheme == "http":
            return HTTPConnection(host, port, timeout=wait, source_address=source)
        trusting = ssl.create_default_context(cafile=str(self.front.authority))
        return HTTPSConnection(host, port, timeout=wait, source_address=source, context=trusting)

    def send(self, who: str, method: str, path: str, body: bytes | None, key: str = "") -> int:
        """The status of a reply; 0 if there is none."""
        head = {
            "Authorization": f"Bearer {self.tokens.get(who, 'x')}",
            "Content-Type": "application/json",
        }
        connection = self.connect(None if who in self.tokens else ELSEWHERE)
        try:
            connection.request(
                method, path, body, {**head, **({"Idempotency-Key": key} if key else {})}
            )
            return connection.getresponse().status
        except (OSError, HTTPException):
            return 0
        finally:
            connection.close()

    def ask(self) -> None:
        """Ask for answers as the first analyst."""
        while not self.over.is_set():
            status = self.send("ann", "POST", "/v1/answers", b'{"question":"age"}', str(uuid4()))
            self.replies[f"answers {status}"] += 1

    def look(self) -> None:
        """Ask for what reads no data as the second analyst."""
        while not self.over.wait(0.2):
            self.replies[f"budgets {self.send('ben', 'GET', '/v1/budgets', None)}"] += 1

    def send_bodies(self) -> None:
        """Send long bodies as a stranger."""
        while not self.over.is_set():
            self.replies[f"stranger {self.send('', 'POST', '/v1/verbs/quotes', LONG)}"] += 1

    def send_halves(self) -> None:
        """Begin bodies as a stranger, and never end them."""
        head = b"POST /v1/answers HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nx"
        while not self.over.is_set():
            with ExitStack() as closing:
                for _ in range(CONNECTIONS // THREADS):
                    with suppress(OSError, HTTPException):
                        one = closing.enter_context(socket_of(self.connect(ELSEWHERE, 5)))
                        one.sendall(head)
                        self.replies["stranger halves"] += 1
                self.over.wait(9.8)


@contextmanager
def busy(loops: int) -> Iterator[None]:
    """Keep cores busy in a block."""
    with doing("while True: pass", loops):
        yield


@contextmanager
def doing(code: str, number: int) -> Iterator[None]:
    """Run code in so many processes while a block lasts."""
    processes = [subprocess.Popen(command_of(code)) for _ in range(number)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait(60)


def socket_of(connection: HTTPConnection) -> socket.socket:
    """The socket of a connection that is made now."""
    connection.connect()
    assert isinstance(connection.sock, socket.socket)
    return connection.sock


ACTS: dict[str, Callable[[Siege], None] | None] = {
    "quiet": None, "bodies": Siege.send_bodies, "half bodies": Siege.send_halves,
}  # fmt: skip


def work_at_once(
    works: Sequence[Callable[[], None]], over: threading.Event, seconds: float, limit: float
) -> None:
    """Do some works at once for so long, then say that it is over, and wait for each up to a limit."""
    threads = [threading.Thread(target=work) for work in works]
    for thread in threads:
        thread.start()
    time.sleep(seconds)
    over.set()
    for thread in threads:
        thread.join(limit)


def besiege(front: Front, tokens: dict[str, str], act: str, seconds: float) -> dict[str, int]:
    """What became of the requests while a stranger did something for so long."""
    siege, strangers = Siege(front, tokens), ACTS[act]
    works = [siege.ask, siege.look]
    works += [] if strangers is None else [lambda: strangers(siege)] * THREADS
    work_at_once(works, siege.over, seconds, 120)
    return dict(sorted(siege.replies.items()))


def run(folder: Path, proxy: str | None, seconds: float) -> dict[str, Any]:
    """The figures of all acts before one service."""
    (folder / "discreet.toml").write_text(TEXT)
    (folder / "people.csv").write_text("age\n" + "".join(f"{i % 121}\n" for i in range(ROWS)))
    declared = configuration(folder / "discreet.toml")
    for analyst in (None, "ann", "ben"):
        open_described(declared, "people", analyst)
    known = tokens_beside(declared.path)
    tokens = {who: known.create("analyst", who, read_expiry("1d"))[0] for who in ("ann", "ben")}
    with Running(folder, "--host", "localhost") as service:
        plain = nullcontext(Front(service.url, folder))
        fronts = {"nginx": behind_nginx, "caddy": behind_caddy}
        with fronts[proxy](service.url, folder) if proxy else plain as front:
            found: dict[str, Any] = {act: besiege(front, tokens, act, seconds) for act in ACTS}
    kinds = Counter(event.kind for event in Ledger(declared.ledger).history())
    found["failed"] = kinds["failed"]
    found["charged without an answer"] = kinds["charged"] - kinds["answered"]
    return found


def is_well(found: dict[str, Any]) -> bool:
    """Whether nothing failed, all that was charged was answered, and each analyst was answered each time."""
    others = (name for act in ACTS for name in found[act] if not name.startswith("stranger"))
    return not found["failed"] and not found["charged without an answer"] and all(
        name.endswith(" 200") for name in others
    )  # fmt: skip


def main() -> int:
    """The exit code."""
    options = argparse.ArgumentParser(description="A stranger beside two analysts.")
    options.add_argument("--proxy", choices=("nginx", "caddy"))
    options.add_argument("--seconds", type=float, default=60.0)
    options.add_argument("--busy", type=int, default=0, help="loops that keep cores busy")
    said = options.parse_args()
    with tempfile.TemporaryDirectory() as folder, busy(said.busy):
        found = run(Path(folder), said.proxy, said.seconds)
    print(json.dumps(found, indent=1))
    return 0 if is_well(found) else 1


if __name__ == "__main__":
    sys.exit(main())
