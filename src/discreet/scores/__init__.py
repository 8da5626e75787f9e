"""The registry of scores: one file each, one line each."""

from .contract import Score
from .counts import Counts
from .given import Given

__all__ = ["SCORES", "Counts", "Given", "Score"]

SCORES: dict[str, type[Score]] = {
    "given": Given,
    "counts": Counts,
}
"""Each score under its name."""
