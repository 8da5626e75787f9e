"""count_distinct: how many distinct values of a column some record holds.

For the proof, see docs/reference/mechanisms/noisy_counts.md, "Distinct values".
"""

from functools import partial
from typing import Any, Unpack

from ...mechanisms.accuracy import DISTINCT
from ...mechanisms.contract import need_parameter, read_parameter
from ...mechanisms.noisy_counts import counts_sensitivity
from ...selection.question import Query
from ...selection.releases import Release
from ...selection.terms import KeyTerms
from .count import error_of_counts, only_number
from .data_terms import takes_data_terms
from .keys import check_key_terms, read_key_table, read_key_unit
from .noisy_numbers import NoisyNumbers, read_price
from .units import column_or_none, read_unit_query


@takes_data_terms
def count_distinct(
    data: object,
    column: str | None = None,
    **terms: Unpack[KeyTerms],
) -> Release:
    """Count the distinct values of a column, with geometric noise.

    One row is one record with one value. With `privacy_unit`, all rows of a unit are one record, which counts for
    up to `max_groups` of its values. Values beyond these are not counted, so on average the answer is at most the
    true number. With a larger `max_groups`, more values are counted, and the noise is larger. A value must be a key
    as in `keys`, so nulls don't count and columns of floats are rejected. It doesn't need a delta, and doesn't
    reveal any value.

    Args:
        data: a table, a path or several, a folder, or `discreet.scan_query(...)`, as for `mode`. You can also pass
            values in a list or a series, without `column`.
        column: the name of the column. Without it, the data are the values themselves.
        max_groups: the most values for which one privacy unit counts, 1 by default. A rule that reads only the rows
            of that unit decides which values those are. See docs/how-to/user_level_privacy.md. Needs
            `privacy_unit`.
        **terms: the shared arguments, described in `KeyTerms`.

    Returns:
        An integer, which the noise may push below 0. It is kept as it is, and shown as 0.

    Raises:
        InvalidArgument: if a public argument is invalid. No private data were read.
        UnreadableData: if the file or the column is missing or cannot be read, or if its type cannot have keys.

    Side channels: the time that the engine takes to count.

    For the proof, see docs/reference/mechanisms/noisy_counts.md.
    """
    check_key_terms(terms)
    column = column_or_none(column)
    table = read_key_table(data, column, read_key_unit(terms), terms)
    parameter = need_parameter(read_parameter(terms.get("epsilon"), None, None))
    bounded = ("privacy_unit", "where", "neighbors", "ledger", "request")
    unit_query = read_unit_query({name: one for name, one in terms.items() if name in bounded})
    price = read_price(parameter, terms, unit_query.neighbors)
    # A unit fills or empties so many values at most, a replaced one too: one number moves by that.
    noise = price.noise(counts_sensitivity(1, unit_query.neighbors, change=table.most_keys), 1)
    question = NoisyNumbers(
        unit_query,
        [noise],
        [table],
        _number_of_values,
        partial(error_of_counts, noise, 1, DISTINCT),
        price,
    )
    facts = {"column": column, "most_keys": table.most_keys}
    query = Query("count_distinct", facts, {"column": column, "keys": table.most_keys})
    return question.release(query, only_number)


def _number_of_values(table: Any) -> list[list[int]]:
    """Return how many distinct values are counted. Private."""
    [number] = table.open().classes(1).sizes
    return [[number]]
