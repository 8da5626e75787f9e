"""Several of the best: both laws against enumeration, and both promises over all small databases."""

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import permutations, product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import typer
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

import discreet
from discreet.cli.top_k import top_k_command
from discreet.errors import (
    Exhausted,
    InvalidArgument,
    InvalidCandidates,
    InvalidNumber,
    InvalidScores,
    UnknownName,
)
from discreet.mechanisms import (
    Base2,
    Exponential,
    Mechanism,
    NoisyMax,
    PermuteAndFlip,
    read_mechanism,
)
from discreet.mechanisms.base2 import Base2Eta
from discreet.mechanisms.contract import PrivacyParameter
from discreet.mechanisms.joint import joint_top_k as joint_module
from discreet.mechanisms.joint.joint_top_k import JointTopK, OrderedLists
from discreet.mechanisms.peeling import Peeling, block_rounds
from discreet.mechanisms.peeling.arrivals import FirstArrivals
from discreet.mechanisms.peeling.block_rounds import BLOCK, BlockRounds
from discreet.mechanisms.peeling.rounds import Rounds
from discreet.mechanisms.shares import share_of
from discreet.mechanisms.unpromised import Unpromised
from discreet.privacy.guarantees import BoundedRange, LaplaceDP, MixedRange
from discreet.privacy.sensitivity import Neighbors, Sensitivity, sensitivity_of
from discreet.sampling.bits import SystemBits
from discreet.sampling.categorical import Categorical
from discreet.sampling.enclosures import NaturalRate, Rate, ball, precision
from discreet.sampling.vectors import Vector, read_vector
from discreet.testing import ScriptedBits, SeededBits, bit_tree, counted_work
from discreet.verbs.select_top_k import select_top_k
from discreet.verbs.top_k import top_k

MONOTONIC = sensitivity_of(1, "add_remove", monotonic=True)
GENERAL = sensitivity_of(1, "add_remove")
REPLACED = sensitivity_of(1, "replace_one")
HALF = NaturalRate(Fraction(1, 2))
ONE = PrivacyParameter("epsilon", Fraction(1))
EXAMPLE = str(Path(__file__).parents[2] / "examples" / "marital_status.csv")


def proved(draw: Any, stated: dict[tuple[int, ...], arb], depth: int) -> Fraction:
    """Check every list against the enumeration of bits; return what that left undecided."""
    tree = bit_tree(lambda bits: tuple(draw(bits)), depth)
    assert set(tree.masses) <= set(stated)
    for sequence, probability in stated.items():
        assert tree.admits(sequence, probability), (sequence, tree, probability)
    return tree.undecided


# Peeling.


def one_after_another(scores: list[Any], k: int, law: Any) -> dict[tuple[int, ...], arb]:
    """Return the probability of each list: the product of those of its rounds."""
    chances: dict[tuple[int, ...], arb] = {(): arb(1)}
    for _ in range(k):
        longer: dict[tuple[int, ...], arb] = {}
        for taken, chance in chances.items():
            left = [i for i in range(len(scores)) if i not in taken]
            stated = law(read_vector([scores[i] for i in left])).probabilities()
            longer |= {(*taken, i): chance * p for i, p in zip(left, stated, strict=True)}
        chances = longer
    return chances


PEELED: list[tuple[list[Any], int]] = [
    ([0, 1, 2], 2),
    ([3, 3, 3], 3),
    ([0.5, -0.25], 2),
    ([5], 1),
    ([0, 10**6, 1], 2),
    ([1e300, 0.0, -1e300], 3),
    ([10**300, Fraction(1, 3), 0], 2),
]


@pytest.mark.parametrize(
    "mechanism", [Exponential(), Base2(), PermuteAndFlip(), NoisyMax("gumbel")], ids=str
)
@pytest.mark.parametrize(("scores", "k"), PEELED)
@pytest.mark.one_in(5)
def test_peeling_is_one_mechanism_after_another(
    mechanism: Mechanism, scores: list[Any], k: int
) -> None:
    if isinstance(mechanism, Base2):
        scores = [int(s) % 1000 for s in scores]
    calibrated = Peeling(mechanism, k).calibrate(GENERAL, ONE)
    round_ = mechanism.calibrate(GENERAL, PrivacyParameter("epsilon", Fraction(1, k)))
    with precision(3000):
        stated = one_after_another(scores, k, round_.law)
    slow = isinstance(mechanism, PermuteAndFlip)
    undecided = proved(calibrated.law(read_vector(scores)).draw, stated, 10 if slow else 13)
    assert slow or undecided < Fraction(1, 64)


