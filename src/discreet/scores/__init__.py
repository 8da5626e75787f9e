"""The registry of scores: one file each, one line each."""

from .contract import Score
from .counts import Counts
from .given import Given
from .rank import Rank

__all__ = ["SCORES", "Counts", "Given", "Rank", "Score"]

SCORES: dict[str, type[Score]] = {
    "given": Given,
    "counts": Counts,
    "rank": Rank,
}
"""Each score under its name."""
