"""discreet keys: the values of a column without a public list."""

from typing import Annotated, Any

from ..errors import InvalidArgument
from ..selection.releases import Release
from ..tables.verbs import keys as verb
from .described import columns_of_texts
from .options import ColumnsArgument, DataArgument, option
from .releasing import releasing

MinimumCountOption = Annotated[
    int, option("NUMBER", "The least count that a key needs to be released.")
]
MostOption = Annotated[int, option("NUMBER", "The most keys to answer.")]
OtherOption = Annotated[
    str | None,
    option(
        "PART", "The part of epsilon, such as 1/10, for the number of records outside these keys."
    ),
]


@releasing(verb.keys, note=None)
def keys_command(
    data: DataArgument,
    column: ColumnsArgument,
    terms: dict[str, Any],
    minimum_count: MinimumCountOption = 1,
    most: MostOption = verb.MOST_RELEASED,
    other: OtherOption = None,
) -> Release:
    """Release the values that many records share.

    Values of a few records are left out. Run discreet plan --epsilon 1 --delta 1e-8 to see how many records a
    value needs. With --privacy-unit a unit counts in --max-groups keys.

    Example: discreet keys visits.csv page --epsilon 1 --delta 1e-8
    """
    if "delta" not in terms:
        raise InvalidArgument("give --delta, such as 1e-8: values without a list need one")
    return verb.keys(
        data,
        columns_of_texts(column),
        minimum_count=minimum_count,
        most=most,
        other=other,
        **terms,
    )
