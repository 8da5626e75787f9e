"""Several of the best: both laws against enumeration, and both promises over all small databases."""

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import permutations, product
from typing import Any

import numpy as np
import polars as pl
import pytest
from flint import arb

import discreet
from discreet.errors import (
    Exhausted,
    InvalidArgument,
    InvalidCandidates,
    InvalidNumber,
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
from discreet.mechanisms.epsilon_shares import share_of
from discreet.mechanisms.joint import joint_top_k as joint_module
from discreet.mechanisms.joint.joint_top_k import JointTopK
from discreet.mechanisms.peeling import Peeling
from discreet.mechanisms.peeling.arrivals import FirstArrivals
from discreet.mechanisms.peeling.rounds import BLOCK_SIZE, BlockRounds, Rounds
from discreet.mechanisms.testing import ScriptedBits, SeededBits, bit_tree, counted_work
from discreet.mechanisms.without_guarantee import WithoutGuarantee
from discreet.privacy.guarantees import BoundedRange, LaplaceDP, MixedRange
from discreet.privacy.sensitivity import Neighbors, Sensitivity, sensitivity_of
from discreet.sampling.bits import SystemBits
from discreet.sampling.enclosures import NaturalRate, ball, precision
from discreet.sampling.vectors import Vector, read_vector
from discreet.selection.select_top_k import select_top_k
from discreet.tables.verbs.top_k import top_k

MONOTONIC = sensitivity_of(1, "add_remove", monotonic=True)
GENERAL = sensitivity_of(1, "add_remove")
REPLACED = sensitivity_of(1, "replace_one")
ONE = PrivacyParameter("epsilon", Fraction(1))


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


@pytest.mark.parametrize(
    ("n", "k", "law"),
    [
        (2, 1, Rounds),
        (BLOCK_SIZE, 3, Rounds),
        (5, 4, FirstArrivals),
        (4 * BLOCK_SIZE, 4, FirstArrivals),
        (4 * BLOCK_SIZE + 1, 4, BlockRounds),
        (BLOCK_SIZE + 1, 3, BlockRounds),
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
        Peeling(WithoutGuarantee(Exponential(), "none"), 2).calibrate(GENERAL, ONE)
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


def test_the_end_of_what_is_known_of_a_uniform() -> None:
    """The last number of all is decided too: the classes are settled in balls, in full."""
    law = JointTopK(Exponential(), 2).calibrate(MONOTONIC, ONE).law(read_vector([0, 500, 2000]))
    found: Any = law.draw(ScriptedBits("1" * 8000, width=64))
    assert loss([0, 500, 2000], found) == 2000


def rows(n: int, neighbors: str) -> list[tuple[int, ...]]:
    """Return what one row more, or one in place of another, does to the counts."""
    units = [tuple(int(i == j) for j in range(n)) for i in range(n)]
    if neighbors == "add_remove":
        return units
    return [tuple(a - b for a, b in zip(come, go, strict=True)) for come in units for go in units]


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
        ({"sensitivity": 1}, InvalidArgument),
        ({"monotonic": True}, InvalidArgument),
        ({"size": 0}, TypeError),
        ({"mechanism": "none"}, UnknownName),
        ({"neighbors": "none"}, UnknownName),
    ],
)
def test_public_arguments_are_checked_first(arguments: Any, error: type[Exception]) -> None:
    given_: Any = {"k": 2, "epsilon": 1, "candidates": ["a", "b", "c"], **arguments}
    with pytest.raises(error):
        top_k(object(), column="x", **given_)


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


def test_what_is_private_stays_out_of_the_repr() -> None:
    scores = Vector(np.array([123456, 654321]))
    laws: list[Mechanism] = [Peeling(Exponential(), 2), JointTopK(Exponential(), 2)]
    for text in (repr(m.calibrate(GENERAL, ONE).law(scores)) for m in laws):
        assert "123456" not in text
        assert "654321" not in text


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
    table = pl.DataFrame({"drink": ["tea", "milk"], "who": ["a", "b"]})
    groups: Any = {
        "candidates": ["tea"],
        "by": "who",
        "groups": ["a"],
        "epsilon": 1,
        "delta": "1e-6",
    }
    for method in ("peeling", "joint"):
        with pytest.raises(InvalidArgument, match=r"one list\. In several groups.*counts"):
            discreet.top_k(table, "drink", k=1, method=method, **groups)


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
