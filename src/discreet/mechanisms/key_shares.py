"""The epsilon and the delta of one key, where one record may change the counts of several.

Each key is decided on its own, so k of them compose: (epsilon_0, delta_0) each are (epsilon, delta)-DP together for
delta = 1 - (1 - delta_0)**k (1 - R), where R is the delta of k randomised responses of epsilon_0 at epsilon
(`privacy.kov`). Two choices: epsilon / k, where R is 0, or a larger epsilon_0 at a smaller delta_0, which
is better from about twenty keys on. For the proof, see docs/reference/mechanisms/private_keys.md.
"""

from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple, NoReturn

from flint import arb

from ..base.numbers import short_down
from ..errors import InvalidArgument
from ..privacy.composition import Composition
from ..privacy.guarantees import ApproxDP
from ..privacy.kov import Responses
from ..sampling.enclosures import ball, lower, precision

MOST_KEYS = 1_000
"""The most keys that one record may change."""

_DIGITS = 256

_GROWING = [Fraction(5**i, 4**i) for i in range(1, 40)]
_NEAR = [[1 + Fraction(i, step) for i in range(-4, 5) if i] for step in (16, 64, 256)]
"""Multiples of the best epsilon so far among which a better one is searched, first far apart, then near."""


class KeyShare(NamedTuple):
    """The privacy parameters of one key: its release is (epsilon, delta)-DP where its count moves by one."""

    epsilon: Fraction
    delta: Fraction


@lru_cache(maxsize=256)
def best_share(epsilon: Fraction, delta: Fraction, keys: int) -> KeyShare:
    """Return the share of each of so many keys that together are (epsilon, delta)-DP, from public numbers alone.

    Of the split and the exact composition it is the one by which a key is released with one half from the smaller
    count on.
    """
    if keys == 1:
        return KeyShare(epsilon, delta)
    basic = share_at(epsilon, delta, keys, epsilon / keys)  # Coq: KeysPerUnit.keys_split
    assert basic is not None
    best, count = basic, count_of_half(basic)
    for multiples in (_GROWING, *_NEAR):
        for own in [multiple * best.epsilon for multiple in multiples]:
            share = share_at(epsilon, delta, keys, own)
            if share is None:
                break  # nor for a larger epsilon
            half = count_of_half(share)
            if half < count:
                best, count = share, half
    certain = _certify(best, epsilon, delta, keys)
    return certain or _certify(basic, epsilon, delta, keys) or _refuse(keys)


def share_at(epsilon: Fraction, delta: Fraction, keys: int, own: Fraction) -> KeyShare | None:
    """Return the share of one of so many keys with an epsilon of its own, None if no delta is left for it.

    Its delta is 1 - ((1 - delta) / (1 - R))**(1 / keys), rounded down, with R rounded up.
    """
    rest = Fraction(0)
    if own * keys > epsilon:
        responses = Responses.of([(own, keys)])
        rest = Fraction(1) if responses is None else responses.delta(epsilon)
    if rest >= delta:
        return None
    with precision(_DIGITS):  # Coq: KeysPerUnit.keys_together, KeysPerUnit.split_is_tight
        log = ((-ball(delta)).log1p() - (-ball(rest)).log1p()) / keys
        share = short_down(lower(-log.expm1()))
    return KeyShare(own, share) if share > 0 else None


def count_of_half(share: KeyShare) -> arb:
    """Return a ball around the count from which on a key is released with one half or more, as a real number."""
    with precision(_DIGITS):
        epsilon = ball(share.epsilon)
        return (epsilon.expm1() / (2 * ball(share.delta))).log1p() / epsilon


def _certify(share: KeyShare, epsilon: Fraction, delta: Fraction, keys: int) -> KeyShare | None:
    """Return the share with a delta that the composition of the library says is small enough."""
    own = share.delta
    for _ in range(4):
        together = Composition(((ApproxDP(share.epsilon, own), keys),))
        if together.delta_at(epsilon) <= delta:
            return KeyShare(share.epsilon, own)
        own = short_down(own * (1 - Fraction(1, 2**60)))
    return None


def _refuse(keys: int) -> NoReturn:
    """Raise: no share was certified."""
    raise InvalidArgument(
        f"no part of this epsilon and delta is known to serve each of {keys:,} keys"
    )
