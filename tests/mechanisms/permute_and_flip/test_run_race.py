"""Permute-and-flip over runs, also in summaries, against the same candidates written out."""

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

import discreet
from discreet.errors import InvalidArgument, InvalidScores
from discreet.mechanisms.permute_and_flip import OneOfTheHeads, run_race
from discreet.mechanisms.permute_and_flip.run_race import (
    TIME_ERROR,
    LatePart,
    RunRace,
    _log_least,
    _Runner,
    chance_in_time,
    late_parts,
    within_reach,
)
from discreet.mechanisms.testing import ScriptedBits, bit_tree, counted_work
from discreet.sampling.bits import LazyUniform, SystemBits
from discreet.sampling.enclosures import (
    FUNCTION_ERROR,
    HALF_ULP,
    DyadicRate,
    NaturalRate,
    Rate,
    ball,
    overflowing,
    precision,
)
from discreet.sampling.runs import RunLaw, Runs
from discreet.sampling.vectors import Vector, read_vector

HALF = NaturalRate(Fraction(1, 2))
ONE = NaturalRate(Fraction(1))
ONE_BIT = DyadicRate(1, 1, 1)
WHOLE = 2**64


def flat(tops: list[Any], sizes: list[int]) -> Runs:
    return Runs([sum(sizes[:c]) for c in range(len(sizes))], sizes, read_vector(tops))


def written_out(runs: Runs) -> Vector:
    tops = [runs.tops.exact(c) for c in range(len(runs))]
    return read_vector(
        [top for top, size in zip(tops, runs.sizes, strict=True) for _ in range(size)]
    )


CASES = [
    flat([4], [3]),
    flat([4, 0, 3], [1, 1, 1]),
    flat([3, 5, 0], [2, 1, 3]),
    flat([Fraction(1, 3), 0.25], [1, 4]),
    flat([0, 10**6, 10**6], [3, 1, 2]),
    flat([0.0, 1e308, -1e308], [1, 2, 1]),
    flat([10**400, 0], [1, 2]),
]
RATES = [HALF, NaturalRate(Fraction(9)), *(NaturalRate(Fraction(10) ** k) for k in (-300, 300))]


@pytest.mark.parametrize("runs", CASES)
@pytest.mark.parametrize("rate", RATES)
@pytest.mark.one_in(5)
def test_runs_are_the_same_law_as_their_candidates(runs: Runs, rate: Rate) -> None:
    tree = bit_tree(RunRace(runs, rate).draw, 10)
    with precision(1200):
        expected = OneOfTheHeads(written_out(runs), rate).probabilities()
    for i, probability in enumerate(expected):
        assert tree.admits(i, probability), (i, tree, probability)
    assert tree.undecided < Fraction(3, 5)


@pytest.mark.proof
@pytest.mark.parametrize("runs", CASES)
@pytest.mark.parametrize("rate", RATES)
def test_deeper(runs: Runs, rate: Rate) -> None:
    tree = bit_tree(RunRace(runs, rate).draw, 15)
    with precision(1200):
        expected = OneOfTheHeads(written_out(runs), rate).probabilities()
    assert all(tree.admits(i, p) for i, p in enumerate(expected))


