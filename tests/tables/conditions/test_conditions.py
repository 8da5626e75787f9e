"""Conditions: three truths, exact constants, and rows that come or go one at a time."""

import datetime as dt
import itertools
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

import discreet
from discreet.errors import InvalidArgument
from discreet.tables.conditions.conditions import (
    MOST_PARTS,
    NEGATIONS,
    All,
    CellComparison,
    Condition,
    Either,
    Membership,
    Missing,
    Not,
    both,
    check_size,
    either,
    fold,
    holds,
    kinds_of_columns,
    names_of_columns,
    read_as,
)

NAN = float("nan")
CELLS: list[Any] = [None, 0, 1, 2, NAN, "x"]


def kleene(condition: Condition, cells: dict[str, Any]) -> bool | None:
    """The truth of a condition by the tables of three truths, None for unknown."""
    if isinstance(condition, Not):
        inner = kleene(condition.operand, cells)
        return None if inner is None else not inner
    if isinstance(condition, All | Either):
        parts = [kleene(one, cells) for one in condition.operands]
        decisive = isinstance(condition, Either)
        return decisive if decisive in parts else None if None in parts else not decisive
    cell = cells[condition.column]
    readable = isinstance(cell, int)
    if isinstance(condition, Missing):
        return not readable
    if not readable:
        return None
    if isinstance(condition, Membership):
        return cell in condition.constants
    constant: Any = condition.constant
    truths: dict[str, bool] = {
        "=": cell == constant,
        "<>": cell != constant,
        "<": cell < constant,
        "<=": cell <= constant,
        ">": cell > constant,
        ">=": cell >= constant,
    }
    return truths[condition.operator]


TESTS: list[Condition] = [
    CellComparison("x", "<", Fraction(1)),
    CellComparison("y", "=", Fraction(1)),
    Missing("x", "number"),
    Membership("y", (Fraction(0), Fraction(2))),
]


def conditions() -> list[Condition]:
    """All conditions of up to three comparisons."""
    negated = [*TESTS, *map(Not, TESTS)]
    pairs = [join(a, b) for a, b in itertools.product(negated, repeat=2) for join in (both, either)]
    nested = [
        join(Not(pair), one)
        for pair in pairs[::7]
        for one in negated[::3]
        for join in (both, either)
    ]
    return [*negated, *pairs, *map(Not, pairs), *nested]


def test_a_condition_is_true_as_the_tables_of_three_truths_say() -> None:
    for condition in conditions():
        for x, y in itertools.product(CELLS, repeat=2):
            cells = {"x": x, "y": y}
            assert holds(condition, cells) is (kleene(condition, cells) is True), (
                str(condition),
                cells,
            )


def test_a_condition_that_is_false_or_unknown_is_told_apart_by_its_negation() -> None:
    for condition in conditions():
        for x, y in itertools.product(CELLS, repeat=2):
            cells = {"x": x, "y": y}
            assert holds(Not(condition), cells) is (kleene(condition, cells) is False)


def test_one_row_more_is_at_most_one_row_more_inside() -> None:
    rows = [{"x": x, "y": y} for x in CELLS for y in (None, 0, 1)]
    for condition in conditions()[::9]:
        for table in itertools.combinations(rows, 2):
            inside = [row for row in table if holds(condition, row)]
            for more in rows:
                with_it = [row for row in (*table, more) if holds(condition, row)]
                assert with_it in (inside, [*inside, more])


def test_negated_comparisons_of_a_missing_cell_stay_outside() -> None:
    age = CellComparison("age", ">", Fraction(18))
    for cell in (None, NAN, "unknown", Decimal("NaN"), object()):
        assert not holds(age, {"age": cell})
        assert not holds(Not(age), {"age": cell})
        assert holds(Missing("age", "number"), {"age": cell})


@pytest.mark.parametrize(
    "constant", [None, NAN, Decimal("NaN"), float("inf"), "\ud800", [1], object(), dt.time(1), 1j]
)
def test_constants_that_equal_nothing_are_refused(constant: Any) -> None:
    with pytest.raises(InvalidArgument):
        CellComparison("x", "=", constant)
    with pytest.raises(InvalidArgument):
        Membership("x", (constant,))


