"""What all scores owe alike."""

from fractions import Fraction

import pytest

from discreet.privacy.sensitivity import Neighbors
from discreet.selection.candidates import Grid, Labels
from discreet.selection.scores.contract import Score
from discreet.selection.scores.custom import Custom
from discreet.selection.scores.distance import Distance, ListedDistance
from discreet.selection.scores.generalized import Generalized
from discreet.selection.scores.given import Given
from discreet.selection.scores.truth import Truth
from discreet.tables.engines.column import Source
from discreet.tables.scores.counts import Counts
from discreet.tables.scores.median_distance import MedianDistance
from discreet.tables.scores.per_unit import PerUnit
from discreet.tables.scores.rank import Rank
from discreet.tables.scores.revenue import Revenue

SECRET = [271828.0, 271828.0]
COLUMN = Source(SECRET, None).groups[0]
GRID = Grid(0, 9)
ALL: list[Score] = [
    Given(SECRET, 1), Custom(lambda data, _: data, SECRET, [1, 2], 1), Counts(COLUMN, (1, 2)),
    Distance(271828, 1, GRID), ListedDistance(Distance(271828, 1, GRID)), Truth(271828, Labels(["a", "b"])),
    Generalized(SECRET, (Fraction(1),), Fraction(2)), MedianDistance(COLUMN, GRID),
    Rank(COLUMN, GRID, Fraction(1, 2)), Revenue(COLUMN, GRID), PerUnit(Rank(COLUMN, GRID, Fraction(1, 2)), 3),
]  # fmt: skip


@pytest.mark.parametrize("score", ALL, ids=lambda score: type(score).__name__)
def test_a_score_shows_public_fields_alone(score: Score) -> None:
    assert repr(score).startswith(type(score).__name__ + "(")
    assert "271828" not in repr(score)


@pytest.mark.parametrize("score", ALL, ids=lambda score: type(score).__name__)
def test_the_sensitivity_of_a_score_needs_no_data(score: Score) -> None:
    """Only `compute` reads the column; a score that counts rows says so."""
    relation: Neighbors = "replace_one" if isinstance(score, Truth) else "add_remove"
    assert score.sensitivity(relation).spread > 0
    ours = isinstance(score, Given | Custom | Distance | ListedDistance | Truth | Generalized)
    assert score.counts_rows is not (ours or isinstance(score, PerUnit))
