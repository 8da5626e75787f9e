"""How much a service carries: `python -m bench.load [--seconds N] [--turns N] [--json]`.

Clients ask one question again and again: in one process through `discreet.connect` (the ledger alone, with the
draws that it pays for), through `discreet serve` without turns, and with turns. Each turn measures all of them, one
after the other, each with a ledger, a service and tokens of its own, so what slows the machine slows all.
"""

import argparse
import json
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from itertools import cycle
from pathlib import Path

from rich.console import Console
from rich.table import Table

from .machine import machine
from .report import duration

CLIENTS = (1, 8, 32)
TOKENS = 40
"""So many tokens take turns: a service admits so many requests of each in a minute."""

_PATIENCE = 60.0
_TEXT = """
ledger = "budget.db"

[datasets.drinks]
source = "drinks.csv"
budget = {{ epsilon = 1_000_000 }}
columns.drink = {{ type = "string", enum = ["tea", "coffee", "milk", "water"] }}
questions.drink = {{ verb = "mode", column = "drink", epsilon = "1/10" }}

[server]
turn = "{turn}"
"""

Ask = Callable[[], bool]
"""Asks once, and returns whether there was an answer."""


@dataclass(slots=True)
class Load:
    """What one way carried with so many clients, in all turns.

    Attributes:
        name: the way.
        clients: how many asked at the same time.
        rates: answers in a second, of each turn.
        late: the seconds within which 99 of 100 were answered, of each turn.
        failed: how many requests got no answer.
    """

    name: str
    clients: int
    rates: list[float] = field(default_factory=list)
    late: list[float] = field(default_factory=list)
    failed: int = 0

    def add(self, seconds: Sequence[float], failed: int, took: float) -> None:
        """Add a turn."""
        self.rates.append(len(seconds) / took)
        self.late.append(sorted(seconds)[max(0, -(-99 * len(seconds) // 100) - 1)])
        self.failed += failed

    def as_dict(self) -> dict[str, object]:
        """Return the figures in JSON's types, times in seconds."""
        return {
            "name": self.name, "clients": self.clients, "failed": self.failed,
            "per_second": {"median": statistics.median(self.rates), "best": max(self.rates)},
            "p99": {"median": statistics.median(self.late), "min": min(self.late)},
        }  # fmt: skip


@contextmanager
def in_process(folder: Path) -> Iterator[Callable[[], Ask]]:
    """Yield what makes clients that ask in this process."""
    import discreet

    connection = discreet.connect(folder / "discreet.toml")
    yield lambda: lambda: bool(connection.ask("drink").charged)


@contextmanager
def served(folder: Path) -> Iterator[Callable[[], Ask]]:
    """Yield what makes clients that ask a service."""
    from discreet.service.tokens import read_expiry, tokens_beside

    known = tokens_beside(folder / "discreet.toml")
    texts = cycle([known.create("owner", None, read_expiry("1d"))[0] for _ in range(TOKENS)])
    with start(folder) as port:
        yield lambda: _client(port, texts)


@contextmanager
def start(folder: Path) -> Iterator[int]:
    """Start the service of a folder, and yield its port on this machine."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    command = [sys.executable, "-m", "discreet", "serve", "discreet.toml"]
    with subprocess.Popen(
        [*command, "--listen", f"127.0.0.1:{port}"], cwd=folder,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    ) as service:  # fmt: skip
        try:
            _await(port, service)
            yield port
        finally:
            service.terminate()


def _await(port: int, service: "subprocess.Popen[bytes]") -> None:
    until = time.monotonic() + _PATIENCE
    while time.monotonic() < until and service.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise RuntimeError("the service does not start")


def _client(port: int, tokens: Iterator[str]) -> Ask:
    """Return a client with a connection of its own: as light as can be, as it runs on the same machine."""
    connection = HTTPConnection("127.0.0.1", port, timeout=_PATIENCE)
    numbers = iter(range(10**9))

    def ask() -> bool:
        headers = {
            "Authorization": f"Bearer {next(tokens)}", "Content-Type": "application/json",
            "Idempotency-Key": f"{id(connection)}-{next(numbers)}",
        }  # fmt: skip
        connection.request("POST", "/v1/answers", b'{"question": "drink"}', headers)
        reply = connection.getresponse()
        reply.read()
        return reply.status == 200

    return ask


WAYS = {
    "the ledger alone, in one process": ("0s", in_process),
    "the service, turns off": ("0s", served),
    "the service, turns of 250 ms": ("250ms", served),
}


def measure(load: Load, seconds: float) -> None:
    """Let clients ask for so many seconds, and add what was carried."""
    turn, way = WAYS[load.name]
    folder = Path(tempfile.mkdtemp(prefix="discreet-load-"))
    try:
        _describe(folder, turn)
        with way(folder) as client:
            taken, failed, took = _asked([client() for _ in range(load.clients)], seconds)
    finally:
        shutil.rmtree(folder)
    load.add(taken, failed, took)


def _describe(folder: Path, turn: str) -> None:
    from discreet.ledger.toml_budgets import configuration, open_described

    (folder / "discreet.toml").write_text(_TEXT.format(turn=turn))
    (folder / "drinks.csv").write_text("drink\n" + 400 * "tea\ncoffee\ntea\nmilk\n")
    open_described(configuration(folder / "discreet.toml"), "drinks")


def _asked(clients: Sequence[Ask], seconds: float) -> tuple[list[float], int, float]:
    """Return how long each answer took, how many failed, and how long it all took."""
    for ask in clients[:1]:
        ask()  # imports, connections, caches
    taken: list[float] = []
    failed: list[int] = []
    begun = time.monotonic()

    def work(ask: Ask) -> None:
        while time.monotonic() < begun + seconds:
            start = time.perf_counter()
            if ask():
                taken.append(time.perf_counter() - start)
            else:
                failed.append(1)

    threads = [threading.Thread(target=work, args=(ask,)) for ask in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return taken, len(failed), time.monotonic() - begun


def main() -> None:
    """Measure all ways with all numbers of clients, and print it."""
    options = argparse.ArgumentParser(prog="python -m bench.load", description=__doc__)
    options.add_argument("--seconds", type=float, default=4, help="of each measurement")
    options.add_argument("--turns", type=int, default=5, help="how often each is measured")
    options.add_argument("--json", action="store_true", help="print JSON instead of a table")
    asked = options.parse_args()
    loads = [Load(name, clients) for clients in CLIENTS for name in WAYS]
    for _ in range(asked.turns):
        for load in loads:
            measure(load, asked.seconds)
    if asked.json:
        print(json.dumps({"machine": machine(), "loads": [load.as_dict() for load in loads]}))
    else:
        Console().print(_table(loads))


def _table(loads: Sequence[Load]) -> Table:
    """Return medians, the best in brackets, and the rate by that of the ledger alone."""
    table = Table("clients", "", "answers a second", "p99", "by the ledger alone", "failed")
    for load in loads:
        base = next(one for one in loads if one.clients == load.clients)
        rate, alone = statistics.median(load.rates), statistics.median(base.rates)
        late = duration(statistics.median(load.late)), duration(min(load.late))
        table.add_row(
            str(load.clients), load.name, f"{rate:.3g} ({max(load.rates):.3g})",
            f"{late[0]} ({late[1]})", f"{rate / alone:.2f}", str(load.failed),
        )  # fmt: skip
    return table


if __name__ == "__main__":
    main()
