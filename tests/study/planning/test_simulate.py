"""Distributions of lists against their definition, and samples of verbs that give several answers at once."""

import itertools
from collections import Counter
from fractions import Fraction
from typing import Any

import pandas as pd
import pytest
from flint import arb

import discreet
from discreet import Grid
from discreet.errors import InvalidArgument
from discreet.mechanisms.joint.tuple_law import JointLaw
from discreet.mechanisms.peeling.rounds import BlockRounds
from discreet.sampling.enclosures import NaturalRate, ball, precision
from discreet.sampling.vectors import read_vector

VOTES = {"tea": 3, "coffee": 5, "milk": 1, "water": 3}
NAMES = tuple(VOTES)
AGES = [23, 29, 31, 34, 35, 38, 41, 44, 52, 67]
TERMS: dict[str, Any] = {"sensitivity": 1, "monotonic": True, "epsilon": 1}


def loss(listed: Any) -> int:
    best = sorted(VOTES.values(), reverse=True)
    return max(wanted - VOTES[name] for wanted, name in zip(best, listed, strict=False))


def joint(k: int) -> dict[tuple[str, ...], arb]:
    rate = NaturalRate(Fraction(1, 1 if k == 1 else 2))
    weights = {one: rate.decay(Fraction(loss(one))) for one in itertools.permutations(NAMES, k)}
    total = sum(weights.values(), arb(0))
    return {one: weight / total for one, weight in weights.items()}


def peeled(k: int, mechanism: Any) -> dict[tuple[str, ...], arb]:
    found: dict[tuple[str, ...], arb] = {(): arb(1)}
    for _ in range(k):
        longer = {}
        for taken, chance in found.items():
            left = {name: score for name, score in VOTES.items() if name not in taken}
            law = discreet.distribution(
                left, **{**TERMS, "epsilon": Fraction(1, k)}, mechanism=mechanism
            )
            for name in left:
                p = law.probability(name)
                longer[(*taken, name)] = chance * ball(p.lower).union(ball(p.upper))
        found = longer
    return found


@pytest.mark.parametrize("k", [1, 2, 4])
@pytest.mark.parametrize("mechanism", ["exponential", "permute_and_flip"])
@pytest.mark.parametrize("method", ["peeling", "joint"])
def test_a_distribution_over_lists_is_the_defined_one(k: int, mechanism: Any, method: Any) -> None:
    terms: Any = {**TERMS, "k": k, "method": method, "mechanism": mechanism}
    law = discreet.distribution(discreet.select_top_k, VOTES, **terms)
    assert law.size == len(law.candidates) == len(set(law.candidates))
    assert law.guarantee == discreet.select_top_k(VOTES, **terms).guarantee
    with precision(300):
        if method == "peeling":
            stated = peeled(k, mechanism)
        elif mechanism == "exponential":
            stated = joint(k)
        else:
            scores = {one: -loss(one) for one in law.candidates}
            own = discreet.distribution(
                scores, spread=1 if k == 1 else 2, epsilon=1, mechanism=mechanism
            )
            stated = {one: ball(own.probability(one).lower) for one in scores}
        for one, probability in stated.items():
            found = law.probability(list(one))
            between = ball(found.lower).union(ball(found.upper))
            assert abs(between - probability) < arb(2) ** -60, one
    mean = sum(float(p) * loss(one) for one, p in law.pmf().items())
    assert float(law.expected_error()) == pytest.approx(mean)
    assert law.top(1)[0][0] in law.candidates


def test_lists_of_indices_and_of_blocks() -> None:
    law = discreet.distribution(discreet.select_top_k, [1, 0.5], k=2, sensitivity=1, epsilon=2)
    assert set(law.pmf()) == {(0, 1), (1, 0)}
    rounds = BlockRounds(read_vector([1, 0, 1]), 2, NaturalRate(Fraction(1)))
    with precision(100):
        assert sum(rounds.probabilities(), arb(0)).contains(1)
        assert len(rounds.probabilities()) == 6


