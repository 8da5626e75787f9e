"""Every mechanism: enumerated, against golden numbers, and against its promise."""

import math
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidArgument, InvalidScores, UnknownName
from discreet.mechanisms import (
    MECHANISMS,
    Base2,
    Base2Eta,
    Exponential,
    Mechanism,
    NoisyMax,
    PermuteAndFlip,
    base2,
    best_eta,
    read_mechanism,
)
from discreet.mechanisms.contract import Calibrated, Law, PrivacyParameter
from discreet.mechanisms.noisy_max import LaplaceRace
from discreet.mechanisms.permute_and_flip import OneOfTheHeads
from discreet.privacy.guarantees import BoundedRange, LaplaceDP
from discreet.privacy.sensitivity import Sensitivity, sensitivity_of
from discreet.sampling.bits import Bits, SystemBits
from discreet.sampling.enclosures import DyadicRate, NaturalRate, ball, lower, precision, upper
from discreet.sampling.vectors import Vector, read_vector
from discreet.testing import ScriptedBits, bit_tree, check_mechanism, counted_work, log_ratios

MONOTONIC = sensitivity_of(1, "add_remove", monotonic=True)
GENERAL = sensitivity_of(1, "add_remove")
ALL: list[Mechanism] = [
    Exponential(),
    Base2(),
    PermuteAndFlip(),
    NoisyMax("laplace"),
    NoisyMax("gumbel"),
    NoisyMax("exponential"),
]
ONE_BIT = DyadicRate(1, 1, 1)


def calibrated(
    mechanism: Mechanism, epsilon: Any = 1, sensitivity: Sensitivity = GENERAL
) -> Calibrated:
    return mechanism.calibrate(sensitivity, PrivacyParameter("epsilon", Fraction(epsilon)))


def law(
    mechanism: Mechanism, scores: Any, epsilon: Any = 1, sensitivity: Sensitivity = GENERAL
) -> Law:
    return calibrated(mechanism, epsilon, sensitivity).law(read_vector(scores))


def pmf(law: Law) -> list[float]:
    with precision(200):
        return [float(p) for p in law.probabilities()]


@pytest.mark.parametrize("mechanism", ALL, ids=str)
@pytest.mark.one_in(6)
def test_the_library_checks_its_own_mechanisms(mechanism: Mechanism) -> None:
    check_mechanism(mechanism)


@pytest.mark.parametrize(
    "mechanism", [Base2(Base2Eta(3, 2, 1)), Base2(Base2Eta(1, 1), granularity="1/2")], ids=str
)
@pytest.mark.one_in(2)
def test_base2_with_its_own_eta_is_checked_too(mechanism: Base2) -> None:
    check_mechanism(mechanism, epsilon=None)


INSTANCES: list[tuple[list[Any], int]] = [
    ([0, 1, 2], 12),
    ([0, 0], 16),
    ([1, -1], 18),
    ([Fraction(1, 3), 0.25], 16),
    ([0, 10**6], 20),
    ([0.0, 1e300, 1e300], 12),
    ([5], 8),
    ([-(10**300), 0, 10**300], 12),
    ([3, 3, 3], 12),
]


@pytest.mark.parametrize("mechanism", ALL, ids=str)
@pytest.mark.parametrize(("scores", "depth"), INSTANCES)
@pytest.mark.parametrize("epsilon", ["1/3", 2, "1e-300", "1e300"])
@pytest.mark.one_in(13)
def test_every_bit_string_is_accounted_for(
    mechanism: Mechanism, scores: list[Any], depth: int, epsilon: str
) -> None:
    if isinstance(mechanism, Base2) and Fraction(epsilon) != 2:
        epsilon = "1/3"  # its weights are rational numbers of as many digits as epsilon has
    drawn_from = law(mechanism, scores, Fraction(epsilon))
    depth = min(depth, 12) if isinstance(mechanism, NoisyMax) else depth
    tree = bit_tree(drawn_from.draw, depth)
    with precision(4000):  # Laplace noise: exponents of 2000 bits are subtracted from one another
        probabilities = drawn_from.probabilities()
    for i, probability in enumerate(probabilities):
        assert tree.admits(i, probability), (i, tree, probability)


