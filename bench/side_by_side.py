"""The same questions put to several libraries on the same data: keys and counts, a top twenty, a median, a mean.

    python -m bench.side_by_side --python pipeline_dp=/path/to/python --python tumult=/path/to/python

Every library runs in an interpreter of its own, this one where no other is named, as their requirements differ.
One that does not import is left out and named. Times are those of a call, without imports and the start of Spark.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from .machine import machine
from .side_by_side_data import TASKS, Task, write_data

PEERS = ("discreet", "opendp", "pipeline_dp", "google", "tumult", "diffprivlib")
REPEATS = {"tumult": 2, "pipeline_dp": 5}
MOST_SECONDS = 900


def main() -> None:
    """Ask all libraries and print a table for each question."""
    options = _options()
    interpreters = dict(pair.split("=", 1) for pair in options.python)
    with tempfile.TemporaryDirectory() as folder:
        write_data(Path(folder))
        answers = {
            peer: run_peer(peer, interpreters.get(peer, sys.executable), folder, options.repeats)
            for peer in options.peers
        }
        report = {"machine": machine()["processor"], "load": os.getloadavg()[0], "peers": answers}
        for task in TASKS:
            report[task.name] = {
                peer: summary(task, Path(folder), one[task.name])
                for peer, one in answers.items()
                if task.name in one
            }
    for one in answers.values():
        for task in TASKS:
            one.pop(task.name, None)
    if options.output:
        Path(options.output).write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    print("\n".join(lines_of(report)))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", action="append", default=[], metavar="NAME=PATH")
    parser.add_argument("--peers", nargs="*", default=PEERS)
    parser.add_argument("--repeats", type=int, default=60)
    parser.add_argument("--output", metavar="FILE")
    return parser.parse_args()


def run_peer(peer: str, python: str, folder: str, repeats: int) -> dict[str, Any]:
    """Return the answers of a library to all questions that it has, and its version; or why it has none."""
    times = min(repeats, REPEATS.get(peer, repeats))
    script = Path(__file__).with_name("side_by_side_peers.py")
    command = [python, str(script), peer, folder, str(times)]
    environment = {**os.environ, "PYSPARK_PYTHON": python, "PYSPARK_DRIVER_PYTHON": python}
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=MOST_SECONDS,
            env=environment,
            cwd=folder,  # Spark leaves its tables there
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return {"missing": type(error).__name__}
    lines = done.stdout.strip().splitlines()
    if done.returncode or not lines:
        return {"missing": (done.stderr.strip().splitlines() or ["no answer"])[-1][:300]}
    answers: dict[str, Any] = json.loads(lines[-1])
    return answers


def summary(task: Task, folder: Path, runs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the errors of all runs of a library, and the median of their times."""
    errors = [task.errors(folder, answer) for answer in runs["answers"]]
    means = {name: statistics.fmean(error[name] for error in errors) for name in errors[0]}
    return {**means, "milliseconds": 1000 * statistics.median(runs["seconds"]), "runs": len(errors)}


def lines_of(report: Mapping[str, Any]) -> Iterable[str]:
    """Yield the report as tables of Markdown."""
    yield f"{report['machine']}, load {report['load']:.1f}"
    for peer, about in report["peers"].items():
        yield f"{peer}: {about.get('version') or about.get('missing')}"
    for task in TASKS:
        rows = report[task.name]
        columns = list(dict.fromkeys(name for row in rows.values() for name in row))
        yield f"\n## {task.title}\n"
        yield f"| | {' | '.join(columns)} |"
        yield f"|---|{'---|' * len(columns)}"
        for peer, row in rows.items():
            yield f"| {peer} | {' | '.join(f'{row[name]:.4g}' for name in columns)} |"


if __name__ == "__main__":
    main()
