"""Distance: discrete Laplace against its closed form, and its true epsilon, truncated or not."""

import io
import math
from decimal import Decimal
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

import discreet
from discreet.candidates import Grid
from discreet.cli import run
from discreet.errors import InvalidArgument, InvalidCandidates, InvalidNumber, InvalidScores
from discreet.mechanisms import Base2, Exponential
from discreet.mechanisms.base2 import Base2Eta
from discreet.mechanisms.contract import PrivacyParameter
from discreet.privacy.guarantees import BoundedRange, MixedRange, PureDP
from discreet.privacy.sensitivity import Sensitivity
from discreet.sampling.categorical import Categorical
from discreet.sampling.enclosures import DyadicRate, NaturalRate, ball, precision
from discreet.sampling.runs import RunLaw, Runs
from discreet.sampling.vectors import read_vector
from discreet.scores.distance import Distance, Lattice, ListedDistance
from discreet.testing import bit_tree
from discreet.verbs.noise import geometric, laplace

NOWHERE = Fraction(0)
ONE_BIT = DyadicRate(1, 1, 1)


def runs(value: Any, answers: Any, change: Any = 1) -> Runs:
    return Distance(value, change, answers).compute(NOWHERE)


@pytest.mark.parametrize("value", [0, 7, -3, 10**40])
def test_geometric_noise_in_base_two(value: int) -> None:
    """P(value + k) = (1 - a) / (1 + a) * a**|k|, here with a = 1/2, as fractions."""
    tree = bit_tree(RunLaw(runs(value, Lattice()), ONE_BIT).draw, 13)
    for k in range(-3, 4):
        exact = Fraction(1, 3 * 2 ** abs(k))
        assert tree.masses[value + k] <= exact <= tree.masses[value + k] + tree.undecided
    assert tree.undecided < Fraction(1, 2**4)


@pytest.mark.parametrize("epsilon", [Fraction(1), Fraction(5)])
@pytest.mark.parametrize("sensitivity", [1, 3])
def test_geometric_noise_has_its_law(epsilon: Fraction, sensitivity: int) -> None:
    score = Distance(5, sensitivity, Lattice())
    calibrated = Exponential().calibrate(
        score.sensitivity("add_remove"), PrivacyParameter("epsilon", epsilon)
    )
    assert calibrated.guarantee == PureDP(epsilon, "add_remove")
    tree = bit_tree(calibrated.law(score.compute(NOWHERE)).draw, 12)
    with precision(200):
        a = (-ball(epsilon) / sensitivity).exp()
        for k in range(-8, 9):
            assert tree.admits(5 + k, (1 - a) / (1 + a) * a ** abs(k))
    assert tree.undecided < Fraction(1, 5)


CASES = [(0, Grid(0, 4)), (2, Grid(0, 4)), (9, Grid(0, 4)), (-1, Grid(0, 4)), (1, Grid(1, 1))]


@pytest.mark.parametrize(
    ("value", "grid"), [*CASES, ("0.6", Grid("-1/2", 1, "1/4")), (0.3, Grid(0, 1, "0.1"))]
)
def test_truncated_is_the_law_written_out(value: Any, grid: Grid) -> None:
    number = Fraction(value)
    nearest = min(range(grid.size), key=lambda i: abs(grid.lo + i * grid.step - number))
    scores = [-abs(i - nearest) * grid.step for i in range(grid.size)]
    rate = NaturalRate(Fraction(3, 2))
    tree = bit_tree(RunLaw(runs(number if isinstance(value, str) else value, grid), rate).draw, 12)
    with precision(200):
        expected = Categorical(read_vector(scores), rate).probabilities()
    assert all(tree.admits(i, p) for i, p in enumerate(expected))
    assert set(tree.masses) <= set(range(grid.size))


@given(st.fractions(-9, 9), st.fractions(-9, 9), st.fractions(Fraction(1, 5), 3))
def test_going_to_the_nearest_point_keeps_the_sensitivity(
    a: Fraction, b: Fraction, step: Fraction
) -> None:
    grid = Grid(-2 * step, 3 * step, step)
    change = max(abs(a - b), Fraction(1, 100))
    for answers in (Lattice(step), grid):
        stated = Distance(0, change, answers).sensitivity("add_remove").change
        points = [step * int(runs(x, answers).starts[0]) for x in (a, b)]
        assert stated is not None
        assert abs(points[0] - points[1]) <= stated


