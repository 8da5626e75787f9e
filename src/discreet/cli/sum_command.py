"""discreet sum, mean: of numbers between two bounds."""

from typing import Annotated

import typer

from ..selection.releases import Release
from ..selection.terms import RecordTerms
from ..tables.verbs import sum as verb
from .options import ColumnArgument, DataArgument
from .releasing import releasing

_Minimum = Annotated[
    str | None,
    typer.Option(
        metavar="NUMBER",
        help="Smaller numbers count as this one: public, not taken from the data. Not needed where it is "
        "described.",
    ),
]
_Maximum = Annotated[
    str | None, typer.Option(metavar="NUMBER", help="Larger numbers count as this one, likewise.")
]
_Rounding = Annotated[
    str | None,
    typer.Option(
        metavar="NUMBER",
        help="Numbers are rounded to multiples of it; 100,000 or more between the bounds if not said otherwise.",
    ),
]


_BoundsShare = Annotated[
    str | None,
    typer.Option(
        metavar="NUMBER",
        help="Where no bounds are known: the part of epsilon that buys them first, such as 0.1.",
    ),
]


@releasing(verb.sum)
def sum_command(
    data: DataArgument,
    column: ColumnArgument,
    terms: RecordTerms,
    minimum: _Minimum = None,
    maximum: _Maximum = None,
    step: _Rounding = None,
    bounds_share: _BoundsShare = None,
) -> Release:
    """Release the sum of the numbers of a column.

    Example: discreet sum people.csv age --minimum 0 --maximum 120 --step 1 --epsilon 1
    """
    return verb.sum(
        data,
        column,
        minimum=minimum,
        maximum=maximum,
        step=step,
        bounds_share=bounds_share,
        **terms,
    )


@releasing(verb.mean)
def mean_command(
    data: DataArgument,
    column: ColumnArgument,
    terms: RecordTerms,
    minimum: _Minimum = None,
    maximum: _Maximum = None,
    step: _Rounding = None,
    bounds_share: _BoundsShare = None,
) -> Release:
    """Release the mean of the numbers of a column.

    Half of epsilon is spent on each. If the noisy count is 0, there is no mean.

    Example: discreet mean people.csv age --minimum 0 --maximum 120 --epsilon 1
    """
    return verb.mean(
        data,
        column,
        minimum=minimum,
        maximum=maximum,
        step=step,
        bounds_share=bounds_share,
        **terms,
    )
