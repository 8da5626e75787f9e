"""Two-sided geometric noise: the law, the certificate of the fast pass, and one answer on every path."""

from fractions import Fraction

import numpy as np
import pytest
from flint import arb

from discreet.mechanisms.testing import ScriptedBits, SeededBits, bit_tree
from discreet.sampling.bits import LazyUniform
from discreet.sampling.enclosures import lower, precision
from discreet.sampling.geometric import GeometricNoise

RATES = [
    Fraction(1),
    Fraction(1, 2),
    Fraction(1, 10),
    Fraction(7, 3),
    Fraction(40),
    Fraction(1, 10**40),
    Fraction(10**299),
]
UNIFORMS = [
    Fraction(1, 1000),
    Fraction(1, 10),
    Fraction(1, 3),
    Fraction(1, 2),
    Fraction(2, 3),
    Fraction(9, 10),
    Fraction(999, 1000),
]


def script_of(uniform: Fraction, words: int = 4) -> str:
    return f"{int(uniform * 2 ** (64 * words)):0{64 * words}b}"


@pytest.mark.parametrize("eta", [Fraction(1), Fraction(1, 2), Fraction(3, 10), Fraction(5)])
def test_all_strings_of_bits_lead_to_the_law(eta: Fraction) -> None:
    noise = GeometricNoise(eta)
    for draw in (noise.draw, lambda bits: int(noise.draws(1, bits)[0])):
        tree = bit_tree(draw, 20)
        assert tree.undecided < Fraction(1, 1000)
        with precision(128):
            assert all(tree.admits(j, noise.probability(j)) for j in range(-30, 31))


def test_two_numbers_are_independent() -> None:
    noise = GeometricNoise(Fraction(2))
    tree = bit_tree(lambda bits: tuple(noise.draws(2, bits).tolist()), 12)
    assert tree.undecided < Fraction(1, 4)
    for i in range(-2, 3):
        for j in range(-2, 3):
            assert tree.admits((i, j), noise.probability(i) * noise.probability(j))


@pytest.mark.parametrize(
    ("eta", "values"),
    [
        (
            Fraction(1, 2),
            {
                -5: "0.0510945733451372",
                -1: "0.377540668798145",
                0: "0.622459331201855",
                1: "0.771010009085512",
                5: "0.969009574721238",
            },
        ),
        (
            Fraction(1, 10),
            {
                -5: "0.318415972917004",
                -1: "0.475020812521060",
                0: "0.524979187478940",
                1: "0.570183394485100",
                5: "0.711885313204370",
            },
        ),
    ],
)
def test_the_distribution_function_has_its_known_values(
    eta: Fraction, values: dict[int, str]
) -> None:
    noise = GeometricNoise(eta)
    with precision(128):
        for j, value in values.items():
            assert abs(noise.up_to(j) - arb(value)) < 1e-14
            assert (noise.up_to(j) + noise.above(j)).contains(arb(1))
            step = noise.up_to(j) - noise.up_to(j - 1)
            assert noise.probability(j).overlaps(step)


@pytest.mark.parametrize(
    ("eta", "numbers"),
    [
        (Fraction(1, 2), [-12, -3, -1, 0, 1, 3, 12]),
        (Fraction(1, 10), [-62, -16, -4, 0, 4, 16, 62]),
    ],
)
def test_uniforms_have_their_known_numbers(eta: Fraction, numbers: list[int]) -> None:
    noise = GeometricNoise(eta)
    drawn = [noise.draw(ScriptedBits(script_of(u), width=64)) for u in UNIFORMS]
    assert drawn == numbers


@pytest.mark.parametrize("eta", RATES)
def test_a_number_is_where_the_distribution_function_passes_the_uniform(eta: Fraction) -> None:
    noise, bits = GeometricNoise(eta), SeededBits(3)
    for _ in range(40):
        uniform = LazyUniform(bits)
        for _ in range(20):
            uniform.extend()
        j = noise.draw(
            ScriptedBits(f"{uniform.prefix:0{uniform.length}b}", width=64),
        )
        with precision(4000):
            u = arb(uniform.prefix) / arb(2) ** uniform.length
            assert noise.up_to(j - 1) <= u < noise.up_to(j)