@pytest.mark.parametrize("values", PEELED)
@pytest.mark.parametrize("rate", [HALF, NaturalRate(Fraction(1, 10**300))])
@pytest.mark.one_in(5)
def test_peeling_in_blocks_is_the_same_law(
    values: tuple[list[Any], int], rate: Rate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(block_rounds, "BLOCK", 2)
    monkeypatch.setattr(block_rounds, "_AT_ONCE", 1)
    scores, k = values
    with precision(3000):
        stated = one_after_another(scores, k, lambda left: Categorical(left, rate))
    undecided = proved(BlockRounds(read_vector(scores), k, rate).draw, stated, 14)
    assert undecided < Fraction(1, 16)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=9), st.data())
def test_blocks_lose_what_was_taken(scores: list[int], data: st.DataObject) -> None:
    """After any answers the weights of the blocks are those of what is left, in doubles and in balls."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(block_rounds, "BLOCK", 2)
        remaining = block_rounds.Remaining(read_vector(scores), HALF)
        left = set(range(len(scores)))
        for _ in range(data.draw(st.integers(0, len(scores) - 1))):
            b = data.draw(st.integers(0, len(remaining.blocks) - 1))
            j = data.draw(st.integers(0, len(remaining.blocks[b].scores) - 1))
            left.remove(remaining.blocks[b].at(j))
            remaining.take(b, j)
        there = [remaining.blocks[b].at(j) for b in range(len(remaining.blocks))
                 for j in range(len(remaining.blocks[b].scores))]  # fmt: skip
        assert sorted(there) == there == sorted(left)
        sums = remaining.sums()
        assert sums is not None
        best = max(scores[i] for i in left)
        exact = [math.exp((scores[i] - best) / 2) for i in there]
        assert abs(sums.ends[-1] - sum(exact)) <= 1e-12 * sum(exact)
        with precision(100):
            assert abs(sum(remaining.balls(), arb(0)) - sum(exact)) < 1e-12


@pytest.mark.parametrize("kind", [np.float64, np.int64, np.uint64, object])
def test_long_vectors_of_every_type(kind: Any) -> None:
    """Far ahead are those that come first, in their order, across blocks and inside of one."""
    n, first = 3 * BLOCK + 5, [2 * BLOCK, 2 * BLOCK + 1, 7, 3 * BLOCK + 4]
    scores = np.zeros(n, dtype=kind)
    for i, place in enumerate(first):
        scores[place] = 10**18 - i * 10**17
    assert select_top_k(scores, k=4, sensitivity=1, epsilon=1).value == first
    assert BlockRounds(read_vector(scores), 4, HALF).draw(SystemBits()) == first
    short = select_top_k(scores[: BLOCK // 4].tolist(), k=BLOCK // 4, sensitivity=1, epsilon=1)
    assert sorted(short.value) == list(range(BLOCK // 4))


def test_extremes_of_integers_in_blocks() -> None:
    scores = np.full(BLOCK + 1, -(2**63), dtype=np.int64)
    scores[[3, BLOCK]] = 2**63 - 1
    assert sorted(select_top_k(scores, k=2, sensitivity=1, epsilon=1).value) == [3, BLOCK]


def test_the_work_of_peeling_depends_on_sizes_and_the_answer() -> None:
    n, k = 8 * BLOCK, 5
    rng = np.random.default_rng(0)
    seen = set()
    ahead = np.zeros(n)
    ahead[BLOCK // 2 :: BLOCK] = np.arange(8) * 1e6
    for scores in (rng.standard_normal(n), np.zeros(n), ahead):
        law = Peeling(Exponential(), k).calibrate(GENERAL, ONE).law(read_vector(scores))
        with counted_work() as work:
            found: Any = law.draw(SystemBits())
        again = sum(i // BLOCK == j // BLOCK for a, i in enumerate(found) for j in found[:a])
        last = sum(i // BLOCK == found[-1] // BLOCK for i in found[:-1])
        # A round draws from one block; all but the last sum what is left of it, one candidate less.
        assert work.functions == k * 8 + (2 * k - 1) * BLOCK - 2 * again + last - (k - 1)
        assert work.balls == 0
        seen.add((work.words, work.passes))
    assert seen == {(2 * k, 2 * k)}


@pytest.mark.parametrize(
    ("n", "k", "law"),
    [
        (2, 1, Rounds),
        (BLOCK, 3, Rounds),
        (5, 4, FirstArrivals),
        (4 * BLOCK, 4, FirstArrivals),
        (4 * BLOCK + 1, 4, BlockRounds),
        (BLOCK + 1, 3, BlockRounds),
    ],
)
def test_how_the_rounds_are_drawn_is_chosen_by_public_numbers(n: int, k: int, law: type) -> None:
    calibrated = Peeling(Exponential(), k).calibrate(GENERAL, ONE)
    drawn: Any = calibrated.law(read_vector(np.zeros(n)))
    assert type(drawn) is law
    tiny = PrivacyParameter("scale", Fraction(10) ** 290)
    slow: Any = Peeling(Exponential(), k).calibrate(GENERAL, tiny).law(read_vector(np.zeros(n)))
    assert not isinstance(slow, FirstArrivals)  # there is no pass in doubles


def test_the_rounds_of_a_short_list_take_the_same_work() -> None:
    seen = set()
    for scores in ([0.0] * 50, [float(i) for i in range(50)], [1e300, *[0.0] * 49]):
        law = Peeling(Exponential(), 3).calibrate(GENERAL, ONE).law(read_vector(scores))
        with counted_work() as work:
            law.draw(SystemBits())
        seen.add((work.words, work.functions, work.passes, work.balls))
    assert seen == {(3, 49 + 48, 2, 0)}


RANGE = MixedRange(
    Fraction(1), "add_remove"
)  # rounds depend on rounds, so it is not said to be fixed
LAPLACE = LaplaceDP(Fraction(1), "add_remove")


@pytest.mark.parametrize(
    ("mechanism", "parameter", "guarantee"),
    [
        (Exponential(), ("epsilon", 3), RANGE),
        (PermuteAndFlip(), ("epsilon", 3), LAPLACE),
        (Exponential(), ("scale", 2), RANGE),
        (Exponential(), ("rho", 3 * RANGE.rho), RANGE),
        (PermuteAndFlip(), ("rho", 3 * LAPLACE.rho), LAPLACE),
        (NoisyMax("gumbel"), ("rho", 3 * RANGE.rho), RANGE),
    ],
)
def test_three_rounds_cost_three_times(
    mechanism: Mechanism, parameter: Any, guarantee: Any
) -> None:
    calibrated = Peeling(mechanism, 3).calibrate(
        GENERAL, PrivacyParameter(parameter[0], Fraction(parameter[1]))
    )
    assert calibrated.guarantee == guarantee.repeated(3)
    assert calibrated.guarantee.pure == 3
    drawn: Any = calibrated.law(read_vector([0, 1, 2]))
    single = mechanism.calibrate(GENERAL, ONE).law(read_vector([0, 1, 2]))
    assert isinstance(drawn, Rounds)
    with precision(100):  # each round is the mechanism at epsilon 1
        pairs = zip(drawn._first.probabilities(), single.probabilities(), strict=True)
        assert all(p.overlaps(q) for p, q in pairs)


def test_a_rho_that_is_no_square_is_rounded_down() -> None:
    guarantee: Any = (
        Peeling(Exponential(), 7)
        .calibrate(GENERAL, PrivacyParameter("rho", Fraction(1, 10)))
        .guarantee
    )
    assert Fraction(1, 10) * (1 - Fraction(1, 2**25)) < guarantee.rho <= Fraction(1, 10)
    assert guarantee.repeated(2).rho == 2 * guarantee.rho


def test_one_round_promises_what_its_mechanism_does() -> None:
    methods: list[Any] = ["peeling", "joint"]
    for method in methods:
        release = select_top_k([0, 9], k=1, sensitivity=1, epsilon=1, method=method)
        assert release.guarantee == BoundedRange(Fraction(1), "add_remove")
    calibrated = Base2(Base2Eta(1, 1)).calibrate(GENERAL, None)
    peeled: Any = Peeling(Base2(Base2Eta(1, 1)), 2).calibrate(GENERAL, None)
    assert peeled.guarantee == calibrated.guarantee.repeated(2)


def test_a_round_must_promise_something_that_adds_up() -> None:
    with pytest.raises(InvalidArgument, match="epsilon-DP"):
        Peeling(Unpromised(Exponential(), "none"), 2).calibrate(GENERAL, ONE)
    for method in (Peeling, JointTopK):
        with pytest.raises(InvalidArgument, match=r"base_measure|one by one"):
            method(Exponential(base_measure=[1, 2]), 2).calibrate(GENERAL, ONE)


# The joint mechanism.


def loss(scores: Sequence[Any], listed: Sequence[int]) -> Any:
    best = sorted(map(Fraction, scores), reverse=True)
    return max(best[i] - Fraction(scores[j]) for i, j in enumerate(listed))


def lists_of(scores: list[Any], k: int) -> Iterator[tuple[int, ...]]:
    return permutations(range(len(scores)), k)


def joint_law(scores: list[Any], k: int, eta: Fraction) -> dict[tuple[int, ...], arb]:
    rate = NaturalRate(eta)
    weights = {s: rate.decay(Fraction(loss(scores, s))) for s in lists_of(scores, k)}
    total = sum(weights.values(), arb(0))
    return {s: weight / total for s, weight in weights.items()}


JOINT: list[tuple[list[Any], int]] = [
    ([0, 1, 2], 2),
    ([4, 0, 4, 1], 3),
    ([3, 3, 3], 3),
    ([7], 1),
    ([0, 1], 2),
    ([0, 10**6, 1], 2),
    ([0.5, 2.0, -0.25], 2),
    ([Fraction(1, 3), 1, Fraction(1, 7), 10**300], 2),
    ([2**63 - 1, -(2**63), 0], 2),
]


@pytest.mark.parametrize(("scores", "k"), JOINT)
@pytest.mark.parametrize("epsilon", ["1", "20", "1e-300"])
def test_the_joint_law_is_that_of_all_lists(scores: list[Any], k: int, epsilon: str) -> None:
    eta = Fraction(epsilon) / (1 if k == 1 else 2)
    calibrated = JointTopK(Exponential(), k).calibrate(
        MONOTONIC, PrivacyParameter("epsilon", Fraction(epsilon))
    )
    with precision(3000):
        stated = joint_law(scores, k, eta)
    assert proved(calibrated.law(read_vector(scores)).draw, stated, 16) < Fraction(1, 8)


def test_permute_and_flip_over_all_lists() -> None:
    scores, k = [0, 1, 1], 2
    calibrated = JointTopK(PermuteAndFlip(), k).calibrate(MONOTONIC, ONE)
    assert calibrated.guarantee == LAPLACE
    listed = list(lists_of(scores, k))
    single = PermuteAndFlip().calibrate(GENERAL, ONE)  # a spread of 2 too
    with precision(200):
        chances = single.law(read_vector([-loss(scores, s) for s in listed])).probabilities()
    stated = dict(zip(listed, chances, strict=True))
    assert proved(calibrated.law(read_vector(scores)).draw, stated, 15) < Fraction(1, 4)


@given(st.lists(st.integers(0, 4) | st.fractions(0, 2), min_size=1, max_size=5), st.data())
def test_every_list_has_its_number(scores: list[Any], data: st.DataObject) -> None:
    k = data.draw(st.integers(1, len(scores)))
    drawn: Any = JointTopK(Exponential(), k).calibrate(GENERAL, ONE).law(read_vector(scores))
    law: OrderedLists = drawn
    numbered = [tuple(law._list(number)) for number in range(math.perm(len(scores), k))]
    assert set(numbered) == set(lists_of(scores, k))
    losses = [loss(scores, listed) for listed in numbered]
    assert losses == sorted(losses)
    within = sorted({one for one in losses if one <= 640})  # the others are in a summary
    assert [losses.index(one) for one in within] == law._firsts


@pytest.mark.parametrize("cutoff_gap", [0, 1, 2])
def test_lists_beyond_reach_are_drawn_all_the_same(cutoff_gap: int) -> None:
    scores = [0, 3, 1, 5]
    calibrated = replace(Exponential().calibrate(GENERAL, ONE), cutoff_gap=Fraction(cutoff_gap))
    law = OrderedLists([5 - score for score in scores], 2, calibrated)
    with precision(200):
        stated = joint_law(scores, 2, Fraction(1, 2))
    assert proved(law.draw, stated, 15) < Fraction(1, 8)


def test_more_lists_than_doubles_can_count() -> None:
    scores = [10**7 - 10**4 * i for i in range(150)] + [0] * 50
    release = select_top_k(scores, k=150, sensitivity=1, monotonic=True, epsilon=1, method="joint")
    assert release.value == list(range(150))
    tied = select_top_k([5] * 180, k=170, sensitivity=1, epsilon=1, method="joint")
    assert len(set(tied.value)) == 170


def test_the_end_of_what_is_known_of_a_uniform() -> None:
    """The last number of all is decided too: the classes are settled in balls, in full."""
    law = JointTopK(Exponential(), 2).calibrate(MONOTONIC, ONE).law(read_vector([0, 500, 2000]))
    found: Any = law.draw(ScriptedBits("1" * 8000, width=64))
    assert loss([0, 500, 2000], found) == 2000


def changes_over(n: int, k: int, most: int, steps: Sequence[tuple[int, ...]]) -> tuple[Any, Any]:
    """Return the largest change of a loss and of the difference of two, over all small score vectors."""
    change = spread = 0
    listed = list(permutations(range(n), k))
    for scores in product(range(most), repeat=n):
        before = [loss(scores, s) for s in listed]
        for step in steps:
            after = [loss([a + b for a, b in zip(scores, step, strict=True)], s) for s in listed]
            moved = [b - a for a, b in zip(before, after, strict=True)]
            change, spread = max(change, *map(abs, moved)), max(spread, max(moved) - min(moved))
    return change, spread


def rows(n: int, neighbors: str) -> list[tuple[int, ...]]:
    """Return what one row more, or one in place of another, does to the counts."""
    units = [tuple(int(i == j) for j in range(n)) for i in range(n)]
    if neighbors == "add_remove":
        return units
    return [tuple(a - b for a, b in zip(come, go, strict=True)) for come in units for go in units]


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
def test_sensitivity_of_counts_is_tight(k: int, neighbors: Neighbors) -> None:
    sensitivity = MONOTONIC if neighbors == "add_remove" else REPLACED
    promised = JointTopK(Exponential(), k, counts=True)._spread(sensitivity)
    change, spread = changes_over(3, k, 5, rows(3, neighbors))
    assert spread == promised
    assert change == (1 if neighbors == "add_remove" else 2)
    plain = JointTopK(Exponential(), k)._spread(sensitivity)
    assert plain == promised + (k > 1 and neighbors == "replace_one")


@pytest.mark.parametrize("k", [1, 2])
def test_sensitivity_of_other_scores_is_tight(k: int) -> None:
    for sensitivity, steps in (
        (MONOTONIC, list(product((0, 1), repeat=3))),
        (GENERAL, list(product((-1, 0, 1), repeat=3))),
    ):
        promised = JointTopK(Exponential(), k)._spread(sensitivity)
        assert changes_over(3, k, 4, steps)[1] == promised


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
@pytest.mark.one_in(3)
def test_neighbours_differ_by_no_more_than_promised(k: int, neighbors: Neighbors) -> None:
    """Every pair of small histograms, both methods, every ordered list."""
    sensitivity = MONOTONIC if neighbors == "add_remove" else REPLACED
    spread = JointTopK(Exponential(), k, counts=True)._spread(sensitivity)
    each = Exponential().calibrate(sensitivity, PrivacyParameter("epsilon", Fraction(1, k)))
    with precision(100):
        limit = ball(1 + Fraction(1, 2**60))
        for counts in product(range(3), repeat=3):
            for step in rows(3, neighbors):
                pair = list(counts), [a + b for a, b in zip(counts, step, strict=True)]
                p, q = (joint_law(scores, k, 1 / spread) for scores in pair)
                losses = [(p[s] / q[s]).log() for s in p]
                assert all(a - b < limit for a in losses for b in losses)
                p, q = (one_after_another(scores, k, each.law) for scores in pair)
                assert all(abs((p[s] / q[s]).log()) < limit for s in p)


def test_peeling_has_no_bounded_range() -> None:
    """The log-ratios of two lists may be further apart than the epsilon of all rounds together."""
    each = Exponential().calibrate(GENERAL, PrivacyParameter("epsilon", Fraction(1)))
    before, after = [60, 30, 0, 0], [61, 29, 1, -1]
    with precision(200):
        p, q = (one_after_another(scores, 2, each.law) for scores in (before, after))
        losses = {s: float((q[s] / p[s]).log()) for s in p}
    assert max(map(abs, losses.values())) < 2
    assert losses[0, 2] - losses[1, 3] > 2.99


# The verb and the command.


@pytest.mark.parametrize("method", ["peeling", "joint"])
def test_lists_of_candidates(method: Any) -> None:
    scores = {"tea": 300, "coffee": 600, "water": 0}
    release = select_top_k(scores, k=2, sensitivity=1, epsilon=1, method=method)
    assert release.value == ["coffee", "tea"]
    assert release.mechanism in ("peeling(exponential)", "joint_top_k(exponential)")
    several = select_top_k([0, 900], k=2, candidates=["a", "b"], sensitivity=1,
                    epsilon="1/2", size=3, method=method)  # fmt: skip
    assert several.value == [["b", "a"]] * 3
    assert several.guarantee.pure == Fraction(3, 2)
    json.dumps(several.as_dict())


@pytest.mark.parametrize("method", ["peeling", "joint"])
@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
def test_rows_of_a_table(method: Any, neighbors: Neighbors) -> None:
    table = pl.DataFrame({"drink": ["tea"] * 300 + ["coffee"] * 600 + ["water"] * 2 + [None]})
    release = top_k(
        table, "drink", k=2, candidates=["water", "tea", "coffee", "milk"], epsilon=1,
        method=method, neighbors=neighbors,
    )  # fmt: skip
    assert release.value == ["coffee", "tea"]
    assert release.guarantee.neighbors == neighbors
    empty = top_k(table, "drink", k=2, candidates=["x", "y"], epsilon=1, method=method)
    assert sorted(empty.value) == ["x", "y"]


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"k": 0}, InvalidNumber),
        ({"k": 4}, InvalidNumber),
        ({"k": True}, InvalidNumber),
        ({"k": 1.0}, InvalidNumber),
        ({"method": "both"}, UnknownName),
        ({"method": "joint", "mechanism": "noisy_max"}, InvalidArgument),
        ({"epsilon": None}, InvalidArgument),
        ({"epsilon": 0}, InvalidNumber),
        ({"epsilon": 1, "rho": 1}, InvalidArgument),
        ({"candidates": None}, InvalidCandidates),
        ({"sensitivity": 1}, InvalidArgument),
        ({"monotonic": True}, InvalidArgument),
        ({"size": 0}, InvalidNumber),
        ({"mechanism": "none"}, UnknownName),
        ({"neighbors": "none"}, UnknownName),
    ],
)
def test_public_arguments_are_checked_first(arguments: Any, error: type[Exception]) -> None:
    given_: Any = {"k": 2, "epsilon": 1, "candidates": ["a", "b", "c"], **arguments}
    with pytest.raises(error):
        top_k(object(), column="x", **given_)


@pytest.mark.parametrize("method", ["peeling", "joint"])
def test_scores_are_checked_before_a_bit_is_read(method: Any) -> None:
    for bad in ([0.0, math.nan], [math.inf, 0.0], []):
        with pytest.raises(InvalidScores), counted_work() as work:
            select_top_k(bad, k=1, sensitivity=1, epsilon=1, method=method)
        assert work.words == 0
    with pytest.raises(InvalidScores, match="one for each"):
        select_top_k([1, 2], k=1, candidates=["a"], sensitivity=1, epsilon=1, method=method)
    with pytest.raises(InvalidNumber, match="from 1 to 2"):
        select_top_k([1, 2], k=3, sensitivity=1, epsilon=1, method=method)
    with pytest.raises(InvalidScores):
        select_top_k(
            np.append(np.zeros(BLOCK), np.nan), k=1, sensitivity=1, epsilon=1, method=method
        )


def test_the_joint_method_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joint_module, "MOST_BYTES", 500)
    with pytest.raises(InvalidArgument, match="peeling"):
        select_top_k([1, 2, 3], k=2, sensitivity=1, epsilon=1, method="joint")


@pytest.mark.parametrize("mechanism", ["exponential", "permute_and_flip"])
def test_lists_of_a_hundred_from_ten_thousand(mechanism: Any) -> None:
    """More than a million candidates times k, where only few losses are within reach."""
    counts = [4_000_000 - 20_000 * i for i in range(100)] + [7] * 11_027
    release = select_top_k(
        counts, k=100, sensitivity=1, monotonic=True, epsilon=1, method="joint", mechanism=mechanism
    )
    assert release.value == list(range(100))


@pytest.mark.parametrize("finest", [2**512, 1])
@pytest.mark.parametrize("kind", ["epsilon", "scale", "rho"])
def test_units_of_joint_scores_change_nothing(
    kind: Any, finest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Quarters, as floats and as integers four times as large at four times the spread."""
    monkeypatch.setattr(joint_module, "_FINEST", finest)
    numbers, parameter = [2.25, 0.5, -1.75, 0.0, 2.0], PrivacyParameter(kind, Fraction(1, 3))
    wide = PrivacyParameter(kind, Fraction(4, 3) if kind == "scale" else Fraction(1, 3))
    plain: Any = JointTopK(Exponential(), 2).calibrate(GENERAL, parameter)
    four: Any = JointTopK(Exponential(), 2).calibrate(Sensitivity(Fraction(8), "add_remove"), wide)
    scores = [read_vector(numbers), read_vector([int(4 * number) for number in numbers])]
    assert plain.guarantee == four.guarantee
    laws = [one.law(vector) for one, vector in zip((plain, four), scores, strict=True)]
    for seed in range(200):
        assert laws[0].draw(SeededBits(seed)) == laws[1].draw(SeededBits(seed))
    with precision(100):
        pairs = zip(*(law._law.probabilities() for law in laws), strict=True)
        assert all(p.overlaps(q) for p, q in pairs)


