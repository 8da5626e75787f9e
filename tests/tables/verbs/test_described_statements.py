"""Statements that contradict the description are refused before anything is read, with the form that would do."""

from typing import Any

import pytest

import discreet
from discreet import Dataset
from discreet.errors import InvalidArgument, MissingColumn

from ...selection.test_payment import Unread
from .test_sql import CLAUSE, COLUMNS, people, per_user


@pytest.mark.parametrize(
    ("group", "words"),
    [
        ("COALESCE(city, 'Bern')", "that is one of the values of city"),
        ("COALESCE(age, 0)", "that is one of the values of age"),
        ("COALESCE(city, NULL)", "that is one of the values of city"),
        ("COALESCE(user, 0)", "declares no values of user"),
        ("COALESCE(city, drink)", "COALESCE take a text or a number"),
        ("COALESCE(city, 'a', 'b')", "each by itself"),
    ],
)
def test_coalesce_that_may_name_two_groups_is_refused(group: str, words: str) -> None:
    text = f"{CLAUSE}{group} AS g, COUNT(*) FROM people GROUP BY g"
    with pytest.raises(InvalidArgument, match=words):
        discreet.sql(Dataset(Unread(), columns=COLUMNS, name="people"), text)


def test_buckets_that_the_description_excludes_are_left_out() -> None:
    def numbers(bucket: str) -> list[int]:
        text = f"{CLAUSE}{bucket} AS b, COUNT(*) FROM people GROUP BY b"
        return [row["b"] for row in discreet.sql(people(), text).value]

    assert numbers("WIDTH_BUCKET(age, 0, 100, 2)") == [1, 2]
    assert numbers("WIDTH_BUCKET(age, 0, 99, 2)") == [1, 2, 3]  # 99 is at the end, and so beyond it
    assert numbers("WIDTH_BUCKET(age, 1, 100, 2)") == [0, 1, 2]
    assert numbers("RANGE_BUCKET(age, [18, 65])") == [0, 1, 2]


REFUSED = {
    "COUNT(*) FROM people": "COUNT(DISTINCT user)",
    "COUNT(DISTINCT user, age) FROM people": "of one column",
    "MEDIAN(city) FROM people": "declared as string",
    "MODE(user) FROM people": "does not declare the values",
    "MEDIAN(age) FROM others": "FROM names 'others', and this dataset is called people: write FROM people",
    "MEDIAN(age) FROM people WHERE city > 5": "with a number",
    "MEDIAN(age) FROM people GROUP BY user": "give delta",
    "MEDIAN(age) FROM people GROUP BY (city, age)": "without brackets",
    "MEDIAN(age) FROM people GROUP BY city, user": "GROUP BY city × user: the description of people does not",
    "MEDIAN(age) FROM people GROUP BY WIDTH_BUCKET(city, 0, 1, 2)": "declared as string",
    "MEDIAN(age) FROM people GROUP BY RANGE_BUCKET(age, [DATE '2024-01-01'])": "declared as integer",
    "city AS user, MEDIAN(age) FROM people GROUP BY user": "is a column, and a name in the select list",
    "WIDTH_BUCKET(age, 0, 99, 3) AS age, MEDIAN(age) FROM people GROUP BY age": "a name in the select list",
}


@pytest.mark.parametrize("text", REFUSED)
def test_contradictions_with_the_description_are_refused_before_anything_is_read(text: str) -> None:
    class Untouchable(dict[str, Any]):
        def __getitem__(self, name: str) -> Any:
            raise AssertionError("read")

    data = Dataset(
        Untouchable(age=[]),
        columns=COLUMNS,
        name="people",
        privacy_unit="user",
        max_contributions=2,
    )
    with pytest.raises(InvalidArgument) as error:
        discreet.sql(data, CLAUSE + text)
    assert REFUSED[text] in str(error.value)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("epsilon = 1, privacy_unit_column = age", "declares user"),
        ("epsilon = 1, delta = 1e-6", "leave it out"),
        ("epsilon = 1, min_privacy_units_per_group = 5", "compares a count that is released"),
    ],
)
def test_options_that_contradict_the_description_are_refused(options: str, words: str) -> None:
    text = f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS ({options}) city, MEDIAN(age) FROM people GROUP BY city"
    with pytest.raises(InvalidArgument, match=words):
        discreet.sql(per_user(), text)


@pytest.mark.parametrize("item", ["COUNT(age)", "COUNTIF(age > 17)", "MEDIAN(age)"])
def test_a_least_count_needs_the_count_of_all(item: str) -> None:
    text = f"{CLAUSE}city, {item} AS n FROM people GROUP BY city"
    with pytest.raises(InvalidArgument, match=r"select COUNT\(\*\)"):
        discreet.sql(people(), text.replace("= 1", "= 1, min_privacy_units_per_group = 5"))


def test_options_of_units_need_units() -> None:
    text = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1, {}) city, MEDIAN(age) FROM people GROUP BY city"
    for option in ("privacy_unit_column = user", "max_groups_contributed = 2"):
        with pytest.raises(InvalidArgument, match=r"[Ll]eave it out"):
            discreet.sql(people(), text.format(option))


def test_a_column_that_is_not_declared_is_missing() -> None:
    with pytest.raises(MissingColumn, match="no column 'ages'"):
        discreet.sql(people(), f"{CLAUSE}MEDIAN(ages) FROM people")
