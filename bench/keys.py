"""Private keys at size: the draw of a million, and keys of a Parquet file larger than one likes in memory.

    python -m bench.keys
    python -m bench.keys shown [PYTHON]
    python -m bench.keys FOLDER [ROWS KEYS]

The first measures draws alone, from classes that are counted. The second works out how many keys are shown of
people who hold several. With an interpreter that has python-dp, it asks the published binary of Google's library
too, in the same run. The third writes a file of 10^8 rows with 10^7 keys, if not said otherwise, and one with a
tenth of both, and asks for keys with their counts, each time in a fresh process. Python's memory holds what leaves
the engine: it should be the same for both.
"""

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product
from math import exp, sqrt
from pathlib import Path
from statistics import NormalDist
from time import process_time

import duckdb
import numpy as np
from numpy.typing import NDArray

from discreet.base.text_tables import TextTable
from discreet.mechanisms.key_rules import best_threshold
from discreet.mechanisms.private_keys import PrivateKeys
from discreet.sampling.bits import SystemBits
from discreet.sampling.gaussian_probabilities import gaussian_probabilities
from discreet.sampling.key_probabilities import (
    ProbabilitiesByCount,
    in_doubles,
    optimal_probabilities,
)

KEYS, ROWS = 10**7, 10**8
DRAWN = 10**6
TURNS = 9
COMMON = 1_000
"""So many keys share half of the rows; of the others each has a few, nearly all of which are never answered."""

_GENERATED = f"""
SELECT '/page/' || CASE WHEN random() < 0.5 THEN floor(random() * {COMMON})
    ELSE {COMMON} + floor(random() * ($keys - {COMMON})) END::BIGINT AS page
FROM range($rows)
"""

_ASKED = """
import re, sys, time, tracemalloc
import discreet
warm = discreet.counts(["a", "b"] * 99, epsilon=1, delta="1e-6")
traced = sys.argv[2] == "traced"
if traced:
    tracemalloc.start()
wall, cpu = time.perf_counter(), time.process_time()
answer = discreet.counts(sys.argv[1], "page", epsilon=1, delta="1e-8").value
print(len(answer), time.perf_counter() - wall, time.process_time() - cpu)
print(tracemalloc.get_traced_memory()[1] if traced else 0)
print(re.search(r"VmHWM:\\s*(\\d+) kB", open("/proc/self/status").read())[1])
"""


PEOPLE, PAGES, DELTA = 20_000, 20_000, Fraction(1, 10**6)
MOST_KEYS = (1, 2, 3, 5, 10, 20, 40, 60)

_BY_GOOGLE = """
import json, sys
from pydp.algorithms import partition_selection
strategies = {
    "geometric": partition_selection.create_truncated_geometric_partition_strategy,
    "gaussian": partition_selection.create_gaussian_partition_strategy,
}
delta, most, *keys = map(float, sys.argv[1:])
print(json.dumps({
    name: [
        [strategy.probability_of_keep(n) for n in range(int(most) + 1)]
        for strategy in [make(1.0, delta, int(k)) for k in keys]
    ]
    for name, make in strategies.items()
}))
"""