def test_scores_of_many_denominators_are_exact_all_the_same() -> None:
    primes = [p for p in range(2, 999) if all(p % d for d in range(2, p))]
    scores = [Fraction(10**6 * p + 1, p) for p in primes]
    found = select_top_k(scores, k=3, sensitivity=1, epsilon=10**9, method="joint").value
    assert found == [0, 1, 2]


def test_what_is_private_stays_out_of_the_repr() -> None:
    scores = Vector(np.array([123456, 654321]))
    laws: list[Mechanism] = [Peeling(Exponential(), 2), JointTopK(Exponential(), 2)]
    for text in (repr(m.calibrate(GENERAL, ONE).law(scores)) for m in laws):
        assert "123456" not in text
        assert "654321" not in text


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    app = typer.Typer()
    app.command()(top_k_command)
    command = typer.main.get_command(app)
    status = "Never-married,Divorced,Married-civ-spouse,Widowed"
    options = [EXAMPLE, "marital_status", "--candidates", status, "--k", "3"]
    for method in ("peeling", "joint"):
        command.main([*options, "--epsilon", "1", "--method", method], standalone_mode=False)
    name = {"peeling": "peeling", "joint": "joint-top-k"}
    out, err = capsys.readouterr()
    assert out == 2 * "Married-civ-spouse\nNever-married\nDivorced\n"
    assert err == "".join(
        f"ε = 1 (add/remove one record), {name[m]} mechanism (exponential)\n" for m in name
    )
    command.main([*options, "--rho", "1/2", "--json"], standalone_mode=False)
    assert json.loads(capsys.readouterr().out)["guarantee"]["kind"] == "composition"


