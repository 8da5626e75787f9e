"""The masses of joint quantiles: in doubles within their bounds, and in balls, also where some are left out."""

from fractions import Fraction
from itertools import accumulate, combinations_with_replacement
from math import comb, log, prod
from typing import Any

import numpy as np
import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from discreet.mechanisms.joint import arithmetic, masses, tuple_law
from discreet.mechanisms.joint.arithmetic import DoubleArithmetic, halves, left_out, score
from discreet.mechanisms.joint.grid_records import GridRecords
from discreet.mechanisms.joint.joint_quantiles import JointQuantiles
from discreet.mechanisms.joint.masses import Choices, sums_in_blocks
from discreet.mechanisms.joint.tuple_law import Branch, JointLaw
from discreet.mechanisms.testing import ScriptedBits
from discreet.sampling.bits import LazyUniform, SystemBits
from discreet.sampling.categorical import PreparedWeights
from discreet.sampling.enclosures import (
    FUNCTION_ERROR,
    HALF_ULP,
    NaturalRate,
    exponential,
    precision,
)

from .test_joint_quantiles import NARROW, law_of, quantiles


@given(st.lists(st.tuples(st.integers(0, 9), st.booleans()), max_size=30))
def test_sums_in_blocks(steps: list[tuple[int, bool]]) -> None:
    values = np.array([value for value, _ in steps], dtype=np.int64)
    blocks = np.cumsum([new for _, new in steps], dtype=np.int64)
    for few in (0, 100):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(masses, "_FEW_BLOCKS", few)
            before, after, chain = sums_in_blocks(values, blocks)
        for i, block in enumerate(blocks):
            assert before[i] == values[: i + 1][blocks[: i + 1] == block].sum()
            assert after[i] == values[i:][blocks[i:] == block].sum()
        assert chain <= max(len(values), 1)


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
            found[law.cuts.place(cut)] += up if cut <= law.cuts.targets[3] else down
        assert all(abs(f / e - 1) < NARROW for f, e in zip(found, expected, strict=True))


def errors_along(law: JointLaw) -> list[float]:
    """Return the bounds of all choices on the way of a draw, after a check of each running sum against balls."""
    errors = list[float]()

    def choose(branch: Branch) -> int:
        sums = branch.sums()
        if sums is not None:
            names, ends = branch._names.tolist(), sums.ends[branch._ahead :]
            with precision(200):
                exact = [arb(0), *accumulate(branch.balls())]
                exact = exact[branch._ahead :]
                first = branch._names.tolist().index(names[0])
                assert branch._names.tolist()[first : first + len(names)] == names
                fast = [arb(float(end)) / float(ends[-1]) for end in ends]
                for i, end in enumerate(exact[first + 1 : first + 1 + len(names)]):
                    assert abs(fast[i] - end / exact[-1]) <= 2 * sums.error
            errors.append(sums.error)
        return PreparedWeights(branch).draw(SystemBits())

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
    honest = DoubleArithmetic.factors

    def off(self: DoubleArithmetic, offsets: Any) -> Any:
        grow, shrink = honest(self, offsets)
        return grow * (1 + 1e-9 * np.sin(offsets)), shrink

    monkeypatch.setattr(DoubleArithmetic, "factors", off)
    with pytest.raises(AssertionError):
        test_doubles_are_within_their_bound.hypothesis.inner_test(  # type: ignore[attr-defined]
            60, 10**6, [Fraction(1, 3), Fraction(1, 2)], "1/3", 1, 1
        )


def test_the_bound_covers_what_is_assumed_of_exp(monkeypatch: pytest.MonkeyPatch) -> None:
    """With an exp as bad as assumed, too large on one side and too small on the other, bounds hold."""

    def worst(exponents: Any) -> Any:
        signs = np.sign(exponents)
        return exponential(exponents) * (1 + signs * FUNCTION_ERROR)

    monkeypatch.setattr(arithmetic, "exponential", worst)
    data = tuple(range(0, 300, 40))
    alphas = ["1/5", "1/3", "1/2", "4/5"]
    assert errors_along(law_of(data, quantiles(alphas, 300), Fraction(1, 3)))


@given(st.lists(st.integers(0, 9), max_size=9), st.integers(0, 30))
def test_the_points_within_reach_are_those_of_all_places_with_such_a_cut(
    data: list[int], reach: int
) -> None:
    cuts = law_of(tuple(sorted(data)), quantiles(["1/5", "1/2"], 10), Fraction(1)).cuts
    places = list(
        zip(cuts.low.tolist(), cuts.high.tolist(), cuts.places.sizes.tolist(), strict=True)
    )
    assert cuts.points(reach) == [
        sum(size for low, high, size in places if low - reach <= wanted <= high + reach)
        for wanted in cuts.targets
    ]


@pytest.mark.parametrize(
    ("size", "eta", "is_fast"),
    [(2**899, Fraction(1), True), (2**900, Fraction(1), False), (10, Fraction(2**1100), False)],
)
def test_doubles_serve_rates_and_grids_that_they_can_hold(
    size: int, eta: Fraction, is_fast: bool
) -> None:
    points, counts = np.array([0, 5], dtype=object), np.array([3, 4])
    records = GridRecords.of(points, counts, size)
    law = JointLaw(records, [Fraction(1, 3), Fraction(1, 2)], NaturalRate(eta))
    assert (law.fast is not None) == is_fast


