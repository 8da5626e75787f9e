"""sum and mean: sensitivity in whole steps of the rounded ends, exact sums, and means of noisy numbers alone."""

import itertools
from collections.abc import Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import discreet
from discreet import Ledger
from discreet.errors import InvalidArgument, InvalidCandidates, InvalidNumber, UnreadableData
from discreet.ledger.budget import Amount
from discreet.mechanisms.accuracy import SUMMED
from discreet.mechanisms.noisy_counts import counts_sensitivity
from discreet.privacy import ApproxDP, DiscreteGaussianDP, GeometricDP, PureDP, ReplacedSumsDP
from discreet.privacy.composition import compose
from discreet.selection.verb_calls import bill_of
from discreet.tables.verbs.sum_bounds import SumBounds, default_step

from ...engines import ENGINES, crossed
from ...noisy import farthest, numbers_behind

GROUPS: dict[str, Any] = {"by": "g", "groups": ["x", "y"]}
BOUNDS: dict[str, dict[str, Any]] = {
    "0 to 1 by 2/5": {"minimum": 0, "maximum": 1, "step": "2/5"},
    "1/2 to 1 by 1/3": {"minimum": "1/2", "maximum": 1, "step": "1/3"},
    "10 to 12": {"minimum": 10, "maximum": 12, "step": 1},
    "-3 to 1": {"minimum": -3, "maximum": 1, "step": 1},
    "-12 to -10": {"minimum": -12, "maximum": -10, "step": 1},
}


def frame(rows: Sequence[Any]) -> pl.DataFrame:
    schema = {"u": pl.String, "g": pl.String, "v": pl.Float64}
    return pl.DataFrame(list(rows), schema, orient="row")


def cells(bounds: dict[str, Any]) -> list[Any]:
    """The ends, what is beyond them, a number between, and none."""
    low, high = (float(Fraction(bounds[name])) for name in ("minimum", "maximum"))
    return [low - 5, low, (low + high) / 2, high, high + 7, None, float("nan")]


def row_pairs(neighbors: str, values: list[Any]) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
    """All tables of one row beside another one, with all their neighbours; a row is a record."""
    rows = [("u", g, v) for g in ("x", "y") for v in values]
    if neighbors == "add_remove":
        yield from ((frame(rows[2:3]), frame((rows[2], row))) for row in rows)
    else:
        pairs = itertools.product(rows, rows)
        yield from ((frame((rows[2], a)), frame((rows[2], b))) for a, b in pairs)


def unit_pairs(neighbors: str, values: list[Any]) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
    """A unit with up to three rows that comes, or gives way to another one."""
    own = [(g, v) for g in ("x", "y") for v in (values[1], values[3], None)]
    sets = [s for n in range(4) for s in itertools.combinations_with_replacement(own, n)]
    other = ("ann", "x", values[2])

    def of(rows: tuple[tuple[Any, Any], ...], unit: str) -> pl.DataFrame:
        return frame((other, *((unit, *row) for row in rows)))

    if neighbors == "add_remove":
        yield from ((of((), "bob"), of(rows, "bob")) for rows in sets)
    else:
        few = [s for s in sets if len({v for _, v in s}) <= 1 and len({g for g, _ in s}) <= 2]
        yield from ((of(a, "bob"), of(b, "cid")) for a, b in itertools.product(few[::2], few))


def add(data: Any, **terms: Any) -> discreet.Release:
    return discreet.sum(data, "v", epsilon=1, **terms)


