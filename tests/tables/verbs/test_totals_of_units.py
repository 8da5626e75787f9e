"""max_sum: the total of each privacy unit is clipped to public ends, exactly and in every engine alike."""

import itertools
import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest.mock import patch

import polars as pl
import pyarrow as pa
import pytest

import discreet
from discreet.errors import InvalidArgument, InvalidNumber, UnreadableData
from discreet.mechanisms.noisy_counts import counts_sensitivity
from discreet.privacy import GeometricDP
from discreet.selection.verb_calls import bill_of
from discreet.tables.engines import sums
from discreet.tables.engines.expressions import Numbers
from discreet.tables.verbs.sum_bounds import SumBounds

from ...engines import ENGINES, crossed
from ...noisy import numbers_behind

GROUPS: dict[str, Any] = {"by": "g", "groups": ["x", "y"], "max_groups": 2}
UNIT: dict[str, Any] = {"privacy_unit": "u"}

ENDS: dict[str, dict[str, Any]] = {
    "up to 5": {"max_sum": 5, "step": 1},
    "-4 to 4 of rows from -3": {"minimum": -3, "maximum": 3, "max_sum": 4, "step": 1},
    "-1 to 5 of two rows": {
        "minimum": -3, "maximum": 3, "min_sum": -1, "max_sum": 5, "max_contributions": 2, "step": 1,
    },
    "3 to 5": {"min_sum": 3, "max_sum": 5, "step": 1},
    "below 0": {"min_sum": -5, "max_sum": -3, "step": 1},
    "two rows of less": {"minimum": 1, "maximum": 2, "max_sum": 9, "max_contributions": 2, "step": 1},
}  # fmt: skip

VALUES: Sequence[float | None] = (
    0.5, 1.5, 2.25, -0.0, 100.0, None, math.inf, -math.inf, math.nan, -3.25, 0.7, 0.05, 0.15, -0.05, 1e300,
)  # fmt: skip


def frame(rows: Sequence[Any]) -> pl.DataFrame:
    schema = {"u": pl.String, "g": pl.String, "v": pl.Float64}
    return pl.DataFrame(list(rows), schema, orient="row")


def add(data: Any, **terms: Any) -> discreet.Release:
    return discreet.sum(data, "v", epsilon=1, **UNIT, **terms)


def _of_two_rows(group: str, values: Sequence[float | None]) -> list[tuple[Any, ...]]:
    """All rows of a unit in one group, up to two."""
    cells = [(group, value) for value in values]
    return [s for n in range(3) for s in itertools.combinations_with_replacement(cells, n)]


def share_moved(neighbors: str, **terms: Any) -> Fraction:
    """How far sums move, as a share of what is promised, if a unit of two rows in a group comes or is replaced.

    A list of sums may move by `spread` in all, and each of them by `change`.
    """
    behind = []
    sets = _of_two_rows("x", (-9.0, 9.0) if "by" in terms else (-9.0, 2.0, 9.0, None))
    if "by" in terms:
        sets = [one + other for one in sets for other in _of_two_rows("y", (-9.0, 9.0))]
    for rows in sets:
        data = frame((("ann", "x", 2.0), *(("bob", *row) for row in rows)))
        behind += numbers_behind(add, data, neighbors=neighbors, **terms)
    promised = behind[0].sensitivity
    change = promised.spread if promised.change is None else promised.change
    first_sides = behind if neighbors == "replace_one" else behind[:1]
    shares = [Fraction(0)]
    for before, after in itertools.product(first_sides, behind):
        pairs = zip(before.numbers, after.numbers, strict=True)
        moved = [Fraction(abs(a - b)) for a, b in pairs]
        shares += [sum(moved) / promised.spread, max(moved) / change]
    return max(shares)


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
@pytest.mark.parametrize("groups", [{}, GROUPS], ids=["one", "two groups"])
@pytest.mark.parametrize("name", ENDS)
@pytest.mark.one_in(12)
def test_a_unit_moves_totals_as_far_as_promised_and_no_farther(
    name: str, groups: dict[str, Any], neighbors: str
) -> None:
    assert share_moved(neighbors, **ENDS[name], **groups) == 1


@pytest.mark.parametrize(
    ("ends", "neighbors", "moved"),
    [
        ({"max_sum": 5}, "add_remove", 5),
        ({"min_sum": -7, "max_sum": 5}, "add_remove", 7),
        ({"min_sum": -7, "max_sum": 5}, "replace_one", 12),
        ({"min_sum": 3, "max_sum": 5}, "replace_one", 5),  # from a unit without numbers
        ({"minimum": -1, "max_sum": 5}, "replace_one", 10),
        ({"maximum": 2, "max_sum": 5, "max_contributions": 2}, "replace_one", 4),
        ({"maximum": 2, "max_sum": 5, "max_contributions": 3}, "add_remove", 5),
    ],
)
def test_the_noise_grows_with_the_ends_alone(
    ends: dict[str, Any], neighbors: Any, moved: int
) -> None:
    bill = bill_of(discreet.sum, [], "v", epsilon=1, step=1, neighbors=neighbors, **UNIT, **ends)
    assert bill.guarantee == GeometricDP(Fraction(1), moved, neighbors)


