"""Privacy-loss distributions in whole numbers, rounded against ourselves. Proofs: docs/explanation/losses.md.

A distribution of losses bounds the curve of a mechanism: for every gamma >= 0, every event E and all
neighbours, P(E) - gamma Q(E) is at most the infinite mass plus the sum of mass * (1 - gamma exp(-loss))
over the losses above ln gamma. Such bounds add up: the losses of answers that may depend on one another
are convolved. Masses are whole multiples of 2**-128, so that nothing is lost on the way but by rounding up.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from flint import arb, arb_poly, fmpz_poly

from ..base.error_boundary import error_boundaries
from ..base.numbers import Number, count, exact, float_up, positive, spell
from ..errors import InvalidArgument, InvalidNumber, MissingPackage, preview
from ..sampling.enclosures import ball, precision, upper
from .adaptive import crossing
from .conversions import gaussian_delta

UNIT = 2**128
"""Masses are whole numbers of 1/UNIT."""

_TAIL = 2**32
"""Up to this mass, in units, may move to infinity at the upper end, and up to the lowest loss at the other."""

_MOST_ANSWERS = 2**40

_LARGEST = 2**20
"""Largest epsilon and step: far beyond any meaningful guarantee."""

_MOST_LOSSES = 2**20
"""Longest grid of losses for one answer."""

_STEPS_PER_EPSILON = 128
"""Steps in a typical epsilon; the step alone raises delta by about one part in `_STEPS_PER_EPSILON`**2."""

_LONGEST = 2**17
"""About as many losses may be left after all answers: it takes a second to compose them."""

_MASS_BITS = 320


@error_boundaries
@dataclass(frozen=True, slots=True)
class LossDistribution:
    """An upper bound on the privacy curve of one or many answers, as masses on a grid of losses.

    Answers may be composed adaptively and in any order. You may choose a mechanism after you see earlier answers,
    if its kind and epsilon were fixed.

    Attributes:
        step: losses are multiples of it. Public.
        lowest: the lowest loss, in steps.
        masses: masses[i] is that of the loss (lowest + i) * step, in units of 2**-128.
        infinite: the mass at infinity, in the same units.
    """

    step: Fraction
    lowest: int
    masses: tuple[int, ...]
    infinite: int

    @classmethod
    def logistic(cls, epsilon: Number, step: Number) -> "LossDistribution":
        """Return the bound for bounded range `epsilon`: the exponential mechanism.

        Its curve is that of logistic noise of scale 1 on a value that moves by epsilon.

        Args:
            epsilon: the bounded range, above zero.
            step: the step of the grid. `common_step` chooses one.

        Raises:
            InvalidNumber: if a number is not above zero, or the step is far too small.
        """
        return _discretise(cls, epsilon, step, _logistic_curve)

    @classmethod
    def laplace(cls, epsilon: Number, step: Number) -> "LossDistribution":
        """Return the bound for Laplace noise of scale 1/epsilon on a value that moves by one.

        It also holds for permute-and-flip and the noisy maxima. See
        docs/reference/mechanisms/permute_and_flip.md#noisy_max. Arguments and errors are those of `logistic`.
        """
        return _discretise(cls, epsilon, step, _laplace_curve)

    @classmethod
    def pure(cls, epsilon: Number, step: Number) -> "LossDistribution":
        """Return the bound for any epsilon-DP answer, which is that of randomised response.

        Arguments and errors are those of `logistic`.
        """
        return _discretise(cls, epsilon, step, _response_curve)

    @classmethod
    def gaussian(cls, mu: Number, step: Number) -> "LossDistribution":
        """Return the bound for Gaussian noise of scale 1/mu on a value that moves by one: mu-GDP.

        Losses with a delta below 2**-100 count as infinite.

        Args:
            mu: the shift in units of the noise, above zero.
            step: the step of the grid. `common_step([(mu, 3)])` is fine enough.

        Raises:
            InvalidNumber: if a number is not above zero, or the step is far too small.
        """
        size = _ordinary(mu, "mu")
        top = size * (size / 2 + 12)  # beyond it a standard normal variable would have to exceed 12

        def delta(at: Fraction) -> arb:
            # *Gaussian noise*: its best events are X > c.
            return gaussian_delta(ball(size), ball(at))

        with precision(_MASS_BITS):
            return cls.of_curve(delta, top, step)

    @classmethod
    def of_curve(
        cls, delta: Callable[[Fraction], Fraction | arb], top: Number, step: Number, every: int = 1
    ) -> "LossDistribution":
        """Return the bound for any release with a delta bounded by a function of epsilon, in both orders.

        Args:
            delta: a function from an epsilon of zero or more to a delta that holds there, as a fraction or a ball.
            top: the function is evaluated up to about here. Losses beyond it count as infinite.
            step: the step of the grid.
            every: the function is evaluated at multiples of `every` steps.

        Raises:
            InvalidNumber: if a number is not above zero, or the step is far too small.
        """
        end, pace = _ordinary(top, "top"), count(every, "every") * _ordinary(step, "step")
        if end > _MOST_LOSSES * pace / every:
            raise InvalidNumber(
                f"step must be at least top / {_MOST_LOSSES:,}, got {preview(step)}"
            )
        with precision(_MASS_BITS):
            # *Both orders*: bounds on gamma >= 1 are enough.
            deltas = [delta(j * pace) for j in range(math.ceil(end / pace) + 1)]
            heights = [ball(d) if isinstance(d, Fraction) else d for d in deltas]
            return _join_heights(cls, pace / every, every, heights)

    def on(self, step: Number) -> "LossDistribution":
        """Return a bound on a grid with another step. Losses are split between the two points around them."""
        pace = _ordinary(step, "step")
        if pace == self.step:
            return self
        first = math.floor(self.lowest * self.step / pace)
        last = math.ceil((self.lowest + len(self.masses)) * self.step / pace)
        if last - first > _MOST_LOSSES:
            raise InvalidNumber(f"step must be coarser for these losses, got {preview(step)}")
        masses = [0] * (last - first + 2)
        with precision(_MASS_BITS):
            width = 1 - ball(-pace).exp()
            for j, mass in enumerate(self.masses, self.lowest):
                below, beyond = divmod(j * self.step, pace)
                # *Another step* in losses.md: the mean of exp(-loss) stays, which raises the curve.
                share = (1 - ball(-beyond).exp()) / width  # keeps the mean of exp(-loss)
                masses[below - first] += _units(mass * (1 - share) / UNIT)
                masses[below - first + 1] += _units(mass * share / UNIT)
        return LossDistribution(pace, first, tuple(masses), self.infinite)

    def combined(self, other: "LossDistribution") -> "LossDistribution":
        """Return the bound for both answers together, on the same grid.

        Raises:
            InvalidArgument: if the steps differ.
        """
        if not isinstance(other, LossDistribution):
            raise InvalidArgument(f"other must be a LossDistribution, got {preview(other)}")
        if self.step != other.step:
            raise InvalidArgument(
                f"both distributions must have the same step, got {spell(self.step)} and "
                f"{spell(other.step)}. common_step chooses one for all"
            )
        product = fmpz_poly(list(self.masses)) * fmpz_poly(list(other.masses))
        # *Products*: exact, then each coefficient is rounded up.
        masses = [-(-int(mass) // UNIT) for mass in product.coeffs()] or [0]
        # *Composition*: the infinite mass of two is T1 T2 - (T1 - m1) (T2 - m2).
        infinite = self._total * other._total - sum(self.masses) * sum(other.masses)
        return _trim(self.step, self.lowest + other.lowest, masses, -(-infinite // UNIT))

    def composed(self, n: int) -> "LossDistribution":
        """Return the bound for `n` answers like this one.

        Raises:
            InvalidNumber: if `n` is not an integer of at least one.
        """
        if count(n, "n", most=_MOST_ANSWERS) == 1:
            return self
        half = self.composed(n // 2)
        pair = half.combined(half)
        return pair.combined(self) if n % 2 else pair

    def delta(self, epsilon: Number) -> Fraction:
        """Return an upper bound on delta at `epsilon`.

        Raises:
            InvalidNumber: if epsilon is negative.
        """
        at = exact(epsilon, "epsilon")
        if at < 0:
            raise InvalidNumber(f"epsilon must be zero or more, got {preview(epsilon)}")
        first = max(math.floor(at / self.step) + 1, self.lowest)
        above = list(self.masses[first - self.lowest :])
        with precision(_MASS_BITS):
            # *delta and epsilon*: H(gamma) is the sum of m_j (1 - gamma exp(-j h)) over the losses above.
            decay = arb_poly(fmpz_poly(above))(ball(-self.step).exp())
            inside = ball(at - first * self.step).exp() * decay
            return min(Fraction(1), upper((self.infinite + sum(above) - inside) / UNIT))

    def epsilon(self, delta: Number) -> Fraction | None:
        """Return an epsilon that holds with `delta`, as small as the bound allows, or None if none is finite.

        Raises:
            InvalidNumber: if delta is negative.
        """
        level = exact(delta, "delta")
        if level < 0:
            raise InvalidNumber(f"delta must be zero or more, got {preview(delta)}")
        if self.delta(0) <= level:
            return Fraction(0)
        low, high = 0, max(1, self.lowest + len(self.masses) - 1)
        if self.delta(high * self.step) > level:
            return None
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self.delta(middle * self.step) <= level else (middle, high)
        return self._crossing(low, level)

    def to_dp_accounting(self) -> Any:
        """Return it as a `PrivacyLossDistribution` of dp-accounting, with masses rounded up to doubles.

        dp-accounting computes in doubles, without certificates.

        Raises:
            MissingPackage: if dp-accounting is not installed.
            InvalidNumber: if the step is not a double. The steps of `common_step` are.
        """
        try:
            from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution
        except ImportError:
            raise missing_accounting() from None
        if Fraction(float(self.step)) != self.step:
            raise InvalidNumber(
                f"step must be a double for dp-accounting, got {spell(self.step)}. common_step "
                "chooses a power of two"
            )
        doubles = [float_up(Fraction(mass, UNIT)) for mass in (self.infinite, *self.masses)]
        return PrivacyLossDistribution.create_from_rounded_probability(
            dict(enumerate(doubles[1:], self.lowest)), doubles[0], float(self.step)
        )

    @property
    def _total(self) -> int:
        return sum(self.masses) + self.infinite

    def _crossing(self, low: int, level: Fraction) -> Fraction:
        """Return where the chord over the cell from `low` falls to `allowed`, rounded up."""
        # *delta and epsilon*: in the cell H is at most the chord between its ends.
        before, after = self.delta(low * self.step), self.delta((low + 1) * self.step)
        return low * self.step + crossing(before, after, level, self.step)

    def __repr__(self) -> str:
        size = len(self.masses)
        return f"LossDistribution({size} losses, step {self.step})"


def missing_accounting() -> MissingPackage:
    """Return the error where dp-accounting is not installed."""
    return MissingPackage("dp-accounting is not installed. Run: pip install 'discreet[accounting]'")


def common_step(answers: Iterable[tuple[Number, int]]) -> Fraction:
    """Return a step for the losses of all these answers together: a power of two.

    Args:
        answers: the epsilons, above zero, with the number of answers that cost them.

    Raises:
        InvalidNumber: if there are no answers, or an epsilon or a number is not above zero.
    """
    exacts = [(positive(epsilon, "epsilon"), count(n, "n")) for epsilon, n in answers]
    if not exacts:
        raise InvalidNumber("answers must not be empty: a grid is chosen for what is composed")
    squares = sum((n * epsilon**2 for epsilon, n in exacts), Fraction(0))
    # Losses lie within about 24 standard deviations, of at most sqrt(squares / 3), of one another.
    finest = squares / sum(n for _, n in exacts) / _STEPS_PER_EPSILON**2
    shortest = squares * Fraction(192) / _LONGEST**2
    ratio = max(finest, shortest)
    exponent = (ratio.numerator.bit_length() - ratio.denominator.bit_length()) // 2
    return Fraction(1 << max(0, exponent), 1 << max(0, -exponent))


_Curve = Callable[[arb], arb]


def _logistic_curve(epsilon: arb) -> _Curve:
    whole = 1 - (-epsilon).exp()

    def height(root: arb) -> arb:
        # *Bounded range*: (sqrt K - sqrt gamma)**2 / (K - 1), with `root` = sqrt(gamma / K).
        return _square(1 - root) / whole

    return height


def _laplace_curve(_epsilon: arb) -> _Curve:
    def height(root: arb) -> arb:
        return 1 - root

    return height


def _response_curve(epsilon: arb) -> _Curve:
    whole = 1 + (-epsilon).exp()

    def height(root: arb) -> arb:
        # *epsilon-DP*: (K - gamma) / (K + 1).
        return (1 - root**2) / whole

    return height


def _discretise(
    cls: type[LossDistribution], epsilon: Number, step: Number, law: Callable[[arb], _Curve]
) -> LossDistribution:
    """Return the masses with a curve that joins the points of a symmetric curve by straight lines.

    `law(epsilon)` maps sqrt(gamma exp(-epsilon)) to the height at gamma, for -epsilon <= ln gamma <= epsilon.
    """
    size, pace = _ordinary(epsilon, "epsilon"), _ordinary(step, "step")
    end = math.ceil(size / pace)
    if end > _MOST_LOSSES:
        raise InvalidNumber(
            f"step must be at least epsilon / {_MOST_LOSSES:,}, got {preview(step)}. common_step "
            "chooses one"
        )
    with precision(_MASS_BITS):
        curve = law(ball(size))
        return _join_heights(cls, pace, 1, [_height(curve, size, j * pace) for j in range(end + 1)])


def _join_heights(
    cls: type[LossDistribution], step: Fraction, every: int, heights: list[arb]
) -> LossDistribution:
    """Return the masses with a curve that joins points by straight lines, level beyond the last.

    The points are at ln gamma = 0, d, 2 d, ... with d = every * step, and mirrored below 0: a bound on both
    orders of a pair of neighbours has C(1/gamma) = 1 - 1/gamma + C(gamma)/gamma. Call inside `precision`.
    """
    pace = every * step
    # *Both orders*: C(1/gamma) <= 1 - 1/gamma + C(gamma) / gamma.
    mirror_image = [1 - (1 - height) * ball(-j * pace).exp() for j, height in enumerate(heights)]
    points = [*mirror_image[:0:-1], *heights]
    falls = [1 - points[0], *(a - b for a, b in pairwise(points))]
    grow = ball(pace).exp()
    # *From a curve to masses*: m_j = (C[j-1] - C[j]) / (1 - exp(-h)) - (C[j] - C[j+1]) / (exp(h) - 1).
    lefts = [falls[0], *(fall * grow / (grow - 1) for fall in falls[1:])]
    rights = [*(fall / (grow - 1) for fall in falls[1:]), arb(0)]
    masses = [0] * ((len(points) - 1) * every + 1)
    masses[::every] = [_units(a - b) for a, b in zip(lefts, rights, strict=True)]
    return cls(step, -(len(heights) - 1) * every, tuple(masses), _units(heights[-1]))


def _ordinary(value: Number, name: str) -> Fraction:
    number = positive(value, name)
    if number > _LARGEST:
        raise InvalidNumber(f"{name} must be at most {_LARGEST:,}, got {preview(value)}")
    return number


def _height(curve: _Curve, epsilon: Fraction, at: Fraction) -> arb:
    """Return the height of the curve at gamma = exp(at), at >= 0."""
    return arb(0) if at >= epsilon else curve((ball(at - epsilon) / 2).exp())


def _square(x: arb) -> arb:
    """Return x * x: python-flint's power is not finite for a ball around zero."""
    return x * x


def _units(mass: arb) -> int:
    """Return a mass in units, rounded up; a ball without a bound may hold all of it."""
    return max(0, math.ceil(upper(mass) * UNIT)) if mass.is_finite() else UNIT


def _trim(step: Fraction, lowest: int, masses: list[int], infinite: int) -> LossDistribution:
    """Return the distribution without tails of at most `_TAIL` units: their masses move up."""
    first = _lightest(masses)
    rest = masses[first:]
    # *Raising*: mass that moves to a higher loss, or to infinity, leads above.
    rest[0] += sum(masses[:first])
    last = len(rest) - _lightest(rest[::-1])
    return LossDistribution(step, lowest + first, tuple(rest[:last]), infinite + sum(rest[last:]))


def _lightest(masses: list[int]) -> int:
    """Return how many of the first masses have a sum of at most `_TAIL`, but not all."""
    total = 0
    for i, mass in enumerate(masses[:-1]):
        total += mass
        if total > _TAIL:
            return i
    return max(0, len(masses) - 1)
