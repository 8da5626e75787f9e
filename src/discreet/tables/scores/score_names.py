"""The registry of scores. Every score is one file, and one line here."""

from ...selection.scores.contract import Score
from ...selection.scores.custom import Custom
from ...selection.scores.distance import Distance
from ...selection.scores.generalized import Generalized
from ...selection.scores.given import Given
from ...selection.scores.truth import Truth
from .counts import Counts
from .median_distance import MedianDistance
from .rank import Rank
from .revenue import Revenue

SCORES: dict[str, type[Score]] = {
    "given": Given,
    "counts": Counts,
    "rank": Rank,
    "median_distance": MedianDistance,
    "revenue": Revenue,
    "custom": Custom,
    "generalized": Generalized,
    "distance": Distance,
    "truth": Truth,
}
"""Each score under its name."""
