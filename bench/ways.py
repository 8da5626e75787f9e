"""The ways of five questions through the library, counted: `python -m bench.ways [--json]`.

A way is the calls into the package of one warm run, on all threads, as `sys.setprofile` sees them: how many, in how
many files, how often the file changes, and how deep. Beside them stand the calls of a few functions by name, such
as the digests that are computed and the transactions of the ledger. Imports and comprehensions are no calls.
"""

import asyncio
import datetime as dt
import json
import os
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any
from unittest import mock

from rich.console import Console
from rich.table import Table

import discreet
from discreet.ledger import interrupts
from discreet.ledger.toml_budgets import configuration, open_described
from discreet.service.asking.tokens import tokens_beside
from discreet.service.http.app import make_app
from discreet.service.queue.padding import LENGTH

SOURCE = str(Path(discreet.__file__).parent)
COUNTED = {
    "verbs settled": ("selection/question.py", "deliver"),
    "digests": ("base/digests.py", "digest"),
    "reading transactions": ("ledger/store.py", "_begin_reading"),
    "writing transactions": ("ledger/store.py", "_begin_writing"),
    "error_boundary.enter": ("base/error_boundary.py", "enter"),
    "read_neighbors": ("privacy/sensitivity.py", "read_neighbors"),
    "read_unit": ("privacy/sensitivity.py", "read_unit"),
    "exact_text": ("base/arguments.py", "exact_text"),
}
"""The functions that are counted by name, by words for them: a file and a function."""

TEXT = """\
ledger = "budget.db"
[datasets.people]
source = "people.csv"
answers_after = "0s"
budget = { epsilon = "1000" }
columns.age = { type = "integer", minimum = 0, maximum = 120 }
questions.typical-age = { verb = "median", column = "age", epsilon = "1/2" }
[analysts.ann]
datasets = ["people"]
share = { epsilon = "500" }
"""
ROWS = "age\n" + "".join(f"{20 + i % 60}\n" for i in range(999))


@dataclass
class Way:
    """The calls of one run."""

    calls: Counter[tuple[str, str]] = field(default_factory=Counter)
    hops: int = 0
    depth: int = 0
    _stacks: dict[int, list[str]] = field(default_factory=dict)

    def record(self, frame: FrameType, event: str, _: object) -> None:
        """Take a call or a return of a function of the package, as `sys.setprofile` tells it."""
        code = frame.f_code
        if not code.co_filename.startswith(SOURCE) or code.co_name.startswith("<"):
            return
        stack = self._stacks.setdefault(threading.get_ident(), [])
        if event == "return" and stack:
            stack.pop()
        if event != "call":
            return
        path = code.co_filename[len(SOURCE) + 1 :]
        self.calls[path, code.co_name] += 1
        self.hops += bool(stack) and stack[-1] != path
        stack.append(path)
        self.depth = max(self.depth, len(stack))

    def figures(self) -> dict[str, int]:
        """Return the counts by words for them."""
        files = {path for path, _ in self.calls}
        whole = {
            "calls": self.calls.total(),
            "files": len(files),
            "hops": self.hops,
            "depth": self.depth,
        }
        return whole | {name: self.calls[which] for name, which in COUNTED.items()}


@contextmanager
def profiled(way: Way) -> Iterator[None]:
    """Record the calls of this thread, and of those that it starts.

    The threads of transactions are no threads of `threading`, so their work is done in this one.
    """

    def at_once(run: Callable[[], None]) -> None:
        run()

    with mock.patch.object(interrupts, "_start", at_once):
        threading.setprofile(way.record)
        sys.setprofile(way.record)
        try:
            yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)


def way_of(work: Callable[[], object]) -> Way:
    """Return the way of what was done twice before."""
    for _ in range(2):
        work()
    way = Way()
    with profiled(way):
        work()
    return way


def selected() -> Way:
    """Return the way of one choice among three scores."""
    return way_of(lambda: discreet.select([1, 2, 3], epsilon=1, sensitivity=1))


def charged() -> Way:
    """Return the way of the same choice, charged to a budget in SQLite."""
    ledger = discreet.Ledger("choices.db")
    ledger.open("choices", epsilon=1000)
    session = ledger.session("choices")
    return way_of(lambda: session.select([1, 2, 3], epsilon=1, sensitivity=1))


def csv_median() -> Way:
    """Return the way of a median of a CSV file."""
    grid = discreet.Grid(0, 120)
    return way_of(lambda: discreet.median("ages.csv", "age", candidates=grid, epsilon=1))


def connected() -> Way:
    """Return the way of a named question in this process, asked by an analyst."""
    analyst = discreet.connect("discreet.toml", analyst="ann")
    return way_of(lambda: analyst.ask("typical-age"))


def posted() -> Way:
    """Return the way of a POST to /v1/answers to a service in this process, without processes that read."""
    import httpx

    app: Any = make_app(configuration(), ["service.test"])
    later = dt.datetime(2999, 1, 1, tzinfo=dt.UTC)
    token, _ = tokens_beside(Path("discreet.toml")).create("analyst", "ann", later)
    keys = iter(range(99))

    async def called() -> None:
        transport = httpx.ASGITransport(app)
        headers = {"Authorization": f"Bearer {token}", "Idempotency-Key": f"key-{next(keys)}"}
        body = {"question": "typical-age", "dataset": "people", "max_cost": "1"}
        async with httpx.AsyncClient(transport=transport, base_url="http://service.test") as client:
            reply = await client.post("/v1/answers", headers=headers, json=body)
        assert (reply.status_code, len(reply.content)) == (200, LENGTH), reply.text

    return way_of(lambda: asyncio.run(called()))


WAYS: dict[str, Callable[[], Way]] = {
    "select": selected,
    "select, charged": charged,
    "median of a CSV file": csv_median,
    "connect(...).ask": connected,
    "POST /v1/answers": posted,
}


def ways() -> dict[str, Way]:
    """Return all ways, in a folder of their own."""
    with TemporaryDirectory() as folder, chdir(folder), mock.patch.dict(os.environ):
        os.environ.pop("DISCREET_CONFIG", None)
        Path("discreet.toml").write_text(TEXT)
        for name in ("people.csv", "ages.csv"):  # the second is declared nowhere
            Path(name).write_text(ROWS)
        open_described(configuration(), "people")
        open_described(configuration(), "people", "ann")
        return {name: way() for name, way in WAYS.items()}


def main() -> None:
    """Print the figures."""
    found = {name: way.figures() for name, way in ways().items()}
    if "--json" in sys.argv[1:]:
        print(json.dumps(found, indent=1))
        return
    table = Table("", *found)
    for name in next(iter(found.values())):
        table.add_row(name, *(str(figures[name]) for figures in found.values()))
    Console().print(table)


if __name__ == "__main__":
    main()
