"""Adaptive composition: the guarantee of several answers about the same data.

For proofs, see docs/explanation/composition.md.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

from flint import arb

from ..base.arguments import read_sequence
from ..base.error_boundary import error_boundaries, error_boundary
from ..base.messages import SUM, Message, join
from ..base.numbers import Number, count
from ..errors import InvalidArgument
from .approx_dp import ApproxDP
from .bounds import Bounds, Looseness, bounds_of, least_of
from .contract import Guarantee, Part, check_guarantee, equals, read_part
from .conversions import divergence_at
from .dp_events import event, losses_of
from .parts import extra_delta_of_parts, merge, pure_of, renyi_of, rho_of, slack_of, summed
from .pld import LossDistribution
from .renyi_dp import ZCDP
from .sensitivity import Neighbors
from .several_dp import SeveralDP, reading_of
from .wording import guarantee_table, statement_of, with_relation

_SPELLED = 3


@error_boundaries
@dataclass(frozen=True, slots=True)
class Composition:
    """The composition of the guarantees of several answers, chosen adaptively from a fixed list of guarantees.

    Equal guarantees are merged and all are sorted, so their order does not matter. If one answer has no guarantee,
    the composition has none.

    Args:
        parts: guarantees with the number of answers that have them, all under one neighbouring relation.
    """

    parts: tuple[Part, ...]
    neighbors: Neighbors = field(init=False)
    kind: ClassVar[str] = "composition"

    def __post_init__(self) -> None:
        parts = _flat(map(read_part, read_sequence(self.parts, "parts")))
        relations = {part.neighbors for part, _ in parts}
        if not parts:
            raise InvalidArgument("nothing to compose: give at least one guarantee")
        if len(relations) > 1:
            raise InvalidArgument(
                "guarantees under add_remove and replace_one do not compose. Take "
                ".under('replace_one') of the former"
            )
        void = tuple((part, n) for part, n in parts if part.kind == "none")
        object.__setattr__(self, "parts", void or parts)
        object.__setattr__(self, "neighbors", relations.pop())

    @property
    def pure(self) -> Fraction | None:
        """The sum of all epsilons. It is exact, or rounded up if it would be very long."""
        return pure_of(self.parts)

    @property
    def rho(self) -> Fraction | None:
        """The sum of all rhos."""
        return rho_of(self.parts)

    @property
    def slack(self) -> Fraction:
        """The probability that the core of a guarantee fails, rounded up, plus the added deltas."""
        return min(slack_of(self.parts) + self.extra_delta, Fraction(1))

    @property
    def extra_delta(self) -> Fraction:
        """The sum of the deltas that are added to the guarantee of the cores."""
        return extra_delta_of_parts(self.parts)

    @property
    def core(self) -> "Composition | None":
        """The composition of the cores, which hold except with probability `slack`."""
        if all(part.slack == 0 for part, _ in self.parts):
            return self
        cores = [(part.core, n) for part, n in self.parts]
        cores_of_parts = tuple((core, n) for core, n in cores if core is not None)
        return Composition(cores_of_parts) if cores_of_parts else None

    def bounds(
        self, delta: Number | None = None, *, epsilon: Number | None = None, adaptive: bool = True
    ) -> Bounds:
        """Return every bound that holds, either epsilons at a delta or deltas at an epsilon.

        Args:
            delta: from 0 to below 1. Or pass
            epsilon: zero or more.
            adaptive: pass False if no question depended on an earlier answer.

        Returns:
            The bounds by name, and the name of the smallest.

        Raises:
            InvalidArgument: unless you pass exactly one of the two, or if no epsilon is known at that delta.
        """
        readings = self._readings()
        all_bounds = least_of(
            [one._bounds_of_reading(delta, epsilon, adaptive) for one in readings]
        )
        if not all_bounds.values:
            raise InvalidArgument(
                f"no epsilon is known at {equals('delta', all_bounds.at)} for {self}"
            )
        return all_bounds

    def _bounds_of_reading(
        self, delta: Number | None, epsilon: Number | None, adaptive: bool
    ) -> Bounds:
        """Return the bounds of parts of which none is several promises."""
        core = self.core
        parts = () if core is None else core.parts
        loose = Looseness(slack_of(self.parts), self.extra_delta)
        return bounds_of(parts, loose, delta, epsilon, adaptive=adaptive)

    def _readings(self) -> "list[Composition]":
        """Return the composition with promises in place of `SeveralDP`: with all first ones, all second ones."""
        promises = [len(part.promises) for part, _ in self.parts if isinstance(part, SeveralDP)]
        if not promises:
            return [self]
        several = [
            Composition(tuple((reading_of(part, place), n) for part, n in self.parts))
            for place in range(max(promises))
        ]
        return [reading for one in several for reading in one._readings()]

    def delta_at(self, epsilon: Number) -> Fraction:
        """Return the least delta known for which (epsilon, delta)-DP follows. A delta of 1 is no guarantee."""
        return self.bounds(epsilon=epsilon).least

    def epsilon_at(self, delta: Number) -> Fraction:
        """Return the least epsilon known for which (epsilon, delta)-DP follows, rounded up.

        Raises:
            InvalidArgument: if there is none.
        """
        return self.bounds(delta).least

    def approx(self, delta: Number) -> ApproxDP:
        """Return (epsilon, delta)-DP with the least epsilon known.

        Raises:
            InvalidArgument: if there is none.
        """
        bounds = self.bounds(delta)
        return ApproxDP(bounds.least, bounds.at, self.neighbors)

    def renyi(self, excess: arb) -> arb | None:
        """Return a ball with an upper end that bounds the Rényi divergence of order 1 + excess."""
        return renyi_of(self.parts, excess)

    def renyi_divergence(self, order: Number) -> float:
        """Return an upper bound on the Rényi divergence of an order above 1, rounded up to a float."""
        return divergence_at(self.renyi, order)

    def ceiling(self, chance: arb) -> arb | None:
        """Return a bound on the probability of an event, given its probability on a neighbour."""
        whole = self.summed
        return None if whole is None else whole.ceiling(chance)

    @property
    def summed(self) -> Guarantee | None:
        """One guarantee with the sum of all epsilons, of the strongest kind that all parts imply, or None."""
        return summed(self.parts)

    def losses(self) -> LossDistribution:
        """Return a certified bound on the privacy losses of all answers together.

        Raises:
            InvalidArgument: if there is none, because a part has no guarantee or the parts fit no common grid.
        """
        core = self.core
        distribution = losses_of(() if core is None else core.parts, self.slack)
        if distribution is None or self.extra_delta:
            raise InvalidArgument(
                f"no distribution of losses on one grid bounds {self}: it takes up to a million "
                "answers that all have a guarantee other than `ApproxRange`, and epsilons up to "
                "64 that are not too far apart"
            )
        return distribution

    def to_dp_accounting(self) -> Any:
        """Return `losses` as a `PrivacyLossDistribution` of dp-accounting, with masses rounded up to doubles.

        It bounds both orders of neighbours, under the relation of the guarantees. dp-accounting
        computes in doubles, without certificates.

        Raises:
            InvalidArgument: as `losses`.
            MissingPackage: if dp-accounting is not installed.
        """
        return self.losses().to_dp_accounting()

    def to_dp_event(self) -> Any:
        """Return a dp-accounting event tree with a guarantee that is no stronger, for its accountants.

        Give the accountant the relation `ADD_OR_REMOVE_ONE` for guarantees under add_remove, and
        `REPLACE_SPECIAL` for those under replace_one, because the guarantees are about neighbours as they are. A
        promise of one epsilon becomes Laplace noise that is as weak or weaker, because no event expresses more.
        `to_dp_accounting` is tighter.

        Raises:
            InvalidArgument: if a part is neither one of those kinds nor `GaussianDP`, `DiscreteGaussianDP` or
                `ZCDP`.
            MissingPackage: if dp-accounting is not installed.
        """
        return event(self.parts)

    def repeated(self, n: int) -> "Composition":
        """Return the guarantee of repeating the whole composition n times."""
        return Composition(((self, count(n, "n")),))

    def group(self, size: int) -> "Composition":
        """Return the guarantee `size` steps away, part by part."""
        return Composition(tuple((part.group(size), n) for part, n in self.parts))

    def under(self, neighbors: str) -> "Composition":
        """Return the guarantee that follows under another neighbouring relation, part by part."""
        return Composition(tuple((part.under(neighbors), n) for part, n in self.parts))

    def as_dict(self) -> dict[str, object]:
        """Return the kind, the parts with their counts, and the neighbouring relation."""
        parts = [{"count": n, "guarantee": part.as_dict()} for part, n in self.parts]
        return {"kind": self.kind, "parts": parts, "neighbors": self.neighbors}

    def _repr_html_(self) -> str:
        return guarantee_table(self).html()

    @property
    def statement(self) -> str | None:
        """The sum and the parts, without the neighbouring relation, or None without a promise."""
        if self.slack == 1:
            return None
        if len(self.parts) == 1 and self.parts[0][1] == 1:
            return statement_of(self.parts[0][0])
        parts = join(SUM, self._statements())
        if self.pure is not None:
            whole = equals("ε", self.pure)
        elif self.rho is not None:
            whole = equals("ρ", self.rho)
        else:
            return parts
        return Message("{whole} in all, from {parts}", whole=whole, parts=parts)

    def __str__(self) -> str:
        statement = self.statement
        if statement is not None:
            return with_relation(statement, self.neighbors)
        if len(self.parts) == 1:
            return str(self.parts[0][0])
        return join(Message("{first}; {then}"), self._statements())

    def _statements(self) -> list[str]:
        """Return the statements of the first parts, and how many more there are."""
        statements = []
        for part, n in self.parts[:_SPELLED]:
            one = statement_of(part) or str(part)
            several = Message("{count:,} × ({statement})", count=n, statement=one)
            statements.append(one if n == 1 else several)
        if len(self.parts) > _SPELLED:
            statements.append(Message("{count:,} more", count=len(self.parts) - _SPELLED))
        return statements


@error_boundary
def compose(*guarantees: Guarantee | Iterable[Guarantee]) -> Composition:
    """Return the composition of the guarantees of several answers, which may be chosen adaptively.

    Args:
        *guarantees: guarantees, or lists of them.

    Raises:
        InvalidArgument: if there are none, or if their neighbouring relations differ.
    """
    flat: list[Part] = []
    for entry in guarantees:
        several = isinstance(entry, Iterable) and not isinstance(entry, str | bytes)
        flat += [
            (check_guarantee(part), 1)
            for part in (read_sequence(entry, "guarantees") if several else [entry])
        ]
    return Composition(tuple(flat))


def with_parts(whole: ApproxDP, *parts: Guarantee) -> SeveralDP:
    """Return (epsilon, delta)-DP as it was asked for, together with the parts that it is made of.

    Args:
        whole: the pair, which follows from the parts or from a proof of its own.
        parts: the guarantees of the parts, which may be chosen adaptively.
    """
    return SeveralDP((whole, compose(*parts)))


def of_any_parts(whole: Guarantee, rho: Fraction | None = None) -> Guarantee:
    """Return a guarantee of parts of which each record may change others: of n records by epsilon and rho alone.

    Args:
        whole: that of all parts, if one record changes.
        rho: one that holds beside it, or None.

    Proof: *Several records* in docs/how-to/groups.md.
    """
    if rho is not None and (whole.rho is None or rho < whole.rho):
        return SeveralDP((whole, ZCDP(rho, whole.neighbors)))
    return SeveralDP((whole,)) if isinstance(whole, Composition) else whole


def count_atoms(parts: Iterable[Part]) -> dict[Guarantee, int]:
    """Return the parts without nesting, and their numbers, in the order in which they first come."""
    counts: dict[Guarantee, int] = {}
    for part, n in parts:
        inner = part.parts if isinstance(part, Composition) else ((part, 1),)
        for atom, m in inner:
            counts[atom] = counts.get(atom, 0) + m * n
    return counts


def _flat(parts: Iterable[Part]) -> tuple[Part, ...]:
    """Return the parts without nesting, equal ones as one, in a fixed order."""
    return merge(tuple(count_atoms(parts).items()))
