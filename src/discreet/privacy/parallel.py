"""Parallel composition: answers about disjoint parts of the data. Proof: docs/composition.md."""

from fractions import Fraction
from functools import reduce
from typing import Any

from ..errors import InvalidArgument
from .composition import Composition, Part, compose
from .contract import Guarantee
from .guarantees import ZCDP, ApproxDP, BoundedRange, LaplaceDP, MixedRange, PureDP

_CHAIN = (BoundedRange, MixedRange, LaplaceDP, PureDP)
"""Promises of one epsilon, each of which implies those after it."""


def parallel(*guarantees: Guarantee) -> Guarantee:
    """Return what answers about disjoint parts of the data promise together.

    A record must belong to one part, by itself and whatever the other records are. One record more or
    less then changes one part, so the weakest of the guarantees holds. A record that is replaced may
    change two; what follows is `parallel(...).under("replace_one")`.

    Bounded ranges of several parts are mixed, as what is asked of one may depend on the others. Two steps of
    a mixed range promise no range any more, only `LaplaceDP`.

    Args:
        *guarantees: one for each part, all under add_remove.

    Raises:
        InvalidArgument: if there are none, or one is under replace_one: it says nothing about a part
            that gains or loses a record.
    """
    together = compose(*guarantees)  # checks them
    if together.neighbors == "replace_one":
        raise InvalidArgument(
            "a record replaced may leave one part and enter another, which a guarantee under replace_one "
            "does not cover; give guarantees under add_remove and take .under('replace_one') of the result"
        )
    parts = reduce(_worst_parts, (compose(guarantee).parts for guarantee in guarantees))
    if len(guarantees) > 1:
        parts = Composition(tuple((_mixed(part), n) for part, n in parts)).parts
    (first, n), *others = parts
    return first if n == 1 and not others else Composition(parts)


def _worst_parts(some: tuple[Part, ...], other: tuple[Part, ...]) -> tuple[Part, ...]:
    """Return parts that are at least as weak as either, one against the other from the weakest on."""
    ours, theirs = _weakest_first(some), _weakest_first(other)
    found: list[Part] = []
    while ours and theirs:
        (a, n), (b, m) = ours.pop(), theirs.pop()
        both = min(n, m)
        found.append((_weaker(a, b), both))
        ours += [(a, n - both)] * (n > both)
        theirs += [(b, m - both)] * (m > both)
    return Composition(tuple(found + ours + theirs)).parts


def _mixed(part: Guarantee) -> Guarantee:
    """Return what a part promises if what it was asked may depend on answers about others."""
    if isinstance(part, BoundedRange):
        return MixedRange(part.epsilon, part.neighbors)
    return part


def _weakest_first(parts: tuple[Part, ...]) -> list[Part]:
    """Return the parts as a stack with the weakest on top; any order would be as right."""

    def weakness(part: Part) -> tuple[Fraction, Fraction]:
        core = part[0].core
        rho = core.rho if core is not None else None
        return part[0].slack, rho or Fraction(0)

    return sorted(parts, key=weakness)


def _weaker(a: Any, b: Any) -> Guarantee:
    """Return the least guarantee of the known kinds that follows from each of the two."""
    if a == b or b.kind == "none":
        return b  # type: ignore[no-any-return]
    if a.kind == "none":
        return a  # type: ignore[no-any-return]
    kinds = [kind.kind for kind in _CHAIN]
    if a.kind in kinds and b.kind in kinds:
        kind = _CHAIN[max(kinds.index(a.kind), kinds.index(b.kind))]
        return kind(max(a.epsilon, b.epsilon), a.neighbors)
    if a.rho is not None and b.rho is not None:
        return ZCDP(max(a.rho, b.rho), a.neighbors)
    if a.kind == "zcdp" or b.kind == "zcdp":
        raise InvalidArgument(
            "zCDP and (epsilon, delta)-DP have no common measure; take .approx(delta) of the former"
        )
    return ApproxDP(max(a.epsilon, b.epsilon), max(a.slack, b.slack), a.neighbors)
