"""What the clock tells an analyst of a service: `python -m bench.delays [--rows N ...] [--repeats N] [--json]`.

A service with its processes runs here, once for every number of rows. An analyst asks 1, 16 and 64 questions at
once and notes when each reply leaves; asks one after the other, alone and while another floods the service, asks
what fails, and has readers killed; and sees with a second connection how long a price, /healthz and a connection
alone take while a question is read. Times of replies are the same for all rows whose answers are late alike, up to
milliseconds of the machine.
"""

import argparse
import json
import os
import socket
import statistics
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.client import HTTPConnection
from itertools import count, cycle
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from .load import start
from .machine import machine

ROWS = (100_000, 300_000)
AT_ONCE = (1, 16, 64)
TOKENS = 20
UNIT = 1.0
"""The seconds after which answers leave."""

_TEXT = f"""
ledger = "budget.db"
[datasets.people]
source = "people.csv"
answers_after = "{UNIT}s"
max_failures = 1000
budget = {{ epsilon = 1_000_000 }}
columns.age = {{ type = "integer", minimum = 0, maximum = 99 }}
questions.age = {{ verb = "median", column = "age", epsilon = "1/10" }}
[datasets.broken]
source = "broken.csv"
answers_after = "{UNIT}s"
max_failures = 1000
budget = {{ epsilon = 100_000 }}
columns.age = {{ type = "integer", minimum = 0, maximum = 99 }}
questions.broken = {{ verb = "median", column = "age", epsilon = "1/10" }}
[analysts.ann]
datasets = ["people"]
share = {{ epsilon = 100_000 }}
min_epsilon = "1/10"
[analysts.bob]
datasets = ["people", "broken"]
share = {{ epsilon = 50_000 }}
min_epsilon = "1/10"
[server]
readers = 1
"""

Seconds = dict[str, list[float]]
"""What was measured, by words for it."""


class Caller:
    """A caller of the service with a token, or several that take turns."""

    def __init__(self, port: int, tokens: list[str]) -> None:
        self._port, self._tokens, self._lock = port, cycle(tokens), threading.Lock()

    def send(
        self, method: str, path: str, body: object = None, key: str | None = None
    ) -> tuple[int, float, dict[str, Any]]:
        """Return the status, the seconds, and the body of a reply on a connection of its own."""
        with self._lock:
            token = next(self._tokens)
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        if key is not None:
            headers["Idempotency-Key"] = key
        connection = HTTPConnection("127.0.0.1", self._port, timeout=120)
        begin = time.monotonic()
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        reply = connection.getresponse()
        seconds = time.monotonic() - begin
        content = json.loads(reply.read() or b"null")
        connection.close()
        return reply.status, seconds, content

    def ask(self, key: str, question: str = "age") -> tuple[int, float]:
        """Return the status and the seconds until the answer, as a client waits that asks again."""
        begin = time.monotonic()
        while True:
            status, _, _ = self.send("POST", "/v1/answers", {"question": question}, key)
            if status != 202:
                return status, time.monotonic() - begin


def wait_for_phase(period: float, phase: float = 0.02) -> None:
    """Wait until the clock is at a phase of a period."""
    time.sleep((phase - time.monotonic()) % period)


def times_at_once(ann: Caller, number: int, keys: Iterator[int], period: float) -> list[float]:
    """Return the seconds until the answers to so many questions at once, the first one first."""
    wait_for_phase(period)
    names = [f"at once {next(keys)}" for _ in range(number)]
    with ThreadPoolExecutor(number) as pool:
        replies = list(pool.map(ann.ask, names))
    return sorted(seconds for status, seconds in replies if status == 200)


def second_connection(ann: Caller, port: int, keys: Iterator[int], period: float) -> Seconds:
    """Return how long a price, /healthz and a connection alone take while a question is read."""
    wait_for_phase(period)
    asking = threading.Thread(target=ann.ask, args=(f"second {next(keys)}",))
    asking.start()
    seen: Seconds = {"a price": [], "/healthz": [], "a connection": []}
    while asking.is_alive():
        seen["a price"].append(ann.send("POST", "/v1/quotes", {"question": "age"})[1])
        seen["/healthz"].append(ann.send("GET", "/healthz")[1])
        for _ in range(5):
            begin = time.monotonic()
            socket.create_connection(("127.0.0.1", port)).close()
            seen["a connection"].append(time.monotonic() - begin)
    return seen


def nothing(bob: Caller, over: threading.Event, keys: Iterator[int]) -> None:
    """Do nothing."""


def flood(bob: Caller, over: threading.Event, keys: Iterator[int]) -> None:
    """Ask as much as may wait, again and again."""
    with ThreadPoolExecutor(16) as pool:
        while not over.is_set():
            names = [f"flood {next(keys)}" for _ in range(16)]
            list(
                pool.map(
                    lambda name: bob.send("POST", "/v1/answers", {"question": "age"}, name), names
                )
            )
            time.sleep(0.3)


