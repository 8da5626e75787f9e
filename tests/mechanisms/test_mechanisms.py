"""Every mechanism: enumerated, against golden numbers, and against its promise."""

import math
from fractions import Fraction
from itertools import permutations, product
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
    Exponential,
    Mechanism,
    NoisyMax,
    PermuteAndFlip,
    read_mechanism,
)
from discreet.mechanisms.base_measure import MaskedMechanism
from discreet.mechanisms.contract import Calibrated, Law, PrivacyParameter
from discreet.mechanisms.lists import probabilities_of_rounds
from discreet.mechanisms.permute_and_flip import OneOfTheHeads
from discreet.mechanisms.testing import (
    ScriptedBits,
    bit_tree,
    check_mechanism,
    counted_work,
    log_ratios,
)
from discreet.mechanisms.top_counts import probabilities_of_largest
from discreet.privacy.guarantees import BoundedRange, LaplaceDP
from discreet.privacy.sensitivity import Sensitivity, sensitivity_of
from discreet.sampling.bits import Bits, SystemBits
from discreet.sampling.enclosures import DyadicRate, ball, lower, precision, upper
from discreet.sampling.geometric import GeometricNoise
from discreet.sampling.vectors import Vector, read_vector

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


@pytest.mark.parametrize("bits", [3, 8, 30])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_lists_of_the_largest_counts_have_probabilities_of_one_in_all(bits: int, k: int) -> None:
    """Whatever window is summed: what is outside of it is in the balls."""
    with precision(bits):
        balls = probabilities_of_largest([0, 2, 2], k, GeometricNoise(Fraction(1, 2)))
    with precision(128):
        assert sum(map(lower, balls)) <= 1 <= sum(map(upper, balls))
        assert all(upper(ball) >= 0 for ball in balls)


def test_rounds_are_products_of_what_is_left() -> None:
    scores = read_vector([0, 1, 3])

    def of(some: Vector) -> Any:
        return calibrated(Exponential()).law(some)

    with precision(128):
        found = probabilities_of_rounds(scores, 2, of)
        for (i, j), chance in zip(permutations(range(3), 2), found, strict=True):
            first = of(scores).probabilities()[i]
            left = [each for each in range(3) if each != i]
            second = of(scores.take(np.array(left))).probabilities()[left.index(j)]
            assert chance.overlaps(first * second)
        assert sum(found, arb(0)).overlaps(arb(1))


def test_who_is_masked_has_probability_zero() -> None:
    masked = calibrated(MaskedMechanism(Exponential(), (True, False, True)))
    chances = masked.law(read_vector([0, 100, 1])).probabilities()
    left = calibrated(Exponential()).law(read_vector([0, 1])).probabilities()
    assert chances[1] == 0
    assert [float(chances[0]), float(chances[2])] == pytest.approx([*map(float, left)])
