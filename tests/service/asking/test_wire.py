"""What travels arrives as it was, and what does not travel is refused."""

import datetime as dt
import json
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet
from discreet import DateGrid, Grid, errors
from discreet.errors import DiscreetError, InvalidArgument
from discreet.privacy import PureDP
from discreet.service import PastRelease
from discreet.service.asking import AllowedQuestion, wire
from discreet.tables.datasets.columns import read_column as declared
from discreet.tables.formats.text_form import CellForm

PLAIN = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
    | st.dates() | st.datetimes() | st.fractions() | st.decimals(allow_nan=False, allow_infinity=False)
)  # fmt: skip
LISTS = st.lists(PLAIN)
ANSWERS = PLAIN | LISTS | st.dictionaries(st.text() | st.integers() | st.dates(), PLAIN | LISTS)


def travelled(plain: Any) -> Any:
    return json.loads(json.dumps(plain, allow_nan=False))


@given(ANSWERS)
def test_values_arrive_as_they_were(value: Any) -> None:
    found = wire.read_value(travelled(wire.write_value(value)))
    assert found == value
    assert repr(found) == repr(value)


DIGITS = st.integers(1, 6000).map(lambda n: 10 ** (n - 1) + 7)
LONG = (
    DIGITS
    | st.builds(Fraction, DIGITS, DIGITS)
    | DIGITS.map(lambda n: Decimal(n).scaleb(-50))
    | st.integers(0, 12).map(lambda n: [[[[[[[1]]]]]]] if n == 0 else nested(n))
)
"""Values about as long, and as deep, as may travel."""


def nested(depth: int) -> Any:
    return [nested(depth - 1)] if depth else Fraction(1, 3)


@given(LONG)
def test_whatever_is_written_is_read(value: Any) -> None:
    try:
        written = wire.write_value(value)
    except InvalidArgument:
        return
    assert wire.read_value(travelled(written)) == value


@pytest.mark.parametrize(
    "value", [10**4200 - 1, Fraction(10**4200 - 1, 10**4199 + 1), Decimal("0." + "3" * 9998)]
)
def test_what_is_as_long_as_may_be_travels(value: Any) -> None:
    """Candidates have numbers of at most 4,200 digits: all of them travel."""
    assert wire.read_value(travelled(wire.write_value(value))) == value


@pytest.mark.parametrize(
    "value",
    [
        "age", 3, True, Decimal("0.10"), Fraction(1, 3), dt.date(2024, 2, 29), [1, "a"],
        {"Bern": [1, 2], None: "x"},
        dt.datetime(2024, 1, 1, tzinfo=dt.UTC),
    ],
)  # fmt: skip
@pytest.mark.parametrize("charged", [True, False, None])
def test_releases_arrive_as_they_were(value: Any, charged: bool | None) -> None:
    sent = discreet.Release(
        value, PureDP(Fraction(1, 3), "add_remove"), "exponential", "user", "q", 3, charged
    )
    found = wire.read_release(travelled(wire.write_release(sent)))
    assert all(getattr(found, name) == getattr(sent, name) for name in vars(sent))
    assert (str(found), repr(found)) == (str(sent), repr(sent))


BOTH = {"epsilon": 3, "delta": "1e-6"}


@pytest.mark.parametrize(
    "terms",
    [
        {"epsilon": 3},
        {"rho": "1/3"},
        {**BOTH, "delta_for": "questions"},
        {**BOTH, "delta_for": "composition"},
    ],
)
def test_budgets_and_quotes_arrive_as_they_were(terms: dict[str, Any]) -> None:
    ledger = discreet.Ledger()
    ledger.open("d", **terms)
    session = ledger.session("d")
    session.select([1, 2], sensitivity=1, epsilon="1/10")
    (budget,) = ledger.budgets()
    for epsilon in ("1/7", 99):
        quote = session.quote(discreet.select, [1, 2], sensitivity=1, epsilon=epsilon)
        found = wire.read_quote(travelled(quote.as_dict()))
        assert (found, str(found)) == (quote, str(quote))
    arrived = wire.read_budget(travelled(budget.as_dict()))
    assert (arrived, str(arrived)) == (budget, str(budget))


