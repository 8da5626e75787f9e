"""The first of many numbers that is, with exponential noise, above one level with exponential noise: exact draws.

With leads g[0] <= g[1] <= ..., Z with P(Z > z) = exp(-a z) and X[i] with P(X[i] > x) = exp(-b x), all independent,
the answer is the first i with g[i] + X[i] >= Z, and the last index where there is none.

Z is -ln(U) / a and X[i] is -ln(V[i]) / b for uniform U and V[i], of which one word each is read first: as many
words as there are leads, and one more. All of them are compared, whatever the first success is.
"""

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import flint
import numpy as np
from flint import arb, arb_poly
from numpy.typing import NDArray

from ..base.numbers import nearest_double
from ..errors import InvalidArgument
from .bits import Bits, LazyUniform
from .enclosures import FUNCTION_ERROR, ball, overflowing, precision
from .vectors import Integers

_MOST_ENCLOSED = 2**12
"""Probabilities of more leads are not worked out: each takes the product of all before it."""

_BAND = 4 * FUNCTION_ERROR
"""The doubles of a comparison are off by less than so much of one and of all their parts: see `_undecided`."""


@dataclass(frozen=True, slots=True, repr=False)
class FirstAbove:
    """The distribution of the first index with a lead, noise included, above the level.

    Args:
        leads: integers that do not fall. Private.
        level_rate: the rate a of the noise of the level; public.
        noise_rate: the rate b of the noise of the leads; public.
    """

    leads: Integers
    level_rate: Fraction
    noise_rate: Fraction

    def draw(self, bits: Bits) -> int:
        """Return one index.

        Reads a word for the level and one for every lead, and more where these leave a doubt: of the level first.
        """
        level, words = LazyUniform(bits), bits.words(len(self.leads))
        above, open_places = self._compare(level, words, bits.width)
        first = int(np.argmax(above)) if above.any() else len(self.leads) - 1
        for place in open_places[open_places < first].tolist():
            if self._is_above(place, level, LazyUniform.of_word(int(words[place]), bits)):
                return int(place)
        return first

    def draws(self, size: int, bits: Bits) -> NDArray[np.int64]:
        """Return `size` independent indices."""
        return np.array([self.draw(bits) for _ in range(size)], dtype=np.int64)

    def _compare(
        self, level: LazyUniform, words: NDArray[np.uint64], width: int
    ) -> tuple[NDArray[np.bool_], NDArray[np.intp]]:
        """Return which leads are certainly above the level, and the places of which neither is certain.

        A lead is above the level if -ln(V) >= rate - part, where rate = (b / a) * -ln(U) and part = b * g. Of a
        uniform with prefix w and length l, the logarithm lies within 1 / w of that of (w + 1/2) / 2**l.
        Conversions, products and differences are rounded a few times, and logarithms have FUNCTION_ERROR. The
        argument of a logarithm is rounded twice, which moves the logarithm by 2**-52 of one.
        """
        ratio = nearest_double(self.noise_rate / self.level_rate)
        with overflowing():
            prefixes = words.astype(np.float64)
            noise = -np.log((prefixes + 0.5) * 2.0**-width)
            far = -np.log((np.float64(level.prefix) + 0.5) * 2.0**-level.length) * ratio
            parts = self.leads.astype(np.float64) * nearest_double(self.noise_rate)
            margin = noise - (far - parts)
            band = _BAND * (1 + ratio + noise + far + np.abs(parts)) + 1 / prefixes
            band += ratio / np.float64(level.prefix)
            # A NaN, of an infinity that is taken from another, is neither.
            above, under = margin > band, margin < -band
        return above, np.flatnonzero(~(above | under))

    def _is_above(self, place: int, level: LazyUniform, noise: LazyUniform) -> bool:
        """Return whether one lead is above the level, reading more of both where that is open."""
        lead = Fraction(int(self.leads[place])) * self.noise_rate
        ratio = self.noise_rate / self.level_rate
        while True:
            with precision(64 + 2 * max(level.length, noise.length)):
                (low, high), (nearest, farthest) = _surprises(noise), _surprises(level)
                if low >= ball(ratio) * farthest - ball(lead):
                    return True
                if high < ball(ratio) * nearest - ball(lead):
                    return False
            min(level, noise, key=lambda uniform: uniform.length).extend()

    def probabilities(self) -> list[arb]:
        """Return balls around the probabilities of all indices. Private.

        Raises:
            InvalidArgument: if there are too many, which is public.
        """
        if len(self.leads) > _MOST_ENCLOSED:
            raise InvalidArgument(
                f"a distribution over more than {_MOST_ENCLOSED:,} thresholds is not computed. Use "
                "simulate, which draws from it"
            )
        digits = flint.ctx.prec
        with precision(
            digits + 2 * len(self.leads) + 64
        ):  # the sums below have signs that alternate
            misses = [arb(1), *self._passed(digits), arb(0)]
        return [before - after for before, after in pairwise(misses)]

    def _passed(self, digits: int) -> list[arb]:
        """Return the probabilities that none of the first leads is above the level, but for the last lead.

        Given Z = z, lead j is not above it with probability 1 - exp(-b (z - g[j])) if z > g[j], else never. So with
        m = max(0, g[i]) none of the leads up to i is above with probability

            integral over z > m of a exp(-a z) * product over j <= i of (1 - exp(b g[j]) exp(-b z)) dz.

        The product is a polynomial in exp(-b z), whose powers have closed integrals. A factor that is 1 but
        for less than 2**-digits is enclosed between its least value and 1.
        """
        a, b = ball(self.level_rate), ball(self.noise_rate)
        product, within, misses = arb_poly([1]), arb(1), list[arb]()
        for lead in self.leads[:-1].tolist():
            weight = (b * lead).exp()
            if lead < 0 and weight < arb(2) ** -digits:
                within *= arb(1).union(1 - weight)
            else:
                product *= arb_poly([1, -weight])
            least = arb(max(0, lead))
            decay, power, total = (-b * least).exp(), arb(1), arb(0)
            for k, coefficient in enumerate(product.coeffs()):
                total += coefficient * power * a / (a + k * b)
                power *= decay
            misses.append(within * total * (-a * least).exp())
        return misses


def _surprises(uniform: LazyUniform) -> tuple[arb, arb]:
    """Return balls around the least and the largest -ln(U) that the known bits allow."""
    whole = arb(2) ** uniform.length
    high = -(arb(uniform.prefix) / whole).log() if uniform.prefix else arb.pos_inf()
    return -((arb(uniform.prefix) + 1) / whole).log(), high
