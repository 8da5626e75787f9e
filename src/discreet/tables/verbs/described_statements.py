"""Statements of SQL beside their description: where they must agree, and which groups are declared."""

from dataclasses import replace
from fractions import Fraction

from ...base.numbers import exact
from ...errors import InvalidArgument, preview
from ...privacy.sensitivity import columns_of_unit, read_unit, unit_in_words
from ...selection.bins import Bins, WithMissing, column_words
from ...selection.candidates import decimal_places, plain_number
from ..conditions.bigquery import BOUNDS
from ..conditions.sql_groups import GroupPart, bins_of_dates
from ..conditions.sql_statements import Aggregate, SqlStatement, read_statement
from ..datasets.columns import Column
from ..datasets.dataset import Dataset
from ..verb_table import use_of


def statement_about(statement: object, dataset: Dataset | None) -> SqlStatement:
    """Return a statement, read, with the groups that the description of a dataset lists.

    Raises:
        InvalidArgument: if it is no statement that is answered.
    """
    plain = read_statement(statement)
    return plain if dataset is None else with_declared_groups(dataset, plain)


def agreed_statement(dataset: Dataset, statement: SqlStatement) -> SqlStatement:
    """Return a statement that agrees with the description of its dataset, with its declared groups.

    Raises:
        InvalidArgument: if it does not agree.
    """
    name = "data" if dataset.name is None else dataset.name
    if statement.dataset != name:
        raise InvalidArgument(
            f"FROM names {preview(statement.dataset)}, and this dataset is called {name}: "
            f"write FROM {name}"
        )
    _check_units(dataset, statement)
    statement = replace(
        statement,
        aggregates=tuple(
            _count_of(dataset, statement, one) if one.verb == "count" else _sum_of(dataset, one)
            for one in statement.aggregates
        ),
    )
    _check_bounds(dataset, statement)
    if statement.options.max_groups is not None and dataset.privacy_unit is None:
        raise InvalidArgument(
            "max_groups_contributed is of a privacy unit, and a row is a record here: leave it out"
        )
    statement = with_declared_groups(dataset, statement)
    _check_groups(dataset, statement)
    return statement


_WITH_DELTA = ("count", "sum", "mean", "top_k")
"""The verbs of which a list of answers can use a delta; and of one answer `top_k` can."""


def share_of_delta(statement: SqlStatement, aggregate: Aggregate) -> Fraction | None:
    """Return the δ of an aggregate about listed groups, of which those that can use it have equal parts."""
    number = sum(one.verb in _WITH_DELTA for one in statement.aggregates)
    delta = statement.options.delta
    return None if delta is None or aggregate.verb not in _WITH_DELTA else delta / number


def _check_units(dataset: Dataset, statement: SqlStatement) -> None:
    """Raise unless the privacy unit of a statement is the declared one.

    Raises:
        InvalidArgument: with the form that would do.
    """
    unit = dataset.privacy_unit
    names = statement.options.privacy_unit
    if names is not None and read_unit(list(names)) != unit:
        declared = "declares none" if unit is None else f"declares {unit_in_words(unit)}"
        raise InvalidArgument(
            f"privacy_unit_column: the description of {dataset.label} {declared}. Leave it out"
        )


def has_listed_groups(dataset: Dataset, statement: SqlStatement) -> bool:
    """Return whether the groups of a statement are declared, or there is one."""
    plain = [one.column for one in statement.groups.parts if not isinstance(one.part, Bins)]
    return all(dataset.column(name, "GROUP BY").values is not None for name in plain)


def with_declared_groups(dataset: Dataset, statement: SqlStatement) -> SqlStatement:
    """Return a statement without buckets where the description declares no numbers.

    Raises:
        InvalidArgument: if a name of GROUP BY may be a column or a name of the answer, or bins of whole numbers are
            of others.
    """
    groups = statement.groups
    for name in groups.aliases:
        if name in dataset.columns:
            raise InvalidArgument(
                f"GROUP BY {name}: {name} is a column, and a name in the select list. Give it another name there"
            )
    parts = tuple(_declared_part(dataset, part) for part in groups.parts)
    return replace(statement, groups=replace(groups, parts=parts))


