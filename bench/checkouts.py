"""How long a work takes in two checkouts: `python -m bench.checkouts WORK[=FOLDER] WORK[=FOLDER] [--turns N]`.

    git worktree add ../before 3d1894d8
    python -m bench.checkouts paid_in_memory unpaid=../before

Each has a process of its own, and both are timed in turns, so that what slows the machine slows both. Of a folder
the package in `src` is taken; the work is the one that is written here, for both.
"""

import argparse
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from tempfile import mkdtemp

from rich.console import Console

from .ledgers import batch_run, paid_run, unpaid_run
from .machine import machine
from .progress import progress
from .race import Run, Timing, Watch, clock
from .report import report
from .results import Row, compared

HERE = Path(__file__).resolve().parents[1]


def _in_file(run: Callable[[str], Run]) -> Run:
    return run(str(Path(mkdtemp(prefix="discreet-bench-"), "budget.db")))


WORKS: dict[str, Callable[[], Run]] = {
    "unpaid": unpaid_run,
    "paid_in_memory": partial(paid_run, None),
    "paid": partial(_in_file, paid_run),
    "batch": partial(_in_file, batch_run),
}


def timings(
    works: Sequence[tuple[str, Path]], turns: int, calls: int, watch: Watch
) -> dict[str, Timing]:
    """Return how long the works took, by work and folder.

    Args:
        works: the name of each work and the checkout that does it.
        turns: the number of timings of each.
        calls: the number of calls that make one timing.
        watch: told what is timed.
    """
    all_timings = {f"{name}, {folder}": Timing() for name, folder in works}
    with ExitStack() as stack:
        workers = [stack.enter_context(_worker(name, folder, calls)) for name, folder in works]
        pairs = list(zip(all_timings.items(), workers, strict=True))
        for turn in range(turns):
            for (name, timing), worker in pairs if turn % 2 else reversed(pairs):
                watch(f"{name}, {turn + 1} of {turns}")
                seconds, processor = worker()
                timing.seconds.append(seconds)
                timing.processor.append(processor)
    return all_timings


@contextmanager
def _worker(name: str, folder: Path, calls: int) -> Iterator[Callable[[], tuple[float, float]]]:
    """Give a function that times calls in a process with the package of a checkout."""
    path = os.pathsep.join([str(HERE), str(folder / "src")])
    command = [sys.executable, "-m", "bench.checkouts", "--serve", name, "--calls", str(calls)]
    environment = {**os.environ, "PYTHONPATH": path}
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        requests, replies = process.stdin, process.stdout
        assert requests is not None
        assert replies is not None

        def measure() -> tuple[float, float]:
            print(file=requests, flush=True)
            seconds, processor = replies.readline().split() or sys.exit(
                f"{name} of {folder} failed"
            )
            return float(seconds), float(processor)

        measure()  # imports, and what is settled once
        yield measure
        requests.close()


def _serve(name: str, calls: int) -> None:
    """Time calls whenever a line is read."""
    run = WORKS[name]()
    for _ in sys.stdin:
        print(*clock(run, calls), flush=True)


def _work(text: str) -> tuple[str, Path]:
    name, _, folder = text.partition("=")
    if name not in WORKS:
        raise argparse.ArgumentTypeError(f"no work {name!r}. There are {', '.join(WORKS)}")
    place = Path(folder).resolve() if folder else HERE
    if not (place / "src" / "discreet").is_dir():
        raise argparse.ArgumentTypeError(f"{folder} is no checkout: it has no src/discreet")
    return name, place


def main() -> None:
    """Time two works, and print the ratio of the first to the second."""
    options = argparse.ArgumentParser(prog="python -m bench.checkouts", description=__doc__)
    options.add_argument("works", nargs="*", type=_work, metavar="WORK[=FOLDER]")
    options.add_argument("--turns", type=int, default=61, help="timings of each")
    options.add_argument("--calls", type=int, default=50, help="calls that make one timing")
    options.add_argument("--serve", choices=WORKS, help=argparse.SUPPRESS)
    asked = options.parse_args()
    if asked.serve:
        _serve(asked.serve, asked.calls)
        return
    if len(set(asked.works)) != 2:
        options.error("give two works, or one work of two folders")
    with progress() as watch:
        measured = timings(asked.works, asked.turns, asked.calls, watch)
    row = Row(f"{asked.works[0][0]} by {asked.works[1][0]}", compared(measured, None))
    report(Console(), machine(), [row], [])


if __name__ == "__main__":
    main()
