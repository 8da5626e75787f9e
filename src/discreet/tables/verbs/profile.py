"""profile: an undescribed table, column by column, at one price."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any, cast

from ...base.arguments import column_name, exact_text, read_sequence
from ...base.doors import fix
from ...base.error_boundary import error_boundary
from ...base.numbers import Number, count, spell
from ...base.warning import warn
from ...errors import InvalidArgument, MissingColumn, UnreadableData, preview
from ...mechanisms.accuracy import CONFIDENCE, geometric_error
from ...mechanisms.contract import PrivacyParameter, calibrate, read_parameter
from ...mechanisms.noisy_counts import NoisyCounts, counts_sensitivity
from ...privacy.calibration import read_share
from ...privacy.composition import compose, with_parts
from ...privacy.guarantees import ApproxDP, Guarantee, PureDP
from ...privacy.sensitivity import Neighbors, read_neighbors
from ...privacy.units import Unit, UnitNames, columns_of_unit, read_unit
from ...sampling.bits import SystemBits
from ...sampling.vectors import Vector, integers
from ...selection.account import Account, describe_account
from ...selection.answers import Answer
from ...selection.date_grid import ClockKind, DateGrid, clock_of_candidates
from ...selection.decimals import Decimals
from ...selection.payment import UNDESCRIBED
from ...selection.question import Order, Query
from ...selection.releases import Release
from ...selection.terms import read_payment
from ...selection.verb_calls import Delivery, delivery_of
from ..datasets import Dataset
from ..datasets.calls import check_raw, inside_a_verb, note_answer
from ..datasets.column_profile import ColumnProfile, ProfileKind
from ..datasets.columns import TYPES
from ..datasets.dataset import declared_unit
from ..datasets.dataset_terms import declared_bound
from ..datasets.declarations import few
from ..datasets.sources import source_words
from ..datasets.table_profile import Profile
from ..engines.column_list import (
    ColumnKind,
    column_kind,
    holds_integers,
    list_columns,
    shown_columns,
)
from ..engines.csv_files import can_be_name
from ..engines.engine import open_table
from ..engines.fits import DeclaredCells
from ..engines.progress import name_step
from ..engines.records import Records
from ..engines.sql_queries import SqlQuery
from .bounds import bounds
from .count import count as count_records
from .count import counts
from .quantiles import Levels, quantiles

OF_THE_SIZE, OF_THE_CELLS, OF_THE_ENDS = Fraction(1, 20), Fraction(1, 5), Fraction(1, 5)
"""The shares of epsilon: for the number of records, and of that of a column for its cells and its ends."""

MOST_RISK = Fraction(1, 100)
"""Delta times the units that there may be is at most this: the chance that any of them is shown as it is."""

_QUARTERS = (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4))
_DATE_SHARES = (Fraction(1, 100), *_QUARTERS, Fraction(99, 100))
_FIRST_DAY, _LAST_DAY = "1900-01-01", "2099-12-31"
_DECIMALS = Decimals(3)
_MOST_COLUMNS = 1000
_MOST_UNITS = 10**18


ColumnDraw = Callable[[], list[Any]]


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
    """Release a profile of an undescribed table: of its columns how much they hold, which values, or which numbers.

    To be asked first of all. Of a column of numbers or dates it releases the quartiles, and between which
    numbers nearly all are; of a column of texts the values that enough units share, with their counts; of each how
    many cells are filled. All of it is one release with one price, and may be published. It has a draft of
    discreet.toml too.

    Args:
        data: a table, as `mode` takes it. Private.
        epsilon: the privacy parameter ε of all of it together, a positive number without a unit. A twentieth is
            for the number of records; columns have equal shares of the rest.
        delta: the δ of all of it together, such as "1e-8": the values of columns of texts are released with a δ
            alone. Take less than one hundredth of one over the number of units.
        columns: the names of the columns that are profiled; those of the schema or the header without it.
        numbers: the names of columns that hold numbers. Without a type or a word of yours, noisy counts of the
            cells that spell numbers and dates decide, at a fifth of the ε of the column.
        dates: the names of columns that hold dates or times.
        texts: the names of columns whose values are wanted, though they may spell numbers, as postcodes do.
        at_most: the most units that there may be, as you know without a look: a δ too large for them is refused.
        minimum_count: no value is released that fewer units share.
        most: the most values of one column.
        neighbors: the neighbouring relation that is protected: "add_remove" (the default), one record more or
            less, or "replace_one", one record exchanged for another.
        privacy_unit: the name of the column of the privacy unit, such as a user id, or a list of names: all rows
            with one value are one record. These columns are left out of the profile. Without it every row is a
            record.
        max_contributions: the most rows of one privacy unit that count in a column, 1 by default.
        ledger: the account to charge, such as `Ledger("budget.db").session("adult")`. Without it no budget is kept.
        request: a name for this request in the ledger: the same request again returns the same profile and costs
            nothing. Without it every call is a new request.

    Returns:
        A release whose value is the `Profile`.

    Raises:
        InvalidArgument: if a public argument cannot be accepted; nothing private was looked at.
        MissingColumn: if a column is not there; nothing private was looked at.
        UnreadableData: if the data cannot be read.

    Side channels: those of counts, keys, quantiles and bounds. All that may be asked of a column is read before
    anything is drawn, whatever the cells are.

    Proof: docs/how-to/profile.md.
    """
    relation = read_neighbors(neighbors)
    with inside_a_verb():
        table = _Table.read(data, privacy_unit, max_contributions, is_charged=ledger is not None)
        kinds = _Kinds.read(numbers, dates, texts)
        names = table.columns(columns, kinds)
        price = _Price.read(epsilon, delta, at_most, relation)
        least = count(minimum_count, "minimum_count", most=_MOST_UNITS)
        keys = _KeyTerms(least, count(most, "most"))
        account = table.dataset.account() if ledger is None and table.dataset else ledger
        account, request = read_payment({"ledger": account, "request": request})
        plan = _plan(table, names, kinds, price, keys)
    account, unit = describe_account(account, table.about), table.unit
    order = Order(plan.query, plan.guarantee, "composed", dict, account, request, unit=unit)
    release = order.deliver(plan.prepare, plan.name)
    if account is None:
        note_answer("profile", data, release)
    return release


@dataclass(frozen=True, slots=True)
class _Kinds:
    """The kinds of columns that the caller says."""

    by_name: Mapping[str, ColumnKind]

    @classmethod
    def read(cls, numbers: object, dates: object, texts: object) -> "_Kinds":
        """Return the kinds by column.

        Raises:
            InvalidArgument: if a column is said to have two.
        """
        kinds: dict[str, ColumnKind] = {}
        lists: Sequence[tuple[ColumnKind, object]] = (
            ("numbers", numbers), ("dates", dates), ("texts", texts),
        )  # fmt: skip
        for kind, names in lists:
            for name in _names(names, kind):
                if kinds.setdefault(name, kind) != kind:
                    raise InvalidArgument(
                        f"column {preview(name)} is said to hold {kinds[name]} and {kind}: say one "
                        "of them"
                    )
        return cls(kinds)


@dataclass(frozen=True, slots=True)
class _KeyTerms:
    """The limits on the values of a column of texts: of how many units one is, and how many there are."""

    minimum_count: int
    most: int


@dataclass(frozen=True, slots=True)
class _Price:
    """The price of all of it together."""

    epsilon: Fraction
    delta: Fraction | None
    neighbors: Neighbors

    @classmethod
    def read(
        cls, epsilon: object, delta: object, at_most: object, neighbors: Neighbors
    ) -> "_Price":
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
class _Table:
    """The table, its records and its description, if it has one."""

    data: Any
    dataset: Dataset | None
    about: Any
    unit: Unit | None
    rows: int

    @classmethod
    def read(cls, data: object, unit: object, most: object, *, is_charged: bool) -> "_Table":
        """Return the table with its records: as they are given, and as its description declares them.

        Raises:
            InvalidArgument: if they contradict one another, or there is a bound and no unit.
        """
        privacy_unit = read_unit(unit)
        if isinstance(data, Dataset):
            own_unit, bound = declared_unit(data, privacy_unit), declared_bound(data, most)
            source, about = data.question()
            return cls(source, data, about(), own_unit, _bound(own_unit, bound))
        check_raw(data, "", is_charged=is_charged)
        return cls(data, None, UNDESCRIBED, privacy_unit, _bound(privacy_unit, most))

    def columns(self, names: object, kinds: _Kinds) -> list[str]:
        """Return the names of the columns that are profiled, but for those of the privacy unit.

        Raises:
            MissingColumn: if there is no such column.
            InvalidArgument: if nobody says what the columns are called.
        """
        all_names = list(self.dataset.columns) if self.dataset else list_columns(self.data)
        columns_to_profile = all_names if names is None else _names(names, "columns")
        if not columns_to_profile:
            raise InvalidArgument(
                "what are the columns called? no header or schema says it, or the first line looks like a row: "
                "give columns, the list of their names"
            )
        if all_names:
            wanted = (*columns_to_profile, *kinds.by_name, *columns_of_unit(self.unit))
            self._check_listed(all_names, wanted, is_by_header=names is None)
        strangers = [name for name in kinds.by_name if name not in columns_to_profile]
        if strangers:
            raise InvalidArgument(
                f"column {preview(strangers[0])} is none of those that are profiled"
            )
        to_profile = [name for name in columns_to_profile if name not in columns_of_unit(self.unit)]
        if not to_profile or len(to_profile) > _MOST_COLUMNS:
            raise InvalidArgument(
                f"a profile is of 1 to {_MOST_COLUMNS:,} columns besides the privacy unit, got "
                f"{len(to_profile):,}"
            )
        return to_profile

    def _check_listed(
        self, listed: Sequence[str], wanted: Iterable[str], *, is_by_header: bool
    ) -> None:
        """Raise for a column that is not there; warn of a first line that is taken for names and may be a row."""
        visible = listed if self.dataset else shown_columns(self.data)
        for name in wanted:
            if name not in listed:
                hidden = "others, which are not shown, as they may be a row"
                raise MissingColumn(
                    f"there is no column {preview(name)}; there are {few(visible) or hidden}"
                )
        if is_by_header and not visible and not all(map(can_be_name, listed)):
            warn(
                "the first line is taken for the names of the columns, though it looks like a row; if it is "
                "one, say the names: " + fix("names of columns")
            )

    def kind(self, name: str, kinds: _Kinds) -> ColumnKind | None:
        """Return the kind of a column: as it is said, as it is declared, or by its type; None if unknown."""
        if name in kinds.by_name and kinds.by_name[name] != "dates":
            return kinds.by_name[name]
        if self.dataset is not None:
            type_name = self.dataset.columns[name].type
            dates: dict[str, ColumnKind] = {"date": "dates", "datetime": "dates"}
            return "numbers" if TYPES[type_name].is_numeric else dates.get(type_name, "texts")
        kind = column_kind(self.data, name)
        return kind if kind in ("instants", "dates") else kinds.by_name.get(name, kind)

    def holds_integers(self, name: str) -> bool:
        """Return whether a column of numbers is one of whole numbers, as it is declared or by its type."""
        if self.dataset is not None:
            return self.dataset.columns[name].type == "integer"
        by_type = not isinstance(self.data, SqlQuery)  # whose rows would be read
        return by_type and holds_integers(self.data, name)

    @property
    def unit_terms(self) -> dict[str, Any]:
        """The privacy unit, as verbs take it."""
        return {} if self.unit is None else {"privacy_unit": self.unit}

    def bound_terms(self, name: str) -> dict[str, Any]:
        """Return the bound on the rows, or on the values, of a unit under the name that a verb has for it."""
        return {} if self.unit is None else {name: self.rows}


def _bound(unit: Unit | None, most: object) -> int:
    """Return the most rows of a unit that count in a column."""
    if unit is None and most is not None:
        raise InvalidArgument(
            "max_contributions bounds the rows of one privacy unit: name their column as privacy_unit"
        )
    return 1 if most is None else count(most, "max_contributions", most=10**6)


def _names(names: object, argument: str) -> list[str]:
    """Return distinct names of columns."""
    if exact_text(names) is not None:
        raise InvalidArgument(
            f"{argument} must be a list of names of columns, got {preview(names)}"
        )
    return [
        column_name(name, argument)
        for name in dict.fromkeys(read_sequence(cast("Any", names), argument, _MOST_COLUMNS))
    ]


@dataclass(frozen=True, slots=True)
class _Cells:
    """The noisy counts of the cells of a column: of other ones, of missing ones, and of each kind that is read.

    Attributes:
        table: the table.
        name: the name of the column.
        kinds: the kinds that are counted: that of the column, or those that it may have. Texts are the other ones.
        clock: the clock of its dates.
        epsilon: the epsilon of the counts.
        neighbors: the neighbouring relation.
    """

    table: _Table
    name: str
    kinds: Sequence[ProfileKind]
    clock: ClockKind | None
    epsilon: Fraction
    neighbors: Neighbors

    @property
    def _calibrated(self) -> Any:
        sensitivity = counts_sensitivity(
            1 if self.neighbors == "add_remove" else 2, self.neighbors, change=self.table.rows
        )
        return calibrate(NoisyCounts(), sensitivity, PrivacyParameter("epsilon", self.epsilon))

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of the counts."""
        guarantee: Guarantee = self._calibrated.guarantee
        return guarantee

    @property
    def error(self) -> int:
        """By how much the numbers of filled and of missing cells are off at most, with probability CONFIDENCE."""
        moved = self.table.rows * (1 if self.neighbors == "add_remove" else 2)
        classes = 2 + len(self.kinds)
        each = geometric_error(self.epsilon / moved, classes, CONFIDENCE)
        return each * (classes - 1)  # those that are filled are added up

    def prepare(self) -> ColumnDraw:
        """Count the cells, and return the function that adds noise to the counts."""
        unit = self.table.unit
        records = Records(unit, None if unit is None else self.table.rows)
        cells = DeclaredCells(open_table(self.table.data, self.name, records))
        numbers = self._numbers(cells)
        return partial(
            self._calibrated.law(Vector(integers(numbers), integral=True)).draw, SystemBits()
        )

    def _numbers(self, cells: DeclaredCells) -> list[int]:
        """Return how many cells are of no kind that is read, how many are missing, and how many of each kind."""
        if len(self.kinds) > 1:
            several = cells.kinds()
            return [several.texts, several.missing, several.numbers, several.dates]
        if not self.kinds:
            every = cells.every_one()
            return [every.fits, every.missing + every.unreadable]
        one = cells.of_kind(self.clock if self.kinds == ("dates",) else None)
        return [one.misfits, one.missing + one.unreadable, one.fits]

    def readable(self, kind: ProfileKind, drawn: Sequence[int]) -> int | None:
        """Return the noisy count of the cells of a kind; None for texts."""
        return drawn[2 + self.kinds.index(kind)] if kind in self.kinds else None


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
    cells: _Cells
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
        if kind == "dates":
            low, *quartiles, high = answers[0]
            return replace(column, quartiles=tuple(quartiles), ends=(low, high))
        return replace(column, quartiles=tuple(answers[0]), ends=tuple(answers[1]))


