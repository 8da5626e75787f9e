"""Joint quantiles: the law against all tuples, its sensitivity and promise over all small databases."""

import copy
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import accumulate, combinations_with_replacement, product
from math import comb
from typing import Any

import numpy as np
import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidArgument, InvalidNumber
from discreet.mechanisms import joint_arithmetic, joint_law, joint_masses
from discreet.mechanisms.contract import PrivacyParameter
from discreet.mechanisms.joint_arithmetic import Doubles, halves
from discreet.mechanisms.joint_law import Branch, JointLaw, multiset
from discreet.mechanisms.joint_masses import Choices, sums_in_blocks
from discreet.mechanisms.joint_quantiles import JointQuantiles
from discreet.mechanisms.joint_scores import Cuts, Places, score
from discreet.privacy.guarantees import BoundedRange
from discreet.sampling.bits import LazyUniform, SystemBits
from discreet.sampling.categorical import Table
from discreet.sampling.enclosures import NaturalRate, lower, precision, upper
from discreet.testing import ScriptedBits, bit_tree

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
    return JointLaw(points, counts, joint.size, joint.alphas, NaturalRate(eta))


def by_branches(law: JointLaw) -> dict[Data, arb]:
    """Return the law, multiplied out from all the choices that a draw can make."""
    joint: dict[Data, arb] = {}
    open_paths: list[list[int]] = [[]]
    while open_paths:
        path, chance, taken = open_paths.pop(), arb(1), 0

        def choose(branch: Branch) -> int:
            nonlocal chance, taken
            chances = Table(branch).probabilities()
            if taken == len(path):  # noqa: B023
                some = [i for i, p in enumerate(chances) if not p == 0]  # noqa: SIM201  # a ball
                open_paths.extend([*path, i] for i in some[1:])  # noqa: B023
                path.append(some[0])  # noqa: B023
            i = path[taken]  # noqa: B023
            chance, taken = chance * chances[i], taken + 1
            return i

        groups = law.groups(choose)
        places = law.cuts.places
        spans = [(int(places.starts[r]), int(places.sizes[r]), k) for r, k in groups]
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
def test_the_law_for_any_alphas(data: list[int], alphas: list[Fraction], eta: Fraction) -> None:
    joint = JointQuantiles(tuple(sorted(alphas)), 7)
    with precision(256):
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


@given(st.lists(st.tuples(st.integers(0, 9), st.booleans()), max_size=30))
def test_sums_in_blocks(steps: list[tuple[int, bool]]) -> None:
    values = np.array([value for value, _ in steps], dtype=np.int64)
    blocks = np.cumsum([new for _, new in steps], dtype=np.int64)
    for few in (0, 100):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(joint_masses, "_FEW", few)
            before, after, chain = sums_in_blocks(values, blocks)
        for i, block in enumerate(blocks):
            assert before[i] == values[: i + 1][blocks[: i + 1] == block].sum()
            assert after[i] == values[i:][blocks[i:] == block].sum()
        assert chain <= max(len(values), 1)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("alphas", ALPHAS, ids=str)
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


def test_the_sensitivity_is_tight_for_a_small_share() -> None:
    joint, data = quantiles(["1/10", "1/2"], 21), tuple(range(1, 21))
    before, after = scores(data, joint), scores((0, *data), joint)
    moves = [after[chosen] - before[chosen] for chosen in before]
    assert max(moves) - min(moves) == joint.sensitivity("add_remove").spread == Fraction(18, 5)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("alphas", [["1/2"], ["0"], ["0", "1"], ["1/3", "2/3"]], ids=str)
@pytest.mark.parametrize("epsilon", ["1/2", "3"])
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


SOME_DATA = st.lists(st.integers(0, 9), max_size=12).map(lambda data: tuple(sorted(data)))
SOME_ALPHAS = st.lists(
    st.fractions(0, 1, max_denominator=12), min_size=1, max_size=4, unique=True
).map(lambda alphas: tuple(sorted(alphas)))


