"""The page on which keys are shown says what is worked out."""

import re
from fractions import Fraction
from pathlib import Path

import pytest
from bench.keys import DELTA, shown
from flint import arb

from discreet.mechanisms.key_rules import best_threshold
from discreet.mechanisms.private_keys import PrivateKeys
from discreet.sampling.enclosures import precision
from discreet.sampling.gaussian_probabilities import gaussian_probabilities
from discreet.sampling.key_probabilities import OptimalProbabilities, optimal_probabilities

PAGE = (Path(__file__).parents[2] / "docs/explanation/which_keys.md").read_text(encoding="utf-8")


def row(name: str) -> list[str]:
    """The cells of a row of the page, without bold."""
    line = next(line for line in PAGE.splitlines() if line.startswith(f"| {name} |"))
    return [cell.strip(" *") for cell in line.split("|")[2:-1]]


def test_the_keys_of_a_whole_table() -> None:
    columns = list(zip(*shown().rows, strict=True))
    assert row("`max_groups`") == list(columns[0])
    assert row("optimal rule alone") == list(columns[1])
    assert row("Gaussian rule alone") == list(columns[2])
    assert row("`keys`") == list(columns[3])
    assert row("`counts`") == list(columns[4])
    assert row(
        "a Gaussian threshold with half of δ for the noise and half for the threshold"
    ) == list(columns[5])
    for before, gaussian, now, counted, halves in zip(
        *(map(int, one) for one in columns[1:]), strict=True
    ):
        assert now >= max(before, gaussian, counted, halves)
        assert counted >= before
    assert min(map(int, columns[3][5:])) > 300


def test_by_how_much_shown_counts_are_too_large() -> None:
    ten = PrivateKeys(Fraction(1), DELTA, 10, shows_counts=True)
    for n, chance, more in zip(
        row("people of a page"),
        row("shown with probability"),
        row("too large by, if shown"),
        strict=False,
    ):
        if not n.isdigit():
            continue
        with precision(128):
            counts = range(71, int(n) + 150)
            chances = [float(ten.chance_of(int(n), y)) for y in counts]
        mean = sum(y * p for y, p in zip(counts, chances, strict=True)) / sum(chances)
        assert sum(chances) == pytest.approx(float(chance), abs=6e-4)
        assert mean - int(n) == pytest.approx(float(more), abs=0.051)


def number(cell: str) -> float:
    """Return a number such as 6.0·10⁻⁷."""
    powers = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
    found = re.fullmatch(r"(?:([\d.]+)·)?10([⁻⁰-⁹¹²³]+)", cell)
    if found:
        return float(found[1] or 1) * 10.0 ** int(found[2].translate(powers))
    return float(cell)


@pytest.mark.parametrize("count", [1, 10, 20, 40, 70, 100, 150, 200])
def test_the_probabilities_by_count(count: int) -> None:
    cells = [number(cell) for cell in row(str(count))]
    for place, keys in enumerate((1, 3, 10, 40)):
        best = best_threshold(Fraction(1), DELTA, keys, "add_remove")
        assert best is not None
        optimal = optimal_probabilities(*PrivateKeys(Fraction(1), DELTA, keys).share)
        gaussian = gaussian_probabilities(best.sigma_squared, best.least)
        with precision(128):
            chances = [probability_at(optimal, count), float(gaussian.probability(count))]
        for chance, cell in zip(chances, cells[2 * place : 2 * place + 2], strict=True):
            assert chance == pytest.approx(cell, rel=0.2, abs=5e-4 if cell == 1 else 0)


def probability_at(law: OptimalProbabilities, count: int) -> float:
    """Return the optimal probability at a count, 1 beyond the table."""
    chance = law.probability(count) if count < law.size else arb(1)
    return float(chance)
