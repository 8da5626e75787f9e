"""Scores: one file each, and one line in `score_names`."""

from typing import TYPE_CHECKING

from ..lazy_names import import_on_use

if TYPE_CHECKING:
    from .contract import Score
    from .counts import ClassCounts, Counts
    from .custom import Custom
    from .distance import Distance
    from .generalized import Generalized
    from .given import Given
    from .median_distance import MedianDistance
    from .rank import Rank
    from .revenue import Revenue
    from .score_names import SCORES
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

import_on_use(
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
        "SCORES": "score_names",
        "Score": "contract",
        "Truth": "truth",
    },
)