def test_half_way_goes_up() -> None:
    """Half to even would take 1/2 and 3/2, which are 1 apart, to 0 and 2."""
    half = Fraction(1, 2)
    assert [runs(k + half, Lattice()).starts[0] for k in (-2, -1, 0, 1)] == [-1, 0, 1, 2]
    assert [runs(k + half, Grid(-1, 9)).starts[0] for k in (-1, 0, 1)] == [1, 2, 3]


def test_stated_sensitivities() -> None:
    stated = Distance(0, 1, Lattice("0.4")).sensitivity("replace_one")
    assert stated == Sensitivity(Fraction("2.4"), "replace_one", Fraction("1.2"), balanced=True)
    cut = Distance(0, 1, Grid(0, 10)).sensitivity("add_remove")
    assert cut == Sensitivity(Fraction(2), "add_remove", Fraction(1))
    assert Distance(0, 50, Grid(0, 10)).sensitivity("add_remove").spread == 20
    assert Distance(0, 50, Grid(3, 3)).sensitivity("add_remove").spread == 2
    assert Distance(0, "0.1", Lattice("0.1")).sensitivity("add_remove").change == Fraction("0.1")
    assert Distance(0, 0.1, Lattice("0.1")).sensitivity("add_remove").change == Fraction("0.2")


def truncated(value: int, size: int, eta: Fraction) -> list[arb]:
    scores = read_vector([-abs(value - r) for r in range(size)])
    return Categorical(scores, NaturalRate(eta)).probabilities()


def true_epsilon(size: int, change: int, eta: Fraction) -> arb:
    """Return ln of the largest ratio of two laws whose values are at most `change` apart: brute force."""
    laws = [truncated(value, size, eta) for value in range(size)]
    ratios = [
        laws[v][r] / laws[w][r]
        for v, w, r in product(range(size), repeat=3)
        if abs(v - w) <= change
    ]
    return max(ratios, key=lambda ratio: float(ratio)).log()


@pytest.mark.parametrize("size", [2, 3, 5, 9])
@pytest.mark.parametrize("change", [1, 2, 4])
@pytest.mark.parametrize("eta", [Fraction(1, 10), Fraction(1), Fraction(4)])
def test_the_true_epsilon_of_truncation(size: int, change: int, eta: Fraction) -> None:
    """It is eta c + ln((1 + a - a**(c+1) - a**(n-c)) / (1 - a**n)): between eta c and 2 eta c."""
    c = min(change, size - 1)
    with precision(200):
        a = (-ball(eta)).exp()
        closed = c * ball(eta) + ((1 + a - a ** (c + 1) - a ** (size - c)) / (1 - a**size)).log()
        brute = true_epsilon(size, change, eta)
        assert brute.overlaps(closed)
        assert abs(brute - closed) < 1e-40
        assert closed < 2 * c * ball(eta)
        assert closed > c * ball(eta) or c == size - 1


@pytest.mark.parametrize("eta", [Fraction(1, 10), Fraction(1), Fraction(4)])
def test_the_true_epsilon_on_a_lattice(eta: Fraction) -> None:
    """Each log-ratio is eta times the change of a score, and eta is reached beyond both values."""
    with precision(200):
        a = (-ball(eta)).exp()
        law = {r: (1 - a) / (1 + a) * a ** abs(r) for r in range(-5, 6)}
        ratios = [(law[r] / law[r - 1]).log() for r in range(-4, 6)]
        assert all(not abs(ratio) > ball(eta) for ratio in ratios)
        assert all(abs(ratio).overlaps(ball(eta)) for ratio in ratios)


def test_points_are_like_a_grids() -> None:
    assert [Lattice()[k] for k in (-2, 0, 3)] == [-2, 0, 3]
    assert all(type(Lattice(2)[k]) is int for k in (-1, 4))
    assert Lattice("0.25")[-3] == Decimal("-0.75")
    assert Lattice("1/3")[2] == Fraction(2, 3)
    assert Lattice(10**30)[10**30] == 10**60
    assert (Lattice().size, repr(Lattice("0.5"))) == (0, "Lattice(step 1/2)")


