"""How costs grow with the work: `python -m bench.growth [--seconds N] [--only NAME ...]` measures and draws it.

Each point is a process of its own: the processor's time of one call, the least of several, and the most memory
that the process had beyond its imports. A curve ends where a point would take longer than allowed. The exponent is
the slope in logarithms over the last decade or two, where fixed costs no longer hide it.
"""

import argparse
import json
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from .machine import machine
from .race import Run
from .slopes import exponent

STORED = Path(__file__).with_name("growth.json")
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
    from .ledgers import paid_run

    once = paid_run(None)
    for _ in range(size):
        once()
    return once


def _rows_after(size: int) -> Run:
    import sqlite3

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


def _among_datasets(size: int) -> Run:
    """A paid release of an analyst, in a ledger of so many datasets, each with a share."""
    import discreet

    from .ledgers import VOTES

    ledger = discreet.Ledger()
    for number in range(size):
        ledger.open(f"drinks {number}", epsilon=10**6)
        ledger.open(f"drinks {number}", analyst="ann", epsilon=10**5)
    session = ledger.session("drinks 0", "ann")
    return lambda: session.select(VOTES, sensitivity=1, monotonic=True, epsilon=1)


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
        "releases in a ledger, before one more",
        1,
        {"discreet": _release_after, "two rows in bare SQLite": _rows_after},
    ),
    "datasets": (
        "datasets with a share in a ledger, and one release",
        1,
        {"discreet": _among_datasets},
    ),
}
"""Works by name: the horizontal axis in words, where it begins, and the contenders."""


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
    times = list[float]()
    for _ in range(7):
        calls, begin = 0, time.process_time()
        while calls == 0 or time.process_time() - begin < 0.02:
            run()
            calls += 1
        times.append((time.process_time() - begin) / calls)
    return {"size": size, "seconds": min(times), "MiB": max(0.0, peak() - before)}


def curve(work: str, contender: str, limit: float) -> list[dict[str, float]]:
    """Return the points of a contender, up to the size that takes longer than a limit."""
    points, size = list[dict[str, float]](), WORKS[work][1]
    while True:
        command = [sys.executable, "-m", "bench.growth", "--point", work, contender, str(size)]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, check=True, timeout=limit
            )
        except (subprocess.TimeoutExpired, subprocess.CalledProcessError):
            return points
        points.append(json.loads(done.stdout))
        size *= 10


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
        curves = {who: curve(work, who, asked.seconds) for who in WORKS[work][2]}
        kept = {"machine": machine(), "curves": {**kept["curves"], work: curves}}
        STORED.write_text(f"{json.dumps(kept, indent=1)}\n", encoding="utf-8")
    from .growth_page import write

    write(kept, {name: axis for name, (axis, _, _) in WORKS.items()})
    report(kept)


if __name__ == "__main__":
    main()
