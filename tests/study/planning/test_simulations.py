"""Draws for study: their frequencies, and that they say what they are."""

from dataclasses import FrozenInstanceError

import pytest

import discreet
from discreet.selection.releases import as_hashable
from discreet.study.planning.simulations import Simulation


def test_frequencies_are_those_of_the_draws_the_most_frequent_first() -> None:
    drawn = Simulation(["tea", "milk", "milk", "milk"], "exponential")
    assert list(drawn.frequencies().items()) == [("milk", 0.75), ("tea", 0.25)]
    lists = Simulation([["tea", "milk"], ["milk", "tea"], ["tea", "milk"], ["tea"]], "peeling")
    assert lists.frequencies() == {("tea", "milk"): 0.5, ("milk", "tea"): 0.25, ("tea",): 0.25}


def test_a_simulation_cannot_be_changed_and_says_that_it_is_not_private() -> None:
    drawn = discreet.simulate([1, 2], sensitivity=1, epsilon=1, size=10)
    assert repr(drawn) == "Simulation(10 draws, exponential; not private, do not publish)"
    assert drawn == Simulation(drawn.values, "exponential", drawn.candidates)
    with pytest.raises(FrozenInstanceError):
        drawn.values = []  # type: ignore[misc]


def test_answers_of_groups_and_lists_can_be_counted() -> None:
    assert as_hashable({"a": [1, 2], "b": 3}) == (("a", (1, 2)), ("b", 3))
    assert as_hashable("tea") == "tea"
