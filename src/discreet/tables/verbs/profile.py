"""profile: an undescribed table, column by column, at one price."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

from ...base.error_boundary import error_boundary
from ...base.numbers import Number, count, spell
from ...errors import InvalidArgument, UnreadableData
from ...mechanisms.contract import read_parameter
from ...privacy.calibration import read_share
from ...privacy.composition import compose, with_parts
from ...privacy.guarantees import ApproxDP, Guarantee, PureDP
from ...privacy.sensitivity import Neighbors, UnitNames, read_neighbors
from ...selection.account import Account, describe_account
from ...selection.answers import Answer
from ...selection.date_grid import DateGrid, clock_of_candidates
from ...selection.decimals import Decimals
from ...selection.payment import BilledPart
from ...selection.question import Order, Query
from ...selection.releases import Release
from ...selection.terms import read_payment
from ...selection.verb_calls import Delivery, delivery_of
from ..datasets.calls import inside_a_verb, note_answer
from ..datasets.column_profile import ColumnProfile, ProfileKind, bound_of_cells
from ..datasets.declarations import few
from ..datasets.sources import source_words
from ..datasets.table_profile import Profile
from ..engines.column_list import (
    ColumnKind,
)
from ..engines.progress import name_step
from .bounds import bounds
from .count import count as count_records
from .count import counts
from .kind_counts import ColumnDraw, KindCounts, decided_kind
from .profile_arguments import StatedKinds, TableToProfile
from .quantile_levels import Levels
from .quantiles import quantiles

OF_THE_SIZE, OF_THE_CELLS, OF_THE_ENDS = Fraction(1, 20), Fraction(1, 5), Fraction(1, 5)
"""The shares of epsilon: for the number of records, and of that of a column for its cells and its ends."""

MOST_RISK = Fraction(1, 100)
"""Delta times the units that there may be is at most this: the chance that any of them is shown as it is."""

_QUARTERS = (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4))
_DATE_SHARES = (Fraction(1, 100), *_QUARTERS, Fraction(99, 100))
_FIRST_DAY, _LAST_DAY = "1900-01-01", "2099-12-31"
_DECIMALS = Decimals(3)
_MOST_UNITS = 10**18


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

    Side channels: those of counts, keys, quantiles and bounds. For any
    data, a column is read whole before anything is drawn.

    For the proof, see docs/how-to/profile.md.
    """
    relation = read_neighbors(neighbors)
    with inside_a_verb():
        table = TableToProfile.read(
            data, privacy_unit, max_contributions, is_charged=ledger is not None
        )
        kinds = StatedKinds.read(numbers, dates, texts)
        names = table.columns(columns, kinds)
        price = _ProfilePrice.read(epsilon, delta, at_most, relation)
        least = count(minimum_count, "minimum_count", most=_MOST_UNITS)
        keys = _KeyTerms(least, count(most, "most"))
        account = table.dataset.account() if ledger is None and table.dataset else ledger
        account, request = read_payment({"ledger": account, "request": request})
        plan = _plan(table, names, kinds, price, keys)
    account, unit = describe_account(account, table.about), table.unit
    public = plan.query, plan.guarantee, "composed", dict, account, request
    order = Order(*public, unit=unit, parts=plan.prices)
    release = order.deliver(plan.prepare, plan.name)
    if account is None:
        note_answer("profile", data, release)
    return release


@dataclass(frozen=True, slots=True)
class _KeyTerms:
    """The limits on the values of a column of texts: of how many units one is, and how many there are."""

    minimum_count: int
    most: int


@dataclass(frozen=True, slots=True)
class _ProfilePrice:
    """The price of all of it together."""

    epsilon: Fraction
    delta: Fraction | None
    neighbors: Neighbors

    @classmethod
    def read(
        cls, epsilon: object, delta: object, at_most: object, neighbors: Neighbors
    ) -> "_ProfilePrice":
        """Return the price.

        Raises:
            InvalidArgument: if there is none, or delta is too large for the units that there may be.
        """
        parameter = read_parameter(epsilon, None, None)
        if parameter is None:
            raise InvalidArgument("how much privacy? give epsilon, for example 1")
        share = None if delta is None else read_share(delta)
        units = None if at_most is None else count(at_most, "at_most", most=_MOST_UNITS)
        if units is not None and share is None:
            raise InvalidArgument("at_most says whether delta is small enough: give delta too")
        if units is not None and share is not None and share * units > MOST_RISK:
            raise InvalidArgument(
                f"delta = {spell(share)} is too large for {units:,} units: times that number it "
                f"may be {spell(MOST_RISK)} at most, so give {spell(MOST_RISK / units)} or less"
            )
        return cls(parameter.value, share, neighbors)


