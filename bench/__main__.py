"""Measure and print: `python -m bench [--only NAME ...] [--json | --store | --check | --page]`."""

import argparse
import json
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from rich.console import Console

from discreet.sampling.speed import speed

from . import kernel, page, regressions, stored
from .candidates import candidates
from .draws import again, many, million, rows, ten, top
from .files import mode, mode_of_many
from .files import price as file_price
from .grids import median, price, quantiles
from .imports import first_select, imports
from .joint import joint
from .large import FULL, ROWS, Large
from .ledgers import batch, paid, paid_in_memory
from .lists import lists
from .machine import machine
from .medians import flips, incomes
from .noise import noise
from .progress import about, progress
from .race import Watch
from .report import report
from .results import Row
from .top_k import flipped, peeled
from .traces import Trace, traces
from .units import units, units_of_many

WORKS: dict[str, Callable[[Watch], Row]] = {
    "million": million,
    "ten": ten,
    "again": partial(again, 10),
    "again_100": partial(again, 100),
    "again_1000": partial(again, 1_000),
    "again_10000": partial(again, 10_000),
    "rows": rows,
    "many": many,
    "top": top,
    "top_1000": partial(peeled, 1_000),
    "top_10000": partial(peeled, 10_000),
    "top_flips": partial(flipped, 10_000),
    "mode": mode,
    "mode_of_many": mode_of_many,
    "candidates": candidates,
    "median": median,
    "quantiles": quantiles,
    "joint": joint,
    "price": price,
    "lists": lists,
    "noise": noise,
    "incomes": incomes,
    "flips": flips,
    "file_price": file_price,
    "units": units,
    "paid": paid,
    "paid_in_memory": paid_in_memory,
    "batch": batch,
    "imports": imports,
    "first_select": first_select,
    "first_select_compiled": partial(first_select, kept=False),
}
LONG: dict[str, Callable[[Watch], Row]] = {"units_of_many": units_of_many}
"""Works that take minutes, measured only where they are asked for."""

NAMES = (*WORKS, "large_mode", "large_median", "traces")


def main() -> None:
    """Measure what is asked for, and print it, keep it, or compare it with what was kept."""
    asked = _arguments()
    if asked.page:
        page.write(stored.read())
        return
    before, way = stored.read(), "numpy" if speed().kernel is None else "kernel"
    if asked.check:
        known = before[way]["rows"]
        asked.only = [name for name in asked.only or NAMES if name in known]
    rows, all_traces = _measured(asked)
    results = {
        "machine": machine(),
        "rows": {name: row.as_dict() for name, row in rows.items()},
        "traces": [trace.as_dict() for trace in all_traces],
    }
    if asked.json:
        print(json.dumps(results, indent=2, ensure_ascii=False))
    elif asked.check:
        compared = regressions.comparisons(before[way], results)
        sys.exit(not regressions.report(Console(), compared))
    else:
        report(Console(), machine(), list(rows.values()), all_traces)
    if asked.store:
        others = {} if way == "numpy" else {"numpy": kernel.without_kernel(list(rows))}
        stored.write(**{way: results}, **others)


def _measured(asked: argparse.Namespace) -> tuple[dict[str, Row], list[Trace]]:
    """Return the rows that are asked for, by name, and what times show of the data."""
    names, large = asked.only or NAMES, Large(asked.rows, asked.data)
    works = {**WORKS, **LONG, "large_mode": large.mode, "large_median": large.median}
    with progress() as watch:
        rows = {name: work(about(name, watch)) for name, work in works.items() if name in names}
        return rows, traces(about("traces", watch)) if "traces" in names else []


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument(
        "--only",
        nargs="+",
        choices=(*NAMES, *LONG),
        metavar="NAME",
        help=f"what to measure: {', '.join(NAMES)}",
    )
    ways = parser.add_mutually_exclusive_group()
    ways.add_argument("--json", action="store_true", help="print JSON instead of tables")
    ways.add_argument(
        "--store", action="store_true", help="keep the results, with the kernel and without it"
    )
    ways.add_argument(
        "--check", action="store_true", help="fail if a ratio is much worse than the one kept"
    )
    ways.add_argument(
        "--page", action="store_true", help="write what was kept into the documentation"
    )
    parser.add_argument(
        "--rows",
        type=int,
        default=ROWS,
        help=f"rows of the large file: {ROWS:,} if not said otherwise, {FULL:,} for our targets",
    )
    parser.add_argument("--data", type=Path, help="the folder where the large file is kept")
    return parser.parse_args()


if __name__ == "__main__":
    main()