@given(SOME_DATA, SOME_ALPHAS, st.data())
def test_the_score_is_the_least_over_all_cuts(
    data: Data, alphas: tuple[Fraction, ...], drawn: Any
) -> None:
    """By a table of all ascending cuts in steps in which every end and every wanted cut is whole."""
    chosen = sorted(drawn.draw(st.tuples(*[st.integers(0, 9)] * len(alphas))))
    points, counts = np.unique(np.array(data, dtype=np.int64), return_counts=True)
    cuts = Cuts(Places.of(points, counts, 10), alphas)
    ends = [ends_of(data, x) for x in chosen]
    ranges = [range(0, 1)]
    ranges += [range(int(low * cuts.steps), int(high * cuts.steps) + 1) for low, high in ends]
    ranges += [range(len(data) * cuts.steps, len(data) * cuts.steps + 1)]
    least = {0: 0}
    for j in range(1, len(ranges)):
        width = cuts.wanted[j] - cuts.wanted[j - 1]
        least = {
            c: min(cost + abs(c - b - width) for b, cost in least.items() if b <= c)
            for c in ranges[j]
            if any(b <= c for b in least)
        }
    assert scored(data, tuple(chosen), alphas) == Fraction(-least.popitem()[1], cuts.steps)


@given(SOME_DATA, st.integers(10, 12))
def test_places_are_the_grid(data: Data, size: int) -> None:
    points, counts = np.unique(np.array(data, dtype=np.int64), return_counts=True)
    places = Places.of(points, counts, size)
    listed = [
        (x, Fraction(low, 2), Fraction(high, 2))
        for start, many, low, high in zip(*(of.tolist() for of in places), strict=True)
        for x in range(start, start + many)
    ]
    assert listed == [(x, *ends_of(data, x)) for x in range(size)]


