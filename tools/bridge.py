"""Compares what the library answers with what the search that is proved in Coq answers: `make bridge`.

The search of proofs/Locate.v is extracted to OCaml and compiled. A million words, a quarter of them at most two
from where one candidate ends, are looked up by it in tables of balls, and by each path of the library: in balls, in
numpy, in the kernel, in plain Python and in one call of C. No path may answer a word otherwise than the reference,
nor a word that the reference leaves open; balls must leave open just what it does. Where Coq or OCaml is missing,
the reason is printed, and nothing has failed.
"""

import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from fractions import Fraction
from hashlib import shake_256
from itertools import accumulate
from typing import NamedTuple
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray
from tools import coq

from discreet.sampling import kernel, short_lists
from discreet.sampling.bits import LazyUniform, SystemBits
from discreet.sampling.categorical import VectorWeights, _locate_in_balls
from discreet.sampling.enclosures import DyadicRate, NaturalRate, Rate, lower, precision, upper
from discreet.sampling.vectors import read_vector

WORDS, ONE_BY_ONE = 125_000, 12_500
"""Words of each table, and how many of them the paths look up that take one at a time."""

WIDTH, PRECISION, UNIT = 64, 256, 400
"""Bits of a word, bits of a ball, and the unit of its ends as integers: 2**-UNIT."""

Indices = NDArray[np.int64]


class Table(NamedTuple):
    """Candidates with their scores, the rate of their weights, and the words that are looked up."""

    name: str
    scores: Sequence[float] | Sequence[int]
    rate: Rate
    words: NDArray[np.uint64]

    @property
    def weights(self) -> VectorWeights:
        """The weights, as the library takes them."""
        vector = read_vector(self.scores)
        return VectorWeights(vector, self.rate, vector.best())


def stream(name: str, n: int) -> NDArray[np.uint64]:
    """Return words that are the same in every run."""
    return np.frombuffer(shake_256(name.encode()).digest(8 * n), dtype="<u8").astype(np.uint64)


