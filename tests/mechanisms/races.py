"""What the tests of several races share."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

NUMBERS: dict[str, Any] = {
    "ties": st.integers(0, 3),
    "near": st.integers(0, 60),
    "clusters": st.builds(lambda far, near: far * 10**15 + near, st.integers(-3, 3), st.integers(0, 9)),
    "floats": st.floats(-1e3, 1e3),
    "any": st.floats(allow_nan=False, allow_infinity=False),
    "ends": st.sampled_from([-(2**63), 2**63 - 1, 0, 1]),
    "fractions": st.fractions(-9, 9),
}  # fmt: skip
"""Scores by what is hard about them."""


def packed(uniforms: Sequence[int]) -> list[int]:
    """Return the words that give a few candidates these uniforms of 64 bits: first 16 bits each, then the rest."""
    short = [u >> 48 for u in uniforms] + [0] * (-len(uniforms) % 4)
    first = [sum(short[i + j] << 16 * j for j in range(4)) for i in range(0, len(short), 4)]
    return first + [(u % 2**48) << 16 for u in uniforms]


def hashed(first: Any, width: int, _: Any) -> tuple[Any, int]:
    """Read on as `read_on` does, where the rest is a function of the first bits."""
    rest = (first * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(width)
    return first << np.uint64(64 - width) | rest, 64
