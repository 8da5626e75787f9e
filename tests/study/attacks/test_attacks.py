"""The attacks break the naive mechanisms and never ours."""

import json
import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from flint import arb

import discreet
from discreet import audit
from discreet.mechanisms import Base2, Exponential, Mechanism, NoisyMax, PermuteAndFlip
from discreet.mechanisms.contract import Law, PrivacyParameter
from discreet.privacy.sensitivity import sensitivity_of
from discreet.sampling.enclosures import precision
from discreet.sampling.vectors import read_vector
from discreet.study.attacks import (
    ATTACKS,
    biased_index,
    coarse_grid,
    crash,
    floats,
    low_bits,
    rejection,
    truncation,
    underflow,
)
from discreet.study.attacks.result import alike

OURS: list[Mechanism] = [Exponential(), PermuteAndFlip(), NoisyMax(), NoisyMax("gumbel"), Base2()]


def law(mechanism: Mechanism, scores: list[Any], epsilon: Any) -> Law:
    """Return our law; the scores change by at most one and any way, so the spread is two."""
    parameter = PrivacyParameter("epsilon", Fraction(epsilon))
    return mechanism.calibrate(sensitivity_of(1, "add_remove"), parameter).law(read_vector(scores))


def first(law: Law) -> float:
    with precision(400):
        return float(law.probabilities()[0])


@pytest.mark.parametrize("name", ATTACKS)
@pytest.mark.one_in(3)
def test_the_attack_breaks_the_naive_mechanism_and_never_ours(name: str) -> None:
    lesson = ATTACKS[name]()
    assert lesson.name == name
    assert lesson.broken
    assert math.isinf(lesson.naive_audit.epsilon.lower)  # for certain, not by chance
    assert lesson.standing
    slightest = Fraction(1, 2**100)
    ours = [lesson.our_audit, *lesson.other_audits.values()]
    assert all(each.epsilon.upper <= each.claimed + slightest for each in ours)
    text = str(lesson)
    assert "BROKEN" in text
    assert "STANDING" in text
    assert "NOT STANDING" not in text
    assert max(map(len, text.splitlines())) <= 80
    plain = json.loads(json.dumps(lesson.as_dict()))
    assert plain["broken"] is plain["standing"] is True
    assert plain["epsilon_naive"] == "infinite"


def test_a_lesson_can_fail() -> None:
    """A naive mechanism that keeps its promise is not broken, and ours that does not is not standing."""
    lesson = ATTACKS["lost_event"]()
    kept, told = alike(True, epsilon=1), alike(False, epsilon=1)
    assert kept.holds
    assert not told.holds
    turned = replace(lesson, naive_audit=kept, our_audit=told)
    assert not turned.broken
    assert not turned.standing
    assert "NOT STANDING" in str(turned)
    assert "not broken" in str(turned)
    assert not replace(lesson, other_audits={"exponential": kept, "noisy_max": told}).standing
    assert replace(lesson, other_audits={}).standing


# The true epsilon of the exponential mechanism on these neighbours, by mpmath:
# ln(1 + 99 e^(-1/4)) and so on, and of Laplace noise of scale 1.
TRUE_EPSILONS = {"underflow": "0.2471637717", "truncation": "29.56011331", "low_bits": "1"}


@pytest.mark.parametrize("name", TRUE_EPSILONS)
def test_the_epsilon_is_that_of_the_mechanism_that_the_claim_speaks_of(name: str) -> None:
    lesson = ATTACKS[name]()
    text = " ".join(str(lesson).split())
    assert f"True ε: {TRUE_EPSILONS[name]}." in text
    assert lesson.as_dict()["epsilon_ours"] == TRUE_EPSILONS[name]


def test_other_mechanisms_are_named_beside_their_epsilon_and_their_input() -> None:
    text = " ".join(str(ATTACKS["underflow"]()).split())
    said = "All mechanisms of discreet on the first 12 candidates: true ε at most 0.2499999863 "
    assert f"others {said}(permute_and_flip)." in text


def test_no_naive_mechanism_can_be_taken_for_ours() -> None:
    assert not set(ATTACKS) & set(discreet.mechanisms.MECHANISMS)
    for module in (biased_index, coarse_grid, crash, floats, low_bits, rejection):
        kinds = [v for v in vars(module).values() if isinstance(v, type)]
        assert not [k for k in kinds if k.__module__ == module.__name__ and hasattr(k, "calibrate")]
        unsafe = [n for n in vars(module) if n.lower().startswith("unsafe")]
        assert unsafe, module.__name__
    assert not [name for name in discreet.__all__ if "unsafe" in name.lower()]


def test_the_constants_of_attack_one_are_those_of_the_seed() -> None:
    weights = floats.unsafe_weights([-underflow.X, -underflow.X - 1], 0.5)
    assert weights[0] == 5e-324
    assert weights[1] == 0


def test_attack_one_in_numbers() -> None:
    assert floats.unsafe_law(underflow._WITH_ALICE, 0.5)[0] == 1
    assert float(floats.unsafe_law(underflow._WITHOUT, 0.5)[0]) == pytest.approx(0.01)
    truth = 1 / (1 + 99 * math.exp(-0.25))
    shifted = floats.unsafe_law(underflow._WITH_ALICE, 0.5, shift=True)  # mends this instance only
    assert float(shifted[0]) == pytest.approx(truth)
    assert truth == pytest.approx(0.0128038879, rel=1e-8)
    ours = [law(Exponential(), s, "1/2") for s in (underflow._WITH_ALICE, underflow._WITHOUT)]
    assert first(ours[0]) == pytest.approx(truth, rel=1e-14)
    assert first(ours[1]) == pytest.approx(0.01, rel=1e-14)


def test_attack_two_in_numbers() -> None:
    for shift in (False, True):
        naive = [
            floats.unsafe_law(scores, 30, shift=shift)[0]
            for scores in (truncation._WITH_ALICE, truncation._WITHOUT)
        ]
        assert naive[0] == 1
        assert float(naive[1]) == pytest.approx(0.6441094032)
    with precision(400):
        with_alice = 1 - law(Exponential(), truncation._WITH_ALICE, 30).probabilities()[0]
        without = 1 - law(Exponential(), truncation._WITHOUT, 30).probabilities()[0]
        truth = 999 * arb(-37.5).exp() / (1 + 999 * arb(-37.5).exp())
        assert with_alice.overlaps(truth)
    assert float(with_alice) == pytest.approx(5.1703794508e-14, rel=1e-9)
    assert float(without) == pytest.approx(0.3558905968, rel=1e-9)
    assert math.log(float(without) / float(with_alice)) == pytest.approx(29.560, abs=1e-3)


@pytest.mark.parametrize("mechanism", OURS, ids=str)
def test_no_mechanism_of_ours_tells_more_than_epsilon(mechanism: Mechanism) -> None:
    few = slice(20)
    one = [underflow._WITH_ALICE[few], underflow._WITHOUT[few]]
    assert audit.exact(*one, sensitivity=1, epsilon="1/2", mechanism=mechanism).holds
    if isinstance(mechanism, Base2):
        mechanism = Base2(granularity="1/2")  # the scores of attack two are halves
    n = 11 if isinstance(mechanism, Base2) else 20
    two = [truncation._WITH_ALICE[:n], truncation._WITHOUT[:n]]
    assert audit.exact(*two, sensitivity=1, epsilon=30, mechanism=mechanism).holds
