"""Joint quantiles: the law against all tuples, its sensitivity and promise over all small databases."""

import copy
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, pairwise, product
from math import ceil, comb, lcm
from typing import Any

import numpy as np
import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidArgument, InvalidNumber
from discreet.mechanisms.contract import PrivacyParameter
from discreet.mechanisms.joint.arithmetic import QuantileCuts, score
from discreet.mechanisms.joint.grid_records import GridRecords
from discreet.mechanisms.joint.joint_quantiles import JointQuantiles
from discreet.mechanisms.joint.tuple_law import Branch, JointLaw, multiset
from discreet.mechanisms.testing import ScriptedBits, bit_tree
from discreet.privacy.guarantees import BoundedRange
from discreet.sampling.bits import SystemBits
from discreet.sampling.categorical import PreparedWeights
from discreet.sampling.enclosures import NaturalRate, lower, precision, upper

Data = tuple[int, ...]
NARROW = arb(2) ** -100
RELATIONS: list[Any] = ["add_remove", "replace_one"]
ALPHAS = [
    ["1/2"],
    ["0"],
    ["1"],
    ["1/3"],
    ["0", "1"],
    ["1/3", "2/3"],
    ["1/10", "1/2"],
    ["0", "1/2", "1"],
    ["1/4", "1/2", "3/4"],
]


SOME_DATA = st.lists(st.integers(0, 9), max_size=12).map(lambda data: tuple(sorted(data)))
SOME_ALPHAS = st.lists(
    st.fractions(0, 1, max_denominator=12), min_size=1, max_size=4, unique=True
).map(lambda alphas: tuple(sorted(alphas)))


def quantiles(alphas: list[str], size: int) -> JointQuantiles:
    return JointQuantiles(tuple(map(Fraction, alphas)), size)


def ends_of(data: Data, point: int) -> tuple[Fraction, Fraction]:
    """Return the least and the largest cut that a point satisfies, by their definition."""
    below, tied = sum(x < point for x in data), data.count(point)
    inside = Fraction(min(tied, 1), 2)
    return below + inside, below + tied - inside


def scored(data: Data, chosen: Data, alphas: tuple[Fraction, ...]) -> Fraction:
    return score([ends_of(data, x) for x in chosen], [alpha * len(data) for alpha in alphas])


@cache
def scores(data: Data, joint: JointQuantiles) -> dict[Data, Fraction]:
    tuples = combinations_with_replacement(range(joint.size), len(joint.alphas))
    return {chosen: scored(data, chosen, joint.alphas) for chosen in tuples}


def by_enumeration(data: Data, joint: JointQuantiles, eta: Fraction) -> dict[Data, arb]:
    """Return the law, from the scores of all tuples."""
    rate, listed = NaturalRate(eta), scores(data, joint)
    best = max(listed.values())
    weights = {chosen: rate.decay(best - value) for chosen, value in listed.items()}
    total = sum(weights.values(), arb(0))
    return {chosen: weight / total for chosen, weight in weights.items()}


def law_of(data: Data, joint: JointQuantiles, eta: Fraction) -> JointLaw:
    points, counts = np.unique(np.array(data, dtype=np.int64), return_counts=True)
    records = GridRecords.of(points, counts, joint.size)
    return JointLaw(records, joint.alphas, NaturalRate(eta))


def by_branches(law: JointLaw) -> dict[Data, arb]:
    """Return the law, multiplied out from all the choices that a draw can make."""
    joint: dict[Data, arb] = {}
    open_paths: list[list[int]] = [[]]
    while open_paths:
        path, chance, taken = open_paths.pop(), arb(1), 0

        def choose(branch: Branch) -> int:
            nonlocal chance, taken
            chances = PreparedWeights(branch).probabilities()
            if taken == len(path):  # noqa: B023
                some = [i for i, p in enumerate(chances) if not p == 0]  # noqa: SIM201  # a ball
                open_paths.extend([*path, i] for i in some[1:])  # noqa: B023
                path.append(some[0])  # noqa: B023
            i = path[taken]  # noqa: B023
            chance, taken = chance * chances[i], taken + 1
            return i

        groups = law.groups(choose)
        spans = [(*law.cuts.stretch(cut), k) for cut, k in groups]
        for parts in product(*map(members, spans)):
            even = 1
            for _, size, k in spans:
                even *= comb(size + k - 1, k)
            chosen = tuple(sorted(x for part in parts for x in part))
            # Tied quantiles may be reached by several choices, of different cuts.
            joint[chosen] = joint.get(chosen, arb(0)) + chance / even
    return joint


