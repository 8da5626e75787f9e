"""sql: a statement about a described dataset, at one price."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from typing import Any

from ...base.doors import fix
from ...base.error_boundary import error_boundary
from ...errors import InvalidArgument, preview
from ...mechanisms.accuracy import ErrorBound
from ...mechanisms.count_noise import NoiseChoice
from ...privacy.composition import compose
from ...privacy.guarantees import Guarantee
from ...privacy.sensitivity import Neighbors, read_neighbors
from ...selection.answers import Answer
from ...selection.bins import column_facts
from ...selection.payment import Account, BilledPart, describe_account
from ...selection.question import Delivery, Order, Query, plain_indices
from ...selection.releases import Release
from ...selection.terms import read_payment
from ...selection.verb_calls import Call, delivery_of
from ..conditions.sql_statements import Aggregate, SqlStatement, read_statement
from ..datasets.calls import inside_a_verb
from ..datasets.dataset import Dataset
from ..datasets.dataset_terms import fill_terms
from ..engines.engine import unwrap_table
from ..verb_table import Asks, use_of
from .count import count, count_distinct
from .described_statements import (
    agreed_statement,
    counts_of_all,
    has_listed_groups,
    share_of_delta,
    statement_about,
)
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
    about_it = agreed_statement(dataset, read_statement(statement))
    plan = _Plan(dataset, about_it, read_neighbors(neighbors), account)
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


def parts_of(statement: object, dataset: Dataset | None = None) -> list[Call]:
    """Return the aggregates of a statement as questions without their data.

    Raises:
        InvalidArgument: if it is no statement that is answered.
    """
    table = statement_about(statement, dataset)
    is_listed = table.by is None  # a declared column would be listed too
    calls = [_parts(table, aggregate, is_listed=is_listed) for aggregate in table.aggregates]
    return [call for some in calls for call in some]


def _parts(statement: SqlStatement, aggregate: Aggregate, *, is_listed: bool) -> list[Call]:
    """Return an aggregate as a question, with its part of ε and δ; a share as two, of all and of true rows."""
    terms: dict[str, Any] = {
        **aggregate.terms,
        "epsilon": statement.options.epsilon / len(statement.aggregates),
    }
    terms |= {} if statement.by is None else {"by": statement.by}
    most = statement.options.max_groups
    terms |= {} if most is None else {"max_groups": most}
    delta = share_of_delta(statement, aggregate) if is_listed else statement.options.delta
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

    def deliveries(self, table: Any) -> list[Delivery]:
        """Return the aggregates as they would be delivered, from the table of the dataset. No rows are read."""
        return [self._delivery(table, aggregate) for aggregate in self.statement.aggregates]

    def _delivery(self, table: Any, aggregate: Aggregate) -> Delivery:
        """Return an aggregate as it would be delivered."""
        is_listed = has_listed_groups(self.dataset, self.statement)
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
        is_listed = has_listed_groups(self.dataset, self.statement)
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
            counts = cells[counts_of_all(statement, is_listed=True)[0]]
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
