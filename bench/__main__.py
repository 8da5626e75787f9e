"""Measure and print: `python -m bench [--only NAME ...] [--json] [--rows N] [--data FOLDER]`."""

import argparse
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

from rich.console import Console

from .candidates import candidates
from .draws import again, many, million, rows, ten, top
from .files import mode
from .files import price as file_price
from .gaps import gaps
from .grids import median, price, quantiles
from .imports import imports
from .joint import joint
from .large import FULL, ROWS, Large
from .ledgers import paid
from .machine import machine
from .progress import about, progress
from .race import Watch
from .report import report
from .results import Row
from .top_k import flipped, peeled

WORKS: dict[str, Callable[[Watch], Row]] = {
    "million": million,
    "ten": ten,
    "again": partial(again, 10),
    "again_100": partial(again, 100),
    "again_10000": partial(again, 10_000),
    "rows": rows,
    "many": many,
    "top": top,
    "top_1000": partial(peeled, 1_000),
    "top_10000": partial(peeled, 10_000),
    "top_flips": partial(flipped, 10_000),
    "mode": mode,
    "candidates": candidates,
    "median": median,
    "quantiles": quantiles,
    "joint": joint,
    "price": price,
    "file_price": file_price,
    "paid": paid,
    "imports": imports,
}
NAMES = (*WORKS, "large_mode", "large_median", "gaps")


def main() -> None:
    """Measure what is asked for and print it."""
    asked = _arguments()
    names, large = asked.only or NAMES, Large(asked.rows, asked.data)
    works = {**WORKS, "large_mode": large.mode, "large_median": large.median}
    with progress() as watch:
        rows = [work(about(name, watch)) for name, work in works.items() if name in names]
        traces = gaps(about("gaps", watch)) if "gaps" in names else []
    if not asked.json:
        report(Console(), machine(), rows, traces)
        return
    results = {
        "machine": machine(),
        "rows": [row.as_dict() for row in rows],
        "gaps": [trace.as_dict() for trace in traces],
    }
    print(json.dumps(results, indent=2, ensure_ascii=False))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument(
        "--only",
        nargs="+",
        choices=NAMES,
        metavar="NAME",
        help=f"what to measure: {', '.join(NAMES)}",
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
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
