"""Slots of places: the ends there are, and as many of them whatever the records are."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.mechanisms.joint import place_slots
from discreet.mechanisms.joint.arithmetic import DoubleArithmetic, QuantileCuts
from discreet.mechanisms.joint.grid_records import GridRecords
from discreet.mechanisms.joint.joint_quantiles import JointQuantiles
from discreet.mechanisms.joint.masses import Masses
from discreet.mechanisms.joint.place_slots import (
    ABSENT,
    ALONE,
    BOTTOM,
    INSIDE,
    TOP,
    Window,
    slots_by_quantile,
)
from discreet.mechanisms.joint.tuple_law import JointLaw
from discreet.sampling import kernel

from .test_joint_quantiles import SOME_ALPHAS, law_of, quantiles

Ends = list[tuple[int, int, float]]
WORLDS: dict[str, Callable[[int], Any]] = {
    "distinct": lambda n: np.arange(n) * 7 + 3,
    "equal revenue": lambda n: 7 * n // np.arange(n, 0, -1),
    "100 values": lambda n: np.sort(np.arange(n) % 100) * 5,
    "pairs": lambda n: np.arange(n) // 2 * 9,
    "one value": lambda n: np.full(n, 3 * n),
}


def ends_in(window: Window, target: int, reach: int) -> Ends:
    """Return the ends within reach in a window: cut, kind, and the size of a place of one cut."""
    start, stop = window.start, window.start + window.number
    _, cuts, kinds, sizes, _ = window.slots
    columns = zip(*(of[start:stop].tolist() for of in (cuts, kinds, sizes)), strict=True)
    return [
        (cut, kind, size if kind == ALONE else 0.0)
        for cut, kind, size in columns
        if kind in (ALONE, BOTTOM, TOP) and abs(cut - target) <= reach
    ]


def expected_ends(cuts: QuantileCuts, target: int, reach: int) -> Ends:
    ends = Ends()
    for low, high, size in zip(cuts.low, cuts.high, cuts.places.sizes, strict=True):
        ends += (
            [(low, ALONE, float(size))] if low == high else [(low, BOTTOM, 0.0), (high, TOP, 0.0)]
        )
    return [end for end in ends if abs(end[0] - target) <= reach]


@given(
    st.lists(st.integers(0, 40), max_size=40).map(sorted),
    SOME_ALPHAS,
    st.sampled_from([41, 5000, 2**63]),
    st.integers(0, 200),
    st.sampled_from([0, 2**23]),
)
def test_slots_have_the_ends_of_all_places(
    data: list[int], alphas: tuple[Fraction, ...], size: int, reach: int, most: int
) -> None:
    """Two for each point, one for each half record, or the ends that there are."""
    cuts = QuantileCuts(GridRecords(np.array(data, dtype=object), size), alphas)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(place_slots, "MOST_SLOTS", most)
        windows, _ = slots_by_quantile(cuts, reach)
    assert most or all(window.number <= 2 * len(cuts.low) for window in windows)
    for window, target in zip(windows, cuts.targets[1:-1], strict=True):
        assert ends_in(window, target, reach) == expected_ends(cuts, target, reach)
        assert (np.diff(window.cuts) >= 0).all()
        # A state may lie between the first end within reach and the one before, which tells whether it stays.
        assert window.first == 0 or window.cuts[0] < target - reach
        inner = window.slots.kinds[window.start :][: window.number] == INSIDE
        for cut in window.cuts[inner].tolist():
            assert cuts.is_within(cut)


@given(st.lists(st.integers(0, 40), max_size=40).map(sorted), st.sampled_from([41, 5000]))
def test_the_last_slot_up_to_a_cut_tells_its_place(data: list[int], size: int) -> None:
    """An end, or a cut within a tied place: so nothing comes behind an end at the same cut."""
    cuts = QuantileCuts(GridRecords(np.array(data, dtype=np.int64), size), (Fraction(1, 2),))
    (window,), _ = slots_by_quantile(cuts, cuts.targets[-1])
    for place, (low, high) in enumerate(zip(cuts.low.tolist(), cuts.high.tolist(), strict=True)):
        for cut in range(low, high + 1):
            last = int(window.cuts.searchsorted(cut, "right")) - 1
            kind = window.slots.kinds[window.start + last]
            at_end = window.cuts[last] == cut and kind in (ALONE, BOTTOM, TOP)
            assert at_end == (cut in (low, high)), place
            assert at_end or kind in (BOTTOM, INSIDE)
            assert kind != ABSENT


@given(
    st.lists(st.integers(0, 200), min_size=1, max_size=200).map(sorted),
    SOME_ALPHAS,
    st.sampled_from([1, 2, 5, 40]),
    st.sampled_from([Fraction(1, 100), Fraction(1), Fraction(9)]),
)
def test_no_quantile_has_more_states(
    data: list[int], alphas: tuple[Fraction, ...], coarse: int, eta: Fraction
) -> None:
    """The most that there are room for, of the states that numpy finds: also where many stay within ties."""
    points = tuple(x // coarse for x in data)
    law = law_of(points, JointQuantiles(alphas, 10**6), eta)
    doubles = DoubleArithmetic(law._step, law.cuts)
    doubles.kernel = lambda cuts: None  # type: ignore[method-assign]
    _, most = slots_by_quantile(law.cuts, doubles.reach)
    stages = Masses(law.cuts, doubles).stages[1:]
    assert all(len(one.cuts) <= bound for one, bound in zip(stages, most, strict=True))


@pytest.mark.parametrize("reach", [0, 3, 50, 1000])
@pytest.mark.parametrize("n", [3, 7, 10])
@pytest.mark.parametrize("alphas", [["1/10", "1/3", "1/2"], ["3/20", "13/20", "9/10"], ["0", "1"]])
def test_the_most_states_are_by_the_cuts_that_they_may_have(
    reach: int, n: int, alphas: list[str]
) -> None:
    """Ends are half records, offsets stay as they are, and before the first quantile there is one state."""
    cuts = QuantileCuts(
        GridRecords(np.zeros(n, dtype=np.int64), 10**6), list(map(Fraction, alphas))
    )
    windows, most = slots_by_quantile(cuts, reach)
    half, targets, last = cuts.steps // 2, cuts.targets, 1
    for j, window in enumerate(windows, 1):
        near = [c for c in range(targets[-1] + 1) if abs(c - targets[j]) <= reach]
        possible = {
            c for c in near for i in range(1, j + 1) if (c - targets[j] + targets[i]) % half == 0
        }
        last = min(last + window.number, len(possible | {targets[j]}))
        assert most[j - 1] == last


def work_of(law: JointLaw) -> dict[str, list[int]]:
    """Return of how many states and slots the kernel is told, and how many states it returns."""
    assert law.fast is not None
    stages = law.fast._in_c
    assert stages is not None
    tables = [len(table) for table, _, _ in stages._factors._tables.values()]
    columns = {name: stages._table[name].tolist() for name in ("number", "first", "slots")}
    return {**columns, "states": stages._numbers, "factors": tables}


@pytest.mark.skipif(kernel.active() is None, reason=f"no kernel: {kernel.load()}")
@pytest.mark.parametrize("n", [1, 100, 103, 1000])
@pytest.mark.parametrize(
    ("size", "eta"),
    [
        (10**6, Fraction(1, 4)),
        (10**6, Fraction(1, 10**5)),
        (101, Fraction(1, 1000)),
        (2**61, Fraction(3)),
    ],
)
def test_the_kernel_goes_through_as_many_slots_and_states_for_any_records(
    n: int, size: int, eta: Fraction
) -> None:
    tenths = quantiles([f"{i}/10" for i in range(1, 10)], size)
    records = [tuple(sorted((world(n) % size).tolist())) for world in WORLDS.values()]
    seen = [work_of(law_of(points, tenths, eta)) for points in records]
    assert all(work == seen[0] for work in seen)
    assert min(seen[0]["states"]) == 1 < min(seen[0]["states"][1:])
    assert (seen[0]["slots"][1] == 2 * size) == (2 * size < 2 * n + 1)


@pytest.mark.parametrize("n", [100, 103])
def test_more_slots_than_the_most_are_not_filled_up(
    n: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(place_slots, "MOST_SLOTS", 9 * (2 * n + 1) - 1)
    tenths = [Fraction(i, 10) for i in range(1, 10)]
    numbers = set()
    for world in WORLDS.values():
        cuts = QuantileCuts(GridRecords(np.sort(world(n)), 10**6), tenths)
        windows, most = slots_by_quantile(cuts, cuts.targets[-1])
        assert most == [0] * 9
        numbers.add(windows[0].number)
    assert len(numbers) > 1


def test_slots_of_points_are_counted_for_all_quantiles(monkeypatch: pytest.MonkeyPatch) -> None:
    tenths = [Fraction(i, 10) for i in range(1, 10)]
    cuts = QuantileCuts(GridRecords(np.sort(np.arange(103) % 50), 50), tenths)
    for most, is_filled in ((9 * 100, True), (9 * 100 - 1, False)):
        monkeypatch.setattr(place_slots, "MOST_SLOTS", most)
        _, states = slots_by_quantile(cuts, cuts.targets[-1])
        assert (states != [0] * 9) == is_filled


def test_more_states_than_the_most_are_as_many_as_slots(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(place_slots, "MOST_SLOTS", 9 * 207)
    cuts = QuantileCuts(GridRecords(np.arange(103), 10**6), [Fraction(i, 10) for i in range(1, 10)])
    windows, most = slots_by_quantile(cuts, cuts.targets[-1])
    assert most == [window.number for window in windows] == [207] * 9


def all_windows(windows: list[Window]) -> Iterator[int]:
    yield from (id(window.slots) for window in windows)


def test_windows_that_are_apart_have_slots_of_their_own() -> None:
    """So memory is for what is within reach, not for all records between."""
    cuts = QuantileCuts(GridRecords(np.arange(1000), 10**6), [Fraction(1, 10), Fraction(9, 10)])
    windows, _ = slots_by_quantile(cuts, 20)
    assert len(set(all_windows(windows))) == 2
    assert all(len(window.slots.cuts) < 60 for window in windows)
    windows, _ = slots_by_quantile(cuts, 1000)
    assert len(set(all_windows(windows))) == 1
