"""Numbers on huge grids: `discreet.median`, `quantiles` and `price` against sorting the same data."""

from fractions import Fraction
from functools import partial
from typing import Literal

import numpy as np

from . import peers
from .kernel import limit
from .race import Contender, Run, Watch, race
from .results import Row, Target, compared
from .work import bits_per_draw

SORT = "np.sort (not private)"
PARTITION = "np.partition (not private)"


def median(watch: Watch) -> Row:
    """Return the row of a median of 10^7 floats over a grid of 10^12 points."""
    data = np.random.default_rng(7).standard_normal(10**7) * 1e5
    contenders = [
        Contender("discreet median", partial(median_of, data)),
        Contender(PARTITION, partial(_partition, data)),
        Contender(SORT, partial(_sort, data)),
    ]
    timings = race(contenders, 101, watch)
    lines = compared(timings, Target(2, PARTITION), bits_per_draw(partial(median_of, data)))
    return Row("median of 10^7, grid of 10^12", lines)


def price(watch: Watch) -> Row:
    """Return the row of a price over 2^40 grid points and 10^6 bids."""
    bids = np.random.default_rng(8).random(10**6) * 1000
    contenders = [
        Contender("discreet price", partial(price_of, bids)),
        Contender(SORT, partial(_sort, bids)),
    ]
    timings = race(contenders, 21, watch)
    target = Target(limit(1.6, 3.6), SORT)
    lines = compared(timings, target, bits_per_draw(partial(price_of, bids)))
    return Row("price, 10^6 bids, grid of 2^40", lines)


def quantiles(watch: Watch) -> Row:
    """Return the row of 50 quantiles of 586,104 floats over a grid of 10^8 points."""
    data = np.clip(np.random.default_rng(9).normal(40, 12, 586_104), 0, 100)
    contenders = [
        Contender("discreet quantiles, recursive", partial(quantiles_of, data, "recursive")),
        Contender("discreet quantiles, independent", partial(quantiles_of, data, "independent")),
        Contender(SORT, partial(_sort, data)),
    ]
    timings = race(contenders, 21, watch)
    bits = bits_per_draw(partial(quantiles_of, data, "recursive"))
    return Row("50 quantiles of 586,104", compared(timings, Target(1.2, SORT), bits))


def quantiles_of(data: peers.Array, method: Literal["recursive", "independent"]) -> Run:
    from discreet import Grid, quantiles

    alphas, grid = [Fraction(i, 51) for i in range(1, 51)], Grid(0, 100, "0.000001")
    return partial(quantiles, data, alphas=alphas, candidates=grid, epsilon=1, method=method)


def median_of(data: "peers.Array | list[float]") -> Run:
    """Return a median over a grid of 10^12 points."""
    from discreet import Grid, median

    return partial(median, data, candidates=Grid(-(10**6), 10**6, "0.000002"), epsilon=1)


def price_of(bids: peers.Array) -> Run:
    from discreet import Grid, best_price

    grid = Grid(0, Fraction(1000 * (2**40 - 1), 2**40), Fraction(1000, 2**40))
    return partial(best_price, bids, candidates=grid, epsilon=1)


def _sort(data: peers.Array) -> Run:
    return partial(np.sort, data)


def _partition(data: peers.Array) -> Run:
    return partial(np.partition, data, len(data) // 2)
