"""Privacy units."""

import json

import pytest

from discreet.errors import InvalidArgument
from discreet.privacy.units import (
    one_record,
    plain_unit,
    read_stored_unit,
    read_unit,
    stored_unit,
    unit_in_words,
)
from tests.test_units_of_several_columns import PAIR, UNITS


def test_a_unit_is_a_set_of_columns() -> None:
    assert read_unit(["person", "household"]) == read_unit(PAIR) == PAIR
    assert read_unit(["person"]) == read_unit(("person",)) == read_unit("person") == "person"
    for wrong in (
        [],
        (),
        ["a", "a"],
        ["a", ""],
        ["a", None],
        [["a", "b"]],
        [1, 2],
        {"a", "b"},
        "a\x1fb",
    ):
        with pytest.raises(
            InvalidArgument, match="privacy_unit must be the name of a column, or a list"
        ):
            read_unit(wrong)


def test_no_two_units_are_written_alike() -> None:
    for written in (stored_unit, lambda unit: json.dumps(plain_unit(unit))):
        assert len({written(unit) for unit in [None, *UNITS]}) == len(UNITS) + 1
    for unit in [None, *UNITS]:
        assert read_stored_unit(stored_unit(unit)) == unit
        assert read_unit(json.loads(json.dumps(plain_unit(unit)))) == unit
    pairs = [unit for unit in UNITS if isinstance(unit, tuple)]
    assert len({unit_in_words(unit) for unit in pairs}) == len(pairs)


def test_it_is_said_as_a_noun() -> None:
    assert one_record(PAIR) == "all rows of one (household, person)"
    assert unit_in_words(("a, b", "c")) == '("a, b", c)'
