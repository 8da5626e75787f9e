"""A released value is its kind and one text: exact both ways, through JSON and a ledger, and never quoted."""

import datetime as dt
import json
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from discreet.errors import InvalidArgument
from discreet.ledger import Ledger
from discreet.ledger.events import canonical_json, decode, encode, read_indices
from discreet.selection.released_values import ReleasedValue, read_released_value

from ..ledgers import answering, bill, forgetting, untouched

ANY_TEXT = some.text(some.characters(), max_size=20)  # surrogates too
ZONES: Any = some.sampled_from([None, dt.UTC, dt.timezone(dt.timedelta(hours=-3, minutes=-30))])
VALUES = (
    ANY_TEXT
    | some.booleans()
    | some.integers()
    | some.dates()
    | some.datetimes(
        min_value=dt.datetime(1, 1, 3), max_value=dt.datetime(9999, 12, 29), timezones=ZONES
    )
    | some.decimals(allow_nan=False, allow_infinity=False)
    | some.uuids()
    | some.none()
    | some.floats(allow_nan=False, allow_infinity=False)
)
HOSTILE = [
    "<script>alert(1)</script>", "=HYPERLINK(1)", "+1", "-1", "@SUM(A1)", "\t=1", "\x1b[31mred\x1b[0m",
    "\x00", "a\r\nb", "\u202eevil", "\u2066x\u2069", "\ud800", "\udc00\ud800", "\ud800\udc00", "\U0001f600", "",
    " x ", "'; DROP TABLE discreet_events; --", "{{ 7 * 7 }}", '{"integer":"1"}', "\u2028", "e\u0301", "\u00e9",
]  # fmt: skip


def same(one: object, other: object) -> bool:
    """Return whether two values are the same, sign of zero and exponent included."""
    if isinstance(one, dt.datetime) and one.tzinfo is not None:
        return one == other
    return type(one) is type(other) and repr(one) == repr(other)


@given(VALUES)
def test_a_value_comes_back_as_it_was(value: Any) -> None:
    released = ReleasedValue.of(value)
    assert same(value, released.value)
    assert ReleasedValue.of(released.value) == released
    text = canonical_json(released.plain)
    assert text.isascii()
    assert read_released_value(json.loads(text)) == released
    assert decode(json.loads(canonical_json(encode([released, [2**70, released]])))) == [
        released,
        [2**70, released],
    ]


@given(VALUES, VALUES)
def test_values_that_differ_have_texts_that_differ(one: Any, other: Any) -> None:
    is_equal = ReleasedValue.of(one) == ReleasedValue.of(other)
    assert is_equal == (ReleasedValue.of(one).plain == ReleasedValue.of(other).plain)
    if is_equal:
        assert one == other


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_text_comes_back_as_it_was(text: str) -> None:
    released = ReleasedValue.of(text)
    assert read_released_value(json.loads(canonical_json(released.plain))).value == text


def test_two_surrogates_stay_two() -> None:
    pair, letter = ReleasedValue.of("\ud83d\ude00"), ReleasedValue.of("\U0001f600")
    assert pair.plain == {"text in UTF-8": "eda0bdedb880"}
    assert letter.plain == {"text": "\U0001f600"}
    assert json.loads(json.dumps("\ud83d\ude00")) == "\U0001f600"  # why they travel as bytes


