"""Two services that differ in the number of rows, under loads: what an analyst and a prober see of them.

    python -m tests.service.two_sizes                              # 100 rounds, 10,000 probes of each free route
    python -m tests.service.two_sizes --rounds 2 --probes 200

`answers_after` is what `discreet serve --try` prints for the larger one. A round asks statements of several sizes
in both at once: while the machine is quiet, while a stranger sends bodies, and beside four busy loops. It counts
the delays that doubled. Probes of all routes are sent at once, about 100 a second, while questions are read. A
reply leaves one quantum after its request, and one that comes after two is counted as late. Figures are printed as
JSON. The exit code is 1 if the two differ, or more than one probe in 1,000 was late.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import discreet
from discreet.ledger import Ledger
from discreet.ledger.toml_budgets import configuration, open_described
from discreet.service.asking.tokens import read_expiry, tokens_beside
from discreet.service.queue.padding import QUANTUM

from .running import Running
from .strangers import LONG, busy

SIZES = (100_000, 300_000)
TEXT = """
ledger = "budget.db"
[datasets.people]
source = "people.csv"
budget = {{ epsilon = "100000" }}
answers_after = "{after}"
longest = "60s"
columns.age = {{ type = "integer", minimum = 0, maximum = 120 }}
[analysts.ann]
datasets = ["people"]
share = {{ epsilon = "50000" }}
verbs = ["sql", "median"]
where = ["age"]
min_epsilon = "1/1000"
"""
PROBER = """
[analysts.{name}]
datasets = ["people"]
share = {{ epsilon = "1" }}
"""
STATEMENTS = ((1, 0), (8, 0), (1, 1), (1, 100), (64, 0), (100, 0), (1, 1_000))
"""Aggregates and comparisons."""

Route = tuple[str, str, bytes | None]
"""A method, a path, and a body."""

FREE: tuple[Route, ...] = (
    ("GET", "/healthz", None), ("GET", "/v1/budgets", None), ("GET", "/v1/releases", None),
    ("GET", "/v1/nothing", None), ("POST", "/v1/quotes", b'{"question":"none"}'), ("POST", "/v1/answers", b"{"),
)  # fmt: skip
PROBERS = tuple(f"prober{number}" for number in range(len(FREE)))
"""Analysts, one for each route: the service works on the requests of one caller one after the other."""


def statement(aggregates: int, comparisons: int) -> str:
    """A statement of one size."""
    selected = ", ".join(f"MEDIAN(age) AS a{i}" for i in range(aggregates))
    where = " OR ".join(f"age = {i % 121}" for i in range(comparisons))
    options = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 0.01)"
    return f"{options} {selected} FROM people" + (f" WHERE {where}" if where else "")


class World:
    """A service about so many rows, in a folder of its own."""

    def __init__(self, folder: Path, rows: int, after: str = "1s") -> None:
        folder.mkdir(exist_ok=True)
        self.folder = folder
        probers = "".join(PROBER.format(name=name) for name in PROBERS)
        (folder / "discreet.toml").write_text(TEXT.format(after=after) + probers)
        (folder / "people.csv").write_text("age\n" + "".join(f"{i % 121}\n" for i in range(rows)))

    def tried(self) -> str:
        """The value of `answers_after` that fits."""
        command = [sys.executable, "-m", "discreet", "serve", "--try", "--json"]
        done = subprocess.run(
            command, cwd=self.folder, capture_output=True, check=True, timeout=1_800
        )
        (found,) = json.loads(done.stdout)
        return f"{found['answers_after']:g}s"

    def open(self) -> None:
        """Open its budgets, and make the token of the analyst."""
        declared = configuration(self.folder / "discreet.toml")
        for analyst in (None, "ann", *PROBERS):
            open_described(declared, "people", analyst)
        self.ledger, tokens = declared.ledger, tokens_beside(declared.path)
        self.tokens = {
            name: tokens.create("analyst", name, read_expiry("2d"))[0] for name in ("ann", *PROBERS)
        }
        self.running, self.seen = Running(self.folder), 0

    def ask(self, size: tuple[int, int], request: str) -> bool:
        """Whether the delay has doubled with a statement of one size."""
        ann = discreet.connect(self.running.url, token=self.tokens["ann"])
        ann.sql(statement(*size), request=request)
        _, found = Ledger(self.ledger).events_after(self.seen, 100)
        self.seen = found[-1].number
        return any(event.kind == "delayed" for event in found)

    def flood(self, over: threading.Event) -> None:
        """Send long bodies as a stranger."""
        while not over.is_set():
            with ExitStack() as closing:
                one = HTTPConnection("127.0.0.1", self.running.port, timeout=60)
                closing.callback(one.close)
                one.request("POST", "/v1/verbs/quotes", LONG, {"Authorization": "Bearer x"})
                one.getresponse().read()

    def probe(self, prober: str, method: str, path: str, body: bytes | None) -> float:
        """The seconds until a reply to a free request."""
        head = {
            "Authorization": f"Bearer {self.tokens[prober]}", "Content-Type": "application/json",
        }  # fmt: skip
        one = HTTPConnection("127.0.0.1", self.running.port, timeout=60)
        one.connect()
        begin = time.perf_counter()
        one.request(method, path, body, head)
        one.getresponse().read()
        took = time.perf_counter() - begin
        one.close()
        return took


@contextmanager
def loaded(load: str, worlds: list[World]) -> Iterator[None]:
    """Load the machine in a block."""
    over = threading.Event()
    works = [one.flood for one in worlds] if load == "flood" else []
    threads = [threading.Thread(target=work, args=(over,)) for work in works]
    for thread in threads:
        thread.start()
    try:
        with busy(4 if load == "busy" else 0):
            yield
    finally:
        over.set()
        for thread in threads:
            thread.join(120)


def compare(worlds: list[World], rounds: int, sizes: int) -> dict[str, int]:
    """How many statements doubled the delays of both alike, by load."""
    found: Counter[str] = Counter()
    for number in range(rounds):
        for load in ("quiet", "flood", "busy"):
            with loaded(load, worlds):
                for size in STATEMENTS[:sizes]:
                    name = f"{number} {load} {size}"
                    with ThreadPoolExecutor() as pool:
                        asked = [pool.submit(one.ask, size, name) for one in worlds]
                        doubled = [one.result(900) for one in asked]
                    found[f"{load}: {'equal' if len(set(doubled)) == 1 else 'different'}"] += 1
                    found[f"{load}: doublings"] += sum(doubled)
        print(json.dumps({"rounds": number + 1, **found}), flush=True)
    return dict(found)


def probe_all(world: World, probes: int, at_once: int = len(FREE)) -> dict[str, dict[str, float]]:
    """How many probes of each free route were late by more than one quantum, and the longest."""
    over = threading.Event()

    def ask() -> None:
        number = 0
        while not over.is_set():
            number += 1
            world.ask((8, 0), f"probed {number}")

    def probe(prober: str, route: Route) -> dict[str, float]:
        seconds = [world.probe(prober, *route) for _ in range(probes)]
        late = sum(one > 2 * QUANTUM for one in seconds)
        early = sum(one < QUANTUM for one in seconds)
        return {"late": late, "early": early, "longest": max(seconds)}

    asking = threading.Thread(target=ask)
    asking.start()
    with ThreadPoolExecutor(at_once) as pool:
        names = (f"{method} {path}" for method, path, _ in FREE)
        found = dict(zip(names, pool.map(probe, PROBERS, FREE), strict=True))
    over.set()
    asking.join(900)
    return found


def main() -> int:
    """The exit code."""
    options = argparse.ArgumentParser(description="Two services that differ in the number of rows.")
    options.add_argument("--rounds", type=int, default=100)
    options.add_argument("--sizes", type=int, default=len(STATEMENTS), help="of the statements")
    options.add_argument("--probes", type=int, default=10_000)
    options.add_argument("--at-once", type=int, default=len(FREE), help="routes that are probed")
    options.add_argument("--after", help="answers_after, if it is not tried")
    said = options.parse_args()
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as place, ExitStack() as closing:
        after = said.after or World(Path(place) / "tried", SIZES[-1]).tried()
        worlds = [World(Path(place) / f"{rows}", rows, after) for rows in SIZES]
        for one in worlds:
            one.open()
            closing.enter_context(one.running)
        found["answers_after"] = after
        found["probes"] = probe_all(worlds[0], said.probes, said.at_once) if said.probes else {}
        print(json.dumps(found["probes"]), flush=True)
        found["worlds"] = compare(worlds, said.rounds, said.sizes)
    print(json.dumps(found, indent=1))
    is_equal = not any("different" in name for name in found["worlds"])
    is_on_time = all(1_000 * one["late"] <= said.probes for one in found["probes"].values())
    return 0 if is_equal and is_on_time else 1


if __name__ == "__main__":
    sys.exit(main())
