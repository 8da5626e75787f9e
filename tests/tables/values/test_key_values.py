"""Which values are keys: each decided by itself, and equal ones are one."""

import datetime as dt
from decimal import Decimal
from fractions import Fraction
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pytest

from discreet.errors import UnreadableData
from discreet.tables.values.key_values import (
    KEY_KINDS,
    MOST_KEY_BYTES,
    KeyValue,
    check_keys,
    key_of_object,
    key_order,
)
from discreet.tables.values.kinds import ColumnType

UTC = dt.UTC
NOON = dt.datetime(2024, 3, 1, 12)
UNIQUE = UUID(int=7)


class Hostile(str):
    """A text that lies about itself."""

    def __str__(self) -> str:
        raise RuntimeError("a private value")


@pytest.mark.parametrize(
    ("cell", "key"),
    [
        ("milk ", "milk "),
        ("e\u0301", "e\u0301"),
        ("", ""),
        (np.str_("milk"), "milk"),
        (Hostile("milk"), "milk"),
        ("a" * MOST_KEY_BYTES, "a" * MOST_KEY_BYTES),
        ("a" * (MOST_KEY_BYTES + 1), None),
        ("é" * (MOST_KEY_BYTES // 2), "é" * (MOST_KEY_BYTES // 2)),
        ("é" * (MOST_KEY_BYTES // 2) + "a", None),
        ("\ud800", None),
        (7, 7),
        (np.uint8(7), 7),
        (2**53 + 1, 2**53 + 1),
        (10**300, None),
        (Decimal("7.00"), 7),
        (Decimal("-0.0"), 0),
        (Decimal("1E+3"), 1000),
        (Decimal("7.50"), Decimal("7.5")),
        (Decimal("NaN"), None),
        (Decimal("1E+999999"), None),
        (True, None),
        (np.bool_(True), None),
        (1.0, None),
        (np.float32(1), None),
        (Fraction(1, 2), None),
        (NOON, NOON),
        (NOON.replace(fold=1), NOON),
        (NOON.replace(tzinfo=UTC), NOON.replace(tzinfo=UTC)),
        (NOON.replace(tzinfo=ZoneInfo("Europe/Zurich")), NOON.replace(hour=11, tzinfo=UTC)),
        (dt.datetime.max.replace(tzinfo=dt.timezone(-dt.timedelta(hours=1))), None),
        (pd.Timestamp("2024-03-01T12"), NOON),
        (pd.Timestamp("2024-03-01T12:00:00.000000001"), None),
        (np.datetime64("2024-03-01T12:00:00.000000001"), None),
        (pd.NaT, None),
        (pd.NA, None),
        (None, None),
        (NOON.date(), NOON.date()),
        (UNIQUE, UNIQUE),
        (["milk"], None),
        ({"milk"}, None),
        (b"milk", None),
        (dt.timedelta(1), None),
    ],
)
def test_a_key_is_a_function_of_its_cell(cell: Any, key: Any) -> None:
    found = key_of_object(cell)
    assert found == key
    assert type(found) is type(key)


def test_keys_that_python_takes_for_equal_are_one() -> None:
    """Else an answer by key would lose one of them."""
    keys: list[KeyValue] = [
        "1",
        1,
        Decimal("1.5"),
        NOON,
        NOON.replace(tzinfo=UTC),
        NOON.date(),
        UNIQUE,
    ]
    assert len({key_order(key) for key in keys}) == len(set(keys)) == len(keys)
    assert len(sorted(keys, key=key_order)) == len(keys)


def test_texts_are_ordered_by_code_points() -> None:
    texts = ["\U0001f600", "\ufffd", "é", "z", "Z", "", "e\u0301"]
    assert sorted(texts, key=key_order) == sorted(texts, key=lambda text: text.encode())


@pytest.mark.parametrize("kind", [*KEY_KINDS, "float", "other"])
def test_types_without_keys_are_refused(kind: str) -> None:
    of = ColumnType("price", kind, "Float64")
    if kind in KEY_KINDS:
        check_keys(of)
        return
    with pytest.raises(UnreadableData, match="column 'price', of type Float64, has no keys"):
        check_keys(of)
