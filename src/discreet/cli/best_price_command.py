"""discreet best-price: a price that maximizes revenue."""

from typing import Annotated, Any

from ..selection.releases import Release
from ..selection.terms import AnswerTerms
from ..tables.verbs.best_price import best_price
from .described import grid_of, is_described, missing_bounds
from .options import ColumnArgument, DataArgument, option, switch
from .releasing import releasing


@releasing(best_price)
def best_price_command(
    data: DataArgument,
    column: ColumnArgument,
    terms: AnswerTerms,
    hi: Annotated[
        str | None, option("NUMBER", "The highest price. Optional if it is described.")
    ] = None,
    lo: Annotated[str | None, option("NUMBER", "The lowest price (0).")] = None,
    step: Annotated[str | None, option("NUMBER", "The distance between prices (1).")] = None,
    supply: Annotated[int | None, option("NUMBER", "The number of units for sale.")] = None,
    units: Annotated[int, option("NUMBER", "The most units that one bidder may want.")] = 1,
    continuous: Annotated[
        bool, switch("--continuous", "Draw any real price, then round it down.")
    ] = False,
) -> Release:
    """Release a price with high revenue.

    Each row is one bid for one unit.

    Example: discreet best-price bids.csv bid --hi 100 --step 0.01 --epsilon 1
    """
    prices: Any = grid_of("0" if lo is None and hi is not None else lo, hi, step)
    if prices is None and not is_described(data):
        raise missing_bounds()
    return best_price(
        data,
        column,
        candidates=prices,
        supply=supply,
        units=units,
        continuous=continuous,
        **terms,
    )