def test_a_float_means_the_decimal_that_it_prints_as_and_the_nearest_double_among_floats() -> None:
    tenth = CellComparison("x", "=", 0.1)  # type: ignore[arg-type]
    assert tenth.constant == Fraction(1, 10)
    for cell in (0.1, Decimal("0.1"), Fraction(1, 10)):
        assert holds(tenth, {"x": cell})
    assert not holds(tenth, {"x": Fraction(0.1)})
    huge = CellComparison("x", "<", Fraction(10**400))
    assert holds(huge, {"x": 1e308})
    assert not holds(huge, {"x": float("inf")})


def test_truths_are_in_no_order_and_no_numbers() -> None:
    with pytest.raises(InvalidArgument, match="no order"):
        CellComparison("x", "<", True)
    assert not holds(CellComparison("x", "=", Fraction(1)), {"x": True})
    assert not holds(Not(CellComparison("x", "=", True)), {"x": 0})


def test_a_column_is_read_in_one_way() -> None:
    mixed = both(CellComparison("x", "=", Fraction(1)), CellComparison("x", "=", "1"))
    with pytest.raises(InvalidArgument, match="compared with a number and with a text"):
        check_size(mixed)
    with pytest.raises(InvalidArgument, match="all of one kind"):
        Membership("x", (Fraction(1), "1"))
    with pytest.raises(InvalidArgument, match="at least one"):
        Membership("x", ())
    assert kinds_of_columns(both(Missing("x"), CellComparison("x", "=", "a"))) == {"x": "text"}
    assert read_as(Not(Missing("x")), {"x": "number"}) == Not(Missing("x", "number"))


def test_sizes_are_bounded() -> None:
    one = CellComparison("x", "=", Fraction(1))
    assert check_size(either(*[one] * MOST_PARTS))
    with pytest.raises(InvalidArgument, match="at most"):
        check_size(either(*[one] * (MOST_PARTS + 1)))


def test_words_are_sql() -> None:
    condition = either(
        both(CellComparison("a b", "=", "it's"), Not(Missing("c"))),
        CellComparison("d", "<", Fraction(-5, 2)),
    )
    assert str(condition) == "(\"a b\" = 'it''s' AND NOT (c IS NULL)) OR d < -2.5"
    assert str(Membership("d", tuple(map(Fraction, range(9))))) == "d IN (0, 1, 2, … 6 more)"
    assert str(CellComparison("d", "<", Fraction(1, 3))) == "d < 1/3"
    assert (
        str(CellComparison("t", "=", dt.datetime(2024, 1, 1, tzinfo=dt.UTC)))
        == "t = TIMESTAMPTZ '2024-01-01 00:00:00+00:00'"
    )
    assert names_of_columns(condition) == ["a b", "c", "d"]


def test_every_operator_has_its_negation() -> None:
    for operator, negation in NEGATIONS.items():
        assert NEGATIONS[negation] == operator
        for cell in (0, 1, 2):
            a = holds(CellComparison("x", operator, Fraction(1)), {"x": cell})
            assert a is not holds(CellComparison("x", negation, Fraction(1)), {"x": cell})


def test_fold_asks_comparisons_alone() -> None:
    questions: list[tuple[str, bool]] = []

    def decide(test: Any, truth: bool) -> bool:
        questions.append((str(test), truth))
        return True

    condition = Not(both(CellComparison("x", "=", Fraction(1)), Not(Missing("y"))))
    assert fold(condition, decide, all, any)
    assert questions == [("x = 1", False), ("y IS NULL", True)]


def test_a_decimal_beyond_all_constants_takes_no_time() -> None:
    """Its fraction would have as many digits as its exponent says, and tell it by time and memory."""
    cells = [
        Decimal(text) for text in ("1e999999999", "-1e999999999", "1e-999999999", "-1e-999999999")
    ]
    for condition, counted in (("x > 0", 2), ("x > 1e300", 1), ("x > -1e300", 3)):
        answer = discreet.count({"x": cells}, where=condition, epsilon=1000)
        assert answer.value == counted
