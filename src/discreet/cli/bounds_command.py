"""discreet bounds: between which two numbers nearly all rows of a column are."""

from typing import Annotated

from ..selection.decimals import Decimals
from ..selection.releases import Release
from ..selection.terms import AnswerTerms
from ..tables.verbs.bounds import bounds
from .options import ColumnArgument, DataArgument, option
from .releasing import releasing


@releasing(bounds)
def bounds_command(
    data: DataArgument,
    column: ColumnArgument,
    terms: AnswerTerms,
    q: Annotated[
        str, option("NUMBER", "The share of rows that each end leaves inside.", "--q")
    ] = "0.99",
    digits: Annotated[
        int | None,
        option(
            "NUMBER",
            "The number of digits of each end. By default ends are 1, 2 and 5 times powers of ten.",
        ),
    ] = None,
) -> Release:
    """Release two numbers that nearly all rows lie between.

    You don't need bounds to start with. Use the answer as the bounds of a mean or a grid.

    Example: discreet bounds people.csv income --epsilon 0.5
    """
    candidates = None if digits is None else Decimals(digits)
    return bounds(data, column, q=q, candidates=candidates, **terms)
