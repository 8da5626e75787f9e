"""discreet sum, mean, variance, standard-deviation: of numbers between two bounds."""

from typing import Annotated

from ..selection.releases import Release
from ..selection.terms import RecordTerms
from ..tables.verbs import sum as verb
from ..tables.verbs import variance as spread
from .options import ColumnArgument, DataArgument, option
from .releasing import releasing

_Minimum = Annotated[
    str | None,
    option(
        "NUMBER",
        "The least number. Smaller ones count as this. It must be public, not taken from the "
        "data. Optional if it is described.",
    ),
]
_Maximum = Annotated[
    str | None,
    option("NUMBER", "The largest number. Larger ones count as this. It must be public too."),
]
_Rounding = Annotated[
    str | None,
    option(
        "NUMBER",
        "Round numbers to multiples of it. By default 100,000 or more lie between the bounds.",
    ),
]


_MaxSum = Annotated[
    str | None,
    option(
        "NUMBER",
        "The largest total of one person. All rows of a person are added, and a larger total counts as this. "
        "Needs --privacy-unit.",
    ),
]
_MinSum = Annotated[
    str | None,
    option("NUMBER", "The least total of one person, 0 by default. A smaller one counts as this."),
]
_BoundsShare = Annotated[
    str | None,
    option(
        "NUMBER",
        "If you don't know bounds: the part of epsilon to spend on them first, such as 0.1.",
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
    max_sum: _MaxSum = None,
    min_sum: _MinSum = None,
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
        max_sum=max_sum,
        min_sum=min_sum,
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

    Half of epsilon goes to the sum, and half to the count. If the noisy count is 0, there is no mean.

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


@releasing(spread.variance)
def variance_command(
    data: DataArgument,
    column: ColumnArgument,
    terms: RecordTerms,
    minimum: _Minimum = None,
    maximum: _Maximum = None,
    step: _Rounding = None,
) -> Release:
    """Release the variance of the numbers of a column.

    The count, the sum and the sum of squares get a third of epsilon each. You need many records. A dry run
    shows how many.

    Example: discreet variance people.csv age --minimum 0 --maximum 120 --epsilon 1
    """
    return spread.variance(data, column, minimum=minimum, maximum=maximum, step=step, **terms)


@releasing(spread.standard_deviation)
def standard_deviation_command(
    data: DataArgument,
    column: ColumnArgument,
    terms: RecordTerms,
    minimum: _Minimum = None,
    maximum: _Maximum = None,
    step: _Rounding = None,
) -> Release:
    """Release the standard deviation of a column.

    It costs the same as the variance, and needs the same number of records. A dry run shows how many.

    Example: discreet standard-deviation people.csv age --minimum 0 --maximum 120 --epsilon 1
    """
    return spread.standard_deviation(
        data, column, minimum=minimum, maximum=maximum, step=step, **terms
    )
