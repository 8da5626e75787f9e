"""Sensitivities, guarantees and privacy units as values."""

import json
from fractions import Fraction
from itertools import product

import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidArgument, UnknownName
from discreet.privacy import BoundedRange, NoGuarantee, PureDP
from discreet.privacy.sensitivity import (
    Sensitivity,
    one_record,
    plain_unit,
    read_sensitivity,
    read_stored_unit,
    read_unit,
    sensitivity_of,
    stored_unit,
    unit_in_words,
)
from discreet.sampling.enclosures import ball, precision
from tests.test_units_of_several_columns import PAIR, UNITS

small = st.fractions(Fraction(1, 8), 4, max_denominator=8)


def test_spread_is_twice_the_sensitivity_or_once_if_monotonic() -> None:
    assert sensitivity_of(1, "add_remove").spread == 2
    assert sensitivity_of(1, "add_remove", monotonic=True).spread == 1
    assert read_sensitivity(None, "3/2", False, "replace_one") == Sensitivity(
        Fraction(3, 2), "replace_one"
    )


def test_floats_are_read_upwards() -> None:
    assert sensitivity_of(0.1, "add_remove").change == Fraction(0.1) > Fraction(1, 10)
    assert read_sensitivity(None, 0.1, False, "add_remove").spread == Fraction(0.1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((None, None, False), "give either sensitivity"),
        ((1, 1, False), "give either sensitivity"),
        ((None, 1, True), "monotonic goes with sensitivity"),
        ((0, None, False), "sensitivity must be greater than zero"),
        ((None, -1, False), "spread must be greater than zero"),
        (("one", None, False), "sensitivity must be a finite number"),
    ],
)
def test_what_is_declared_must_make_sense(
    arguments: tuple[object, object, bool], message: str
) -> None:
    with pytest.raises(InvalidArgument, match=message):
        read_sensitivity(*arguments, "add_remove")


def test_monotonic_does_not_speak_of_replaced_records() -> None:
    """Counts are monotonic when records come and go; replaced, one falls and another rises."""
    with pytest.raises(InvalidArgument, match="Under replace_one give spread"):
        read_sensitivity(1, None, True, "replace_one")


def test_neighbors_must_be_named_right() -> None:
    with pytest.raises(
        UnknownName, match="neighbors must be one of add_remove, replace_one, got 'user'"
    ):
        sensitivity_of(1, "user")