@pytest.mark.parametrize(
    "eta", [Fraction(1), Fraction(1, 7), Fraction(1, 10**6), Fraction(1, 2**31)]
)
def test_many_at_once_are_those_that_balls_tell(eta: Fraction) -> None:
    noise, words = GeometricNoise(eta), SeededBits(5).words(300)
    script = "".join(f"{int(word):064b}" for word in words) + "01" * 6400
    together = noise.draws(300, ScriptedBits(script, width=64)).tolist()
    alone = [noise.draw(ScriptedBits(f"{int(word):064b}" + "01" * 64, width=64)) for word in words]
    assert together == alone


def test_words_beside_a_boundary_are_left_to_balls() -> None:
    noise = GeometricNoise(Fraction(1, 3))
    with precision(256):
        boundary = int(lower(noise.up_to(-8) * 2**64))
    for shift, number in ((-(2**20), -8), (-1, -8), (1, -7), (2**20, -7)):
        bits = ScriptedBits(f"{boundary + shift:064b}", width=64)
        assert noise.draws(1, bits).tolist() == [number]
        assert bits.read == 64
    word = np.array([boundary], dtype=np.uint64)
    _, doubtful = noise._fast_sizes(word, 64)
    assert doubtful.all()
    bits = ScriptedBits(f"{boundary:064b}" + "1" * 64, width=64)  # beyond the boundary in its cell
    assert noise.draws(1, bits).tolist() == [-7]
    assert bits.read == 128


def test_the_outermost_cells_read_on() -> None:
    noise = GeometricNoise(Fraction(1))
    for bit, sign in (("0", -1), ("1", 1)):
        bits = ScriptedBits(bit * 64 + "01" * 32, width=64)
        [number] = noise.draws(1, bits).tolist()
        assert bits.read == 128
        assert sign * number > 40


def test_numbers_of_any_size_are_exact() -> None:
    noise = GeometricNoise(Fraction(1, 10**30))
    numbers = noise.draws(5, SeededBits(1))
    assert numbers.dtype == object
    assert all(type(number) is int for number in numbers)
    assert max(map(abs, numbers)) > 2**64
    few = GeometricNoise(Fraction(1, 2**20)).draws(1000, SeededBits(1))
    assert few.dtype == np.int64
    # A first word of zeros stands for a number beyond 64 bits at a small rate.
    slow = GeometricNoise(Fraction(1, 2**31))
    assert int(slow.draws(2, ScriptedBits("0" * 64 + "1" + "0" * 63 + "1" * 64, width=64))[0]) < 0


def test_as_many_words_are_read_for_every_number() -> None:
    for eta, words in ((Fraction(1), 1), (Fraction(1, 2**40), 2), (Fraction(1, 10**40), 4)):
        bits = SeededBits(9)
        GeometricNoise(eta).draws(200, bits)
        assert bits.read == 64 * 200 * words


@pytest.mark.parametrize("eta", [Fraction(1), Fraction(1, 1000), Fraction(1, 2**32), Fraction(30)])
def test_doubles_stay_within_their_proved_error(eta: Fraction) -> None:
    noise = GeometricNoise(eta)
    distances = [1, 2, 3, 2**30, 2**52 + 1, 2**62 + 12345, 2**63 - 1, 2**63]
    words = SeededBits(2).words(200) >> np.uint64(1)
    several = np.concatenate((np.array(distances, dtype=np.uint64), words + np.uint64(1)))
    heights = noise._fast_height(several, 64)
    with precision(256):
        for distance, height in zip(several.tolist(), heights.tolist(), strict=True):
            error = abs(noise._height(distance, 64) - arb(height)) * arb(float(eta))
            assert error < 2.0**-38
