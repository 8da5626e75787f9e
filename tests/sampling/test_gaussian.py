"""Discrete Gaussian noise: the law, the table, open words, and one answer on every path."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from flint import arb

from discreet.errors import OutOfBits
from discreet.mechanisms.testing import ScriptedBits, SeededBits, bit_tree
from discreet.sampling import gaussian
from discreet.sampling.bits import LazyUniform
from discreet.sampling.enclosures import lower, precision, upper
from discreet.sampling.gaussian import GaussianNoise
from discreet.sampling.gaussian_tails import tail

F = Fraction
ONE = F(573, 32)
"""The parameter at epsilon = 1 and delta = 10**-6."""

RATHER_WIDE = F(3 * 10**8)


def words_of(*words: int) -> ScriptedBits:
    return ScriptedBits("".join(f"{word:064b}" for word in words), width=64)


@pytest.mark.parametrize(
    ("sigma_squared", "depth", "most_open"),
    [(F(9, 4), 12, F(1, 100)), (F(1, 2), 12, F(1, 100)), (F(1, 100), 12, F(1, 100)),
     (F(12), 8, F(1, 2)), (RATHER_WIDE, 6, F(1))],
)  # fmt: skip
def test_all_strings_of_bits_lead_to_the_law(
    sigma_squared: Fraction, depth: int, most_open: Fraction
) -> None:
    noise = GaussianNoise(sigma_squared)
    tree = bit_tree(noise.draw, depth)
    assert tree.undecided <= most_open
    with precision(128):
        assert all(tree.admits(j, noise.probability(j)) for j in range(-30, 31))


@pytest.mark.parametrize(("sigma_squared", "most_open"), [(F(9, 4), 12), (F(1, 2), 8), (F(40), 50)])
def test_all_words_of_twelve_bits_lead_to_the_law(sigma_squared: Fraction, most_open: int) -> None:
    noise, masses, open_words = GaussianNoise(sigma_squared), dict[int, int](), 0
    for word in range(2**12):
        try:
            number = noise.draw(ScriptedBits(f"{word:012b}", width=12))
        except OutOfBits:
            open_words += 1
        else:
            masses[number] = masses.get(number, 0) + 1
    assert 0 < open_words <= most_open
    with precision(128):
        for j in range(-40, 41):
            mass, chance = F(masses.get(j, 0), 2**12), noise.probability(j)
            assert mass <= upper(chance)
            assert lower(chance) <= mass + F(open_words, 2**12)


def test_two_numbers_are_independent() -> None:
    noise = GaussianNoise(F(1, 2))
    tree = bit_tree(lambda bits: tuple(noise.draws(2, bits).tolist()), 10)
    assert tree.undecided < F(1, 4)
    for i, j in product(range(-2, 3), repeat=2):
        assert tree.admits((i, j), noise.probability(i) * noise.probability(j))


def test_the_table_has_its_known_entries() -> None:
    table = gaussian._table(ONE, 64).tolist()
    assert (table[0], table[1]) == (8353816207589564868, 6662594400307136145)
    assert (table[19], len(table), table[-1]) == (35585420870299, 39, 0)
    assert gaussian._table(F(1, 90), 64).tolist() == [0]
    assert len(gaussian._table(F(2 * 10**8), 64)) <= 131_072


@pytest.mark.parametrize(
    ("word", "number"),
    [
        (2**62, -3), (3 * 2**62, 3), (2**64 // 10, -5), (9 * 2**64 // 10, 5), (2**64 // 1000, -13),
        (2**64 - 1 - 2**64 // 10**6, 20), (2**63, 0), (2**63 - 1, 0),
    ],
)  # fmt: skip
def test_words_have_their_known_numbers(word: int, number: int) -> None:
    bits = words_of(word)
    assert GaussianNoise(ONE).draw(bits) == number


def test_a_word_that_equals_an_entry_is_read_on_from_both_ends() -> None:
    noise, first = GaussianNoise(ONE), 8353816207589564868
    with precision(256):
        boundary = int(lower(tail(1, ONE) * 2**128)) % 2**64
    for later, size in ((boundary - 2**20, 1), (boundary + 2**20, 0), (0, 1), (2**64 - 1, 0)):
        low, high = words_of(first, later), words_of(2**64 - 1 - first, 2**64 - 1 - later)
        assert (noise.draw(low), noise.draw(high)) == (-size, size)
        assert low.read == high.read == 128
    for word in (first - 1, first + 1, 2**64 - first, 2**64 - 2 - first):
        bits = words_of(word)
        noise.draw(bits)
        assert bits.read == 64


def test_equal_entries_are_compared_through_all_of_them() -> None:
    wide = F(2999, 2)
    table = gaussian._table(wide, 64).tolist()
    assert table[347:352] == [2, 2, 1, 1, 1]
    noise, sizes = GaussianNoise(wide), set()
    for word, later in product((1, 2), range(0, 2**64, 2**58)):
        size = -noise.draw(words_of(word, later))
        sizes.add(size)
        with precision(256):
            uniform = (arb(word) + arb(later) / 2**64) / 2**64
            assert tail(size + 1, wide) <= uniform < tail(size, wide)
    assert sizes == {347, 348, 349, 350, 351, 352}


def test_the_outermost_cells_reach_beyond_the_table() -> None:
    for sigma_squared in (ONE, F(1, 1000)):
        noise = GaussianNoise(sigma_squared)
        last = len(gaussian._table(sigma_squared, 64))
        sizes = {-noise.draw(words_of(0, later, 2**63)) for later in (1, 2**20, 2**40, 2**63)}
        assert min(sizes) >= last - 1
        assert max(sizes) > last - 1 or sigma_squared < 1
        assert noise.draw(words_of(2**64 - 1, 2**63)) >= last - 1


@pytest.mark.parametrize(
    "sigma_squared",
    [F(1, 3), F(1), F(100), F(10**7, 3), RATHER_WIDE, F(10**20), F(10**30), F(10**90, 7)],
)
def test_a_number_is_where_the_distribution_function_passes_the_uniform(
    sigma_squared: Fraction,
) -> None:
    noise, bits = GaussianNoise(sigma_squared), SeededBits(3)
    for _ in range(12):
        uniform = LazyUniform(bits)
        for _ in range(8):
            uniform.extend()
        j = noise.draw(ScriptedBits(f"{uniform.prefix:0{uniform.length}b}", width=64))
        with precision(1200):
            u = arb(uniform.prefix) / arb(2) ** uniform.length
            assert noise.up_to(j - 1) <= u < noise.up_to(j)


@pytest.mark.parametrize("sigma_squared", [F(1, 50), F(3), F(2999, 2), F(10**6)])
def test_all_ways_to_find_a_place_agree(
    sigma_squared: Fraction, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = gaussian._table(sigma_squared, 64)
    entries = set(table.tolist())
    words = SeededBits(1).words(400) >> np.uint64(1)
    distances = np.concatenate([words, table[:100], table[:100] + np.uint64(1), table[-1:]])
    expected = [int((table > d).sum()) for d in distances]
    equal = [d in entries for d in distances.tolist()]
    for some in (distances, np.concatenate([distances] * 9)):
        for most in (gaussian._MOST_COMPARISONS, 0):
            monkeypatch.setattr(gaussian, "_MOST_COMPARISONS", most)
            places, matches = gaussian._places(some, table)
            assert places[: len(distances)].tolist() == expected
            assert matches[: len(distances)].tolist() == equal
            monkeypatch.undo()


def test_many_at_once_are_those_drawn_one_by_one() -> None:
    noise, words = GaussianNoise(ONE), SeededBits(5).words(300).tolist()
    words[7] = 8353816207589564868
    together = noise.draws(300, words_of(*words, 0)).tolist()
    assert together == [noise.draw(words_of(word, 0)) for word in words]


def test_tables_of_parameters_closer_than_doubles_differ() -> None:
    near = ONE + F(1, 10**15)
    assert float(near) == float(ONE)
    assert gaussian._table(near, 64)[0] != gaussian._table(ONE, 64)[0]


def test_the_variance_is_a_hair_less_than_the_parameter() -> None:
    for sigma_squared, value in ((F(1, 4), "0.215012675088"), (F(1), "0.999999788768")):
        noise = GaussianNoise(sigma_squared)
        with precision(128):
            variance = sum((j * j * noise.probability(j) for j in range(-30, 31)), arb(0))
            assert abs(variance - arb(value)) < 1e-12
            assert noise.probability(0).overlaps(1 - 2 * noise.above(0))


def test_as_many_words_are_read_for_every_number() -> None:
    counts = ((F(1, 3), 1), (F(2 * 10**8), 1), (F(2**66 - 1), 1), (F(2**66), 2), (F(2**200), 3))
    for sigma_squared, words in counts:
        bits = SeededBits(9)
        numbers = GaussianNoise(sigma_squared).draws(20, bits)
        assert bits.read == 64 * 20 * words
        assert all(type(number) is int for number in numbers.tolist())
