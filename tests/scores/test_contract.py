"""What all scores owe alike."""

from fractions import Fraction

import pytest

from discreet.candidates import Grid, Labels
from discreet.privacy.sensitivity import Neighbors
from discreet.scores import Score
from discreet.scores.counts import Counts
from discreet.scores.custom import Custom
from discreet.scores.distance import Distance, ListedDistance
from discreet.scores.generalized import Generalized
from discreet.scores.given import Given
from discreet.scores.median_distance import MedianDistance
from discreet.scores.per_unit import PerUnit
from discreet.scores.rank import Rank
from discreet.scores.revenue import Revenue
from discreet.scores.truth import Truth
from discreet.tables.column import Source

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
