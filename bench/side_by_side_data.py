"""The data and the questions of `side_by_side`, and how far off an answer is."""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

USERS, PAGES, RECORDS = 100_000, 5_000, 1_000
EPSILON, DELTA = 1.0, 1e-6
CANDIDATES, BEST, TOP_EPSILON = 50, 20, 0.1
LARGEST_INCOME = 200_000


@dataclass(frozen=True, slots=True)
class Task:
    """A question.

    Attributes:
        name: its name.
        title: its name for people.
        errors: returns how far off an answer is, by the data in a folder.
    """

    name: str
    title: str
    errors: Callable[[Path, Any], Mapping[str, float]]


def write_data(folder: Path) -> None:
    """Write the data of all questions, the same in every run."""
    rng = np.random.default_rng(20261123)
    weights = 1 / np.arange(1, PAGES + 1)
    pages = rng.choice(PAGES, size=USERS, p=weights / weights.sum())
    lines = [f"{user},/page/{page}" for user, page in enumerate(pages.tolist())]
    (folder / "log.csv").write_text("\n".join(["user,page", *lines, ""]), encoding="utf-8")
    votes = [k for k in range(CANDIDATES) for _ in range(int(2000 / (1 + 0.15 * k)))]
    (folder / "votes.csv").write_text("\n".join(["vote", *map(str, votes), ""]), encoding="utf-8")
    incomes = np.sort(rng.lognormal(10, 1, RECORDS)).round(2)
    (folder / "incomes.csv").write_text(
        "\n".join(["income", *map(str, incomes), ""]), encoding="utf-8"
    )


def read_column(folder: Path, name: str, column: int = 0) -> list[str]:
    """Return a column of a file of the data."""
    lines = (folder / f"{name}.csv").read_text(encoding="utf-8").splitlines()[1:]
    return [line.split(",")[column] for line in lines]


@cache
def _page_counts(folder: Path) -> Counter[str]:
    return Counter(read_column(folder, "log", 1))


@cache
def _votes(folder: Path) -> Sequence[int]:
    counts = Counter(map(int, read_column(folder, "votes")))
    return [counts[k] for k in range(CANDIDATES)]


@cache
def _incomes(folder: Path) -> Any:
    return np.array(list(map(float, read_column(folder, "incomes"))))


def _errors_of_keys(folder: Path, answer: Mapping[str, float | None]) -> dict[str, float]:
    """Return how many pages there are in an answer, and how far off their counts are in the root mean square."""
    counts = _page_counts(folder)
    off = [n - counts[key] for key, n in answer.items() if n is not None and counts[key] >= 100]
    error = float(np.sqrt(np.mean(np.square(off)))) if off else float("nan")
    return {"keys": len(answer), "error of counts": error}


def _errors_of_top(folder: Path, answer: Sequence[int]) -> dict[str, float]:
    """Return whether the set is the best one, and how many votes are lost."""
    votes = _votes(folder)
    lost = sum(votes[:BEST]) - sum(votes[k] for k in answer)
    return {"exact sets": float({*answer} == {*range(BEST)}), "votes lost": lost}


def _errors_of_median(folder: Path, answer: float) -> dict[str, float]:
    """Return how many ranks an answer is beside the middle."""
    rank = int(np.searchsorted(_incomes(folder), answer))
    return {"ranks off": abs(rank - RECORDS / 2)}


def _errors_of_mean(folder: Path, answer: float) -> dict[str, float]:
    """Return how far an answer is from the mean of the clipped numbers."""
    mean = float(np.clip(_incomes(folder), 0, LARGEST_INCOME).mean())
    return {"off": abs(answer - mean)}


TASKS = (
    Task(
        "keys",
        f"Which pages, and how many users ({USERS:,} users, ε = 1, δ = 10⁻⁶)",
        _errors_of_keys,
    ),
    Task("top", f"The best {BEST} of {CANDIDATES} (ε = 0.1)", _errors_of_top),
    Task("median", f"The median of {RECORDS:,} incomes (ε = 1)", _errors_of_median),
    Task("mean", f"The mean of {RECORDS:,} incomes (ε = 1)", _errors_of_mean),
)


def plain(answer: Any) -> Any:
    """Return an answer as JSON can hold it."""
    return json.loads(json.dumps(answer, default=float))
