"""The fast pass in C, where it was built and is faster than numpy: `kernel.c`, loaded by ctypes.

Nothing depends on it. Its results lie within the same proved bounds as numpy's, so answers are the same function of
the random bits with it and without it: docs/explanation/draw.md.
"""

from __future__ import annotations

from collections.abc import Callable
from ctypes import addressof, c_char
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard

import numpy as np

from .kernel_library import KernelLibrary, open_library, settle_module, threads

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..errors import InvalidScores

Doubles: TypeAlias = "NDArray[np.float64]"
Words32: TypeAlias = "NDArray[np.uint32]"

LN2 = 0.6931471805599453  # the double nearest to it, whatever the mode is while this is imported
FOR_A_THREAD = 5 * 10**5
"""Numbers of a vector for which another thread is worth its start."""

_ROW = 256

LARGEST_CUT = 2**50
"""`joint_stage` takes cuts below it."""

RANKED = frozenset({np.dtype(np.float64), np.dtype(np.int64)})
"""The types of numbers that are ranked, and read by the module for short draws."""

_SORTED_AT_ONCE, _EIGHT, _LARGEST_WORD = 64, 8, 2**32 - 1
"""Words are sorted by so many, with room for eight at both ends; the largest one stands behind all others."""


class Kernel:
    """The functions of `kernel.c`, for arrays of doubles. Rates are those of exp(-rate * gap)."""

    def __init__(self, library: KernelLibrary) -> None:
        self._functions = library.functions
        module = settle_module()
        self.settle: Callable[..., int | None] | None = module and module.settle
        """One draw from a few numbers in one call, see settle.c. None if there is no such module."""
        self.module = module
        """That module, with the steps of a race too. None if there is none."""

    def block_sums(self, values: Doubles, block: int, rate: float) -> tuple[Doubles, Doubles]:
        """Return the largest numbers of the blocks, and the sums of the blocks' weights relative to them.

        Raises:
            InvalidScores: if a number is not finite.
        """
        from .shared_work import divide, share

        values = _contiguous(values)
        blocks = -(-len(values) // block)
        bests, sums = np.empty(blocks), np.empty(blocks)
        function, rate, infinite = self._functions["block_sums"], rate / LN2, list[int]()

        def add_up(span: tuple[int, int]) -> None:
            first, stop = span
            part = values[first * block : stop * block]
            ends = (bests[first:stop], sums[first:stop])
            if not function(_at(part), len(part), block, rate, *map(_at, ends)):
                infinite.append(first)

        number = max(min(threads(), blocks, len(values) // FOR_A_THREAD), 1)
        share(add_up, divide(blocks, number), number)
        if infinite:
            raise _not_finite()
        return bests, sums

    def running_sums(self, values: Doubles, best: float, rate: float) -> tuple[Doubles, int]:
        """Return the running sums of the weights, and how many additions the longest of them went through."""
        values, ends = _contiguous(values), np.empty(len(values))
        self._functions["running_sums"](_at(values), len(values), best, rate / LN2, _at(ends))
        return ends, _ROW + len(ends) // _ROW + 1

    def kth_largest(self, values: NDArray[Any], k: int) -> np.float64 | np.int64:
        """Return the k-th largest of finite numbers of a type in RANKED, in a time that does not depend on them."""
        values, answer = _contiguous(values), np.empty(1, dtype=values.dtype)
        room, are_integers = np.empty(len(values), dtype=np.int32), values.dtype.kind == "i"
        self._functions["kth_largest"](
            *(_at(values), are_integers, len(values), k, _at(room), _at(answer))
        )
        largest: np.float64 | np.int64 = answer[0]
        return largest

    def weights(self, gaps: Doubles, rate: float) -> Doubles:
        """Replace the gaps by their weights."""
        self._functions["weights"](_at(gaps), len(gaps), rate / LN2)
        return gaps

    def row_sums(self, rows: Doubles, rate: float) -> Doubles:
        """Return the running sums of the weights of every row, as `running_sums` does.

        Raises:
            InvalidScores: if a number is not finite.
        """
        rows, ends = _contiguous(rows), np.empty(rows.shape)
        if not self._functions["row_sums"](_at(rows), *rows.shape, rate / LN2, _at(ends)):
            raise _not_finite()
        return ends

    def cumulate(self, numbers: Doubles) -> Doubles:
        """Replace numbers >= 0 by their running sums, in as many additions as `running_sums`."""
        self._functions["cumulate"](_at(numbers), len(numbers))
        return numbers

    def guide(self, ends: Doubles, number: int, width: int) -> tuple[NDArray[np.uint32], int]:
        """Return how many running sums lie below each of 2**b cells, where the look-up of a word begins, and b.

        Args:
            ends: the running sums.
            number: how many words are looked up: for as many as there are sums a cell has about one, else more.
            width: bits of a word.
        """
        bits = min(width, (len(ends) * 2 // (3 if number >= len(ends) else 8)).bit_length())
        ends, guide = _contiguous(ends), np.empty((1 << bits) + 1, dtype=np.uint32)
        self._functions["guide"](_at(ends), len(ends), _at(guide), bits)
        return guide, bits

    def locator(
        self, ends: Doubles, width: int, slack: float, indices: NDArray[np.int64]
    ) -> Callable[[NDArray[np.uint64], int], int]:
        """Return a function that looks up words and writes where they certainly fall, -1 where that is open.

        It takes words and the place of the first index, and returns how many are open: see `Sums.locate_all`.

        Args:
            ends: the running sums.
            width: bits of a word.
            slack: the distance that makes a comparison certain.
            indices: where the indices are put: as many as words are looked up in all.
        """
        ends = _contiguous(ends)
        guide, bits = self.guide(ends, len(indices), width)
        function, sums, cell = self._functions["locate"], _at(ends), float(ends[-1]) * 2.0**-width
        kept, start_at, n = (ends, guide), _at(indices), len(ends)
        last = (width, cell, slack, _at(guide), bits)

        def locate(words: NDArray[np.uint64], first: int) -> int:
            words = _readable_words(words)
            number = min(len(words), len(indices) - first)  # more would be put behind them
            assert kept  # addresses of these are in use
            return function(sums, n, _at(words), number, *last, start_at + 8 * first)

        return locate

    def locate_rows(
        self, ends: Doubles, words: NDArray[np.uint64], width: int, slack: float
    ) -> NDArray[np.int64]:
        """Return the indices on which the words of the rows certainly fall, or -1 where that is open.

        Args:
            ends: the running sums of the rows.
            words: a word of `width` bits a row.
            width: bits of a word.
            slack: the distance, relative to a row's total, that makes a comparison certain.
        """
        words, indices = _readable_words(words), np.empty(len(ends), dtype=np.int64)
        if len(words) != len(ends):
            raise ValueError(f"{len(ends)} rows need as many words, got {len(words)}")
        where = (_at(ends), *ends.shape, _at(words))
        self._functions["locate_rows"](*where, 2.0**-width, slack, _at(indices))
        return indices

    def rounds(  # noqa: PLR0913  # the numbers, their blocks, the words, and two distances
        self,
        values: Doubles,
        rate: float,
        blocks: tuple[Doubles, Doubles],
        block: int,
        words: NDArray[np.uint64],
        width: int,
        slacks: tuple[float, float],
    ) -> list[int]:
        """Return the indices that rounds take one after another, up to one of which a word is open.

        Args:
            values: the numbers.
            rate: the weights are exp(-rate * gap).
            blocks: the largest numbers of the blocks, and the sums of their weights, of `block_sums`.
            block: how many numbers a block has.
            words: two words of `width` bits a round.
            width: bits of a word.
            slacks: the distances, relative to totals, that make comparisons of blocks and in a block certain.
        """
        values, words = _contiguous(values), _readable_words(words)
        bests, masses = (numbers.copy() for numbers in blocks)
        answers, scratch = (
            np.empty(len(words) // 2, dtype=np.int64),
            np.empty(2 * max(block, len(bests))),
        )
        complete = self._functions["rounds"](
            *(_at(values), len(values), block, rate / LN2, _at(bests), _at(masses)),
            *(_at(words), len(answers), 2.0**-width, *slacks, _at(scratch), _at(answers)),
        )
        return list(map(int, answers[:complete]))

    def grid_keys(self, values: Doubles, grid: Doubles, keys: Doubles) -> None:
        """Write the keys of numbers by their places on a grid: see `kernel.c` and `falling_runs`."""
        values = _contiguous(values)
        self._functions["grid_keys"](_at(values), len(values), _at(grid), _at(keys))

    def sorted_keys(self, n: int, write: Callable[[Doubles], None]) -> Doubles | None:
        """Return n keys in order after a 0, in a time that does not depend on them, or None if C cannot.

        Args:
            n: how many there are.
            write: puts them into an array; none is below zero.
        """
        length = -(-n // _SORTED_AT_ONCE) * _SORTED_AT_ONCE
        room = np.empty((2, length + 2 * _EIGHT))
        room[0, _EIGHT + n :] = np.inf
        write(room[0, _EIGHT : _EIGHT + n])
        ends = (_at(room[place, _EIGHT:]) for place in (0, 1))
        if self._functions["sort_doubles"](*ends, length) < 0:
            return None
        room[1, _EIGHT - 1] = 0.0
        return room[1, _EIGHT - 1 : _EIGHT + n]

    def falling_best(self, keys: Doubles, falling: Doubles) -> float:
        """Return the largest rounded score of falling runs, which is put among the numbers that describe them."""
        self._functions["falling_best"](_at(keys), len(keys) - 1, _at(falling))
        return float(falling[4])

    def falling_sums(self, keys: Doubles, falling: Doubles, block: int) -> Doubles:
        """Return the sums of the weights of falling runs in blocks."""
        n = len(keys) - 1
        sums = np.empty(-(-n // block))
        self._functions["falling_sums"](_at(keys), n, _at(falling), block, _at(sums))
        return sums

    def falling_weights(self, keys: Doubles, falling: Doubles, start: int, stop: int) -> Doubles:
        """Return the weights of some of the falling runs."""
        weights = np.empty(stop - start)
        where = _at(keys), len(keys) - 1, _at(falling)
        self._functions["falling_weights"](*where, start, stop, _at(weights))
        return weights

    def sorted_words(self, n: int, write: Callable[[NDArray[np.uint32]], None]) -> Words32 | None:
        """Return n words below 2**32 - 1 in order, in a time that does not depend on them, or None if C cannot.

        Args:
            n: how many there are.
            write: puts them into an array.
        """
        length = -(-n // _SORTED_AT_ONCE) * _SORTED_AT_ONCE
        room = np.empty((2, length + 2 * _EIGHT), dtype=np.uint32)
        words = room[:, _EIGHT : _EIGHT + n]
        room[0, _EIGHT + n :] = _LARGEST_WORD
        write(words[0])
        place = self._functions["sort_words"](_at(words[0]), _at(words[1]), length)
        return None if place < 0 else words[place]

    def nearest_places(self, values: Doubles, grid: Doubles, places: Words32) -> None:
        """Write the indices of the points that are nearest to numbers: see `kernel.c` and `sorted_places`."""
        values = _contiguous(values)
        self._functions["nearest_places"](_at(values), len(values), _at(grid), _at(places))

    def quantiles(
        self,
        places: Words32,
        points: int,
        parts: int,
        targets: NDArray[np.void],
        words: NDArray[np.uint64],
    ) -> NDArray[np.uint64] | None:
        """Return quantiles of sorted places, by three words of 64 bits a quantile, or None where a word is open.

        Args:
            places: the points of the records, in order.
            points: how many points the grid has.
            parts: into how many parts a point is divided where it cuts the records; 0 if none does.
            targets: a `Wanted` of `kernel.c` by quantile.
            words: the words.
        """
        words, answers = _readable_words(words), np.empty(len(targets), dtype=np.uint64)
        most = 2 * min(2 * int(targets["width"].max()) + 2, len(places)) + 2
        room = np.empty(4 * most)
        number = self._functions["quantiles"](
            *(_at(places), len(places), points, parts, _at(targets), len(targets)),
            *(_at(words), most, _at(room), _at(answers)),
        )
        return answers if number == len(targets) else None

    def joint_stage(self, *arguments: float) -> int:
        """Weigh one of joint quantiles by those before: see `kernel.c` and `kernel_stages`."""
        return self._functions["joint_stage"](*arguments)

    def joint_draw(self, draw: int, word: int) -> int:
        """Go on with a draw of joint quantiles by a word: see `kernel.c` and `kernel_stages`."""
        return self._functions["joint_draw"](draw, word)


@cache
def load() -> Kernel | str:
    """Return the kernel, or why it is not in use."""
    library = open_library()
    return library if isinstance(library, str) else Kernel(library)


@cache
def active() -> Kernel | None:
    """Return the kernel if it is in use."""
    kernel = load()
    return kernel if isinstance(kernel, Kernel) else None


def are_doubles(values: NDArray[Any]) -> TypeGuard[Doubles]:
    """Return whether the numbers are stored as the kernel reads them."""
    return values.dtype == np.float64 and values.dtype.isnative


def _not_finite() -> InvalidScores:
    from .vectors import not_finite  # which a first answer from a few numbers does without

    return not_finite()


def _contiguous(values: NDArray[Any]) -> NDArray[Any]:
    """Return the numbers one after another in memory, at addresses C can read."""
    flags = values.flags
    if flags.c_contiguous and flags.aligned:
        return values
    return np.require(values, requirements=["C", "A"])


def _readable_words(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return words as C reads them, whatever integers a source of bits gives."""
    flags = words.flags
    if words.dtype == np.uint64 and words.dtype.isnative and flags.c_contiguous and flags.aligned:
        return words
    return np.require(words, np.uint64, ["C", "A"])


def address(array: NDArray[np.generic]) -> int:
    """Return the address of an array's first number."""
    try:
        return addressof(c_char.from_buffer(array.data))  # in a fifth of the time of numpy's own
    except (TypeError, ValueError):  # nothing may be written to it, or it is empty
        return array.ctypes.data


_at = address
