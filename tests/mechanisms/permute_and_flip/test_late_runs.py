"""Runs in summaries change nothing about the law of the race, however rarely they are looked at."""

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from flint import arb

import discreet
from discreet.mechanisms.permute_and_flip import OneOfTheHeads, late_runs
from discreet.mechanisms.permute_and_flip.late_runs import (
    LatePart,
    chance_in_time,
    late_parts,
    within_reach,
)
from discreet.mechanisms.permute_and_flip.run_race import RunRace, _Runner
from discreet.sampling.bits import LazyUniform
from discreet.sampling.enclosures import NaturalRate, precision
from discreet.sampling.runs import Runs
from discreet.sampling.vectors import read_vector
from discreet.testing import ScriptedBits, bit_tree, counted_work

HALF = NaturalRate(Fraction(1, 2))


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
    monkeypatch.setattr(late_runs, "_RARE", 0)
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
    monkeypatch.setattr(late_runs, "_RARE", 0)
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
