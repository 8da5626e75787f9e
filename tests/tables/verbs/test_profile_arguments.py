"""The arguments of a profile: refused before anything private is read."""

from pathlib import Path
from typing import Any

import pytest

from discreet import profile
from discreet.errors import InvalidArgument, MissingColumn


@pytest.fixture
def people(tmp_path: Path) -> Path:
    file = tmp_path / "people.csv"
    file.write_text("who,age,city\na,20,Bern\nb,30,Basel\n", encoding="utf-8")
    return file


@pytest.mark.parametrize(
    ("terms", "message"),
    [
        ({}, "how much privacy"),
        ({"epsilon": 1, "columns": "age"}, "list of names"),
        ({"epsilon": 1, "columns": ["nobody"]}, "no column 'nobody'"),
        ({"epsilon": 1, "numbers": ["age"], "texts": ["age"]}, "say one of them"),
        ({"epsilon": 1, "numbers": ["nobody"]}, "no column 'nobody'"),
        ({"epsilon": 1, "columns": ["age"], "texts": ["city"]}, "none of those that are profiled"),
        ({"epsilon": 1, "max_contributions": 2}, "privacy_unit"),
        ({"epsilon": 1, "delta": 1}, "delta"),
        ({"epsilon": 1, "delta": 0}, "delta"),
        ({"epsilon": 1, "minimum_count": 0}, "minimum_count"),
        ({"epsilon": 1, "most": 0}, "most"),
        ({"epsilon": 1, "neighbors": "none"}, "neighbors"),
        ({"epsilon": 1, "request": "a"}, "ledger"),
    ],
)
def test_wrong_arguments_are_refused_before_anything_is_read(
    people: Path, terms: dict[str, Any], message: str
) -> None:
    with pytest.raises((InvalidArgument, MissingColumn), match=message):
        profile(people, **terms)