def fail(bob: Caller, over: threading.Event, keys: Iterator[int]) -> None:
    """Ask what fails because of the data."""
    while not over.is_set():
        bob.ask(f"broken {next(keys)}", "broken")


def kill(bob: Caller, over: threading.Event, keys: Iterator[int]) -> None:
    """Ask again and again, and kill the readers of that: what the kernel does where memory is short."""
    from tests.service.killing import kill_readers

    def ask() -> None:
        while not over.is_set():
            bob.ask(f"killed {next(keys)}", "broken")

    asking = threading.Thread(target=ask)
    asking.start()
    dispatcher = _dispatcher_here()
    while not over.is_set():
        # bob's place is the last of three; killed at its middle
        wait_for_phase(UNIT, 0.5 * UNIT)
        kill_readers(dispatcher)
    asking.join()


def _dispatcher_here() -> int:
    """Return the process of the dispatcher that this process has started through a service."""
    from tests.service.running import below

    for pid in below(os.getpid()):
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
        if b"discreet.service.queue.dispatcher_process" in command:
            return pid
    raise RuntimeError("there is no dispatcher")


Other = Callable[[Caller, threading.Event, Iterator[int]], None]
"""What another does until an event is set."""

OTHERS: dict[str, Other] = {
    "nobody asks": nothing,
    "another floods": flood,
    "another's questions fail": fail,
    "another's readers are killed": kill,
}


@contextmanager
def served(rows: int) -> Iterator[tuple[int, Caller, Caller]]:
    """Yield the port of a service with so many rows, and two analysts."""
    from discreet.ledger.toml_budgets import configuration, open_described
    from discreet.service.asking.tokens import read_expiry, tokens_beside

    in_memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # no disk that others use
    with tempfile.TemporaryDirectory(prefix="discreet-delays-", dir=in_memory) as name:
        folder = Path(name)
        (folder / "discreet.toml").write_text(_TEXT)
        (folder / "people.csv").write_text(
            "age\n" + "".join(f"{i * 7 % 100}\n" for i in range(rows))
        )
        (folder / "broken.csv").write_text("no such column\n1\n")
        declared = configuration(folder / "discreet.toml")
        for dataset, analyst in (
            ("people", None), ("broken", None), ("people", "ann"), ("people", "bob"), ("broken", "bob"),
        ):  # fmt: skip
            open_described(declared, dataset, analyst)
        known = tokens_beside(declared.path)
        tokens = {
            who: [known.create("analyst", who, read_expiry("1d"))[0] for _ in range(TOKENS)]
            for who in ("ann", "bob")
        }
        with start(folder) as port:
            ann, bob = Caller(port, tokens["ann"]), Caller(port, tokens["bob"])
            ann.ask("first")
            yield port, ann, bob


def measure(rows: int, repeats: int) -> Seconds:
    """Return all times of a service with so many rows."""
    keys, period, seen = count(), UNIT, defaultdict[str, list[float]](list)
    with served(rows) as (port, ann, bob):
        for number in AT_ONCE:
            for _ in range(repeats if number == 1 else 1):
                seen[f"{number} at once"] += times_at_once(ann, number, keys, period)
        for words, other in OTHERS.items():
            with beside(other, bob, keys):
                for _ in range(repeats):
                    seen[words] += times_at_once(ann, 1, keys, period)
        for _ in range(repeats):
            for words, times in second_connection(ann, port, keys, period).items():
                seen[words] += times
    return seen


@contextmanager
def beside(other: Other, bob: Caller, keys: Iterator[int]) -> Iterator[None]:
    """Let another do something."""
    over = threading.Event()
    work = threading.Thread(target=other, args=(bob, over, keys))
    work.start()
    try:
        yield
    finally:
        over.set()
        work.join()


def main() -> None:
    """Measure with all numbers of rows, and print it."""
    options = argparse.ArgumentParser(prog="python -m bench.delays", description=__doc__)
    options.add_argument("--rows", type=int, nargs="*", default=ROWS)
    options.add_argument("--repeats", type=int, default=5, help="how often each is measured")
    options.add_argument("--json", action="store_true", help="print JSON instead of a table")
    asked = options.parse_args()
    seen = {rows: measure(rows, asked.repeats) for rows in asked.rows}
    if asked.json:
        print(json.dumps({"machine": machine(), "seconds": seen}))
        return
    table = Table("", *(f"{rows:,} rows: median, longest" for rows in seen), "answers")
    for words in next(iter(seen.values())):
        each = [one[words] for one in seen.values()]
        cells = [f"{statistics.median(times):.4f} s, {max(times):.4f} s" for times in each]
        table.add_row(words, *cells, " ".join(str(len(times)) for times in each))
    Console().print(table)


if __name__ == "__main__":
    main()