def _check_coalesce(column: Column, part: GroupPart) -> None:
    """Raise unless the constant of COALESCE is sure to be none of the values: it would name two groups."""
    constant = part.value(None)
    words = f"COALESCE({part.column}, {preview(constant)})"
    if column.values is None:
        raise InvalidArgument(
            f"{words}: the description declares no values of {part.column}, and that may be one of them. Declare "
            "them as enum"
        )
    if constant is None or constant in column.values:
        raise InvalidArgument(
            f"{words}: that is one of the values of {part.column}. Take another one"
        )


def _declared_part(dataset: Dataset, part: GroupPart) -> GroupPart:
    """Return a column of groups with its dates, without the buckets below and above the declared bounds."""
    column, bins = dataset.column(part.column, "GROUP BY"), part.part
    if part.unit is not None:
        if column.type not in ("date", "datetime"):
            raise InvalidArgument(
                f"DATE_TRUNC of {part.column}: the column is declared as {column.type}, and it takes dates or times"
            )
        ends = (column.minimum, column.maximum)
        dates, values = bins_of_dates(part.column, ends, part.unit)
        return replace(part, part=dates, values=values)
    if isinstance(bins, WithMissing):
        _check_coalesce(column, part)
        return part
    if part.is_whole and column.type not in ("integer", "date"):
        raise InvalidArgument(
            f"CASE of {part.column}: the column is declared as {column.type}. Compare with < and >=, so that one "
            "case begins where another ends"
        )
    if not isinstance(bins, Bins) or bins.names is not None or not column.is_numeric:
        return part
    first, last = (
        edge if isinstance(edge, Fraction) else None for edge in (bins.edges[0], bins.edges[-1])
    )
    below = first is None or column.minimum is None or column.minimum < first
    above = last is None or column.maximum is None or column.maximum >= last
    return replace(part, part=Bins(bins.column, edges=bins.edges, below=below, above=above))


def _check_bounds(dataset: Dataset, statement: SqlStatement) -> None:
    """Raise unless the bounds that a statement names are those of the description.

    Raises:
        InvalidArgument: with the form that would do.
    """
    rows = dataset.max_contributions or 1
    for aggregate in statement.aggregates:
        if aggregate.bounds is None:
            continue
        name, *ends = aggregate.bounds
        if name == BOUNDS[0] and dataset.privacy_unit is not None and rows > 1:
            raise InvalidArgument(
                f"{name} bounds all rows of a unit together, and here each of up to {rows} rows is clipped to the "
                f"declared bounds: leave it out"
            )
        limits = _bounds_of_column(dataset, aggregate)
        if limits is None:
            raise InvalidArgument(f"{aggregate.name} has no bounds: leave {name} out")
        if aggregate.verb == "count" and limits != tuple(ends):
            raise InvalidArgument(
                f"{name}: a count counts each record once. Write (0, 1), or leave it out"
            )
        if limits != tuple(ends):
            low, high = (plain_number(end, decimal_places(end)) for end in limits)
            raise InvalidArgument(
                f"{name}: the description of {dataset.label} has the bounds ({low}, {high}). Write "
                "these, or leave it out"
            )


def _bounds_of_column(dataset: Dataset, aggregate: Aggregate) -> tuple[Fraction, Fraction] | None:
    """Return the declared bounds of the numbers of an aggregate; None if it has none."""
    if aggregate.verb == "count" or aggregate.truth is not None:  # a record counts once
        return Fraction(0), Fraction(1)
    column = dataset.column(aggregate.column)
    if column.type == "boolean" and use_of(aggregate.verb) == "sums":
        return Fraction(0), Fraction(1)
    if not column.is_numeric or column.minimum is None or column.maximum is None:
        return None
    return exact(column.minimum, "minimum"), exact(column.maximum, "maximum")


