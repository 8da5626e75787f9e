"""private_keys: the keys of a table without a public list, with their counts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import ClassVar, NamedTuple

import numpy as np
from flint import arb
from numpy.typing import NDArray

from ..privacy.approx_dp import ApproxDP
from ..privacy.composition import with_parts
from ..privacy.gaussian_keys import GaussianThreshold, WeightedThreshold
from ..privacy.sensitivity import Neighbors
from ..privacy.several_dp import SeveralDP
from ..sampling.bits import Bits
from ..sampling.gaussian_probabilities import GaussianProbabilities, gaussian_probabilities
from ..sampling.key_draws import KeyDraw
from ..sampling.key_probabilities import OptimalProbabilities, optimal_probabilities
from .key_rules import best_threshold, best_weights, better_threshold
from .key_shares import KeyShare, best_share


class DrawnKeys(NamedTuple):
    """The keys that are released, by their places in a table that was counted. They are fetched after.

    Attributes:
        classes: their counts, as far as the table tells them apart.
        places: their places in these classes, from 0.
        shifts: released count minus count. None if no counts are released.
        least: the least count that is released. Of the last class keys of less are still to be left out.
    """

    classes: NDArray[np.int64]
    places: NDArray[np.int64]
    shifts: NDArray[np.int64] | None
    least: int = 0


@dataclass(frozen=True)
class PrivateKeys:
    """Releases keys by their counts, the more likely the larger they are, and noisy counts at no further cost.

    Of these rules the one is taken that releases a key with one half from the least count on (`better_threshold`):
    - optimal: key by key, with the largest probability that its part of epsilon and delta allows. Where
      one record changes the count of one key, no rule is better.
    - Gaussian: a key of count n where n + X, with discrete Gaussian noise X, reaches a threshold.
    - weights: the same, where a record of few keys adds more than one to them. It is taken in place
      of the Gaussian rule where a record comes or goes, no count is shown, and no least count is asked for. In
      what follows a count is then a sum of weights.

    With M the noise of `ProbabilitiesByCount` a key is released if M <= n, with the count n + t - M for a public t.

    Guarantee: (epsilon, delta)-DP, with the counts or without them, where a record that comes or goes changes
    the counts of at most `keys` keys by one; and of several keys also the parts of the rule: as many times that
    of one, or the noisy counts and a delta for keys of one record.

    Side channels: a draw reads a number of words that follows from the answer and from public numbers, but for
    doubts: docs/reference/mechanisms/private_keys.md. Its time depends on the sizes of classes too.

    Source: Desfontaines, Voss, Gipson and Mandayam, "Differentially private partition selection", 2022. That
    the count is free, and the composition over several keys: docs/reference/mechanisms/private_keys.md. The exact
    delta of the Gaussian rule: docs/reference/mechanisms/private_keys.md#gaussian_keys, of weights:
    docs/reference/mechanisms/private_keys.md#weighted_keys.

    Args:
        epsilon: of all keys together, above zero.
        delta: of all keys together, between 0 and 1.
        keys: the most keys in which one record counts.
        neighbors: the neighbouring relation; a record replaced changes twice as many keys.
        minimum_count: a key of fewer records is never released.
        shows_counts: whether released counts are shown, so that their noise decides between the rules too.

    Raises:
        InvalidArgument: if the table of probabilities would be too long, or a number is out of its range.
    """

    epsilon: Fraction
    delta: Fraction
    keys: int = 1
    neighbors: Neighbors = "add_remove"
    minimum_count: int = 1
    shows_counts: bool = False
    name: ClassVar[str] = "private_keys"

    @cached_property
    def share(self) -> KeyShare:
        """The epsilon and the delta of one key, by the optimal rule."""
        return best_share(self.epsilon, self.delta, self.changes)

    @cached_property
    def threshold(self) -> GaussianThreshold | WeightedThreshold | None:
        """The threshold of noisy counts. None if the optimal rule is better, as always for one key."""
        if self.changes == 1:
            return None
        best = best_threshold(self.epsilon, self.delta, self.keys, self.neighbors)
        better = better_threshold(self.share, best, shows_counts=self.shows_counts)
        return better if better is None or not self._may_weigh else self._weighted(better)

    @property
    def _may_weigh(self) -> bool:
        """Whether weights are private here, and no sum of them would be shown."""
        # A record that is replaced would move a key by the difference of two weights, and a least count beside a
        # weight would not be private: *When weights are used* in private_keys.md.
        return self.neighbors == "add_remove" and self.minimum_count == 1 and not self.shows_counts

    def _weighted(self, without: GaussianThreshold) -> GaussianThreshold | WeightedThreshold:
        """Return the threshold with weights, or the one without them if it shows a key from fewer records on."""
        weighted = best_weights(self.epsilon, self.delta, self.keys)
        return weighted if weighted is not None and weighted.even <= without.even else without

    @property
    def weights(self) -> tuple[int, ...] | None:
        """The weights of records of 1, 2, ... keys. None if all of them are one."""
        return self.threshold.weights if isinstance(self.threshold, WeightedThreshold) else None

    @property
    def rule(self) -> str:
        """The name of the rule that is taken."""
        if self.weights is not None:
            return "weights"
        return "optimal" if self.threshold is None else "gaussian"

    @property
    def changes(self) -> int:
        """How many counts neighbours may have apart."""
        # Coq: KeysPerUnit.keys_together
        return self.keys if self.neighbors == "add_remove" else 2 * self.keys

    @property
    def guarantee(self) -> ApproxDP | SeveralDP:
        """The guarantee of all keys together, with their counts; of several also that of one, so many times."""
        # Of one key by the optimal rule, Coq: Keys.keys_up, Keys.keys_down, Keys.delta_needed
        whole = ApproxDP(self.epsilon, self.delta, self.neighbors)
        if self.threshold is not None:
            return with_parts(whole, *self.threshold.parts)
        if self.changes == 1:
            return whole
        of_a_key = ApproxDP(*self.share, self.neighbors)
        return with_parts(whole, of_a_key.repeated(self.changes))

    @property
    def parameters(self) -> Mapping[str, object]:
        """The public parameters, which decide the distribution."""
        return {
            "epsilon": self.epsilon, "delta": self.delta, "keys": self.keys,
            "minimum_count": self.minimum_count,
            **self._noise,
        }  # fmt: skip

    @property
    def _noise(self) -> dict[str, object]:
        """The parameters of noise and a threshold, if they are taken."""
        if self.threshold is None:
            return {}
        weights = {} if self.weights is None else {"weights": [*self.weights]}
        return {
            "sigma_squared": self.threshold.sigma_squared, "threshold": self.threshold.least, **weights
        }  # fmt: skip

    @property
    def probabilities(self) -> OptimalProbabilities | GaussianProbabilities:
        """The probabilities by count, for a minimum count of 1."""
        if self.threshold is None:
            return optimal_probabilities(*self.share)
        return gaussian_probabilities(self.threshold.sigma_squared, self.threshold.least)

    @property
    def sure(self) -> int:
        """The least count of which a key is always released, but for a probability below 2**-64."""
        return self.probabilities.size + self._before

    @property
    def even(self) -> int:
        """The number of records from which on a key is released with one half or more, whatever keys they have.

        Where there are no weights, one of fewer records is released with less than that.
        """
        if isinstance(self.threshold, WeightedThreshold):
            return self.threshold.even
        table = _drawing(self.probabilities).table.probabilities
        return int(table.searchsorted(0.5, side="left")) + self._before

    @property
    def least_even(self) -> int:
        """The same number for records that have that key alone: it is less where there are weights."""
        if isinstance(self.threshold, WeightedThreshold):
            return self.threshold.even_of_single
        return self.even

    def weight_of(self, keys: int) -> int:
        """Return the weight of a record of so many keys: it adds that to them."""
        return 1 if self.weights is None else self.weights[min(keys, self.keys) - 1]

    @property
    def _before(self) -> int:
        """By how much the minimum count moves the table."""
        return self.minimum_count - 1

    def compute_tables(self) -> int:
        """Compute all tables of public numbers, before data are read; return how many probabilities they have."""
        return len(_drawing(self.probabilities).table.probabilities)

    def law(self, sizes: Sequence[int], *, with_counts: bool) -> "KeysLaw":
        """Return the distribution of the answer, for the sizes of classes."""
        return KeysLaw(self, tuple(sizes), with_counts)

    def chance(self, count: int, *, with_counts: bool = False) -> arb:
        """Return a ball around the probability that a key of that count is released.

        Without counts the keys of all counts from `sure` on are decided alike.
        """
        place = max(0, count - self._before)
        law = self.probabilities
        return law.probability(place if with_counts else min(place, law.size))

    def chance_of(self, count: int, answer: int) -> arb:
        """Return a ball around the probability that a key of that count is released with a count of `answer`."""
        # Coq: Keys.keys_with_floor
        law, place = self.probabilities, max(0, count - self._before)
        step = count + law.likeliest_step - answer
        return law.rise(step) if place and step <= place else arb(0)


@dataclass(frozen=True)
class KeysLaw:
    """The distribution of which keys are released, for the sizes of classes of equal counts. Private.

    Attributes:
        mechanism: the mechanism.
        sizes: how many keys have the counts 1, 2, ..., `sure` - 1, and how many at least `sure`.
        with_counts: whether their counts are released too.
    """

    mechanism: PrivateKeys
    sizes: tuple[int, ...]
    with_counts: bool

    def draw(self, bits: Bits) -> DrawnKeys:
        """Return the keys that are released, an exact sample."""
        before, law = self.mechanism.minimum_count - 1, self.mechanism.probabilities
        drawing, sizes = _drawing(law), self.sizes[before:]
        numbers, places = drawing.draw(sizes, bits, with_noise=self.with_counts)
        counts = np.repeat(np.arange(1, law.size + 1, dtype=np.int64), numbers)
        shifts = drawing.noise.of_classes(counts, bits) if self.with_counts else None
        if shifts is not None:  # in place, as the next line: there may be many keys
            np.subtract(law.likeliest_step, shifts, out=shifts)
        counts += before
        return DrawnKeys(counts, places, shifts, law.likeliest_step + before)


@lru_cache(maxsize=16)
def _drawing(law: OptimalProbabilities | GaussianProbabilities) -> KeyDraw:
    """Return the draws of keys by one law, of which the table in doubles is computed once."""
    return KeyDraw(law)
