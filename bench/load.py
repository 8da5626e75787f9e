"""How much a service carries: `python -m bench.load [--seconds N] [--turns N] [--json]`.

Clients ask one question again and again: in one process through `discreet.connect` (the ledger alone, with the
draws that it pays for), and through `discreet serve` with `answers_after` of 0 and of 500 ms. Each has a ledger, a
service and tokens of its own, which stay open. Each turn measures all of them, one after the other, so what slows
the machine slows all.
"""

import argparse
import json
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from itertools import cycle
from pathlib import Path
from uuid import uuid4

from rich.console import Console
from rich.table import Table

from .machine import machine
from .race import Ratio, paired_ratio
from .report import duration

CLIENTS = (1, 8, 32)
TOKENS = 400
"""So many tokens take turns."""

_PATIENCE = 60.0
_STARTING = 180.0
"""Seconds for a service to start, which takes long on a machine that others use."""
_TEXT = """
ledger = "budget.db"

[datasets.drinks]
source = "drinks.csv"
answers_after = "{after}"
budget = {{ epsilon = 1_000_000 }}
columns.drink = {{ type = "string", enum = ["tea", "coffee", "milk", "water"] }}
questions.drink = {{ verb = "mode", column = "drink", epsilon = "1/10" }}

[server]
waiting = 64
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
        tails: the same by the median, of each turn.
        failed: how many requests got no answer.
    """

    name: str
    clients: int
    rates: list[float] = field(default_factory=list)
    late: list[float] = field(default_factory=list)
    tails: list[float] = field(default_factory=list)
    failed: int = 0

    def add(self, seconds: Sequence[float], failed: int, took: float) -> None:
        """Add a turn; one without answers counts for its failures alone."""
        self.failed += failed
        if seconds:
            late = sorted(seconds)[max(0, -(-99 * len(seconds) // 100) - 1)]
            self.rates.append(len(seconds) / took)
            self.late.append(late)
            self.tails.append(late / statistics.median(seconds))

    def as_dict(self) -> dict[str, object]:
        """Return the figures in JSON's types, times in seconds."""
        return {
            "name": self.name, "clients": self.clients, "failed": self.failed,
            "per_second": {"median": statistics.median(self.rates), "best": max(self.rates)},
            "p99": {"median": statistics.median(self.late), "min": min(self.late)},
            "p99_by_median": statistics.median(self.tails),
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
    from discreet.service.asking.tokens import read_expiry, tokens_beside

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
            _stop(service)


def _await(port: int, service: "subprocess.Popen[bytes]") -> None:
    until = time.monotonic() + _STARTING
    while time.monotonic() < until and service.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise RuntimeError("the service does not start")


def _stop(service: "subprocess.Popen[bytes]") -> None:
    """End a service, by force if it does not end by itself."""
    service.terminate()
    try:
        service.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        service.kill()


def _client(port: int, tokens: Iterator[str]) -> Ask:
    """Return a client with a connection of its own: as light as can be, as it runs on the same machine."""
    connection = HTTPConnection("127.0.0.1", port, timeout=_PATIENCE)

    def ask() -> bool:
        headers = {
            "Authorization": f"Bearer {next(tokens)}", "Content-Type": "application/json",
            "Idempotency-Key": str(uuid4()),
        }  # fmt: skip
        connection.request("POST", "/v1/answers", b'{"question": "drink"}', headers)
        reply = connection.getresponse()
        reply.read()
        return reply.status == 200

    return ask


WAYS = {
    "the ledger alone, in one process": ("0s", in_process),
    "the service, no times": ("0s", served),
    "the service, after 500 ms": ("500ms", served),
}


@contextmanager
def opened(name: str) -> Iterator[Callable[[], Ask]]:
    """Yield what makes clients of a way, with a ledger of its own, and a service where it has one."""
    after, way = WAYS[name]
    with tempfile.TemporaryDirectory(prefix="discreet-load-") as folder:
        _describe(Path(folder), after)
        with way(Path(folder)) as client:
            client()()  # imports, connections, caches
            yield client


def measure(load: Load, client: Callable[[], Ask], seconds: float) -> None:
    """Let clients ask for so many seconds, and add what was carried."""
    load.add(*_asked([client() for _ in range(load.clients)], seconds))


def _describe(folder: Path, after: str) -> None:
    from discreet.ledger.toml_budgets import configuration, open_described

    (folder / "discreet.toml").write_text(_TEXT.format(after=after))
    (folder / "drinks.csv").write_text("drink\n" + 400 * "tea\ncoffee\ntea\nmilk\n")
    open_described(configuration(folder / "discreet.toml"), "drinks")


def _asked(clients: Sequence[Ask], seconds: float) -> tuple[list[float], int, float]:
    """Return how long each answer took, how many failed, and how long it all took."""
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
    options.add_argument("--clients", type=int, nargs="+", default=CLIENTS, help="how many at once")
    options.add_argument(
        "--ways", nargs="+", choices=WAYS, default=list(WAYS), help="what is measured, of all"
    )
    options.add_argument(
        "--within", type=float, default=900, help="seconds after which no turn begins"
    )
    options.add_argument("--json", action="store_true", help="print JSON instead of a table")
    asked = options.parse_args()
    loads = [Load(name, clients) for clients in asked.clients for name in asked.ways]
    until = time.monotonic() + asked.within
    with ExitStack() as stack:
        clients = {name: stack.enter_context(opened(name)) for name in asked.ways}
        for turn in range(asked.turns):
            if turn and time.monotonic() > until:
                break
            for load in loads:
                measure(load, clients[load.name], asked.seconds)
    if asked.json:
        print(json.dumps({"machine": machine(), "loads": [load.as_dict() for load in loads]}))
    else:
        Console().print(_table(loads))


def _table(loads: Sequence[Load]) -> Table:
    """Return medians, the best in brackets, and the rate by that of the ledger alone."""
    columns = (
        "clients",
        "",
        "answers a second",
        "p99",
        "by medians",
        "by the ledger alone",
        "turns",
        "failed",
    )
    table = Table(*columns)
    for load in loads:
        base = next(one for one in loads if one.clients == load.clients)
        if not load.rates:
            table.add_row(str(load.clients), load.name, *5 * [""], str(load.failed))
            continue
        late = duration(statistics.median(load.late)), duration(min(load.late))
        table.add_row(
            str(load.clients), load.name,
            f"{statistics.median(load.rates):.3g} ({max(load.rates):.3g})",
            f"{late[0]} ({late[1]})", f"{statistics.median(load.tails):.2f}",
            _in_words(paired_ratio(load.rates, base.rates)), str(len(load.rates)), str(load.failed),
        )  # fmt: skip
    return table


def _in_words(ratio: Ratio | None) -> str:
    """Return a ratio with its interval."""
    return "" if ratio is None else f"{ratio.median:.2f} ({ratio.low:.2f} to {ratio.high:.2f})"


if __name__ == "__main__":
    main()
