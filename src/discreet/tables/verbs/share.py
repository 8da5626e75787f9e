"""The share of the rows of which a condition is true: a mean of truths, for statements of SQL."""

from dataclasses import replace
from functools import partial
from typing import Any

from ...selection.question import Query
from ...selection.releases import Release
from ..conditions.conditions import Condition
from .count import sizes
from .mean_noise import noise_of_mean
from .noisy_numbers import COUNT_TERMS, NoisyNumbers, read_price, read_terms
from .private_groups import delta_of_method
from .sum_bounds import name_of_mean, read_bounds
from .units import read_unit_query


def share_of_rows(table: object, true: Condition, **terms: Any) -> Release:
    """Release the share of the rows of which a condition is true, as `mean` releases that of truths.

    A row adds one to the number of rows, and nothing or one to that of the true ones. So both move as the number
    and the sum of truths do, and have their noise. For the proof, see
    docs/reference/mechanisms/noisy_counts.md#noisy_sums.

    Args:
        table: the table.
        true: the condition of the true rows, with that of all rows.
        **terms: the terms of the question about all rows. No privacy unit is among them.
    """
    shared, delta = delta_of_method(terms)
    parameter, others = read_terms(shared, COUNT_TERMS)
    unit_query, bounds = read_unit_query(others), read_bounds(False, True, None)
    price = read_price(unit_query.for_answers(parameter), shared, unit_query.neighbors, delta)
    noise = noise_of_mean(bounds, unit_query, price)
    of_true = replace(unit_query, records=replace(unit_query.records, where=true))
    columns, size_of = sizes(unit_query, table, None)
    _, number_of = sizes(of_true, table, None)
    question = NoisyNumbers(
        unit_query,
        noise.noises,
        columns,
        lambda group: [[size_of(group)], [number_of(group)]],
        lambda: None,
        price,
        partial(noise.choice, bounds.step),
        noise.promise,
    )
    query = Query("mean", {"column": str(true)}, {"true": true.description})
    return question.release(query, terms, name_of_mean(bounds, noise.noises, len(columns)))