def test_no_round_but_the_first_is_balanced() -> None:
    """Weights 3, 1, 1 become 3 + 2 (1 - 1/e), 1/e, 1/e: their sum stays, what two rounds leave of it does not."""
    balanced = Sensitivity(Fraction(2), "add_remove", Fraction(1), balanced=True)
    epsilon = Fraction(2)
    calibrated = Peeling(Exponential(), 2).calibrate(balanced, PrivacyParameter("epsilon", epsilon))
    assert calibrated.guarantee.pure == epsilon
    grown = math.log(5 - 2 * math.exp(-1))
    with precision(100):
        lists = []
        for scores in ([math.log(3), 0.0, 0.0], [grown, -1.0, -1.0]):
            law: Any = calibrated.law(read_vector(scores))
            left = law._law(read_vector(scores[:2])).probabilities()  # the third was first
            lists.append(law._law(read_vector(scores)).probabilities()[2] * left[1])
        assert not lists[0] > lists[1] * ball(epsilon).exp()


# --- (epsilon, delta)


@pytest.mark.parametrize(("mechanism", "k"), [("exponential", 6), ("permute_and_flip", 30)])
def test_with_a_delta_every_round_has_more(mechanism: str, k: int) -> None:
    delta, named_ = Fraction(1, 10**6), read_mechanism(mechanism)
    calibrated = Peeling(named_, k, delta).calibrate(GENERAL, ONE)
    assert calibrated.guarantee == discreet.privacy.ApproxDP(Fraction(1), delta)
    together = discreet.privacy.ApproxDP(Fraction(1), delta)
    share = share_of(named_, GENERAL, k, together, adaptive=True)
    alone = Peeling(named_, k).calibrate(GENERAL, PrivacyParameter("epsilon", k * share))
    assert share > Fraction(1, k)
    assert alone.guarantee.delta_at(1) <= delta
    vector = read_vector([0, 1, 2, 5] * 10)  # and the rounds are those
    drawn: list[Any] = [one.law(vector).draw(SeededBits(1)) for one in (calibrated, alone)]
    assert drawn[0] == drawn[1]


