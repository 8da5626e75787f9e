"""How costs grow with the work: `python -m bench.growth [--seconds N] [--only NAME ...]` measures and draws it.

Each point is a process of its own: the processor's time of one call, the least of several, and the most memory
that the process had beyond its imports. A curve ends where a point would take longer than allowed. The exponent is
the slope in logarithms over the last decade or two, where fixed costs no longer hide it.
"""

import argparse
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

import discreet
from discreet.ledger.schema import driver_of
from discreet.ledger.toml_budgets import configuration, open_described

from .ledgers import paid_run
from .machine import machine
from .race import Run
from .slopes import exponent

STORED = Path(__file__).with_name("growth.json")
_FOLDER = "DISCREET_GROWTH_FOLDER"
"""The variable of the environment that names the folder of files for all points of a work."""

_ENOUGH = 5.0
"""Seconds after which a call is not timed again."""

_DATASET = """
[datasets."dataset {number}"]
source = "drinks_{number}.csv"
budget = {{ epsilon = 1_000_000 }}
columns.drink = {{ type = "string", enum = ["tea", "coffee", "milk", "water"] }}
questions."question {number}" = {{ verb = "mode", column = "drink", epsilon = "1/10" }}
[analysts."analyst {number}"]
datasets = ["dataset {number}"]
share = {{ epsilon = 10_000 }}
"""

_PEAK = re.compile(r"VmHWM:\s*(\d+) kB")


def _select(size: int) -> Run:
    import numpy as np

    import discreet

    scores = np.random.default_rng(0).normal(size=size)
    return lambda: discreet.select(scores, sensitivity=1, epsilon=1)


def _one_liner(size: int) -> Run:
    import numpy as np

    generator = np.random.default_rng(0)
    scores = generator.normal(size=size)

    def run() -> object:
        weights = np.exp(scores - scores.max())
        return generator.choice(size, p=weights / weights.sum())

    return run


def _median(size: int) -> Run:
    import numpy as np

    import discreet

    rows = np.random.default_rng(0).normal(size=size) * 1e5
    grid = discreet.Grid(-(10**6), 10**6, "0.000002")
    return lambda: discreet.median(rows, candidates=grid, epsilon=1)


def _partition(size: int) -> Run:
    import numpy as np

    rows = np.random.default_rng(0).normal(size=size) * 1e5
    return lambda: np.partition(rows, size // 2)


def _release_after(size: int) -> Run:
    once: Any = paid_run(None)
    for _ in range(size):
        once()
    _save(once.keywords["ledger"], size)
    run: Run = once
    return run


def _save(session: Any, size: int) -> None:
    """Save a ledger in memory as a file for the other curves, which takes no minutes as its releases did."""
    with closing(sqlite3.connect(_ledger_path(size))) as file:
        session._payer.store.read(
            lambda transaction: driver_of(transaction.connection).backup(file)
        )


def _ledger_path(size: int) -> Path:
    return Path(os.environ.get(_FOLDER, tempfile.gettempdir())) / f"releases_{size}.db"


def _opening_after(size: int) -> Run:
    path = _ledger_file(size)
    return lambda: discreet.Ledger(path)


def _verifying_after(size: int) -> Run:
    ledger = discreet.Ledger(_ledger_file(size))
    return ledger.verify


def _ledger_file(size: int) -> Path:
    path = _ledger_path(size)
    if not path.exists():
        _release_after(size)
    return path


def _rows_after(size: int) -> Run:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.execute("CREATE TABLE rows (text TEXT)")

    def run() -> None:
        for _ in range(2):
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("INSERT INTO rows VALUES ('x')")
            connection.execute("COMMIT")

    for _ in range(size):
        run()
    return run


def _request_among(size: int) -> Run:
    connection = discreet.connect(_service(size), analyst="analyst 0")
    return lambda: connection.ask("question 0")


def _opening_of(size: int) -> Run:
    where = _service(size)
    return lambda: discreet.connect(where, analyst="analyst 0")


def _service(size: int) -> Path:
    """Return the discreet.toml of a service with so many datasets, each with an analyst and budgets."""
    in_memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # no disk that others use
    folder = Path(os.environ.get(_FOLDER) or tempfile.mkdtemp(dir=in_memory))
    place = folder / f"service_{size}"
    if not (place / "ready").exists():  # one that took too long to make is made again
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        _make_service(place, range(size))
        (place / "ready").touch()
    return place / "discreet.toml"


def _make_service(folder: Path, numbers: range) -> None:
    path = folder / "discreet.toml"
    text = "".join(_DATASET.format(number=number) for number in numbers)
    path.write_text(f'ledger = "budget.db"\n{text}', encoding="utf-8")
    for number in numbers:
        (folder / f"drinks_{number}.csv").write_text("drink\n" + 400 * "tea\ncoffee\n")
    description = configuration(path)
    for number in numbers:
        open_described(description, f"dataset {number}")
        open_described(description, f"dataset {number}", f"analyst {number}")


def _row_among(size: int) -> Run:
    """A row found by its key and a row written, in a table of so many."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.execute("CREATE TABLE budgets (name TEXT PRIMARY KEY, spent TEXT)")
    rows = [(f"dataset {number}", "0") for number in range(size)]
    connection.executemany("INSERT INTO budgets VALUES (?, ?)", rows)

    def run() -> None:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("SELECT spent FROM budgets WHERE name = 'dataset 0'").fetchall()
        connection.execute("UPDATE budgets SET spent = '1' WHERE name = 'dataset 0'")
        connection.execute("COMMIT")

    return run


WORKS: dict[str, tuple[str, int, dict[str, Callable[[int], Run]]]] = {
    "candidates": (
        "candidates of a select",
        10,
        {"discreet": _select, "numpy one-liner (unsafe)": _one_liner},
    ),
    "rows": (
        "rows of a median",
        10**4,
        {"discreet": _median, "np.partition (not private)": _partition},
    ),
    "releases": (
        "releases in a ledger",
        1,
        {
            "one release more": _release_after,
            "opening the file": _opening_after,
            "verifying it": _verifying_after,
            "two rows in bare SQLite": _rows_after,
        },
    ),
    "datasets": (
        "datasets of a service, each with an analyst",
        1,
        {
            "one request": _request_among,
            "opening the service": _opening_of,
            "two statements in bare SQLite": _row_among,
        },
    ),
}
"""Works by name: the horizontal axis in words, where it begins, and the contenders."""


_MOST = {"releases": 10**5, "datasets": 10**3}
"""The largest sizes: to make the next one takes too long, as a new source is compared with all others."""


def peak() -> float:
    """Return the most memory that this process had, in MiB; 0 where the system does not tell."""
    try:
        found = _PEAK.search(Path("/proc/self/status").read_text(encoding="ascii"))
    except OSError:
        return 0.0
    return int(found[1]) / 1024 if found else 0.0


def point(work: str, contender: str, size: int) -> dict[str, float]:
    """Return the processor's seconds of one call, and the peak of memory in MiB, in this process."""
    prepare = WORKS[work][2][contender]
    prepare(WORKS[work][1])()  # imports
    before, run = peak(), prepare(size)
    run()
    times, first = list[float](), time.process_time()
    while len(times) < 7 and (not times or time.process_time() - first < _ENOUGH):
        calls, begin = 0, time.process_time()
        while calls == 0 or time.process_time() - begin < 0.02:
            run()
            calls += 1
        times.append((time.process_time() - begin) / calls)
    return {"size": size, "seconds": min(times), "MiB": max(0.0, peak() - before)}


def curve(work: str, contender: str, limit: float) -> list[dict[str, float]]:
    """Return the points of a contender, up to the size that takes longer than a limit."""
    points, size = list[dict[str, float]](), WORKS[work][1]
    while size <= _MOST.get(work, size):
        command = [sys.executable, "-m", "bench.growth", "--point", work, contender, str(size)]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, check=True, timeout=limit
            )
        except (subprocess.TimeoutExpired, subprocess.CalledProcessError):
            return points
        points.append(json.loads(done.stdout))
        size *= 10
    return points


