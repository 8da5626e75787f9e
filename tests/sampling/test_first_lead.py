"""First above: its law in closed form, by quadrature and by bit strings; words read; doubles against balls."""

from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from flint import acb, arb
from numpy.typing import NDArray

from discreet.errors import InvalidArgument
from discreet.mechanisms.testing import bit_tree
from discreet.sampling import first_lead
from discreet.sampling.bits import LazyUniform, SystemBits
from discreet.sampling.enclosures import ball, precision
from discreet.sampling.first_lead import FirstAbove

LEVELS = {
    ((-2, -1, 1, 1), "3/4", "5/8"): """0.156275343741922 0.234452666625328 0.428123054369606 0.0631060313888917
        0.118042903874253""",
    ((-2, -1, 1, 1), "1", "1/2"): """0.245252960780962 0.292788693067541 0.372548841062204 0.0415843709040105
        0.0478251341852836""",
    ((-18, -15, -8, -1, 1, 2), "1/2", "11/20"): """2.38927057410359e-5 0.000124404740383741 0.00584515750605429
        0.272468803998372 0.437483569833904 0.134570369538351 0.149483801677195""",
    ((-18, -15, -8, -1, 1, 2), "1/4", "31/40"): """2.13210270292722e-7 2.18043213989791e-6 0.000494980315815568
        0.112236292343779 0.315845928134371 0.147275836070419 0.424144569493205""",
}  # fmt: skip
"""Leads and rates, with the probabilities of stopping at each lead and at none, to 15 digits."""


def law(leads: Any, level: object, noise: object) -> FirstAbove:
    return FirstAbove(np.array(leads), Fraction(str(level)), Fraction(str(noise)))


def enclosed(of: FirstAbove, digits: int = 256) -> list[arb]:
    with precision(digits):
        return of.probabilities()


@pytest.mark.parametrize("case", LEVELS)
def test_probabilities_are_those_that_were_computed_elsewhere(case: Any) -> None:
    leads, level, noise = case
    # Nothing is above a lead of 10**9 less: it stands for none.
    balls = enclosed(law([*leads, 10**9], level, noise))
    for probability, text in zip(balls, LEVELS[case].split(), strict=True):
        digits = len(text.partition("e")[0].replace(".", "").lstrip("0"))
        assert probability.rad() < arb("1e-40")
        assert abs(probability / arb(text) - 1) < arb(10) ** (1 - digits)


def by_quadrature(leads: tuple[int, ...], a: Fraction, b: Fraction) -> list[arb]:
    """The probabilities of stopping at each lead, as integrals over the noise of the level."""
    balls = []
    for i, lead in enumerate(leads[:-1]):
        total = arb(0)
        start = max(0, leads[i - 1]) if i else 0
        ends = sorted({start, max(start, lead), max(start, lead) + 400})
        for low, high in pairwise(ends):

            def value(z: Any, _: bool, low: int = low, i: int = i, lead: int = lead) -> Any:
                density = ball(a) * (-ball(a) * z).exp()
                for j in range(i):
                    density *= 1 - (-ball(b) * (z - leads[j])).exp()
                return density * ((-ball(b) * (z - lead)).exp() if low >= lead else 1)

            total += acb.integral(value, arb(low), arb(high)).real
        balls.append(total)
    return balls


@pytest.mark.parametrize("leads", [(-3, -3, 0, 0, 2, 5), (4, 4, 9, 9), (-40, -1, -1, 3)])
def test_probabilities_are_integrals(leads: tuple[int, ...]) -> None:
    a, b = Fraction(3, 5), Fraction(4, 7)
    balls = enclosed(FirstAbove(np.array(leads), a, b))
    for probability, integral in zip(balls[:-1], by_quadrature(leads, a, b), strict=True):
        assert abs(probability - integral) < arb("1e-12")
    assert sum(balls, arb(0)).contains(arb(1))


def test_leads_far_below_are_enclosed_and_not_forgotten() -> None:
    leads = [-5000] * 200 + [-1, 0, 3]
    balls = enclosed(law(leads, "1/2", "1/2"))
    assert all(abs(p) < arb("1e-60") for p in balls[:200])
    few = enclosed(law([-1, 0, 3], "1/2", "1/2"))
    assert all(abs(p - q) < arb("1e-60") for p, q in zip(balls[200:], few, strict=True))


def test_probabilities_of_very_many_leads_are_refused_by_their_number() -> None:
    with pytest.raises(InvalidArgument, match="simulate"):
        law(np.zeros(5000, dtype=np.int64), 1, 1).probabilities()


@pytest.mark.parametrize(
    ("leads", "level", "noise"),
    [((0, 0, 1), 1, 1), ((-1, 2, 2), "1/2", "3/2"), ((-3, -1, 5), 2, "1/3"), ((7, 7), 1, 1)],
)
def test_every_string_of_bits_leads_to_the_law(leads: Any, level: Any, noise: Any) -> None:
    one = law(leads, level, noise)
    tree = bit_tree(one.draw, 13)
    for index, probability in enumerate(enclosed(one, 2000)):
        assert tree.admits(index, probability)
    assert tree.undecided < Fraction(1, 5)


class Counting:
    """Words of the operating system, counted."""

    width = 64

    def __init__(self) -> None:
        self.read = 0

    def word(self) -> int:
        self.read += 1
        return SystemBits().word()

    def words(self, n: int) -> NDArray[np.uint64]:
        self.read += n
        return SystemBits().words(n)


