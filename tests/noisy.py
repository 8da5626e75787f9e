"""What noise is added to: the numbers behind an answer, and whether neighbours are as near as was promised."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any
from unittest.mock import patch

from discreet.privacy.sensitivity import Sensitivity
from discreet.selection.releases import Release
from discreet.tables.verbs.noisy_numbers import ListNoise


@dataclass(frozen=True)
class Numbers:
    """One list of numbers before the noise, and how far neighbours may be apart."""

    numbers: tuple[int, ...]
    sensitivity: Sensitivity
    eta: Fraction


def numbers_behind(ask: Callable[..., Release], *args: Any, **terms: Any) -> list[Numbers]:
    """Return the lists of numbers to which a verb adds noise."""
    lists: list[Numbers] = []

    def record(noise: ListNoise, numbers: Sequence[int], _: Any) -> list[int]:
        lists.append(Numbers(tuple(numbers), noise.sensitivity, 1 / noise.scale))
        return list(numbers)

    with patch.object(ListNoise, "draw", record):
        ask(*args, **terms)
    return lists


def largest_move(base: Sequence[int], after: Sequence[Sequence[int]], neighbors: str) -> int:
    """Return by how much counts move in all if a row comes, or takes the place of one, each by one at most.

    Args:
        base: the counts without the row.
        after: the counts with each row that there may be.
        neighbors: the relation.
    """
    pairs: Iterable[tuple[Sequence[int], Sequence[int]]] = ((base, one) for one in after)
    if neighbors == "replace_one":
        pairs = combinations(after, 2)
    largest = 0
    for one, other in pairs:
        moves = [abs(x - y) for x, y in zip(one, other, strict=True)]
        assert max(moves) <= 1
        largest = max(largest, sum(moves))
    return largest


def loss(before: Sequence[Numbers], after: Sequence[Numbers]) -> Fraction:
    """Return by how many nats an answer may be more likely: each number by its eta for each step that it moves."""
    moves = zip(before, after, strict=True)
    return sum(
        (
            abs(x - y) * one.eta
            for one, other in moves
            for x, y in zip(one.numbers, other.numbers, strict=True)
        ),
        Fraction(0),
    )


def farthest(
    pairs: Iterable[tuple[Any, Any]], ask: Callable[..., Release], **terms: Any
) -> list[Fraction]:
    """Return by how much neighbours are apart at most, for each list, as a share of what is promised.

    A list may differ by `spread` in all, and in each number by `change`.
    """
    shares: list[Fraction] = []
    for before, after in pairs:
        both = zip(
            numbers_behind(ask, before, **terms), numbers_behind(ask, after, **terms), strict=True
        )
        for i, (one, other) in enumerate(both):
            shifts = [Fraction(abs(a - b)) for a, b in zip(one.numbers, other.numbers, strict=True)]
            promised = one.sensitivity
            change = promised.spread if promised.change is None else promised.change
            share = max(sum(shifts) / promised.spread, max(shifts) / change)
            shares += [Fraction(0)] * (i + 1 - len(shares))
            shares[i] = max(shares[i], share)
    return shares