def test_rounds_are_counted_as_adaptive_questions() -> None:
    """A bound for questions that are fixed beforehand would allow more, and is not for rounds."""
    parameters: list[Any] = []

    class Kept(_Unhashable):
        def calibrate(self, sensitivity: Any, parameter: Any) -> Any:
            parameters.append(parameter.value)
            return Exponential().calibrate(sensitivity, parameter)

    own: Any = Kept()
    Peeling(own, 10, Fraction(1, 10**6)).calibrate(GENERAL, ONE)
    assert MixedRange(parameters[-1]).repeated(10).delta_at(1) <= Fraction(1, 10**6)
    assert parameters[-1] > Fraction(15, 100)


def test_a_mechanism_that_cannot_be_kept_is_calibrated_anew() -> None:
    delta = Fraction(1, 10**6)
    own: Any = Peeling(_Unhashable(), 3, delta)
    assert own.calibrate(GENERAL, ONE).guarantee == discreet.privacy.ApproxDP(Fraction(1), delta)


class _Unhashable:
    """The exponential mechanism, of a user's own."""

    name, takes_runs, parameters = "mine", False, dict[str, object]()
    __hash__: Any = None

    def calibrate(self, sensitivity: Any, parameter: Any) -> Any:
        return Exponential().calibrate(sensitivity, parameter)


