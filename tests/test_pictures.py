"""Every method that draws, on five datasets, compared as images with those of tests/golden/pictures.

Each file holds the five pictures of a method, one below the other, small and grey. They are compared in blocks of
pixels with a tolerance, as letters differ a little between releases of matplotlib. Whoever changes a picture on
purpose draws them anew and looks at them: `python -m tests.test_pictures`.
"""

import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
from numpy.typing import NDArray

import discreet
from discreet import Grid, plots
from discreet.mechanisms.testing import SeededBits

FOLDER = Path(__file__).parent / "golden" / "pictures"
BLOCK = 8
DARKEST = 40
"""The most, of 255, that the mean of a block may differ."""

AGES = {"age": [23, 29, 31, 34, 35, 38, 41, 44, 52, 67]}
CROWD = {"age": [40, 41] * 500 + [41]}
VOTES = {"tea": 310, "coffee": 322, "water": 245}
MANY = {f"name {i}": i % 7 for i in range(60)}
BIDS = [1, 1, 1, 3]
COUNTED: dict[str, Any] = {"sensitivity": 1, "monotonic": True}

Question = tuple[tuple[Any, ...], dict[str, Any]]

DATASETS: list[Question] = [
    ((VOTES,), COUNTED),
    ((MANY,), COUNTED),
    ((discreet.median, AGES, "age"), {"candidates": Grid(0, 120, "0.1")}),
    ((discreet.median, CROWD, "age"), {"candidates": Grid(15, 80)}),
    ((discreet.best_price, BIDS), {"candidates": Grid(0, "3.5", "0.05")}),
]
"""A few names, many names, a fine grid, a grid with a sure answer, and prices."""


def law(question: Question, epsilon: Any = "1/10") -> Any:
    arguments, terms = question
    return discreet.distribution(*arguments, **terms, epsilon=epsilon)


def draws(question: Question) -> Any:
    arguments, terms = question
    return discreet.simulate(*arguments, **terms, epsilon="1/10", size=300)


def compared(question: Question) -> Any:
    arguments, terms = question
    return discreet.compare(*arguments, **terms, epsilons=["0.01", 1], mechanisms=["exponential"])


def answered(question: Question) -> Any:
    drawn = draws(question)
    return law(question).plot(answer=drawn.values[0], draws=drawn)


def several(question: Question) -> Any:
    return plots.laws([law(question, epsilon).series() for epsilon in ("0.01", "0.1")])


def losses(question: Question) -> Any:
    chances = [chance for _, chance in law(question).top(5)]
    return plots.losses([float(chance.upper) - 0.5 for chance in chances], 0.25)


def curve(question: Question) -> Any:
    errors = [float(law(question, epsilon).expected_error()) for epsilon in ("0.01", "0.1", 1)]
    return plots.curve({"exponential": ([0.01, 0.1, 1], errors)}, at=0.1)


def lines(question: Question) -> Any:
    scores = [abs(score) for score in law(question).series().scores]
    return plots.lines({"scores": ([*range(1, 1 + len(scores))], scores)}, x="place", y="score")


def histograms(question: Question) -> Any:
    numbers = [len(str(value)) for value in draws(question).values]
    return plots.histograms({"lengths": numbers, "twice": [2 * n for n in numbers]}, bins=10)


def budget(question: Question) -> Any:
    sizes = [float(chance.upper) for _, chance in law(question).top(4)]
    return plots.budget([(i, sum(sizes[:i]), 2) for i in range(5)])


METHODS: dict[str, Callable[[Question], Any]] = {
    "distribution": lambda question: law(question).plot(),
    "answered": answered,
    "scores": lambda question: law(question).plot_scores(),
    "several": several,
    "draws": lambda question: draws(question).plot(),
    "comparison": lambda question: compared(question).plot(),
    "curve": curve,
    "lines": lines,
    "histograms": histograms,
    "budget": budget,
    "losses": losses,
}


def drawn(method: str) -> NDArray[np.float64]:
    """Return the five pictures of a method below one another, in grey from 0 to 255."""
    from matplotlib.image import imread

    bits = SeededBits(1)
    pictures = []
    with mock.patch.object(os, "urandom", lambda n: bits.words(-(-n // 8)).tobytes()[:n]):
        for question in DATASETS:
            buffer = io.BytesIO()
            METHODS[method](question).savefig(buffer, dpi=25)
            buffer.seek(0)
            pictures.append(255 * imread(buffer)[:, :, :3].mean(axis=2))
    return np.vstack(pictures)


def stored(method: str) -> NDArray[np.float64]:
    """Return the pictures of a method as they were."""
    from matplotlib.image import imread

    picture: NDArray[np.float64] = 255 * imread(FOLDER / f"{method}.png")
    return picture if picture.ndim == 2 else picture[:, :, :3].mean(axis=2)


def in_blocks(picture: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the means of the blocks of a picture."""
    height, width = (length // BLOCK for length in picture.shape)
    whole = picture[: height * BLOCK, : width * BLOCK]
    means: NDArray[np.float64] = whole.reshape(height, BLOCK, width, BLOCK).mean(axis=(1, 3))
    return means


def difference(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """Return by how much the block differs that differs most; infinity if the sizes do."""
    if one.shape != other.shape:
        return float("inf")
    return float(np.abs(in_blocks(one) - in_blocks(other)).max())


def check_fonts() -> None:
    """Skip where pictures are drawn with other letters than the stored ones."""
    manager = pytest.importorskip("matplotlib.font_manager")
    name = manager.get_font(
        manager.findfont(manager.FontProperties(family=["sans-serif"]))
    ).family_name
    if name != "DejaVu Sans":
        pytest.skip(f"the letters here are those of {name}, and not of DejaVu Sans")


def test_every_method_that_draws_is_here() -> None:
    assert sorted(path.stem for path in FOLDER.iterdir()) == sorted(METHODS)
    ours = {
        "scores",
        "law",
        "laws",
        "frequencies",
        "histograms",
        "lines",
        "curve",
        "budget",
        "losses",
        "counts",  # tests/base/test_count_tables.py
    }
    public = {
        name
        for name, value in vars(plots).items()
        if callable(value) and getattr(value, "__module__", "") == plots.__name__
        and not name.startswith("_") and not isinstance(value, type)
    }  # fmt: skip
    assert public == ours, "a method that is drawn by none of METHODS"


@pytest.mark.parametrize("method", METHODS)
def test_pictures_are_those_that_were_looked_at(method: str) -> None:
    check_fonts()
    assert difference(drawn(method), stored(method)) <= DARKEST, "python -m tests.test_pictures"


def test_a_changed_picture_is_seen() -> None:
    """A line in place of stems, a title that is missing, or another size is further away than letters are."""
    picture = stored("distribution")
    without_title = picture.copy()
    without_title[:14] = 255
    assert difference(picture, without_title) > DARKEST
    assert difference(picture, picture[:-1]) == float("inf")
    assert difference(stored("scores")[:100], picture[:100]) > DARKEST


def main() -> None:
    """Draw the pictures anew."""
    from matplotlib.image import imsave

    FOLDER.mkdir(exist_ok=True)
    for method in METHODS:
        imsave(FOLDER / f"{method}.png", drawn(method), cmap="gray", vmin=0, vmax=255)


if __name__ == "__main__":
    main()
