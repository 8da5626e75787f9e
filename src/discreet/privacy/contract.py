"""The contract of a guarantee, and how guarantees are sorted, checked and written."""

from __future__ import annotations

from collections.abc import Hashable
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol, cast

from ..base.numbers import Number, count, nearest_double, spell
from ..errors import InvalidArgument, preview
from .sensitivity import Neighbors

if TYPE_CHECKING:
    from flint import arb


class Guarantee(Protocol):
    """A privacy guarantee: a statement about the answers on any two neighbouring datasets.

    Numbers that follow from it are rounded conservatively. They are None if none follows.
    """

    @property
    def kind(self) -> str:
        """The name of the kind in `as_dict`."""

    @property
    def neighbors(self) -> Neighbors:
        """The neighbouring relation."""

    @property
    def pure(self) -> Fraction | None:
        """The epsilon of epsilon-DP that follows."""

    @property
    def rho(self) -> Fraction | None:
        """The least rho known for which rho-zCDP follows, rounded up to 64 bits."""

    @property
    def slack(self) -> Fraction:
        """The probability that the core of the guarantee fails; 0 unless there is a delta."""

    @property
    def core(self) -> Guarantee | None:
        """The guarantee that holds except with probability `slack`, if any. Its own slack is 0."""

    def delta_at(self, epsilon: Number) -> Fraction:
        """Return the least delta known for which (epsilon, delta)-DP follows; 1 is no guarantee."""

    def approx(self, delta: Number) -> Approximate:
        """Return the least epsilon known for which (epsilon, delta)-DP follows.

        Raises:
            InvalidArgument: if there is none.
        """

    def renyi(self, excess: arb) -> arb | None:
        """Return a ball with an upper end that bounds the Rényi divergence of order 1 + excess."""

    def ceiling(self, chance: arb) -> arb | None:
        """Return a bound on the probability of an event, given its probability on a neighbour."""

    def repeated(self, n: int) -> Guarantee:
        """Return the guarantee of `n` answers that may be chosen adaptively."""

    def group(self, size: int) -> Guarantee:
        """Return the guarantee for groups of `size` records, that is for datasets `size` steps apart."""

    def under(self, neighbors: str) -> Guarantee:
        """Return the guarantee that follows under another neighbouring relation."""

    def as_dict(self) -> dict[str, object]:
        """Return the kind, the exact numbers as text, and the neighbouring relation."""


class Approximate(Guarantee, Protocol):
    """A guarantee of (epsilon, delta)-differential privacy, such as `ApproxDP`."""

    @property
    def epsilon(self) -> Fraction:
        """The epsilon."""

    @property
    def delta(self) -> Fraction:
        """The delta."""


Part = tuple[Guarantee, int]
"""A guarantee, and the number of answers that have it."""

Parts = tuple[Part, ...]


def guarantee_as_dict(guarantee: Guarantee) -> dict[str, object]:
    """Return the kind and the fields of a guarantee, numbers as text."""
    fields = {name: str(getattr(guarantee, name)) for name in _fields(guarantee)}
    return {"kind": guarantee.kind, **fields}


def extra_delta_of(guarantee: Guarantee) -> Fraction:
    """Return the delta of a guarantee that is added to the guarantee of its core; 0 for most kinds.

    The slack of those is the probability that the core fails, which leaves less of the core.
    """
    extra: Fraction = getattr(guarantee, "extra_delta", Fraction(0))
    return extra


def order(guarantee: Guarantee) -> tuple[object, ...]:
    """Return the sort key of a guarantee: its kind, then its numbers, or else its `as_dict` form."""
    values = [getattr(guarantee, name) for name in _fields(guarantee)[:-1]]
    if not values or not all(isinstance(value, Fraction) for value in values):
        import json  # for kinds of your own alone: it takes long to import

        return (guarantee.kind, 1, json.dumps(guarantee.as_dict(), sort_keys=True, default=str))
    places = [(nearest_double(v), v.numerator, v.denominator) for v in values]
    return (guarantee.kind, 0, *places)


def _fields(guarantee: Guarantee) -> tuple[str, ...]:
    """Return the names of the fields of one of our guarantees, the neighbouring relation last. Otherwise none."""
    names: tuple[str, ...] = getattr(guarantee, "__match_args__", ())
    return names


_NEEDED = [name for name in vars(Guarantee) if not name.startswith("_")]


@lru_cache(maxsize=64)
def _not_of_class(kind: Hashable) -> tuple[str, ...]:
    """Return the members of the contract that a class lacks."""
    return tuple(name for name in _NEEDED if not hasattr(kind, name))


def check_guarantee(guarantee: object) -> Guarantee:
    """Return the argument if it is a guarantee: one of ours, or of a kind of your own.

    Raises:
        InvalidArgument: with the members that are missing.
    """
    # Members of the class are not evaluated: some take long.
    lacking = [
        name
        for name in _not_of_class(cast(Hashable, type(guarantee)))
        if not hasattr(guarantee, name)
    ]
    if not lacking:
        return cast(Guarantee, guarantee)
    if "neighbors" in lacking:
        raise InvalidArgument(
            "what composes are guarantees, such as PureDP('1/2', 'add_remove') or "
            f"release.guarantee, got {preview(guarantee)}"
        )
    raise InvalidArgument(
        f"a guarantee must have {', '.join(_NEEDED)}. {preview(guarantee)} lacks "
        f"{', '.join(lacking)}. discreet.privacy.contract.Guarantee says what each of them is"
    )


def read_part(part: object) -> Part:
    """Return the argument if it is a guarantee with a number of answers.

    Raises:
        InvalidArgument: if it is none.
    """
    if not isinstance(part, tuple) or len(part) != 2:
        raise InvalidArgument(
            f"parts must be pairs of a guarantee and how many answers have it, got {preview(part)}"
        )
    return check_guarantee(part[0]), count(part[1], "count")


def equals(symbol: str, value: Fraction) -> str:
    """Return "symbol = value", or with "≤" where the value is rounded up."""
    text = spell(value)
    return f"{symbol} {text}" if text.startswith("≤") else f"{symbol} = {text}"


def steps(guarantee: Guarantee, neighbors: Neighbors) -> int:
    """Return how many steps of its own relation make one step of the other.

    Raises:
        InvalidArgument: for add_remove, which no number of replacements leads to.
    """
    if guarantee.neighbors == neighbors:
        return 1
    if neighbors == "replace_one":
        return 2  # one record away, another in
    raise InvalidArgument(
        "a guarantee under replace_one says nothing when one record is added or removed. Ask the "
        "mechanism with neighbors='add_remove'"
    )
