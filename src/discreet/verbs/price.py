"""price: what to charge."""

from functools import partial
from typing import Any, Unpack

from .. import tables
from ..candidates import Grid
from ..numbers import positive
from ..releases import Release
from ..scores.revenue import Revenue
from ..selection import Terms, release, takes_terms


@takes_terms
def price(  # noqa: PLR0913  # what is sold takes two numbers more than other verbs
    bids: Any,
    prices: Grid,
    column: str | None = None,
    *,
    supply: int | None = None,
    units: int = 1,
    continuous: bool = False,
    **terms: Unpack[Terms],
) -> Release:
    """Release a price that brings in much: price * (number of bids at or above it), at most `supply`.

    One bid is one record. It is compared with the prices by itself: one below the lowest price buys
    nothing, one above the highest counts as the highest, and what is missing or NaN is ignored.

    Args:
        bids: numbers in an array, a series or a list; or a table or the path of a file, with `column`.
        prices: what may be charged, none below zero: `Grid(0, "3.5", "0.01")`, as fine as one likes.
        column: the column of the table that holds the bids.
        supply: how many units there are to sell; without it, as many as are wanted.
        units: the most units one bidder may want, one row for each. It costs that many times as much, and
            you must have bounded the rows of a bidder to it.
        continuous: draw any real price from `prices.lo` to `prices.hi`, and release it rounded down to
            the grid. Bids are rounded down to the grid first.
        **terms: epsilon (or rho, or scale), mechanism, neighbors, size: see `Terms`.

    Raises:
        InvalidArgument: if a public argument cannot be accepted; nothing private was looked at.
        UnreadableData: if the bids are no numbers in rows, or the column is not there.

    Side channels: those of the mechanism; time and memory depend on the number of bids and of distinct
    bids, and on the type of the numbers.
    """
    score = Revenue(partial(tables.numbers, bids, column), prices, supply, units, continuous)
    scale = terms.get("scale")
    if scale is not None:
        terms["scale"] = positive(scale, "scale") / score.unit
    kind = "continuous price" if continuous else "price"
    query = f"{kind} for {column or 'bids'}, {prices!r}, supply {supply}, units {units}"
    return release(score, prices, query, terms)