@pytest.mark.proof
@pytest.mark.parametrize("mechanism", ALL, ids=str)
@pytest.mark.parametrize(("scores", "depth"), INSTANCES)
def test_deeper(mechanism: Mechanism, scores: list[Any], depth: int) -> None:
    drawn_from = law(mechanism, scores)
    tree = bit_tree(drawn_from.draw, depth + 5)
    with precision(4000):
        assert all(tree.admits(i, p) for i, p in enumerate(drawn_from.probabilities()))


@pytest.mark.parametrize(
    ("mechanism", "scores", "golden"),
    [
        (Exponential(), [0, 1, 2, 3, 4], [0.0580122174, 0.0956459768, 0.1576935564, 0.2599927207, 0.4286555288]),
        (PermuteAndFlip(), [0, 1, 2, 3, 4], [0.0452876708, 0.0765595472, 0.1320269061, 0.2376950331, 0.5084308429]),
        (Exponential(), [1, -1], [0.7310585786, 0.2689414214]),
        (PermuteAndFlip(), [1, -1], [0.8160602794, 0.1839397206]),
        (Exponential(), [10, 10, 5], [0.4802877888, 0.4802877888, 0.0394244225]),
        (PermuteAndFlip(), [10, 10, 5], [0.4863191669, 0.4863191669, 0.0273616662]),
    ],
)  # fmt: skip
def test_golden_laws(mechanism: Mechanism, scores: list[int], golden: list[float]) -> None:
    assert np.allclose(pmf(law(mechanism, scores)), golden, rtol=0, atol=6e-11)
    if mechanism == Exponential():
        assert pmf(law(NoisyMax("gumbel"), scores)) == pmf(law(mechanism, scores))
    else:
        assert pmf(law(NoisyMax("exponential"), scores)) == pmf(law(mechanism, scores))


def test_golden_law_of_seed_four() -> None:
    counts = [14976, 10683, 4443, 1025, 993, 418, 23]
    scores = [Fraction(c, 1000) for c in counts]
    golden = [
        0.88875894,
        0.10388931,
        0.0045874579,
        0.00083054434,
        0.00081736138,
        0.00061313266,
        0.00050324711,
    ]
    assert np.allclose(pmf(law(Exponential(), scores)), golden, rtol=0, atol=1e-8)
    assert np.allclose(
        pmf(law(PermuteAndFlip(), scores))[:3], [0.93774603, 0.05828532, 0.00247774], atol=1e-8
    )


def test_permute_and_flip_is_rational_where_the_weights_are() -> None:
    heads = OneOfTheHeads(read_vector([0, 1, 2]), ONE_BIT)
    with precision(200):
        for probability, exact in zip(heads.probabilities(), ("5/48", "11/48", "2/3"), strict=True):
            assert lower(probability) <= Fraction(exact) <= upper(probability)
    tree = bit_tree(heads.draw, 16)
    for i, exact in enumerate(("5/48", "11/48", "2/3")):
        assert tree.masses[i] <= Fraction(exact) <= tree.masses[i] + tree.undecided


def permute_and_flip_as_written(weights: list[Fraction]) -> list[Fraction]:
    """Return the law of McKenna and Sheldon's loop, over every permutation."""
    chances = [Fraction(0)] * len(weights)

    def visit(waiting: list[int], reached: Fraction) -> None:
        for i in waiting:
            here = reached / len(waiting)
            chances[i] += here * weights[i]
            visit([j for j in waiting if j != i], here * (1 - weights[i]))

    visit(list(range(len(weights))), Fraction(1))
    return chances


@given(st.lists(st.integers(0, 6), min_size=1, max_size=5))
def test_one_of_the_heads_is_permute_and_flip(scores: list[int]) -> None:
    weights = [Fraction(1, 2 ** (max(scores) - s)) for s in scores]
    with precision(200):
        stated = OneOfTheHeads(read_vector(scores), ONE_BIT).probabilities()
    for probability, exact in zip(stated, permute_and_flip_as_written(weights), strict=True):
        assert lower(probability) <= exact <= upper(probability)