SEVERAL: dict[str, Any] = {
    "select_top_k": lambda **t: discreet.simulate(discreet.select_top_k, VOTES, k=2, **{**TERMS, **t}),
    "select_top_k, joint": lambda **t: discreet.simulate(
        discreet.select_top_k, VOTES, k=2, method="joint", **{**TERMS, **t}
    ),
    "quantiles": lambda **t: discreet.simulate(
        discreet.quantiles, AGES, alphas=["0.25", "0.75"], candidates=Grid(0, 99), **t
    ),
    "quantiles, joint": lambda **t: discreet.simulate(
        discreet.quantiles, AGES, alphas=["0.25", "0.75"], candidates=Grid(0, 99), method="joint", **t
    ),
    "quantiles, independent": lambda **t: discreet.simulate(
        discreet.quantiles, AGES, alphas=["0.25", "0.75"], candidates=Grid(0, 99),
        method="independent", **t
    ),
    "select_rows": lambda **t: discreet.simulate(
        discreet.select_rows, [[0, 1], [1, 0]], sensitivity=1, disjoint=True, **t
    ),
    "select_rows, named": lambda **t: discreet.simulate(
        discreet.select_rows, [[0, 1], [1, 0]], candidates=["a", "b"], sensitivity=1, **t
    ),
}  # fmt: skip


@pytest.mark.parametrize("verb", SEVERAL)
def test_samples_of_several_answers(verb: str) -> None:
    drawn = SEVERAL[verb](epsilon=1, size=30)
    assert len(drawn.values) == 30
    assert all(type(one) is list and len(one) == 2 for one in drawn.values)
    assert sum(drawn.frequencies().values()) == pytest.approx(1)
    assert all(type(one) is tuple for one in drawn.frequencies())
    drawn.plot()


def test_samples_follow_the_distribution() -> None:
    """By Hoeffding's inequality a frequency is that far from its probability with a chance below 1e-11."""
    terms: Any = {**TERMS, "k": 2}
    law = discreet.distribution(discreet.select_top_k, VOTES, **terms).pmf()
    found = discreet.simulate(discreet.select_top_k, VOTES, **terms, size=4_000).frequencies()
    for one, probability in law.items():
        assert abs(found.get(one, 0) - probability) < 0.06


def test_the_distribution_of_joint_quantiles_is_computed_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = list[int]()
    plain = JointLaw.__init__

    def counted(self: Any, *args: Any, **terms: Any) -> None:
        made.append(1)
        plain(self, *args, **terms)

    monkeypatch.setattr(JointLaw, "__init__", counted)
    SEVERAL["quantiles, joint"](epsilon=1, size=5)
    assert made == [1]


def test_samples_by_group() -> None:
    people = pd.DataFrame({"city": ["Bern", "Bern", "Basel"], "age": [30, 40, 50]})
    drawn = discreet.simulate(
        discreet.quantiles, people, "age", alphas=["0.5"], candidates=Grid(0, 99), by="city",
        groups=["Bern", "Basel"], epsilon=1, size=3,
    )  # fmt: skip
    assert [set(one) for one in drawn.values] == [{"Bern", "Basel"}] * 3
    assert len(drawn.frequencies()) <= 3
    with pytest.raises(InvalidArgument, match="row or group"):
        discreet.distribution(
            discreet.median, people, "age", candidates=Grid(0, 99), by="city", groups=["Bern"], epsilon=1
        )  # fmt: skip
    modes = discreet.simulate(
        discreet.mode, people, "city", candidates=["Bern", "Basel"], by="city", groups=["Bern"],
        epsilon=50, size=4,
    )  # fmt: skip
    assert Counter(map(str, modes.values)) == {"{'Bern': 'Bern'}": 4}


def test_nothing_is_charged_or_drawn_for_a_distribution_of_lists(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def no_bits(*_: Any) -> None:
        raise AssertionError("bits were read")

    monkeypatch.setattr("discreet.sampling.bits.SystemBits.word", no_bits)
    monkeypatch.setattr("discreet.sampling.bits.SystemBits.words", no_bits)
    for method in ("peeling", "joint"):
        assert (
            discreet.distribution(discreet.select_top_k, VOTES, k=2, method=method, **TERMS).size
            == 12
        )
    with pytest.raises(InvalidArgument, match="leave out ledger"):
        discreet.simulate(discreet.select_top_k, VOTES, k=2, ledger=object(), **TERMS)
