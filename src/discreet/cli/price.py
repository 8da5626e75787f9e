"""discreet price: a price that maximizes revenue."""

from typing import Annotated

import typer

from ..candidates import Grid
from ..releases import Release
from ..terms import Terms
from ..verbs import price as verb
from .options import ColumnArgument, DataArgument
from .releasing import releasing


@releasing()
def price_command(
    data: DataArgument,
    column: ColumnArgument,
    hi: Annotated[
        str, typer.Option(metavar="NUMBER", help="The highest price.", show_default=False)
    ],
    terms: Terms,
    lo: Annotated[str, typer.Option(metavar="NUMBER", help="The lowest price.")] = "0",
    step: Annotated[
        str, typer.Option(metavar="NUMBER", help="The distance of neighbouring prices.")
    ] = "1",
    supply: Annotated[
        int | None, typer.Option(metavar="NUMBER", help="How many units there are to sell.")
    ] = None,
    units: Annotated[
        int, typer.Option(metavar="NUMBER", help="The most units one bidder may want.")
    ] = 1,
    continuous: Annotated[
        bool, typer.Option("--continuous", help="Draw any real price, then round it down.")
    ] = False,
) -> Release:
    """Release a price with high revenue.

    One row is one bid for one unit.

    Example: discreet price bids.csv bid --hi 100 --step 0.01 --epsilon 1
    """
    return verb.price(
        data,
        column,
        candidates=Grid(lo, hi, step),
        supply=supply,
        units=units,
        continuous=continuous,
        **terms,
    )