@pytest.mark.parametrize("gap", [0, 1, 3, 20])
def test_noisy_max_of_two_has_a_closed_form(gap: int) -> None:
    """The difference of two Laplace variables of scale 1 exceeds g with probability (2 + g) exp(-g) / 4."""
    law_of_two = law(NoisyMax(), [0, gap], 1, MONOTONIC)
    assert math.isclose(pmf(law_of_two)[0], (2 + gap) * math.exp(-gap) / 4, rel_tol=1e-12)


def test_noisy_max_law_against_plain_integration() -> None:
    scores, t = [0.0, 0.7, 1.0, 1.0], np.linspace(-40, 40, 800_001)
    density = [0.5 * np.exp(-np.abs(t - s)) for s in scores]
    below = [np.where(t < s, 0.5 * np.exp(t - s), 1 - 0.5 * np.exp(s - t)) for s in scores]
    for i, probability in enumerate(pmf(law(NoisyMax(), scores, 1, MONOTONIC))):
        others = np.prod([b for j, b in enumerate(below) if j != i], axis=0)
        assert math.isclose(probability, np.trapezoid(density[i] * others, t), rel_tol=1e-7)


def test_the_race_beyond_doubles_is_the_same_race() -> None:
    """Without a fast pass everyone starts in balls; the same words give the same winner."""
    scores, rate = read_vector([0, 1, 2, 2]), NaturalRate(Fraction(1, 2))
    slow = LaplaceRace(scores, rate)
    slow._decays = None
    for seed in range(50):
        words = np.random.default_rng(seed).integers(0, 2, 64 * 8).tolist()
        fast = LaplaceRace(scores, rate).draw(ScriptedBits(words, width=64))
        assert slow.draw(ScriptedBits(words, width=64)) == fast


# What each mechanism promises.


@given(
    st.lists(st.integers(-5, 5) | st.floats(-5, 5), min_size=2, max_size=4),
    st.data(),
    st.sampled_from(ALL),
)
def test_neighbours_differ_by_no_more_than_promised(
    scores: list[Any], data: st.DataObject, mechanism: Mechanism
) -> None:
    monotonic = data.draw(st.booleans())
    steps = st.sampled_from([0, 1] if monotonic else [-1, 0, 1])
    whole = (
        [int(s) for s in scores] if isinstance(mechanism, Base2) else [Fraction(s) for s in scores]
    )
    other = [s + data.draw(steps) for s in whole]
    epsilon = data.draw(st.sampled_from([Fraction(1, 10), Fraction(1), Fraction(7, 2)]))
    ready = calibrated(mechanism, epsilon, MONOTONIC if monotonic else GENERAL)
    assert ready.guarantee.epsilon <= epsilon  # type: ignore[attr-defined]
    with precision(200):
        ratios = log_ratios(ready.law(read_vector(whole)), ready.law(read_vector(other)))
        assert not any(abs(ratio) > ball(epsilon) for ratio in ratios)
        if isinstance(ready.guarantee, BoundedRange):
            assert not any(a - b > ball(epsilon) for a, b in product(ratios, ratios))


@pytest.mark.parametrize("mechanism", ALL, ids=str)
def test_the_promise_is_not_loose(mechanism: Mechanism) -> None:
    """With many candidates and one that stands out, the loss comes close to epsilon."""
    crowd = [0] * 30
    with precision(300):
        ready = calibrated(mechanism, 1, GENERAL)
        ratios = log_ratios(
            ready.law(read_vector([*crowd, 40])), ready.law(read_vector([*[1] * 30, 39]))
        )
        assert max(float(abs(r)) for r in ratios) > 0.9


def test_permute_and_flip_has_no_bounded_range() -> None:
    with precision(200):
        ready = calibrated(PermuteAndFlip(), 1, MONOTONIC)
        worst = max(
            float(a - b)
            for low in ([0, 0, 8], [0, 8, 8])
            for change in product((0, 1), repeat=3)
            for ratios in [
                log_ratios(
                    ready.law(read_vector(low)),
                    ready.law(read_vector([s + c for s, c in zip(low, change, strict=True)])),
                )
            ]
            for a, b in product(ratios, ratios)
        )
    assert worst > 1.2
    assert isinstance(ready.guarantee, LaplaceDP)
    assert ready.guarantee.rho is not None
    assert ready.guarantee.rho > Fraction(1, 8)


