"""The fields of a question on a page."""

import re
from typing import Any

import pytest

from discreet import Bins, WithMissing
from discreet.errors import InvalidArgument
from discreet.service.pages.question_form import columns_for, read_bins
from discreet.tables.datasets.columns import read_column

COLUMNS = [
    read_column(name, entry, ())
    for name, entry in {
        "id": {"type": "integer", "minimum": 1, "maximum": 9},
        "city": {"type": "string", "enum": ["a"]},
        "note": {"type": "string"},
        "hired": {"type": "date", "minimum": "2020-01-01", "maximum": "2024-12-31"},
        "salary": {"type": "number"},
        "age": {"type": "integer", "minimum": 0, "maximum": 120},
    }.items()
]


def test_a_form_offers_the_columns_that_fit_its_verb_best_first() -> None:
    """An id is the last of all, and those without declared answers come after the others."""

    def names(verb: str) -> list[str]:
        return [one.name for one in columns_for(verb, COLUMNS, "id")]

    assert names("median") == names("quantiles") == ["hired", "age", "salary", "id"]
    assert names("best_price") == ["age", "salary", "id"]
    assert names("mode") == ["city", "hired", "age", "note", "salary", "id"]


_NAMES = ["age", "age: last", "day", "at"]


@pytest.mark.parametrize(
    ("text", "bins"),
    [
        ("", {}),
        (" \n\n", {}),
        ("age: 0 to 120 by 10", {"age": Bins("age", 0, 120, 10)}),
        ("day: missing ", {"day": WithMissing("day")}),
        ("age:0,18 , 65", {"age": Bins("age", edges=[0, 18, 65])}),
        ("age: last: 0, 1/3, 1", {"age: last": Bins("age: last", edges=[0, "1/3", 1])}),
        (
            "day: 2024-01-01 to 2025-01-01 by 1 month\nage: 0, 1",
            {
                "day": Bins("day", "2024-01-01", "2025-01-01", "1 month"),
                "age": Bins("age", edges=[0, 1]),
            },
        ),
        (
            "at: 2024-01-01T00:00 to 2024-01-01T12:00 by 6 hours",
            {"at": Bins("at", "2024-01-01T00:00", "2024-01-01T12:00", "6 hours")},
        ),
    ],
)
def test_bins_in_lines_are_read(text: str, bins: dict[str, Bins | WithMissing]) -> None:
    assert read_bins(text, _NAMES, {}) == bins


def test_all_bins_have_the_options() -> None:
    options = {"closed": True, "below": True}
    bins: Any = read_bins("age: 0, 18\nday: 2024-01-01 to 2025-01-01 by 1 month", _NAMES, options)
    assert bins["age"] == Bins("age", edges=[0, 18], closed=True, below=True)
    assert (bins["day"].closed, bins["day"].below, bins["day"].above) == (True, True, False)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("town: 0, 1", "begin a line with a column of the question"),
        ("age 0, 1", "begin a line with a column"),
        ("age: 0, 1\nage: 0, 2", "once for a column"),
        ("age: 0 to 120", "step must be a finite number"),
        ("age: 0 to 1e9 by 1", "at most 1,000 may be asked for"),
        ("age: x, y", "an edge must be a finite number"),
        ("age:", "Bins need from 2 to 1,001 edges"),
    ],
)
def test_lines_that_are_no_bins_are_refused(text: str, words: str) -> None:
    with pytest.raises(InvalidArgument, match=re.escape(words)) as refused:
        read_bins(text, _NAMES, {})
    assert refused.value.is_public
