"""Budgets and amounts of privacy as exact fractions. For proofs, see docs/how-to/ledger.md."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal, get_args

from ..base.arguments import choice
from ..base.doors import spelling
from ..base.messages import AND, OR, Message, join
from ..base.numbers import positive, spell, spell_down
from ..base.text_tables import fact_table
from ..errors import Exhausted, InvalidArgument, InvalidNumber, preview
from ..privacy.contract import Guarantee
from ..privacy.conversions import rho_for
from ..privacy.sensitivity import Neighbors, Unit, one_record, plain_unit
from ..privacy.wording import relation

_MOST_BITS = 4096
"""Bits of the longest denominator that is stored; finer amounts are rounded up."""

_MOST_AMOUNT = 10**300
_SIGNS = {"epsilon": "ε", "rho": "ρ", "delta": "δ"}

DeltaFor = Literal["questions", "composition"]
"""The use of a budget's delta. "questions": releases have an epsilon and a delta each, and both add up.
"composition": releases have a rho each, and their sum is at most the rho of (epsilon, delta)."""

ShareRule = Literal["reserved", "oversubscribed"]
"""The rule for the shares of a dataset's budget. "reserved": each is paid for when it is opened, and a release
to its analyst must fit the share alone. "oversubscribed": a release must fit the share and the budget."""


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
        delta = self.delta
        if other.delta:
            delta = rounded_fraction(delta + other.delta)
        return Amount(_sum(self.epsilon, other.epsilon), _sum(self.rho, other.rho), delta)

    def __sub__(self, other: "Amount") -> "Amount":
        """The difference in all units. None if it is unbounded."""
        return Amount(
            _rest(other.epsilon, self.epsilon), _rest(other.rho, self.rho), self.delta - other.delta,
            left=True,
        )  # fmt: skip

    def as_dict(self) -> dict[str, str]:
        """Return the exact numbers as text, without units that are not counted."""
        amounts = {"epsilon": self.epsilon, "rho": self.rho, "delta": self.delta or None}
        return {unit: str(value) for unit, value in amounts.items() if value is not None}

    def __str__(self) -> str:
        spell_number = spell_down if self.left else spell
        numbers = {unit: spell_number(Fraction(value)) for unit, value in self.as_dict().items()}
        equations = {unit: _equals(_SIGNS[unit], text) for unit, text in numbers.items()}
        delta = equations.pop("delta", "")
        return join(AND, [join(OR, equations.values()), delta]) or Message("nothing")


@lru_cache(maxsize=1024)
def _parse_fraction(text: str) -> Fraction:
    """Return a fraction written as digits with at most one slash: never negative, and no larger than its text."""
    if not re.fullmatch("[0-9]+(/[0-9]+)?", text):
        raise ValueError("an amount is digits, or digits by digits")
    return Fraction(text)


def read_amount(plain: dict[str, str]) -> Amount:
    """Return an amount from its `as_dict`."""
    numbers: dict[str, Any] = {unit: _parse_fraction(text) for unit, text in plain.items()}
    return Amount(**numbers)


@dataclass(frozen=True, slots=True, repr=False)
class Budget:
    """The privacy budget of a dataset, or an analyst's share of it: total and spent. Exact, and not private.

    The guarantee is `total` under the neighboring relation: a bound on the sum of epsilons, or of rhos, or, with a
    delta, (epsilon, delta), which is certified by the sums that `delta_for` names.

    Attributes:
        dataset: the name of the dataset.
        analyst: the analyst, for a share. None for the budget of the dataset itself.
        neighbors: the neighboring relation.
        total: the bounds on the sums. A unit that is None is not counted.
        spent: the sums so far. None if the charges are unbounded in this unit.
        unit: the privacy unit: a column of which all rows with one value are one record, or a tuple of several, or
            None if every row is one.
        period: the year, quarter or month that it is for, such as "2027". None if it has none.
        is_current: whether releases are charged to it, or False if it was renewed. Known of budgets in lists.
        shares: for a dataset's budget, how its shares are paid for. With "reserved", the budget pays for a share
            when you open it, so `spent` contains the totals of the shares. With "oversubscribed", `spent` contains
            the charges of all analysts.
        delta_for: the use of its delta, if it has one: "questions" or "composition".
        closed: for an analyst's share, why failures stopped its questions until the owner reopens the dataset. None
            if it is open, or if this is not known.
    """

    dataset: str
    analyst: str | None
    neighbors: Neighbors
    total: Amount
    spent: Amount
    unit: Unit | None = None
    period: str | None = None
    is_current: bool = True
    shares: ShareRule | None = None
    delta_for: DeltaFor | None = None
    closed: str | None = None

    @property
    def counted_total(self) -> Amount:
        """The total in the units of its sums, which a dataset's budget pays for a share like this."""
        if self.delta_for == "questions":
            return Amount(self.total.epsilon, None, self.total.delta)
        if self.delta_for == "composition":
            return Amount(None, self.total.rho)
        return self.total

    @property
    def kind(self) -> str:
        """The privacy parameters that it bounds: "epsilon", "rho" or "epsilon and delta"."""
        if self.delta_for or self.total.delta:
            return "epsilon and delta"
        return "rho" if self.total.epsilon is None else "epsilon"

    @property
    def currency(self) -> str:
        """The unit in which answers are charged: "epsilon", "epsilon and delta" or "rho"."""
        uses = {"questions": "epsilon and delta", "composition": "rho"}
        return self.kind if self.delta_for is None else uses[self.delta_for]

    @property
    def terms(self) -> tuple[Fraction | None, ...]:
        """Epsilon, rho and delta as they were given to `Ledger.open`, without derived bounds."""
        has_derived_bound = self.kind == "epsilon and delta"
        return self.total.epsilon, None if has_derived_bound else self.total.rho, self.total.delta

    @property
    def standing(self) -> str:
        """Its period, whether it was renewed, and whether its shares exceed it, in words."""
        over = "oversubscribed" if self.shares == "oversubscribed" else ""
        renewal = "" if self.is_current else "renewed"
        return ", ".join(filter(None, [self.period, renewal, over, self.closed and "closed"]))

    @property
    def remaining(self) -> Amount:
        """The remainder of every sum that still certifies the guarantee. The others are None."""
        return self.total - self.spent

    def as_dict(self) -> dict[str, object]:
        """Return the budget in plain values, exact numbers as text, ready for JSON."""
        sums = {"total": self.total, "spent": self.spent, "remaining": self.remaining}
        return {
            "dataset": self.dataset, "analyst": self.analyst, "neighbors": self.neighbors,
            "privacy_unit": plain_unit(self.unit), "period": self.period, "is_current": self.is_current,
            "delta_for": self.delta_for, "shares": self.shares,
            "closed": None if self.closed is None else str(self.closed),
            **{name: amount.as_dict() for name, amount in sums.items()},
        }  # fmt: skip

    @property
    def state(self) -> dict[str, object]:
        """The budget after an event as its body records it: plain values, without dataset and analyst."""
        rules = {"shares": self.shares, "delta_for": self.delta_for}
        return {
            "neighbors": self.neighbors, "privacy_unit": plain_unit(self.unit),
            "total": self.total.as_dict(), "spent": self.spent.as_dict(),
            **{name: rule for name, rule in rules.items() if rule is not None},
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
        due = guarantee
        if guarantee.neighbors != self.neighbors:
            due = guarantee.under(self.neighbors)
        cost = self._in_units(due)
        if cost.epsilon is None and cost.rho is None:
            raise InvalidArgument(
                f"the budget of {self.name} counts {self._counts}, and this release ({guarantee}) "
                "does not state one. Use a mechanism that does, or keep a budget in another unit"
            )
        return cost

    @property
    def _counts(self) -> str:
        """The units of its sums, in words."""
        if self.delta_for == "composition":
            return "rho, as its delta is for composition"
        return self.kind

    def _check_unit(self, unit: Unit | None) -> None:
        """Raise if the privacy units differ: docs/how-to/user_level_privacy.md says why no unit implies another."""
        if unit == self.unit:
            return
        fix = (
            f"ask with {spelling(privacy_unit=plain_unit(self.unit))}"
            if self.unit
            else "ask without privacy_unit"
        )
        raise InvalidArgument(
            f"the budget of {self.name} protects {one_record(self.unit)}, and this release "
            f"{one_record(unit)}: {fix}, or pay from a budget that was opened for that"
        )

    def _in_units(self, due: Guarantee) -> Amount:
        if self.delta_for == "questions" and 0 < due.slack < 1:
            rest = Fraction(0) if due.core is None else due.core.pure
            return Amount(_up(rest), None, rounded_fraction(due.slack))
        return Amount(
            None
            if self.total.epsilon is None or self.delta_for == "composition"
            else _up(due.pure),
            None if self.total.rho is None or self.delta_for == "questions" else _up(due.rho),
        )

    def fits(self, cost: Amount) -> bool:
        """Return whether the budget can pay a cost."""
        return self._after(cost) is not None

    def _after(self, cost: Amount) -> "Budget | None":
        """Return the budget after a cost, or None if it cannot pay that."""
        after = Budget(  # `replace` takes twice as long
            self.dataset, self.analyst, self.neighbors, self.total, self.spent + cost, self.unit,
            self.period, self.is_current, self.shares, self.delta_for, self.closed,
        )  # fmt: skip
        return after if after.is_within else None

    def charged(self, cost: Amount) -> "Budget":
        """Return the budget after a charge.

        Raises:
            Exhausted: if it does not fit.
        """
        after = self._after(cost)
        if after is not None:
            return after
        hint = ""
        if (simple := self._slightly_less(cost)) is not None:
            hint = f". Floats are a little above {simple}: give that from the first question on"
        raise Exhausted(
            f"the budget of {self.name} cannot pay {cost}: spent {self.spent} of "
            f"{self._stated_total}, remaining {self.remaining}{hint}",
            requested=cost,
            spent=self.spent,
            remaining=self.remaining,
        )

    def _slightly_less(self, cost: Amount) -> Fraction | None:
        """Return the simple fraction that a float of epsilon stands for, if only the roundings are missing."""
        rest = self.remaining.epsilon
        if cost.epsilon is None or rest is None:
            return None
        simple, least = (
            cost.epsilon.limit_denominator(1000),
            cost.epsilon * (1 - Fraction(1, 10**9)),
        )
        return simple if least <= rest < cost.epsilon and least <= simple < cost.epsilon else None

    @property
    def _stated_total(self) -> Amount:
        """The total in words: without a rho that is not counted."""
        return replace(self.total, rho=None) if self.delta_for == "questions" else self.total

    def extended(self, total: Amount, use: DeltaFor | None = None) -> "Budget":
        """Return the budget with a larger total of the same kind. One in epsilon may get a delta for questions.

        The charges of a budget in epsilon have no delta, so its sums bound (epsilon, 0) and stay valid.

        Raises:
            InvalidArgument: if it is of another kind, or smaller.
        """
        before = self._with_use(total, use)
        larger = before.with_total(total)
        pairs = _count_pairs(before.counted_total, larger.counted_total)
        rests = [_rest(ours, theirs) for ours, theirs in pairs]
        if None in rests or total == self.total:
            raise InvalidArgument(
                f"the budget of {self.name} is {self.total}, and can only be extended to more of "
                f"the same: the new total must be larger, got {total}"
            )
        return larger

    def _with_use(self, total: Amount, use: DeltaFor | None) -> "Budget":
        """Return the budget with a use for the delta of a new total, and its own total as before.

        Raises:
            InvalidArgument: if the use is not stated, or another one than that of the charges so far.
        """
        if self.kind == "epsilon" and total.delta:
            if use == "questions":
                return replace(self, delta_for=use, total=replace(self.total, rho=total.rho))
            raise InvalidArgument(
                f"the budget of {self.name} has no delta yet, and its charges have an epsilon "
                f"each: give {spelling(delta_for='questions')} with delta, so that releases with "
                "an epsilon and a delta each add up too"
            )
        if use not in (None, self.delta_for):
            raise InvalidArgument(
                f"the delta of the budget of {self.name} is for {self.delta_for or 'nothing'}, and "
                "stays so"
            )
        return self

    def with_total(self, total: Amount) -> "Budget":
        """Return the budget with another total in the same units, because other sums would be lost.

        Raises:
            InvalidArgument: if it is in other units.
        """
        ours, theirs = ((t.epsilon is None, t.rho is None) for t in (self.total, total))
        if ours != theirs or (self.delta_for is None and total.delta):
            raise InvalidArgument(
                f"the budget of {self.name} is in {self.kind}, so its total is too: give "
                f"{self.kind.replace(' and ', ' with ')}, got {total}"
            )
        return replace(self, total=total)

    @property
    def is_within(self) -> bool:
        """Whether a sum that certifies the guarantee, and the sum of the deltas, are within the total."""
        spent, total = self.spent, self.total
        certifies = _is_within(spent.epsilon, total.epsilon) or _is_within(spent.rho, total.rho)
        return certifies and spent.delta <= total.delta

    def cells(self) -> dict[str, str]:
        """Return the budget as the row of a table."""
        return {
            "budget": f"{self.name} ({self.standing})" if self.standing else self.name,
            "total": str(self._stated_total), "spent": str(self.spent),
            "remaining": str(self.remaining), "protects": relation(self.neighbors, self.unit),
        }  # fmt: skip

    def _repr_html_(self) -> str:
        return fact_table("Privacy budget", self.cells()).html()

    def __repr__(self) -> str:
        return f"Budget({self})"

    def __str__(self) -> str:
        units = [
            f"{_SIGNS[unit]}: {_spell_bound(spent)} of {_spell_bound(total)} spent, "
            f"{_spell_bound(rest, spell_down)} left"
            for unit, spent, total, rest in self._lines()
        ]
        protects = relation(self.neighbors, self.unit)
        standing = f"; {self.standing}" if self.standing else ""
        sums = (" and " if self.delta_for == "questions" else " or ").join(units)
        return f"{self.name}: {sums} ({self._delta_stated}{protects}){standing}"

    @property
    def _delta_stated(self) -> str:
        """The guarantee that sums of another unit certify, in words."""
        if self.delta_for != "composition" or self.total.epsilon is None:
            return ""
        delta = _equals("δ", spell(self.total.delta))
        return f"{_equals('ε', spell(self.total.epsilon))} and {delta} by composition, "

    def _lines(self) -> Iterable[tuple[str, Fraction | None, Fraction, Fraction | None]]:
        sums, rest, use = self.spent, self.remaining, self.delta_for
        if self.total.epsilon is not None and use != "composition":
            yield "epsilon", sums.epsilon, self.total.epsilon, rest.epsilon
        if self.total.rho is not None and use != "questions":
            yield "rho", sums.rho, self.total.rho, rest.rho
        if use == "questions":
            yield "delta", sums.delta, self.total.delta, rest.delta


def read_total(epsilon: object, rho: object, delta: object) -> Amount:
    """Return the total of a new budget, given as epsilon, as rho, or as epsilon and delta.

    Raises:
        InvalidArgument: if it is none of these, or a number is out of range.
    """
    if (epsilon is None) == (rho is None) or (delta is not None and epsilon is None):
        raise InvalidArgument("give a budget as epsilon, as rho, or as epsilon and delta")
    if epsilon is None:
        return Amount(rho=_read_bound(rho, "rho"))
    bound = _read_bound(epsilon, "epsilon")
    if delta is None:
        return Amount(epsilon=bound)
    failure = _read_bound(delta, "delta")
    if failure >= 1:
        raise InvalidNumber(f"delta must be below one, got {preview(delta)}")
    return Amount(bound, rho_for(bound, failure), failure)


@dataclass(frozen=True, slots=True)
class Extension:
    """A larger total of a budget. A part that is None stays as it is.

    Attributes:
        epsilon: the new total ε.
        rho: the new total ρ.
        delta: the new total δ.
        delta_for: the use of a delta that the budget did not have.
    """

    epsilon: object = None
    rho: object = None
    delta: object = None
    delta_for: DeltaFor | None = None

    def __post_init__(self) -> None:
        """Check the numbers alone.

        Raises:
            InvalidArgument: if there is none, or one is out of range.
        """
        read_total(
            1 if self.epsilon is None and self.delta is not None else self.epsilon,
            self.rho,
            self.delta,
        )

    def of(self, budget: Budget) -> Budget:
        """Return a budget with this total.

        Raises:
            InvalidArgument: if it is not larger, or of another kind.
        """
        if self.rho is not None:
            return budget.extended(read_total(None, self.rho, None))
        epsilon = budget.terms[0] if self.epsilon is None else self.epsilon
        delta = (budget.total.delta or None) if self.delta is None else self.delta
        return budget.extended(read_total(epsilon, None, delta), self.delta_for)


def new_budget(  # noqa: PLR0913  # the terms of a budget
    dataset: str,
    analyst: str | None,
    neighbors: Neighbors,
    total: Amount,
    unit: Unit | None = None,
    *,
    delta_for: DeltaFor | None = None,
    shares: ShareRule | None = None,
) -> Budget:
    """Return a budget without charges. Sums that are not counted are None."""
    nothing = Amount(
        None if total.epsilon is None or delta_for == "composition" else Fraction(0),
        None if total.rho is None or delta_for == "questions" else Fraction(0),
    )
    return Budget(
        dataset, analyst, neighbors, total, nothing, unit, shares=shares, delta_for=delta_for
    )


def read_use(word: str) -> DeltaFor | None:
    """Return the use of a delta as it is stored, None for ''."""
    use: DeltaFor | None = _read_word(word, get_args(DeltaFor))
    return use


def read_rule(word: str) -> ShareRule | None:
    """Return the rule for shares as it is stored, None for ''."""
    rule: ShareRule | None = _read_word(word, get_args(ShareRule))
    return rule


def _read_word(text: str, words: tuple[Any, ...]) -> Any:
    if text not in ("", *words):
        raise ValueError("not one of the words that are stored")
    return text or None


def read_delta_for(use_name: object, delta: object) -> DeltaFor | None:
    """Return the use of a delta, or None if it is not said.

    Raises:
        InvalidArgument: if it is none of `DeltaFor`, or there is no delta.
    """
    if use_name is None:
        return None
    use: DeltaFor = choice(use_name, "delta_for", get_args(DeltaFor))  # type: ignore[assignment]
    if delta is None:
        raise InvalidArgument("delta_for goes with delta: give both, or leave both out")
    return use


def budget_order(budget: Budget) -> tuple[str, str]:
    """Return a key that sorts budgets by dataset and analyst, a dataset's own budget first."""
    return budget.dataset, budget.analyst or ""


def rounded_fraction(value: Fraction) -> Fraction:
    """Return the value, or the next multiple of 2**-4096 if its denominator is longer than that."""
    if value.denominator.bit_length() <= _MOST_BITS + 1:
        return value
    return Fraction(-(-(value.numerator << _MOST_BITS) // value.denominator), 1 << _MOST_BITS)


def _up(value: Fraction | None) -> Fraction | None:
    return None if value is None else rounded_fraction(value)


def _sum(ours: Fraction | None, theirs: Fraction | None) -> Fraction | None:
    """Return the sum; None, unbounded, if one of the two is."""
    return None if ours is None or theirs is None else rounded_fraction(ours + theirs)


def _rest(spent: Fraction | None, total: Fraction | None) -> Fraction | None:
    """Return the remainder, or None if there is no bound, or it is exceeded."""
    return None if spent is None or total is None or spent > total else total - spent


def _is_within(spent: Fraction | None, total: Fraction | None) -> bool:
    """Return whether there is a bound, and it is not exceeded."""
    return spent is not None and total is not None and spent <= total


def _count_pairs(ours: Amount, theirs: Amount) -> list[tuple[Fraction, Fraction | None]]:
    """Return the numbers of both amounts in the units that `ours` counts."""
    pairs = [(ours.epsilon, theirs.epsilon), (ours.rho, theirs.rho), (ours.delta, theirs.delta)]
    return [(mine, other) for mine, other in pairs if mine is not None]


def _read_bound(value: object, name: str) -> Fraction:
    """Return a positive number of moderate size with a short denominator."""
    bound = positive(value, name)
    if not Fraction(1, _MOST_AMOUNT) <= bound <= _MOST_AMOUNT or rounded_fraction(bound) != bound:
        raise InvalidNumber(
            f"{name} must be between 1e-300 and 1e300, and short, got {preview(value)}"
        )
    return bound


def _spell_bound(value: Fraction | None, spell_number: Callable[[Fraction], str] = spell) -> str:
    return "no bound" if value is None else spell_number(value)


def _equals(sign: str, number: str) -> str:
    return f"{sign} {number}" if number.startswith(("≤", "≥")) else f"{sign} = {number}"
