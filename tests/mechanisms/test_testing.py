"""The harness catches what is wrong: broken mechanisms must not pass."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import pytest
from flint import arb
from numpy.typing import NDArray

from discreet.mechanisms import Exponential, PermuteAndFlip
from discreet.mechanisms.contract import Calibrated, Law, PrivacyParameter
from discreet.mechanisms.testing import (
    SeededBits,
    bit_tree,
    check_mechanism,
    counted_work,
    log_ratios,
)
from discreet.mechanisms.without_guarantee import WithoutGuarantee
from discreet.privacy.guarantees import BoundedRange
from discreet.privacy.sensitivity import Sensitivity
from discreet.sampling.bits import Bits, SystemBits
from discreet.sampling.categorical import Categorical
from discreet.sampling.enclosures import NaturalRate, precision
from discreet.sampling.vectors import Vector, read_vector


class Biased:
    """States one law and draws from another: it never answers the last candidate."""

    def __init__(self, law: Law, n: int) -> None:
        self.law, self.n = law, n

    def draw(self, bits: Bits) -> int:
        return min(self.law.draw(bits), max(0, self.n - 2))

    def draws(self, size: int, bits: Bits) -> NDArray[np.int64]:
        return np.array([self.draw(bits) for _ in range(size)])

    def probabilities(self) -> list[arb]:
        return self.law.probabilities()


class Argmax(Biased):
    """Always the best: infinitely far from its neighbours, and says so."""

    def __init__(self, law: Law, n: int) -> None:
        super().__init__(law, n)
        with precision(64):
            chances = [float(p) for p in law.probabilities()]
        self.best = chances.index(max(chances))

    def draw(self, bits: Bits) -> int:
        return self.best

    def probabilities(self) -> list[arb]:
        return [arb(int(i == self.best)) for i in range(self.n)]


class Burn(Biased):
    """Reads so many bits that no enumeration says anything."""

    def draw(self, bits: Bits) -> int:
        return sum(bits.word() for _ in range(40)) * 0


class Wide(Biased):
    """Draws right, but states probabilities that say nothing."""

    def draw(self, bits: Bits) -> int:
        return self.law.draw(bits)

    def probabilities(self) -> list[arb]:
        return [arb(0.5, 0.6) for _ in range(self.n)]


class BadBatch(Biased):
    """One by one right, in batches always the first."""

    def draw(self, bits: Bits) -> int:
        return self.law.draw(bits)

    def draws(self, size: int, bits: Bits) -> NDArray[np.int64]:
        return np.zeros(size, dtype=np.int64)


class Outside(Biased):
    """Answers what is no candidate."""

    def draw(self, bits: Bits) -> int:
        return self.law.draw(bits) + 7


class Stated(Biased):
    """Has probabilities in proportion to whole numbers, and is never drawn from."""

    def __init__(self, parts: list[int]) -> None:
        self.parts = parts

    def probabilities(self) -> list[arb]:
        return [arb(part) / sum(self.parts) for part in self.parts]


class Unfinished(Biased):
    def draw(self, bits: Bits) -> int:
        return self.law.draw(bits)

    def probabilities(self) -> list[arb]:
        return [p / 2 for p in self.law.probabilities()]


@dataclass(frozen=True)
class Broken:
    """An exponential mechanism with one thing wrong."""

    wrong: str
    name: ClassVar[str] = "broken"
    takes_runs: ClassVar[bool] = False
    parameters: ClassVar[dict[str, Any]] = {}

    def calibrate(self, sensitivity: Sensitivity, parameter: PrivacyParameter | None) -> Calibrated:
        plain = Exponential().calibrate(sensitivity, parameter)
        epsilon: Any = plain.guarantee.pure
        eta = epsilon / (sensitivity.change if self.wrong == "constant" else sensitivity.spread)

        def law(scores: Vector) -> Law:
            if self.wrong == "check" and not np.all(np.isfinite(scores.values.astype(float))):
                return Categorical(read_vector([0]), NaturalRate(eta))
            made = Categorical(scores, NaturalRate(eta))
            kinds: dict[str, Any] = {
                "draw": Biased, "sum": Unfinished, "argmax": Argmax, "burn": Burn,
                "wide": Wide, "batch": BadBatch, "outside": Outside,
            }  # fmt: skip
            return kinds[self.wrong](made, len(scores)) if self.wrong in kinds else made

        if self.wrong == "overspend":
            return Exponential().calibrate(sensitivity, PrivacyParameter("epsilon", Fraction(100)))
        if self.wrong == "range":
            flip = PermuteAndFlip().calibrate(sensitivity, parameter)
            return Calibrated(BoundedRange(epsilon, sensitivity.neighbors), flip.law)
        rates: dict[str, Any] = {self.wrong: NaturalRate(2 * eta)} if "rate" in self.wrong else {}
        return Calibrated(plain.guarantee, law, **rates)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("draw", "the draw gives"),
        ("sum", "do not sum to one"),
        ("constant", "differ by more than"),
        ("range", "differ by more than"),
        ("check", "was not rejected"),
        ("argmax", "differ by more than"),
        ("burn", "decide nothing"),
        ("wide", "narrow balls were expected"),
        ("batch", "two at once"),
        ("outside", "the draw gives"),
        ("overspend", "is not what was asked for"),
        ("rate", "not that of its rate"),
        ("flip_rate", "not that of its flip_rate"),
    ],
)
def test_a_broken_mechanism_is_caught(wrong: str, message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        check_mechanism(Broken(wrong), depth=2 if wrong == "burn" else 12)


def test_what_is_not_broken_passes() -> None:
    check_mechanism(Broken("nothing"))


def test_a_guarantee_without_epsilon_cannot_be_checked() -> None:
    with pytest.raises(TypeError, match="it has no epsilon"):
        check_mechanism(WithoutGuarantee(Exponential(), "none"))


def test_a_draw_that_is_no_function_of_its_bits_is_caught() -> None:
    calls = []

    def moody(bits: Bits) -> int:
        calls.append(1)
        return bits.word() if len(calls) > 2 else bits.word() + bits.word()

    with pytest.raises(AssertionError, match="not a function of its bits"):
        bit_tree(moody, 3)


def test_a_tree_counts_every_string() -> None:
    tree = bit_tree(lambda bits: bits.word() or bits.word() + 2, 1)
    assert tree.masses == {1: Fraction(1, 2)}
    assert tree.undecided == Fraction(1, 2)
    tree = bit_tree(lambda bits: bits.word() or bits.word() + 2, 2)
    assert tree.masses == {1: Fraction(1, 2), 2: Fraction(1, 4), 3: Fraction(1, 4)}
    assert tree.admits(2, arb("0.25"))
    assert not tree.admits(2, arb("0.26"))
    assert not tree.admits(4, arb("0.01"))


def test_ratios_leave_out_what_neither_law_answers() -> None:
    laws = [Stated([0, 1, 1]), Stated([0, 1, 3])]
    with precision(64):
        ratios = [float(ratio.exp().mid()) for ratio in log_ratios(*laws)]
    assert ratios == pytest.approx([2, 2 / 3])


def test_work_is_counted() -> None:
    with counted_work() as work:
        law = Categorical(read_vector([0, 1, 2]), NaturalRate(Fraction(1)))
        law.draw(SystemBits())
        law.draws(5, SystemBits())
    assert (work.words, work.functions, work.passes, work.balls) == (6, 3, 1, 0)
    with counted_work() as work:
        Categorical(read_vector([0, 1]), NaturalRate(Fraction(1, 10**300))).draw(SystemBits())
    assert work.balls >= 2


def test_seeded_bits_are_the_same_every_time_and_look_random() -> None:
    one, same, other = SeededBits(), SeededBits(0), SeededBits(1)
    words = one.words(1000)
    assert words.tolist() == [same.word() for _ in range(1000)]
    assert words[0] != other.word()
    assert one.read == same.read == 64_000
    assert len(set(words.tolist())) == 1000
    heads = np.unpackbits(words.view(np.uint8)).mean()
    assert abs(heads - 0.5) < 0.01
