"""profile: an undescribed table, column by column, at one price."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from ...base.error_boundary import error_boundary
from ...base.numbers import Number
from ...errors import InvalidArgument, UnreadableData
from ...privacy.composition import compose, with_parts
from ...privacy.guarantees import ApproxDP, Guarantee
from ...privacy.sensitivity import Neighbors, UnitNames, read_neighbors
from ...selection.answers import Answer
from ...selection.payment import Account, BilledPart, describe_account
from ...selection.question import Delivery, Order, Query
from ...selection.releases import Release
from ...selection.terms import read_payment
from ...selection.verb_calls import delivery_of
from ..datasets.calls import inside_a_verb, note_answer
from ..datasets.declarations import few
from ..datasets.sources import source_words
from ..datasets.table_profile import Profile
from ..engines.column_list import (
    ColumnKind,
)
from ..engines.progress import name_step
from .count import count as count_records
from .profile_arguments import ProfileTerms, StatedKinds, TableToProfile
from .profile_columns import ColumnPlan, column_plan

OF_THE_SIZE = Fraction(1, 20)
"""The share of epsilon for the number of records."""


@error_boundary
def profile(  # noqa: PLR0913  # what is known of the table, and its terms
    data: object,
    *,
    epsilon: Number | None = None,
    delta: Number | None = None,
    columns: Iterable[str] | None = None,
    numbers: Iterable[str] = (),
    dates: Iterable[str] = (),
    texts: Iterable[str] = (),
    at_most: int | None = None,
    minimum_count: int = 10,
    most: int = 1000,
    neighbors: Neighbors = "add_remove",
    privacy_unit: UnitNames | None = None,
    max_contributions: int | None = None,
    ledger: Account | None = None,
    request: str | None = None,
) -> Release[Profile]:
    """Release a profile of an undescribed table: how much each column holds, and which values or numbers.

    Ask this first. For columns of numbers or dates, it releases the quartiles and the range of nearly all values.
    For text columns, it releases the values that enough units share, with their counts. For all columns, it
    releases the number of filled cells. The profile is one release with one price, which you may publish, and it
    contains a draft of discreet.toml.

    Args:
        data: a table, as for `mode`. Private.
        epsilon: the privacy parameter ε of the whole profile, a positive number without a unit. A twentieth is for
            the number of records. Columns have equal shares of the rest.
        delta: the δ of the whole profile, such as "1e-8". The values of text columns are released only with a δ.
            Use less than one hundredth of one over the number of units.
        columns: the names of the columns to profile. By default those of the schema or the header.
        numbers: the names of columns of numbers. If neither a type nor an argument states the kind, noisy counts of
            readable numbers and dates decide, at a fifth of the ε of the column.
        dates: the names of columns of dates or times.
        texts: the names of columns to treat as text even if they look like numbers, such as postcodes.
        at_most: the most units that there may be, from public knowledge. A δ that is too large for them is
            rejected.
        minimum_count: the least number of units that must share a released value.
        most: the most values of one column.
        neighbors: the neighbouring relation that is protected: "add_remove" (the default), one record more or
            less, or "replace_one", one record exchanged for another.
        privacy_unit: the name of the column of the privacy unit, such as a user id, or a list of names. All rows
            with equal values there are one record. These columns are left out of the profile. By default every row
            is a record.
        max_contributions: the most rows of one privacy unit that count in a column, 1 by default.
        ledger: the account to charge, such as `Ledger("budget.db").session("adult")`. Without it, no budget is
            kept.
        request: a name for this request in the ledger. If you repeat the request, you get the same profile at no
            cost. Without a name, every call is a new request.

    Returns:
        A release with the `Profile` as its value.

    Raises:
        InvalidArgument: if a public argument is invalid. No private data were read.
        MissingColumn: if a column is missing. No private data were read.
        UnreadableData: if the data cannot be read.

    Side channels: those of counts, keys, quantiles and bounds. For any data, all that a column may be asked is read
    before anything is drawn.

    For the proof, see docs/how-to/profile.md.
    """
    relation = read_neighbors(neighbors)
    with inside_a_verb():
        table = TableToProfile.read(
            data, privacy_unit, max_contributions, is_charged=ledger is not None
        )
        kinds = StatedKinds.read(numbers, dates, texts)
        names = table.columns(columns, kinds)
        price = ProfileTerms.read(epsilon, (delta, at_most), (minimum_count, most), relation)
        account = table.dataset.account() if ledger is None and table.dataset else ledger
        account, request = read_payment({"ledger": account, "request": request})
        plan = _plan(table, names, kinds, price)
    account, unit = describe_account(account, table.about), table.unit
    public = plan.query, plan.guarantee, "composed", dict, account, request
    order = Order(*public, unit=unit, parts=plan.prices)
    release = order.deliver(plan.prepare, plan.name)
    if account is None:
        note_answer("profile", data, release)
    return release


@dataclass(frozen=True, slots=True)
class _Plan:
    """A profile with everything public settled."""

    table: TableToProfile
    price: ProfileTerms
    size: Delivery
    columns: Sequence[ColumnPlan]
    left_out: Sequence[tuple[str, str]]

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of all of it together; where an answer may use the delta, also the sum of all of them."""
        price = self.price
        guarantees = [
            self.size.order.guarantee,
            *(g for plan in self.columns for g in plan.guarantees),
        ]
        for plan in self.columns:
            plan.check()
        if price.delta is None or not any(one.slack for one in guarantees):
            return compose(guarantees)
        return with_parts(ApproxDP(price.epsilon, price.delta, price.neighbors), *guarantees)

    @property
    def query(self) -> Query:
        """The query in words, and in plain values all that decides the distribution of the answer."""
        unit, rows = self.table.unit, self.table.rows
        return Query(
            "profile",
            {"columns": few([plan.name for plan in self.columns]), "rows": rows},
            {
                "columns": [[plan.name, plan.kind, [*plan.cells.kinds]] for plan in self.columns],
                "parts": [
                    [
                        one.order.bill().digest
                        for several in plan.answers.values()
                        for one in several
                    ]
                    for plan in self.columns
                ],
                "size": self.size.order.bill().digest,
                "max_contributions": rows,
                "neighbors": self.price.neighbors,
                "epsilon": self.price.epsilon,
                "delta": self.price.delta,
            },
        ).per(unit)

    def prices(self) -> tuple[BilledPart, ...]:
        """Return the prices of the columns."""
        return tuple(plan.price for plan in self.columns)

    def prepare(self) -> Callable[[], list[Any]]:
        """Read everything, column by column, and return the function that draws."""
        size, draws = self.size.prepare(), []
        for place, plan in enumerate(self.columns):
            name_step(place, len(self.columns))
            draws.append(plan.prepare())
        return lambda: [size(), *(draw() for draw in draws)]

    def name(self, drawn: Sequence[Any]) -> Answer:
        """Return the profile that a draw stands for, with the errors by column."""
        size, *others = drawn
        columns = tuple(plan.read(each) for plan, each in zip(self.columns, others, strict=True))
        table, price = self.table, self.price
        profile = Profile(
            columns, Answer.of(self.size.name(size)).value, table.unit, table.rows, price.epsilon,
            price.delta, price.minimum_count, tuple(self.left_out), source_words(table.data),
        )  # fmt: skip
        return Answer(profile, error={column.name: column.error_bound for column in columns})


def _plan(
    table: TableToProfile,
    names: Sequence[str],
    kinds: StatedKinds,
    price: ProfileTerms,
) -> _Plan:
    """Return the plan of a profile; a column of a type that holds no values is left out, with its reason."""
    kind_by_name, left_out = dict[str, ColumnKind | None](), list[tuple[str, str]]()
    for name in names:
        try:
            kind_by_name[name] = table.kind(name, kinds)
        except UnreadableData as error:  # because of its type, which is public
            left_out.append((name, str(error)))
    if not kind_by_name:
        raise InvalidArgument("no column is of a type that can be profiled")
    shared = {"neighbors": price.neighbors, **table.unit_terms}
    size = delivery_of(count_records, table.data, epsilon=price.epsilon * OF_THE_SIZE, **shared)
    of_texts = sum(kind in (None, "texts") for kind in kind_by_name.values())
    part = replace(
        price,
        epsilon=price.epsilon * (1 - OF_THE_SIZE) / len(kind_by_name),
        delta=None if price.delta is None else price.delta / max(1, of_texts),
    )
    columns = [column_plan(table, name, kind, part) for name, kind in kind_by_name.items()]
    return _Plan(table, price, size, columns, left_out)