def decided_kind(numbers: Sequence[int]) -> ProfileKind:
    """Return the kind of a column of a text file, by the noisy counts of its cells: that of more than half."""
    texts, _, of_numbers, of_dates = numbers
    half = Fraction(texts + of_numbers + of_dates, 2)
    if of_numbers > half:
        return "numbers"
    return "dates" if of_dates > half else "texts"


@dataclass(frozen=True, slots=True)
class _Plan:
    """A profile with everything public settled."""

    table: _Table
    price: _Price
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

    def prepare(self) -> Callable[[], list[Any]]:
        """Read everything, column by column, and return the function that draws."""
        size, draws = self.size.prepare(), []
        for place, plan in enumerate(self.columns):
            name_step(place, len(self.columns))
            draws.append(plan.prepare())
        return lambda: [size(), *(draw() for draw in draws)]

    def name(self, drawn: Sequence[Any]) -> Profile:
        """Return the profile that a draw stands for."""
        size, *others = drawn
        columns = tuple(plan.read(each) for plan, each in zip(self.columns, others, strict=True))
        table, price = self.table, self.price
        return Profile(
            columns, Answer.of(self.size.name(size)).value, table.unit, table.rows, price.epsilon,
            price.delta, self.keys.minimum_count, tuple(self.left_out), source_words(table.data),
        )  # fmt: skip


def _plan(
    table: _Table, names: Sequence[str], kinds: _Kinds, price: _Price, keys: _KeyTerms
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
    part = _Price(
        price.epsilon * (1 - OF_THE_SIZE) / len(kind_by_name),
        None if price.delta is None else price.delta / max(1, of_texts),
        price.neighbors,
    )
    columns = [_column_plan(table, name, kind, part, keys) for name, kind in kind_by_name.items()]
    return _Plan(table, price, keys, size, columns, left_out)


def _column_plan(
    table: _Table, name: str, kind: ColumnKind | None, price: _Price, keys: _KeyTerms
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
    cells = _Cells(table, name, read, clock, of_the_cells, price.neighbors)
    answers = {one: several() for one, several in readings.items()}
    delta, is_integer = price.delta or Fraction(0), kind == "numbers" and table.holds_integers(name)
    return _ColumnPlan(name, sole_kind, cells, answers, of_the_answers, delta, is_integer)


@dataclass(frozen=True, slots=True)
class _Asking:
    """Orders for the questions about a column, which are not paid yet."""

    table: _Table
    name: str
    price: _Price
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
