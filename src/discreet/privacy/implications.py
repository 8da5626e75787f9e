"""Which kinds of one epsilon imply which others. Proofs: docs/explanation/composition.md."""

from .contract import Guarantee, Parts
from .epsilon_dp import CHAIN, ByEpsilon, SummedRange
from .parts import pure_of

RANGES = ("bounded_range", "mixed_range")
"""The kinds that the adaptive recursion serves."""

_PLACES = {kind.kind: place for place, kind in enumerate(CHAIN)}


def place(guarantee: Guarantee) -> int:
    """Return the place of the strongest kind in the chain that a guarantee implies."""
    return _PLACES.get(guarantee.kind, len(CHAIN) - 1)


def in_chain(guarantee: Guarantee) -> bool:
    """Return whether a guarantee is of a kind of one epsilon."""
    return guarantee.kind in _PLACES


def summed(parts: Parts) -> Guarantee | None:
    """Return a guarantee with the sum of all epsilons that the parts together imply; None without a sum.

    It is of the first kind that every part implies, but of several parts at best a `SummedRange`, as
    questions may depend on the answers before it. Proof: docs/explanation/composition.md, "Sums".
    """
    epsilon = pure_of(parts)
    if not epsilon:
        return None
    alone = len(parts) == 1 and parts[0][1] == 1
    first = 0 if alone else CHAIN.index(SummedRange)
    kind = CHAIN[max(first, *(place(part) for part, _ in parts))]
    return kind(epsilon, parts[0][0].neighbors)


def weaker(a: Guarantee, b: Guarantee) -> ByEpsilon | None:
    """Return the strongest kind of one epsilon that both guarantees imply, if both are in the chain."""
    if a.kind not in _PLACES or b.kind not in _PLACES or a.pure is None or b.pure is None:
        return None
    return CHAIN[max(place(a), place(b))](max(a.pure, b.pure), a.neighbors)
