"""The columns of a profile: noisy counts of their cells, and the verbs that are asked about each, not paid yet."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

from ...mechanisms.contract import PrivacyParameter
from ...mechanisms.noisy_counts import NoisyCounts, counts_sensitivity
from ...privacy.guarantees import ApproxDP, Guarantee, PureDP
from ...privacy.sensitivity import Neighbors
from ...sampling.bits import SystemBits
from ...selection.answers import Answer
from ...selection.date_grid import ClockKind, DateGrid, clock_of_candidates
from ...selection.decimals import Decimals
from ...selection.payment import BilledPart
from ...selection.question import Delivery
from ...selection.releases import Release
from ...selection.verb_calls import delivery_of
from ..datasets.column_profile import ColumnProfile, ProfileKind, bound_of_cells
from ..engines.column_list import (
    ColumnKind,
)
from ..engines.engine import open_table
from ..engines.fits import DeclaredCells
from ..engines.records import Records
from .bounds import bounds
from .count import counts
from .noisy_numbers import ListNoise
from .profile_arguments import ProfileTerms, TableToProfile
from .quantile_levels import Levels
from .quantiles import quantiles

OF_THE_CELLS, OF_THE_ENDS = Fraction(1, 5), Fraction(1, 5)
"""The shares of the epsilon of a column: for its cells, and for its ends."""

_QUARTERS = (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4))
_DATE_SHARES = (Fraction(1, 100), *_QUARTERS, Fraction(99, 100))
_FIRST_DAY, _LAST_DAY = "1900-01-01", "2099-12-31"
_DECIMALS = Decimals(3)


ColumnDraw = Callable[[], list[Any]]


@dataclass(frozen=True, slots=True)
class KindCounts:
    """The noisy counts of the cells of a column: of other ones, of missing ones, and of each kind that is read.

    Attributes:
        table: the table.
        name: the name of the column.
        kinds: the kinds that are counted: that of the column, or those that it may have. Texts are the other ones.
        clock: the clock of its dates.
        epsilon: the epsilon of the counts.
        neighbors: the neighbouring relation.
    """

    table: TableToProfile
    name: str
    kinds: Sequence[ProfileKind]
    clock: ClockKind | None
    epsilon: Fraction
    neighbors: Neighbors

    @property
    def _noise(self) -> ListNoise:
        sensitivity = counts_sensitivity(
            1 if self.neighbors == "add_remove" else 2, self.neighbors, change=self.table.rows
        )
        return ListNoise(NoisyCounts(), sensitivity, PrivacyParameter("epsilon", self.epsilon))

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of the counts."""
        return self._noise.calibrated.guarantee

    @property
    def error(self) -> int:
        """By how much the numbers of filled and of missing cells are off at most, with probability CONFIDENCE."""
        classes = 2 + len(self.kinds)
        return self._noise.error(classes) * (classes - 1)  # those that are filled are added up

    def prepare(self) -> ColumnDraw:
        """Count the cells, and return the function that adds noise to the counts."""
        unit = self.table.unit
        records = Records(unit, None if unit is None else self.table.rows)
        cells = DeclaredCells(open_table(self.table.data, self.name, records))
        return partial(self._noise.law(self._numbers(cells)).draw, SystemBits())

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


def decided_kind(numbers: Sequence[int]) -> ProfileKind:
    """Return the kind of a column of a text file, by the noisy counts of its cells: that of more than half."""
    texts, _, of_numbers, of_dates = numbers
    half = Fraction(texts + of_numbers + of_dates, 2)
    if of_numbers > half:
        return "numbers"
    return "dates" if of_dates > half else "texts"


@dataclass(frozen=True, slots=True)
class ColumnPlan:
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


def column_plan(
    table: TableToProfile, name: str, kind: ColumnKind | None, price: ProfileTerms
) -> ColumnPlan:
    """Return the plan of a column: the questions of all kinds that it may hold."""
    nothing_more = kind == "texts" and price.delta is None
    of_the_answers = price.epsilon * (0 if nothing_more else 1 - OF_THE_CELLS)
    ask = _Asking(table, name, replace(price, epsilon=of_the_answers))
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
    return ColumnPlan(name, sole_kind, cells, answers, of_the_answers, delta, is_integer)


@dataclass(frozen=True, slots=True)
class _Asking:
    """Orders for the questions about a column, which are not paid yet."""

    table: TableToProfile
    name: str
    price: ProfileTerms

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
        terms = {"delta": self.price.delta, "minimum_count": self.price.minimum_count}
        return [self._ask(counts, self.price.epsilon, most=self.price.most, **terms, **bound)]

    def _ask(self, verb: Callable[..., Release], epsilon: Fraction, **terms: Any) -> Delivery:
        shared = {"neighbors": self.price.neighbors, **self.table.unit_terms}
        return delivery_of(verb, self.table.data, self.name, epsilon=epsilon, **shared, **terms)


def _days(*, is_zoned: bool) -> DateGrid:
    """Return the days among which dates are answered."""
    return DateGrid(_FIRST_DAY, _LAST_DAY, zone="UTC" if is_zoned else None)