def test_top_k_takes_a_delta() -> None:
    votes = {"tea": 9_000, "milk": 1, "beer": 99_000}
    ask: Any = {"k": 2, "sensitivity": 1, "epsilon": 1, "delta": "1e-6"}
    release = discreet.select_top_k(votes, **ask)
    assert release.value == ["beer", "tea"]
    assert release.guarantee == discreet.privacy.ApproxDP(1, "1e-6")  # type: ignore[arg-type]
    ledger = discreet.Ledger()
    ledger.open("votes", epsilon=1, delta="1e-6", delta_for="questions")
    session = ledger.session("votes")
    assert session.select_top_k(votes, **ask).value == ["beer", "tea"]
    with pytest.raises(Exhausted):
        session.select_top_k(votes, **ask)
    refused: list[tuple[dict[str, Any], str]] = [
        ({"method": "joint"}, "delta gains nothing"), ({"epsilon": None, "rho": 1}, "goes with epsilon"),
        ({"epsilon": None, "scale": 1}, "goes with epsilon"), ({"delta": 1}, "below 1"), ({"delta": 0}, "greater"),
    ]  # fmt: skip
    for terms, words in refused:
        asked: Any = {**ask, **terms}
        with pytest.raises(InvalidArgument, match=words):
            discreet.select_top_k(votes, **asked)
    table = {"drink": ["tea", "milk"], "who": ["a", "b"]}
    with pytest.raises(InvalidArgument, match="delta is for one list"):
        discreet.top_k(
            pl.DataFrame(table), "drink", k=1, epsilon=1, delta="1e-6", candidates=["tea"], by="who", groups=["a"]
        )  # fmt: skip


