"""A biased index: int(random() * n) is no uniform choice, and its parity may be a secret."""

from collections.abc import Sequence
from fractions import Fraction
from functools import partial

from ...mechanisms.testing import bit_tree
from ...sampling.bits import below
from .. import audit
from .floats import FINE, counted_law
from .result import AttackResult, alike

LARGE = 2**54
"""Points of a grid that are all equally good, from one record to the next."""

_SIZE = 6
STARTS = (1, 2)
"""Where the points begin, which is a person's record, in the two neighbours."""


def unsafe_index(n: int, k: int) -> int:
    """Return int(u * n) for the uniform u = k / 2**53."""
    return int(k * 2.0**-53 * n)


def even_share(start: int) -> Fraction:
    """Return the probability that start + unsafe_index(LARGE) is even: the index is 2 k, so 0 or 1."""
    steps = {unsafe_index(LARGE, k) - 2 * k for k in (0, 1, 2, 3, FINE // 3, FINE - 2, FINE - 1)}
    return Fraction(int(steps == {0} and start % 2 == 0))


def is_uniform(n: int) -> bool:
    """Return whether enumerating 14 bits of our index brackets 1/n for all indices."""
    tree = bit_tree(partial(below, n), 14)
    masses = [tree.masses.get(i, Fraction(0)) for i in range(n)]
    return all(mass <= Fraction(1, n) <= mass + tree.undecided for mass in masses)


def biased_index_attack() -> AttackResult:
    """Run the attack and return its result."""
    law = counted_law(partial(unsafe_index, _SIZE), _SIZE)
    counts: Sequence[int] = sorted({int(share * FINE) for share in law})
    even = [even_share(start) for start in STARTS]
    return AttackResult(
        name="biased_index",
        claim="One of n equally good points of a grid, as start + int(random() * n).",
        naive=(
            "Over 2^54 points every answer has the parity of the start, which is a record. Even over "
            f"{_SIZE} points the indices have {counts[0]} or {counts[-1]} of 2^53 uniforms."
        ),
        ours=f"By enumeration of bits, each of {_SIZE} indices has probability 1/{_SIZE}.",
        naive_audit=audit.laws(*([p, 1 - p] for p in even), epsilon=1),
        our_audit=alike(is_uniform(_SIZE), epsilon=1),
        source="diffprivlib's permute-and-flip; any int(random() * n)",
    )
