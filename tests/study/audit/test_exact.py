"""The exact audit: true epsilons known in closed form, all events by brute force, false claims refused."""

import math
from fractions import Fraction
from itertools import chain, combinations
from typing import Any

import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import audit
from discreet.errors import InvalidArgument, InvalidNumber, InvalidScores
from discreet.mechanisms import MECHANISMS, Exponential, PermuteAndFlip
from discreet.mechanisms.contract import Law, PrivacyParameter
from discreet.mechanisms.without_guarantee import WithoutGuarantee
from discreet.privacy.sensitivity import sensitivity_of
from discreet.sampling.enclosures import ball, lower, precision, upper
from discreet.sampling.vectors import read_vector
from discreet.selection.candidates import Labels
from discreet.selection.scores.truth import Truth

NARROW = Fraction(1, 2**99)


def encloses(found: audit.Interval, value: Any) -> bool:
    """Return whether an enclosure is narrow and holds a number to double precision."""
    assert not math.isinf(found.upper)
    assert found.upper - found.lower < NARROW
    return float(found) == pytest.approx(float(value), rel=1e-12, abs=1e-15)


def em(scores: list[Any], epsilon: Any = 1) -> Law:
    calibrated = Exponential().calibrate(
        sensitivity_of(1, "add_remove"), PrivacyParameter("epsilon", Fraction(epsilon))
    )
    return calibrated.law(read_vector(scores))


def subsets(n: int) -> Any:
    return chain.from_iterable(combinations(range(n), k) for k in range(n + 1))


@pytest.mark.parametrize(("k", "truth"), [(2, 0.7310585786), (3, 0.5761168848), (10, 0.2319693167)])
def test_randomised_response_costs_half_of_the_general_bound(k: int, truth: float) -> None:
    """P(truth) = e / (e + k - 1): the normaliser is the same for all values, so epsilon is eta."""
    labels = Labels(range(k))
    scores = [Truth(value, labels) for value in (0, 1)]
    calibrated = Exponential().calibrate(
        scores[0].sensitivity("replace_one"), PrivacyParameter("epsilon", Fraction(1))
    )
    ours = [calibrated.law(score.compute(Fraction(0))) for score in scores]
    found = audit.laws(*ours, epsilon=1)
    assert found.holds
    assert encloses(found.epsilon, 1)
    assert not audit.laws(*ours, epsilon="0.999").holds
    with precision(64):
        assert float(ours[0].probabilities()[0]) == pytest.approx(truth, abs=1e-10)
    general = audit.exact([1] + [0] * (k - 1), [0, 1] + [0] * (k - 2), sensitivity=1, epsilon=2)
    assert general.holds
    assert general.slack == pytest.approx(2)
    assert encloses(general.range, 2)


def test_geometric_noise_costs_half_of_the_general_bound() -> None:
    """Below 0 all log-ratios are eta, above -eta, so two outputs hold all there is to tell."""

    class Side:
        def __init__(self, *, left: bool) -> None:
            self.left = left

        def probabilities(self) -> list[arb]:
            a = arb(-1).exp()
            sides = [1 / (1 + a), a / (1 + a)]
            return sides if self.left else sides[::-1]

    assert encloses(audit.laws(Side(left=True), Side(left=False), epsilon=1).epsilon, 1)


@pytest.mark.parametrize("width", [1, 3, 10])
def test_laplace_on_a_grid_costs_between_one_and_two(width: int) -> None:
    points = range(-width, width + 1)
    here, there = [-abs(r) for r in points], [-abs(r - 1) for r in points]
    found = audit.exact(here, there, sensitivity=1, epsilon=2)
    z, other = (sum(math.exp(s) for s in scores) for scores in (here, there))
    assert encloses(found.epsilon, 1 + abs(math.log(z / other)))
    assert found.epsilon.lower > 1
    assert found.slack > 1.2
    assert found.holds


@pytest.mark.parametrize(("n", "top", "true"), [(2, 1, 0.5), (10, 1, 0.897003), (10, 10, 0.998715)])
def test_few_candidates_in_a_narrow_range(n: int, top: int, true: float) -> None:
    """The finite-range saving: eta 1/2, the worst pair of scores from 0 to `top`."""
    found = audit.exact([0] + [top] * (n - 1), [1] + [top - 1] * (n - 1), sensitivity=1, epsilon=1)
    assert float(found.epsilon) == pytest.approx(true, abs=1e-6)
    assert found.output == 0


