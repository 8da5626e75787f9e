"""discreet median, quantile, quantiles, bounds: quantiles of a column of numbers, and where nearly all rows are."""

from typing import Annotated, cast, get_args

from ..selection.decimals import Decimals
from ..selection.releases import Release
from ..selection.terms import AnswerTerms
from ..tables.verbs import bounds
from ..tables.verbs import quantile as verb
from ..tables.verbs import quantiles as many
from .completion import one_of
from .options import ColumnArgument, DataArgument, option
from .releasing import releasing

METHODS = get_args(many.QuantilesMethod)


@releasing(verb.quantile, grid=True)
def quantile_command(
    data: DataArgument,
    column: ColumnArgument,
    alpha: Annotated[str, option("NUMBER", "The quantile, from 0 (minimum) to 1 (maximum).")],
    terms: AnswerTerms,
) -> Release:
    """Release the quantile of a column at alpha.

    Use 0 or 0.01 near the minimum, and 1 or 0.99 near the maximum.

    The candidates are lo, lo + step, ... up to hi. There may be very many.

    Example: discreet quantile people.csv age --alpha 0.9 --lo 0 --hi 120 --epsilon 1
    """
    return verb.quantile(data, column, alpha=alpha, **terms)


@releasing(verb.median, grid=True)
def median_command(
    data: DataArgument,
    column: ColumnArgument,
    terms: AnswerTerms,
) -> Release:
    """Release a median: the quantile at alpha = 1/2.

    Without --lo and --hi the answer is any decimal of three digits, and needs more rows.

    Example: discreet median people.csv age --lo 0 --hi 120 --step 0.1 --epsilon 1
    """
    return verb.median(data, column, **terms)


@releasing(many.quantiles, grid=True)
def quantiles_command(
    data: DataArgument,
    column: ColumnArgument,
    alphas: Annotated[str, option("A,B,C", "The quantiles, rising, from 0 to 1.")],
    terms: AnswerTerms,
    method: Annotated[
        str,
        option(
            "NAME",
            f"The method: {', '.join(METHODS[:-1])} or {METHODS[-1]}.",
            completes=one_of(*METHODS),
        ),
    ] = METHODS[0],
) -> Release:
    """Release several quantiles, cheaper than one by one.

    Example: discreet quantiles people.csv age --alphas 0.25,0.5,0.75 --lo 0 --hi 120 --epsilon 1
    """
    return many.quantiles(
        data,
        column,
        alphas=[alpha.strip() for alpha in alphas.split(",")],
        method=cast(many.QuantilesMethod, method),
        **terms,
    )


@releasing(bounds.bounds)
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
    return bounds.bounds(data, column, q=q, candidates=candidates, **terms)
