"""sql: a statement about a described dataset, at one price."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from operator import itemgetter
from typing import Any

from ...base.doors import fix
from ...base.error_boundary import error_boundary
from ...base.numbers import exact
from ...errors import InvalidArgument, preview
from ...mechanisms.accuracy import ErrorBound
from ...mechanisms.count_noise import NoiseChoice
from ...privacy.composition import compose
from ...privacy.guarantees import Guarantee
from ...privacy.sensitivity import Neighbors, read_neighbors
from ...privacy.units import columns_of_unit, read_unit, unit_in_words
from ...selection.account import Account, describe_account
from ...selection.answers import Answer
from ...selection.bins import Bins, WithMissing, column_facts, column_words
from ...selection.candidates import decimal_places, plain_number
from ...selection.payment import BilledPart
from ...selection.question import Order, Query, plain_indices
from ...selection.releases import Release
from ...selection.terms import read_payment
from ...selection.verb_calls import Call, Delivery, delivery_of
from ..conditions.bigquery import BOUNDS
from ..conditions.sql_groups import GroupPart
from ..conditions.sql_statements import Aggregate, SqlStatement, read_statement
from ..conditions.truncated_dates import bins_of_dates
from ..datasets.calls import inside_a_verb
from ..datasets.columns import Column
from ..datasets.dataset import Dataset
from ..datasets.dataset_terms import fill_terms
from ..engines.engine import unwrap_table
from ..verb_table import Asks, use_of
from .count import count
from .count_distinct import count_distinct
from .mode import mode
from .quantile import maximum, median, minimum, quantile
from .sum import mean, share_of_rows
from .sum import sum as add_up
from .top_k import top_k
from .variance import standard_deviation, variance

_VERBS: Mapping[str, Callable[..., Release]] = {
    "count": count, "count_distinct": count_distinct, "sum": add_up, "mean": mean, "variance": variance,
    "standard_deviation": standard_deviation,
    "mode": mode, "median": median, "quantile": quantile,
    "minimum": minimum, "maximum": maximum, "top_k": top_k,
}  # fmt: skip

TableRow = dict[str, Any]


@error_boundary
def sql(
    dataset: Dataset,
    statement: str,
    *,
    neighbors: Neighbors = "add_remove",
    ledger: Account | None = None,
    request: str | None = None,
) -> Release[list[TableRow]]:
    """Release the answer to an SQL statement about a described dataset, as rows.

    Write one SELECT with BigQuery's clause for differential privacy:

        SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1) city, COUNT(*), MEDIAN(age)
        FROM people WHERE age >= 18 GROUP BY city

    Its aggregates are the verbs: COUNT(*), COUNT(x) and COUNT(DISTINCT unit) `count`, SUM `sum`, AVG `mean`, MODE
    `mode`, MEDIAN `median`, PERCENTILE_DISC and QUANTILE `quantile`, MIN and MAX `minimum` and `maximum`, TOP_K and
    APPROX_TOP_COUNT `top_k`. WHERE is `where=`, and so is FILTER for one of them. COUNTIF and SUM of CASE WHEN ...
    THEN 1 ELSE 0 END count the rows of which a condition is true, and AVG of that is their share. GROUP BY takes
    columns whose values are declared, and WIDTH_BUCKET, RANGE_BUCKET, DATE_TRUNC and CASE of one column, as `Bins`,
    or, with delta and one aggregate, columns whose values nobody lists. ORDER BY, LIMIT and, of listed groups,
    min_privacy_units_per_group act on the released rows. ε is divided equally among the aggregates, and the groups
    share it as docs/how-to/groups.md says. A delta beside declared values is divided among the counts, sums and
    means. Each has Gaussian noise if that is smaller, and else is not charged with its part. All are read before
    the first is drawn, and are charged together. Everything else is rejected, with a suggestion.

    Args:
        dataset: a dataset with its description. FROM uses its name.
        statement: the statement, with at most 20,000 characters. Public.
        neighbors: the neighbouring relation that is protected: "add_remove" (the default), one record more or
            less, or "replace_one", one record exchanged for another.
        ledger: the account to charge, such as `Ledger("budget.db").session("adult")`. By default the one that the
            description names, if any.
        request: a name for this request in the ledger. If you repeat the request, you get the same answer at no
            cost. Without a name, every call is a new request.

    Returns:
        A list of rows as dicts from column names to values. Without GROUP BY there is one row.

    Raises:
        InvalidArgument: if the statement has an unsupported part, or contradicts the description. Nothing private
            was looked at.
        MissingColumn: if a column is not declared. No private data were read.
        MissingPackage: if sqlglot is not installed.
        UnreadableData: if the data cannot be read.

    Side channels: those of the verbs, one after the other.
    """
    if not isinstance(dataset, Dataset):
        raise InvalidArgument(
            "sql asks a dataset with a description: describe the data once, "
            f"{fix('a description')}. You gave {preview(dataset)}"
        )
    account = dataset.account() if ledger is None else ledger
    plan = _Plan.of(dataset, read_statement(statement), read_neighbors(neighbors), account)
    account, request = read_payment({"ledger": account, "request": request})
    source, about = dataset.question()
    deliveries = plan.deliveries(source)
    order = Order(
        plan.query(deliveries),
        _together([one.order.guarantee for one in deliveries]),
        ", ".join(dict.fromkeys(one.order.mechanism for one in deliveries)),
        dict,
        describe_account(account, about()),
        request,
        unit=dataset.privacy_unit,
        worst_error=partial(plan.worst_error, deliveries),
        parts=partial(plan.parts, deliveries),
        noise=partial(plan.noise, deliveries),
    )
    return order.deliver(partial(plan.prepare, source), partial(plan.rows, source))


def statement_about(statement: object, dataset: Dataset | None) -> SqlStatement:
    """Return a statement, read, with the groups that the description of a dataset lists.

    Raises:
        InvalidArgument: if it is no statement that is answered.
    """
    plain = read_statement(statement)
    return plain if dataset is None else _with_declared_groups(dataset, plain)


def parts_of(statement: object, dataset: Dataset | None = None) -> list[Call]:
    """Return the aggregates of a statement as questions without their data.

    Raises:
        InvalidArgument: if it is no statement that is answered.
    """
    table = statement_about(statement, dataset)
    is_listed = table.by is None  # a declared column would be listed too
    calls = [_parts(table, aggregate, is_listed=is_listed) for aggregate in table.aggregates]
    return [call for some in calls for call in some]


_WITH_DELTA = ("count", "sum", "mean", "top_k")
"""The verbs of which a list of answers can use a delta; and of one answer `top_k` can."""


def _share_of_delta(statement: SqlStatement, aggregate: Aggregate) -> Fraction | None:
    """Return the δ of an aggregate about listed groups, of which those that can use it have equal parts."""
    number = sum(one.verb in _WITH_DELTA for one in statement.aggregates)
    delta = statement.options.delta
    return None if delta is None or aggregate.verb not in _WITH_DELTA else delta / number


def _parts(statement: SqlStatement, aggregate: Aggregate, *, is_listed: bool) -> list[Call]:
    """Return an aggregate as a question, with its part of ε and δ; a share as two, of all and of true rows."""
    terms: dict[str, Any] = {
        **aggregate.terms,
        "epsilon": statement.options.epsilon / len(statement.aggregates),
    }
    terms |= {} if statement.by is None else {"by": statement.by}
    most = statement.options.max_groups
    terms |= {} if most is None else {"max_groups": most}
    delta = _share_of_delta(statement, aggregate) if is_listed else statement.options.delta
    terms |= {} if delta is None else {"delta": delta}
    terms |= {} if delta is None or is_listed else {"groups": "private"}
    least = statement.options.minimum_count
    terms |= {} if least is None or is_listed else {"minimum_count": least}
    columns = () if aggregate.column is None else (aggregate.column,)
    wheres = [
        {} if one is None else {"where": one} for one in aggregate.conditions(statement.where)
    ]
    return [Call(_VERBS[aggregate.verb], columns, {**terms, **where}) for where in wheres]


def _together(guarantees: Sequence[Guarantee]) -> Guarantee:
    """Return the guarantee of several answers together."""
    return guarantees[0] if len(guarantees) == 1 else compose(guarantees)


@dataclass(frozen=True, slots=True)
class _Plan:
    """A statement about a dataset, with everything public settled.

    Attributes:
        dataset: the dataset.
        statement: the statement.
        neighbors: the neighbouring relation.
        payer: the account that is to pay, or None.
    """

    dataset: Dataset
    statement: SqlStatement
    neighbors: Neighbors
    payer: Account | None = None

    @classmethod
    def of(
        cls,
        dataset: Dataset,
        statement: SqlStatement,
        neighbors: Neighbors,
        payer: Account | None,
    ) -> "_Plan":
        """Return the plan of a statement that agrees with the description.

        Raises:
            InvalidArgument: if it does not.
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
        statement = _with_declared_groups(dataset, statement)
        _check_groups(dataset, statement)
        return cls(dataset, statement, neighbors, payer)

    def deliveries(self, table: Any) -> list[Delivery]:
        """Return the aggregates as they would be delivered, from the table of the dataset. No rows are read."""
        return [self._delivery(table, aggregate) for aggregate in self.statement.aggregates]

    def _delivery(self, table: Any, aggregate: Aggregate) -> Delivery:
        """Return an aggregate as it would be delivered."""
        is_listed = _has_listed_groups(self.dataset, self.statement)
        calls = _parts(self.statement, aggregate, is_listed=is_listed)
        asks = use_of(aggregate.verb) if aggregate.truth is None else "records"
        terms = [self._terms_of(call, asks, aggregate.verb) for call in calls]
        with inside_a_verb():
            if aggregate.truth is None:
                return delivery_of(calls[0].verb, **terms[0], data=table)
            return delivery_of(share_of_rows, table, terms[1]["where"], **terms[0])

    def _terms_of(self, call: Call, asks: Asks, verb: str) -> dict[str, Any]:
        """Return the terms of a call, and those of the description, without the data."""
        terms = {**call.terms, "neighbors": self.neighbors}
        terms |= dict(zip(["column"], call.arguments, strict=False))
        arguments = fill_terms(self.dataset, terms, asks, verb)
        del arguments["data"]
        return arguments | {"ledger": self.payer}  # what it counts decides which noise is taken

    def query(self, deliveries: Sequence[Delivery]) -> Query:
        """Return the query in words, and in plain values all that decides the distribution of the answer."""
        statement = self.statement
        facts = {
            "columns": ", ".join(statement.columns), "row_names": statement.columns,
            "dataset": statement.dataset,
            **column_facts(statement.by, "by"),
            "where": None if statement.where is None else str(statement.where),
            "shown_from": self._shown_from,
        }  # fmt: skip
        least = {} if self._shown_from is None else {"minimum_count": self._shown_from}
        return Query(
            "sql",
            facts,
            {
                "columns": list(statement.columns),
                "parts": [one.order.bill().digest for one in deliveries],
                "order": [[key.name, key.descending, key.nulls_first] for key in statement.order],
                "limit": statement.limit,
                **least,
            },
        ).per(self.dataset.privacy_unit)

    @property
    def _shown_from(self) -> int | None:
        """The least noisy count of a listed group that is shown; those that are drawn have been left out before."""
        is_listed = _has_listed_groups(self.dataset, self.statement)
        return self.statement.options.minimum_count if is_listed else None

    def worst_error(self, deliveries: Sequence[Delivery]) -> ErrorBound | None:
        """Return how far off the only aggregate may be; None of several, of which `parts` says it."""
        return deliveries[0].order.worst_error() if len(deliveries) == 1 else None

    def parts(self, deliveries: Sequence[Delivery]) -> tuple[BilledPart, ...]:
        """Return the aggregates with their parts of the price, where there are several."""
        if len(deliveries) == 1:
            return ()
        orders = [
            (one.name, part.order)
            for one, part in zip(self.statement.aggregates, deliveries, strict=True)
        ]
        return tuple(
            BilledPart(name, one.guarantee, one.worst_error(), one.noise()) for name, one in orders
        )

    def noise(self, deliveries: Sequence[Delivery]) -> NoiseChoice | None:
        """Return which noise the only aggregate has; None of several, of which `parts` says it."""
        return deliveries[0].order.noise() if len(deliveries) == 1 else None

    def prepare(self, source: Any) -> Callable[[], list[Any]]:
        """Read the records of all aggregates, and return the function that draws them one after the other."""
        rows = unwrap_table(source)  # those of a query are fetched once, for all
        draws = [one.prepare() for one in self.deliveries(rows)]
        return lambda: [plain_indices(draw()) for draw in draws]

    def rows(self, source: Any, draws: Sequence[Any]) -> Answer:
        """Return the rows that draws stand for, sorted and cut as the statement says, and the errors of columns."""
        deliveries = self.deliveries(source)
        answers = [Answer.of(one.name(drawn)) for one, drawn in zip(deliveries, draws, strict=True)]
        errors = [
            answer.error or one.order.known_error()
            for one, answer in zip(deliveries, answers, strict=True)
        ]
        names = [aggregate.name for aggregate in self.statement.aggregates]
        error = errors[0] if len(errors) == 1 else dict(zip(names, errors, strict=True))
        noises = {name: one.order.noise() for name, one in zip(names, deliveries, strict=True)}
        by_column = noises if len(noises) > 1 and any(noises.values()) else None
        return Answer(self._table(answers), error=error, noise=by_column)

    def _table(self, answers: Sequence[Answer]) -> list[TableRow]:
        """Return the rows of answers to the aggregates."""
        statement = self.statement
        cells = {
            aggregate.name: _cells(aggregate, answer, is_grouped=statement.by is not None)
            for aggregate, answer in zip(statement.aggregates, answers, strict=True)
        }
        groups, least = list(next(iter(cells.values()))), self._shown_from
        if least is not None:
            counts = cells[_counts_of_all(statement, is_listed=True)[0]]
            groups = [group for group in groups if counts[group] >= least]
        table = [self._row(group, cells) for group in groups]
        for key in reversed(statement.order):
            table = _sorted(table, key.name, descending=key.descending, nulls_first=key.nulls_first)
        return table[: statement.limit]

    def _row(self, group: Any, cells: Mapping[str, Mapping[Any, Any]]) -> TableRow:
        """Return the row of a group, in the order of the select list."""
        of, parts = self.statement.group_names, self.statement.groups.values
        cells_of_group = () if self.statement.by is None else parts(group)
        return {
            name: cells[name][group] if name in cells else cells_of_group[of[name]]
            for name in self.statement.columns
        }


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


