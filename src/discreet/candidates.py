"""What may be answered: public, and fixed before the data are read."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from .errors import InvalidCandidates


class Labels(Sequence[Any]):
    """A list of distinct answers, in the order in which they were given."""

    __slots__ = ("_labels",)

    def __init__(self, labels: Iterable[Any]) -> None:
        """Keep the labels.

        Raises:
            InvalidCandidates: if there are none, or two are equal, or one is NaN, missing or unhashable.
        """
        if isinstance(labels, str | bytes):
            raise InvalidCandidates(
                f"candidates must be a list of answers, got the single text {labels!r}"
            )
        if not isinstance(labels, Iterable):
            raise InvalidCandidates(f"candidates must be a list of answers, got {labels!r}")
        self._labels = tuple(labels.tolist() if isinstance(labels, np.ndarray) else labels)
        if not self._labels:
            raise InvalidCandidates(
                "candidates must not be empty: there must be something to answer"
            )
        _refuse_repeats(self._labels)

    def __len__(self) -> int:
        return len(self._labels)

    def __getitem__(self, index: Any) -> Any:
        return self._labels[index]

    def __repr__(self) -> str:
        shown = ", ".join(map(repr, self._labels[:5]))
        return f"Labels([{shown}{', ...' if len(self) > 5 else ''}], {len(self)} in all)"


def _refuse_repeats(labels: tuple[Any, ...]) -> None:
    """Raise unless all labels are distinct, hashable, and equal to themselves."""
    seen = set()
    for label in labels:
        try:
            repeated = label in seen
            seen.add(label)
        except TypeError:
            raise InvalidCandidates(
                f"candidates must be simple values such as text, numbers or dates, got {label!r}"
            ) from None
        if repeated:
            raise InvalidCandidates(f"candidates must be distinct, {label!r} is there twice")
        if label is None or label != label:
            raise InvalidCandidates(f"candidates must be values that rows can equal, got {label!r}")
