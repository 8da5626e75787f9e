"""discreet price: a price that maximizes revenue."""

from pathlib import Path
from typing import Annotated

import typer

from ..candidates import Grid
from ..releases import Release
from ..terms import Terms
from ..verbs import price as verb
from .releasing import releasing


@releasing()
def price_command(
    file: Annotated[Path, typer.Argument(help="A CSV or Parquet file.", show_default=False)],
    column: Annotated[str, typer.Option(help="The column of bids.", show_default=False)],
    hi: Annotated[
        str, typer.Option(metavar="NUMBER", help="The highest price_command.", show_default=False)
    ],
    terms: Terms,
    lo: Annotated[str, typer.Option(metavar="NUMBER", help="The lowest price_command.")] = "0",
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
        bool, typer.Option("--continuous", help="Draw any real price_command, then round it down.")
    ] = False,
) -> Release:
    """Release a price with high revenue.

    One row is one bid for one unit.

    Example: discreet price bids.csv --column bid --hi 100 --step 0.01 --epsilon 1
    """
    prices = Grid(lo, hi, step)
    return verb.price(
        file, prices, column, supply=supply, units=units, continuous=continuous, **terms
    )
