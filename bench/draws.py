"""One draw of many, one draw of few, many draws: `discreet.select` against its peers."""

import os
from functools import partial

import numpy as np

from . import peers
from .kernel import limit
from .race import Contender, Run, Watch, race
from .results import Row, Target, compared
from .work import bits_per_draw

DRAWS = 100_000
FEW_DRAWS = 5
PIECE = 2**13

OURS = "discreet select"
NUMPY = "numpy one-liner (unsafe)"
PASS = "the kernel's pass over the scores alone"
RANDOMNESS = "the system's randomness alone, every word kept"
OPENDP = "OpenDP exponential"
OPENDP_FEW = f"OpenDP, from {FEW_DRAWS} draws"
DIFFPRIVLIB = "diffprivlib Exponential"

KIND_SCORES = (
    "Scores are standard normal, kind to OpenDP: its time grows with their spread, ours does not."
)


def million(watch: Watch) -> Row:
    """Return the row of one draw from a million candidates."""
    scores = _scores(10**6)
    ours = partial(select_of, scores)
    contenders = [
        Contender(OURS, ours),
        Contender(NUMPY, partial(peers.numpy_one_liner, scores)),
        *_pass_alone(scores),
        Contender(OPENDP, partial(peers.opendp_exponential, scores), turns=21),
        Contender(DIFFPRIVLIB, partial(peers.diffprivlib_exponential, scores), turns=3),
    ]
    timings = race(contenders, 61, watch)
    lines = compared(timings, Target(limit(0.07, 0.25), NUMPY), bits_per_draw(ours))
    return Row("1 draw, 10^6 distinct floats", lines, [KIND_SCORES])


def ten(watch: Watch) -> Row:
    """Return the row of one draw from ten candidates."""
    scores = _scores(10)
    ours = partial(select_of, scores)
    contenders = [
        Contender(OURS, ours, calls=200),
        Contender(NUMPY, partial(peers.numpy_one_liner, scores), calls=200),
        Contender(OPENDP, partial(peers.opendp_exponential, scores), calls=200),
        Contender(DIFFPRIVLIB, partial(peers.diffprivlib_exponential, scores), calls=200),
    ]
    timings = race(contenders, 31, watch)
    return Row("1 draw, 10 candidates", compared(timings, Target(0.4, NUMPY), bits_per_draw(ours)))


def again(n: int, watch: Watch) -> Row:
    """Return the row of one draw from n candidates, with the public arguments settled before."""
    scores = _scores(n)
    ours = partial(selector_of, scores)
    calls = max(20, 2000 // n)
    contenders = [
        Contender("discreet selector", ours, calls=calls),
        Contender(NUMPY, partial(peers.numpy_one_liner, scores), calls=calls),
        Contender(OURS, partial(select_of, scores), calls=calls),
    ]
    target = Target(0.2, NUMPY) if n <= 1_000 else None
    lines = compared(race(contenders, 31, watch), target, bits_per_draw(ours))
    return Row(f"1 draw of a selector, {n:,} candidates", lines)


def rows(watch: Watch) -> Row:
    """Return the row of one draw from each of a thousand rows of a thousand candidates."""
    scores = np.random.default_rng(1).standard_normal((1000, 1000))
    ours = partial(_rows, scores)
    contenders = [
        Contender("discreet select_rows", ours),
        Contender("numpy softmax and choice by row (unsafe)", partial(peers.numpy_rows, scores)),
    ]
    lines = compared(race(contenders, 21, watch), Target(1, contenders[1].name))
    return Row("1,000 rows of 1,000 scores", lines)


def many(watch: Watch) -> Row:
    """Return the row of many draws from the same candidates."""
    scores = _scores(40_000)
    ours = partial(select_of, scores, DRAWS)
    contenders = [
        Contender(OURS, ours),
        Contender(NUMPY, partial(peers.numpy_one_liner, scores, DRAWS)),
        Contender(RANDOMNESS, lambda: _keep_words),
        Contender(OPENDP_FEW, partial(_opendp_few, scores), turns=9, share=FEW_DRAWS / DRAWS),
    ]
    timings = race(contenders, 61, watch)
    lines = compared(timings, Target(limit(0.25, 1), NUMPY), bits_per_draw(ours, DRAWS))
    notes = [
        "A word of 64 bits a draw is what ours reads, in threads; the randomness alone is read by one thread.",
        f"OpenDP makes one draw a call; {FEW_DRAWS} are timed and extrapolated to {DRAWS:,}.",
    ]
    return Row("10^5 draws, 40,000 candidates", lines, notes)


def top(watch: Watch) -> Row:
    """Return the row of the hundred best of a million candidates."""
    scores = _scores(10**6)
    contenders = [
        Contender("discreet top_k", partial(top_of, scores)),
        Contender(OURS, partial(select_of, scores)),
    ]
    timings = race(contenders, 61, watch)
    lines = compared(timings, Target(2, OURS), bits_per_draw(partial(top_of, scores)))
    return Row("top 100 of 10^6", lines)


def _scores(n: int) -> peers.Array:
    return np.random.default_rng(n).standard_normal(n)


def select_of(scores: peers.Array, size: int | None = None) -> Run:
    from discreet import select

    return partial(select, scores, sensitivity=1, epsilon=1, size=size)


def _pass_alone(scores: peers.Array) -> list[Contender]:
    """Return the kernel's pass over all scores, which comes before a draw, where there is a kernel."""
    from discreet.sampling.categorical import BLOCK
    from discreet.sampling.kernel import active

    fast = active()
    if fast is None:
        return []
    return [Contender(PASS, lambda: partial(fast.block_sums, scores, BLOCK, 0.5))]


def _keep_words() -> peers.Array:
    """Return a word of the system's randomness for each draw, read in pieces."""
    words = np.empty(DRAWS, dtype=np.uint64)
    for start in range(0, DRAWS, PIECE):
        part = words[start : start + PIECE]
        part[:] = np.frombuffer(os.urandom(8 * len(part)), dtype=np.uint64)
    return words


def selector_of(scores: peers.Array) -> Run:
    from discreet import selector

    return partial(selector(len(scores), sensitivity=1, epsilon=1), scores)


def _rows(scores: peers.Array) -> Run:
    from discreet import select_rows

    return partial(select_rows, scores, sensitivity=1, epsilon=1, disjoint=True)


def top_of(scores: peers.Array) -> Run:
    from discreet import select_top_k

    return partial(select_top_k, scores, k=100, sensitivity=1, epsilon=1)


def _opendp_few(scores: peers.Array) -> Run:
    draw = peers.opendp_exponential(scores)
    return lambda: [draw() for _ in range(FEW_DRAWS)]