@contextmanager
def _folder() -> Iterator[None]:
    """Name a folder to the processes of all points, so that a ledger is made once."""
    in_memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # no disk that others use
    with tempfile.TemporaryDirectory(prefix="discreet-growth-", dir=in_memory) as name:
        os.environ[_FOLDER] = name
        yield


def report(results: dict[str, Any]) -> None:
    """Print the curves."""
    table = Table("work", "who", "to", "time", "exponent", "MiB", "exponent of memory")
    for work, curves in results["curves"].items():
        for who, points in curves.items():
            if points:
                end, slopes = points[-1], [exponent(points, w) for w in ("seconds", "MiB")]
                time_slope, memory_slope = ("-" if s is None else f"{s:.2f}" for s in slopes)
                table.add_row(
                    WORKS[work][0], who, f"{end['size']:,}", f"{end['seconds'] * 1e3:.3g} ms",
                    time_slope, f"{end['MiB']:.0f}", memory_slope,
                )  # fmt: skip
    Console().print(table)


def main() -> None:
    """Measure the curves, keep them, and write the page."""
    options = argparse.ArgumentParser(prog="python -m bench.growth", description=__doc__)
    options.add_argument("--seconds", type=float, default=600, help="the longest time of a point")
    options.add_argument("--only", nargs="*", choices=WORKS, default=list(WORKS))
    options.add_argument("--point", nargs=3, help=argparse.SUPPRESS)
    options.add_argument("--page", action="store_true", help="write the page from what was kept")
    asked = options.parse_args()
    if asked.point:
        work, contender, size = asked.point
        print(json.dumps(point(work, contender, int(size))))
        return
    kept = json.loads(STORED.read_text("utf-8")) if STORED.exists() else {"curves": {}}
    for work in () if asked.page else asked.only:
        with _folder():
            curves = {who: curve(work, who, asked.seconds) for who in WORKS[work][2]}
        kept = {"machine": machine(), "curves": {**kept["curves"], work: curves}}
        STORED.write_text(f"{json.dumps(kept, indent=1)}\n", encoding="utf-8")
    from .growth_page import write

    write(kept, {name: axis for name, (axis, _, _) in WORKS.items()})
    report(kept)


if __name__ == "__main__":
    main()
