"""Places in C: the nearest points, in order, and the same quantiles on the same words as from runs."""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet import DateGrid, Grid
from discreet.mechanisms.testing import SeededBits
from discreet.sampling import kernel
from discreet.sampling.bits import Bits, RestOfWords
from discreet.sampling.enclosures import NaturalRate
from discreet.tables.scores import sorted_places, sorted_records
from discreet.tables.scores.sorted_places import RankDraws, SortedPlaces
from discreet.tables.scores.sorted_records import SortedRecords
from discreet.tables.verbs import quantile_levels
from discreet.tables.verbs.quantile_levels import Levels

from ...scripted_words import Words

WAYS = ("recursive", "independent")
RNG = np.random.default_rng(5)


@pytest.fixture(autouse=True)
def fast() -> kernel.Kernel:
    found = kernel.active()
    if found is None:
        pytest.skip(f"no kernel: {kernel.load()}")
    if found.sorted_words(1, lambda words: None) is None:
        pytest.skip("this kernel does not sort")
    return found


def values_of(kind: str, n: int, size: int) -> NDArray[np.float64]:
    """Records of a kind on a grid of so many points."""
    rng: Any = np.random.default_rng(n + size)
    kinds: dict[str, Callable[[], Any]] = {
        "distinct": lambda: rng.choice(np.arange(n) * (size // n), n, replace=False),
        "equal revenue": lambda: np.minimum(size / (rng.random(n) * n + 1), size - 1),
        "few values": lambda: rng.integers(3, size=n) * (size // 3),
        "one value": lambda: np.full(n, size // 2),
        "at the ends": lambda: rng.choice([0, size - 1], size=n),
    }
    records: NDArray[np.float64] = np.floor(kinds[kind]()).astype(np.float64)
    return records


def both_ways(
    records: NDArray[np.float64],
    levels: Levels,
    grid: Grid[int],
    way: str,
    bits: Callable[[], Bits],
) -> tuple[list[int], list[int], bool]:
    """The quantiles from runs, those in one call, and whether that call left something open."""
    places, is_open = SortedPlaces.on(grid, records), False
    assert places is not None
    draw = SortedPlaces.draw

    def note(self: SortedPlaces, draws: RankDraws, bits: Bits) -> Any:
        nonlocal is_open
        answers, rest = draw(self, draws, bits)
        is_open = answers is None
        return answers, rest

    with (
        patch.object(SortedPlaces, "draw", note),
        patch.object(quantile_levels, "SystemBits", bits),
    ):
        at_once = getattr(levels, way)(grid.size, places)
        in_turn = getattr(levels, way)(
            grid.size, SortedRecords.at(grid.nearest(records), grid.size)
        )
    return in_turn, at_once, is_open


KINDS = ("distinct", "equal revenue", "few values", "one value", "at the ends")
CASES = list(
    product(KINDS, (1, 2, 7, 300, 5000), (1, 2, 100, 10**8 + 1), ("1/100", "1", "40"), WAYS)
)


@pytest.mark.parametrize(("kind", "n", "size", "epsilon", "way"), CASES[::11])
def test_answers_are_the_same_function_of_the_words(
    kind: str, n: int, size: int, epsilon: str, way: str
) -> None:
    grid = Grid(0, size - 1)
    alphas = [
        Fraction(0),
        Fraction(1, 9),
        Fraction(1, 7),
        Fraction(1, 2),
        Fraction(3, 4),
        Fraction(1),
    ]
    levels = Levels.read(alphas, grid, {"epsilon": epsilon})
    for seed in range(4):
        in_turn, at_once, is_open = both_ways(
            values_of(kind, n, size), levels, grid, way, partial(SeededBits, seed)
        )
        assert at_once == in_turn
        assert not is_open


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("way", WAYS)
def test_words_beside_boundaries_are_settled_right_or_left_open(kind: str, way: str) -> None:
    """The first words of a draw between two answers, found by bisection, and words near them."""
    grid, step = Grid(0, 10**6), 2**62 + 12345
    records, left_open, settled = values_of(kind, 200, 10**6 + 1), 0, 0
    levels = Levels.read(["1/3", "1/2"], grid, {"epsilon": 1})

    def ask(word: int) -> tuple[list[int], list[int], bool]:
        words = [word, 5 * 2**61, step, 3**39, 2**63 + 1, 7**22]
        return both_ways(records, levels, grid, way, lambda: Words(words))

    for target in (2**61, 3 * 2**62):
        low, high = target - 2**60, target + 2**60
        first = ask(low)[0]
        if ask(high)[0] == first:
            continue
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if ask(middle)[0] == first else (low, middle)
        for word in [high + s * 2**k for k in range(0, 56, 11) for s in (-1, 1)] + [low, high]:
            in_turn, at_once, is_open = ask(word)
            assert at_once == in_turn
            left_open += is_open
            settled += not is_open
    assert (settled > 0 and left_open > 0) or kind not in ("distinct", "equal revenue")


@pytest.mark.parametrize("word", [0, 2**64 - 1])
def test_words_at_the_ends_are_left_to_the_runs(word: int) -> None:
    grid, records = Grid(0, 10**6), values_of("distinct", 5000, 10**6 + 1)
    levels = Levels.read(["1/4", "1/2"], grid, {"epsilon": 1})
    for way in WAYS:
        in_turn, at_once, is_open = both_ways(
            records, levels, grid, way, lambda: Words([word, 5 * 2**61, 3**39])
        )
        assert at_once == in_turn
        assert is_open


def test_a_word_that_is_open_leaves_all_words_to_the_runs(fast: kernel.Kernel) -> None:
    grid, records = Grid(0, 10**6), values_of("distinct", 300, 10**6 + 1)
    levels = Levels.read(["1/4", "1/2", "3/4"], grid, {"epsilon": 1})
    with patch.object(kernel.Kernel, "quantiles", lambda *_: None):
        in_turn, at_once, is_open = both_ways(
            records, levels, grid, "recursive", partial(SeededBits, 3)
        )
    assert is_open
    assert at_once == in_turn


def test_bits_of_other_widths_are_left_to_the_runs() -> None:
    places = SortedPlaces.on(Grid(0, 9), np.arange(10.0))
    draws = RankDraws.of([Fraction(1, 2)], [NaturalRate(Fraction(1))], 10, 0)
    assert places is not None
    assert draws is not None
    bits = SeededBits(1)
    bits.width = 8
    assert places.draw(draws, bits) == (None, bits)


def test_other_parts_of_points_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """The parts are those that the caller names, and a rank may have none of them."""
    grid, records = Grid(0, 9), np.repeat([2.0, 7.0], [40, 3])
    levels = Levels.read(["1/4", "1/2", "3/4"], grid, {"epsilon": 3})
    for parts in (2, 8):
        monkeypatch.setattr(sorted_records, "PARTS", parts)
        for seed in range(20):
            in_turn, at_once, _ = both_ways(
                records, levels, grid, "recursive", partial(SeededBits, seed)
            )
            assert at_once == in_turn


def test_what_doubles_cannot_hold_is_left_to_the_runs() -> None:
    rate = NaturalRate(Fraction(1))
    tiny = NaturalRate(Fraction(1, 2**901))
    share = Fraction(2**39 + 1, 2**40)
    assert RankDraws.of([Fraction(1, 2)], [rate], 2**31, 2**32) is None
    assert RankDraws.of([Fraction(1, 2)], [tiny], 10, 0) is None
    draws = RankDraws.of([share], [rate], 10, 0)
    assert draws is not None
    assert draws.most == 2**12 - 1
    places = SortedPlaces.on(Grid(0, 9), np.zeros(draws.most))
    assert places is not None
    assert places.draw(draws, SeededBits(1))[0] is None


def test_large_grids_and_no_records_are_not_sorted_here() -> None:
    assert SortedPlaces.on(Grid(0, 2**31 - 1), np.zeros(3)) is None
    assert SortedPlaces.on(Grid(0, 9), np.zeros(0)) is None
    assert SortedPlaces.on(Grid(0, 2**31 - 2), np.zeros(3)) is not None


def test_without_a_kernel_there_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "active", lambda: None)
    assert SortedPlaces.on(Grid(0, 9), np.zeros(3)) is None


@pytest.mark.parametrize("data", [np.arange(5), np.array([3, 0.5, Fraction(1, 3)], dtype=object)])
def test_numbers_of_other_types_have_the_same_places(data: Any) -> None:
    grid = Grid(0, 4, "0.5")
    places = SortedPlaces.on(grid, data)
    assert places is not None
    assert places.ascending.tolist() == sorted(grid.nearest(data).tolist())


def test_dates_have_the_same_places() -> None:
    grid = DateGrid("2020-01-01", "2024-01-01", "1 month").in_numbers("us")
    data = np.arange(18_200, 20_000, 7) * 86_400_000_000
    places = SortedPlaces.on(grid, data)
    assert places is not None
    assert places.ascending.tolist() == sorted(grid.nearest(data).tolist())


def test_distinct_points_are_worked_out_where_they_are_asked_for() -> None:
    data = RNG.integers(50, size=400).astype(float)
    places, grid = SortedPlaces.on(Grid(0, 10**7), data), Grid(0, 10**7)
    distinct = SortedRecords.at(grid.nearest(data), grid.size)
    assert places is not None
    assert places.points.tolist() == distinct.points.tolist()
    assert places.totals.tolist() == distinct.totals.tolist()
    assert places.counts.tolist() == distinct.counts.tolist()
    assert places.points.dtype == distinct.points.dtype
    with pytest.raises(AttributeError):
        _ = places.no_such_field


def in_order(words: Any, fast: kernel.Kernel) -> Any:
    """Words as the kernel sorts them."""

    def write(room: NDArray[np.uint32]) -> None:
        room[:] = words

    return fast.sorted_words(len(words), write)


@pytest.mark.parametrize("kind", ["random", "few", "zeros and ones", "falling", "largest"])
def test_words_are_sorted(kind: str, fast: kernel.Kernel) -> None:
    """Of all lengths around whole blocks, and of long ones whose last run is shorter than the others."""
    kinds: dict[str, Callable[[int], Any]] = {
        "random": lambda n: RNG.integers(2**32 - 1, size=n),
        "few": lambda n: RNG.integers(5, size=n),
        "zeros and ones": lambda n: RNG.integers(2, size=n),
        "falling": lambda n: np.arange(n)[::-1],
        "largest": lambda n: 2**32 - 2 - RNG.integers(3, size=n),
    }
    for n in [*range(1, 330), 1000, 4095, 4096, 4097, 20_000]:
        words = kinds[kind](n)
        assert np.array_equal(in_order(words, fast), np.sort(words))


def test_a_block_is_sorted_by_its_network(fast: kernel.Kernel) -> None:
    """By the zero-one principle, with zeros at both ends of a stretch."""
    for first, last, shift in product(range(9), range(9), range(0, 64, 8)):
        words = np.ones(64, dtype=np.uint32)
        words[shift : shift + first] = 0
        words[63 - shift : max(63 - shift - last, 0) : -1] = 0
        assert np.array_equal(in_order(words, fast), np.sort(words))


GRIDS = [
    Grid(0, 10),
    Grid(-3, 3, "0.1"),
    Grid("1/3", "10/3", "1/7"),
    Grid(-(10**6), 10**6, "0.002"),
    Grid(0, 100, "0.000001"),
    Grid(5, 5),
]


@pytest.mark.parametrize("grid", GRIDS, ids=map(repr, GRIDS))
def test_places_are_those_of_exact_arithmetic(grid: Grid[Any]) -> None:
    """At borders between points and the doubles beside them, beyond the ends, and anywhere."""
    indices = np.unique(np.append(RNG.integers(grid.size, size=300), [0, grid.size - 1])).tolist()
    borders = [float(grid.lo + (i + Fraction(1, 2)) * grid.step) for i in indices]
    beside = [np.nextafter(border, side) for border in borders for side in (-np.inf, np.inf)]
    odd = [0.0, -0.0, 5e-324, -5e-324, 1e300, -1e300, math.inf, -math.inf]
    anywhere = RNG.uniform(float(grid.lo) - 1, float(grid.hi) + 1, 1000).tolist()
    data = np.array([*borders, *beside, *odd, *anywhere])
    places = SortedPlaces.on(grid, data)
    assert places is not None
    assert places.ascending.tolist() == sorted(map(grid._index, data.tolist()))


def test_grids_that_doubles_do_not_settle_go_another_way() -> None:
    for grid in (Grid(0, "1/3", Fraction(1, 3 * 2**51)), Grid(2**60, 2**60 + 8)):
        data = np.array([0.1, 0.2, float(2**60 + 1024)])
        places = SortedPlaces.on(grid, data) if grid.size < sorted_places._FEWER_POINTS else None
        if places is not None:
            assert places.ascending.tolist() == sorted(map(grid._index, data.tolist()))


def test_words_that_were_read_are_read_again() -> None:
    places = SortedPlaces.on(Grid(0, 9), np.arange(10.0))
    draws = RankDraws.of([Fraction(1, 2)], [NaturalRate(Fraction(1))], 10, 0)
    assert places is not None
    assert draws is not None
    answers, rest = places.draw(draws, Words([0, 1, 2, 3]))
    assert answers is None
    assert isinstance(rest, RestOfWords)
    assert [rest.word() for _ in range(4)] == [0, 1, 2, 3]


@pytest.mark.parametrize(("second", "carry"), [(0, 0), (2**64 - 1, 1)])
def test_a_point_of_a_run_is_drawn_by_two_words(second: int, carry: int) -> None:
    """The first stands just below a boundary between two points; whether the second carries over it decides."""
    grid, records = Grid(0, 10**6), np.array([500_000.0])
    levels, drawn = Levels.read(["1/2"], grid, {"epsilon": 1}), set[int]()
    for k in (0, 7, 250_000, 499_990):
        words = [2**61, ((k + 1) << 64) // 500_000, second]
        in_turn, at_once, is_open = both_ways(records, levels, grid, WAYS[0], partial(Words, words))
        assert at_once == in_turn
        assert not is_open
        drawn.add(at_once[0] - k)
    assert drawn == {carry}
