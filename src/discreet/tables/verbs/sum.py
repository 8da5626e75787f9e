"""sum and mean: of numbers between two bounds, with geometric or Gaussian noise."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Unpack

from ...base.numbers import Number
from ...errors import InvalidArgument
from ...selection.question import Query
from ...selection.releases import Release
from ...selection.scores.distance import Lattice
from ...selection.terms import RecordTerms
from ..conditions.conditions import Condition
from .count import sizes
from .data_terms import takes_data_terms_without
from .mean_noise import name_of_mean, noise_of_mean
from .noisy_numbers import COUNT_TERMS, NoisyNumbers, names_of_terms, read_terms
from .sum_bounds import (
    choice_of_sum,
    error_of_sum,
    read_bounds,
    read_mean_bounds,
    read_sum_bounds,
    sum_noise,
)
from .sum_without_bounds import read_sum_question, refuse_delta, release_without_bounds
from .units import UnitQuery, column_or_none, columns_of, read_unit_query

_TERMS = names_of_terms(RecordTerms)
_MEAN_TERMS = names_of_terms(RecordTerms, "scale")


@takes_data_terms_without("mechanism")
def sum(  # noqa: PLR0913  # what is summed, between which bounds, or the price of these
    data: object,
    column: str | None = None,
    *,
    minimum: Number | None = None,
    maximum: Number | None = None,
    step: Number | None = None,
    max_sum: Number | None = None,
    min_sum: Number | None = None,
    bounds_share: Number | None = None,
    **terms: Unpack[RecordTerms],
) -> Release:
    """Release the sum of numbers between two bounds, with geometric noise or the smaller Gaussian noise.

    Every number is clipped to the bounds and rounded to a multiple of the step, exactly and half up, by itself.
    Then the numbers of steps are added exactly. Null, NaN and, in text files, cells that are not numbers are left
    out.

    Args:
        data: numbers in an array, a series or a list, a table or the path of a file (with `column`), or a histogram
            (a mapping from values to how often they occur). Private.
        column: the name of the column of the table. Without it, the data are the numbers themselves.
        minimum: the lower bound, in units of the data. It is public, so choose it from your own knowledge, never
            from the data. Not needed for a `Dataset` that declares it. The noise grows with the bound that is
            farther from 0. A boolean column has the bounds False and True, and its sum is the number of True
            values. See `mean`.
        maximum: the upper bound, under the same rules.
        step: the distance between neighbouring answers, in units of the data. By default the declared one or, for
            integers, 1. Otherwise it is the power of ten that puts 100,000 to 1,000,000 steps between the bounds.
        max_sum: the largest total of one privacy unit in a group, in units of the data, public. All rows of a unit
            are added, and a larger total counts as `max_sum`. The noise grows with it, and not with the number of
            rows. The excess of a unit is missing in the answer, and `error` does not include it, so choose a value
            that few units exceed. Needs `privacy_unit`. Without minimum and maximum, a row is also clipped to
            `max_sum`, and to `min_sum` or 0.
        min_sum: the least total of one privacy unit, in the same way. By default it is 0 or, if minimum is below 0,
            -max_sum. A unit without a number adds 0.
        scale: instead of `epsilon`, the scale of the noise, a positive number in units of the data.
        bounds_share: if you know no bounds, the part of epsilon, such as "1/10", that is spent on drawing them
            first, as `bounds` does, from the same records. They are in `Release.bounds`. If both are the same
            number, all records count as that number. Not with groups.
        max_contributions: the most rows that one privacy unit contributes, 1 by default, in every group. The noise
            grows with it. With `max_sum`, all rows by default, and the noise does not grow beyond `max_sum`. Needs
            `privacy_unit`.
        max_groups: the most groups to which one privacy unit contributes, 1 by default. The noise of every sum
            grows with it. Needs `privacy_unit`.
        delta: a δ that the noise may use, far below one over the number of records, such as "1e-8". Together with
            `epsilon` it allows Gaussian noise, which is used if its variance is smaller, as it is if a unit is in
            many groups. Otherwise δ is not charged. With `rho`, leave it out. With groups="private" it is the δ of
            all answers together.
        **terms: the shared arguments, described in `RecordTerms`.

    Returns:
        A number, which is a multiple of the step. With groups, a dict from group to number.

    Raises:
        InvalidArgument: if a public argument is invalid. No private data were read.
        UnreadableData: if the data contain no numbers.

    Side channels: the time that the engine takes to count. Drawing the noise takes the same time for every sum.

    For the proof, see docs/reference/mechanisms/noisy_counts.md#noisy_sums,
    docs/reference/mechanisms/gaussian_noise.md.
    """
    column = column_or_none(column)
    own = read_terms(terms, _TERMS)
    totals = (min_sum, max_sum)
    unit_query = _read_unit(own.of_units, has_totals=totals != (None, None))
    if bounds_share is not None:
        refuse_delta(own.delta)
        ends = (minimum, maximum, step, *totals)
        without = read_sum_question("sum", bounds_share, ends, unit_query, own.parameter)
        return release_without_bounds(without, data, column)
    bounds = read_sum_bounds((minimum, maximum, step), totals)
    price = own.price(unit_query, bounds.step)
    noise = sum_noise(bounds, unit_query, price)
    columns = columns_of(unit_query, data, column, bounds.stand_in)

    def totals_of(one: Any) -> list[list[int]]:
        return [bounds.total(one) if bounds.totals is None else bounds.total_of_units(one)]

    def name(numbers: Sequence[int]) -> object:
        return Lattice(bounds.step)[numbers[0]]

    worst_error = partial(error_of_sum, bounds, noise, unit_query.group_count)
    choice = partial(choice_of_sum, bounds, noise, price)
    question = NoisyNumbers(unit_query, [noise], columns, totals_of, worst_error, price, choice)
    return question.release(bounds.query("sum", column), name)


@takes_data_terms_without("mechanism", "scale")
def mean(  # noqa: PLR0913  # as sum
    data: object,
    column: str | None = None,
    *,
    minimum: Number | dt.date | None = None,
    maximum: Number | dt.date | None = None,
    step: Number | dt.timedelta | None = None,
    bounds_share: Number | None = None,
    **terms: Unpack[RecordTerms],
) -> Release:
    """Release the mean of numbers between two bounds, as a noisy sum over a noisy count.

    Numbers are clipped and rounded as for `sum`, and measured from the middle of the bounds. One half of epsilon
    (or rho) is spent on their number and the other half on their sum, both with the noise of a sum. Under
    "replace_one" they cannot both change by their most, so the sum may get all of epsilon, and the count a half.
    Gaussian noise by a delta is calibrated for both together. Their quotient is cut to the bounds and rounded to
    the decimals that its noise supports, at most to a thousandth of a step. The number of records is never treated
    as public. If the noisy count is 0 or below, there is no mean, and the answer is None. Then ask with a larger
    epsilon, or about more records.

    Args:
        data: numbers in an array, a series or a list, a table or the path of a file (with `column`), or a histogram
            (a mapping from values to how often they occur). Private.
        column: the name of the column of the table. Without it, the data are the numbers themselves.
        minimum: the lower bound, in units of the data. It is public, so choose it from your own knowledge, never
            from the data. Not needed for a `Dataset` that declares it. The noise grows with the distance between
            the bounds. The mean of a boolean column is the share of True, between 0 and 1. Leave out both bounds if
            the column is boolean by its type or declaration. For text files and Python objects, pass False and
            True, and cells that are neither are left out. For dates or times, pass two of them, such as
            "2020-01-01". Then the mean is a date or a time.
        maximum: the upper bound, under the same rules.
        step: the step to which numbers are rounded, in units of the data. By default the declared one or, for
            integers, 1. Otherwise it is the power of ten that puts 100,000 to 1,000,000 steps between the bounds.
        bounds_share: if you know no bounds, the part of epsilon, such as "1/10", that is spent on drawing them
            first, as `bounds` does, from the same records. They are in `Release.bounds`. If both are the same
            number, all records count as that number. Not with groups.
        max_contributions: the most rows that one privacy unit contributes to each group, 1 by default. The noise
            grows with it. Needs `privacy_unit`.
        max_groups: the most groups to which one privacy unit contributes, 1 by default. The noise of every mean
            grows with it. Needs `privacy_unit`.
        delta: a δ that the noise may use, far below one over the number of records, such as "1e-8". Together with
            `epsilon` it allows Gaussian noise, which is used if its variance is smaller, as it is if a unit is in
            many groups. Otherwise δ is not charged. With `rho`, leave it out. With groups="private" it is the δ of
            all answers together.
        **terms: the shared arguments, described in `RecordTerms`.

    Returns:
        A number, a date or a time from `minimum` to `maximum`, or None. With groups, a dict from group to these.
        The noisy numbers of records are in `Release.counts`.

    Raises:
        InvalidArgument: if a public argument is invalid. No private data were read.
        UnreadableData: if the data contain no numbers.

    Side channels: the time that the engine takes to count. Drawing the noise takes the same time for all data.
    Without bounds, the type of the column decides. In pandas, a boolean column with a missing cell has another
    type, so pass the bounds False and True there.

    For the proof, see docs/reference/mechanisms/noisy_counts.md#noisy_sums,
    docs/reference/mechanisms/gaussian_noise.md.
    """
    column = column_or_none(column)
    own = read_terms(terms, _MEAN_TERMS)
    unit_query = read_unit_query(own.of_units, bounded=True)
    if bounds_share is not None:
        refuse_delta(own.delta)
        ends = (minimum, maximum, step)
        without = read_sum_question("mean", bounds_share, ends, unit_query, own.parameter)
        return release_without_bounds(without, data, column)
    bounds = read_mean_bounds(minimum, maximum, step)
    price = own.price(unit_query)
    both = noise_of_mean(bounds, unit_query, price)
    columns = columns_of(unit_query, data, column, bounds.stand_in)
    choice = partial(both.choice, bounds.step) if bounds.times is None else None
    numbers = bounds.size_and_total
    question = NoisyNumbers(
        unit_query, both.noises, columns, numbers, lambda: None, price, choice, both.promise
    )
    name = name_of_mean(bounds, both.noises, unit_query.group_count)
    return question.release(bounds.query("mean", column), name)


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
    own = read_terms(terms, COUNT_TERMS)
    unit_query, bounds = read_unit_query(own.of_units), read_bounds(False, True, None)
    price = own.price(unit_query)
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
    return question.release(query, name_of_mean(bounds, noise.noises, len(columns)))


def _read_unit(terms: Any, *, has_totals: bool) -> UnitQuery:
    """Return the privacy unit of a sum. Where totals are bounded all rows count, unless a bound is given.

    Raises:
        InvalidArgument: if totals are bounded and nobody has them.
    """
    if not has_totals:
        return read_unit_query(terms, bounded=True)
    unit_query = read_unit_query(terms, bounded="max_contributions" in terms)
    if unit_query.per_person:
        return unit_query
    raise InvalidArgument(
        "max_sum bounds the total of one privacy unit: name the column of users as privacy_unit. Where a row is a "
        "record, maximum bounds it"
    )
