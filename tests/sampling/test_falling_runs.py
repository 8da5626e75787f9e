"""Falling runs: the answers of the runs of distinct places on the same words, and the same work for all data."""

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import accumulate, product
from typing import Any

import numpy as np
import pytest
from flint import arb

from discreet.mechanisms.testing import ScriptedBits, SeededBits, bit_tree, counted_work
from discreet.sampling import falling_runs, kernel
from discreet.sampling.bits import LazyUniform
from discreet.sampling.enclosures import (
    CUT_WEIGHT,
    FUNCTION_ERROR,
    WEIGHT_ERROR,
    NaturalRate,
    ball,
    lower,
    precision,
    upper,
)
from discreet.sampling.falling_runs import (
    FallingRuns,
    FallingTable,
    KernelWeights,
    NumpyWeights,
    Steps,
    key_bits,
)
from discreet.sampling.runs import RunLaw, Runs, RunWeights
from discreet.selection.candidates import Grid
from discreet.tables.engines.column import ArrayColumn
from discreet.tables.scores import revenue
from discreet.tables.scores.revenue import Revenue, places

from ..scripted_words import take_path

WAYS = ("kernel", "numpy")
CUTOFF = Fraction(0)


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    take_path(str(request.param), monkeypatch)
    return str(request.param)


def falling(bids: Any, grid: Grid, **named: Any) -> FallingRuns:
    runs = Revenue(ArrayColumn(np.asarray(bids)), grid, **named).compute(CUTOFF)
    assert isinstance(runs, FallingRuns)
    return runs


GRIDS = [Grid(0, 3), Grid(2, 5), Grid("0.5", "2.5", "0.5"), Grid(0, 1000, 10)]
BIDS: list[list[float]] = [
    [1.0],
    [0.0, 0.0, 0.0],
    [2.0, 2.0, 3.5, 2.0],
    [-1.0, math.nan, 1.0, 9.0],
    [-math.inf, -5.0],
    [math.inf, 2.5, 0.25],
    [500.0, 1000.0, 20.0, 20.0, 30.0],
]
NAMED: list[dict[str, Any]] = [{}, {"supply": 2}, {"continuous": True}]
RATES = [NaturalRate(Fraction(r)) for r in ("1/7", "3", "1/1000")]
CASES = list(product(BIDS, GRIDS, NAMED, RATES))


def tables(runs: FallingRuns, rate: NaturalRate) -> FallingTable:
    table = runs.table(rate)
    assert table is not None
    return table


@pytest.mark.parametrize(("bids", "grid", "named", "rate"), CASES[::5])
def test_every_bit_string_is_accounted_for(
    bids: list[float], grid: Grid, named: dict[str, Any], rate: NaturalRate, way: str
) -> None:
    """The masses of strings that fall on a run hold its probability, by the runs of distinct places in balls."""
    runs = falling(bids, grid, **named)
    table, listed = tables(runs, rate), runs.one_by_one()

    def start(bits: Any) -> int:
        one = table.find(LazyUniform(bits))
        return (
            int(one.starts[0])
            if one is not None
            else RunLaw(listed, rate)._table.settle(LazyUniform(bits))
        )

    tree = bit_tree(start, 9)
    with precision(2000):
        for c, probability in enumerate(RunLaw(listed, rate).probabilities()):
            assert tree.admits(int(listed.starts[c]), probability), (c, tree, probability)


def beside_ends(runs: Runs, rate: NaturalRate) -> Iterator[tuple[int, Fraction, Fraction]]:
    """Yield the number of each run but the last, and bounds of its end in words."""
    with precision(600):
        balls = RunLaw(runs, rate).probabilities()
        for c, end in enumerate(accumulate(balls[:-1])):
            yield c, lower(end) * 2**64, upper(end) * 2**64


def check_words(bids: list[float], grid: Grid, named: dict[str, Any], rate: NaturalRate) -> int:
    """Raise if a word beside an end is settled wrongly; return how many are settled."""
    runs, certain = falling(bids, grid, **named), 0
    listed, table = runs.one_by_one(), tables(runs, rate)
    ends = list(beside_ends(listed, rate))
    for _, low, high in ends:
        for distance in (0, 1, 2**10, 2**22, 2**24, 2**30):
            for word in {math.floor(low) - distance, math.floor(high) + distance}:
                if not 0 <= word < 2**64:
                    continue
                one = table.find(LazyUniform.of_word(word, ScriptedBits("01" * 320, width=64)))
                if one is None:
                    continue
                certain += 1
                c = list(map(int, listed.starts)).index(int(one.starts[0]))
                assert int(one.sizes[0]) == int(listed.sizes[c]) > 0
                assert one.tops.exact(0) == listed.tops.exact(c)
                assert c == 0 or ends[c - 1][2] <= word
                assert c == len(ends) or word + 1 <= ends[c][1]
    return certain


@pytest.mark.parametrize(("bids", "grid", "named", "rate"), CASES[::2])
def test_words_beside_every_end_are_right_or_left_open(
    bids: list[float], grid: Grid, named: dict[str, Any], rate: NaturalRate, way: str
) -> None:
    check_words(bids, grid, named, rate)


