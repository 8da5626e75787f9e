"""Timing: the number of tries of a rejection sampler reveals how good the scores are."""

from collections.abc import Sequence
from fractions import Fraction

from flint import arb

from ...mechanisms import MECHANISMS
from ...mechanisms.contract import Law, PrivacyParameter, calibrate
from ...mechanisms.testing import SeededBits
from ...privacy.sensitivity import sensitivity_of
from ...sampling.bernoulli import bernoulli_one
from ...sampling.bits import Bits, below
from ...sampling.enclosures import NaturalRate, precision
from ...sampling.vectors import read_vector
from .. import audit
from .result import AttackResult, alike

_EPSILON = Fraction(1)
SCORES, NEIGHBOR = [0] * 20, [1] + [-1] * 19
"""All alike, so that the first try succeeds, or one ahead of the others."""


class UnsafeRejection:
    """The exponential mechanism by rejection: a chance candidate, kept with probability exp(-eta * gap).

    Its distribution is exact. The number of tries is geometric, and depends on the scores.
    """

    def __init__(self, scores: Sequence[int], eta: Fraction) -> None:
        self._scores, self._rate = scores, NaturalRate(eta)

    def draw(self, bits: Bits) -> int:
        """Return a candidate."""
        while True:
            i = below(len(self._scores), bits)
            if bernoulli_one(self._weight, i, bits):
                return i

    def kept_at_once(self) -> arb:
        """Return a ball around the probability that the first try succeeds: the mean of the weights."""
        weights = [self._weight(i) for i in range(len(self._scores))]
        return sum(weights, arb(0)) / len(weights)

    def _weight(self, i: int) -> arb:
        return self._rate.decay(Fraction(max(self._scores) - self._scores[i]))


class Tries:
    """The distribution of success at the first try, which a clock reveals of a rejection sampler."""

    def __init__(self, sampler: UnsafeRejection) -> None:
        self._sampler = sampler

    def probabilities(self) -> list[arb]:
        """Return balls around the probabilities of one try and of more."""
        once = self._sampler.kept_at_once()
        return [once, 1 - once]


def law_of(mechanism: str, scores: Sequence[int]) -> Law:
    """Return our distribution on the same scores."""
    sensitivity, parameter = sensitivity_of(1, "add_remove"), PrivacyParameter("epsilon", _EPSILON)
    return calibrate(MECHANISMS[mechanism](), sensitivity, parameter).law(read_vector(scores))


def words_read(law: Law | UnsafeRejection, draws: int = 100) -> set[int]:
    """Return how many words a draw reads, out of many draws."""
    counts, bits = set(), SeededBits()
    for _ in range(draws):
        before = bits.read
        law.draw(bits)
        counts.add((bits.read - before) // bits.width)
    return counts


def rejection_attack() -> AttackResult:
    """Run the attack and return its result."""
    naive = [UnsafeRejection(scores, _EPSILON / 2) for scores in (SCORES, NEIGHBOR)]
    words = [words_read(law_of("exponential", scores)) for scores in (SCORES, NEIGHBOR)]
    with precision(64):
        more = float(1 - naive[1].kept_at_once())
    return AttackResult(
        name="rejection",
        claim="The exponential mechanism by rejection: exact, and only its answer is seen.",
        naive=(
            "A clock sees how often it tries. Equal scores take one try, always. The neighbour's "
            f"take more with probability {more:.2f}."
        ),
        ours=f"A draw on either reads {_spell_words(words[0])} and {_spell_words(words[1])}, a hundred times.",
        naive_audit=audit.laws(Tries(naive[0]), Tries(naive[1]), epsilon=_EPSILON),
        our_audit=alike(words == [{1}, {1}], epsilon=_EPSILON),
        source="Awan and Rao 2023; OpenDP's permute_and_flip with replacement",
    )


def _spell_words(words: set[int]) -> str:
    return "one word" if words == {1} else f"{min(words)} to {max(words)} words"
