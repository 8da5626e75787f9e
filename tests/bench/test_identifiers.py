"""A participle counts as a name, a term of the field does not."""

import ast

import pytest

from bench import identifiers

CODE = """
def answer(found, data, x):
    told = found.kept
    bounded, run, rows = told
    try:
        return read(rows.spent, rows.read, self._asked)
    except Error as raised:
        found_rows = i = 1
"""


@pytest.fixture
def trees() -> list[ast.Module]:
    return [ast.parse(CODE)]


@pytest.mark.parametrize(
    "name", ["found", "told", "_asked", "selected", "Held", "undone", "left", "cut", "_kept_"]
)
def test_a_participle_is_told(name: str) -> None:
    assert identifiers.is_participle(name)


@pytest.mark.parametrize(
    "name",
    [
        "bounded",
        "weighted",
        "calibrated",
        "spent",
        "_charged",
        "seed",
        "need",
        "red",
        "rows",
        "FOUND",
        "found_rows",
        "NotImplemented",
        "searchsorted",
        "answer",
        "keep",
    ],
)
def test_terms_of_the_field_and_other_words_are_none(name: str) -> None:
    assert not identifiers.is_participle(name)


def test_a_verb_that_is_spelled_alike_counts_as_a_variable_alone() -> None:
    assert identifiers.is_participle("read")
    assert not identifiers.is_participle("read", is_attribute=True)
    assert not identifiers.is_participle("_read")


def test_uses_are_counted_of_parameters_locals_attributes_and_errors(
    trees: list[ast.Module],
) -> None:
    uses = identifiers.participles(trees)
    assert uses == {"found": 2, "told": 2, "kept": 1, "read": 1, "_asked": 1, "raised": 1}
    assert identifiers.measured_first(trees) == 6


def test_names_that_say_nothing_are_counted_where_they_are_defined(trees: list[ast.Module]) -> None:
    assert identifiers.vague(trees) == {"data": 1}
    assert identifiers.letters(trees) == 2
