"""Scores of which a privacy unit is one record."""

from discreet.scores import SCORES, ClassCounts
from discreet.scores.counts import Counts
from discreet.scores.distance import ListedDistance
from discreet.scores.per_unit import PerUnit
from tests.scores.test_contract import ALL


def test_every_score_is_here() -> None:
    assert {type(score) for score in ALL} == {*SCORES.values(), ListedDistance, PerUnit}
    assert ClassCounts.__repr__ is Counts.__repr__