@pytest.mark.parametrize("mechanism", MECHANISMS)
@given(data=st.data())
@settings(max_examples=15)
def test_our_mechanisms_hold_on_neighbours(mechanism: str, data: st.DataObject) -> None:
    scores = data.draw(st.lists(st.integers(-4, 4), min_size=1, max_size=5))
    moves = data.draw(st.lists(st.integers(-1, 1), min_size=len(scores), max_size=len(scores)))
    other = [s + m for s, m in zip(scores, moves, strict=True)]
    found = audit.exact(scores, other, sensitivity=1, epsilon="1/2", mechanism=mechanism)
    assert found.holds
    assert found.epsilon.upper <= Fraction(1, 2) + NARROW


def test_a_false_sensitivity_shows() -> None:
    found = audit.exact([0, 0, 0], [2, -2, 0], sensitivity=1, epsilon=1)
    assert not found.holds
    assert encloses(found.range, 2)
    assert "FALSE" in str(found)
    half = audit.exact([0] * 30 + [40], [1] * 30 + [39], spread=1, epsilon=1, mechanism="noisy_max")
    assert not half.holds  # the textbook's constant, for scores that do not all move the same way
    assert float(half.epsilon) > 1.9


def test_a_range_is_claimed_besides_epsilon() -> None:
    """The worst log-ratio keeps to epsilon = 1, the range does not: a bounded range is false."""
    found = audit.exact([0, 1, 2], [3, 1, 2], sensitivity=1, epsilon=1)
    assert encloses(found.epsilon, 1)
    assert encloses(found.range, Fraction(3, 2))
    assert not found.holds
    flip = audit.exact([0, 0], [2, 0], spread=2, epsilon=2, mechanism="permute_and_flip")
    assert not flip.bounded_range
    assert flip.holds
    assert flip.range.lower > 2


fractions = st.integers(0, 6)


@given(
    st.lists(st.tuples(fractions, fractions), min_size=1, max_size=5),
    st.sampled_from([0, 1, "1/3"]),
)
def test_the_hockey_stick_is_the_best_of_all_events(pairs: list[Any], epsilon: Any) -> None:
    if not all(sum(side) for side in zip(*pairs, strict=True)):
        return
    p, q = ([Fraction(x, sum(side)) for x in side] for side in zip(*pairs, strict=True))
    found = audit.laws(p, q, epsilon=1)
    with precision(512):
        factor = ball(Fraction(epsilon)).exp()
        gains = [
            (list(event), _mass(a, event) - factor * _mass(b, event))
            for a, b in ((p, q), (q, p))
            for event in subsets(len(p))
        ]
    best = max(lower(gain) for _, gain in gains)
    stick = found.hockey_stick(epsilon)
    assert stick.lower <= best + NARROW
    assert best <= stick.upper + NARROW
    attained = [gain for event, gain in gains if event == found.event(epsilon)]
    assert max(upper(gain) for gain in attained) >= best - NARROW


def _mass(law: list[Fraction], event: tuple[int, ...]) -> arb:
    return ball(sum((law[i] for i in event), Fraction(0)))


@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(-1, 1)), min_size=2, max_size=6))
def test_the_logit_of_every_event_shifts_by_epsilon_at_most(moves: list[tuple[int, int]]) -> None:
    """The f-DP bound of the exponential mechanism: it is dominated by a shift of a logistic law."""
    assert _worst_shift(*(em([f(*m) for m in moves]) for f in (lambda s, _: s, int.__add__))) <= 1


def test_the_logit_of_permute_and_flip_shifts_by_more() -> None:
    calibrated = PermuteAndFlip().calibrate(
        sensitivity_of(1, "add_remove"), PrivacyParameter("epsilon", Fraction(1))
    )
    laws = [calibrated.law(read_vector(scores)) for scores in ([0, 0], [1, -1])]
    assert _worst_shift(*laws) > 1


def _worst_shift(law: Law, other: Law) -> Fraction:
    """Return the largest shift of a logit over all events, rounded down to certain digits."""
    with precision(256):
        p, q = law.probabilities(), other.probabilities()
        shifts = []
        for event in list(subsets(len(p)))[1:-1]:
            rest = [i for i in range(len(p)) if i not in event]
            odds = [
                sum((x[i] for i in event), arb(0)) / sum((x[i] for i in rest), arb(0))
                for x in (p, q)
            ]
            shifts.append(upper(abs((odds[1] / odds[0]).log())))
    return round(max(shifts) * 2**90) / Fraction(2**90)


