"""The k best of some counts, against the published ways: Gumbel noise once, or rounds of exponential noise."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from .peers import Array
from .race import Contender, Run, Watch, race
from .results import Row, Target, compared
from .work import bits_per_draw

K = 50
GUMBEL = "Gumbel noise once (rounded)"
ROUNDS = "exponential noise in rounds (rounded)"


def peeled(n: int, watch: Watch) -> Row:
    """Return the row of the 50 best of n counts, by the exponential mechanism."""
    counts = _counts(n)
    ours = {
        "discreet top_k": partial(peeled_of, counts),
        "discreet top_k, joint": partial(peeled_of, counts, method="joint"),
    }
    theirs = Contender(GUMBEL, partial(_gumbel, counts))
    return _row(f"top {K} of {n:,}", ours, theirs, 2, watch)


def flipped(n: int, watch: Watch) -> Row:
    """Return the row of the 50 best of n counts, by permute-and-flip."""
    counts = _counts(n)
    ours = {"discreet top_k": partial(peeled_of, counts, mechanism="permute_and_flip")}
    title = f"top {K} of {n:,}, permute-and-flip"
    return _row(title, ours, Contender(ROUNDS, partial(_in_rounds, counts)), 3, watch)


def _row(
    title: str,
    ours: Mapping[str, Callable[[], Run]],
    theirs: Contender,
    limit: float,
    watch: Watch,
) -> Row:
    """Return the row of our ways beside another's, with what we owe to it."""
    contenders = [Contender(mine, prepare) for mine, prepare in ours.items()]
    timings = race([*contenders, theirs], 101, watch)
    first = next(iter(ours.values()))
    return Row(title, compared(timings, Target(limit, theirs.name), bits_per_draw(first)))


def _counts(n: int) -> Array:
    return np.floor(1e5 / np.arange(1, n + 1)).astype(np.int64)


def peeled_of(counts: Array, **terms: Any) -> Run:
    from discreet import select_top_k

    return partial(select_top_k, counts, k=K, sensitivity=1, monotonic=True, epsilon=1, **terms)


def _gumbel(counts: Array) -> Run:
    rng = np.random.RandomState()  # what the published code uses

    def run() -> object:
        noisy = counts * (1 / K) + rng.gumbel(size=len(counts))
        best = np.argpartition(-noisy, K)[:K]
        return best[np.argsort(-noisy[best])]

    return run


def _in_rounds(counts: Array) -> Run:
    rng = np.random.RandomState()  # what the published code uses

    def run() -> object:
        left, found = counts / K, list[int]()
        for _ in range(K):
            found.append(int(np.argmax(left + rng.exponential(size=len(left)))))
            left[found[-1]] = -np.inf
        return found

    return run