@given(small, small, st.booleans(), st.data())
def test_rounded_sensitivities_hold(
    change: Fraction, granularity: Fraction, monotonic: bool, data: st.DataObject
) -> None:
    """Over many scores, changes and thresholds V: |floor(a/g + V) - floor(b/g + V)| stays in bounds."""
    claimed = sensitivity_of(change, "add_remove", monotonic=monotonic)
    rounded = claimed.rounded(granularity)
    spread_only = Sensitivity(claimed.spread, "add_remove").rounded(granularity)
    chances = st.fractions(0, Fraction(63, 64), max_denominator=64)
    pairs = [
        (data.draw(st.fractions(-3, 3, max_denominator=8)),
         data.draw(st.fractions(0 if monotonic else -change, change, max_denominator=8)),
         data.draw(chances))
        for _ in range(3)
    ]  # fmt: skip
    moved = [((s + d) / granularity + v) // 1 - (s / granularity + v) // 1 for s, d, v in pairs]
    assert rounded.change is not None
    assert max(map(abs, moved)) <= rounded.change
    assert max(moved) - min(moved) <= min(rounded.spread, spread_only.spread)
    if monotonic:
        assert min(moved) >= 0


def test_guarantees_in_words() -> None:
    assert str(PureDP(Fraction(1, 3), "add_remove")) == "ε = 1/3 (add/remove one record)"
    assert str(BoundedRange(Fraction(1), "replace_one")) == (
        "ε = 1, bounded range (replace one record)"
    )
    assert str(PureDP(Fraction(1) + Fraction(1, 2**70), "add_remove")).startswith("ε ≤ 1.00001 (")
    nothing = NoGuarantee("the candidates were taken from the data", "add_remove")
    assert str(nothing) == "no privacy guarantee: the candidates were taken from the data"
    assert nothing.repeated(5) == nothing


def test_guarantees_as_plain_values() -> None:
    assert PureDP(Fraction(1, 3), "add_remove").as_dict() == {
        "kind": "pure_dp", "epsilon": "1/3", "neighbors": "add_remove"}  # fmt: skip
    assert BoundedRange(Fraction(2), "add_remove").as_dict()["kind"] == "bounded_range"
    assert NoGuarantee("because", "add_remove").as_dict() == {
        "kind": "none", "reason": "because", "neighbors": "add_remove"}  # fmt: skip


@given(st.fractions(Fraction(1, 100), 6), st.integers(1, 63))
def test_bounded_range_has_the_stated_rho(epsilon: Fraction, share: int) -> None:
    """The worst pair of an epsilon-bounded-range mechanism is binary; its Renyi divergence is below a * rho."""
    with precision(200):
        e, t = ball(epsilon), ball(epsilon) * share / 64
        q = ((-t).exp() - (-e).exp()) / (
            1 - (-e).exp()
        )  # the mass of loss t; the rest has loss t - e
        for order in (1.001, 1.5, 2, 4, 16, 64):
            a = arb(order)
            moment = q * (a * t).exp() + (1 - q) * (a * (t - e)).exp()
            assert not moment.log() / (a - 1) > a * ball(BoundedRange(epsilon, "add_remove").rho)


@given(st.fractions(Fraction(1, 100), 6))
def test_pure_dp_has_the_stated_rho(epsilon: Fraction) -> None:
    """The worst pair of an epsilon-DP mechanism is randomised response."""
    with precision(200):
        e = ball(epsilon)
        p = e.exp() / (1 + e.exp())
        for order in (1.001, 1.5, 2, 4, 16, 64):
            a = arb(order)
            moment = p**a * (1 - p) ** (1 - a) + (1 - p) ** a * p ** (1 - a)
            assert not moment.log() / (a - 1) > a * ball(PureDP(epsilon, "add_remove").rho)


def test_counts_have_the_stated_sensitivity() -> None:
    """Exhaustively: tables of up to four rows over three candidates and a value that is none."""
    from discreet.tables.scores.counts import Counts

    from ..columns import Counted

    def counts(rows: tuple[int, ...]) -> list[int]:
        return [rows.count(c) for c in range(3)]

    tables = [rows for n in range(5) for rows in product(range(4), repeat=n)]
    worst: dict[str, int] = {"add_remove": 0, "replace_one": 0}
    for rows in tables:
        before = counts(rows)
        for i in range(len(rows)):
            removed = rows[:i] + rows[i + 1 :]
            moved = [b - a for a, b in zip(before, counts(removed), strict=True)]
            assert max(moved) <= 0  # monotonic
            worst["add_remove"] = max(worst["add_remove"], max(moved) - min(moved))
            for other in range(4):
                replaced = (*rows[:i], other, *rows[i + 1 :])
                moved = [b - a for a, b in zip(before, counts(replaced), strict=True)]
                worst["replace_one"] = max(worst["replace_one"], max(moved) - min(moved))
    score = Counts(Counted(), ())
    assert score.sensitivity("add_remove").spread == worst["add_remove"] == 1
    assert score.sensitivity("replace_one").spread == worst["replace_one"] == 2


def test_the_rounded_spread_is_attained() -> None:
    """Changes in [t - D, t], rounded with any threshold V: their range reaches ceil(D) + 1."""
    for quarters in range(1, 17):
        spread = Fraction(quarters, 4)
        claimed = Sensitivity(spread, "add_remove").rounded(Fraction(1)).spread
        eighths = [Fraction(k, 8) for k in range(8)]
        worst = 0
        for t in eighths:
            moved = [
                (v + shift) // 1 for shift in (t, t - spread) for v in eighths
            ]  # a score of 0 before, rounded with V = v, stays 0
            worst = max(worst, max(moved[:8]) - min(moved[8:]))
        assert worst == claimed


def test_a_unit_is_a_set_of_columns() -> None:
    assert read_unit(["person", "household"]) == read_unit(PAIR) == PAIR
    assert read_unit(["person"]) == read_unit(("person",)) == read_unit("person") == "person"
    for wrong in (
        [],
        (),
        ["a", "a"],
        ["a", ""],
        ["a", None],
        [["a", "b"]],
        [1, 2],
        {"a", "b"},
        "a\x1fb",
    ):
        with pytest.raises(
            InvalidArgument, match="privacy_unit must be the name of a column, or a list"
        ):
            read_unit(wrong)


def test_no_two_units_are_written_alike() -> None:
    for written in (stored_unit, lambda unit: json.dumps(plain_unit(unit))):
        assert len({written(unit) for unit in [None, *UNITS]}) == len(UNITS) + 1
    for unit in [None, *UNITS]:
        assert read_stored_unit(stored_unit(unit)) == unit
        assert read_unit(json.loads(json.dumps(plain_unit(unit)))) == unit
    pairs = [unit for unit in UNITS if isinstance(unit, tuple)]
    assert len({unit_in_words(unit) for unit in pairs}) == len(pairs)


def test_it_is_said_as_a_noun() -> None:
    assert one_record(PAIR) == "all rows of one (household, person)"
    assert unit_in_words(("a, b", "c")) == '("a, b", c)'
