"""Budgets and amounts of privacy as exact fractions. Proofs: docs/how-to/ledger.md."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

from ..errors import Exhausted, InvalidArgument, InvalidNumber, shown
from ..numbers import positive, spell, spell_down
from ..privacy.contract import Guarantee
from ..privacy.conversions import rho_for
from ..privacy.sensitivity import Neighbors
from ..privacy.statements import relation
from ..privacy.units import Unit, one_record, plain_unit
from ..text_tables import fact_table

_FINEST = 4096
"""Bits of the longest denominator that is stored; finer amounts are rounded up."""

_MOST = 10**300
_SIGNS = {"epsilon": "ε", "rho": "ρ", "delta": "δ"}


@dataclass(frozen=True, slots=True)
class Amount:
    """An amount of privacy in the units that a budget counts. None means not counted, or unbounded.

    Attributes:
        epsilon: a sum of epsilons of pure differential privacy.
        rho: a sum of rhos of zero-concentrated differential privacy.
        delta: a sum of deltas.
        left: whether this is the remainder of a budget, which is printed rounded down instead of up.
    """

    epsilon: Fraction | None = None
    rho: Fraction | None = None
    delta: Fraction = Fraction(0)
    left: bool = field(default=False, compare=False, repr=False)

    def __add__(self, other: "Amount") -> "Amount":
        return Amount(
            _sum(self.epsilon, other.epsilon), _sum(self.rho, other.rho),
            rounded_fraction(self.delta + other.delta),
        )  # fmt: skip

    def __sub__(self, other: "Amount") -> "Amount":
        """The difference in all units; None where it is unbounded."""
        return Amount(
            _rest(other.epsilon, self.epsilon), _rest(other.rho, self.rho), self.delta - other.delta,
            left=True,
        )  # fmt: skip

    def as_dict(self) -> dict[str, str]:
        """Return the exact numbers as text, without units that are not counted."""
        named = {"epsilon": self.epsilon, "rho": self.rho, "delta": self.delta or None}
        return {unit: str(value) for unit, value in named.items() if value is not None}

    def __str__(self) -> str:
        spelled = spell_down if self.left else spell
        numbers = {unit: spelled(Fraction(value)) for unit, value in self.as_dict().items()}
        said = {unit: _equals(_SIGNS[unit], text) for unit, text in numbers.items()}
        delta = said.pop("delta", "")
        return ", ".join(filter(None, [" or ".join(said.values()), delta])) or "nothing"


@lru_cache(maxsize=1024)
def _parsed(text: str) -> Fraction:
    """Return a fraction written as digits with at most one slash: never negative, and no larger than its text."""
    if not re.fullmatch("[0-9]+(/[0-9]+)?", text):
        raise ValueError("an amount is digits, or digits by digits")
    return Fraction(text)


def read_amount(plain: dict[str, str]) -> Amount:
    """Return an amount from its `as_dict`."""
    numbers: dict[str, Any] = {unit: _parsed(text) for unit, text in plain.items()}
    return Amount(**numbers)


@dataclass(frozen=True, slots=True, repr=False)
class Budget:
    """The privacy budget of a dataset, or an analyst's share of it: total and spent. Exact, and not private.

    The guarantee is `total` under the neighboring relation: a bound on the sum of epsilons, or of rhos. With
    a delta there are both, and either sum certifies the (epsilon, delta)-guarantee.

    Attributes:
        dataset: the name of the dataset.
        analyst: the analyst whose share it is; None for the budget of the dataset itself.
        neighbors: the neighboring relation.
        total: the bounds on the sums. A unit that is None is not counted.
        spent: the sums so far. None: the charges are unbounded in this unit.
        unit: the privacy unit: a column of which all rows with one value are one record, or a tuple of several;
            None if every row is one.
        period: the year, quarter or month that it is for, such as "2027"; None if it has none.
        is_current: whether releases are charged to it; False if it was renewed. Known of budgets in lists.
    """

    dataset: str
    analyst: str | None
    neighbors: Neighbors
    total: Amount
    spent: Amount
    unit: Unit | None = None
    period: str | None = None
    is_current: bool = True

    @property
    def kind(self) -> str:
        """The privacy parameters that it bounds: "epsilon", "rho" or "epsilon and delta"."""
        if self.total.delta:
            return "epsilon and delta"
        return "rho" if self.total.epsilon is None else "epsilon"

    @property
    def terms(self) -> tuple[Fraction | None, ...]:
        """Epsilon, rho and delta as they were given to `Ledger.open`, without derived bounds."""
        derived = self.kind == "epsilon and delta"
        return self.total.epsilon, None if derived else self.total.rho, self.total.delta

    @property
    def standing(self) -> str:
        """Its period, and whether it was renewed, in words."""
        return ", ".join(filter(None, [self.period, "" if self.is_current else "renewed"]))

    @property
    def remaining(self) -> Amount:
        """The remainder of every sum that still certifies the guarantee; the others are None."""
        return self.total - self.spent

    def as_dict(self) -> dict[str, object]:
        """Return the budget in plain values, exact numbers as text, ready for JSON."""
        sums = {"total": self.total, "spent": self.spent, "remaining": self.remaining}
        return {
            "dataset": self.dataset, "analyst": self.analyst, "neighbors": self.neighbors,
            "privacy_unit": plain_unit(self.unit), "period": self.period, "is_current": self.is_current,
            **{name: amount.as_dict() for name, amount in sums.items()},
        }  # fmt: skip

    @property
    def state(self) -> dict[str, object]:
        """The budget after an event as its body records it: plain values, without dataset and analyst."""
        return {
            "neighbors": self.neighbors, "privacy_unit": plain_unit(self.unit),
            "total": self.total.as_dict(), "spent": self.spent.as_dict(),
        }  # fmt: skip

    @property
    def name(self) -> str:
        """The dataset, and the analyst if it is a share."""
        return self.dataset if self.analyst is None else f"{self.dataset} / {self.analyst}"

    def cost(self, guarantee: Guarantee, unit: Unit | None = None) -> Amount:
        """Return the cost of a release in the units of this budget, under its neighboring relation.

        Args:
            guarantee: the guarantee of the release.
            unit: the privacy unit of the release, which must be that of the budget.

        Raises:
            InvalidArgument: if the guarantee implies no bound in a unit of this budget.
        """
        self._check_unit(unit)
        held = guarantee
        if guarantee.neighbors != self.neighbors:
            held = guarantee.under(self.neighbors)
        cost = self._in_units(held)
        if cost.epsilon is None and cost.rho is None:
            raise InvalidArgument(
                f"the budget of {self.name} counts {self.kind}, and none follows from this release "
                f"({guarantee}): take a mechanism whose guarantee has one, or keep a budget in another unit"
            )
        return cost

    def _check_unit(self, unit: Unit | None) -> None:
        """Raise if the privacy units differ: docs/how-to/user_level_privacy.md says why no unit implies another."""
        if unit == self.unit:
            return
        fix = (
            f"ask with privacy_unit={plain_unit(self.unit)!r}"
            if self.unit
            else "ask without privacy_unit"
        )
        raise InvalidArgument(
            f"the budget of {self.name} protects {one_record(self.unit)}, and this release "
            f"{one_record(unit)}: {fix}, or pay from a budget that was opened for that"
        )

    def _in_units(self, held: Guarantee) -> Amount:
        if self.total.delta and 0 < held.slack < 1:
            rest = Fraction(0) if held.core is None else held.core.pure
            return Amount(_up(rest), None, rounded_fraction(held.slack))
        return Amount(
            None if self.total.epsilon is None else _up(held.pure),
            None if self.total.rho is None else _up(held.rho),
        )

    def fits(self, cost: Amount) -> bool:
        """Return whether the budget can pay a cost."""
        if cost.delta and self.spent.rho:
            return False  # the first charge had no delta, so delta is reserved for composition
        after = replace(self, spent=self.spent + cost).remaining
        return after.delta >= 0 and (after.epsilon is not None or after.rho is not None)

    def charged(self, cost: Amount) -> "Budget":
        """Return the budget after a charge.

        Raises:
            Exhausted: if it does not fit.
        """
        if self.fits(cost):
            return replace(self, spent=self.spent + cost)
        hint = ""
        if cost.delta and self.spent.rho:
            hint = "; its delta is pledged to composition, as its first charge had none of its own"
        raise Exhausted(
            f"the budget of {self.name} cannot pay {cost}: spent {self.spent} of {self.total}, "
            f"remaining {self.remaining}{hint}",
            requested=cost, spent=self.spent, remaining=self.remaining,
        )  # fmt: skip

    def extended(self, total: Amount) -> "Budget":
        """Return the budget with a larger total of the same kind.

        Raises:
            InvalidArgument: if it is of another kind, or smaller.
        """
        larger = replace(self, total=total)
        rests = [_rest(ours, theirs) for ours, theirs in _counted(self.total, total)]
        if larger.kind != self.kind or None in rests or total == self.total:
            raise InvalidArgument(
                f"the budget of {self.name} is {self.total}; it can only be extended to more of the same, "
                f"got {total}"
            )
        return larger

    def cells(self) -> dict[str, str]:
        """Return the budget as the row of a table."""
        return {
            "budget": f"{self.name} ({self.standing})" if self.standing else self.name,
            "total": str(self.total), "spent": str(self.spent),
            "remaining": str(self.remaining), "protects": relation(self.neighbors, self.unit),
        }  # fmt: skip

    def _repr_html_(self) -> str:
        return fact_table("Privacy budget", self.cells()).html()

    def __repr__(self) -> str:
        return f"Budget({self})"

    def __str__(self) -> str:
        units = [
            f"{_SIGNS[unit]}: {_spelled(spent)} of {_spelled(total)} spent, {_spelled(rest, spell_down)} left"
            for unit, spent, total, rest in self._lines()
        ]
        delta = f"{_equals('δ', spell(self.total.delta))}, " if self.total.delta else ""
        protects = relation(self.neighbors, self.unit)
        standing = f"; {self.standing}" if self.standing else ""
        return f"{self.name}: {' or '.join(units)} ({delta}{protects}){standing}"

    def _lines(self) -> Iterable[tuple[str, Fraction | None, Fraction, Fraction | None]]:
        sums, rest = self.spent, self.remaining
        if self.total.epsilon is not None:
            yield "epsilon", sums.epsilon, self.total.epsilon, rest.epsilon
        if self.total.rho is not None:
            yield "rho", sums.rho, self.total.rho, rest.rho


def read_total(epsilon: object, rho: object, delta: object) -> Amount:
    """Return the total of a new budget, given as epsilon, as rho, or as epsilon and delta.

    Raises:
        InvalidArgument: if it is none of these, or a number is out of range.
    """
    if (epsilon is None) == (rho is None) or (delta is not None and epsilon is None):
        raise InvalidArgument("give a budget as epsilon, as rho, or as epsilon and delta")
    if epsilon is None:
        return Amount(rho=_bound(rho, "rho"))
    bound = _bound(epsilon, "epsilon")
    if delta is None:
        return Amount(epsilon=bound)
    failure = _bound(delta, "delta")
    if failure >= 1:
        raise InvalidNumber(f"delta must be below one, got {shown(delta)}")
    return Amount(bound, rho_for(bound, failure), failure)


def new_budget(
    dataset: str, analyst: str | None, neighbors: Neighbors, total: Amount, unit: Unit | None = None
) -> Budget:
    """Return a budget without charges."""
    nothing = Amount(
        None if total.epsilon is None else Fraction(0), None if total.rho is None else Fraction(0)
    )
    return Budget(dataset, analyst, neighbors, total, nothing, unit)


def budget_order(budget: Budget) -> tuple[str, str]:
    """Return a key that sorts budgets by dataset and analyst, a dataset's own budget first."""
    return budget.dataset, budget.analyst or ""


