"""Trees of sqlglot: names of columns and numbers, or a refusal."""

from fractions import Fraction

import pytest

pytest.importorskip("sqlglot", reason="the extra sql is not installed")

import sqlglot

from discreet.errors import InvalidArgument
from discreet.tables.conditions.sql_trees import (
    column_of_tree,
    has_only,
    signed_number_of_tree,
    tree_in_words,
)


def test_columns_are_named_alone() -> None:
    assert column_of_tree(sqlglot.parse_one('"My column"')) == "My column"
    for text in ("t.x", "x + 1", "1"):
        with pytest.raises(InvalidArgument):
            column_of_tree(sqlglot.parse_one(text))


def test_numbers_are_exact_with_their_sign() -> None:
    assert signed_number_of_tree(sqlglot.parse_one("-0.1"), "x") == Fraction(-1, 10)
    for text in ("'1'", "y", "1 + 1", "- -1"):
        with pytest.raises(InvalidArgument):
            signed_number_of_tree(sqlglot.parse_one(text), "x")


def test_a_tree_is_written_without_its_comments() -> None:
    assert tree_in_words(sqlglot.parse_one("SUM(/* of what */ x)")) == "SUM(x)"
    assert has_only(sqlglot.parse_one("x"), "this")
    assert not has_only(sqlglot.parse_one("t.x"), "this")