def _check_groups(dataset: Dataset, statement: SqlStatement) -> None:
    """Raise unless groups without a public list have a delta and one aggregate, and a delta has a use.

    Raises:
        InvalidArgument: with the form that would do.
    """
    options, by = statement.options, statement.by
    is_listed = has_listed_groups(dataset, statement)
    if options.minimum_count is not None and not counts_of_all(statement, is_listed=is_listed):
        raise InvalidArgument(
            "min_privacy_units_per_group compares a count that is released: select COUNT(*), or "
            "COUNT(DISTINCT unit) if the description has a privacy unit"
        )
    if is_listed:
        shares = [share_of_delta(statement, one) for one in statement.aggregates]
        if options.delta is not None and not any(shares):
            raise InvalidArgument(
                "delta is for groups that nobody lists, and for COUNT, SUM, AVG and TOP_K: here there is nothing "
                "that it would gain, so leave it out"
            )
        return
    if any(one.has_condition for one in statement.aggregates):
        raise InvalidArgument(
            f"GROUP BY {column_words(by)}: unlisted groups are drawn by all rows of the statement. Write the "
            "condition in WHERE, and the groups with such rows are released"
        )
    if options.delta is None:
        raise InvalidArgument(
            f"GROUP BY {column_words(by)}: the description of {dataset.label} does not declare all values. "
            "Declare them, or give delta, such as OPTIONS (epsilon = 1, delta = 1e-8), and the "
            "groups of enough records are released"
        )
    if len(statement.aggregates) > 1:
        raise InvalidArgument(
            f"GROUP BY {column_words(by)}: unlisted groups are released with one aggregate. Ask for one, and for "
            "the others in further statements"
        )


def counts_of_all(statement: SqlStatement, *, is_listed: bool) -> list[str]:
    """Return the names of the counts of all records of a group; of groups that are drawn, of any."""
    counts = [one for one in statement.aggregates if one.verb == "count"]
    return [
        one.name
        for one in counts
        if not is_listed or (one.column is None and not one.has_condition)
    ]


def _count_of(dataset: Dataset, statement: SqlStatement, aggregate: Aggregate) -> Aggregate:
    """Return a count of records, rows or privacy units, or of the distinct values of a column that is no unit.

    Raises:
        InvalidArgument: with the form that would do.
    """
    unit, names = dataset.privacy_unit, aggregate.units
    if names is None:
        if unit is None:
            return aggregate
        raise _counts_rows(dataset, aggregate)
    if read_unit(list(names)) == unit:
        return aggregate
    if len(names) > 1 or statement.by is not None:
        declared = "declares no privacy unit" if unit is None else f"has {unit_in_words(unit)}"
        raise InvalidArgument(
            f"COUNT(DISTINCT ...) of other columns than the privacy unit is of one column, without GROUP BY: "
            f"{dataset.label} {declared}"
        )
    return replace(aggregate, verb="count_distinct", column=names[0], units=None)


def _counts_rows(dataset: Dataset, aggregate: Aggregate) -> InvalidArgument:
    """Return the error for a count, or a share, of rows that are no records."""
    unit, of = dataset.privacy_unit, aggregate.column
    assert unit is not None
    columns = ", ".join(columns_of_unit(unit))
    where = "" if of is None else f" ... WHERE {of} IS NOT NULL"
    words = f"COUNT({of or '*'})"
    if aggregate.has_condition:
        words, condition = aggregate.name, aggregate.truth or aggregate.where
        where = f" FILTER (WHERE {preview(str(condition))[1:-1]})"
    if aggregate.truth is not None:
        where += f", and COUNT(DISTINCT {columns}), of which it is a share"
    return InvalidArgument(
        f"a record of {dataset.label} is all rows of one {unit_in_words(unit)}, and {words} "
        f"would count rows: write COUNT(DISTINCT {columns}){where}"
    )


def _sum_of(dataset: Dataset, aggregate: Aggregate) -> Aggregate:
    """Return an aggregate; a sum with bounds of a unit's total, where a statement bounds that."""
    if aggregate.truth is not None and dataset.privacy_unit is not None:
        raise _counts_rows(dataset, aggregate)
    if aggregate.verb != "sum" or aggregate.bounds is None or dataset.privacy_unit is None:
        return aggregate
    name, low, high = aggregate.bounds
    if name != BOUNDS[0]:
        return aggregate
    totals = {"min_sum": low, "max_sum": high}
    return replace(aggregate, terms={**aggregate.terms, **totals}, bounds=None)