def test_too_little_noise_is_seen() -> None:
    def mutant(*_: Any) -> Any:
        return counts_sensitivity(1, "add_remove", change=4)

    with patch.object(SumBounds, "sensitivity", mutant):
        assert share_moved("add_remove", **ENDS["up to 5"]) > 1


def test_totals_that_are_not_clipped_are_seen() -> None:
    def unclipped(rows: Any, low: int, _: Any) -> Any:
        return clip(rows, low, (-(2**40), 2**40))

    clip = sums._sums_of_totals
    with patch.object(sums, "_sums_of_totals", unclipped):
        assert share_moved("add_remove", **ENDS["up to 5"]) > 1


def _steps(value: float, low: int, high: int) -> int:
    """The nearest multiple of a tenth, half up, between two ends in tenths."""
    if math.isinf(value):
        return high if value > 0 else low
    return min(max(math.floor(Fraction(value) * 10 + Fraction(1, 2)), low), high)


def _totals(rows: Sequence[Any], ends: tuple[int, int], parts: Sequence[Any]) -> tuple[int, ...]:
    """The sums of totals from rows of (unit, group, number), for rows from -1 to 3 in tenths."""
    totals = dict[Any, int]()
    for unit, group, value in rows:
        part = group if group in parts else None
        if value is not None and not math.isnan(value):
            totals[unit, part] = totals.get((unit, part), 0) + _steps(value, -10, 30)
    clipped = [(part, min(max(one, ends[0]), ends[1])) for (_, part), one in totals.items()]
    return tuple(sum(one for of, one in clipped if of == part) for part in parts)


TENTHS: dict[str, Any] = {"minimum": -1, "maximum": 3, "step": "1/10"}


@pytest.mark.parametrize(("engine", "plan"), crossed(ENGINES, ["units", "groups"], "groups"))
@pytest.mark.one_in(11)
@pytest.mark.proof_in("spark")
def test_every_engine_clips_the_same(engine: str, plan: str, tmp_path: Path) -> None:
    values = [VALUES[(7 * i * i + i) % len(VALUES)] for i in range(60)]
    rows = [(f"p{i % 7}", "xyz"[i % 3], value) for i, value in enumerate(values)]
    units, groups, _ = zip(*rows, strict=True)
    arrow = pa.table({"u": units, "g": groups, "v": pa.array(values, pa.float64())})
    data = ENGINES[engine](arrow, tmp_path)
    grouped = plan == "groups"
    terms = {"by": "g", "groups": ["y", "x"], "max_groups": 2} if grouped else {}
    some = [row for row in rows if row[1] != "z"] if grouped else rows
    [behind] = numbers_behind(add, data, max_sum=4, **TENTHS, **terms)
    parts = ["y", "x"] if grouped else [None]
    assert behind.numbers == _totals(some, (-40, 40), parts)