def test_the_verbs() -> None:
    release = geometric(42, sensitivity=1, epsilon=99)
    assert (release.value, release.guarantee) == (42, PureDP(Fraction(99), "add_remove"))
    assert geometric(Fraction(83, 2), sensitivity="1/2", epsilon=99).value == 42
    noisy = laplace(np.float64(1.234), sensitivity=1, step="0.01", epsilon=9999, size=2)
    assert noisy.value == [Decimal("1.23")] * 2
    assert noisy.guarantee == PureDP(Fraction(9999), "add_remove").repeated(2)
    cut = laplace(7, sensitivity=1, lo=0, hi=5, scale="1/99", neighbors="replace_one")
    assert (cut.value, cut.guarantee) == (5, BoundedRange(Fraction(198), "replace_one"))
    four = PureDP(Fraction(4), "add_remove")
    assert laplace(3, sensitivity=2, rho=four.rho, epsilon=None).guarantee == four
    assert laplace(1, sensitivity=1, scale=2).guarantee == PureDP(Fraction(1, 2), "add_remove")
    assert laplace(1, sensitivity=1, step="1/2", scale=2).guarantee.as_dict()["epsilon"] == "1/2"


SECRET = 271828


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), "271828", None, [SECRET], True, Decimal("NaN"), 1j]
)
def test_what_is_no_number_is_refused_unseen(value: Any) -> None:
    for lo, hi in ((None, None), (0, 5)):
        with pytest.raises(InvalidScores, match="one finite number") as caught:
            laplace(value, sensitivity=1, lo=lo, hi=hi, epsilon=1)
        assert str(SECRET) not in str(caught.value)
        assert caught.value.__context__ is None


@pytest.mark.parametrize(
    ("error", "arguments"),
    [
        (InvalidNumber, {"sensitivity": 0}),
        (InvalidNumber, {"step": 0}),
        (InvalidNumber, {"epsilon": -1}),
        (InvalidArgument, {"lo": 0}),
        (InvalidArgument, {"hi": 0}),
        (InvalidArgument, {"mechanism": "noisy_max"}),
        (InvalidCandidates, {"lo": 0, "hi": 1, "step": "0.3"}),
    ],
)
def test_what_is_public_is_checked_first(error: type[Exception], arguments: dict[str, Any]) -> None:
    with pytest.raises(error):
        laplace(object(), **{"sensitivity": 1, "epsilon": 1, **arguments})


def test_nothing_private_in_reprs() -> None:
    assert str(SECRET) not in repr(Distance(SECRET, 1, Lattice()))
    assert Distance(SECRET, 1, Lattice()).in_runs


# Points in a list, for mechanisms that take no slopes.

ONE_ETA = Base2(Base2Eta(1, 1))


@pytest.mark.parametrize(
    ("value", "grid"),
    [*CASES, (Decimal("0.6"), Grid("-1/2", 1, "1/4")), (0.3, Grid(0, 1, "0.1")),
     (Decimal(5), Grid(0, 2**60, 2**57)), (1, Grid(0, 3, "3/7"))],
)  # fmt: skip
def test_listed_scores_are_those_of_the_runs(value: Any, grid: Grid) -> None:
    score = Distance(value, 1, grid)
    listed, found = ListedDistance(score), score.compute(NOWHERE)
    vector = listed.compute(NOWHERE)
    exact = {}
    for c in range(len(found)):
        for steps in range(int(found.sizes[c])):
            exact[found.index(c, steps)] = found.tops.exact(c) - steps * grid.step
    assert [vector.exact(i) for i in range(len(vector))] == [exact[i] for i in range(grid.size)]
    assert listed.sensitivity("add_remove") == score.sensitivity("add_remove")
    assert vector.integral == (grid.step.denominator == 1)
    assert "listed" not in repr(vector)