def average(data: Any, **terms: Any) -> discreet.Release:
    return discreet.mean(data, "v", epsilon=1, **terms)


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("name", BOUNDS)
@pytest.mark.one_in(4)
def test_a_row_moves_sums_as_far_as_promised(name: str, grouped: bool, neighbors: str) -> None:
    bounds = BOUNDS[name]
    terms = {**bounds, "neighbors": neighbors, **(GROUPS if grouped else {})}
    [share] = farthest(row_pairs(neighbors, cells(bounds)), add, **terms)
    assert share == 1
    shares = farthest(row_pairs(neighbors, cells(bounds)), average, **terms)
    assert shares[0] == 1
    # From the middle both ends are as far, but for half a step.
    assert Fraction(1, 2) < shares[1] <= 1


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
@pytest.mark.parametrize("most", [{}, {"max_contributions": 2}, {**GROUPS, "max_groups": 2}])
@pytest.mark.parametrize("name", ["10 to 12", "-3 to 1"])
@pytest.mark.one_in(6)
def test_a_unit_moves_sums_as_far_as_promised(
    name: str, most: dict[str, Any], neighbors: str
) -> None:
    bounds = BOUNDS[name]
    terms = {**bounds, **most, "neighbors": neighbors, "privacy_unit": "u"}
    for ask in (add, average):
        shares = farthest(unit_pairs(neighbors, cells(bounds)), ask, **terms)
        assert shares[0] == 1
        assert max(shares) == 1


@pytest.mark.parametrize(
    ("name", "neighbors", "change"),
    [
        ("0 to 1 by 2/5", "add_remove", Fraction(5, 2)),
        ("1/2 to 1 by 1/3", "replace_one", Fraction(3, 2)),
        ("10 to 12", "replace_one", Fraction(2)),
    ],
    ids=["ends that were not rounded", "the same, replaced", "rows without a number forgotten"],
)
def test_too_little_noise_is_seen(name: str, neighbors: str, change: Fraction) -> None:
    bounds = BOUNDS[name]

    def mutant(*_: Any) -> Any:
        exact = counts_sensitivity(1, neighbors)  # type: ignore[arg-type]
        return type(exact)(change, exact.neighbors, change)

    with patch.object(SumBounds, "sensitivity", mutant):
        pairs = row_pairs(neighbors, cells(bounds))
        [share] = farthest(pairs, add, neighbors=neighbors, **bounds)
    assert share > 1


def test_ends_between_steps_are_rounded_first() -> None:
    """The record 1 is three steps of 2/5, and no two and a half; centred thirds are -1 to 2 and no 1.5."""
    [behind] = numbers_behind(discreet.sum, [1.0], epsilon=1, **BOUNDS["0 to 1 by 2/5"])
    assert behind.numbers == (3,)
    assert behind.sensitivity.spread == 3
    assert behind.eta == Fraction(1, 3)
    third = {"minimum": 0, "maximum": 1, "step": "1/3"}
    _, total = numbers_behind(discreet.mean, [1.0], epsilon=1, **third)
    assert total.numbers == (2,)
    assert total.sensitivity.spread == 2
    assert total.eta == Fraction(1, 4)