def members(span: tuple[int, int, int]) -> Iterator[Data]:
    start, size, k = span
    return combinations_with_replacement(range(start, start + size), k)


def databases(size: int, most: int) -> list[Data]:
    return [d for n in range(most + 1) for d in combinations_with_replacement(range(size), n)]


def neighbors_of(data: Data, size: int, relation: str) -> set[Data]:
    """Return the databases with a record more, or with a record replaced."""
    bases = (
        [data] if relation == "add_remove" else [data[:i] + data[i + 1 :] for i in range(len(data))]
    )
    return {tuple(sorted((*base, x))) for base in bases for x in range(size)}


@pytest.mark.parametrize("alphas", ALPHAS, ids=str)
@pytest.mark.parametrize("eta", [Fraction(1, 3), Fraction(2)])
@pytest.mark.one_in(5)
def test_the_choices_make_up_the_law(alphas: list[str], eta: Fraction) -> None:
    joint = quantiles(alphas, 4)
    for data in databases(4, 3 if len(alphas) < 3 else 2):
        with precision(160):
            expected = by_enumeration(data, joint, eta)
            found = by_branches(law_of(data, joint, eta))
            assert found.keys() == expected.keys()
            for chosen, chance in found.items():
                assert abs(chance - expected[chosen]) < NARROW, (data, chosen)


@given(
    st.lists(st.integers(0, 6), max_size=30),
    st.lists(st.fractions(0, 1, max_denominator=12), min_size=1, max_size=4, unique=True),
    st.fractions(Fraction(1, 100), 5, max_denominator=100) | st.just(Fraction(40)),
)
@pytest.mark.parametrize("most", [2, pytest.param(4, marks=pytest.mark.proof)])
def test_the_law_for_any_alphas(
    most: int, data: list[int], alphas: list[Fraction], eta: Fraction
) -> None:
    joint = JointQuantiles(tuple(sorted(alphas[:most])), 7)
    with precision(1024):
        expected = by_enumeration(tuple(data), joint, eta)
        for chosen, chance in by_branches(law_of(tuple(data), joint, eta)).items():
            assert abs(chance / expected[chosen] - 1) < NARROW


@pytest.mark.parametrize(
    ("data", "alphas", "size"),
    [
        ((), ["1/2"], 3),
        ((0, 1), ["1/2"], 2),
        ((1, 1, 1), ["1/2"], 4),
        ((0, 2), ["1/3", "2/3"], 3),
        ((2, 2), ["0", "1"], 3),
        ((0, 1, 1), ["1/4", "1/2", "3/4"], 2),
        ((0, 0), ["1/4", "1/2", "3/4"], 1),
    ],
)
@pytest.mark.one_in(3)
def test_the_draw_has_this_law(data: Data, alphas: list[str], size: int) -> None:
    joint, eta = quantiles(alphas, size), Fraction(1)
    law = law_of(data, joint, eta)
    tree = bit_tree(lambda bits: tuple(law.draw(bits)), 12)
    with precision(128):
        for chosen, probability in by_enumeration(data, joint, eta).items():
            assert tree.admits(chosen, probability), (chosen, tree, probability)
    assert tree.undecided < Fraction(3, 8)


@pytest.mark.parametrize(("size", "k"), [(1, 3), (2, 2), (3, 2), (2, 3), (4, 1)])
def test_multisets_are_uniform(size: int, k: int) -> None:
    tree = bit_tree(lambda bits: tuple(sorted(multiset(size, k, bits))), 14)
    listed = list(combinations_with_replacement(range(size), k))
    assert set(tree.masses) == set(listed)
    with precision(64):
        assert all(tree.admits(chosen, 1 / arb(len(listed))) for chosen in listed)
    assert tree.undecided < Fraction(1, 20)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("alphas", ALPHAS, ids=str)
