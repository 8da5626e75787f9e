"""One median: of a thousand incomes against other libraries, and by permute-and-flip on a large grid."""

from functools import partial

import numpy as np

from . import peers
from .race import Contender, Run, Watch, race
from .results import Row, Target, compared
from .work import bits_per_draw

HIGHEST, STEP = 500_000, 100
EXPONENTIAL = "discreet, exponential mechanism"
OPENDP = "OpenDP private quantile"


def incomes(watch: Watch) -> Row:
    """Return the row of a median of 1,000 incomes among 5,001 candidates."""
    data = np.random.default_rng(12).lognormal(10.5, 0.8, 1000)
    ours = partial(_median, data, STEP, "permute_and_flip")
    contenders = [
        Contender("discreet, permute-and-flip", ours, calls=5),
        Contender(OPENDP, partial(peers.opendp_median, data, HIGHEST, STEP), calls=5),
        Contender("diffprivlib median", partial(peers.diffprivlib_median, data, HIGHEST), calls=5),
        Contender(EXPONENTIAL, partial(_median, data, STEP, "exponential"), calls=5),
    ]
    lines = compared(race(contenders, 31, watch), Target(1, OPENDP), bits_per_draw(ours))
    return Row("median of 1,000 incomes, 5,001 candidates", lines)


def flips(watch: Watch) -> Row:
    """Return the row of permute-and-flip on a grid of 5 x 10^7 points."""
    data = np.random.default_rng(13).lognormal(10.5, 0.8, 10**6)
    ours = partial(_median, data, "0.01", "permute_and_flip")
    contenders = [
        Contender("discreet, permute-and-flip", ours),
        Contender(EXPONENTIAL, partial(_median, data, "0.01", "exponential")),
    ]
    lines = compared(race(contenders, 21, watch), Target(2, EXPONENTIAL), bits_per_draw(ours))
    return Row("median of 10^6, 5 x 10^7 points", lines)


def _median(data: peers.Array, step: int | str, mechanism: str) -> Run:
    import discreet

    grid = discreet.Grid(0, HIGHEST, step)
    return partial(discreet.median, data, candidates=grid, epsilon=1, mechanism=mechanism)