def test_an_output_on_one_side_only_is_infinite() -> None:
    half, quarter = Fraction(1, 2), Fraction(1, 4)
    found = audit.laws([half, half, 0, 0], [half, quarter, quarter, 0], epsilon=100)
    assert found.epsilon == audit.Interval(math.inf, math.inf)
    assert found.output == 2
    assert not found.holds
    assert found.slack == 0
    assert float(found.forward) == pytest.approx(math.log(2))
    assert str(found.backward) == str(found.range) == "infinite"
    assert found.event(100) == [2]
    assert found.hockey_stick(100).lower == quarter
    assert audit.laws([half, half, 0], [half, quarter, quarter], epsilon=1, delta=quarter).holds
    assert not audit.laws(
        [half, half, 0], [half, quarter, quarter], epsilon=1, delta="0.2499"
    ).holds


def test_laws_that_are_equal_tell_nothing() -> None:
    found = audit.laws(["0.5", 0.25, "1/4"], ["0.5", 0.25, "1/4"], epsilon="1e-20")
    assert found.holds
    assert found.slack == math.inf
    assert str(found.epsilon) == "0"


def test_far_gaps_are_enclosed_too() -> None:
    found = audit.exact(
        [0, -9000, -9000], [0, -9001, -8999], spread=2, epsilon=2, mechanism="permute_and_flip"
    )
    assert encloses(found.epsilon, 1)


def test_a_law_too_wide_to_tell_does_not_hold() -> None:
    class Wide:
        def probabilities(self) -> list[arb]:
            return [arb(0.5, 0.6), arb(0.5, 0.6)]

    assert not audit.laws(Wide(), [1, 0], epsilon=10).holds


def test_plain_values_and_repr_hide_the_laws() -> None:
    found = audit.exact([1, 0], [0, 1], sensitivity=1, epsilon=1)
    assert found.as_dict() == {
        "holds": True, "claimed": {"epsilon": "1", "delta": "0", "bounded_range": True},
        "epsilon": "0.5", "output": found.output, "range": "1", "hockey_stick": "0", "slack": "2",
    }  # fmt: skip
    assert "_laws" not in repr(found)
    assert str(found) == (
        "claimed  ε = 1, bounded range: holds for this pair\n"
        f"true     ε = 0.5 (output {found.output}), range 1\n"
        "δ at the claimed ε: 0"
    )
    assert ", δ = 0.1" in str(audit.laws([1], [1], epsilon=1, delta="0.1"))


@pytest.mark.parametrize(
    ("law", "other", "message"),
    [
        ([1, 1], [1, 0], "law must be probabilities that sum to exactly one"),
        ([1], ["0.5", "0.49"], "law_of_neighbor must be probabilities"),
        ([2, -1], [1, 0], "law must be probabilities"),
        ([], [1], "law must be probabilities"),
        ([1], ["0.5", "0.5"], "both distributions must be over the same outputs, got 1 and 2"),
    ],
)
def test_what_is_no_pair_of_laws_is_refused(law: Any, other: Any, message: str) -> None:
    with pytest.raises(InvalidArgument, match=message):
        audit.laws(law, other, epsilon=1)


def test_public_arguments_are_checked() -> None:
    with pytest.raises(InvalidArgument, match="size must be left out"):
        audit.exact([1], [1], sensitivity=1, epsilon=1, size=2)
    with pytest.raises(InvalidArgument, match="score the same candidates, got 1 and 2"):
        audit.exact([1], [1, 2], sensitivity=1, epsilon=1)
    with pytest.raises(InvalidArgument, match="nothing to audit"):
        audit.exact(
            [1], [1], sensitivity=1, epsilon=1, mechanism=WithoutGuarantee(Exponential(), "none")
        )
    with pytest.raises(InvalidScores):
        audit.exact([1], [math.nan], sensitivity=1, epsilon=1)
    with pytest.raises(InvalidNumber, match="delta must not be below zero"):
        audit.laws([1], [1], epsilon=1, delta=-1)
    with pytest.raises(InvalidNumber, match="epsilon must not be below zero"):
        audit.laws([1], [1], epsilon=1).hockey_stick(-1)
