"""count, counts, count_distinct: how many records there are, or hold each of some values, and how many values.

For the proof of the last, see docs/reference/mechanisms/noisy_counts.md, "Distinct values".
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cache, partial
from typing import Any, TypeVar, Unpack

from ...base.arguments import refuse_one_shot
from ...base.numbers import Number
from ...base.numbers import count as whole_number
from ...errors import InvalidArgument, InvalidCandidates
from ...mechanisms.accuracy import CONFIDENCE, COUNTED, DISTINCT, ErrorBound
from ...mechanisms.contract import need_parameter, read_parameter
from ...mechanisms.noisy_counts import LARGEST_COUNT, counts_sensitivity
from ...selection.any_column import AnyColumn
from ...selection.bins import column_facts, plain_column, read_columns
from ...selection.candidates import Labels
from ...selection.question import Query
from ...selection.releases import Release
from ...selection.terms import KeyTerms, PersonTerms
from ..engines.candidate_table import CandidateTable
from ..engines.column import Group, RecordCounts
from .data_terms import takes_data_terms, takes_data_terms_without
from .keys import (
    MOST_RELEASED,
    check_key_terms,
    read_key_table,
    read_key_unit,
    read_limits,
    release_keys,
)
from .mode import labels_of_column
from .noisy_numbers import (
    COUNT_TERMS,
    ListNoise,
    NoisePrice,
    NoisyNumbers,
    read_price,
    read_terms,
)
from .private_groups import delta_of_method
from .units import UnitQuery, column_or_none, read_unit_query

_T = TypeVar("_T")


@takes_data_terms_without("mechanism")
def count(
    data: object,
    column: str | None = None,
    *,
    minimum_count: int | None = None,
    **terms: Unpack[PersonTerms],
) -> Release:
    """Count the records, with geometric noise. With `rho` or `delta`, the noise is Gaussian if that is smaller.

    One row is one record. With `privacy_unit`, all rows of a unit are one record, which counts once. The answer is
    an integer, which the noise may push below 0. It is kept as it is, and shown as 0. The number of records is
    private under "replace_one" too.

    Args:
        data: a table, a path or several, a folder, or `discreet.scan_query(...)`, as for `mode`. You can also pass
            values in a list or a series, without `column`.
        column: the name of a column. If you name one, only records with a value in it are counted. Null, NaN and
            empty fields of text files don't count. By default all records are counted.
        minimum_count: with `by`, the least count of a group in the answer. Listed groups with a smaller noisy count
            are left out. This makes the answer neither more private nor cheaper. With groups="private", a group
            with fewer records is never drawn.
        scale: instead of `epsilon`, the scale of the noise, a positive number of records. It is 1/η, and a count is
            off by k with a probability proportional to exp(-η · k).
        max_groups: the most groups to which one privacy unit contributes, 1 by default. The noise of every group
            grows with it. Needs `privacy_unit`.
        delta: a δ that the noise may use, far below one over the number of records, such as "1e-8". Together with
            `epsilon` it allows Gaussian noise, which is used if its variance is smaller, as it is if a unit is in
            many groups. Otherwise δ is not charged. With `rho`, leave it out. With groups="private" it is the δ of
            all answers together.
        **terms: the shared arguments, described in `PersonTerms`.

    Returns:
        An integer. With groups, a dict from group to number.

    Raises:
        InvalidArgument: if a public argument is invalid. No private data were read.
        UnreadableData: if the file or the column is missing or cannot be read.

    Side channels: the time that the engine takes to count. The draw of the noise takes the same time for every
    count. If you pass a list of texts without a column, and some look like file names, the list is rejected. Pass
    the values as a dict of lists instead.

    For the proof, see docs/reference/mechanisms/noisy_counts.md, docs/reference/mechanisms/gaussian_noise.md.
    """
    column = column_or_none(column)
    own, least = read_terms(terms, COUNT_TERMS), _read_least(minimum_count)
    unit_query = read_unit_query(own.of_units).with_least(least)
    shown_from = least if unit_query.drawing is None else None  # the draw leaves smaller groups out
    refuse_one_shot(data, "the data")
    price = own.price(unit_query)
    noise = counts_noise(unit_query, 1, price)
    columns, size_of = sizes(unit_query, data, column)
    question = NoisyNumbers(
        unit_query,
        [noise],
        columns,
        lambda group: [[size_of(group)]],
        lambda: error_of_counts(noise, unit_query.group_count),
        price,
        partial(price.choice, noise),
        shows=None if shown_from is None else lambda numbers: only_number(numbers) >= shown_from,
    )
    query = _query("count", {}, column, shown_from)
    return question.release(query, only_number)


@takes_data_terms_without("mechanism")
def counts(  # noqa: PLR0913  # the limits of an answer without candidates, each by its name
    data: object,
    column: AnyColumn = None,
    *,
    candidates: Iterable[object] | None = None,
    max_candidates: int | None = None,
    minimum_count: int | None = None,
    most: int = MOST_RELEASED,
    other: Number | None = None,
    **terms: Unpack[PersonTerms],
) -> Release:
    """Release a histogram, the number of records with each of some values, with geometric or Gaussian noise.

    One row is one record with one value. With `privacy_unit`, all rows of a unit are one record, which counts once
    for each of its values, up to `max_candidates` of them. Rows with other values are ignored, and so are nulls
    unless None is a candidate. Candidates without any row have a count of zero, and get noise too.

    If you may not list the values, leave out the candidates and pass `delta`. Then, as in `keys`, the values that
    enough records share are released, with their counts and at the same (ε, δ) as without counts. A value may be
    missing. At ε = 1 and δ = 10⁻⁶, a value with fewer than 14 records is released with a probability below one
    half, and if it is released, its count is a little too high on average. `discreet.plan_keys` shows these
    probabilities. If units have several values, the noise may be Gaussian. It shows more values, and from about
    nine values per unit on, their counts have less noise.

    Args:
        data: a table, a path or several, a folder, or `discreet.scan_query(...)`, as for `mode`. You can also pass
            values in a list or a series, without `column`.
        column: the name of the column, or a list of several columns or `Bins`, in which a record has one cell.
            Without it, the data are the values themselves.
        candidates: the values to count, in a list. They are public, so choose them without looking at the data. For
            several columns, pass the cells as a list of tuples or, for all combinations, a dict from the columns
            without bins to their values. Not needed for a `Dataset` that declares the values of the column, or for
            a Polars `Enum`, which declares its categories.
        max_candidates: the most candidates for which one privacy unit counts, in every group. A rule that reads
            only the rows of that unit decides which values those are. See docs/how-to/user_level_privacy.md. The
            noise grows with it. By default a unit counts for all its values, and the noise is as large as if it had
            all candidates. Needs `privacy_unit`.
        minimum_count: the least count in the answer. Listed candidates with a smaller noisy count are left out.
            This makes the answer neither more private nor cheaper. With `delta`, a value with fewer records is
            never released.
        most: with `delta`, the most values in the answer, 1,000 by default. They are those with the largest
            released counts.
        other: with `delta`, the part of epsilon, such as "1/10", that is spent on the noisy number of records
            outside these values, which is then in `release.other`.
        scale: instead of `epsilon`, the scale of the noise, a positive number of records. It is 1/η, and a count is
            off by k with a probability proportional to exp(-η · k).
        max_groups: the most groups to which one privacy unit contributes, 1 by default. The noise of every count
            grows with it. With `delta`, the most values for which a unit counts. Needs `privacy_unit`.
        delta: with candidates, a δ that the counts may use, far below one over the number of records, such as
            "1e-8". Together with `epsilon` it allows Gaussian noise, which is used if its variance is smaller, as
            it is from about nine counts per unit on at ε = 1 and δ = 10⁻⁶. Otherwise δ is not charged. With `rho`,
            leave it out, because Gaussian noise needs no δ there. Without candidates, it is the δ of the unlisted
            values. Then there is one group, and the terms are those of `keys`. With groups="private", it is the δ
            of all answers together.
        **terms: the shared arguments, described in `PersonTerms`.

    Returns:
        A dict from candidates to integers, in the order of the candidates. With groups, a dict from groups to such
        dicts. The noise may push a count below 0. It is kept, so that sums of counts are right on average, and
        shown as 0. With `delta`, a dict from values to integers, sorted by value.

    Raises:
        InvalidArgument: if a public argument is invalid. No private data were read.
        InvalidCandidates: if one cell could equal two candidates.
        UnreadableData: if the file or the column is missing or cannot be read.

    Side channels: the time that the engine takes to count. The draw of the noise takes the same time for all
    counts. With `delta`, see `keys`.

    For the proof, see docs/reference/mechanisms/noisy_counts.md, docs/reference/mechanisms/gaussian_noise.md, and
    without candidates docs/reference/mechanisms/private_keys.md.
    """
    limits: dict[str, Any] = {"most": most, "other": other}
    least = _read_least(minimum_count)
    shared, delta = delta_of_method(terms)
    if delta is not None and candidates is None:
        if max_candidates is not None:
            raise InvalidArgument("max_candidates goes with candidates")
        limits["minimum_count"] = least or 1
        return release_keys("counts", data, column, read_limits(delta, **limits), shared)
    if limits != {"most": MOST_RELEASED, "other": None}:
        raise InvalidArgument("most and other go with delta, without candidates")
    column = read_columns(column)
    own = read_terms(terms, COUNT_TERMS)
    labels = _labels_in_list(labels_of_column(data, column, candidates, terms, {"delta": "1e-8"}))
    unit_query = read_unit_query(own.of_units).with_candidates(labels.size, max_candidates)
    price = own.price(unit_query)
    noise = counts_noise(unit_query, labels.size, price)
    question = NoisyNumbers(
        unit_query,
        [noise],
        unit_query.columns(data, column),
        lambda group: [_counts_of(group, labels)],
        lambda: error_of_counts(noise, labels.size * unit_query.group_count),
        price,
        partial(price.choice, noise),
    )
    name, query = partial(_by_label, labels, least), _query("counts", labels.facts, column, least)
    return question.release(query, name, candidates=labels.description)


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


def _read_least(minimum_count: object) -> int | None:
    """Return the least count that is shown, or None."""
    return None if minimum_count is None else whole_number(minimum_count, "minimum_count")


def _query(
    verb: str, facts: Mapping[str, object], column: AnyColumn, shown_from: int | None
) -> Query:
    """Return the question in words, and in plain values, with the least count that is shown."""
    shown = {} if shown_from is None else {"minimum_count": shown_from}
    words = {**column_facts(column), **facts, "shown_from": shown_from}
    return Query(verb, words, {"column": plain_column(column), **shown})


def _labels_in_list(labels: Labels | CandidateTable) -> Labels:
    """Return the candidates of a list; those of a table are too many to be counted in an answer."""
    if isinstance(labels, CandidateTable):
        raise InvalidCandidates(
            "counts of a CandidateTable are not released: every candidate would have a number in "
            "the answer. List those that you want, or ask for the most common ones by top_k"
        )
    return labels


def _by_label(labels: Labels, least: int | None, numbers: Sequence[int]) -> dict[Any, int]:
    """Return the noisy numbers by the candidates, without those below the least that is shown."""
    pairs = zip(labels, numbers, strict=True)
    return {label: number for label, number in pairs if least is None or number >= least}


def sizes(
    unit_query: UnitQuery, table: object, column: AnyColumn
) -> tuple[Sequence[Any], Callable[[Any], int]]:
    """Return the groups, and the function that returns how many records one has: all are counted at once."""
    of = unit_query.records
    if of.draws_groups:
        present = column is not None
        return unit_query.columns(table, column or of.by), partial(Group.size, present=present)
    sizes = cache(RecordCounts(table, column, of).by_group)
    return range(len(of.groups) or 1), lambda group: sizes()[group]


def counts_noise(unit_query: UnitQuery, size: int, price: NoisePrice) -> ListNoise:
    """Return the noise of the counts of so many candidates, in all groups."""
    sensitivity = counts_sensitivity(unit_query.moved_counts(size), unit_query.neighbors)
    return price.noise(sensitivity, size * unit_query.group_count)


def error_of_counts(noise: ListNoise, size: int, unit: str = COUNTED) -> ErrorBound:
    """Return how far off any of so many counts may be."""
    off = min(noise.error(size), 2 * LARGEST_COUNT)
    return ErrorBound(Fraction(off + 1 if off else 0), CONFIDENCE, unit)


def only_number(numbers: Sequence[int]) -> int:
    """Return the only number of a list."""
    [number] = numbers
    return number


def _counts_of(group: Group, labels: Sequence[object]) -> list[int]:
    """Return the numbers of records of the candidates. Private."""
    return group.count(labels)