@pytest.mark.parametrize(
    ("neighbors", "terms", "spread", "parts"),
    [
        ("add_remove", {}, 12, 1),
        ("replace_one", {}, 12, 1),
        ("add_remove", {"privacy_unit": "u", "max_contributions": 3}, 36, 1),
        ("add_remove", {"privacy_unit": "u", **GROUPS, "max_groups": 2}, 24, 2),
        ("replace_one", {"privacy_unit": "u", **GROUPS, "max_groups": 2}, 24, 2),
        ("replace_one", GROUPS, 24, 2),
    ],
)
def test_guarantees_of_sums(neighbors: Any, terms: dict[str, Any], spread: int, parts: int) -> None:
    terms = {**BOUNDS["10 to 12"], **terms, "neighbors": neighbors}
    release = add(frame(()), **terms)
    one_sum = GeometricDP(Fraction(1, parts), spread // parts, neighbors)
    assert release.guarantee == one_sum.repeated(parts)
    [behind] = numbers_behind(add, frame(()), **terms)
    assert behind.eta == Fraction(1, spread)


def test_a_mean_costs_two_halves() -> None:
    data = frame((("ann", "x", 11.0),))
    release = average(data, **BOUNDS["10 to 12"])
    assert release.guarantee == compose(PureDP(Fraction(1, 2)), PureDP(Fraction(1, 2)))
    size, total = numbers_behind(average, data, **BOUNDS["10 to 12"])
    assert (size.eta, total.eta) == (Fraction(1, 2), Fraction(1, 2))
    assert (size.numbers, total.numbers) == ((1,), (0,))
    wide = average(data, **BOUNDS["-3 to 1"]).guarantee
    assert wide == compose(PureDP(Fraction(1, 2)), GeometricDP(Fraction(1, 2), 2))
    by_rho = discreet.mean(data, "v", rho="1/50", **BOUNDS["10 to 12"]).guarantee
    assert by_rho.rho is not None
    assert by_rho.rho <= Fraction(1, 50)


def test_by_rho_sums_and_means_have_the_smaller_noise() -> None:
    data, rho = frame((("ann", "x", 11.0), ("bob", "y", 12.0))), Fraction(1, 50)
    bounds, units = BOUNDS["10 to 12"], {**GROUPS, "privacy_unit": "u", "max_groups": 2}
    one = discreet.sum(data, "v", rho=rho, **bounds)
    assert one.mechanism == "gaussian"
    assert one.guarantee == DiscreteGaussianDP(Fraction(25 * 12**2), 1, 12)
    two = discreet.sum(data, "v", rho=rho, **bounds, **units).guarantee
    assert two == DiscreteGaussianDP(Fraction(50 * 12**2), 2, 12)
    moved = discreet.sum(data, "v", rho=rho, **bounds, neighbors="replace_one").guarantee
    assert moved == DiscreteGaussianDP(Fraction(25 * 12**2), 1, 12, "replace_one")
    several = {**units, "neighbors": "replace_one", "rho": rho}
    assert discreet.sum(data, "v", **bounds, **several).guarantee == DiscreteGaussianDP(
        Fraction(50 * 12**2), 2, 12, "replace_one"
    )
    both = discreet.sum(data, "v", **BOUNDS["-3 to 1"], **several).guarantee
    assert both == ReplacedSumsDP(Fraction(25 * 2 * 4**2), 2, 2, 3, 4)
    assert both.rho == rho
    mean = discreet.mean(data, "v", rho=rho, **BOUNDS["-3 to 1"]).guarantee
    half = Fraction(50)
    assert mean == compose(DiscreteGaussianDP(half), DiscreteGaussianDP(half * 4, 1, 2))
    assert mean.rho == rho


MANY: dict[str, Any] = {
    "by": "g",
    "groups": [str(i) for i in range(40)],
    "privacy_unit": "u",
    "max_groups": 20,
}
LOOSE: dict[str, Any] = {"epsilon": 1, "delta": "1e-6"}


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
def test_with_a_delta_sums_and_means_of_many_groups_have_gaussian_noise(neighbors: Any) -> None:
    asked = {**MANY, **LOOSE, **BOUNDS["-3 to 1"], "neighbors": neighbors}
    for verb in (discreet.sum, discreet.mean):
        loose: Any = verb(frame((("ann", "1", 1.0),)), "v", **asked)
        assert loose.mechanism == "gaussian"
        assert Fraction(98, 10**8) < loose.guarantee.delta_at(1) <= Fraction(1, 10**6)
        few = {**asked, "max_groups": 2}
        assert bill_of(verb, "no.csv", "v", **few).guarantee.pure == 1
        assert bill_of(verb, "no.csv", "v", **{**asked, "delta": None}).guarantee.pure == 1


def test_a_delta_of_sums_is_charged_where_it_is_used_alone() -> None:
    ledger, data = Ledger(), frame((("ann", "1", 1.0),))
    ledger.open("sums", privacy_unit="u", epsilon=9, delta="1e-5", delta_for="questions")
    ledger.open("pure", privacy_unit="u", epsilon=9)
    ledger.open("rho", privacy_unit="u", rho=1)
    asked = {**MANY, **LOOSE, **BOUNDS["-3 to 1"]}
    for verb in ("sum", "mean"):
        found = {
            name: getattr(ledger.session(name), verb)(data, "v", **asked)
            for name in ("sums", "pure", "rho")
        }
        assert found["sums"].guarantee == ApproxDP(Fraction(1), Fraction(1, 10**6))
        assert found["pure"].guarantee.pure == 1
        assert found["rho"].guarantee.delta_at(1) <= Fraction(1, 10**6)
        one = {name: asked[name] for name in ("epsilon", "delta", "minimum", "maximum")}
        alone = getattr(ledger.session("sums"), verb)(data, "v", privacy_unit="u", **one)
        assert alone.guarantee.pure == 1
    spent = {budget.dataset: budget.spent for budget in ledger.budgets()}
    assert spent["sums"] == Amount(Fraction(4), delta=Fraction(2, 10**6))
    assert spent["pure"] == Amount(Fraction(2))


def test_deviations_of_sums_and_means_are_in_units_of_the_data() -> None:
    bounds = {"minimum": 0, "maximum": 10, "step": "1/2"}
    found = [
        bill_of(verb, [1.0], rho="1/50", **bounds).noise for verb in (discreet.sum, discreet.mean)
    ]
    assert [one and one.as_dict()["gaussian"] for one in found] == ["50", "35.4"]
    wide = {**MANY, **LOOSE, **BOUNDS["-3 to 1"]}
    mean = bill_of(discreet.mean, "no.csv", "v", **wide).noise
    assert mean is not None
    assert mean.name == "gaussian"
    assert mean.gaussian < mean.geometric
    few = bill_of(discreet.mean, "no.csv", "v", **{**wide, "max_groups": 1}).noise
    assert few is not None
    assert few.name == "geometric"
    assert few.geometric < few.gaussian


def test_bounds_that_are_bought_take_no_delta() -> None:
    for verb in (discreet.sum, discreet.mean):
        with pytest.raises(InvalidArgument, match="leave out delta"):
            verb("no.csv", "v", bounds_share="1/10", **LOOSE)
        with pytest.raises(InvalidArgument, match="goes with epsilon"):
            verb("no.csv", "v", rho=1, delta="1e-6", **BOUNDS["10 to 12"])


def test_both_numbers_of_a_mean_have_noise_of_one_kind() -> None:
    data = frame((("ann", "x", 11.0),))
    wide: dict[str, Any] = {"minimum": 0, "maximum": 10**5, "step": 1}
    # At a rho of 1.9 a count has less Gaussian noise, and a sum less geometric noise.
    assert discreet.count(data, rho="1.9").mechanism == "gaussian"
    assert discreet.sum(data, "v", rho="1.9", **wide).mechanism == "geometric"
    mean = discreet.mean(data, "v", rho="3.8", **wide)
    assert mean.mechanism == "geometric"
    assert mean.guarantee.pure is not None
    assert mean.guarantee.rho is not None
    assert mean.guarantee.rho <= Fraction(38, 10)


def test_a_ledger_that_counts_epsilon_pays_for_geometric_sums_by_rho() -> None:
    ledger = Ledger()
    ledger.open("pure", epsilon=3)
    ledger.open("rho", rho=3)
    data, bounds = frame((("ann", "x", 11.0),)), BOUNDS["10 to 12"]
    for dataset, mechanism in (("pure", "geometric"), ("rho", "gaussian")):
        session = ledger.session(dataset)
        assert session.sum(data, "v", rho="1/50", **bounds).mechanism == mechanism
        assert session.mean(data, "v", rho="1/50", **bounds).mechanism == mechanism


def test_the_error_of_a_gaussian_sum_is_said_before() -> None:
    errors = [
        bill_of(discreet.sum, [1.0], **BOUNDS["10 to 12"], **terms).worst_error
        for terms in ({"rho": "1/50"}, {"epsilon": "1/5"})
    ]
    gaussian, geometric = (one.error for one in errors if one)
    assert gaussian == 119
    assert geometric > gaussian


def test_every_record_is_clipped_and_rounded_half_up() -> None:
    values = [
        -9.0,
        0.5,
        1.5,
        2.5,
        2.4999999999999996,
        99.0,
        float("inf"),
        float("-inf"),
        float("nan"),
    ]
    [behind] = numbers_behind(discreet.sum, values, minimum=0, maximum=10, step=1, epsilon=1)
    assert behind.numbers == (0 + 1 + 2 + 3 + 2 + 10 + 10 + 0,)
    [tenths] = numbers_behind(
        discreet.sum, [0.05, 0.15, Decimal("0.05")], minimum=0, maximum=1, step="0.1", epsilon=1
    )
    assert tenths.numbers == (1 + 1 + 1,)  # the double 0.15 is below 3/20


VALUES = [0.05, 0.15, -7.0, 1e300, float("nan"), None, 2.5, 3.75, 3.75, 0.35]


@pytest.mark.parametrize(("engine", "plan"), crossed(ENGINES, ["rows", "units", "groups"], "rows"))
@pytest.mark.one_in(13)
@pytest.mark.proof_in("spark")
def test_every_engine_adds_the_same(engine: str, plan: str, tmp_path: Path) -> None:
    persons = [f"p{i}" if i % 3 else "ann" for i in range(len(VALUES))]
    groups = ["x" if i % 2 else "y" for i in range(len(VALUES))]
    arrow = pa.table({"u": persons, "g": groups, "v": pa.array(VALUES, pa.float64())})
    data = ENGINES[engine](arrow, tmp_path)
    terms: dict[str, Any] = {"minimum": "-1", "maximum": 3, "step": "1/10"}
    if plan == "units":
        terms |= {"privacy_unit": "u", "max_contributions": 9}
    if plan == "groups":
        terms |= GROUPS
    [behind] = numbers_behind(add, data, **terms)

    def steps(value: float) -> int:
        clipped = min(max(Fraction(value), Fraction(-1)), Fraction(3))
        return int((clipped * 10 + Fraction(1, 2)) // 1)

    kept = [
        (g, steps(min(v, 1e9)))
        for g, v in zip(groups, VALUES, strict=True)
        if v is not None and v == v
    ]
    parts = ["x", "y"] if plan == "groups" else [None]
    assert behind.numbers == tuple(sum(s for g, s in kept if part in (None, g)) for part in parts)


def test_sums_beyond_a_word_are_exact() -> None:
    high = 2**62
    [behind] = numbers_behind(
        discreet.sum, {high: 2**40, 1: 3}, minimum=0, maximum=high, step=1, epsilon=1
    )
    assert behind.numbers == (2**102 + 3,)
    values = np.full(3, high, dtype=np.int64)
    [behind] = numbers_behind(discreet.sum, values, minimum=0, maximum=high, step=1, epsilon=1)
    assert behind.numbers == (3 * high,)


@pytest.mark.parametrize(
    ("terms", "words"),
    [
        ({"minimum": None}, "minimum and maximum are missing"),
        ({"minimum": 5, "maximum": 5}, "minimum must be below maximum"),
        ({"maximum": "2020-01-01"}, "maximum"),
        ({"maximum": float("inf")}, "maximum"),
        ({"step": 0}, "step"),
        ({"step": 30}, "too coarse"),
        ({"maximum": 2**63, "step": 1}, "too fine"),
        ({"minimum": -(2**63), "step": 1}, "too fine"),
        ({"step": "1e-30"}, "too fine"),
    ],
)
def test_public_bounds_are_checked_before_data_are_opened(terms: Any, words: str) -> None:
    arguments = {"minimum": 0, "maximum": 10, "epsilon": 1, **terms}
    for verb in (discreet.sum, discreet.mean):
        with pytest.raises((InvalidArgument, InvalidNumber), match=words):
            verb("no/such/file.csv", "v", **arguments)


def test_bounds_just_below_the_limit_are_served() -> None:
    high = 2**63 - 1
    [behind] = numbers_behind(discreet.sum, [high], minimum=0, maximum=high, step=1, epsilon=1)
    assert behind.numbers == (high,)


@pytest.mark.parametrize(
    ("width", "step"),
    [(120, "1/1000"), (1, "1/100000"), ("1/3", "1/1000000"), (100_000, 1), (99_999, "1/10")],
)
def test_the_default_step_makes_a_hundred_thousand(width: Any, step: Any) -> None:
    assert default_step(Fraction(width)) == Fraction(step)
    assert 10**5 <= Fraction(width) / Fraction(step) < 10**6


def test_a_mean_of_too_few_is_none_and_costs() -> None:
    ledger = Ledger()
    ledger.open("people", epsilon=20)
    session = ledger.session("people")
    release = session.mean(frame(()), "v", minimum=0, maximum=10, epsilon=10, request="r")
    while release.value is not None:  # noise of a count of 0 at ε = 5 is hardly ever above it
        release = session.mean(frame(()), "v", minimum=0, maximum=10, epsilon=10)
    assert release.counts <= 0
    assert release.charged
    assert "no answer: 0 numbers were found" in str(release)
    assert release.as_dict()["value"] is None


def test_means_are_within_the_bounds_and_on_a_public_grid() -> None:
    data = frame(tuple(("u", "x", float(v)) for v in (1, 2, 2)))
    sharp = discreet.mean(data, "v", minimum=0, maximum=10, step=1, epsilon=10**6)
    assert sharp.value == Decimal("1.667")
    assert sharp.counts == 3
    by_group = discreet.mean(data, "v", minimum=0, maximum=10, step=1, epsilon=10**6, **GROUPS)
    assert by_group.value == {"x": Decimal("1.667"), "y": None}
    assert by_group.counts == {"x": 3, "y": 0}
    for _ in range(20):
        noisy = discreet.mean(data, "v", minimum=0, maximum=10, step=1, epsilon="1/50")
        assert noisy.value is None or 0 <= noisy.value <= 10
    total = discreet.sum(data, "v", minimum=0, maximum=10, step="1/2", epsilon=10**6)
    assert total.value == 5


def test_a_scale_is_in_units_of_the_data() -> None:
    [behind] = numbers_behind(discreet.sum, [1.0], minimum=0, maximum=10, step="1/10", scale=5)
    assert behind.eta == Fraction(1, 50)
    with pytest.raises(TypeError, match="scale"):
        discreet.mean([1.0], minimum=0, maximum=10, scale=5)


def test_a_description_declares_the_bounds() -> None:
    columns: Any = {
        "v": {"type": "number", "minimum": 0, "maximum": 8, "step": 2},
        "n": {"type": "integer", "minimum": 10, "maximum": 12},
        "w": {"type": "number", "minimum": 0},
        "d": {"type": "date"},
    }
    table = pl.DataFrame({"v": [3.0, 9.0], "n": [10, 99], "w": [1.0, 2.0], "who": ["a", "a"]})
    data = discreet.Dataset(table, columns, privacy_unit="who", max_contributions=2)
    [behind] = numbers_behind(discreet.sum, data, "v", epsilon=1)
    assert [*behind.numbers, int(behind.sensitivity.spread)] == [2 + 4, 8]
    [behind] = numbers_behind(discreet.sum, data, "n", epsilon=1)
    assert behind.numbers == (22,)
    [behind] = numbers_behind(discreet.sum, data, "n", maximum=11, epsilon=1)
    assert behind.numbers == (21,)
    with pytest.raises(InvalidArgument, match="maximum"):
        discreet.sum(data, "w", epsilon=1)
    with pytest.raises(InvalidCandidates, match="beyond the maximum"):
        discreet.mean(data, "n", maximum=13, epsilon=1)
    with pytest.raises(InvalidArgument, match="declared as date, so minimum must be one"):
        discreet.mean(data, "d", minimum=0, maximum=1, epsilon=1)
    with pytest.raises(InvalidArgument, match="of numbers"):
        discreet.sum(data, "d", minimum=0, maximum=1, epsilon=1)


def test_columns_without_numbers_are_refused_by_their_type() -> None:
    with pytest.raises(UnreadableData, match="not a column of numbers"):
        add(pl.DataFrame({"v": ["a"]}), minimum=0, maximum=1)


def test_a_quote_says_how_far_off_a_sum_may_be() -> None:
    terms: Any = {"minimum": 0, "maximum": 10, "step": "1/2", "epsilon": 1}
    worst = bill_of(discreet.sum, "no.csv", "v", **terms).worst_error
    assert worst is not None
    assert worst.unit == SUMMED
    assert worst.error == Fraction(61, 2)
    assert bill_of(discreet.mean, "no.csv", "v", **terms).worst_error is None