@pytest.mark.one_in(5)
def test_the_sensitivity_is_exact(alphas: list[str], relation: Any) -> None:
    """Over all databases of up to four records no score moves further, and some pair gets there."""
    joint = quantiles(alphas, 4)
    changes, spreads = set(), set()
    for data in databases(4, 4):
        for other in neighbors_of(data, 4, relation):
            before, after = scores(data, joint), scores(other, joint)
            moves = [after[chosen] - before[chosen] for chosen in before]
            changes.add(max(map(abs, moves)))
            spreads.add(max(moves) - min(moves))
    sensitivity = joint.sensitivity(relation)
    assert max(changes) <= (sensitivity.change or 0)
    assert max(spreads) <= sensitivity.spread
    if alphas != ["1/10", "1/2"]:  # which takes ten records
        assert (max(changes), max(spreads)) == (sensitivity.change, sensitivity.spread)


@pytest.mark.proof
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("alphas", ALPHAS, ids=str)
def test_the_sensitivity_of_larger_databases(alphas: list[str], relation: Any) -> None:
    """Five records on five points, and nine on two: many ties."""
    for size, most in ((5, 5), (2, 9)):
        joint = quantiles(alphas, size)
        sensitivity = joint.sensitivity(relation)
        for data in databases(size, most):
            for other in neighbors_of(data, size, relation):
                before, after = scores(data, joint), scores(other, joint)
                moves = [after[chosen] - before[chosen] for chosen in before]
                assert max(map(abs, moves)) <= (sensitivity.change or 0)
                assert max(moves) - min(moves) <= sensitivity.spread


@given(SOME_DATA, SOME_ALPHAS, st.integers(0, 9), st.data())
def test_how_far_a_record_moves_a_score(
    data: Data, alphas: tuple[Fraction, ...], record: int, drawn: Any
) -> None:
    """One that comes lowers a score by 2(1 - the least share) at most, and raises it by less where shares are 0."""
    chosen = tuple(sorted(drawn.draw(st.tuples(*[st.integers(0, 9)] * len(alphas)))))
    shares = [b - a for a, b in pairwise((Fraction(0), *alphas, Fraction(1)))]
    more = tuple(sorted((*data, record)))
    move = scored(more, chosen, alphas) - scored(data, chosen, alphas)
    assert -2 * (1 - min(shares)) <= move <= 2 * (1 - min(s for s in shares if s))


Witness = tuple[Data, Data, Data, Data]
"""Two neighbours and two tuples."""


def one_more(shares: list[Fraction]) -> Witness:
    """Return the pair of *No smaller number will do*, one record more."""
    positive, last = [share for share in shares if share], len(shares)
    i, k = shares.index(min(shares)), shares.index(min(positive))
    records = lcm(*(share.denominator for share in shares))
    full = [int(share * records) for share in shares]
    after = tuple(2 * j + 1 for j, many in enumerate(full) for _ in range(many))
    before = list(after)
    before.remove(2 * k + 1)
    around = (0,) * i + (2 * last,) * (last - 1 - i)
    return tuple(before), after, around, tuple(2 * j for j in range(1, last))


def one_replaced(shares: list[Fraction]) -> Witness:
    """Return the pair of *No smaller number will do*, one record replaced."""
    last = len(shares)
    i = next(j for j, share in enumerate(shares[:-1]) if share)
    k = next(j for j, share in enumerate(shares) if share and j)
    others = (3,) * ceil(1 / min(shares[i], shares[k]))
    low, high = (0,) * i + (2,) * (last - 1 - i), (4,) * k + (6,) * (last - 1 - k)
    return (1, *others), (*others, 5), low, high


def apart(witness: Witness, alphas: tuple[Fraction, ...]) -> Fraction:
    """Return how far apart the moves of the scores of two tuples are."""
    before, after, *chosen = witness
    moves = [scored(after, one, alphas) - scored(before, one, alphas) for one in chosen]
    return abs(moves[0] - moves[1])


@pytest.mark.parametrize(
    ("alphas", "spread", "of_few"),
    [(["1/10", "1/9", "9/10"], "178/45", "25/9"), (["1/3", "7/20"], "59/15", "49/15")],
    ids=str,
)
def test_small_databases_do_not_reach_the_sensitivity(
    alphas: list[str], spread: str, of_few: str
) -> None:
    """Up to five records on four points fall short of what 90 and 60 records reach."""
    joint, largest = quantiles(alphas, 4), Fraction(0)
    for data in databases(4, 4):
        for other in neighbors_of(data, 4, "add_remove"):
            before, after = scores(data, joint), scores(other, joint)
            moves = [after[chosen] - before[chosen] for chosen in before]
            largest = max(largest, max(moves) - min(moves))
    assert largest == Fraction(of_few)
    reached = apart(one_more(joint._shares()), joint.alphas)
    assert reached == joint.sensitivity("add_remove").spread == Fraction(spread)


