"""Joint top-k: its law over all lists, its sensitivity, and lists beyond reach."""

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidArgument
from discreet.mechanisms import Exponential, PermuteAndFlip
from discreet.mechanisms.contract import PrivacyParameter
from discreet.mechanisms.joint import joint_top_k as joint_module
from discreet.mechanisms.joint.joint_top_k import JointTopK, OrderedLists
from discreet.mechanisms.testing import SeededBits
from discreet.privacy.sensitivity import Neighbors, Sensitivity
from discreet.sampling.enclosures import precision
from discreet.sampling.vectors import read_vector
from discreet.selection.select_top_k import select_top_k

from ...tables.verbs.test_top_k import (
    GENERAL,
    LAPLACE,
    MONOTONIC,
    ONE,
    REPLACED,
    joint_law,
    lists_of,
    loss,
    proved,
    rows,
)

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
    calibrated = Exponential().calibrate(GENERAL, ONE)._replace(cutoff_gap=Fraction(cutoff_gap))
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


@pytest.mark.parametrize("finest", [2**512, 1])
@pytest.mark.parametrize("kind", ["epsilon", "scale", "rho"])
def test_units_of_joint_scores_change_nothing(
    kind: Any, finest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Quarters, as floats and as integers four times as large at four times the spread."""
    monkeypatch.setattr(joint_module, "_FINEST_UNIT", finest)
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


def test_lists_that_need_too_much_memory_are_refused_with_what_they_need() -> None:
    many, k = 10**5, 100  # 100,000 * 100 * (200 + 100 * 17 / 4) bytes are 5.8 GiB
    ready = JointTopK(Exponential(), k).calibrate(GENERAL, ONE)
    with pytest.raises(InvalidArgument, match=r"may need 5\.8 GiB .* and k = 100, more than 2\."):
        ready.law(read_vector(np.zeros(many, dtype=np.int64)))
