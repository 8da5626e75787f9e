"""Scores: one file each, and one line in `score_names`."""

from typing import TYPE_CHECKING

from ...base.lazy_names import import_on_use

if TYPE_CHECKING:
    from .counts import ClassCounts, Counts
    from .median_distance import MedianDistance
    from .rank import Rank
    from .revenue import Revenue
    from .score_names import SCORES

__all__ = [
    "SCORES",
    "ClassCounts",
    "Counts",
    "MedianDistance",
    "Rank",
    "Revenue",
]

import_on_use(
    __name__,
    {
        "ClassCounts": "counts",
        "Counts": "counts",
        "MedianDistance": "median_distance",
        "Rank": "rank",
        "Revenue": "revenue",
        "SCORES": "score_names",
    },
)