def test_a_time_with_a_zone_is_its_instant() -> None:
    noon = dt.datetime(2026, 7, 1, 12, tzinfo=ZoneInfo("Europe/Zurich"))
    assert ReleasedValue.of(noon) == ReleasedValue("timestamp", "2026-07-01T10:00:00+00:00")
    both = [dt.datetime(2026, 10, 25, 2, 30, tzinfo=noon.tzinfo, fold=fold) for fold in (0, 1)]
    assert len({ReleasedValue.of(one) for one in both}) == 2


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("integer", "00007"), ("integer", "1_0"), ("integer", " 1"), ("integer", "٣"), ("integer", ""),
        ("truth", "True"), ("truth", "1"), ("date", "20260101"), ("date", "2026-1-1"), ("timestamp", "2026-01-01"),
        ("timestamp", "2026-01-01T00:00:00+01:00"), ("decimal", "NaN"), ("decimal", "Infinity"), ("decimal", "1e5"),
        ("number", "inf"), ("number", "1"), ("number", "0.10"), ("colour", "red"), ("text", 3), ([], "SECRET"),
        ("integer", "9" * 5000), ("uuid", "{00000000-0000-0000-0000-000000000000}"),
    ],
)  # fmt: skip
def test_a_value_has_one_text_alone(kind: Any, text: Any) -> None:
    with pytest.raises(InvalidArgument, match="its one text") as refusal:
        ReleasedValue(kind, text)
    assert "SECRET" not in str(refusal.value)
    assert "00007" not in str(refusal.value)
    with pytest.raises((ValueError, TypeError, AttributeError)):
        decode({kind if isinstance(kind, str) else "[]": text})


@pytest.mark.parametrize(
    "plain",
    [
        {}, {"text": "a", "date": "b"}, {"text in UTF-8": "61"}, {"text in UTF-8": "ED A0 80"},
        {"text in UTF-8": "zz"}, {"text in UTF-8": "ff"}, {"text": "\ud800"}, {"text": None},
    ],
)  # fmt: skip
def test_what_no_value_is_written_as_is_refused(plain: Any) -> None:
    with pytest.raises((ValueError, TypeError)):
        decode(plain)


@pytest.mark.parametrize(
    "value",
    [
        b"SECRET", Fraction(1, 77), float("nan"), Decimal("sNaN"), dt.time(7, 7),
        pytest.param(10**5000, id="long"),
        {"SECRET": 1},
        np.str_("SECRET"), dt.datetime.min.replace(tzinfo=dt.timezone(dt.timedelta(hours=9))), ["SECRET"],
    ],
)  # fmt: skip
def test_other_values_are_refused_unquoted(value: Any) -> None:
    with pytest.raises(InvalidArgument) as refusal:
        ReleasedValue.of(value)
    shown = f"{refusal.value!r}"
    assert not any(secret in shown for secret in ("SECRET", "77", "0000", "7, 7"))


def test_numbers_of_arrays_are_integers() -> None:
    assert ReleasedValue.of(np.int64(7)) == ReleasedValue("integer", "7")


def test_no_picture_of_a_value_quotes_it() -> None:
    assert repr([ReleasedValue.of("SECRET")]) == "[ReleasedValue(text)]"
    with pytest.raises(InvalidArgument) as refusal:
        read_indices([ReleasedValue.of("SECRET"), "SECRET"])
    assert "SECRET" not in str(refusal.value)


def test_values_are_in_the_order_of_code_points() -> None:
    values = ["é", "z", "Z", "a\u0301", "😀", "\uffff", ""]
    assert [one.text for one in sorted(map(ReleasedValue.of, values))] == sorted(values)


@settings(max_examples=20, deadline=None)
@given(some.recursive(VALUES, lambda inner: some.lists(inner, max_size=4)))
def test_a_ledger_gives_the_same_values_again(tmp_path_factory: Any, answer: Any) -> None:
    drawn = _released(answer)
    path: Path = tmp_path_factory.mktemp("ledger") / "budget.db"
    ledger = Ledger(path)
    ledger.open("people", epsilon=1)
    assert ledger.session("people").buy(bill("1/2", "r"), answering(drawn)) == drawn
    head = ledger.verify().head
    forgetting()
    again = Ledger(path)
    assert again.session("people").buy(bill("1/2", "r"), untouched) == drawn
    assert again.verify(head).events == 3


def _released(answer: Any) -> Any:
    return list(map(_released, answer)) if isinstance(answer, list) else ReleasedValue.of(answer)