def ends_of(weights: VectorWeights) -> list[tuple[int, int]]:
    """Return the ends of balls around 0 and the running sums, as integers to one unit, rounded outwards."""
    with precision(PRECISION):
        sums = list(accumulate(weights.balls()))
    unit = 2**UNIT
    low = [lower(ball) * unit // 1 for ball in sums]
    high = [-(-upper(ball) * unit // 1) for ball in sums]
    return [(0, 0), *zip(low, high, strict=True)]


def table(n: int, rate: Rate, scores: Sequence[float] | Sequence[int]) -> Table:
    """Return a table with words, a quarter of them at most two from an end between candidates."""
    name = f"{n} candidates, {'base 2' if isinstance(rate, DyadicRate) else 'rate 3/10'}"
    words = stream(f"words of {name}", WORDS)
    bare = Table(name, scores, rate, words)
    ends = ends_of(bare.weights)
    borders = [Fraction(low, ends[-1][0]) * 2**WIDTH // 1 for low, _ in ends]
    for i in range(WORDS // 4):
        beside = borders[i % len(borders)] + i // len(borders) % 5 - 2
        words[4 * i] = min(max(beside, 0), 2**WIDTH - 1)
    return bare


def tables() -> list[Table]:
    """Return all tables: real scores at a rate of 3/10, and whole scores in base 2, of which many are equal."""
    made = []
    for n in (2, 20, 100, 200):
        real = (stream(f"scores of {n}", n) * 2.0**-64 * 40).tolist()
        whole = (stream(f"whole scores of {n}", n) % np.uint64(30)).astype(np.int64).tolist()
        made += [table(n, NaturalRate(Fraction(3, 10)), real), table(n, DyadicRate(1, 1, 1), whole)]
    return made


def reference(made: list[Table]) -> list[Indices]:
    """Return what the extracted search answers, -1 where it is open."""
    lines = [str(len(made))]
    for one in made:
        ends = ends_of(one.weights)
        lines += [str(len(one.scores)), *(f"{low} {high}" for low, high in ends)]
        lines += [str(WIDTH), str(WORDS), *map(str, one.words.tolist())]
    program = [str(coq.BUILD / "bridge")]
    printed = subprocess.run(
        program, input="\n".join(lines), capture_output=True, text=True, check=True
    )
    return np.split(np.array(printed.stdout.split(), dtype=np.int64), len(made))


def by_arrays(one: Table) -> Indices:
    """Return what the path answers that is in force: numpy or the kernel."""
    sums = one.weights.sums()
    assert sums is not None
    return sums.locate_all(one.words, WIDTH)


def one_by_one(one: Table, settle: Callable[[int], int | None]) -> Indices:
    """Return what is answered to the first words, one at a time."""
    answers = [settle(word) for word in one.words[:ONE_BY_ONE].tolist()]
    return np.array([-1 if answer is None else answer for answer in answers], dtype=np.int64)


def uniform(word: int) -> LazyUniform:
    """Return a uniform of which one word is known."""
    return LazyUniform.of_word(word, SystemBits())


def in_numpy(one: Table) -> Indices:
    """Return what numpy answers, without the kernel."""
    with patch.object(kernel, "active", lambda: None):
        return by_arrays(one)


def in_balls(one: Table) -> Indices:
    """Return what balls answer, before more of the uniform is read."""
    with precision(PRECISION):
        sums = list(accumulate(one.weights.balls()))
        return one_by_one(one, lambda word: _locate_in_balls(sums, uniform(word)))


def in_python(one: Table) -> Indices:
    """Return what plain Python answers."""
    scores = [float(score) for score in one.scores]
    return one_by_one(one, lambda word: short_lists.settle_short(scores, one.rate, uniform(word)))


def in_one_call(one: Table) -> Indices:
    """Return what one call of C answers."""
    fast = kernel.active()
    assert fast is not None
    settle, rate = fast.settle, one.rate.double / kernel.LN2
    assert settle is not None
    scores, slack = [float(score) for score in one.scores], short_lists._slack(1024)

    def answer(word: int) -> int | None:
        index = settle(scores, 0, rate, slack, lambda: word, WIDTH)
        return None if index is None or index < 0 else index

    return one_by_one(one, answer)


def paths() -> dict[str, Callable[[Table], Indices]]:
    """Return the ways in which the library looks up words here."""
    found: dict[str, Callable[[Table], Indices]] = {
        "balls": in_balls,
        "numpy": in_numpy,
        "python": in_python,
    }
    if (fast := kernel.active()) is None:
        print(f"bridge: no kernel: {kernel.load()}")
    else:
        found["kernel"] = by_arrays
        if fast.settle is not None:
            found["one call of C"] = in_one_call
    return found


def missing() -> str | None:
    """Return what is not installed, None if all is there."""
    for program in ("ocamlfind", "ocamlopt"):
        if shutil.which(program) is None:
            return program
    queried = subprocess.run(["ocamlfind", "query", "zarith"], capture_output=True)
    return coq.missing() if queried.returncode == 0 else "OCaml's library zarith"


def build() -> None:
    """Have Coq check and extract the search, and OCaml compile it."""
    coq.compile_theories(coq.place(), "Reference.vo")
    shutil.copy(coq.PROOFS / "bridge.ml", coq.BUILD / "bridge.ml")
    sources = ("reference.mli", "reference.ml", "bridge.ml")
    coq.run("ocamlfind", "ocamlopt", "-package", "zarith", "-linkpkg", *sources, "-o", "bridge")


def differences(answers: Indices, expected: Indices, *, exactly: bool) -> int:
    """Return how many answers are not the reference's; open ones count only if they must agree exactly."""
    return int(((answers != expected) & (exactly | (answers >= 0))).sum())


def main() -> None:
    """Build, compare, and print for each path how many words it answered, left open and answered wrongly."""
    if (reason := missing()) is not None:
        print(
            f"bridge: skipped, {reason} is not installed (Debian: apt-get install {coq.PACKAGES})"
        )
        return
    build()
    begin, made = time.monotonic(), tables()
    expected = reference(made)
    count, still = sum(map(len, expected)), sum(int((some < 0).sum()) for some in expected)
    print(f"bridge: reference: {count:,} words, {still:,} open, {time.monotonic() - begin:.1f} s")
    wrong = 0
    for name, path in paths().items():
        begin, found = time.monotonic(), [path(one) for one in made]
        words, still = sum(map(len, found)), sum(int((some < 0).sum()) for some in found)
        other = sum(
            differences(some, known[: len(some)], exactly=name == "balls")
            for some, known in zip(found, expected, strict=True)
        )
        print(f"bridge: {name}: {words:,} words, {still:,} open,", end=" ")
        print(f"{other:,} answered otherwise, {time.monotonic() - begin:.1f} s")
        wrong += other
    if wrong:
        sys.exit("bridge: the library and the search that is proved disagree")


if __name__ == "__main__":
    main()
