"""The registry of scores: one file each, one line each."""

from .contract import Score
from .counts import Counts
from .distance import Distance
from .given import Given
from .median_distance import MedianDistance
from .rank import Rank
from .revenue import Revenue
from .truth import Truth

__all__ = [
    "SCORES",
    "Counts",
    "Distance",
    "Given",
    "MedianDistance",
    "Rank",
    "Revenue",
    "Score",
    "Truth",
]

SCORES: dict[str, type[Score]] = {
    "given": Given,
    "counts": Counts,
    "rank": Rank,
    "median_distance": MedianDistance,
    "revenue": Revenue,
    "distance": Distance,
    "truth": Truth,
}
"""Each score under its name."""