@given(st.lists(st.integers(0, 12), min_size=2, max_size=6))
def test_permute_and_flip_is_never_worse(scores: list[int]) -> None:
    flip, plain = pmf(law(PermuteAndFlip(), scores)), pmf(law(Exponential(), scores))
    assert np.dot(flip, scores) >= np.dot(plain, scores) - 1e-12


@given(st.lists(st.integers(0, 12), min_size=1, max_size=6))
def test_expected_error_is_entropy_less_log_of_the_normaliser(scores: list[int]) -> None:
    eta, p = 0.5, np.array(pmf(law(Exponential(), scores)))
    gaps = max(scores) - np.array(scores)
    entropy, normaliser = -np.sum(p * np.log(p)), np.sum(np.exp(-eta * gaps))
    assert math.isclose(np.dot(p, gaps), (entropy - math.log(normaliser)) / eta, abs_tol=1e-9)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 1)), min_size=2, max_size=6))
def test_the_exponential_mechanism_is_a_logistic_shift(pairs: list[tuple[int, int]]) -> None:
    """For every event, logit P'(E) <= logit P(E) + epsilon."""
    ready = calibrated(Exponential(), 1, MONOTONIC)
    p = pmf(ready.law(read_vector([s for s, _ in pairs])))
    q = pmf(ready.law(read_vector([s + step for s, step in pairs])))
    for event in product((False, True), repeat=len(pairs)):
        if any(event) and not all(event):
            inside = np.array(event)
            before = np.sum(np.array(p)[inside]) / np.sum(np.array(p)[~inside])
            after = np.sum(np.array(q)[inside]) / np.sum(np.array(q)[~inside])
            assert abs(math.log(after / before)) <= 1 + 1e-9


@pytest.mark.parametrize(
    ("mechanism", "guarantee"),
    [
        (Exponential(), BoundedRange(Fraction(1), "add_remove")),
        (NoisyMax("gumbel"), BoundedRange(Fraction(1), "add_remove")),
        (PermuteAndFlip(), LaplaceDP(Fraction(1), "add_remove")),
        (NoisyMax("exponential"), LaplaceDP(Fraction(1), "add_remove")),
        (NoisyMax(), LaplaceDP(Fraction(1), "add_remove")),
    ],
)
def test_dials_agree(mechanism: Mechanism, guarantee: Any) -> None:
    by_epsilon = mechanism.calibrate(GENERAL, PrivacyParameter("epsilon", Fraction(1)))
    by_scale = mechanism.calibrate(GENERAL, PrivacyParameter("scale", Fraction(2)))
    by_rho = mechanism.calibrate(GENERAL, PrivacyParameter("rho", guarantee.rho))
    assert by_epsilon.guarantee == by_scale.guarantee == by_rho.guarantee == guarantee
    scores = read_vector([0, 1, 3])
    assert pmf(by_epsilon.law(scores)) == pmf(by_scale.law(scores)) == pmf(by_rho.law(scores))


def test_a_rho_that_is_no_square_is_rounded_down() -> None:
    for mechanism in (Exponential(), PermuteAndFlip(), Base2()):
        guarantee: Any = mechanism.calibrate(
            GENERAL, PrivacyParameter("rho", Fraction(1, 10))
        ).guarantee
        assert Fraction(1, 10) * (1 - Fraction(1, 2**25)) < guarantee.rho <= Fraction(1, 10)


# Base 2.


def exact_base2(scores: list[int], eta: Base2Eta) -> list[Fraction]:
    """Return Ilvento's law in integers only: weights x**(z k) * 2**(y z (K - k))."""
    gaps = [max(scores) - s for s in scores]
    widest = max(gaps)
    weights = [eta.x ** (eta.z * k) << (eta.y * eta.z * (widest - k)) for k in gaps]
    return [Fraction(w, sum(weights)) for w in weights]