@pytest.mark.parametrize(
    ("of", "values"),
    [
        (pa.int64(), [7, -3, None, 2, 2, 1, 40, -60]),
        (pa.uint8(), [7, 3, None, 2, 2, 1, 40, 60]),
        (pa.decimal128(9, 2), [Decimal("0.05"), Decimal("-0.15"), None, Decimal("2.00"), Decimal("9.99")]),
        (pa.float32(), [0.05, 0.15, 0.25, 1e30, None, -0.0, math.nan]),
        (pa.bool_(), [True, False, None, True]),
    ],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("engine", ["polars", "pyarrow", "duckdb", "parquet"])
@pytest.mark.one_in(5)
def test_every_type_is_rounded_exactly(
    engine: str, of: pa.DataType, values: list[Any], tmp_path: Path
) -> None:
    column = pa.array(values * 3, of)
    units = [f"p{i % 2}" for i in range(len(column))]
    data = ENGINES[engine](pa.table({"u": units, "v": column}), tmp_path)
    rows = [(u, None, v) for u, v in zip(units, column.to_pylist(), strict=True)]
    if of == pa.bool_():
        [behind] = numbers_behind(add, data, minimum=False, maximum=True, max_sum=4)
        counts = [sum(v is True for u, _, v in rows if u == unit) for unit in ("p0", "p1")]
        assert behind.numbers == (sum(min(one, 4) for one in counts),)
        return
    [behind] = numbers_behind(add, data, max_sum=4, min_sum=-2, **TENTHS)
    assert behind.numbers == _totals(rows, (-20, 40), [None])


def test_python_objects_are_added_too() -> None:
    rows = {"u": ["a", "a", "b", "b", None], "v": [Decimal("0.25"), 2, "none", 1.0, 2]}
    [behind] = numbers_behind(add, rows, max_sum=1, step="1/10")
    assert behind.numbers == (20,)


def test_the_way_of_a_grid_that_is_too_fine_for_the_engine_is_the_same() -> None:
    rows = [(f"p{i % 5}", "x", VALUES[i % len(VALUES)]) for i in range(40)]
    with patch.object(Numbers, "_comparable", False):
        [behind] = numbers_behind(add, frame(rows), max_sum=4, **TENTHS)
    assert behind.numbers == _totals(rows, (-40, 40), [None])


def test_rows_that_change_between_passes_are_refused() -> None:
    def grows(numbers: Numbers, grid: Any) -> tuple[Any, int]:
        rows, size = indices(numbers, grid)
        return rows, size + 1

    indices = Numbers.with_indices
    with (
        patch.object(Numbers, "with_indices", grows),
        pytest.raises(UnreadableData, match="changed while"),
    ):
        add(frame([("a", "x", 1.0)]), max_sum=4)


HALF = math.nextafter(0.5, 0)
"""The largest number that is rounded down: an engine that computes in doubles cannot tell it from a half."""


# Rows without a number, and rows of which the engine is certain of none, are no other case for an engine.
@pytest.mark.parametrize(
    ("values", "total"),
    [([], 0), ([None], 0), ([HALF, 0.5], 1), ([HALF, 0.5, None], 1)],
    ids=["no rows", "null", "in doubt", "in doubt and null"],
)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.one_in(12)
@pytest.mark.proof_in("spark")
def test_totals_of_no_numbers_are_zero(
    engine: str, values: list[float | None], total: int, tmp_path: Path
) -> None:
    units = pa.array([f"p{i}" for i, _ in enumerate(values)], pa.string())
    parts = pa.array(["x" for _ in values], pa.string())
    arrow = pa.table({"u": units, "g": parts, "v": pa.array(values, pa.float64())})
    data = ENGINES[engine](arrow, tmp_path)
    for terms in ({}, {"max_contributions": 1}, GROUPS):
        [behind] = numbers_behind(add, data, max_sum=1000, step=1, **terms)
        assert sum(behind.numbers) == total


@pytest.mark.parametrize(
    ("terms", "kind", "words"),
    [
        ({"max_sum": 5, "privacy_unit": None}, InvalidArgument, "name the column of users as privacy_unit"),
        ({"min_sum": 0}, InvalidArgument, "min_sum goes with max_sum"),
        ({"max_sum": 0}, InvalidNumber, "max_sum must be above min_sum, which is 0, got 0"),
        ({"max_sum": 3, "min_sum": 3}, InvalidNumber, "above min_sum, which is 3"),
        ({"max_sum": 3, "step": 10}, InvalidNumber, "too coarse"),
        ({"max_sum": 1, "minimum": 0, "maximum": 90, "step": 5}, InvalidNumber, "same multiple"),
        ({"max_sum": 3, "step": "1e-12"}, InvalidNumber, "is too fine.*larger step"),
        ({"max_sum": "many"}, InvalidNumber, "max_sum"),
        ({"max_sum": 3, "bounds_share": "1/10"}, InvalidArgument, "leave it out, or every bound"),
    ],
)  # fmt: skip
def test_what_cannot_be_bounded_is_refused_before_the_data(
    terms: dict[str, Any], kind: type[Exception], words: str
) -> None:
    with pytest.raises(kind, match=words):
        discreet.sum(object(), "v", epsilon=1, **{**UNIT, **terms})


def test_a_question_says_the_ends_and_its_digest_has_them() -> None:
    bills = [
        bill_of(discreet.sum, [], "v", epsilon=1, **UNIT, **ends)
        for ends in ({"max_sum": 2000}, {"max_sum": 2000, "max_contributions": 5}, {"maximum": 20, "max_sum": 100})
    ]  # fmt: skip
    assert len({one.digest for one in bills}) == 3
    assert str(bills[0].query) == "sum of v, 0 to 2000 by 0.01, each total cut to 0 to 2000, per u"


def test_a_described_dataset_fills_the_bounds_and_the_unit(tmp_path: Path) -> None:
    frame([("a", "x", 9.0), ("a", "x", 8.0), ("b", "x", 1.0)]).write_csv(tmp_path / "t.csv")
    described = discreet.Dataset(
        tmp_path / "t.csv",
        privacy_unit="u",
        columns={"v": {"type": "number", "minimum": 0, "maximum": 20}},
    )
    [behind] = numbers_behind(discreet.sum, described, "v", max_sum=12, step=1, epsilon=1)
    assert behind.numbers == (13,)
    assert behind.sensitivity.spread == 12