def test_factors_are_as_exact_as_exp() -> None:
    """Exponents up to 690 lose no more in their product than those near zero."""
    points, counts = np.array([0, 500], dtype=object), np.array([10**6, 10**6])
    alphas = [Fraction(1, 3), Fraction(1, 2), Fraction(3, 4)]
    law = JointLaw(GridRecords.of(points, counts, 10**100), alphas, NaturalRate(Fraction(1, 7)))
    assert law.fast is not None
    doubles, step = law.fast.arithmetic, Fraction(2, 7 * law.cuts.steps)
    assert doubles.reach * step > 600
    offsets = np.random.default_rng(3).integers(-doubles.reach, doubles.reach, 300)
    for factors, sign in zip(doubles.factors(offsets), (1, -1), strict=True):
        with precision(128):
            for factor, offset in zip(factors.tolist(), offsets.tolist(), strict=True):
                true = NaturalRate(step).exponent(Fraction(sign * offset)).exp()
                assert abs(arb(factor) / true - 1) < 40 * HALF_ULP


@pytest.mark.parametrize("margin", [-100, -30])
@pytest.mark.parametrize("distinct", [12, 400])
def test_what_is_left_out_is_within_its_bound(
    margin: int, distinct: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With so short a reach that it matters, doubles differ from balls that leave out nothing by what they say."""
    rng = np.random.default_rng(distinct)
    data = tuple(sorted((rng.integers(0, distinct, 400) * (10**6 // distinct)).tolist()))
    monkeypatch.setattr(arithmetic, "OFFSET_MARGIN", margin)
    monkeypatch.setattr(tuple_law, "_DOUBT", 2.0)
    some = set[float]()
    for eta in (Fraction(1, 3), Fraction(2), Fraction(20)):
        law = law_of(data, quantiles(["1/5", "1/2", "3/5", "9/10"], 10**6), eta)
        monkeypatch.setattr(arithmetic, "OFFSET_MARGIN", 10**6)
        some |= set(errors_along(law))
        monkeypatch.setattr(arithmetic, "OFFSET_MARGIN", margin)
    assert any(2.0**-26 < error < 2 for error in some)


def test_every_reach_below_the_end_has_a_bound() -> None:
    """Also one that is behind the cut that the first quantile wants: ways may leave it at the others."""
    cuts = law_of(tuple(range(40)), quantiles(["1/5", "1/2"], 300), Fraction(1)).cuts
    _, first, _, end = cuts.targets
    for reach in (first, first + 1, end // 2, end - 1, end):
        doublings = [reach << i for i in range(9) if reach << i < end]
        bounds = list(left_out(cuts, Fraction(1, 1000), reach, [1.0] * 3))
        assert len(bounds) == len(doublings)
        for bound, nearest in zip(bounds, doublings, strict=True):
            # At least one way stays within twice the reach, and every quantile stays where it wants to be.
            assert bound >= log(prod(cuts.points(2 * nearest)[1:3])) - nearest / 1000


def test_the_top_may_belong_to_what_is_out_of_reach() -> None:
    law = law_of((1, 2), quantiles(["1/2"], 4), Fraction(1))
    halves_of = np.array([0.5, 0.5])
    branch = Branch(law, lambda _: Choices(np.array([5, 6]), halves_of, 0.0, 1e-40))
    sums: Any = branch.sums()
    assert sums.locate(LazyUniform(ScriptedBits("1" * 64, width=64))) is None
    assert sums.locate(LazyUniform(ScriptedBits("110" + "1" * 61, width=64))) == 1


@pytest.mark.parametrize("counts", [[300, 300, 300], [1000, 1000, 1000], [400, 30, 400]])
@pytest.mark.parametrize(("bit", "expected"), [("0", [0]), ("1", [10])])
def test_what_is_out_of_reach_is_drawn(counts: list[int], bit: str, expected: list[int]) -> None:
    """The least uniform falls on the least point and the largest on the largest, how far out they may be."""
    points, rate = np.array([2, 5, 8]), NaturalRate(Fraction(1, 4))
    law = JointLaw(GridRecords.of(points, np.array(counts), 11), [Fraction(1, 2)], rate)
    assert law.fast is not None
    assert law.fast.arithmetic.reach < law.cuts.targets[-1]
    for fast in (law.fast, None):
        law.fast = fast
        assert law.draw(ScriptedBits(bit * 6400, width=64)) == expected


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
                monkeypatch.setattr(arithmetic, "OFFSET_MARGIN", margin)
                sums = list(accumulate(branch.balls()))
                listed.append((branch._names.tolist(), sums[branch._ahead :]))
            (names, some), (more, everything) = listed
            first = more.index(names[0])
            seen.append(float(some[-1].rad()))
            for part, whole in zip(some, everything[first:], strict=False):
                assert part.overlaps(whole)
        return PreparedWeights(branch).draw(SystemBits())

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
        return PreparedWeights(branch).draw(SystemBits())

    assert len(law.groups(choose)) == 3


def test_the_bounds_in_doubles_are_those_of_the_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    """Real errors are far smaller, so only the formulas of docs/reference/mechanisms/joint_quantiles.md tell."""
    law = law_of((1, 2, 2, 5, 8), quantiles(["1/4", "3/4"], 9), Fraction(1, 3))
    doubles = DoubleArithmetic(law._step, law.cuts)
    doubles.note(700)
    factor = 2 * FUNCTION_ERROR + 16 * HALF_ULP
    assert doubles.error(5) == 2 * factor + (700 + 5 + 32) * HALF_ULP
    # Fewer than 2**40 numbers, each rounded below the least normal double, besides what is left out.
    monkeypatch.setattr(arithmetic, "left_out", lambda *_: [])
    assert doubles.omission(law.cuts, [1.0, 1.0]) >= 2.0**40 * 2.0**-1022