@pytest.mark.parametrize(
    "eta", [Base2Eta(1, 1), Base2Eta(3, 2), Base2Eta(5, 3, 2), Base2Eta(1, 4, 3)]
)
@pytest.mark.parametrize(
    "scores", [[0, 1, 2], [0, 0, 0], [0, -15], [-1, -14], [7, 3, 7, 1], [0, 1000]]
)
def test_base2_is_its_integers(eta: Base2Eta, scores: list[int]) -> None:
    exact = exact_base2(scores, eta)
    ready = Base2(eta).calibrate(GENERAL, None).law(read_vector(scores))
    tree = bit_tree(ready.draw, 45)
    for i, chance in enumerate(exact):
        mass = tree.masses.get(i, Fraction(0))
        assert mass <= chance <= mass + tree.undecided
    with precision(6000):
        for probability, chance in zip(ready.probabilities(), exact, strict=True):
            assert lower(probability) <= chance <= upper(probability)


def test_base2_golden() -> None:
    assert exact_base2([0, 1, 2], Base2Eta(1, 1)) == [
        Fraction(1, 7),
        Fraction(2, 7),
        Fraction(4, 7),
    ]
    assert exact_base2([0, -15], Base2Eta(1, 1))[1] == Fraction(1, 32769)
    assert math.isclose(float(Base2Eta(1, 1).epsilon(2)), 1.3862943611198906, rel_tol=1e-15)


@pytest.mark.parametrize("scores", [[0.5, 1.25], [Fraction(1, 3), 0], [0.1, 2.0, 1.0]])
@pytest.mark.parametrize("granularity", [1, "1/2", "1/3", 2])
@pytest.mark.one_in(5)
def test_base2_rounds_at_random_without_bias(scores: list[Any], granularity: Any) -> None:
    ready = Base2(Base2Eta(1, 1), granularity).calibrate(GENERAL, None).law(read_vector(scores))
    tree = bit_tree(ready.draw, 14)
    with precision(300):
        probabilities = ready.probabilities()
    assert all(tree.admits(i, p) for i, p in enumerate(probabilities))
    # By hand: every way to round, weighted.
    unit = Fraction(granularity)
    quotients = [Fraction(s) / unit for s in scores]
    by_hand = [Fraction(0)] * len(scores)
    for ups in product((0, 1), repeat=len(scores)):
        chance = math.prod(q % 1 if up else 1 - q % 1 for q, up in zip(quotients, ups, strict=True))
        rounded = [math.floor(q) + up for q, up in zip(quotients, ups, strict=True)]
        for i, p in enumerate(exact_base2(rounded, Base2Eta(1, 1))):
            by_hand[i] += chance * p
    assert all(
        lower(p) <= exact <= upper(p) for p, exact in zip(probabilities, by_hand, strict=True)
    )


def test_rounding_keeps_its_promise_for_fractional_neighbours() -> None:
    ready = Base2(Base2Eta(1, 1)).calibrate(sensitivity_of("3/4", "add_remove"), None)
    assert float(ready.guarantee.epsilon) == pytest.approx(2 * math.log(2))  # type: ignore[attr-defined]
    shifts = [Fraction(k, 4) for k in range(-3, 4)]
    with precision(200):
        base = [Fraction(0), Fraction(3, 8), Fraction(-5, 8)]
        before = ready.law(read_vector(base))
        for change in product(shifts[::3], repeat=3):
            after = ready.law(read_vector([s + c for s, c in zip(base, change, strict=True)]))
            for ratio in log_ratios(before, after):
                assert not abs(ratio) > ball(ready.guarantee.epsilon)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "values", [[0.1, 2.0**60, -3.75], [0.1, 1e-300, -1e-300], [5.5, 1e308, -2.25], [-0.0]]
)
@pytest.mark.parametrize("granularity", [Fraction(1), Fraction(1, 4), Fraction(2), Fraction(1, 3)])
def test_splitting_is_exact(values: list[float], granularity: Fraction) -> None:
    from discreet.mechanisms.base2 import _split

    floors, parts = _split(read_vector(values), granularity)
    for value, floor, part in zip(values, floors, parts, strict=True):
        quotient = Fraction(value) / granularity
        assert Fraction(floor) == math.floor(quotient)
        assert abs(Fraction(float(part)) - quotient % 1) <= Fraction(1, 2**50)


