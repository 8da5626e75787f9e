"""discreet count, counts, keys, count-distinct: how many records or values there are, and how many hold each."""

from typing import Annotated, Any

from ..errors import InvalidArgument
from ..selection.releases import Release
from ..selection.terms import KeyTerms, PersonTerms
from ..tables.verbs import count as verb
from ..tables.verbs import keys
from .completion import columns_of_file
from .described import columns_of_texts, read_candidates
from .options import (
    CandidatesOption,
    ColumnArgument,
    ColumnsArgument,
    DataArgument,
    argument,
    option,
)
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
LeastCountOption = Annotated[
    int | None, option("NUMBER", "Leave smaller counts out of the answer, noise included.")
]


@releasing(verb.count)
def count_command(
    data: DataArgument,
    terms: PersonTerms,
    column: Annotated[
        str | None,
        argument(
            "COLUMN",
            "Count only the records with a value in this column.",
            completes=columns_of_file,
        ),
    ] = None,
    minimum_count: LeastCountOption = None,
) -> Release:
    """Count the records, with noise.

    With --rho or --delta the noise is Gaussian if that is smaller.

    Example: discreet count people.csv --epsilon 1
    """
    return verb.count(data, column, minimum_count=minimum_count, **terms)


@releasing(verb.counts)
def counts_command(  # the options of the verb
    data: DataArgument,
    column: ColumnsArgument,
    terms: PersonTerms,
    candidates: CandidatesOption = None,
    max_candidates: Annotated[
        int | None,
        option(
            "NUMBER",
            "The most candidates that one privacy unit counts for. The noise grows with it.",
        ),
    ] = None,
    minimum_count: LeastCountOption = None,
    most: MostOption = keys.MOST_RELEASED,
    other: OtherOption = None,
) -> Release:
    """Count the records with each of some values.

    Rows with a value outside the candidates are ignored. With --delta the values are those that enough records
    hold. The command discreet keys releases them without counts.

    Example: discreet counts people.csv drink --candidates tea,coffee --epsilon 1
    """
    columns = columns_of_texts(column)
    choices = read_candidates(data, columns, candidates, None, None)
    return verb.counts(
        data,
        columns,
        candidates=choices,  # type: ignore[arg-type]  # no file of candidates was named
        max_candidates=max_candidates,
        minimum_count=minimum_count,
        most=most,
        other=other,
        **terms,
    )


@releasing(keys.keys, note=None)
def keys_command(
    data: DataArgument,
    column: ColumnsArgument,
    terms: dict[str, Any],
    minimum_count: MinimumCountOption = 1,
    most: MostOption = keys.MOST_RELEASED,
    other: OtherOption = None,
) -> Release:
    """Release the values that many records share.

    Values of a few records are left out. Run discreet plan --epsilon 1 --delta 1e-8 to see how many records a
    value needs. With --privacy-unit a unit counts in --max-groups keys.

    Example: discreet keys visits.csv page --epsilon 1 --delta 1e-8
    """
    if "delta" not in terms:
        raise InvalidArgument("give --delta, such as 1e-8: values without a list need one")
    return keys.keys(
        data,
        columns_of_texts(column),
        minimum_count=minimum_count,
        most=most,
        other=other,
        **terms,
    )


@releasing(verb.count_distinct)
def count_distinct_command(data: DataArgument, column: ColumnArgument, terms: KeyTerms) -> Release:
    """Count the distinct values of a column, with noise.

    With --privacy-unit a unit counts for --max-groups of its values.

    Example: discreet count-distinct visits.csv page --epsilon 1
    """
    return verb.count_distinct(data, column, **terms)
