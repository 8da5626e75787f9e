"""The command: make the calls, sum up, show how to make each finding again."""

import argparse
import sys
import time
import traceback
from collections import Counter, defaultdict
from functools import partial

from . import calls, workers
from .workers import BYTES, SECONDS, Done


def main() -> int:
    """Run the fuzz and return how many kinds of findings there are."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--calls", type=int, default=20_000)
    parser.add_argument("--only", help="only what has this in its name")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument(
        "--again", type=int, metavar="NUMBER", help="make one call here, with its traceback"
    )
    given = parser.parse_args()
    case_of = partial(calls.case_of, given.seed, only=given.only)
    if given.again is not None:
        return _again(case_of(given.again))
    start, found = time.monotonic(), list[Done]()
    for done in workers.run(list(range(given.calls)), case_of, given.workers):
        found.append(done)
        if len(found) % 1000 == 0:
            print(
                f"{len(found):,} calls, {time.monotonic() - start:.0f} s",
                file=sys.stderr,
                flush=True,
            )
    return _summary(found, given.seed, given.only)


def _again(case: calls.Case) -> int:
    print(case)
    try:
        print(repr(calls.make(case))[:2000])
    except Exception:
        traceback.print_exc()
    done = workers.make(0, case)
    print(f"{done.verdict.problem or 'clean'}; {done.seconds:.2f} s, {done.bytes / 1e6:.0f} MB")
    return int(bool(done.verdict.problem))


def problem_of(done: Done) -> str:
    """Return what is wrong with a call, or nothing."""
    if done.seconds > SECONDS:
        return done.verdict.problem or f"{done.seconds:.1f} s"
    if done.bytes > BYTES:
        return done.verdict.problem or f"{done.bytes / 1e6:.0f} MB"
    return done.verdict.problem


def _summary(found: list[Done], seed: int, only: str | None) -> int:
    """Print figures and findings; those alike once."""
    for outcome, n in Counter(done.verdict.outcome for done in found).most_common():
        print(f"{n:8,}  {outcome}")
    slowest, largest = max(found, key=lambda d: d.seconds), max(found, key=lambda d: d.bytes)
    print(
        f"slowest {slowest.seconds:.1f} s ({slowest.case}), largest {largest.bytes / 1e6:.0f} MB ({largest.case})"
    )
    alike = defaultdict[str, list[Done]](list)
    for done in sorted(found, key=lambda d: d.index):
        if problem := problem_of(done):
            alike[f"{problem[:70]} at {done.verdict.where or done.case.name}"].append(done)
    several = "" if only is None else f" --only {only}"
    for key, ones in sorted(alike.items(), key=lambda item: -len(item[1])):
        print(f"\n{len(ones)} x {key}\n    {ones[0].case}")
        print(f"    python -m tests.fuzz --seed {seed}{several} --again {ones[0].index}")
    print(f"\n{len(found):,} calls, {sum(map(len, alike.values()))} findings of {len(alike)} kinds")
    return int(bool(alike))


if __name__ == "__main__":
    sys.exit(main())
