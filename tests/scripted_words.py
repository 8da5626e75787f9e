"""Calls on words of a script, and the ways in which weights are computed."""

from collections.abc import Callable, Iterable
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.sampling import categorical, kernel, short_lists
from discreet.sampling.bits import SystemBits

PATHS = ("kernel", "numpy", "python", "few")
"""The ways to compute weights: two for arrays, and for few numbers plain Python beside numpy, or one call of C."""


class Words(SystemBits):
    """The words of a list, again and again."""

    def __init__(self, words: Iterable[int]) -> None:
        self._words, self._read = list(words), 0

    def word(self) -> int:
        """Return the next word."""
        self._read += 1
        return self._words[(self._read - 1) % len(self._words)]

    def words(self, n: int) -> NDArray[np.uint64]:
        """Return the next `n` words."""
        return np.array([self.word() for _ in range(n)], dtype=np.uint64)


def on_words(words: Iterable[int], call: Callable[[], Any]) -> Any:
    """Return what a call answers when all randomness is these words."""
    bits = Words(words)
    with (
        patch.object(SystemBits, "word", lambda _: bits.word()),
        patch.object(SystemBits, "words", lambda _, n: bits.words(n)),
        patch.object(categorical, "threads", lambda: 1),  # the words of a script have an order
    ):
        return call()


def take_path(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make all weights be computed in one of the ways; skip the test where it cannot be."""
    fast = kernel.active()
    if name in ("kernel", "few") and fast is None:
        pytest.skip(f"no kernel: {kernel.load()}")
    if name == "few" and fast is not None and fast.settle is None:
        pytest.skip("there is no module for draws from a few numbers")
    if name == "kernel":
        monkeypatch.setattr(fast, "settle", None)
    elif name != "few":
        monkeypatch.setattr(kernel, "active", lambda: None)
    if name != "python":
        monkeypatch.setattr(short_lists, "SHORT", 0)
