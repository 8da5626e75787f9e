"""Runs: flat, sloping and endless, against the same candidates written out."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from discreet.mechanisms.testing import ScriptedBits, bit_tree
from discreet.sampling.bits import SystemBits
from discreet.sampling.categorical import Categorical
from discreet.sampling.enclosures import DyadicRate, NaturalRate, Rate, precision
from discreet.sampling.runs import RunLaw, Runs, RunWeights, truncated_geometric
from discreet.sampling.vectors import read_vector

HALF = NaturalRate(Fraction(1, 2))
ONE_BIT = DyadicRate(1, 1, 1)


@pytest.fixture(autouse=True, scope="module")
def blocks_of_two() -> Any:
    """Let arrays of a few numbers have borders between blocks."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("discreet.sampling.runs._RUNS_AT_ONCE", 2)
        yield


def written_out(runs: Runs) -> list[Fraction]:
    """Return the score of every candidate of a range that the runs cover from 0 on."""
    scores: dict[int, Fraction] = {}
    for c in range(len(runs)):
        slope = Fraction(0) if runs.slopes is None else runs.slopes.exact(c)
        for k in range(int(runs.sizes[c])):
            scores[runs.index(c, k)] = runs.tops.exact(c) - k * slope
    return [scores[i] for i in range(len(scores))]


def flat(tops: list[Any], sizes: list[int]) -> Runs:
    starts = [sum(sizes[:c]) for c in range(len(sizes))]
    return Runs(starts, sizes, read_vector(tops))


def sloping(tops: list[Any], sizes: list[int], slopes: list[Any], upward: list[bool]) -> Runs:
    plain = flat(tops, sizes)
    return Runs(plain.starts, sizes, plain.tops, read_vector(slopes), np.array(upward))


CASES = [
    flat([4, 0, 3], [1, 1, 1]),
    flat([3, 5, 0], [2, 1, 3]),
    sloping([3, 5], [4, 3], [1, 2], [True, False]),
    sloping([Fraction(1, 3), 2, 0], [3, 2, 2], [Fraction(1, 7), 0, 1], [False, True, True]),
    sloping([0], [6], [0.25], [True]),
]


@pytest.mark.parametrize("runs", CASES)
@pytest.mark.parametrize(
    "rate", [HALF, NaturalRate(Fraction(1, 10**300)), NaturalRate(Fraction(9))]
)
@pytest.mark.one_in(4)
def test_runs_are_the_same_law_as_their_candidates(runs: Runs, rate: Rate) -> None:
    law = RunLaw(runs, rate)
    with precision(1200):
        expected = Categorical(read_vector(written_out(runs)), rate).probabilities()
    tree = bit_tree(law.draw, 15)
    for i, probability in enumerate(expected):
        assert tree.admits(i, probability), (i, tree, probability)
    assert tree.undecided < Fraction(1, 20)


@pytest.mark.parametrize("runs", CASES)
def test_the_weights_of_runs_are_sums(runs: Runs) -> None:
    with precision(300):
        single = Categorical(read_vector(written_out(runs)), HALF).probabilities()
        for c, probability in enumerate(RunLaw(runs, HALF).probabilities()):
            members = [single[runs.index(c, k)] for k in range(int(runs.sizes[c]))]
            assert sum(members, arb(0)).overlaps(probability)


@given(
    st.lists(
        st.tuples(st.integers(-40, 40), st.integers(1, 10**18), st.fractions(0, 3), st.booleans()),
        min_size=1,
        max_size=6,
    ),
    st.fractions(Fraction(1, 10**6), 10),
)
def test_fast_sums_of_runs_keep_their_error(
    pieces: list[tuple[int, int, Fraction, bool]], eta: Fraction
) -> None:
    runs = sloping(
        [p[0] for p in pieces],
        [p[1] for p in pieces],
        [p[2] for p in pieces],
        [p[3] for p in pieces],
    )
    weights = RunWeights(runs, NaturalRate(eta))
    sums = weights.sums()
    assert sums is not None
    with precision(400):
        balls = list(weights.balls())
        total, running = sum(balls, arb(0)), arb(0)
        for end, ball in zip(sums.ends.tolist(), balls, strict=True):
            running += ball
            # Both sides to the scale of their totals.
            assert abs(running / total - arb(end) / arb(sums.ends[-1])) <= 2 * arb(sums.error)


@pytest.mark.parametrize("size", [0, 1, 2, 5, 1000])
@pytest.mark.parametrize("rate", [HALF, ONE_BIT, NaturalRate(Fraction(3))])
@pytest.mark.one_in(4)
def test_geometric_steps_have_their_law(size: int, rate: Rate) -> None:
    tree = bit_tree(lambda bits: truncated_geometric(rate, Fraction(1), size, bits), 24)
    with precision(200):
        whole = arb(1) if size == 0 else 1 - rate.decay(Fraction(size))
        for k in range(min(size or 12, 12)):
            assert tree.admits(k, rate.decay(Fraction(k)) * (1 - rate.decay(Fraction(1))) / whole)
    assert all(0 <= k < (size or 10**9) for k in tree.masses)  # type: ignore[operator]
    assert tree.undecided < Fraction(1, 2**15)


