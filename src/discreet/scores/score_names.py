"""The registry of scores. Every score is one file, and one line here."""

from .contract import Score
from .counts import Counts
from .custom import Custom
from .distance import Distance
from .generalized import Generalized
from .given import Given
from .median_distance import MedianDistance
from .rank import Rank
from .revenue import Revenue
from .truth import Truth

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