def test_questions_columns_and_past_releases_arrive_as_they_were() -> None:
    held = PureDP(Fraction(1, 3), "replace_one")
    question = AllowedQuestion("d", "q", "words", held, "exponential", None, "user", None)
    assert wire.read_question(travelled(wire.write_question(question))) == question
    past = PastRelease("d", None, "r", "words", held, "user", "2024-01-01T00:00:00", True)
    assert wire.read_past(travelled(past.as_dict())) == past
    for given_ in (
        {"type": "integer", "minimum": 0, "maximum": 9},
        {"type": "number", "minimum": "0.1", "maximum": "0.5", "step": "0.1"},
        {"type": "date", "minimum": "2024-01-01"},
        {"type": "string", "enum": ["a", "b"]},
    ):
        column = declared("c", given_, ())
        assert wire.column_from_wire(travelled(wire.write_column(column))) == column
        written = replace(column, form=CellForm(decimal=","))
        assert wire.column_from_wire(travelled(wire.write_column(written))) == column


def test_errors_arrive_with_their_class_amounts_and_notes() -> None:
    kinds = [
        k for k in vars(errors).values() if isinstance(k, type) and issubclass(k, DiscreetError)
    ]
    for kind in kinds:
        sent = kind("words")
        sent.add_note("a note")
        found = wire.read_error(travelled(wire.write_error(sent)))
        assert (type(found), str(found), found.__notes__) == (kind, "words", ["a note"])
    assert type(wire.read_error({"error": "shown", "message": "x"})) is DiscreetError


@pytest.mark.parametrize(
    "given_",
    [
        {"$date": "soon"}, {"$date": 1}, {"$fraction": "1/0"}, {"$decimal": "x" * 9}, {"$fraction": "9" * 9999},
        10**4200, {"$fraction": "1e99999999"}, {"$fraction": "0.5e-99999999"}, {"$decimal": "0." + "3" * 10_000},
        {"$grid": 1}, {"$grid": ["0", "1"]}, {"$grid": ["1", "0", "1"]},
        {"$map": 1}, {"$map": [[[[1]], 2]]}, {"$eval": "1"},
        {"a": 1, "b": 2}, {}, float("nan"), float("inf"), b"x", [[[[[[[[1]]]]]]]],
    ],
)  # fmt: skip
def test_what_no_service_writes_is_refused(given_: Any) -> None:
    with pytest.raises(InvalidArgument):
        wire.read_value(given_)


def test_grids_travel() -> None:
    grid = Grid(0, "3.5", "0.01")
    found = wire.read_value(travelled(wire.write_value(grid)))
    assert (found.lo, found.hi, found.step) == (grid.lo, grid.hi, grid.step)
    with pytest.raises(InvalidArgument, match="cannot be sent"):
        wire.write_value(object())


def test_grids_of_dates_and_their_steps_travel() -> None:
    for grid in (
        DateGrid("2020-01-01", "2024-12-31", "1 month"),
        DateGrid("2020-01-01T00:00", "2020-02-01T00:00", "6 hours"),
        DateGrid("2020-01-01T00:00", "2024-12-01T00:00", "1 month", zone="Europe/Zurich"),
    ):
        found = wire.read_value(travelled(wire.write_value(grid)))
        assert found.description == grid.description
    column = declared(
        "t", {"type": "date", "minimum": "2020-01-01", "maximum": "2024-12-31", "step": "month"}, ()
    )
    again = wire.column_from_wire(travelled(wire.write_column(column)))
    assert again == column
    assert repr(again.grid) == "DateGrid(2020-01-01, 2024-12-01, step 1 month; 60 points)"
    for plain in ({"$dates": ["2020-01-01", "2021-01-01", "1 day"]}, {"$step": "1 year"},
                  {"$dates": ["2020-01-01", "2021-01-01", "1 day", "Mars"]}):  # fmt: skip
        with pytest.raises(InvalidArgument):
            wire.read_value(plain)