def test_geometric_steps_over_a_huge_range() -> None:
    drawn = [
        truncated_geometric(NaturalRate(Fraction(1, 10**15)), Fraction(1), 10**18, SystemBits())
        for _ in range(200)
    ]
    assert 10**14 < sum(drawn) / 200 < 10**16
    assert max(drawn) < 10**18
    ends = [
        truncated_geometric(HALF, Fraction(1, 10**30), 10**20, ScriptedBits(bit * 1024, width=64))
        for bit in "01"
    ]
    assert ends == [0, 10**20 - 1]


LONG = [2**40 - 1, 2**40, 2**40 + 1, 2**41 + 3, 2**53 + 1, 2**64, 2**64 + 1, 10**40]


@pytest.mark.parametrize("size", LONG)
@pytest.mark.parametrize("dense", [False, True])
def test_the_weight_of_a_long_run_holds_its_last_step(size: int, dense: bool) -> None:
    """One candidate more weighs just what that candidate weighs, after a fall of 1 over the whole run."""
    slope = Fraction(1, size)

    def weight(n: int) -> arb:
        run = Runs([0], [n], read_vector([0]), read_vector([slope]), np.array([True]), dense=dense)
        (ball,) = RunWeights(run, HALF).balls()
        return ball

    with precision(600):
        last = HALF.decay(slope * (size - 1))
        if dense:
            last = (last - HALF.decay(slope * size)) / HALF.exponent(slope)
        step = weight(size) - weight(size - 1)
        assert step.rad() < arb(2) ** -200
        assert abs(step - last) < arb(2) ** -200


@pytest.mark.parametrize("size", LONG)
@pytest.mark.parametrize("upward", [False, True])
def test_the_last_steps_of_a_long_run_have_their_law(size: int, upward: bool) -> None:
    """Bits right above the border of a step take it, bits right below take the step before."""
    slope, digits = Fraction(1, size), 512

    def border(k: int) -> int:
        """The 512 bits of (1 - exp(-k slope / 2)) / (1 - exp(-1 / 2)), rounded down."""
        with precision(1200):
            share = (1 - HALF.decay(slope * k)) / (1 - HALF.decay(Fraction(1)))
            return int((share * arb(2) ** digits).floor().unique_fmpz() or 0)

    def drawn(prefix: int) -> int:
        bits = ScriptedBits(f"{prefix:0{digits}b}", width=64)
        return truncated_geometric(HALF, slope, size, bits)

    for k in (1, 2, size // 2, size - 2, size - 1):
        assert drawn(border(k) + 1) == k
        assert drawn(border(k) - 1) == k - 1
    assert drawn(0) == 0
    assert drawn(2**digits - 1) == size - 1
    run = Runs([5], [size], read_vector([0]), read_vector([slope]), np.array([upward]))
    assert run.index(0, size - 1) == (size + 4 if upward else 5)


def test_runs_without_end() -> None:
    """Discrete Laplace around 0: two endless runs."""
    runs = Runs([0, -1], [0, 0], read_vector([0, -1]), read_vector([1, 1]), np.array([True, False]))
    law = RunLaw(runs, ONE_BIT)  # weights 2**-|k|, sum 3
    tree = bit_tree(law.draw, 18)
    for k in range(-6, 7):
        exact = Fraction(1, 3 * 2 ** abs(k))
        assert tree.masses[k] <= exact <= tree.masses[k] + tree.undecided
    assert tree.undecided < Fraction(1, 2**9)


def test_sizes_beyond_doubles() -> None:
    law = RunLaw(flat([0, 0], [1, 2**5000]), HALF)
    assert all(law.draw(SystemBits()) > 2**4000 for _ in range(20))
    tree = bit_tree(lambda bits: law._table.draw(bits), 6)
    assert tree.masses == {1: 1 - Fraction(1, 64)}
    assert len(law.draws(3, SystemBits())) == 3


@pytest.mark.parametrize("slope", [Fraction(3, 2**1075), Fraction(1, 2**1200), Fraction(1, 2**400)])
def test_slopes_that_doubles_lose_are_left_to_balls(slope: Fraction) -> None:
    runs = Runs(
        [0, 1],
        [1, 0],
        read_vector([0, 0]),
        read_vector([Fraction(0), slope]),
        np.array([True, True]),
    )
    for eta in (Fraction(2) ** 899, Fraction(1, 2**800)):
        sums = RunWeights(runs, NaturalRate(eta)).sums()
        if sums is not None:
            with precision(3000):
                first, second = RunWeights(runs, NaturalRate(eta)).balls()
                share = sums.ends[0] / sums.ends[-1]
                assert abs(first / (first + second) - arb(share)) < 2 * arb(sums.error)


def test_the_repr_of_runs_shows_nothing() -> None:
    assert repr(CASES[0]) == "<Runs of private scores>"


def test_a_summary_that_weighs_something_is_told_before_anything_is_drawn() -> None:
    told = []

    def whole() -> Runs:
        told.append(1)
        return flat([0, -1, -3], [5, 50, 50])

    summarised = Runs(
        [0, 5], [5, 100], read_vector([0, -1]), summaries=np.array([False, True]), whole=whole
    )
    tree = bit_tree(RunLaw(summarised, HALF).draw, 14)
    assert told
    with precision(128):
        chances = RunLaw(whole(), HALF).probabilities()
    assert tree.admits(0, chances[0] / 5)
    assert tree.admits(60, chances[2] / 50)
    # One that weighs nothing is left alone.
    told.clear()
    far = Runs(
        [0, 5], [5, 100], read_vector([0, -1000]), summaries=np.array([False, True]), whole=whole
    )
    assert 0 <= RunLaw(far, HALF).draw(SystemBits()) < 5
    assert not told
