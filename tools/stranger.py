"""Does what a stranger does, and prints what came of it as a Markdown table: `make stranger`, half an hour.

The repository is cloned into an empty folder. Arguments: a folder to keep, and words of the steps to run there.
"""

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ENDS = ("passed", "skipped", "failed", "error")
Step = Callable[[Path], tuple[int, int, int]]  # how many there were, passed, and were skipped


def commands(*lines: str) -> Step:
    """Return the step that runs commands one after another, and counts those that succeed."""
    return lambda clone: (len(lines), sum(run(clone, line)[0] == 0 for line in lines), 0)


def tests(arguments: str) -> Step:
    """Return the step that runs tests, and reads from pytest's last line how they ended."""

    def step(clone: Path) -> tuple[int, int, int]:
        last = run(clone, f".venv/bin/pytest -q -n 0 {arguments}")[1].rpartition("\n")[2]
        passed, skipped, *others = (int(*re.findall(rf"(\d+) {end}", last) or "0") for end in ENDS)
        return passed + skipped + sum(others), passed, skipped

    return step


def searches(clone: Path) -> tuple[int, int, int]:
    """Build the site, search it for every phrase, and count those that find the right page first."""
    marks = re.findall(r"^(right|WRONG)  ", run(clone, "make search-check")[1], re.M)
    return len(marks), marks.count("right"), 0


STEPS: dict[str, Step] = {
    "commands to install, and for a first answer": commands(
        f"{sys.executable} -m venv plain && plain/bin/pip install -q .",
        "plain/bin/discreet median examples/people.csv age --lo 0 --hi 120 --epsilon 1",
        "make -s .venv/test-ready",
    ),
    "pages, pasted block by block": tests("tests/test_docs_run.py -k runs_as_it_is_pasted"),
    "common mistakes": tests("tests/test_common_mistakes.py -k refused_or_warned"),
    "phrases typed into the search": searches,
    "kinds of pictures, on five datasets": tests("tests/test_pictures.py -k looked_at"),
    "what editors show and complete": tests("tests/test_stub.py -m 'proof or not proof'"),
}


def run(clone: Path, line: str) -> tuple[int, str]:
    """Run a command in the clone, and repeat on standard error what it says; return exit code and output."""
    done = subprocess.run(line, shell=True, cwd=clone, stdout=subprocess.PIPE, text=True)
    print(f"$ {line}\n{done.stdout[-3000:]}", file=sys.stderr, flush=True)
    return done.returncode, done.stdout.rstrip()


def main(folder: Path, words: list[str]) -> int:
    """Clone, run the steps whose names have one of the words, and print the table; fail if one did not pass."""
    if not (folder / ".git").exists():
        here = Path(__file__).parents[1]
        subprocess.run(["git", "clone", "--quiet", "--no-local", here, folder], check=True)
    os.environ["PATH"] = f"{folder / '.venv/bin'}{os.pathsep}{os.environ['PATH']}"
    print("| what | how many | passed | skipped | seconds |\n|---|--:|--:|--:|--:|")
    right = True
    for name in [name for name in STEPS if not words or any(word in name for word in words)]:
        start = time.monotonic()
        total, passed, skipped = STEPS[name](folder)
        right &= 0 < total == passed + skipped
        print(f"| {name} | {total} | {passed} | {skipped} | {time.monotonic() - start:.0f} |")
    return not right


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="discreet-") as empty:
        sys.exit(main(Path(*sys.argv[1:2] or [empty]).resolve(), sys.argv[2:]))