DRINKS = ["tea"] * 300 + ["coffee"] * 600 + ["water"] * 2


@pytest.mark.parametrize("method", ["peeling", "joint"])
def test_a_list_holds_records_as_for_mode(method: Any) -> None:
    terms: Any = {"k": 2, "candidates": ["water", "tea", "coffee"], "epsilon": 1, "method": method}
    release = top_k(DRINKS, **terms)
    assert release.value == ["coffee", "tea"]
    assert release.guarantee == top_k(pl.DataFrame({"drink": DRINKS}), "drink", **terms).guarantee
    assert discreet.mode(DRINKS, candidates=["water", "tea", "coffee"], epsilon=1).value == "coffee"


@pytest.mark.parametrize("said", [{"sensitivity": 1}, {"spread": 1}, {"monotonic": True}])
@pytest.mark.parametrize("data", [[3, 1, 2], {"a": 3, "b": 1, "c": 2}, np.array([3.0, 1.0, 2.0])])
def test_a_call_with_scores_is_refused_with_the_verb_for_scores(data: Any, said: Any) -> None:
    """Until 0.1 such a call was of scores; none of them may count records now."""
    for candidates in (None, ["a", "b", "c"]):
        with pytest.raises(InvalidArgument, match=r"top_k counts records.*call select_top_k"):
            top_k(data, k=1, epsilon=1, candidates=candidates, **said)


def test_scores_that_nothing_is_said_of_are_refused_with_the_verb_for_scores() -> None:
    with pytest.raises(InvalidCandidates, match=r"candidates are missing.*call select_top_k"):
        top_k([3, 1, 2], k=1, epsilon=1)


def test_scores_have_no_groups() -> None:
    with pytest.raises(TypeError, match="unexpected argument 'by'"):
        select_top_k([3, 1], k=1, sensitivity=1, epsilon=1, by="x", groups=["a"])  # type: ignore[call-overload]