@dataclass(frozen=True, slots=True)
class _ColumnPlan:
    """The questions about a column, with everything public settled.

    Attributes:
        name: the name of the column.
        kind: its kind, or None where noisy counts decide.
        cells: the counts of its cells.
        answers: the questions about it if it is of that kind.
        epsilon: the epsilon of these.
        delta: their delta.
        is_integer: whether it is of a type of whole numbers.
    """

    name: str
    kind: ProfileKind | None
    cells: KindCounts
    answers: Mapping[ProfileKind, Sequence[Delivery]]
    epsilon: Fraction
    delta: Fraction
    is_integer: bool

    @property
    def guarantees(self) -> Iterator[Guarantee]:
        """The guarantees of all that is asked of the column; where noise decides, one that holds for each case."""
        yield self.cells.guarantee
        if self.kind is not None:
            yield from (one.order.guarantee for one in self.answers[self.kind])
        elif self.delta:
            yield ApproxDP(self.epsilon, self.delta, self.cells.neighbors)
        else:
            yield PureDP(self.epsilon, self.cells.neighbors)

    @property
    def price(self) -> BilledPart:
        """The price of the column, and how far off its quartiles may be, or its cells where noise decides."""
        bound = bound_of_cells(self.cells.error)
        if self.kind in ("numbers", "dates"):
            bound = self.answers[self.kind][0].order.worst_error() or bound
        whole, neighbors = self.epsilon + self.cells.epsilon, self.cells.neighbors
        slack = max(one.slack for one in self.guarantees)
        pays = ApproxDP(whole, slack, neighbors) if slack else PureDP(whole, neighbors)
        return BilledPart(self.name, pays, bound)

    def needed(self, kind: ProfileKind) -> int:
        """Return about how many cells keep the quartiles among them, from public numbers; 0 for texts."""
        table, neighbors = self.cells.table, self.cells.neighbors
        if kind == "texts":
            return 0
        is_dates = kind == "dates"
        epsilon = self.epsilon * (1 if is_dates else 1 - OF_THE_ENDS)
        if table.unit is not None:
            epsilon /= table.rows * (1 if neighbors == "add_remove" else 2)
            neighbors = "add_remove"
        levels = Levels(_DATE_SHARES if is_dates else _QUARTERS, epsilon, neighbors)
        size = (_days(is_zoned=False) if is_dates else _DECIMALS).size
        needed = dict(zip(levels.alphas, levels.needed_by_alpha(size, "recursive"), strict=True))
        return max(needed[alpha] for alpha in _QUARTERS)

    def check(self) -> None:
        """Raise if an answer could cost more than the column pays."""
        for several in self.answers.values():
            costs = [one.order.guarantee.approx(one.order.guarantee.slack) for one in several]
            epsilon, delta = sum(cost.epsilon for cost in costs), sum(cost.delta for cost in costs)
            if epsilon > self.epsilon or delta > self.delta:
                raise ArithmeticError("the answers of a column cost more than its part")

    def prepare(self) -> ColumnDraw:
        """Read all that may be asked, and return the function that draws the answers of one kind."""
        cells = self.cells.prepare()
        draws = {kind: [one.prepare() for one in several] for kind, several in self.answers.items()}

        def draw() -> list[Any]:
            numbers = cells()
            kind = self.kind or decided_kind(numbers)
            return [numbers, *(one() for one in draws[kind])]

        return draw

    def read(self, drawn: Sequence[Any]) -> ColumnProfile:
        """Return the profile of the column that a draw stands for."""
        numbers, *others = drawn
        kind = self.kind or decided_kind(numbers)
        answers = [
            Answer.of(one.name(indices)).value
            for one, indices in zip(self.answers[kind], others, strict=True)
        ]
        filled, missing = numbers[0] + sum(numbers[2:]), numbers[1]
        column = ColumnProfile(
            self.name, kind, self.kind is not None, filled, missing, self.cells.error,
            readable=self.cells.readable(kind, numbers), needed=self.needed(kind),
            is_integer=self.is_integer,
        )  # fmt: skip
        if kind == "texts":
            return replace(column, counts=answers[0] if answers else None)
        if not column.carries_quartiles:
            return column  # what was drawn of so few cells is noise
        column = replace(column, rank_error=self.answers[kind][0].order.worst_error())
        if kind == "dates":
            low, *quartiles, high = answers[0]
            return replace(column, quartiles=tuple(quartiles), ends=(low, high))
        return replace(column, quartiles=tuple(answers[0]), ends=tuple(answers[1]))


