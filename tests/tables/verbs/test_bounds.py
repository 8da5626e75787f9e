"""bounds: counts of thresholds in every engine, both ends, groups and units, and what is refused."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import discreet
from discreet import Decimals, Grid
from discreet.errors import InvalidArgument, InvalidCandidates, InvalidNumber, UnreadableData
from discreet.mechanisms.first_above import FirstThreshold
from discreet.privacy.guarantees import PureDP
from discreet.sampling.bits import SystemBits
from discreet.selection.decimals import RoundNumbers
from discreet.tables.engines.column import ArrayColumn, Source
from discreet.tables.verbs.bounds import BothEnds, ThresholdCounts

from ...engines import ENGINES, crossed

VALUES = [
    -7.0,
    -2.0,
    -1.999,
    0.0,
    0.0,
    1e-9,
    1.0,
    1.5,
    2.0,
    2.0,
    2.000001,
    5.0,
    1e5,
    99999.0,
    3e300,
]
MANY = [1800 + 7 * i for i in range(2000)]


def test_round_numbers_are_1_2_and_5_times_powers_of_ten() -> None:
    numbers = RoundNumbers()
    assert numbers.size == 3_691
    points = [Fraction(numbers[i]) for i in range(numbers.size)]
    above = [d * Fraction(10) ** e for e in range(-307, 308) for d in (1, 2, 5)]
    assert points == [*(-one for one in reversed(above)), Fraction(0), *above]


def expected(values: list[float], thresholds: Any) -> ThresholdCounts:
    """The counts by comparing every value with every threshold."""
    points = [Fraction(thresholds[i]) for i in range(thresholds.size)]
    exact = sorted(map(Fraction, values))
    import bisect

    below = [bisect.bisect_left(exact, point) for point in points]
    above = [len(exact) - bisect.bisect_right(exact, point) for point in points]
    return ThresholdCounts(np.array(below), np.array(above), len(exact))


def same(one: ThresholdCounts, two: ThresholdCounts) -> bool:
    return (
        one.below.tolist() == two.below.tolist()
        and one.above.tolist() == two.above.tolist()
        and one.total == two.total
    )


@pytest.mark.parametrize("thresholds", [RoundNumbers(), Decimals(1)])
def test_counts_are_those_of_the_definition(thresholds: Any) -> None:
    near = [float(np.nextafter(x, s * np.inf)) for x in (0.1, -0.2, 5.0, 1e30) for s in (1, -1)]
    values = [*VALUES, *near, 0.1, -0.2, 1e30, 0.30000000000000004]
    for column in (
        ArrayColumn(np.array(values)),
        ArrayColumn(np.array([Fraction(x) for x in values], dtype=object)),
    ):
        assert same(ThresholdCounts.of(column, thresholds), expected(values, thresholds))
    whole = [-50, -49, 0, 1, 2, 2, 3, 100, 2**53 + 1, 2**62]
    counts = ThresholdCounts.of(ArrayColumn(np.array(whole)), thresholds)
    assert same(counts, expected(whole, thresholds))  # type: ignore[arg-type]


def test_infinities_are_beyond_all_thresholds() -> None:
    counts = ThresholdCounts.of(ArrayColumn(np.array([-np.inf, 1.0, np.inf])), RoundNumbers())
    assert (counts.below[0], counts.below[-1], counts.above[0], counts.above[-1]) == (1, 2, 2, 1)
    assert counts.total == 3


def test_numbers_with_multiplicities_count_as_often() -> None:
    counted = ArrayColumn(np.array([1.0, 4.0]), np.array([3, 2**40]))
    counts = ThresholdCounts.of(counted, Decimals(1))
    assert counts.total == 3 + 2**40
    assert counts.below[-1] == counts.total


@pytest.mark.parametrize(("engine", "thresholds"), crossed(ENGINES, ["round", "1"], ""))
def test_every_engine_counts_the_same(engine: str, thresholds: str, tmp_path: Path) -> None:
    points: Any = RoundNumbers() if thresholds == "round" else Decimals(int(thresholds))
    table = pa.table(
        {
            "x": [*VALUES, None],
            "u": [f"u{i}" for i in range(len(VALUES) + 1)],
            "g": ["a"] * (len(VALUES) + 1),
        }
    )
    data = ENGINES[engine](table, tmp_path)
    counts = ThresholdCounts.of(Source(data, "x").groups[0], points)
    assert same(counts, expected(VALUES, points))


def test_what_lies_between_thresholds_is_not_fetched() -> None:
    pl = pytest.importorskip("polars")
    values = np.random.default_rng(1).lognormal(10, 1, 20_000)
    source: Any = Source(pl.LazyFrame({"x": values}), "x").groups[0].on_grid(RoundNumbers().cells)
    fetched = []
    fetch = source.fetch

    def counting(frame: Any, of: Any) -> Any:
        columns = fetch(frame, of)
        fetched.append(len(columns[0]))
        return columns

    object.__setattr__(source, "fetch", counting)
    source.occupancy(RoundNumbers().cells.nearest)
    assert sum(fetched) < 200
    assert len(fetched) <= 2


def test_the_low_end_is_the_mirror_image_of_the_high_one() -> None:
    values = np.array(VALUES)
    for thresholds in (RoundNumbers(), Decimals(1)):
        one = ThresholdCounts.of(ArrayColumn(values), thresholds)
        mirrored = ThresholdCounts.of(ArrayColumn(-values), thresholds)
        assert one.above[::-1].tolist() == mirrored.below.tolist()
        assert one.below[::-1].tolist() == mirrored.above.tolist()


def test_both_ends_hold_nearly_all_records() -> None:
    for _ in range(5):
        low, high = discreet.bounds(MANY, q="0.9", epsilon=20).value
        inside = sum(low <= x <= high for x in MANY)
        assert inside >= 0.75 * len(MANY)
        assert -(10**4) < low < high < 10**6
    fine = discreet.bounds(MANY, q="0.9", candidates=Decimals(3), epsilon=20).value
    assert 1000 <= fine[0] <= 4000
    assert 12_000 <= fine[1] <= 20_000


def test_ends_are_sorted_whatever_is_drawn() -> None:
    both = BothEnds(RoundNumbers(), Fraction(99, 100), Fraction(1, 10), "add_remove")
    draw = both.prepare(ArrayColumn(np.zeros(0)))
    pairs = [draw() for _ in range(60)]
    assert all(low <= high for low, high in pairs)
    counts = ThresholdCounts.of(ArrayColumn(np.zeros(0)), RoundNumbers())
    law: Any = both._one_end.law
    last = RoundNumbers().size - 1
    drawn = [
        (
            last - law(counts.above[::-1], 0).draw(SystemBits()),
            law(counts.below, 0).draw(SystemBits()),
        )
        for _ in range(60)
    ]
    assert any(low > high for low, high in drawn)  # or nothing was tested above


def test_each_end_has_half_of_epsilon() -> None:
    release = discreet.bounds(MANY, epsilon=1)
    assert release.guarantee == PureDP(Fraction(1, 2), "add_remove").repeated(2)
    assert release.guarantee.pure == 1
    both = BothEnds(RoundNumbers(), Fraction(9, 10), Fraction(1), "replace_one", 3)
    assert both._one_end.guarantee == PureDP(Fraction(1, 2), "replace_one")
    law: Any = both._one_end.law
    one = law(np.array([1, 2]), 3)
    rates = FirstThreshold(Fraction(9, 10), 3).rates(Fraction(1, 2), "replace_one")
    assert (one.level_rate * 10, one.noise_rate * 10) == rates
    replaced = discreet.bounds(MANY, epsilon=1, neighbors="replace_one")
    assert replaced.guarantee == PureDP(Fraction(1, 2), "replace_one").repeated(2)


def test_groups_and_users(tmp_path: Path) -> None:
    rows = 600
    table = pa.table(
        {
            "x": [float(i % 100) for i in range(rows)] + [10.0**6 + i for i in range(rows)],
            "g": ["a"] * rows + ["b"] * rows,
            "u": [f"u{i // 2}" for i in range(2 * rows)],
        }
    )
    terms: Any = {"by": "g", "groups": ["a", "b", "c"]}
    release = discreet.bounds(table, "x", q="0.9", epsilon=30, **terms)
    assert release.value["a"][1] <= 500 < release.value["b"][1]
    assert release.guarantee.pure == 30
    users = discreet.bounds(
        table, "x", q="0.9", epsilon=30, privacy_unit="u", max_contributions=2, **terms
    )
    assert users.guarantee.pure == 30
    assert users.value["b"][0] >= -5
    both = discreet.bounds(table, "x", epsilon=30, neighbors="replace_one", **terms)
    assert both.guarantee.pure == 30
    assert both.guarantee.neighbors == "replace_one"


@pytest.mark.parametrize(
    ("terms", "error", "message"),
    [
        ({"q": "1/2"}, InvalidNumber, "above 1/2"),
        ({"q": "1.01"}, InvalidNumber, "at most 1"),
        ({"candidates": Grid(0, 9)}, InvalidCandidates, "must be Decimals"),
        ({"candidates": [1, 2]}, InvalidCandidates, "must be Decimals"),
        ({"epsilon": None}, InvalidArgument, "how much privacy"),
        ({"epsilon": 0}, InvalidNumber, "greater than zero"),
        ({"rho": 1}, TypeError, "rho"),
        ({"neighbors": "nobody"}, InvalidArgument, "neighbors"),
    ],
)
def test_public_arguments_are_checked_before_data_are_read(
    terms: Any, error: Any, message: str
) -> None:
    class Untouchable:
        def __iter__(self) -> Any:
            raise AssertionError("private data were read")

    with pytest.raises(error, match=message):
        discreet.bounds(Untouchable(), **{"epsilon": 1, **terms})


def test_columns_that_hold_no_numbers_are_refused() -> None:
    table = pa.table({"day": pa.array([1], pa.date32()), "text": ["1"]})
    for column in ("day", "text"):
        with pytest.raises(UnreadableData, match="not a column of numbers"):
            discreet.bounds(table, column, epsilon=1)


def test_a_described_column_is_asked_for_bounds_whether_or_not_some_are_declared(
    tmp_path: Path,
) -> None:
    (tmp_path / "t.csv").write_text("x,y,t\n" + "3,4,a\n" * 200)
    columns: Any = {
        "x": {"type": "integer", "minimum": 0, "maximum": 9}, "y": {"type": "number"}, "t": {"type": "string"}
    }  # fmt: skip
    described = discreet.Dataset(tmp_path / "t.csv", columns)
    assert discreet.bounds(described, "x", epsilon=50).value == [2, 5]
    assert discreet.bounds(described, "y", epsilon=50).value == [2, 5]
    with pytest.raises(InvalidArgument, match="declared as string"):
        discreet.bounds(described, "t", epsilon=1)


def test_a_release_travels_and_is_paid_once(tmp_path: Path) -> None:
    from discreet.service.asking.wire import read_value, write_value

    ledger = discreet.Ledger(tmp_path / "budget.db")
    ledger.open("incomes", epsilon=2)
    session = ledger.session("incomes")
    once = session.bounds(MANY, epsilon=1, request="ends")
    assert session.bounds(MANY, epsilon=1, request="ends").value == once.value
    assert ledger.budgets()[0].spent.epsilon == 1
    assert read_value(json.loads(json.dumps(write_value(once.value)))) == once.value


def test_simulations_draw_both_ends() -> None:
    draws = discreet.simulate(discreet.bounds, MANY, epsilon=2, size=20)
    assert all(low <= high for low, high in draws.values)


@pytest.mark.filterwarnings("ignore:no bounds of")
@pytest.mark.parametrize("digits", [19, 306, 310, 400])
def test_no_number_of_records_decides_whether_a_draw_fails(digits: int) -> None:
    """With q = 1 - 10**-306 it failed from a hundred records on, and answered about fewer, at any epsilon."""
    for records in (0, 1, 100_000):
        with pytest.raises(InvalidNumber, match="q must have at most 18 decimals"):
            discreet.bounds([1.0] * records, q=f"0.{'9' * digits}", epsilon=1)
    assert discreet.bounds([1.0] * 9, q=f"0.{'9' * 18}", epsilon=1).value