@pytest.mark.parametrize(
    "leads", [[0] * 50, [-(10**9)] * 50, [10**9] * 50, range(-25, 25), [-(10**15)] * 49 + [0]]
)
def test_the_number_of_words_is_that_of_the_leads_and_one(leads: Any) -> None:
    one, bits = law(list(leads), "1/10", "1/10"), Counting()
    for _ in range(100):
        one.draw(bits)
    assert bits.read == 100 * 51


class Words:
    """Words that were chosen."""

    width = 64

    def __init__(self, *words: int) -> None:
        self.left = list(words)

    def word(self) -> int:
        return self.left.pop(0)

    def words(self, n: int) -> NDArray[np.uint64]:
        return np.array([self.word() for _ in range(n)], dtype=np.uint64)


def test_doubles_decide_what_balls_decide() -> None:
    generator = np.random.default_rng(5)
    decided = 0
    for _ in range(60):
        level = int(generator.integers(2**64, dtype=np.uint64))
        rates = (
            Fraction(int(generator.integers(1, 40)), 16),
            Fraction(int(generator.integers(1, 40)), 16),
        )
        leads = np.sort(generator.integers(-30, 30, 12))
        # Words beside the one at which a lead is as high as the level.
        z = -np.log((level + 0.5) / 2.0**64) / float(rates[0])
        middles = np.exp(-float(rates[1]) * np.maximum(z - leads, 0)) * 2.0**64
        steps = generator.integers(-(2**12), 2**12, 12)
        words = [
            min(max(int(m) + int(s) * 2**30 // 7, 0), 2**64 - 1)
            for m, s in zip(middles, steps, strict=True)
        ]
        one = FirstAbove(leads, *rates)
        uniform = LazyUniform.of_word(level, SystemBits())
        above, open_places = one._compare(uniform, np.array(words, dtype=np.uint64), 64)
        for place, word in enumerate(words):
            if place not in open_places:
                decided += 1
                noise = LazyUniform.of_word(word, Words())
                start = LazyUniform.of_word(level, Words())
                assert one._is_above(place, start, noise) == above[place]
    assert decided > 300


MORE = [2**63] * 9


def decided_wrongly() -> tuple[int, int]:
    """Return of how many words beside boundaries doubles are certain, and for how many of them balls differ."""
    generator, certain, wrong = np.random.default_rng(5), 0, 0
    for _ in range(40):
        rates = [Fraction(int(generator.integers(1, 40)), 16) for _ in range(2)]
        level = int(generator.integers(2**64, dtype=np.uint64))
        one = FirstAbove(np.sort(generator.integers(-30, 30, 6)), rates[0], rates[1])
        for place, middle in enumerate(boundaries(one, level)):
            for distance in (0, 1, 2**4, 2**7, 2**10, 2**13, 2**16, 2**20):
                for word in {middle - distance, middle + distance}:
                    start, noise = (LazyUniform.of_word(w, Words(*MORE)) for w in (level, word))
                    words = np.full(6, min(max(word, 1), 2**64 - 1), dtype=np.uint64)
                    above, open_places = one._compare(start, words, 64)
                    if place not in open_places and 0 < word < 2**64:
                        certain += 1
                        wrong += one._is_above(place, start, noise) != above[place]
    return certain, wrong


def boundaries(law: FirstAbove, level: int) -> list[int]:
    """Return the words from which on each lead is not above the level; beyond all words where it always is."""
    with precision(200):
        a, b = ball(law.level_rate), ball(law.noise_rate)
        z = -((ball(Fraction(2 * level + 1, 2)) / arb(2) ** 64).log()) / a
        ends = [(-b * (z - lead)).exp() * arb(2) ** 64 for lead in law.leads.tolist()]
        return [int(end.floor().unique_fmpz()) for end in ends]


def test_words_beside_a_boundary_are_right_or_left_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """And without the band some of them are decided wrongly, so that the test can fail."""
    certain, wrong = decided_wrongly()
    assert certain > 300
    assert wrong == 0
    monkeypatch.setattr(first_lead, "_BAND", 0.0)
    assert decided_wrongly()[1] > 0


@pytest.mark.parametrize(
    ("further", "answer"),
    [([6, 4], 0), ([4, 6], 1), ([5, 5, 9, 7], 0), ([5, 5, 7, 9], 1), ([0, 2**64 - 1], 1)],
)
def test_a_doubt_is_settled_by_more_of_the_level_and_then_of_the_lead(
    further: list[int], answer: int
) -> None:
    # Both begin with the same word, and lead 0 is above the level if V <= U.
    bits = Words(2**63, 2**63, 5, *further)
    assert law([0, 10**9], 1, 1).draw(bits) == answer
    assert bits.left == []


def test_many_draws_follow_the_law() -> None:
    one = law([-2, -1, 1, 1, 10**9], "3/4", "5/8")
    counts = np.bincount(one.draws(4000, SystemBits()), minlength=5)
    for count, probability in zip(counts, enclosed(one), strict=True):
        p = float(probability.mid())
        assert abs(count - 4000 * p) < 6 * (4000 * p * (1 - p)) ** 0.5


def test_leads_beyond_64_bits_and_extreme_rates_are_compared_in_balls() -> None:
    far = FirstAbove(np.array([-(10**30), 10**30], dtype=object), Fraction(1), Fraction(1))
    assert far.draw(SystemBits()) == 1
    assert law([-1, 10**9], "1e-200", "1e200").draw(SystemBits()) in (0, 1)
    assert law([-1, 0], "1e200", "1e-200").draw(SystemBits()) in (0, 1)
