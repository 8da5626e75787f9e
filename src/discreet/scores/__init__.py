"""Scores: one file each, and one line in `registry`."""

from typing import TYPE_CHECKING

from ..lazy_names import lazy_names

if TYPE_CHECKING:
    from .contract import Score
    from .counts import ClassCounts, Counts
    from .custom import Custom
    from .distance import Distance
    from .generalized import Generalized
    from .given import Given
    from .median_distance import MedianDistance
    from .rank import Rank
    from .registry import SCORES
    from .revenue import Revenue
    from .truth import Truth

__all__ = [
    "SCORES",
    "ClassCounts",
    "Counts",
    "Custom",
    "Distance",
    "Generalized",
    "Given",
    "MedianDistance",
    "Rank",
    "Revenue",
    "Score",
    "Truth",
]

__getattr__ = lazy_names(
    __name__,
    {
        "ClassCounts": "counts",
        "Counts": "counts",
        "Custom": "custom",
        "Distance": "distance",
        "Generalized": "generalized",
        "Given": "given",
        "MedianDistance": "median_distance",
        "Rank": "rank",
        "Revenue": "revenue",
        "SCORES": "registry",
        "Score": "contract",
        "Truth": "truth",
    },
)
