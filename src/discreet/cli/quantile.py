"""discreet median, quantile, quantiles: quantiles of a column of numbers."""

from pathlib import Path
from typing import Annotated

import typer

from ..candidates import Grid
from ..releases import Release
from ..terms import Terms
from ..verbs import quantile as verb
from ..verbs import quantiles as many
from .releasing import releasing

FileArgument = Annotated[Path, typer.Argument(help="A CSV or Parquet file.", show_default=False)]
ColumnOption = Annotated[str, typer.Option(help="A column of numbers.", show_default=False)]
LowestOption = Annotated[
    str, typer.Option(metavar="NUMBER", help="The least answer.", show_default=False)
]
HighestOption = Annotated[
    str, typer.Option(metavar="NUMBER", help="The largest answer.", show_default=False)
]
StepOption = Annotated[str, typer.Option(metavar="NUMBER", help="The distance between answers.")]


@releasing("noise")
def quantile_command(
    file: FileArgument,
    column: ColumnOption,
    alpha: Annotated[
        str,
        typer.Option(
            metavar="NUMBER", help="Between 0 (minimum) and 1 (maximum).", show_default=False
        ),
    ],
    lo: LowestOption,
    hi: HighestOption,
    terms: Terms,
    step: StepOption = "1",
) -> Release:
    """Release the quantile of a column at alpha.

    The candidates are lo, lo + step, ... up to hi; there may be very many.

    Example: discreet quantile people.csv --column age --alpha 0.9 --lo 0 --hi 120 --epsilon 1
    """
    return verb.quantile(file, alpha, Grid(lo, hi, step), column, **terms)


@releasing("noise")
def median_command(
    file: FileArgument,
    column: ColumnOption,
    lo: LowestOption,
    hi: HighestOption,
    terms: Terms,
    step: StepOption = "1",
) -> Release:
    """Release a median: the quantile for alpha = 1/2.

    Example: discreet median people.csv --column age --lo 0 --hi 120 --step 0.1 --epsilon 1
    """
    return verb.median(file, Grid(lo, hi, step), column, **terms)


@releasing("noise", "mechanism", "rho", "scale", "size")
def quantiles_command(
    file: FileArgument,
    column: ColumnOption,
    alphas: Annotated[
        str, typer.Option(metavar="A,B,C", help="Rising, between 0 and 1.", show_default=False)
    ],
    lo: LowestOption,
    hi: HighestOption,
    terms: Terms,
    step: StepOption = "1",
) -> Release:
    """Release several quantiles at once, at less cost than one by one.

    Example: discreet quantiles people.csv --column age --alphas 0.25,0.5,0.75 --lo 0 --hi 120 --epsilon 1
    """
    wanted = [alpha.strip() for alpha in alphas.split(",")]
    return many.quantiles(file, wanted, Grid(lo, hi, step), column, **terms)