@pytest.mark.parametrize("tied", [False, True])
def test_the_masses_of_many_places(tied: bool) -> None:
    """The last quantile of three, against all ways to place the three."""
    rng = np.random.default_rng(2)
    data = tuple(sorted((rng.integers(0, 300, 15) // (50 if tied else 1)).tolist()))
    joint = quantiles(["1/7", "1/2", "8/9"], 300)
    law = law_of(data, joint, Fraction(1, 5))
    places, wanted = law.cuts.places, [alpha * len(data) for alpha in joint.alphas]
    ends = [
        (Fraction(a, 2), Fraction(b, 2))
        for a, b in zip(places.low.tolist(), places.high.tolist(), strict=True)
    ]
    expected, rate = [arb(0)] * len(ends), NaturalRate(Fraction(1, 5))
    with precision(128):
        for chosen in combinations_with_replacement(range(len(ends)), 3):
            ways = 1
            for r in set(chosen):
                k = chosen.count(r)
                ways *= comb(int(places.sizes[r]) + k - 1, k)
            weight = ways * rate.decay(-score([ends[r] for r in chosen], wanted))
            expected[chosen[-1]] += weight
        stage = law.in_balls().stages[3]
        found = [arb(0)] * len(ends)
        for cut, up, down in zip(stage.cuts.tolist(), stage.up, stage.down, strict=True):
            found[law.cuts.place(cut)] += up if cut <= law.cuts.wanted[3] else down
        assert all(abs(f / e - 1) < NARROW for f, e in zip(found, expected, strict=True))


# --- Doubles, and what is left out


def errors_along(law: JointLaw) -> list[float]:
    """Return the bounds of all choices on the way of a draw, after a check of each running sum against balls."""
    errors = [1.0]

    def choose(branch: Branch) -> int:
        sums = branch.sums()
        if sums is not None:
            names = branch._names.tolist()
            with precision(200):
                exact = [arb(0), *accumulate(branch.balls())]
                first = branch._names.tolist().index(names[0])
                assert branch._names.tolist()[first : first + len(names)] == names
                fast = [arb(float(end)) / float(sums.ends[-1]) for end in sums.ends]
                for i, end in enumerate(exact[first + 1 : first + 1 + len(names)]):
                    assert abs(fast[i] - end / exact[-1]) <= 2 * sums.error
            errors.append(sums.error)
        return Table(branch).draw(SystemBits())

    law.groups(choose)
    return errors


@given(
    st.integers(0, 60),
    st.sampled_from([5, 50, 10**6, 10**12]),
    st.lists(st.fractions(0, 1, max_denominator=97), min_size=1, max_size=6, unique=True),
    st.sampled_from(["1/700", "1/3", "2", "333"]),
    st.sampled_from([1, 2, 10**5]),
    st.integers(0, 2**32 - 1),
)
def test_doubles_are_within_their_bound(
    n: int, size: int, alphas: list[Fraction], eta: str, coarse: int, seed: int
) -> None:
    """Running sums of every choice on the way of a draw, against balls; windows may leave places out."""
    rng = np.random.default_rng(seed)
    data = tuple(sorted((rng.integers(0, size, n) // coarse).tolist()))
    law = law_of(data, JointQuantiles(tuple(sorted(alphas)), size), Fraction(eta))
    assert law.fast is not None
    assert min(errors_along(law)) < 2.0**-36


def test_a_bound_that_is_too_small_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Factors a little off, by less than the bound allows them to be together, show in the test above."""
    honest = Doubles.factors

    def off(self: Doubles, offsets: Any) -> Any:
        grow, shrink = honest(self, offsets)
        return grow * (1 + 1e-9 * np.sin(offsets)), shrink

    monkeypatch.setattr(Doubles, "factors", off)
    with pytest.raises(AssertionError):
        test_doubles_are_within_their_bound.hypothesis.inner_test(  # type: ignore[attr-defined]
            60, 10**6, [Fraction(1, 3), Fraction(1, 2)], "1/3", 1, 1
        )


@pytest.mark.parametrize("margin", [-150, -100, -60, -30])
@pytest.mark.parametrize("distinct", [12, 400])
def test_what_is_left_out_is_within_its_bound(
    margin: int, distinct: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With so short a reach that it matters, doubles differ from balls that leave out nothing by what they say."""
    rng = np.random.default_rng(distinct)
    data = tuple(sorted((rng.integers(0, distinct, 400) * (10**6 // distinct)).tolist()))
    monkeypatch.setattr(joint_arithmetic, "MARGIN", margin)
    monkeypatch.setattr(joint_law, "_DOUBT", 2.0)
    some = set[float]()
    for eta in (Fraction(1, 3), Fraction(2), Fraction(20)):
        law = law_of(data, quantiles(["1/5", "1/2", "3/5", "9/10"], 10**6), eta)
        monkeypatch.setattr(joint_arithmetic, "MARGIN", 10**6)
        some |= set(errors_along(law))
        monkeypatch.setattr(joint_arithmetic, "MARGIN", margin)
    assert any(2.0**-36 < error < 2 for error in some) or margin > -60


def test_the_top_may_belong_to_what_is_out_of_reach() -> None:
    law = law_of((1, 2), quantiles(["1/2"], 4), Fraction(1))
    halves_of = np.array([0.5, 0.5])
    branch = Branch(law, lambda _: Choices(np.array([5, 6]), halves_of, 0.0, 1e-40))
    sums: Any = branch.sums()
    assert sums.locate(LazyUniform(ScriptedBits("1" * 64, width=64))) is None
    assert sums.locate(LazyUniform(ScriptedBits("110" + "1" * 61, width=64))) == 1


def test_balls_hold_what_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums of balls with a short reach hold those without."""
    data = tuple(range(0, 4000, 10))
    law = law_of(data, quantiles(["1/5", "1/2", "3/5"], 4000), Fraction(1, 2))
    seen = []

    def choose(branch: Branch) -> int:
        with precision(64):
            listed = []
            for margin in (-60, 10**6):
                law._balls = None
                monkeypatch.setattr(joint_arithmetic, "MARGIN", margin)
                sums = list(accumulate(branch.balls()))
                listed.append((branch._names.tolist(), sums))
            (names, some), (more, everything) = listed
            first = more.index(names[0])
            seen.append(float(some[-1].rad()))
            for part, whole in zip(some, everything[first:], strict=False):
                assert part.overlaps(whole)
        return Table(branch).draw(SystemBits())

    law.groups(choose)
    assert any(radius > 0 for radius in seen)


@given(st.fractions(Fraction(1, 10**30), 10**30), st.integers(8, 51))
def test_halves(rate: Fraction, bits: int) -> None:
    coarse, fine = halves(rate, bits)
    assert 0 <= Fraction(coarse) <= rate
    assert int(Fraction(coarse).numerator).bit_length() <= bits
    assert rate - Fraction(coarse) <= rate / 2 ** (bits - 2)
    assert abs(Fraction(coarse) + Fraction(fine) - rate) <= rate / 2 ** (bits + 50)


def test_a_draw_reads_words_by_public_numbers() -> None:
    """Every choice takes one word unless it is in doubt, and every quantile two choices at most."""
    data = tuple(range(0, 4000, 13))
    law = law_of(data, quantiles(["1/4", "1/2", "3/4"], 4000), Fraction(1, 4))

    def choose(branch: Branch) -> int:
        sums = branch.sums()
        assert sums is not None
        assert sums.error < 2.0**-36
        return Table(branch).draw(SystemBits())

    assert len(law.groups(choose)) == 3


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
