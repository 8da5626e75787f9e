"""Answers as numbers of categories, drawn once and given to every auditor in turn."""

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from .subjects import Answers, Subject

Categories = NDArray[np.int64]

_PILOT = 10_000
_MOST_CATEGORIES = 24


class Stream:
    """The answers of a subject on both of its sides, each used once.

    Rare answers are one category: of answers that are private nothing is lost by it but sharpness.
    """

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        pilots = [subject.ask(side, min(subject.draws // 4, _PILOT)) for side in (0, 1)]
        often = Counter(answer for pilot in pilots for answer in pilot).most_common(
            _MOST_CATEGORIES
        )
        # In the order of numbers, where they are numbers: some auditors look for intervals.
        ordered = sorted(
            (answer for answer, _ in often), key=lambda answer: (str(type(answer)), answer)
        )
        self._places = {answer: place for place, answer in enumerate(ordered)}
        self.categories = len(ordered) + 1
        self._waiting: list[Categories] = [self._numbers([]), self._numbers([])]

    def take(self, side: int, size: int) -> Categories:
        """Return the next answers of a side."""
        missing = size - len(self._waiting[side])
        if missing > 0:
            drawn = self._numbers(self.subject.ask(side, max(missing, 1000)))
            self._waiting[side] = np.concatenate([self._waiting[side], drawn])
        taken, self._waiting[side] = self._waiting[side][:size], self._waiting[side][size:]
        return taken

    def one_hot(self, side: int, size: int) -> NDArray[np.float64]:
        """Return the next answers as rows with a single 1."""
        return self.as_rows(self.take(side, size))

    def as_rows(self, numbers: Categories) -> NDArray[np.float64]:
        """Return answers as rows with a single 1."""
        return np.eye(self.categories)[numbers]

    def _numbers(self, answers: Answers) -> Categories:
        rare = self.categories - 1
        return np.array([self._places.get(answer, rare) for answer in answers], dtype=np.int64)
