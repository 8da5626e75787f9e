"""Many rows at once: the answers of each row by itself, from the same words, and none that is not certain."""

import math
from fractions import Fraction
from itertools import accumulate, product
from math import prod
from typing import Any

import numpy as np
import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidScores
from discreet.mechanisms.testing import ScriptedBits, SeededBits, bit_tree
from discreet.sampling import categorical_rows
from discreet.sampling.bits import LazyUniform
from discreet.sampling.categorical import Categorical
from discreet.sampling.categorical_rows import CategoricalRows
from discreet.sampling.enclosures import NaturalRate, lower, precision, upper
from discreet.sampling.vectors import Vector

pytestmark = pytest.mark.usefixtures("fast_pass")

HALF = NaturalRate(Fraction(1, 2))


@given(
    st.integers(1, 9).flatmap(
        lambda n: st.lists(
            st.lists(st.floats(-1e4, 1e4) | st.just(0.0), min_size=n, max_size=n),
            min_size=1,
            max_size=6,
        )
    ),
    st.fractions(Fraction(1, 1000), 1000),
    st.integers(0, 2**32),
)
def test_any_table_gives_the_answers_of_its_rows(
    table: list[list[float]], eta: Fraction, seed: int
) -> None:
    rate, rows = NaturalRate(eta), np.array(table)
    found = CategoricalRows(rows, rate).draw(SeededBits(seed))
    for row, word, i in zip(rows, SeededBits(seed).words(len(rows)), found, strict=True):
        u = LazyUniform.of_word(int(word), SeededBits(1))
        assert Categorical(Vector(row), rate).settle(u) == i


def test_every_bit_string_is_accounted_for() -> None:
    table = np.array([[0, 1], [2, 0]])
    law = CategoricalRows(table, HALF)
    tree = bit_tree(lambda bits: tuple(law.draw(bits)), 11)
    with precision(300):
        alone = [Categorical(Vector(row), HALF).probabilities() for row in table]
    for answer in product(range(2), repeat=2):
        joint = prod((row[i] for row, i in zip(alone, answer, strict=True)), start=arb(1))
        assert tree.admits(answer, joint)
    assert tree.undecided < Fraction(1, 8)


def beside_boundaries(table: Any) -> int:
    """Check the words beside every boundary by exact arithmetic, and return how many were settled."""
    law, settled = CategoricalRows(table, HALF), 0
    for number, row in enumerate(table):
        with precision(600):
            ends = list(accumulate(Categorical(Vector(row), HALF).probabilities()))[:-1]
            sides = [(lower(end) * 2**64, upper(end) * 2**64) for end in ends]
        sides.append((Fraction(2**64), Fraction(2**64)))
        for (end, _), distance in product(sides, (-(2**30), -(2**22), -1, 0, 1, 2**22, 2**30)):
            word = math.floor(end) + distance
            if 0 <= word < 2**64:
                words = np.full(len(table), word, dtype=np.uint64)
                found = int(law._locate(words, 64)[number])
                if found >= 0:
                    settled += 1
                    assert found == 0 or sides[found - 1][1] <= word
                    assert word + 1 <= sides[found][0]
    return settled


def test_the_certificate_is_not_an_ornament(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without its slack a word beside a boundary is settled wrongly somewhere."""
    monkeypatch.setattr(categorical_rows, "error_of_sums", lambda *_: 0.0)
    monkeypatch.setattr(categorical_rows, "HALF_ULP", 0.0)
    odd = np.array([[0.1 * i * j % 1.7 for i in range(12)] for j in range(1, 9)])
    with pytest.raises(AssertionError):
        beside_boundaries(odd)


def test_what_is_open_is_settled_row_by_row_with_its_own_word() -> None:
    """The boundary of two equal weights is at one half: the word beside it is open for every fast pass."""
    table = np.zeros((3, 2))
    words = [2**63 - 1, 2**63, 5]
    script = "".join(f"{word:064b}" for word in words) + "1" * 640
    assert CategoricalRows(table, HALF).draw(ScriptedBits(script, width=64)) == [0, 1, 0]


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", [(0, 0), (2, 3), (1, 1)])
def test_what_is_not_finite_is_found_anywhere(wrong: float, place: tuple[int, int]) -> None:
    table = np.ones((3, 4))
    table[place] = wrong
    with pytest.raises(InvalidScores, match="NaN or an infinity"):
        CategoricalRows(table, HALF)
