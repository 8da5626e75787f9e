"""discreet price: what to charge."""

from pathlib import Path
from typing import Annotated

import typer

from ..candidates import Grid
from ..verbs import price as verb
from .options import (
    AsJson,
    Epsilon,
    MechanismName,
    NeighborsName,
    NoiseName,
    Rho,
    Scale,
    Size,
    read_terms,
    show,
)


def price(
    file: Annotated[Path, typer.Argument(help="A CSV or Parquet file.", show_default=False)],
    column: Annotated[str, typer.Option(help="The column of bids.", show_default=False)],
    hi: Annotated[str, typer.Option(help="The highest price.", show_default=False)],
    lo: Annotated[str, typer.Option(help="The lowest price.")] = "0",
    step: Annotated[str, typer.Option(help="The distance of neighbouring prices.")] = "1",
    supply: Annotated[int | None, typer.Option(help="How many units there are to sell.")] = None,
    units: Annotated[int, typer.Option(help="The most units one bidder may want.")] = 1,
    continuous: Annotated[
        bool, typer.Option("--continuous", help="Draw any real price, then round it down.")
    ] = False,
    epsilon: Epsilon = None,
    rho: Rho = None,
    scale: Scale = None,
    mechanism: MechanismName = "exponential",
    noise: NoiseName = None,
    neighbors: NeighborsName = "add_remove",
    size: Size = None,
    as_json: AsJson = False,
) -> None:
    """Release a price that brings in much.

    One row is one bid for one unit.
    """
    terms = read_terms(
        {"epsilon": epsilon, "rho": rho, "scale": scale, "neighbors": neighbors, "size": size},
        mechanism,
        noise,
    )
    answer = verb.price(
        file,
        Grid(lo, hi, step),
        column=column,
        supply=supply,
        units=units,
        continuous=continuous,
        **terms,
    )
    show(answer, as_json=as_json)
