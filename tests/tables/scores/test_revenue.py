"""Revenue: against its definition, its sensitivity exhaustively, and the seeds' numbers."""

import json
import math
from collections.abc import Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import combinations_with_replacement, product
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from discreet.mechanisms.testing import bit_tree
from discreet.privacy.sensitivity import Neighbors, Sensitivity
from discreet.sampling.bits import SystemBits
from discreet.sampling.categorical import Categorical
from discreet.sampling.enclosures import NaturalRate, ball, precision
from discreet.sampling.runs import RunLaw, Runs, RunWeights
from discreet.sampling.vectors import read_vector
from discreet.selection.candidates import Grid
from discreet.tables.engines.column import ArrayColumn
from discreet.tables.scores.revenue import Revenue, highest_paid

NOWHERE = Fraction(0)
SEED = [1, 1, 1, 3.01]
LADDER = Grid(0, "3.5", "0.01")


def revenue(bids: Any, prices: Grid, **more: Any) -> Revenue:
    return Revenue(ArrayColumn(np.asarray(bids)), prices, **more)


def objects(values: Sequence[Any]) -> NDArray[Any]:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def written_out(score: Revenue) -> list[Fraction]:
    """Return the score of every price, in money."""
    runs, scores = score.compute(NOWHERE), {}
    assert runs.slopes is not None
    for c in range(len(runs)):
        for k in range(int(runs.sizes[c])):
            scores[runs.index(c, k)] = score.unit * (runs.tops.exact(c) - k * runs.slopes.exact(c))
    assert sorted(scores) == list(range(score.prices.size))
    return [scores[i] for i in range(score.prices.size)]


def defined(bids: Any, prices: Grid, supply: float = math.inf) -> list[Fraction]:
    """Return the score of every price as the definition has it."""
    points = [prices.lo + i * prices.step for i in range(prices.size)]
    return [r * int(min(supply, sum(b >= r for b in bids))) for r in points]


@pytest.mark.parametrize("step", ["0.01", "0.001"])
@pytest.mark.parametrize(
    "bids", [SEED, [Decimal(1)] * 3 + [Decimal("3.01")], [1, 1, 1, Fraction("3.01")]]
)
def test_the_seeds_revenue(step: str, bids: list[Any]) -> None:
    prices = Grid(0, "3.5", step)
    array = np.array(bids) if type(bids[-1]) is float else objects(bids)
    scores = written_out(revenue(array, prices))
    at = {p: scores[int(Fraction(p) / prices.step)] for p in ("1", "3", "3.01", "3.02")}
    assert at == {"1": 4, "3": 3, "3.01": Fraction("3.01"), "3.02": 0}
    assert scores == defined([Fraction(str(b)) for b in bids], prices)


GRIDS = [Grid(0, 3), Grid(1, 3), Grid("1/2", 2, "1/2"), Grid("2/3", "5/3", "1/3"), Grid(2, 2)]
VALUES: list[Any] = [-1, 0, 1, Fraction(3, 2), 2, 4]


@pytest.mark.parametrize("prices", GRIDS)
@pytest.mark.parametrize("supply", [None, 1, 2, 10**900])
def test_every_small_set_of_bids(prices: Grid, supply: int | None) -> None:
    for n in range(4):
        for bids in combinations_with_replacement(VALUES, n):
            expected = defined(bids, prices, supply or math.inf)
            assert written_out(revenue(objects(bids), prices, supply=supply)) == expected
            floats = np.array([float(b) for b in bids])
            assert written_out(revenue(floats, prices, supply=supply)) == expected


def people(units: int) -> Iterator[tuple[int, ...]]:
    """Yield everything one bidder may hand in."""
    for n in range(units + 1):
        yield from combinations_with_replacement(range(4), n)