@pytest.mark.parametrize("block", [1, 2])
@pytest.mark.one_in(2)
def test_blocks_change_nothing(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("discreet.mechanisms.permute_and_flip.run_race.BLOCK", block)
    for runs in CASES:
        law = RunRace(runs, HALF)
        tree = bit_tree(law._first, 9)
        with precision(1200):
            assert all(tree.admits(c, p) for c, p in enumerate(law.probabilities()))
        assert tree.undecided < Fraction(1, 2)


@pytest.mark.parametrize("runs", CASES)
@pytest.mark.parametrize("rate", [HALF, NaturalRate(Fraction(9))])
def test_the_law_of_runs_is_a_sum(runs: Runs, rate: Rate) -> None:
    with precision(300):
        single = OneOfTheHeads(written_out(runs), rate).probabilities()
        for c, probability in enumerate(RunRace(runs, rate).probabilities()):
            start = int(runs.starts[c])
            members = single[start : start + int(runs.sizes[c])]
            assert sum(members, arb(0)).overlaps(probability)
            assert probability.rad() < 1e-60


def test_rational_law() -> None:
    """The weights 1/4, 1/2, 1 of algorithms.md: 5/48, 11/48, 2/3."""
    tree = bit_tree(RunRace(flat([0, 1, 2], [1, 1, 1]), ONE_BIT)._first, 12)
    for c, exact in enumerate([Fraction(5, 48), Fraction(11, 48), Fraction(2, 3)]):
        assert tree.masses[c] <= exact <= tree.masses[c] + tree.undecided
    assert tree.undecided < Fraction(1, 4)


@pytest.mark.parametrize(("epsilon", "golden"), [(1, 0.0363915164), (2, 0.3296611730)])
def test_golden_median(epsilon: int, golden: float) -> None:
    """The age of 104 on [1, 365]: counts 1, 3, 97, 264 at gaps 0, 2, 4, 6."""
    law = RunRace(flat([0, -2, -4, -6], [1, 3, 97, 264]), NaturalRate(Fraction(epsilon, 2)))
    with precision(128):
        probabilities = law.probabilities()
        assert sum(probabilities, arb(0)).contains(1)
    assert round(float(probabilities[0]), 10) == golden
    tree = bit_tree(law._first, 10)
    assert all(tree.admits(c, p) for c, p in enumerate(probabilities))


@pytest.mark.parametrize("size", [1, 2, 10**12, 2**63, 2**100])
def test_one_against_many_in_closed_form(size: int) -> None:
    """A candidate of weight w against m of weight 1 wins with probability w / (m + 1)."""
    law = RunRace(flat([0, -3], [size, 1]), HALF)
    with precision(400):
        many, one = law.probabilities()
        exact = HALF.decay(Fraction(3)) / (size + 1)
        assert one.overlaps(exact)
        assert one.rad() < exact * 1e-60
        assert (many + one).contains(1)


@pytest.mark.parametrize(
    ("tops", "sizes"),
    [
        ([0, -40, -41], [1, 2**63, 2**62]),
        ([0, -27, -28], [5, 10**12, 10**12]),
        ([0, 0, 0], [10**12, 2**63, 3 * 2**62]),
        ([0, -700], [1, 2**500]),
        ([0, -350], [1, 2**505]),
    ],
)
@pytest.mark.parametrize("as_array", [False, True])
@pytest.mark.one_in(5)
def test_long_runs(tops: list[int], sizes: list[int], as_array: bool) -> None:
    if as_array and max(sizes) < WHOLE:
        runs = Runs(
            np.zeros(3, dtype=np.int64), np.array(sizes, dtype=np.uint64), read_vector(tops)
        )
    else:
        runs = flat(tops, sizes)
    law = RunRace(runs, ONE)
    with precision(256):
        probabilities = law.probabilities()
        assert sum(probabilities, arb(0)).contains(1)
    tree = bit_tree(law._first, 9)
    assert all(tree.admits(c, p) for c, p in enumerate(probabilities))
    assert tree.undecided < Fraction(1, 2)


def test_runs_longer_than_doubles() -> None:
    law = RunRace(flat([0, 0], [1, 2**5000]), HALF)
    assert all(law.draw(SystemBits()) > 2**4000 for _ in range(5))
    tree = bit_tree(RunRace(flat([0, -3000], [1, 2**5000]), ONE)._first, 8)
    assert tree.masses[1] > Fraction(3, 4)


def test_draws() -> None:
    law = RunRace(flat([0, -40, -1], [1, 2**70, 3]), ONE)
    drawn = law.draws(50, SystemBits())
    assert len(drawn) == 50
    assert all(0 <= i < 2**70 + 4 for i in drawn)


def test_sloping_runs_are_refused_by_their_kind() -> None:
    for slope in (0, 1):
        runs = Runs([0], [5], read_vector([0]), read_vector([slope]), np.array([True]))
        with pytest.raises(InvalidArgument, match="exponential mechanism"):
            RunRace(runs, HALF)


def test_summaries_are_taken_in_full() -> None:
    def whole() -> Runs:
        return CASES[2]

    summary = Runs(
        [0, 2], [2, 4], read_vector([3, 5]), summaries=np.array([False, True]), whole=whole
    )
    assert bit_tree(RunRace(summary, HALF).draw, 7) == bit_tree(RunRace(whole(), HALF).draw, 7)
    assert len(RunRace(summary, HALF).probabilities()) == 3


def test_the_caller_s_numpy_settings_change_nothing() -> None:
    law = RunRace(flat([0.0, -1e308, 1e308], [1, 2**63, 1]), NaturalRate(Fraction(10**9)))
    with np.errstate(all="raise"):
        for word in (0, 1, WHOLE - 1):
            assert law._leaders(ScriptedBits(f"{word:064b}" * 3, width=64))


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf")])
def test_scores_must_be_finite(bad: float) -> None:
    with pytest.raises(InvalidScores):
        RunRace(flat([0.0, bad], [1, 1]), HALF)


def test_the_bound_covers_what_is_assumed_of_functions() -> None:
    """Real functions are better than assumed, so no comparison with balls can tell a bound that is too small."""
    assert 324 * FUNCTION_ERROR + 12.1 * 2**14 * HALF_ULP <= TIME_ERROR


def exact(value: float) -> arb:
    return ball(Fraction(value))


@pytest.mark.parametrize("scale", [1e-300, 1e-9, 1e-3, 0.5, 44.0])
def test_the_two_functions_keep_the_assumed_error(scale: float) -> None:
    arguments = -np.random.default_rng(3).random(5_000) * scale
    with precision(128):
        for argument, value in zip(arguments.tolist(), np.expm1(arguments).tolist(), strict=True):
            true = exact(argument).expm1()
            assert abs(exact(value) - true) < FUNCTION_ERROR / 100 * abs(true), argument
        arguments = arguments[arguments >= -0.5]
        for argument, value in zip(arguments.tolist(), np.log1p(arguments).tolist(), strict=True):
            true = exact(argument).log1p()
            assert abs(exact(value) - true) < FUNCTION_ERROR / 100 * abs(true), argument


edges = st.sampled_from([0, 1, 2, 2**63 - 1, 2**63, 2**63 + 1, WHOLE - 2, WHOLE - 1])
words = st.one_of(edges, st.integers(0, WHOLE - 1), st.integers(0, 63).map(lambda k: 2**k))
sizes = st.one_of(
    st.integers(1, 9),
    st.integers(1, WHOLE - 1),
    st.integers(0, 511).map(lambda k: 2**k),
    st.integers(390, 16_000).map(lambda k: 3**2 * 2**k),
)


def log_least(word: int, size: int) -> arb:
    return _log_least(word, 64, size, arb(1))


@given(words, sizes, st.one_of(st.fractions(0, 1024), st.floats(400, 1e308).map(Fraction)))
def test_times_in_doubles_keep_the_proved_error(word: int, size: int, gap: Fraction) -> None:
    law = RunRace(flat([gap, 0], [1, size]), HALF)
    with overflowing():
        times, latest = law._times(0, np.array([WHOLE - 1, word], dtype=np.uint64), 64)
    fast = float(times[1])
    if word == 0:
        assert fast == -np.inf
        return
    with precision(1300):
        early, late = (log_least(end, size) + HALF.exponent(gap) for end in (word, word + 1))
        assert exact(fast) <= early + TIME_ERROR
        if gap <= 32_000:
            assert exact(fast) >= early - TIME_ERROR
            if fast < times[0]:
                assert latest == np.inf or exact(latest) >= late - TIME_ERROR
        else:
            assert fast > 2.0**12
            assert latest <= 0 or latest > 2.0**12


@given(
    st.lists(st.tuples(words, sizes, st.integers(0, 400)), min_size=1, max_size=6),
    st.sampled_from([ONE, ONE_BIT, NaturalRate(Fraction(1, 50))]),
)
def test_whoever_is_left_out_has_certainly_lost(
    field: list[tuple[int, int, int]], rate: Rate
) -> None:
    law = RunRace(flat([-gap for *_, gap in field], [size for _, size, _ in field]), rate)
    script = "".join(f"{word:064b}" for word, *_ in field)
    kept = law._leaders(ScriptedBits(script, width=64))
    with precision(600):
        best = min(gap for *_, gap in field)
        bounds = [
            [rate.exponent(Fraction(gap - best)) + log_least(end, size) for end in (word, word + 1)]
            for word, size, gap in field
        ]
        for c, (earliest, _) in enumerate(bounds):
            assert c in kept or any(earliest > bounds[i][1] for i in kept) or earliest > 0


@pytest.mark.parametrize("rate", [HALF, NaturalRate(Fraction(1, 10**300))])
def test_doubts_read_on(rate: Rate) -> None:
    """Two runs with the same word: what follows decides, after any number of equal words."""
    law = RunRace(flat([0, 0, -(10**6)], [10**12, 10**12, 1]), rate)
    opening = [2**62 + 1, 2**62 + 1, WHOLE - 1]
    for equal, decision in product(range(3), ((7, 9), (9, 7))):
        words = [*opening, *(5 for _ in range(2 * equal)), *decision]
        bits = ScriptedBits("".join(f"{word:064b}" for word in words), width=64)
        assert law._first(bits) == decision.index(7)
        assert bits.read == 64 * len(words)


def test_the_work_is_fixed() -> None:
    seen = set()
    for shift, stretch in product((0, 5, 10**6), (1, 100, 10**9)):
        tops = [shift - stretch * abs(k - 50) for k in range(100)]
        law = RunRace(flat(tops, [10**9 + k for k in range(100)]), HALF)
        for _ in range(5):
            with counted_work() as work:
                law.draw(SystemBits())
            seen.add((work.words, work.functions, work.passes, work.balls))
    assert seen == {(102, 202, 1, 0)}


@given(st.lists(st.tuples(st.integers(0, 8), st.integers(1, 10**6)), min_size=1, max_size=4))
def test_never_worse_than_the_exponential_mechanism(pieces: list[tuple[int, int]]) -> None:
    """Better scores are likelier, in the order of likelihood ratios."""
    pieces.sort()
    runs = flat([-gap for gap, _ in pieces], [size for _, size in pieces])
    with precision(200):
        laws = zip(
            RunRace(runs, HALF).probabilities(), RunLaw(runs, HALF).probabilities(), strict=True
        )
        ratios = [tilted / plain for tilted, plain in laws]
        assert not any(ratios[i] < ratios[i + 1] for i in range(len(ratios) - 1))


def summarised(tops: list[int], sizes: list[int], hidden: slice, asked: list[int]) -> Runs:
    """Return runs of which some neighbours are in one summary; note when all are asked for."""
    starts = [sum(sizes[:c]) for c in range(len(sizes))]

    def whole() -> Runs:
        asked.append(1)
        return Runs(starts, sizes, read_vector(tops))

    def shown(column: list[int], instead: int) -> list[int]:
        return [*column[: hidden.start], instead, *column[hidden.stop :]]

    return Runs(
        shown(starts, starts[hidden.start]),
        shown(sizes, sum(sizes[hidden])),
        read_vector(shown(tops, max(tops[hidden]))),
        summaries=np.arange(len(tops) - len(tops[hidden]) + 1) == hidden.start,
        whole=whole,
    )


@pytest.mark.parametrize(
    ("tops", "sizes", "hidden"),
    [
        ([0, -5, -4, -5], [1, 1, 1, 1], slice(1, 4)),
        ([-5, -4, 0, -1], [2, 1, 1, 2], slice(0, 2)),
        ([-1, -6, -6, 0], [1, 2, 1, 1], slice(1, 3)),
    ],
)
@pytest.mark.one_in(3)
def test_the_law_is_that_of_all_candidates(
    tops: list[int], sizes: list[int], hidden: slice, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a share that is not rare, so that what is in the summary is looked at often."""
    monkeypatch.setattr(run_race, "_RARE", 0)
    asked = list[int]()
    law = RunRace(summarised(tops, sizes, hidden, asked), HALF)
    assert len(law._runs) == len(tops) - len(tops[hidden])
    with precision(400):
        everyone = [top for top, size in zip(tops, sizes, strict=True) for _ in range(size)]
        stated = OneOfTheHeads(read_vector(everyone), HALF).probabilities()
    tree = bit_tree(law.draw, 12)
    assert asked
    for i, probability in enumerate(stated):
        assert tree.admits(i, probability), (i, tree, probability)
    assert tree.undecided < Fraction(1, 2)


def test_which_parts_arrive_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_race, "_RARE", 0)
    tops, sizes = [0, -3, -4, -5], [1, 2, 1, 3]
    runs = summarised(tops, sizes, slice(1, 4), [])
    tree = bit_tree(lambda bits: tuple(p.run for p in late_parts(runs, 0, HALF, bits)), 14)
    with precision(200):
        chances = [chance_in_time(HALF.decay(Fraction(-top)), size)
                   for top, size in zip(tops, sizes, strict=True)]  # fmt: skip
        for there in product((False, True), repeat=3):
            stated = arb(1)
            for yes, chance in zip(there, chances[1:], strict=True):
                stated *= chance if yes else 1 - chance
            found = tuple(c + 1 for c, yes in enumerate(there) if yes)
            assert tree.admits(found, stated), (found, tree, stated)
    assert tree.undecided < Fraction(1, 100)


@pytest.mark.parametrize("size", [1, 3, 2**600])
@pytest.mark.parametrize("word", [0, 1, 2**63, 2**64 - 1])
def test_the_time_of_what_is_in_time(size: int, word: int) -> None:
    """The quantile of the least of the times below 1, given that there is one."""
    gap = Fraction(900)
    part = LatePart(Runs([0], [size], read_vector([0])), 0, 0, size)
    u = LazyUniform(ScriptedBits(f"{word:064b}", width=64))
    with precision(2000):
        weight = HALF.decay(gap)
        ends = _Runner(part, gap, u, in_time=True).bounds(HALF)
        for end, log_time in zip((word, word + 1), ends, strict=True):
            if end:
                reached = chance_in_time(weight * log_time.exp(), size)
                share = reached / chance_in_time(weight, size)
                assert share.overlaps(arb(end) / arb(2) ** 64)
                assert share.rad() < 1e-30
            else:
                assert not log_time.is_finite()


def test_summaries_that_may_matter_are_told() -> None:
    for tops, told in (([0, -43, -44], True), ([0, -90, -95], False), ([-95, 0, 0], True)):
        asked = list[int]()
        runs = summarised(tops, [1, 9, 9], slice(1, 3), asked)
        found = within_reach(runs, HALF)
        assert bool(asked) == (found.whole is None) == told


def test_candidates_that_are_no_neighbours_are_told() -> None:
    asked = list[int]()
    runs = summarised([0, -900], [1, 1], slice(1, 2), asked)
    found = Runs(runs.starts, runs.sizes, runs.tops, summaries=runs.summaries, whole=runs.whole,
                 locate=lambda places: [run for run, _ in places])  # fmt: skip
    assert RunRace(found, HALF).draw(ScriptedBits("1" * 640, width=64)) in (0, 1)
    assert asked


def test_a_median_on_a_large_grid_races_only_near_the_median() -> None:
    ages = np.random.default_rng(0).integers(0, 10**9, 20_000)
    grid: Any = discreet.Grid(0, 10**9)
    with counted_work() as work:
        release = discreet.median(ages, candidates=grid, epsilon=20, mechanism="permute_and_flip")
    assert work.words < 500
    assert abs(release.value - np.median(ages)) < 10**7