@given(
    st.lists(st.fractions(0, 1, max_denominator=6), min_size=1, max_size=4, unique=True).map(
        lambda alphas: tuple(sorted(alphas))
    )
)
def test_no_smaller_spread_will_do(alphas: tuple[Fraction, ...]) -> None:
    joint = JointQuantiles(alphas, 2 * len(alphas) + 3)
    assert apart(one_more(joint._shares()), alphas) == joint.sensitivity("add_remove").spread
    if len(alphas) > 1 or 0 < alphas[0] < 1:
        assert apart(one_replaced(joint._shares()), alphas) == 4
        assert joint.sensitivity("replace_one").spread == 4


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("alphas", [["1/2"], ["0"], ["0", "1"], ["1/3", "2/3"]], ids=str)
@pytest.mark.parametrize("epsilon", ["1/2", "3"])
@pytest.mark.one_in(5)
def test_the_promise_holds_for_all_small_databases(
    alphas: list[str], epsilon: str, relation: Any
) -> None:
    joint = quantiles(alphas, 4)
    calibrated = joint.calibrate(relation, PrivacyParameter("epsilon", Fraction(epsilon)))
    assert calibrated.guarantee == BoundedRange(Fraction(epsilon), relation)
    law_at: Any = lambda data: calibrated.law(np.array(data, dtype=np.int64))  # noqa: E731
    with precision(128):
        laws = {data: by_branches(law_at(data)) for data in databases(4, 4)}
        for data in databases(4, 3):
            for other in neighbors_of(data, 4, relation):
                losses = [(laws[data][o] / laws[other][o]).log() for o in laws[data]]
                width = max(map(upper, losses)) - min(map(lower, losses))
                assert width <= Fraction(epsilon) + Fraction(1, 2**90)


@given(
    st.lists(st.integers(0, 5), max_size=8), st.sampled_from([["1/2"], ["1/3", "2/3"], ["0", "1"]])
)
def test_counts_stand_for_records(data: list[int], alphas: list[str]) -> None:
    calibrated: Any = quantiles(alphas, 6).calibrate(
        "add_remove", PrivacyParameter("epsilon", Fraction(1))
    )
    counted = np.unique(np.array(data, dtype=np.int64), return_counts=True)
    with precision(128):
        laws = [
            by_branches(law) for law in (calibrated.law(np.array(data)), calibrated.law(*counted))
        ]
        assert all(laws[0][o].overlaps(laws[1][o]) for o in laws[0] | laws[1])


def test_the_dial() -> None:
    joint = quantiles(["1/3", "2/3"], 4)
    rho: Any = joint.calibrate(
        "add_remove", PrivacyParameter("rho", BoundedRange(Fraction(1), "add_remove").rho)
    ).guarantee
    assert rho == BoundedRange(Fraction(1), "add_remove")
    scale: Any = joint.calibrate("replace_one", PrivacyParameter("scale", Fraction(2))).guarantee
    assert scale == BoundedRange(Fraction(2), "replace_one")
    with pytest.raises(InvalidArgument, match="how much privacy"):
        joint.calibrate("add_remove", None)


@pytest.mark.parametrize("epsilon", [Fraction(10) ** k for k in (-300, -100, 3, 5, 100, 300)])
def test_extreme_epsilons(epsilon: Fraction) -> None:
    calibrated = quantiles(["1/4", "3/4"], 9).calibrate(
        "add_remove", PrivacyParameter("epsilon", epsilon)
    )
    law: Any = calibrated.law(np.array([1, 2, 3, 4, 5, 6, 7, 8]))
    drawn = {tuple(law.draw(SystemBits())) for _ in range(10)}
    assert drawn <= {(2, 6), (3, 7)} or epsilon < 1  # half a record below both, or above both