def test_the_certificate_is_not_an_ornament(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(falling_runs, "error_of_sums", lambda *_: 0.0)
    monkeypatch.setattr(falling_runs, "CUT_WEIGHT", 0.0)
    monkeypatch.setattr(falling_runs, "HALF_ULP", 0.0)

    def every_case() -> None:
        for case in CASES:
            check_words(*case)

    with pytest.raises(AssertionError):
        every_case()


def test_most_words_are_settled(way: str) -> None:
    assert sum(check_words(*case) for case in CASES) > 250


@pytest.mark.parametrize("n", [1, 2, 63, 64, 65, 2047, 2048, 2049, 8191, 8193, 30_000])
@pytest.mark.parametrize("named", NAMED)
def test_draws_are_those_of_the_listed_runs(n: int, named: dict[str, Any], way: str) -> None:
    generator = np.random.default_rng(n)
    bids = [
        generator.random(n) * 1000,
        1000 / np.arange(1.0, n + 1),
        generator.integers(0, 100, n) * 10,
        np.full(n, 437.5),
        generator.normal(size=n) * 500,
    ]
    grids = [Grid(0, 1000, Fraction(1, 2**20)), Grid(7, 1000, 3)]
    rates = [NaturalRate(Fraction(r, 2**30)) for r in (1, 1000)]
    for numbers, grid, rate in product(bids, grids, rates):
        runs = falling(numbers, grid, **named)
        law, other = RunLaw(runs, rate), RunLaw(runs.one_by_one(), rate)
        assert law._fast is not None
        assert other._fast is None
        mine, theirs = SeededBits(n), SeededBits(n)
        assert law.draws(12, mine) == other.draws(12, theirs)
        assert mine.read == theirs.read


def exact_weights(runs: FallingRuns, rate: NaturalRate, best: float) -> list[arb]:
    """Return balls around the weights of all runs relative to a score."""
    found = []
    for i in range(len(runs.keys) - 1):
        one = runs.one(i)
        if int(one.sizes[0]) == 0:
            found.append(arb(0))
            continue
        (weight,) = RunWeights(one, rate).balls()
        gap = Fraction(best) - one.tops.exact(0)
        found.append(weight * (-rate.exponent(gap)).exp())
    return found


@pytest.mark.parametrize("continuous", [False, True])
@pytest.mark.parametrize("eta", ["1/3", "1/1000000", "1e-12", "5"])
def test_weights_keep_their_bound(way: str, continuous: bool, eta: str) -> None:
    """Far closer than the bound that the certificate takes, but those that were cut."""
    bids = np.random.default_rng(1).random(300) * 1000
    runs, rate = (
        falling(bids, Grid(0, 1000, "0.001"), continuous=continuous),
        NaturalRate(Fraction(eta)),
    )
    fast = kernel.active()
    weights: Any = NumpyWeights(runs, rate) if fast is None else KernelWeights(fast, runs, rate)
    with precision(300):
        for weight, true in zip(
            weights.part(0), exact_weights(runs, rate, weights._best), strict=True
        ):
            error = abs(ball(Fraction(float(weight))) - true)
            bound = WEIGHT_ERROR * (1 if way == "kernel" else 2)
            points = 10**6 + 2
            assert error < bound * true + points * CUT_WEIGHT


@pytest.mark.parametrize("continuous", [False, True])
def test_bids_that_pay_nothing_weigh_nothing(continuous: bool, way: str) -> None:
    """Though the place below the lowest price, times their number, is more than any revenue."""
    bids = np.append(np.zeros(20_000), [1003.0, 1007.0])
    runs = falling(bids, Grid(1000, 1010), continuous=continuous)
    rate = NaturalRate(Fraction(1))
    law = RunLaw(runs, rate)
    assert law._fast is not None
    assert law.draws(20, SeededBits(1)) == RunLaw(runs.one_by_one(), rate).draws(20, SeededBits(1))
    table = tables(runs, rate)
    assert table.find(LazyUniform(SeededBits(1))) is not None


@pytest.mark.parametrize("eta", ["1e-200", "1/1000000", "1/300", "3"])
@pytest.mark.parametrize("supply", [None, 1, 250, 299])
def test_falls_of_a_block_keep_their_error(
    eta: str, supply: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By those of its last run and of the numbers beyond that, whatever the limit is."""
    take_path("numpy", monkeypatch)
    monkeypatch.setattr(NumpyWeights, "block", 128)
    rate = NaturalRate(Fraction(eta))
    weights = NumpyWeights(falling(np.arange(300.0), Grid(0, 999), supply=supply), rate)
    for b in range(3):
        _, _, numbers = weights._block(b)
        heights = weights._heights(numbers, np.empty(len(numbers)))
        with precision(300):
            for number, height in zip(numbers.tolist(), heights.tolist(), strict=True):
                true = (-rate.exponent(Fraction(number))).expm1()
                assert abs(ball(Fraction(height)) / true - 1) < FUNCTION_ERROR / 40


def test_functions_of_the_library_see_public_numbers_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """But for `exp`: their time may depend on the numbers."""
    take_path("numpy", monkeypatch)
    plain, seen = np.expm1, list[Any]()

    def expm1(numbers: Any) -> Any:
        seen.append(np.array(numbers).tolist())
        return plain(numbers)

    monkeypatch.setattr(np, "expm1", expm1)
    rate = NaturalRate(Fraction(1, 1000))
    NumpyWeights(falling(np.arange(300.0), Grid(0, 999)), rate)
    seen.clear()
    for bids in (np.arange(300.0), np.full(300, 9.0)):
        NumpyWeights(falling(bids, Grid(0, 999)), rate)
    half = len(seen) // 2
    assert seen[:half] == seen[half:] != []


def test_work_is_a_function_of_how_many_bids_there_are(way: str) -> None:
    works = []
    for bids in (
        np.random.default_rng(0).random(5000) * 1000,
        1000 / np.arange(1.0, 5001),
        np.arange(5000.0) % 100 * 10,
        np.full(5000, 437.5),
        np.full(5000, -1.0),
    ):
        law = RunLaw(falling(bids, Grid(0, 1000, "0.001")), NaturalRate(Fraction(1, 10**6)))
        with counted_work() as work:
            law = RunLaw(falling(bids, Grid(0, 1000, "0.001")), law.rate)
        works.append((work.functions, work.passes, work.words, work.balls))
    assert len(set(works)) == 1
    assert works[0][0] > 5000


@pytest.mark.parametrize("grid", [*GRIDS, Grid(0, 1000, Fraction(1000, 2**40)), Grid(3, 9, "0.01")])
def test_keys_hold_the_places_and_the_order(
    grid: Grid, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(revenue, "_BIDS_AT_ONCE", 100)
    points = [float(grid.lo + grid.step * j) for j in range(min(grid.size, 300))]
    beside = [np.nextafter(points, side) for side in (-math.inf, math.inf)]
    odd = [0.0, -0.0, -1.0, math.nan, math.inf, -math.inf, 1e300, 5e-324, float(grid.hi)]
    bids = np.concatenate([points, *beside, odd, np.random.default_rng(2).random(200) * 1100])
    runs = falling(bids, grid)
    if kernel.are_doubles(runs.keys):
        assert runs.bits == 0
        assert runs.keys.tolist() == [0, *sorted((places(grid, bids) + 1).tolist())]
        return
    assert runs.bits == key_bits(grid.size - 1, len(bids)) > 0
    low = (1 << runs.bits) - 1
    assert sorted((runs.keys[1:] & low).tolist()) == list(range(len(bids)))
    by_position = np.empty(len(bids), dtype=np.int64)
    by_position[runs.keys[1:] & low] = (runs.keys[1:] >> runs.bits) - 1
    assert by_position.tolist() == places(grid, bids).tolist()


def test_without_room_for_positions_places_are_sorted(
    way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert key_bits(2**40, 2**20) == 21
    assert key_bits(2**50, 2**20) == 0
    bids, grid = np.random.default_rng(5).random(3000) * 1000, Grid(0, 1000, "0.5")
    law = RunLaw(falling(bids, grid), RATES[2])
    monkeypatch.setattr(falling_runs, "_KEY_BITS", 1)
    plain = falling(bids, grid)
    assert plain.bits == 0
    assert RunLaw(plain, RATES[2]).draws(20, SeededBits(1)) == law.draws(20, SeededBits(1))


@pytest.mark.parametrize(
    "runs",
    [
        lambda: falling([1.0], Grid(0, 3)).table(NaturalRate(Fraction(1, 2**2000))),
        lambda: falling([1.0], Grid(0, 3)).table(NaturalRate(Fraction(2**52))),
        lambda: FallingRuns(
            np.array([0, 1]),
            0,
            Steps(0, 2**53, 3, 1, False),
            lambda _: Runs([], [], None),  # type: ignore[arg-type]
        ).table(RATES[0]),
    ],
)
def test_what_doubles_do_not_serve(runs: Callable[[], object], way: str) -> None:
    assert runs() is None


def test_the_private_numbers_are_not_shown() -> None:
    assert repr(falling([271828.0], Grid(0, 10**6))) == "<Runs of private scores>"


def test_without_the_network_the_kernel_weighs_keys_that_numpy_sorted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if kernel.active() is None:
        pytest.skip(f"no kernel: {kernel.load()}")
    bids, grid = np.random.default_rng(5).random(3000) * 1000, Grid(0, 1000, "0.5")
    law = RunLaw(falling(bids, grid), RATES[2])
    monkeypatch.setattr(kernel.Kernel, "sorted_keys", lambda *_: None)
    plain = falling(bids, grid)
    assert plain.bits > 0
    assert isinstance(tables(plain, RATES[2])._weights, KernelWeights)
    assert RunLaw(plain, RATES[2]).draws(20, SeededBits(1)) == law.draws(20, SeededBits(1))