def test_integers_at_granularity_one_are_not_rounded() -> None:
    with counted_work() as work:
        Base2(Base2Eta(1, 1)).calibrate(GENERAL, None).law(read_vector([1, 2, 3])).draw(
            SystemBits()
        )
    assert work.words == 1
    halves = Base2(Base2Eta(1, 1), "1/2").calibrate(GENERAL, None).law(read_vector([1, 2]))
    assert pmf(halves) == [0.2, 0.8]


def test_the_law_over_many_roundings_is_refused() -> None:
    ready = Base2(Base2Eta(1, 1)).calibrate(GENERAL, None).law(read_vector([0.5] * 13))
    with pytest.raises(InvalidScores, match="at most 12"):
        ready.probabilities()


@given(st.fractions(Fraction(1, 10**6), 200), st.sampled_from([1, 2, Fraction(1, 3)]))
def test_best_eta_is_below_and_close(epsilon: Fraction, spread: Any) -> None:
    eta = best_eta(epsilon, spread)
    reached = eta.epsilon(spread)
    with precision(2 * eta.y + 200):
        true = (
            spread.numerator
            * eta.z
            * (eta.y * arb(2).log() - arb(eta.x).log())
            / spread.denominator
        )
        assert true <= ball(epsilon)
        assert true <= ball(reached)
    assert reached >= epsilon * (1 - Fraction(1, 2**28))