@pytest.mark.parametrize("value", [-3, 0, 2])
def test_laplace_in_base_two_on_a_grid(value: int) -> None:
    """Ilvento's example: weights 2**-|r - value| on [-3, 3], as fractions."""
    law = discreet.distribution(laplace, value, sensitivity=1, lo=-3, hi=3, mechanism=ONE_ETA)
    weights = {r: Fraction(1, 2 ** abs(r - value)) for r in range(-3, 4)}
    total = sum(weights.values())
    for r, weight in weights.items():
        assert law.probability(r).lower <= weight / total <= law.probability(r).upper
    guarantee: Any = law.guarantee
    assert guarantee == MixedRange(guarantee.epsilon)
    assert 2 * math.log(2) <= guarantee.epsilon < 2 * math.log(2) + 1e-9


@pytest.mark.parametrize("granularity", [1, "1/2", "1/4"])
@pytest.mark.parametrize("step", ["1/2", "1/4"])
def test_steps_and_granularity_of_base_two(step: str, granularity: Any) -> None:
    """Where a step is no multiple of the granularity, scores are rounded at random, each by itself."""
    law = discreet.distribution(
        laplace, 0, sensitivity=1, lo=-1, hi=1, step=step, mechanism=Base2(Base2Eta(1, 1), granularity)
    )  # fmt: skip
    unit, each = Fraction(granularity), Fraction(step)
    places = [k * each for k in range(-int(1 / each), int(1 / each) + 1)]
    chances = dict.fromkeys(places, Fraction(0))
    for ups in product((0, 1), repeat=len(places)):
        lows = [math.floor(-abs(r) / unit) for r in places]
        parts = [-abs(r) / unit - low for r, low in zip(places, lows, strict=True)]
        way = math.prod((part if up else 1 - part for part, up in zip(parts, ups, strict=True)))
        if way:
            weights = [Fraction(2) ** (low + up) for low, up in zip(lows, ups, strict=True)]
            for r, weight in zip(places, weights, strict=True):
                chances[r] += way * weight / sum(weights)
    for r, chance in chances.items():
        found = law.probability(r)
        assert found.lower <= chance <= found.upper


@pytest.mark.parametrize(
    ("mechanism", "epsilon"), [("base2", 1), ("permute_and_flip", 1), ("noisy_max", 1)]
)
@pytest.mark.parametrize(("sensitivity", "step"), [(1, 1), (2, 1), (1, 2), ("1/2", "1/2")])
def test_neighbours_keep_the_promise_of_listed_points(
    mechanism: Any, epsilon: int, sensitivity: Any, step: Any
) -> None:
    """Every pair of values that far apart, rounded to points, and every answer."""
    terms: dict[str, Any] = {"sensitivity": sensitivity, "step": step, "lo": 0, "hi": 2,
                             "epsilon": epsilon, "mechanism": mechanism}  # fmt: skip
    values = [Fraction(k, 4) for k in range(-2, 11)]
    laws = {v: discreet.distribution(laplace, v, **terms) for v in values}
    with precision(200):
        limit = (ball(Fraction(epsilon)) + arb(2) ** -60).exp()
        for a, b in product(values, repeat=2):
            if abs(a - b) <= Fraction(sensitivity):
                for r in laws[a].pmf():
                    assert ball(laws[a].probability(r).lower) < limit * ball(
                        laws[b].probability(r).upper
                    )


def test_what_cannot_be_listed_is_refused_with_a_way_out() -> None:
    for ends, words in (({}, "no end of points"), ({"lo": 0, "hi": 10**6}, "1,000,001 points")):
        refused: Any = ends
        with pytest.raises(InvalidArgument, match=words):
            laplace(object(), sensitivity=1, mechanism=ONE_ETA, **refused)
    with pytest.raises(InvalidScores, match="one finite number"):
        laplace("7", sensitivity=1, lo=0, hi=9, mechanism=ONE_ETA)
    assert laplace(7, sensitivity=1, lo=0, hi=9, epsilon=900, mechanism="base2").value == 7


def test_the_command_takes_a_mechanism(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"4\n")))
    asked = [
        "noise",
        "laplace",
        "-",
        "--sensitivity",
        "1",
        "--lo",
        "0",
        "--hi",
        "9",
        "--mechanism",
        "base2",
    ]
    assert run([*asked, "--mechanism-option", "eta=1,1"]) == 0
    out, err = capsys.readouterr()
    assert 0 <= int(out) <= 9
    assert err == "ε ≤ 1.38630 (add/remove one record), base2 mechanism\n"
