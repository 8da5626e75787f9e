"""The public times of requests: their parts, units and clocks."""

import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="the extra server is not installed")

from discreet.errors import InvalidDescription
from discreet.service.queue.promises import (
    LADDER,
    AnswerTimes,
    answer_times,
    describe_times,
)
from discreet.tables.datasets.configuration import read_configuration

TEXT = """
[datasets.people]
source = "people.csv"
columns.age = { type = "integer", minimum = 0, maximum = 120 }
columns.city = { type = "string", enum = ["Bern", "Basel"] }
columns.pay = { type = "integer", minimum = 0, maximum = 9 }
[datasets.slow]
source = "slow.csv"
answers_after = "250ms"
longest = "2s"
delay_resets = "renewal"
columns.age = { type = "integer", minimum = 0, maximum = 120 }
[datasets.open]
source = "open.csv"
answers_after = "0s"
columns.age = { type = "integer", minimum = 0, maximum = 120 }
"""


@pytest.fixture
def declared(tmp_path: Path) -> Any:
    (tmp_path / "discreet.toml").write_text(TEXT)
    return read_configuration(tmp_path / "discreet.toml")


def test_times_are_read_from_the_description(declared: Any) -> None:
    times = answer_times(declared)
    assert times == {
        "people": AnswerTimes(Fraction(1), Fraction(30), "day"),
        "slow": AnswerTimes(Fraction(1, 4), Fraction(2), "renewal"),
        "open": AnswerTimes(Fraction(0), Fraction(30), "day"),
    }
    said = [str(line) for line in describe_times(times)]
    assert (
        said[1]
        == "slow: an answer leaves 0.25 s after its reading began, or 2, 4, 8 … times as long"
    )
    assert said[2].startswith("open: answers leave as soon as they are ready")


@pytest.mark.parametrize(
    ("parts", "unit"), [(1, 1.0), (8, 1.0), (9, 2.0), (64, 8.0), (65, 9.0), (1000, 125.0)]
)
def test_a_unit_is_for_every_eight_parts_begun(parts: int, unit: float) -> None:
    times = AnswerTimes(Fraction(1), Fraction(30), "day")
    assert times.promise(parts).unit == unit
    assert times.promise(parts).clock == 300 * unit
    assert times.processor_limit(parts) == 30 * unit
    assert times.promise(parts).grain == 1.0


@pytest.mark.parametrize(
    ("after", "longest"), [("1", "30"), ("1/4", "2"), ("1/2", "1/20"), ("60", "1")]
)
def test_the_number_of_doublings_is_that_of_the_schedule(after: str, longest: str) -> None:
    """By enumeration: from one unit until a delay is the last."""
    times = AnswerTimes(Fraction(after), Fraction(longest), "day")
    for parts in (1, 8, 9, 64):
        promise, factor, doublings = times.promise(parts), 1, 0
        while not promise.is_last(factor):
            factor, doublings = 2 * factor, doublings + 1
        assert doublings == times.doublings


def test_the_ladder_has_nine_steps_and_names_the_first_that_would_do() -> None:
    times = AnswerTimes(Fraction(1), Fraction(30), "day")
    assert len(LADDER) == 9
    assert [times.longer(factor) for factor in (1, 2, 4, 16, 64)] == [1, 2, 5, 30, 60]


@pytest.mark.parametrize(
    ("old", "new", "fix"),
    [
        ('longest = "2s"', 'longest = "0s"', "longest must be above zero"),
        ('delay_resets = "renewal"', 'delay_resets = "hour"', "one of day, renewal"),
    ],
)
def test_words_that_are_wrong_are_refused_with_the_fix(
    tmp_path: Path, old: str, new: str, fix: str
) -> None:
    (tmp_path / "discreet.toml").write_text(TEXT.replace(old, new))
    with pytest.raises(InvalidDescription, match=re.escape(fix)):
        read_configuration(tmp_path / "discreet.toml")
