"""One draw of many, one draw of few, many draws: `discreet.select` against its peers."""

from functools import partial

import numpy as np

from . import peers
from .race import Contender, Run, Watch, race
from .results import Row, Target, compared
from .work import bits_per_draw

DRAWS = 100_000
FEW_DRAWS = 5

OURS = "discreet select"
NUMPY = "numpy one-liner (unsafe)"
OPENDP = "OpenDP exponential"
OPENDP_FEW = f"OpenDP, from {FEW_DRAWS} draws"
DIFFPRIVLIB = "diffprivlib Exponential"

KIND_SCORES = (
    "Scores are standard normal, kind to OpenDP: its time grows with their spread, ours does not."
)


def million(watch: Watch) -> Row:
    """Return the row of one draw from a million candidates."""
    scores = _scores(10**6)
    ours = partial(_ours, scores)
    contenders = [
        Contender(OURS, ours),
        Contender(NUMPY, partial(peers.numpy_one_liner, scores)),
        Contender(OPENDP, partial(peers.opendp_exponential, scores)),
        Contender(DIFFPRIVLIB, partial(peers.diffprivlib_exponential, scores), turns=3),
    ]
    timings = race(contenders, 21, watch)
    lines = compared(timings, Target(0.25, NUMPY), bits_per_draw(ours))
    return Row("1 draw, 10^6 distinct floats", lines, [KIND_SCORES])


def ten(watch: Watch) -> Row:
    """Return the row of one draw from ten candidates."""
    scores = _scores(10)
    ours = partial(_ours, scores)
    contenders = [
        Contender(OURS, ours, calls=200),
        Contender(NUMPY, partial(peers.numpy_one_liner, scores), calls=200),
        Contender(OPENDP, partial(peers.opendp_exponential, scores), calls=200),
        Contender(DIFFPRIVLIB, partial(peers.diffprivlib_exponential, scores), calls=200),
    ]
    timings = race(contenders, 31, watch)
    return Row("1 draw, 10 candidates", compared(timings, Target(60e-6), bits_per_draw(ours)))


def many(watch: Watch) -> Row:
    """Return the row of many draws from the same candidates."""
    scores = _scores(40_000)
    ours = partial(_ours, scores, DRAWS)
    contenders = [
        Contender(OURS, ours),
        Contender(NUMPY, partial(peers.numpy_one_liner, scores, DRAWS)),
        Contender(OPENDP_FEW, partial(_opendp_few, scores), turns=9, share=FEW_DRAWS / DRAWS),
    ]
    timings = race(contenders, 21, watch)
    lines = compared(timings, Target(1, NUMPY), bits_per_draw(ours, DRAWS))
    note = f"OpenDP makes one draw a call; {FEW_DRAWS} are timed and extrapolated to {DRAWS:,}."
    return Row("10^5 draws, 40,000 candidates", lines, [note])


def top(watch: Watch) -> Row:
    """Return the row of the hundred best of a million candidates."""
    scores = _scores(10**6)
    contenders = [
        Contender("discreet top_k", partial(_top, scores)),
        Contender(OURS, partial(_ours, scores)),
    ]
    timings = race(contenders, 21, watch)
    lines = compared(timings, Target(5, OURS), bits_per_draw(partial(_top, scores)))
    return Row("top 100 of 10^6", lines)


def _scores(n: int) -> peers.Array:
    return np.random.default_rng(n).standard_normal(n)


def _ours(scores: peers.Array, size: int | None = None) -> Run:
    from discreet import select

    return partial(select, scores, sensitivity=1, epsilon=1, size=size)


def _top(scores: peers.Array) -> Run:
    from discreet import top_k

    return partial(top_k, scores, k=100, sensitivity=1, epsilon=1)


def _opendp_few(scores: peers.Array) -> Run:
    draw = peers.opendp_exponential(scores)
    return lambda: [draw() for _ in range(FEW_DRAWS)]
