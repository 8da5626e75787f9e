"""Scores of which a privacy unit is one record."""

from discreet.selection.scores.distance import ListedDistance
from discreet.tables.scores.counts import ClassCounts, Counts
from discreet.tables.scores.per_unit import PerUnit
from discreet.tables.scores.score_names import SCORES
from tests.selection.scores.test_contract import ALL


def test_every_score_is_here() -> None:
    assert {type(score) for score in ALL} == {*SCORES.values(), ListedDistance, PerUnit}
    assert ClassCounts.__repr__ is Counts.__repr__
