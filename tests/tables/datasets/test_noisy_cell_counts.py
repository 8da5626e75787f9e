"""Counts of cells with noise."""

import itertools
import json
import math
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet
from discreet import Ledger
from discreet.errors import InvalidArgument
from discreet.tables.datasets.noisy_cell_counts import LARGEST, NoisyCellCounts
from discreet.tables.verbs.check import CellNoise
from tests.tables.verbs.test_check import people

SMALL_COUNTS = st.tuples(*[st.integers(0, 40)] * 5)


@given(SMALL_COUNTS, st.tuples(*[st.integers(-5, 5)] * 5), st.integers(5, 9))
def test_the_percentages_hold_whenever_the_counts_are_off_by_no_more(
    counts: tuple[int, ...], noise: tuple[int, ...], error: int
) -> None:
    noisy = NoisyCellCounts.of([n + x for n, x in zip(counts, noise, strict=True)], error)
    for (low, high), n in zip(noisy.percentages.values(), counts, strict=True):
        assert 0 <= low <= high <= 100
        if sum(counts):
            assert Fraction(low) <= Fraction(100 * n, sum(counts)) <= Fraction(high)


@given(st.tuples(*[st.integers(-20, 60)] * 5), st.integers(0, 6))
def test_the_percentages_are_the_least_interval_in_tenths(
    counts: tuple[int, ...], error: int
) -> None:
    """By brute force over all counts that are no further off."""
    noisy = NoisyCellCounts.of(counts, error)
    each = [sorted({max(0, n - error), max(0, n + error)}) for n in counts]
    for i, (low, high) in enumerate(noisy.percentages.values()):
        shares = [Fraction(c[i], sum(c)) for c in itertools.product(*each) if sum(c)]
        if not all(sum(c) for c in itertools.product(*each)) and each[i][-1]:
            shares.append(Fraction(1))  # next to no cells there are some
        wanted = (
            (math.floor(min(shares) * 1000), math.ceil(max(shares) * 1000)) if shares else (0, 1000)
        )
        assert (int(low * 10), int(high * 10)) == wanted or (
            low == 0 and not sum(e[0] for e in each)
        )


def test_percentages_do_not_depend_on_the_decimal_context() -> None:
    with localcontext(prec=1):
        assert NoisyCellCounts(2, 1, 0, 0, 0, 0).percentages["fits"] == (
            Decimal("66.6"),
            Decimal("66.7"),
        )
    nothing, all_of_them = Decimal(0), Decimal(100)
    huge = NoisyCellCounts(LARGEST, -LARGEST, LARGEST, 0, 0, 2 * LARGEST)
    assert set(huge.percentages.values()) == {(nothing, all_of_them)}
    assert NoisyCellCounts(0, 0, 0, 0, 0, 0).percentages["fits"] == (nothing, all_of_them)
    assert NoisyCellCounts(-9, 3, 0, 0, 0, 1).percentages["fits"] == (nothing, nothing)
    assert str(NoisyCellCounts(97, 3, 0, 0, 0, 0)) == "97 % fit (with probability 95 %)"
    assert str(NoisyCellCounts(970, 20, 10, 0, 0, 10)).startswith("between 93.2 and 99 % fit")


@pytest.mark.parametrize("size", [2**53, LARGEST, -LARGEST])
def test_counts_beyond_doubles_come_back_from_the_ledger(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(CellNoise, "add", lambda *_: [[size, -1, 0, 0, 0]])
    ledger = Ledger()
    ledger.open("people", epsilon=2)
    session = ledger.session("people")
    asked: Any = {"columns": "age", "epsilon": 1, "request": "m"}
    assert session.check(people(), **asked).value == session.check(people(), **asked).value
    assert session.check(people(), **asked).value.fits == size
    ledger.verify()


def test_it_travels_and_fits_a_reply() -> None:
    from discreet.selection.verb_calls import Call
    from discreet.service.asking import wire
    from discreet.service.queue.lengths import longest_answer

    longest = longest_answer(Call(discreet.check, ("age",), {"epsilon": 1}), people())
    for counts in (
        NoisyCellCounts(3, -1, 0, 2, -5, 9), NoisyCellCounts.of([-LARGEST] * 5, 2 * LARGEST),
        NoisyCellCounts.of([-LARGEST] * 5, 2 * LARGEST, multiline_records=-LARGEST),
        NoisyCellCounts.of([0] * 5, 9, comment_lines=3),
        NoisyCellCounts.of([-LARGEST] * 5, 2 * LARGEST, multiline_records=-LARGEST, comment_lines=-LARGEST),
    ):  # fmt: skip
        written = wire.write_value(counts)
        assert len(json.dumps(written)) <= longest
        assert wire.read_value(json.loads(json.dumps(written))) == counts
    for bad in (
        ["1"] * 8,
        ["1"] * 10,
        ["x"] * 9,
        [1] * 9,
        [*["1"] * 6, "1e999999999", "", ""],
        [*["1"] * 8, "x"],
    ):
        with pytest.raises(InvalidArgument):
            wire.read_value({"$cells": bad})