@pytest.mark.parametrize("units", [1, 2, 3])
@pytest.mark.parametrize("supply", [None, 2])
@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
def test_sensitivity_exhaustively(units: int, supply: int | None, neighbors: Neighbors) -> None:
    """Whatever the others bid, and whatever one bidder hands in: the constants hold, and are reached."""
    prices = Grid(1, 3)
    changes: list[Fraction] = []
    spreads: list[Fraction] = []
    one_way = True
    for others in combinations_with_replacement(range(4), 2):
        for mine in people(units):
            before = defined((*others, *mine), prices, supply or math.inf)
            for instead in people(units) if neighbors == "replace_one" else [()]:
                after = defined((*others, *instead), prices, supply or math.inf)
                d = [a - b for a, b in zip(after, before, strict=True)]
                changes.append(max(map(abs, d)))
                spreads.append(max(d) - min(d))
                one_way &= min(d) >= 0 or max(d) <= 0
    stated = revenue([], prices, supply=supply, units=units).sensitivity(neighbors)
    reached = max([*spreads, max(changes)])
    assert max(spreads) <= stated.spread
    assert max(changes) <= (stated.change or 0)
    assert one_way or not stated.monotonic
    if supply is None:
        # A spread of all of R needs a price without change, or one that changes the other way.
        assert reached == stated.spread == 3 * units


def test_sensitivity_in_units() -> None:
    score = revenue([], LADDER)
    assert score.unit == Fraction(1, 100)
    for neighbors in get_args(Neighbors):
        stated = Sensitivity(Fraction(350), neighbors, Fraction(350), monotonic=True)
        assert score.sensitivity(neighbors) == stated
    assert revenue([], LADDER, units=5, supply=2).sensitivity("replace_one").spread == 700
    assert revenue([], Grid("1/6", "2/3", "1/4")).unit == Fraction(1, 12)
    assert revenue([], Grid(0, 12, 4)).unit == 4


def test_a_replaced_bidder_of_two_units_moves_scores_both_ways() -> None:
    assert not revenue([], LADDER, units=2).sensitivity("replace_one").monotonic
    assert revenue([], LADDER, units=2).sensitivity("add_remove").monotonic


@given(
    st.integers(0, 50),
    st.integers(1, 60),
    st.integers(1, 40),
    st.sampled_from([1, 3, 7, 10, 64, 100]),
    st.lists(st.floats(allow_nan=True, allow_infinity=True) | st.floats(-1, 60), max_size=8),
)
def test_a_double_pays_what_rounds_to_it(
    lo: int, step: int, steps: int, below: int, bids: list[float]
) -> None:
    prices = Grid(Fraction(lo, below), Fraction(lo + step * steps, below), Fraction(step, below))
    points = [float(prices.lo + i * prices.step) for i in range(prices.size)]
    bids += points[:5] + [math.nextafter(p, -1) for p in points[-3:]]
    expected = [sum(p <= b for p in points) - 1 for b in bids]
    kept = [i for i in expected if i >= 0]
    assert highest_paid(prices, np.array(bids)).tolist() == kept
    assert highest_paid(prices, np.array(bids, dtype=object)).tolist() == kept


@given(st.lists(st.floats(0, 2.0), min_size=1, max_size=6), st.integers(48, 990))
def test_a_double_on_a_grid_finer_than_doubles(bids: list[float], fine: int) -> None:
    prices = Grid(0, 1, Fraction(1, 2**fine))
    for bid, index in zip(bids, highest_paid(prices, np.array(bids)).tolist(), strict=True):
        assert float(index * prices.step) <= bid
        assert index == prices.size - 1 or float((index + 1) * prices.step) > bid