def test_best_eta_is_best() -> None:
    """Against all x, y, z of the same length, by brute force."""
    wanted, spread, bits = Fraction(1), Fraction(1), 6
    found = best_eta(wanted, spread, bits=bits)
    length = bits + 3  # the least that a decay of 1 takes is 36/25 bits, and 1/1 has one bit
    reached = [
        z * (y * math.log(2) - math.log(x))
        for y in range(1, length + 1)
        for z in range(1, length // y + 1)
        for x in range(1, 2**y)
    ]
    best = max(epsilon for epsilon in reached if epsilon <= 1)
    assert math.isclose(found.z * (found.y * math.log(2) - math.log(found.x)), best, rel_tol=1e-12)


def test_base2_refuses_what_has_no_meaning() -> None:
    with pytest.raises(InvalidArgument, match=r"below 2\*\*y"):
        Base2Eta(2, 1)
    with pytest.raises(InvalidArgument, match="x must be a whole number"):
        Base2Eta(0, 1)
    with pytest.raises(
        InvalidArgument, match="eta already says how much privacy; leave out epsilon"
    ):
        calibrated(Base2(Base2Eta(1, 1)))
    with pytest.raises(InvalidArgument, match="how much privacy"):
        Base2().calibrate(GENERAL, None)
    with pytest.raises(InvalidArgument, match="granularity must be greater than zero"):
        calibrated(Base2(granularity=0))


# The contract.


@pytest.mark.parametrize("mechanism", ALL, ids=str)
def test_draws_are_draws(mechanism: Mechanism) -> None:
    drawn = np.asarray(law(mechanism, [0, 4, 4], 2).draws(2000, SystemBits()))
    expected = np.array(pmf(law(mechanism, [0, 4, 4], 2)))
    assert drawn.dtype == np.int64
    # Smoke: six standard deviations.
    assert np.all(
        np.abs(np.bincount(drawn, minlength=3) / 2000 - expected) < 6 * 0.5 / math.sqrt(2000)
    )


@pytest.mark.parametrize("mechanism", ALL, ids=str)
def test_work_does_not_show_the_gaps(mechanism: Mechanism) -> None:
    """2,000 candidates, one of them ahead by 0 or by 100: the same passes, bits and exponentials."""
    seen = set()
    for lead in (0, 100):
        for scores in ([lead] + [0] * 1999, [0.0] * 1999 + [float(lead)]):
            for _ in range(5):
                with counted_work() as work:
                    law(mechanism, np.array(scores), "1/2").draw(SystemBits())
                seen.add((work.words, work.functions, work.passes, work.balls))
    if isinstance(mechanism, Base2):  # floats have to be rounded, integers not: the type is public
        assert {key[0] for key in seen} == {1, 2001}
        seen = {(0, *key[1:]) for key in seen}
    assert len(seen) == 1
    assert next(iter(seen))[3] == 0


def test_long_vectors_do_the_same_work_for_any_gaps() -> None:
    seen = set()
    for scale in (0.0, 1e-9, 1.0, 1e9):
        scores = np.random.default_rng(5).normal(size=13 * 2**14) * scale  # whole blocks
        with counted_work() as work:
            law(Exponential(), scores).draw(SystemBits())
        seen.add((work.words, work.functions, work.passes, work.balls))
    assert len(seen) == 1
    words, functions, passes, balls = seen.pop()
    assert (words, balls) == (2, 0)
    assert functions <= 14 * 2**14 + 13
    assert passes == 15


@pytest.mark.parametrize("mechanism", ALL, ids=str)
@pytest.mark.one_in(5)
def test_ten_million_candidates(mechanism: Mechanism) -> None:
    scores = np.zeros(10**7, dtype=np.int8)
    scores[1234567] = 100
    assert law(mechanism, scores, 2, MONOTONIC).draw(SystemBits()) == 1234567


def test_the_registry_and_its_names() -> None:
    for name, kind in MECHANISMS.items():
        assert kind().name == name
        assert read_mechanism(name) == kind()
    assert read_mechanism(NoisyMax("gumbel")) == NoisyMax("gumbel")
    with pytest.raises(UnknownName, match=r"mechanism must be one of exponential, .*got 'best'"):
        read_mechanism("best")
    with pytest.raises(UnknownName, match="one of laplace, gumbel, exponential, got 'cauchy'"):
        NoisyMax("cauchy")  # type: ignore[arg-type]


@pytest.mark.parametrize("mechanism", ALL, ids=str)
def test_a_dial_is_needed(mechanism: Mechanism) -> None:
    with pytest.raises(InvalidArgument, match="how much privacy"):
        mechanism.calibrate(GENERAL, None)


def test_bad_scores_are_refused_before_a_bit_is_read() -> None:
    for mechanism in ALL:
        for bad in (math.nan, math.inf, -math.inf):
            with counted_work() as work, pytest.raises(InvalidScores, match="a NaN or an infinity"):
                law(mechanism, [0.0, bad])
            assert work.words == 0
    late = np.zeros(10**5)
    late[-1] = math.nan
    with pytest.raises(InvalidScores, match="a NaN or an infinity"):
        Exponential().calibrate(GENERAL, PrivacyParameter("epsilon", Fraction(1))).law(Vector(late))


def test_a_draw_is_a_function_of_its_bits() -> None:
    for mechanism in ALL:
        drawn_from = law(mechanism, [0, 1, 2])
        words = np.random.default_rng(9).integers(0, 2, 64 * 20).tolist()

        def draw(bits: Bits, drawn_from: Law = drawn_from) -> int:
            return drawn_from.draw(bits)

        assert len({draw(ScriptedBits(words, width=64)) for _ in range(3)}) == 1


def test_a_scale_is_in_units_of_the_score() -> None:
    for granularity in (1, "1/4"):
        ready: Any = Base2(granularity=granularity).calibrate(
            GENERAL, PrivacyParameter("scale", Fraction(1))
        )
        assert 2 * (1 - 2**-28) < ready.guarantee.epsilon <= 2
    with pytest.raises(InvalidArgument, match=r"eta must be a Base2Eta\(x, y, z\)"):
        Base2(1)  # type: ignore[arg-type]


@pytest.mark.parametrize("granularity", [1, "1/4", "1/3", 3])
@pytest.mark.parametrize(
    "scores", [[0, 5, -7], [0.25, 1.5, -3.0], [Fraction(1, 3), 2, Fraction(-5, 7)], [2**70, 1, 0]]
)
def test_base2_gives_its_dyadic_rate_whole_gaps(scores: list[Any], granularity: Any) -> None:
    made: list[Vector] = []

    def note(vector: Vector, _: object) -> Picked:
        made.append(vector)
        return Picked()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(base2, "Categorical", note)
        law = Base2(Base2Eta(3, 2), granularity).calibrate(GENERAL, None).law(read_vector(scores))
        for _ in range(20):
            law.draw(SystemBits())
    assert made
    for vector in made:
        assert all(vector.exact(i).denominator == 1 for i in range(len(vector)))


class Picked:
    """A distribution that draws nothing."""

    def draw(self, _: Bits) -> int:
        return 0
