"""Bins as texts: what is one, what is the name of a column, and what is nearly one."""

from typing import Any

import pytest

from discreet import Bins, WithMissing
from discreet.errors import DiscreetError
from discreet.selection.bin_texts import column_of_text

BINS: dict[str, Bins] = {
    "age:0:120:10": Bins("age", 0, 120, 10),
    "age:-10:10:2.5": Bins("age", -10, 10, "2.5"),
    "x:0:1:1/3": Bins("x", 0, 1, "1/3"),
    "x:1e-3,1e3": Bins("x", edges=["1e-3", "1e3"]),
    "age:0,18,65,120": Bins("age", edges=[0, 18, 65, 120]),
    "age:0:120:10:missing:closed": Bins("age", 0, 120, 10, missing=True, closed=True),
    "age:18:below:above": Bins("age", edges=[18], below=True, above=True),
    "a:b:0:1:1": Bins("a:b", 0, 1, 1),
    "my age:0:1:1": Bins("my age", 0, 1, 1),
    "d:2024-01-01:2025-01-01:1 month": Bins("d", "2024-01-01", "2025-01-01", "1 month"),
    "t:2024-01-01T00:00:2024-01-01T01:00:10 minutes": Bins(
        "t", "2024-01-01T00:00", "2024-01-01T01:00", "10 minutes"
    ),
    "d:2024-01-01:2025-01-01:month": Bins("d", "2024-01-01", "2025-01-01", "1 month"),
    "t:2024-01-01T00:00:2024-01-02T00:00:6 hours": Bins("t", "2024-01-01T00:00", "2024-01-02T00:00", "6 hours"),
    "t:2024-01-01T00:00:00+01:00,2024-01-02T00:00+01:00": Bins(
        "t", edges=["2024-01-01T00:00+01:00", "2024-01-02T00:00+01:00"]
    ),
}  # fmt: skip


def test_a_column_may_have_missing_values() -> None:
    assert column_of_text("city:missing") == WithMissing("city")
    assert column_of_text("a:b:missing") == WithMissing("a:b")
    assert column_of_text(":missing") == ":missing"


@pytest.mark.parametrize("text", BINS)
def test_texts_are_bins(text: str) -> None:
    assert column_of_text(text) == BINS[text]


@pytest.mark.parametrize(
    "text",
    [
        "age",
        "a:b",
        "a:1",
        "12:30",
        "a:b:c:d",
        ":",
        "",
        "1",
        "0,1",
        "age:ten:twenty:1",
        "a:" + "1:" * 9999,
    ],
)
def test_other_texts_are_names(text: str) -> None:
    assert column_of_text(text) == text


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("age:0:120", "bins are age:0:120:10"),
        ("age:0:120:x", "bins are age:0:120:10"),
        ("age:0:120:10:odd", ":missing"),
        ("age:0,1,odd", "bins are age"),
        ("age:0:120:7", "whole number of steps"),
        ("age:1,0", "must rise"),
        ("age:0,2024-01-01", "an edge must be"),
        ("age:18:above:closed", "from 2 to"),
    ],
)
def test_what_is_nearly_bins_is_refused(text: str, words: str) -> None:
    with pytest.raises(DiscreetError, match=words):
        column_of_text(text)


def test_the_arguments_are_those_of_bins() -> None:
    options: dict[str, Any] = dict.fromkeys(("closed", "below", "above", "missing"), True)
    text = ":".join(["x:0,1", *options])
    assert column_of_text(text) == Bins("x", edges=[0, 1], **options)