def rounded_fraction(value: Fraction) -> Fraction:
    """Return the value, or the next multiple of 2**-4096 if its denominator is longer than that."""
    if value.denominator.bit_length() <= _FINEST + 1:
        return value
    return Fraction(-(-(value.numerator << _FINEST) // value.denominator), 1 << _FINEST)


def _up(value: Fraction | None) -> Fraction | None:
    return None if value is None else rounded_fraction(value)


def _sum(ours: Fraction | None, theirs: Fraction | None) -> Fraction | None:
    """Return the sum; None, unbounded, if one of the two is."""
    return None if ours is None or theirs is None else rounded_fraction(ours + theirs)


def _rest(spent: Fraction | None, total: Fraction | None) -> Fraction | None:
    """Return the remainder; None if there is no bound, or it is exceeded."""
    return None if spent is None or total is None or spent > total else total - spent


def _counted(ours: Amount, theirs: Amount) -> list[tuple[Fraction, Fraction | None]]:
    """Return the numbers of both amounts in the units that `ours` counts."""
    pairs = [(ours.epsilon, theirs.epsilon), (ours.rho, theirs.rho), (ours.delta, theirs.delta)]
    return [(mine, other) for mine, other in pairs if mine is not None]


def _bound(value: object, name: str) -> Fraction:
    """Return a positive number of moderate size with a short denominator."""
    bound = positive(value, name)
    if not Fraction(1, _MOST) <= bound <= _MOST or rounded_fraction(bound) != bound:
        raise InvalidNumber(
            f"{name} must be between 1e-300 and 1e300, and short, got {shown(value)}"
        )
    return bound


def _spelled(value: Fraction | None, spelled: Callable[[Fraction], str] = spell) -> str:
    return "no bound" if value is None else spelled(value)


def _equals(sign: str, said: str) -> str:
    return f"{sign} {said}" if said.startswith(("≤", "≥")) else f"{sign} = {said}"
