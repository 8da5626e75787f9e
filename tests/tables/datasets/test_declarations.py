"""Names and values in TOML: Python's own reader reads what was written."""

import datetime as dt
import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.tables.datasets.declarations import key_lines, quote_key, quote_value, table_head

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.one_of(
    TEXTS,
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.dates(),
)


@given(VALUES | st.lists(VALUES))
def test_a_value_is_read_as_itself(value: Any) -> None:
    read = tomllib.loads(f"x = {quote_value(value)}\ny = 1")
    assert read == {"x": value, "y": 1}
    assert type(read["x"]) is type(value)


@given(TEXTS, TEXTS)
def test_a_name_is_one_part_of_a_key(first: str, second: str) -> None:
    text = f"{table_head('datasets', first)}\n{quote_key(second)} = 1"
    assert tomllib.loads(text) == {"datasets": {first: {second: 1}}}


@given(st.dictionaries(TEXTS, VALUES | st.dictionaries(TEXTS, VALUES, min_size=1), max_size=4))
def test_a_mapping_is_keys_with_a_dot(entries: dict[str, Any]) -> None:
    assert tomllib.loads("\n".join(key_lines(entries))) == entries


@pytest.mark.parametrize(("number", "lines"), [(3, 1), (60, 62)])
def test_a_long_list_has_a_line_for_each_value(number: int, lines: int) -> None:
    assert len(quote_value([*range(number)]).splitlines()) == lines


def test_a_date_is_a_date() -> None:
    assert quote_value(dt.date(2024, 2, 29)) == "2024-02-29"