def by_google(python: str) -> TextTable:
    """Return the same table by Google's published binary, and of 3,000 people with ten of 240 pages each."""
    held = _held_pages()
    sums = [_sums(held, keys, [1] * keys) for keys in MOST_KEYS]
    most = max(int(one.max()) for one in sums)
    command = [python, "-c", _BY_GOOGLE, f"{float(DELTA)}", f"{most}", *map(str, MOST_KEYS)]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    rows = []
    laws = {name: np.array(chances) for name, chances in json.loads(told).items()}
    for place, keys in enumerate(MOST_KEYS):
        ours, even = (
            PrivateKeys(Fraction(1), DELTA, keys),
            np.full(240, 3000 * min(keys, 10) // 240),
        )
        mine = _expected(ours.probabilities, even * ours.weight_of(10))
        theirs = {name: law[place] for name, law in laws.items()}
        shown_by = [f"{law[sums[place]].sum():.0f}" for law in theirs.values()]
        of_even = [f"{law[even].sum():.1f}" for law in theirs.values()]
        rows.append((f"{keys}", *shown_by, *of_even, f"{mine:.1f}"))
    names = ("max_groups", "geometric", "Gaussian", "240: geometric", "240: Gaussian", "240: keys")
    return TextTable(names, tuple(rows), f"by Google's library, of {PEOPLE:,} and of 3,000 people")


def shown() -> TextTable:
    """Return the table of the keys that are shown on average, of people who hold 13 pages on average."""
    held, rows = _held_pages(), []
    for keys in MOST_KEYS:
        counts = _sums(held, keys, [1] * keys)
        alone = PrivateKeys(Fraction(1), DELTA, keys)
        counted = PrivateKeys(Fraction(1), DELTA, keys, shows_counts=True)
        of_each = _expected(optimal_probabilities(*alone.share), counts)
        without = best_threshold(Fraction(1), DELTA, keys, "add_remove")
        assert without is not None
        one_weight = gaussian_probabilities(without.sigma_squared, without.least)
        numbers = (
            of_each,
            _expected(one_weight, counts),
            _expected(alone.probabilities, _sums(held, keys, alone.weights or [1] * keys)),
            _expected(counted.probabilities, counts),
            _in_halves(keys, counts),
        )
        rows.append((f"{keys}", *(f"{number:.0f}" for number in numbers)))
    names = (
        "max_groups", "optimal rule", "Gaussian, exact", "keys", "counts", "Gaussian, half of δ each"
    )  # fmt: skip
    return TextTable(names, tuple(rows), f"keys shown of {PEOPLE:,} people, ε = 1, δ = 10⁻⁶")


def _sums(held: list[NDArray[np.int64]], keys: int, weights: Sequence[int]) -> NDArray[np.int64]:
    """Return the sums of the weights of people by page, where a person has so many pages at most."""
    few = [some[:keys] for some in held]
    added = np.repeat([weights[len(some) - 1] for some in few], [len(some) for some in few])
    return np.bincount(np.concatenate(few), added, PAGES).astype(np.int64)


def _held_pages() -> list[NDArray[np.int64]]:
    """Return the pages of people in a random order: of about twice as many visits as they have pages."""
    generator = np.random.default_rng(7)
    popularity = (1 / np.arange(1, PAGES + 1)).cumsum()
    held = []
    for _ in range(PEOPLE):
        number = min(1 + generator.geometric(1 / 12), 60)
        visits = popularity.searchsorted(generator.random(2 * number) * popularity[-1])
        pages = np.unique(visits)
        generator.shuffle(pages)
        held.append(pages[:number])
    return held


def _expected(law: ProbabilitiesByCount, counts: NDArray[np.int64]) -> float:
    """Return how many keys are shown on average."""
    chances = in_doubles(law).probabilities
    return float(chances[np.minimum(counts, law.size)].sum())


def _in_halves(keys: int, counts: NDArray[np.int64]) -> float:
    """Return how many a threshold of continuous noise shows, with half of delta for each of noise and threshold."""
    normal, half = NormalDist(), float(DELTA) / 2

    def delta(mu: float) -> float:
        return normal.cdf(mu / 2 - 1 / mu) - exp(1) * normal.cdf(-mu / 2 - 1 / mu)

    low, high = 1e-3, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if delta(middle) <= half else (low, middle)
    sigma = sqrt(keys) / low
    threshold = 1 - sigma * normal.inv_cdf(half / keys)
    there = counts[counts > 0]
    return sum(normal.cdf((int(count) - threshold) / sigma) for count in there)


def classes(mechanism: PrivateKeys) -> Mapping[str, list[int]]:
    """Return the sizes of classes of a million keys: spread over all, uncertain, sure, and of one record each."""
    sure, even = mechanism.sure, mechanism.even * mechanism.weight_of(mechanism.keys)
    alone = [0] * sure
    return {
        "spread over all counts": [DRAWN // sure] * sure,
        "at the count of one half": [DRAWN * (count == even) for count in range(1, sure + 1)],
        "released for sure": [*alone[1:], DRAWN],
        "of one record each": [DRAWN, *alone[1:]],
    }


def draws() -> TextTable:
    """Return the table of draws of a million keys: the least processor time of several turns."""
    rows = []
    for most, has_counts in product((1, 10, 40), (False, True)):
        mechanism = PrivateKeys(Fraction(1), Fraction(1, 10**6), most, shows_counts=has_counts)
        mechanism.compute_tables()
        for name, sizes in classes(mechanism).items():
            law, seconds, released = mechanism.law(sizes, with_counts=has_counts), list[float](), 0
            law.draw(SystemBits())
            for _ in range(TURNS):
                start = process_time()
                released = len(law.draw(SystemBits()).places)
                seconds.append(process_time() - start)
            verb = "counts" if has_counts else "keys"
            rows.append((f"{most}", verb, name, f"{released:,}", f"{1000 * min(seconds):.1f} ms"))
    caption = f"draws of {DRAWN:,} keys, least of {TURNS} turns"
    return TextTable(
        ("max_groups", "verb", "classes", "released", "processor time"), tuple(rows), caption
    )


def write(file: Path, rows: int, keys: int) -> None:
    """Write the file, without a common order."""
    with duckdb.connect() as connection:
        connection.sql("SELECT setseed(0.5)").fetchall()
        connection.sql(_GENERATED, params={"rows": rows, "keys": keys}).write_parquet(str(file))


def asked(folder: Path, rows: int, keys: int) -> TextTable:
    """Return the table of a file with that many rows and keys, and of one with a tenth of them."""
    lines = []
    for part in (1, 10):
        file = folder / f"keys-{rows // part}-{keys // part}.parquet"
        if not file.exists():
            write(file, rows // part, keys // part)
        released, wall, cpu, _, peak = _ask(file, "timed")
        *_, traced, _ = _ask(file, "traced")
        lines.append(
            (
                f"{rows // part:,}", f"{keys // part:,}", released, f"{float(wall):.1f} s", f"{float(cpu):.1f} s",
                f"{int(traced) / 2**20:.1f} MiB", f"{int(peak) // 1024:,} MiB",
            )
        )  # fmt: skip
    names = ("rows", "keys", "released", "time", "processor time", "Python's memory", "all")
    return TextTable(names, tuple(lines), "keys of a Parquet file, with their counts")


def _ask(file: Path, how: str) -> list[str]:
    """Return what a fresh process prints that asks for the keys with their counts."""
    command = [sys.executable, "-W", "ignore", "-c", _ASKED, str(file), how]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()


if __name__ == "__main__":
    _, *where = sys.argv
    if where[:1] == ["shown"]:
        print(shown())
        for interpreter in where[1:]:
            print(by_google(interpreter))
    elif where:
        numbers = [int(number) for number in where[1:]] or [ROWS, KEYS]
        print(asked(Path(where[0]), *numbers))
    else:
        print(draws())