def _has_listed_groups(dataset: Dataset, statement: SqlStatement) -> bool:
    """Return whether the groups of a statement are declared, or there is one."""
    plain = [one.column for one in statement.groups.parts if not isinstance(one.part, Bins)]
    return all(dataset.column(name, "GROUP BY").values is not None for name in plain)


def _with_declared_groups(dataset: Dataset, statement: SqlStatement) -> SqlStatement:
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
    is_listed = _has_listed_groups(dataset, statement)
    if options.minimum_count is not None and not _counts_of_all(statement, is_listed=is_listed):
        raise InvalidArgument(
            "min_privacy_units_per_group compares a count that is released: select COUNT(*), or "
            "COUNT(DISTINCT unit) if the description has a privacy unit"
        )
    if is_listed:
        shares = [_share_of_delta(statement, one) for one in statement.aggregates]
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


def _counts_of_all(statement: SqlStatement, *, is_listed: bool) -> list[str]:
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


def _cells(aggregate: Aggregate, answer: Answer, *, is_grouped: bool) -> dict[Any, Any]:
    """Return the cells of a column of the answer by group; by None where there are no groups."""
    has_counts = aggregate.terms.get("method") == "counts"
    values = answer.value if is_grouped else {None: answer.value}
    counts = answer.counts if is_grouped else {None: answer.counts}
    if not has_counts:
        return dict(values)
    return {group: _counted_list(value, counts[group]) for group, value in values.items()}


def _counted_list(values: Sequence[Any], counts: Sequence[int]) -> list[TableRow]:
    """Return a list of values with their counts."""
    return [{"value": one, "count": n} for one, n in zip(values, counts, strict=True)]


def _sorted(
    table: list[TableRow], name: str, *, descending: bool, nulls_first: bool
) -> list[TableRow]:
    """Return released rows sorted by a column, equal ones in their order."""
    missing = [row for row in table if row[name] is None]
    others = sorted(
        (row for row in table if row[name] is not None),
        key=itemgetter(name),
        reverse=descending,
    )
    return [*missing, *others] if nulls_first else [*others, *missing]
