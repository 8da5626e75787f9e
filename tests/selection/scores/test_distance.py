"""Distance: discrete Laplace against its closed form, and its true epsilon, truncated or not."""

import io
from decimal import Decimal
from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

import discreet
from discreet.cli import run
from discreet.mechanisms import Exponential
from discreet.mechanisms.contract import PrivacyParameter
from discreet.mechanisms.testing import bit_tree
from discreet.privacy.guarantees import PureDP
from discreet.privacy.sensitivity import Sensitivity
from discreet.sampling.categorical import Categorical
from discreet.sampling.enclosures import DyadicRate, NaturalRate, ball, precision
from discreet.sampling.runs import RunLaw, Runs
from discreet.sampling.vectors import read_vector
from discreet.selection.candidates import Grid
from discreet.selection.scores.distance import Distance, Lattice, ListedDistance

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


SECRET = 271828


def test_nothing_private_in_reprs() -> None:
    assert str(SECRET) not in repr(Distance(SECRET, 1, Lattice()))
    assert Distance(SECRET, 1, Lattice()).in_runs


# Points in a list, for mechanisms that take no slopes.


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


EPSILONS = ["1/2", "1", "5/2"]


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_a_number_is_as_far_off_as_its_error_says(epsilon: str) -> None:
    for step in (1, Fraction(1, 4)):
        terms: dict[str, Any] = {"sensitivity": 1, "step": step, "epsilon": epsilon}
        error: Any = discreet.laplace(5, **terms).error
        law = discreet.distribution(discreet.laplace, 5, **terms)
        assert law.tail(error.error).upper <= Fraction(1, 20) < law.tail(error.error - step).lower


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_ends_make_no_error_likelier(epsilon: str) -> None:
    for hi in (0, 1, 2, 5, 9, 20):
        terms: dict[str, Any] = {"sensitivity": 1, "lo": 0, "hi": hi, "epsilon": epsilon}
        error: Any = discreet.laplace(0, **terms).error
        for value in range(hi + 1):
            law = discreet.distribution(discreet.laplace, value, **terms)
            assert law.tail(error.error).lower <= Fraction(1, 20)


def test_several_numbers_are_within_their_error_together() -> None:
    one, several = (
        discreet.geometric(5, sensitivity=1, epsilon=1, size=size).error for size in (None, 20)
    )
    law = discreet.distribution(discreet.geometric, 5, sensitivity=1, epsilon=1)
    bounds: list[Any] = [one, several]
    assert bounds[0].error < bounds[1].error
    assert law.tail(bounds[1].error).upper * 20 <= Fraction(1, 20)
    listed: Any = discreet.laplace(
        5, sensitivity=1, lo=0, hi=9, epsilon=1, mechanism="permute_and_flip"
    ).error
    assert listed.error == discreet.worst_error(
        10, spread=2, epsilon=1, mechanism="permute_and_flip", confidence="0.95"
    )