@given(
    st.integers(0, 300),
    st.integers(1, 9),
    st.integers(1, 9),
    st.lists(st.integers(-(2**63), 2**64)),
)
def test_integers_are_compared_exactly(lo: int, step: int, below: int, bids: list[int]) -> None:
    bids += [0, lo, lo + step, 400]
    for prices in (
        Grid(Fraction(lo, below), Fraction(lo + 90 * step, below), Fraction(step, below)),
        Grid(lo, lo + 2**80 * step, step),
    ):
        for low, high, dtype in ((-(2**63), 2**63, "i8"), (0, 2**64, "u8"), (-(2**63), 2**64, "O")):
            mine = [b for b in bids if low <= b < high]
            found = highest_paid(prices, np.array(mine, dtype=dtype)).tolist()
            exact = [min((b - prices.lo) // prices.step, prices.size - 1) for b in mine]
            assert found == [i for i in exact if i >= 0]


def test_strange_numbers_have_an_answer() -> None:
    bids: list[Any] = [math.nan, math.inf, -math.inf, -0.0, 0.0, 1e308, 5e-324, 10**400, -(10**400)]
    bids += [
        Decimal("1e999999"),
        Decimal("-1e999999"),
        Decimal("1e-999999999"),
        Decimal("Infinity"),
    ]
    bids += [Decimal("-1e-999999999"), Decimal("1.5"), Fraction(7, 5), np.float32(1.5), np.int64(2)]
    expected = [2, 0, 0, 2, 0, 2, 2, 0, 2, 1, 1, 1, 2]
    assert highest_paid(Grid(0, 2), objects(bids)).tolist() == expected
    assert highest_paid(Grid(0, 2), np.array(bids[:7])).tolist() == expected[:5]
    huge = Grid(0, 10**400, 10**200)
    assert highest_paid(huge, np.array([1.7976931348623157e308, math.inf]))[0] > 10**107
    for empty in (np.zeros(0), np.zeros(0, dtype=np.int64), np.zeros(0, dtype=object)):
        assert written_out(revenue(empty, Grid(0, 2))) == [0, 0, 0]


def test_scores_beyond_64_bits() -> None:
    prices = Grid(0, 2**70)
    score = revenue(np.array([2**69, 5, 5], dtype=object), prices)
    runs = score.compute(NOWHERE)
    assert runs.tops.values.tolist() == [15, 2**69, 0]
    assert 0 <= 2**69 - RunLaw(runs, NaturalRate(Fraction(1))).draw(SystemBits()) < 100
    small = revenue([2**60] * 9, Grid(0, 2**61, 2**20)).compute(NOWHERE)
    assert small.tops.values.dtype == np.int64
    assert small.tops.exact(0) == 9 * 2**40
    large = revenue([2**60] * 9, Grid(1, 2**61 + 1, 2**20)).compute(NOWHERE)
    assert large.tops.exact(0) == 9 * (1 + 2**20 * ((2**60 - 1) // 2**20))


@pytest.mark.parametrize("bids", [[], [2], [1, 1, 3], [1, 2, 2, 4]])
@pytest.mark.parametrize("prices", [Grid(0, 4), Grid(1, 3, "1/2")])
def test_the_draw_is_the_law_of_the_definition(bids: list[int], prices: Grid) -> None:
    score, eta = revenue(bids, prices), Fraction(1, 3)
    law = RunLaw(score.compute(NOWHERE), NaturalRate(eta * score.unit))
    with precision(200):
        scores = read_vector(defined(bids, prices))
        expected = Categorical(scores, NaturalRate(eta)).probabilities()
    tree = bit_tree(law.draw, 13)
    for i, probability in enumerate(expected):
        assert tree.admits(i, probability)
    assert tree.undecided < Fraction(1, 20)


def cell_weights(bids: list[int], cells: int, eta: Fraction) -> list[arb]:
    """Return the integral of exp(eta * k * r) over each cell [i, i + 1), k the bids of at least i + 1."""
    rates = [ball(eta * sum(b > i for b in bids)) for i in range(cells)]
    return [
        arb(1) if rate == 0 else ((rate * (i + 1)).exp() - (rate * i).exp()) / rate
        for i, rate in enumerate(rates)
    ]


@pytest.mark.parametrize("bids", [[], [1, 1, 3], [4, 4], [0, 3, 9]])
@pytest.mark.parametrize("eta", [Fraction(1, 3), Fraction(3), Fraction(1, 10**300)])
def test_a_continuous_price_is_the_integral(bids: list[int], eta: Fraction) -> None:
    law = RunLaw(revenue(bids, Grid(0, 4), continuous=True).compute(NOWHERE), NaturalRate(eta))
    tree = bit_tree(law.draw, 11)
    with precision(2500):
        weights = cell_weights(bids, 4, eta)
        total = sum(weights, arb(0))
        for i, weight in enumerate(weights):
            assert tree.admits(i, weight / total)
    assert tree.undecided < Fraction(1, 3)
    assert set(tree.masses) <= set(range(4))


GOLDEN = {  # algorithms.md, section 6: the general claim (twice the spread) and the true one
    ("1", 2): (".2981146993", ".5935917584", ".1082935423"),
    ("1", 1): (".3129019158", ".6050529180", ".0820451662"),
    ("5", 2): (".3731610045", ".5950065132", ".0318324823"),
    ("5", 1): (".5182303380", ".4769675421", ".0048021199"),
    ("0.01", 2): (".2858275023", ".5745167990", ".1396556987"),
}
NORMALISER = {"0.01": "3.508628753", "1": "4.524738867", "5": "15.39308168"}


@pytest.mark.parametrize(("epsilon", "factor"), GOLDEN)
def test_the_masses_of_the_seeds_continuous_price(epsilon: str, factor: int) -> None:
    score = revenue(SEED, LADDER, continuous=True)
    eta = Fraction(epsilon) / (factor * score.sensitivity("add_remove").spread)
    with precision(128):
        masses = RunLaw(score.compute(NOWHERE), NaturalRate(eta)).probabilities()
        for mass, golden in zip(masses, GOLDEN[epsilon, factor], strict=True):
            assert abs(mass - ball(Fraction(golden))) < 1e-10
        if factor == 2:
            balls = RunWeights(score.compute(NOWHERE), NaturalRate(eta)).balls()
            whole = sum(balls, arb(0)) * ball(eta * 400).exp() * ball(LADDER.step)
            assert abs(whole - ball(Fraction(NORMALISER[epsilon]))) < 1e-8


@pytest.mark.parametrize(("epsilon", "loss"), [("0.01", 2.274758), (1, 2.127662), (5, 1.606027)])
def test_the_loss_of_the_seeds_grid(epsilon: Any, loss: float) -> None:
    score = revenue(SEED, Grid(0, "3.499", "0.001"))
    scores = written_out(score)
    eta = Fraction(epsilon) / (2 * Fraction("3.499"))
    with precision(64):
        law = Categorical(read_vector(scores), NaturalRate(eta)).probabilities()
        mean = sum((p * ball(u) for p, u in zip(law, scores, strict=True)), arb(0))
    assert abs(4 - float(mean) - loss) < 1e-6


def test_fast_sums_of_continuous_prices_keep_their_error() -> None:
    rng = np.random.default_rng(7)
    for eta in (Fraction(1, 10**20), Fraction(1, 50), Fraction(7), Fraction(10**200)):
        score = revenue(rng.integers(0, 1000, 40), Grid(0, 1000), continuous=True)
        weights = RunWeights(score.compute(NOWHERE), NaturalRate(eta))
        sums = weights.sums()
        assert sums is not None
        with precision(400):
            balls = list(weights.balls())
            total, running = sum(balls, arb(0)), arb(0)
            for end, weight in zip(sums.ends.tolist(), balls, strict=True):
                running += weight
                assert abs(running / total - arb(end) / arb(sums.ends[-1])) <= 2 * arb(sums.error)


def test_nothing_private_in_reprs() -> None:
    score = revenue([271828], LADDER)
    assert "271828" not in repr(score) + repr(score.compute(NOWHERE))
    assert isinstance(score.compute(NOWHERE), Runs)
    assert score.in_runs


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    typer = pytest.importorskip("typer")
    from discreet.cli.best_price_command import best_price_command as command

    app = typer.Typer()
    app.command()(command)
    file = tmp_path / "bids.csv"
    file.write_text("bid\n" + "1\n" * 300 + "3.01\n" * 50 + "none\n")
    line = [str(file), "bid", "--hi", "3.5", "--step", "0.01", "--json"]
    options = ["--supply", "400", "--units", "2", "--continuous", "--epsilon", "80"]
    typer.main.get_command(app).main([*line, *options], standalone_mode=False)
    shown = json.loads(capsys.readouterr().out)
    assert 0.8 < float(shown["value"]) <= 1
    assert shown["guarantee"]["epsilon"] == "80"


def test_every_pair_of_neighbours_keeps_the_promise() -> None:
    """The law itself: epsilon-bounded range for every pair of small sets of bids, on a grid and between."""
    for continuous, n in product((False, True), (0, 1, 2)):
        for others in combinations_with_replacement(range(4), n):
            laws = [ratios_of((*others, *mine), continuous) for mine in people(1)]
            for p, q in product(laws, repeat=2):
                with precision(128):
                    losses = [(a / b).log() for a, b in zip(p, q, strict=True)]
                    assert not any(a - b > 1 for a in losses for b in losses)


def ratios_of(bids: tuple[int, ...], continuous: bool) -> list[arb]:
    """Return the weight of every price (or cell) for epsilon = 1 on the prices from 0 to 3."""
    with precision(128):
        if continuous:
            return cell_weights(list(bids), 3, Fraction(1, 3))
        return [(ball(u) / 3).exp() for u in written_out(revenue(bids, Grid(0, 3)))]
