"""Guarantees rounded up to a common grid, so that accountants have few different ones to process."""

import math
from bisect import bisect_left
from fractions import Fraction

from ..base.numbers import float_up
from .contract import Part, Parts
from .gaussian_dp import GaussianDP, together
from .parts import in_chain, merge
from .renyi_dp import ZCDP

_EVEN = 128
"""Sizes at equal distances up to the largest epsilon."""

_SIZE_BITS = 4
"""Significant bits of the sizes beside them, which serve epsilons far below the largest."""


def coarsen(core: Parts, most: int) -> Parts:
    """Return a composition that is at least as weak, of no more than about `most` different parts.

    All `ZCDP` become one, and all `GaussianDP`. Up to `most` different parts are left unchanged; beyond, all
    epsilons are rounded up to a common grid, so every bound on the result is a bound on `core`.
    """
    noise = [one for one in core if isinstance(one[0], ZCDP | GaussianDP)]
    rest = [one for one in core if not isinstance(one[0], ZCDP | GaussianDP)]
    sums = _sum_noise(noise)
    if sums == noise and len(rest) <= most:
        return core
    return merge((*sums, *(rest if len(rest) <= most else _on_grid(rest))))


def _sum_noise(parts: list[Part]) -> list[Part]:
    """Return the exact sums: rho over all `ZCDP`, and mu**2 over all `GaussianDP`."""
    rho, squares = Fraction(0), Fraction(0)
    for part, n in parts:
        if isinstance(part, GaussianDP):
            squares += n * part.mu**2
        elif part.rho is not None:
            rho += n * part.rho
    relation = parts[0][0].neighbors if parts else "add_remove"
    sums: list[Part] = [(ZCDP(rho, relation), 1)] if rho else []
    return sums + ([(together(squares, relation), 1)] if squares else [])


def _on_grid(parts: list[Part]) -> list[Part]:
    """Return the parts with the epsilons of the chain rounded up to the grid, equal ones merged."""
    sizes = [
        (part, n, float_up(epsilon))
        for part, n in parts
        if in_chain(part) and (epsilon := part.pure)
    ]
    ordinary = [size for _, _, size in sizes if 1e-300 < size < 1e300]
    if not ordinary:
        return parts
    grid = _grid(ordinary)
    counts: dict[tuple[str, float], tuple[Part, int]] = {}
    others: list[Part] = [part for part in parts if not in_chain(part[0])]
    for part, n, size in sizes:
        place = bisect_left(grid, size)
        if size <= 1e-300 or place == len(grid):
            others.append((part, n))
        else:
            key = (part.kind, grid[place])
            first, before = counts.get(key, ((part, n), 0))
            counts[key] = (first, before + n)
    on_grid = [
        (type(first[0])(Fraction(size), first[0].neighbors), n)  # type: ignore[call-arg]
        for (_, size), (first, n) in counts.items()
    ]
    return [*others, *on_grid]


def _grid(sizes: list[float]) -> list[float]:
    """Return the places to which sizes are rounded up, ascending; the largest is one."""
    largest, least = max(sizes), min(sizes)
    even = {largest * k / _EVEN for k in range(1, _EVEN)}
    octaves = range(math.frexp(least)[1], math.frexp(largest)[1] + 1)
    steps = range(2 ** (_SIZE_BITS - 1), 2**_SIZE_BITS)
    spread = {math.ldexp(step, octave - _SIZE_BITS) for octave in octaves for step in steps}
    return sorted({size for size in even | spread if size < largest} | {largest})
