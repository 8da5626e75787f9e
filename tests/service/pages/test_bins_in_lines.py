"""Bins in the lines of a form."""

import re
from typing import Any

import pytest

from discreet import Bins, WithMissing
from discreet.errors import InvalidArgument
from discreet.service.pages.bins_in_lines import read_bins

COLUMNS = ["age", "age: last", "day", "at"]


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
def test_they_are_read(text: str, bins: dict[str, Bins | WithMissing]) -> None:
    assert read_bins(text, COLUMNS, {}) == bins


def test_all_of_them_have_the_options() -> None:
    options = {"closed": True, "below": True}
    bins: Any = read_bins("age: 0, 18\nday: 2024-01-01 to 2025-01-01 by 1 month", COLUMNS, options)
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
def test_other_lines_are_refused(text: str, words: str) -> None:
    with pytest.raises(InvalidArgument, match=re.escape(words)) as refused:
        read_bins(text, COLUMNS, {})
    assert refused.value.is_public
