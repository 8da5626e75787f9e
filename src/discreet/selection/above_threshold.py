"""Above threshold, the sparse vector technique (Dwork and Roth 2014; Lyu, Su and Li 2017)."""

import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from fractions import Fraction
from threading import Lock
from typing import NoReturn

from flint import arb

from ..base.digests import digest
from ..base.error_boundary import error_boundaries
from ..base.numbers import Number, count, exact, flag, positive, positive_up
from ..errors import Exhausted, InvalidArgument, preview
from ..privacy.guarantees import PureDP
from ..privacy.sensitivity import Neighbors, read_neighbors, read_unit
from ..sampling.bits import Bits, LazyUniform, SystemBits
from ..sampling.enclosures import ball, laplace_quantile, precision
from ..sampling.vectors import read_vector
from .payment import Account, Bill, Indices, read_account

_FINEST_SPLIT = 2**20
_MOST_ANSWERS_ABOVE = 10**9


@error_boundaries
@dataclass(frozen=True, slots=True, repr=False, eq=False)
class AboveThreshold:
    """A session that answers successive queries: is value + X >= threshold + Y?

    Y is Laplace noise of scale sensitivity / epsilon1, drawn once. X is fresh Laplace noise for every query,
    of scale 2 * count * sensitivity / epsilon2, or half of that if the queries are monotonic. Negative answers are
    free. After `count` positive answers, the session ends.

    Args:
        threshold: the public threshold.
        sensitivity: the most that a query can change between neighbours.
        epsilon: the cost of the whole session, which is split into epsilon1 + epsilon2.
        count: the most positive answers.
        monotonic: whether one record more or less moves all queries of the session in the same direction.
        neighbors: the neighbouring relation.
        ledger: the account to charge, such as `Ledger("budget.db").session("adult")`. It is charged at once for the
            whole session.
        privacy_unit: the column of the privacy unit, if the sensitivity holds for all rows of one unit. By default
            every row is a record.
        bits: the source of random bits. For tests.

    Guarantee: epsilon-DP for all answers of the session together, for any number of queries, chosen
    adaptively.

    Side channels: with probability below 2**-30 per query, and 2**-31 per session, one word of noise does not
    decide an answer, and then the time depends on the value.

    Source: Dwork and Roth 2014, section 3.6; Lyu, Su and Li, VLDB 2017. Proof:
    docs/reference/mechanisms/above_threshold.md.
    """

    threshold: Number
    sensitivity: Number
    epsilon: Number
    count: int = 1
    monotonic: bool = False
    neighbors: Neighbors = "add_remove"
    ledger: Account | None = None
    privacy_unit: str | Sequence[str] | None = None
    bits: Bits = field(default_factory=SystemBits)
    _threshold_noise: LazyUniform = field(init=False)
    _scales: tuple[Fraction, Fraction] = field(init=False)
    _answers: list[bool] = field(init=False, default_factory=list)
    _lock: AbstractContextManager[bool] = field(init=False, default_factory=Lock)
    _process: int = field(init=False, default_factory=os.getpid)

    def __post_init__(self) -> None:
        """Check the arguments, then draw the noise of the threshold.

        Raises:
            InvalidArgument: if an argument is invalid.
        """
        settle = object.__setattr__
        settle(self, "threshold", exact(self.threshold, "threshold"))
        settle(self, "sensitivity", positive_up(self.sensitivity, "sensitivity"))
        settle(self, "epsilon", positive(self.epsilon, "epsilon"))
        settle(self, "count", count(self.count, "count", most=_MOST_ANSWERS_ABOVE))
        settle(self, "neighbors", read_neighbors(self.neighbors))
        settle(self, "privacy_unit", read_unit(self.privacy_unit))
        settle(self, "monotonic", flag(self.monotonic, "monotonic"))
        if self.monotonic and self.neighbors == "replace_one":
            raise InvalidArgument(
                "monotonic speaks of records that come or go. Leave it out under replace_one"
            )
        if not callable(getattr(type(self.bits), "word", None)):
            raise InvalidArgument(f"bits must be a source of random bits, got {preview(self.bits)}")
        settle(self, "_scales", self._calibrate())
        account = read_account(self.ledger)
        if account is not None:
            account.buy(self._bill(), _without_draws)
        settle(self, "_threshold_noise", LazyUniform(self.bits))

    @property
    def guarantee(self) -> PureDP:
        """The guarantee of the whole session, all answers together."""
        return PureDP(Fraction(self.epsilon), self.neighbors)

    @property
    def remaining(self) -> int:
        """How many positive answers are left."""
        return self.count - sum(self._answers)

    @property
    def answers(self) -> tuple[bool, ...]:
        """All answers so far. They were released, so they are not private."""
        return tuple(self._answers)

    def ask(self, value: object) -> bool:
        """Return whether the value, with noise, is at least the threshold, with noise. Exactly.

        Args:
            value: the result of the query on the private data: int, float (its binary value), Fraction or
                Decimal.

        Raises:
            Exhausted: if all positive answers were given, or this is a forked process, which was paid for
                nothing. Nothing was read.
            InvalidScores: if the value is no finite number. No bit was read for it.
        """
        # Before the lock, which another thread of the parent may have held at the fork, for ever.
        if self._process != os.getpid():
            raise Exhausted(
                "this session belongs to the process that began it: after a fork both would spend "
                "it. Begin a new session, which is charged again"
            )
        with self._lock:
            if self.remaining == 0:
                raise Exhausted(
                    f"this session has given all its positive answers (count={self.count}), which "
                    "is what its epsilon pays for. Begin a new session, which is charged again"
                )
            values = read_vector([value])
            values.best()  # refuses what is not finite
            answer = self._is_above(values.exact(0) - Fraction(self.threshold))
            self._answers.append(answer)
            return answer

    def _bill(self) -> Bill:
        """Return the bill for the whole session. It has no request: a session cannot be had twice."""
        public = {
            "verb": "above_threshold",
            "threshold": self.threshold,
            "sensitivity": self.sensitivity,
            "count": self.count,
            "monotonic": self.monotonic,
            "privacy_parameter": {"epsilon": self.epsilon},
            "neighbors": self.neighbors,
            "unit": self.privacy_unit,
        }
        query = f"above {self.threshold}, {self.count} times"
        bill_digest = digest(public)
        return Bill(
            self.guarantee, "above_threshold", query, bill_digest, unit=read_unit(self.privacy_unit)
        )

    def _calibrate(self) -> tuple[Fraction, Fraction]:
        """Return the scales of Y and X. Any split of epsilon is private; this one is nearly the best."""
        factor = self.count if self.monotonic else 2 * self.count
        share = Fraction(round(_FINEST_SPLIT / (1 + factor ** (2 / 3))) or 1, _FINEST_SPLIT)
        change, epsilon = Fraction(self.sensitivity), Fraction(self.epsilon)
        return change / (epsilon * share), factor * change / (epsilon * (1 - share))

    def _is_above(self, lead: Fraction) -> bool:
        """Return whether lead + X - Y >= 0, reading more of the noise where that is open."""
        noise, other = LazyUniform(self.bits), self._threshold_noise
        while True:
            with precision(64 + 2 * max(noise.length, other.length)):
                (x_low, x_high), (y_low, y_high) = self._bounds(noise, other)
                if ball(lead) + x_low - y_high >= 0:
                    return True
                if ball(lead) + x_high - y_low < 0:
                    return False
            min(noise, other, key=lambda u: u.length).extend()

    def _bounds(self, noise: LazyUniform, other: LazyUniform) -> list[tuple[arb, arb]]:
        """Return balls around the least and largest X, and the least and largest Y."""
        return [
            (_laplace(u.prefix, u.length, scale), _laplace(u.prefix + 1, u.length, scale))
            for u, scale in zip((noise, other), reversed(self._scales), strict=True)
        ]

    def __reduce__(self) -> NoReturn:
        raise TypeError("a session cannot be copied or pickled: its copy would spend epsilon again")

    def __repr__(self) -> str:
        return (
            f"AboveThreshold(threshold={self.threshold}, sensitivity={self.sensitivity}, "
            f"{self.guarantee}, {self.remaining} of {self.count} positive answers left)"
        )


def _without_draws() -> Callable[[], Indices]:
    """Return an empty draw: a session draws for every question."""
    return list


def _laplace(prefix: int, length: int, scale: Fraction) -> arb:
    """Return a ball around the Laplace quantile of prefix / 2**length, times the scale."""
    quantile = laplace_quantile(arb(prefix) / arb(2) ** length)
    # An infinity times a ball would be a ball around everything.
    return quantile * ball(scale) if quantile.is_finite() else quantile