@dataclass(frozen=True, slots=True)
class _Plan:
    """A profile with everything public settled."""

    table: TableToProfile
    price: _ProfilePrice
    keys: _KeyTerms
    size: Delivery
    columns: Sequence[_ColumnPlan]
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
            price.delta, self.keys.minimum_count, tuple(self.left_out), source_words(table.data),
        )  # fmt: skip
        return Answer(profile, error={column.name: column.error_bound for column in columns})


def _plan(
    table: TableToProfile,
    names: Sequence[str],
    kinds: StatedKinds,
    price: _ProfilePrice,
    keys: _KeyTerms,
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
    part = _ProfilePrice(
        price.epsilon * (1 - OF_THE_SIZE) / len(kind_by_name),
        None if price.delta is None else price.delta / max(1, of_texts),
        price.neighbors,
    )
    columns = [_column_plan(table, name, kind, part, keys) for name, kind in kind_by_name.items()]
    return _Plan(table, price, keys, size, columns, left_out)


def _column_plan(
    table: TableToProfile, name: str, kind: ColumnKind | None, price: _ProfilePrice, keys: _KeyTerms
) -> _ColumnPlan:
    """Return the plan of a column: the questions of all kinds that it may hold."""
    nothing_more = kind == "texts" and price.delta is None
    of_the_answers = price.epsilon * (0 if nothing_more else 1 - OF_THE_CELLS)
    ask = _Asking(table, name, replace(price, epsilon=of_the_answers), keys)
    by_kind: dict[ProfileKind, Callable[[], Sequence[Delivery]]] = {
        "texts": ask.values, "numbers": ask.numbers,
        "dates": partial(ask.dates, is_zoned=kind == "instants"),
    }  # fmt: skip
    sole_kind: ProfileKind | None = "dates" if kind == "instants" else kind
    readings = by_kind if sole_kind is None else {sole_kind: by_kind[sole_kind]}
    of_the_cells = price.epsilon - of_the_answers
    counted: dict[ProfileKind | None, tuple[ProfileKind, ...]] = {
        None: ("numbers", "dates"), "texts": (),
    }  # fmt: skip
    read = counted.get(sole_kind, (sole_kind,) if sole_kind else ())
    clock = clock_of_candidates(_days(is_zoned=kind == "instants"))
    cells = KindCounts(table, name, read, clock, of_the_cells, price.neighbors)
    answers = {one: several() for one, several in readings.items()}
    delta, is_integer = price.delta or Fraction(0), kind == "numbers" and table.holds_integers(name)
    return _ColumnPlan(name, sole_kind, cells, answers, of_the_answers, delta, is_integer)


@dataclass(frozen=True, slots=True)
class _Asking:
    """Orders for the questions about a column, which are not paid yet."""

    table: TableToProfile
    name: str
    price: _ProfilePrice
    keys: _KeyTerms

    def numbers(self) -> list[Delivery]:
        """Return the quartiles, and between which numbers nearly all are."""
        ends = self.price.epsilon * OF_THE_ENDS
        bound = self.table.bound_terms("max_contributions")
        return [
            self._ask(
                quantiles,
                self.price.epsilon - ends,
                alphas=_QUARTERS,
                candidates=_DECIMALS,
                **bound,
            ),
            self._ask(bounds, ends, **bound),
        ]

    def dates(self, *, is_zoned: bool) -> list[Delivery]:
        """Return the quartiles of dates, and between which nearly all are, on a grid of two centuries."""
        days = _days(is_zoned=is_zoned)
        bound = self.table.bound_terms("max_contributions")
        alphas = _DATE_SHARES
        return [self._ask(quantiles, self.price.epsilon, alphas=alphas, candidates=days, **bound)]

    def values(self) -> list[Delivery]:
        """Return the values that enough units share, with their counts; none without a delta."""
        if self.price.delta is None:
            return []
        bound = self.table.bound_terms("max_groups")
        terms = {"delta": self.price.delta, "minimum_count": self.keys.minimum_count}
        return [self._ask(counts, self.price.epsilon, most=self.keys.most, **terms, **bound)]

    def _ask(self, verb: Callable[..., Release], epsilon: Fraction, **terms: Any) -> Delivery:
        shared = {"neighbors": self.price.neighbors, **self.table.unit_terms}
        return delivery_of(verb, self.table.data, self.name, epsilon=epsilon, **shared, **terms)


def _days(*, is_zoned: bool) -> DateGrid:
    """Return the days among which dates are answered."""
    return DateGrid(_FIRST_DAY, _LAST_DAY, zone="UTC" if is_zoned else None)