def test_grids_of_any_size() -> None:
    joint = quantiles(["1/4", "1/2", "3/4"], 10**40)
    indices = np.array([10**39, 10**39, 5 * 10**39], dtype=object)
    for records in (indices, indices[:0], np.array([0], dtype=object), np.array([10**40 - 1])):
        law: Any = joint.calibrate("add_remove", PrivacyParameter("epsilon", Fraction(10))).law(
            records
        )
        drawn = law.draws(3, SystemBits())
        assert all(o == sorted(o) and o[0] >= 0 and o[-1] < 10**40 for o in drawn)


def test_quantiles_of_many_records_are_near() -> None:
    records = np.random.default_rng(1).permutation(2000) * 7
    joint = quantiles(["1/10", "1/2", "9/10"], 14_000)
    law: Any = joint.calibrate("add_remove", PrivacyParameter("epsilon", Fraction(1))).law(records)
    for value, wanted in zip(law.draw(SystemBits()), (1400, 7000, 12_600), strict=True):
        assert abs(value - wanted) < 7 * 120


@pytest.mark.parametrize("alphas", [[], ["1/2", "1/2"], ["2/3", "1/3"], ["-1/2"], ["3/2"]])
def test_alphas_must_rise(alphas: list[str]) -> None:
    with pytest.raises(InvalidNumber, match="alphas must rise"):
        quantiles(alphas, 3)


def test_a_grid_has_points() -> None:
    with pytest.raises(InvalidNumber, match="size"):
        quantiles(["1/2"], 0)


def test_a_law_keeps_its_records_to_itself() -> None:
    law = law_of((1, 2), quantiles(["1/2"], 4), Fraction(1))
    assert repr(law) == "<JointLaw of private records>"
    with pytest.raises(TypeError, match="private"):
        copy.copy(law)


def test_a_draw_depends_on_its_bits_alone() -> None:
    law = law_of((0, 1, 5, 5), quantiles(["1/4", "1/2"], 8), Fraction(1))
    script = "0110100110010110" * 64
    once, again = (law.draw(ScriptedBits(script, width=64)) for _ in range(2))
    assert once == again


@given(SOME_DATA, SOME_ALPHAS, st.data())
def test_the_score_is_the_least_over_all_cuts(
    data: Data, alphas: tuple[Fraction, ...], drawn: Any
) -> None:
    """By a table of all ascending cuts in steps in which every end and every wanted cut is whole."""
    chosen = sorted(drawn.draw(st.tuples(*[st.integers(0, 9)] * len(alphas))))
    points, counts = np.unique(np.array(data, dtype=np.int64), return_counts=True)
    cuts = QuantileCuts(GridRecords.of(points, counts, 10), alphas)
    ends = [ends_of(data, x) for x in chosen]
    ranges = [range(0, 1)]
    ranges += [range(int(low * cuts.steps), int(high * cuts.steps) + 1) for low, high in ends]
    ranges += [range(len(data) * cuts.steps, len(data) * cuts.steps + 1)]
    least = {0: 0}
    for j in range(1, len(ranges)):
        width = cuts.targets[j] - cuts.targets[j - 1]
        least = {
            c: min(cost + abs(c - b - width) for b, cost in least.items() if b <= c)
            for c in ranges[j]
            if any(b <= c for b in least)
        }
    assert scored(data, tuple(chosen), alphas) == Fraction(-least.popitem()[1], cuts.steps)


# --- Ties


def test_quartiles_of_tied_records() -> None:
    """All three quartiles are at one point: score 0, and every other answer is worse by 80 and more."""
    data = (20,) * 200 + (40,) * 600 + (60,) * 200
    assert scored(data, (40, 40, 40), tuple(map(Fraction, ["1/4", "1/2", "3/4"]))) == 0
    joint = quantiles(["1/4", "1/2", "3/4"], 101)
    law: Any = joint.calibrate("add_remove", PrivacyParameter("epsilon", Fraction(5))).law(
        np.array(data)
    )
    assert law.draw(SystemBits()) == [40, 40, 40]
    with precision(128):
        listed = {
            chosen: scored(data, chosen, joint.alphas)
            for chosen in combinations_with_replacement([0, 20, 30, 39, 40, 41, 50, 60, 99], 3)
        }
    assert max(v for chosen, v in listed.items() if chosen != (40, 40, 40)) <= -80
