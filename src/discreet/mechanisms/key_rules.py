"""Which keys are shown, by their counts: by the optimal rule key by key, or where noisy counts reach a threshold.

Public numbers decide, before any data are read. For proofs, see
docs/reference/mechanisms/private_keys.md#gaussian_keys.
"""

from fractions import Fraction
from functools import lru_cache

from ..privacy.gaussian_cells import least_sigma_squared
from ..privacy.gaussian_keys import GaussianThreshold
from ..privacy.sensitivity import Neighbors
from ..sampling.enclosures import ball, precision
from ..sampling.gaussian_probabilities import reach
from ..sampling.gaussian_tails import tail
from ..sampling.key_probabilities import LONGEST_TABLE
from .key_shares import KeyShare, count_of_half

_BITS = 256


def better_threshold(
    share: KeyShare, threshold: GaussianThreshold | None, *, shows_counts: bool
) -> GaussianThreshold | None:
    """Return the threshold if it is better than the optimal rule, None if it is not.

    It is better if a key is shown with one half from a smaller count on. Where counts are shown too, that count
    times the standard deviation of what is shown has to be smaller as well.

    Args:
        share: the epsilon and the delta of one key.
        threshold: the threshold, None if there is none.
        shows_counts: whether the noisy counts are shown.
    """
    if threshold is None:
        return None
    with precision(_BITS):
        optimal, gaussian = count_of_half(share).ceil(), ball(Fraction(threshold.even))
        if not gaussian < optimal:
            return None
        if shows_counts:  # the noise of the optimal rule is of a geometric law, but for one step
            optimal /= (ball(share.epsilon).cosh() - 1).sqrt()
            gaussian *= ball(threshold.sigma_squared).sqrt()
        return threshold if gaussian < optimal else None


@lru_cache(maxsize=256)
def best_threshold(
    epsilon: Fraction, delta: Fraction, keys: int, neighbors: Neighbors, step: int = 1
) -> GaussianThreshold | None:
    """Return the least threshold that is (epsilon, delta)-DP, or None if its table would be too long.

    The noise is the least for as many counts alone at the whole delta, and the threshold has the whole delta too:
    the exact delta is the largest of several cases, and no sum.

    Args:
        epsilon: of all keys together.
        delta: of all keys together.
        keys: the most keys in which one unit counts.
        neighbors: the neighbouring relation.
        step: by how much a unit moves the counts of its keys.
    """
    moved = keys if neighbors == "add_remove" else 2 * keys
    sigma_squared = least_sigma_squared(epsilon, delta, moved, step)
    first = _least_for_new_keys(sigma_squared, delta, keys, step)
    if first + reach(sigma_squared) > LONGEST_TABLE:
        return None

    def at(least: int) -> GaussianThreshold:
        return GaussianThreshold(sigma_squared, least, keys, neighbors, step)

    low, high = first - 1, first  # the larger a threshold, the less it tells
    while not at(high).keeps(epsilon, delta):
        low, high = high, high + max(1, high - first)
        if high + reach(sigma_squared) > LONGEST_TABLE:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if at(middle).keeps(epsilon, delta) else (middle, high)
    return at(high)


def _least_for_new_keys(sigma_squared: Fraction, delta: Fraction, keys: int, step: int) -> int:
    """Return the least threshold at which any of so many own keys is shown with at most that probability."""
    low, high = step - 1, LONGEST_TABLE
    with precision(_BITS):
        most = -((-ball(delta)).log1p() / keys).expm1()
        while high - low > 1:
            middle = (low + high) // 2
            is_enough = bool(tail(middle - step, sigma_squared) <= most)
            low, high = (low, middle) if is_enough else (middle, high)
    return high
