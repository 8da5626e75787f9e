"""Guarantees as frozen values in exact rationals. Definitions and proofs: docs/privacy.md."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

from ..errors import InvalidArgument, shown
from ..numbers import spell
from .sensitivity import Neighbors

_IN_WORDS: dict[Neighbors, str] = {
    "add_remove": "one record added or removed",
    "replace_one": "one record replaced by another",
}


class Guarantee(Protocol):
    """What a release promises about any two neighbouring databases."""

    @property
    def neighbors(self) -> Neighbors:
        """Which databases count as neighbours."""
        ...

    @property
    def pure(self) -> Fraction | None:
        """The epsilon of pure differential privacy that follows, if any does."""
        ...

    @property
    def rho(self) -> Fraction | None:
        """The zero-concentrated privacy that follows, if any does."""
        ...

    def repeated(self, n: int) -> "Guarantee":
        """Return the guarantee of `n` independent answers from the same mechanism on the same data."""
        ...

    def under(self, neighbors: Neighbors) -> "Guarantee":
        """Return what follows under another relation."""
        ...

    def as_dict(self) -> dict[str, Any]:
        """Return the kind, the exact numbers as text, and the neighbouring relation."""
        ...


@dataclass(frozen=True, slots=True)
class PureDP:
    """epsilon-differential privacy: no probability differs by more than a factor exp(epsilon)."""

    epsilon: Fraction
    neighbors: Neighbors

    @property
    def pure(self) -> Fraction:
        """The pure differential privacy that follows: epsilon."""
        return self.epsilon

    @property
    def rho(self) -> Fraction:
        """The zero-concentrated privacy that follows: epsilon**2 / 2 (Bun and Steinke 2016)."""
        return self.epsilon**2 / 2

    def repeated(self, n: int) -> "PureDP":
        """Return the guarantee of `n` independent answers: n * epsilon."""
        return PureDP(n * self.epsilon, self.neighbors)

    def under(self, neighbors: Neighbors) -> "PureDP":
        """Return what follows under another relation."""
        return PureDP(_widened(self.epsilon, 2, self.neighbors, neighbors), neighbors)

    def as_dict(self) -> dict[str, str]:
        """Return the kind, epsilon as exact text, and the neighbouring relation."""
        return {"kind": "pure_dp", "epsilon": str(self.epsilon), "neighbors": self.neighbors}

    def __str__(self) -> str:
        return f"{_equals('ε', self.epsilon)} ({_IN_WORDS[self.neighbors]})"


@dataclass(frozen=True, slots=True)
class BoundedRange:
    """epsilon-bounded range: the log-ratios of two answers differ by at most epsilon. So epsilon-DP."""

    epsilon: Fraction
    neighbors: Neighbors

    @property
    def pure(self) -> Fraction:
        """The pure differential privacy that follows: epsilon."""
        return self.epsilon

    @property
    def rho(self) -> Fraction:
        """The zero-concentrated privacy that follows: epsilon**2 / 8 (Cesar and Rogers 2021)."""
        return self.epsilon**2 / 8

    def repeated(self, n: int) -> "BoundedRange":
        """Return the guarantee of `n` independent answers: n * epsilon."""
        return BoundedRange(n * self.epsilon, self.neighbors)

    def under(self, neighbors: Neighbors) -> "BoundedRange":
        """Return what follows under another relation."""
        return BoundedRange(_widened(self.epsilon, 2, self.neighbors, neighbors), neighbors)

    def as_dict(self) -> dict[str, str]:
        """Return the kind, epsilon as exact text, and the neighbouring relation."""
        return {"kind": "bounded_range", "epsilon": str(self.epsilon), "neighbors": self.neighbors}

    def __str__(self) -> str:
        return f"{_equals('ε', self.epsilon)}, bounded range ({_IN_WORDS[self.neighbors]})"


@dataclass(frozen=True, slots=True)
class ZCDP:
    """rho-zCDP: the Rényi divergence of order a is at most rho * a, for every a above 1."""

    rho: Fraction
    neighbors: Neighbors

    @property
    def pure(self) -> None:
        """No pure differential privacy follows."""

    def repeated(self, n: int) -> "ZCDP":
        """Return the guarantee of `n` independent answers: n * rho."""
        return ZCDP(n * self.rho, self.neighbors)

    def under(self, neighbors: Neighbors) -> "ZCDP":
        """Return what follows under another relation."""
        return ZCDP(_widened(self.rho, 4, self.neighbors, neighbors), neighbors)

    def as_dict(self) -> dict[str, str]:
        """Return the kind, rho as exact text, and the neighbouring relation."""
        return {"kind": "zcdp", "rho": str(self.rho), "neighbors": self.neighbors}

    def __str__(self) -> str:
        return f"{_equals('ρ', self.rho)}, zCDP ({_IN_WORDS[self.neighbors]})"


@dataclass(frozen=True, slots=True)
class NoGuarantee:
    """Nothing is promised, and `reason` says why."""

    reason: str
    neighbors: Neighbors

    @property
    def pure(self) -> None:
        """Nothing follows."""

    @property
    def rho(self) -> None:
        """Nothing follows."""

    def under(self, neighbors: Neighbors) -> "NoGuarantee":
        """Return nothing, under another relation."""
        return NoGuarantee(self.reason, neighbors)

    def repeated(self, n: int) -> "NoGuarantee":
        """Return itself: nothing, n times."""
        return self

    def as_dict(self) -> dict[str, str]:
        """Return the kind and the reason."""
        return {"kind": "none", "reason": self.reason, "neighbors": self.neighbors}

    def __str__(self) -> str:
        return f"no privacy guarantee: {self.reason}"


@dataclass(frozen=True, slots=True)
class ApproxDP:
    """(epsilon, delta)-differential privacy."""

    epsilon: Fraction
    delta: Fraction
    neighbors: Neighbors

    @property
    def pure(self) -> None:
        """No pure differential privacy follows."""

    @property
    def rho(self) -> None:
        """No zero-concentrated privacy follows."""

    def repeated(self, n: int) -> "ApproxDP":
        """Return the guarantee of `n` independent answers: both numbers add up."""
        return ApproxDP(n * self.epsilon, n * self.delta, self.neighbors)

    def under(self, neighbors: Neighbors) -> "ApproxDP":
        """Return itself under its own relation."""
        _widened(self.epsilon, 1, neighbors, self.neighbors)
        return self

    def as_dict(self) -> dict[str, str]:
        """Return the kind, both numbers as exact text, and the neighbouring relation."""
        return {"kind": "approx_dp", "epsilon": str(self.epsilon), "delta": str(self.delta),
                "neighbors": self.neighbors}  # fmt: skip

    def __str__(self) -> str:
        return f"{_equals('ε', self.epsilon)}, {_equals('δ', self.delta)} ({_IN_WORDS[self.neighbors]})"


@dataclass(frozen=True, slots=True)
class Composition:
    """Several releases on the same data, each chosen after those before it."""

    parts: tuple[Guarantee, ...]
    neighbors: Neighbors

    @property
    def pure(self) -> Fraction | None:
        """The sum of the parts, if all have one."""
        parts = [part.pure for part in self.parts]
        return None if None in parts else sum(filter(None, parts), Fraction(0))

    @property
    def rho(self) -> Fraction | None:
        """The sum of the parts, if all have one."""
        parts = [part.rho for part in self.parts]
        return None if None in parts else sum(filter(None, parts), Fraction(0))

    def repeated(self, n: int) -> "Composition":
        """Return all parts `n` times."""
        return Composition(self.parts * n, self.neighbors)

    def under(self, neighbors: Neighbors) -> "Composition":
        """Return what follows from the parts."""
        return Composition(tuple(part.under(neighbors) for part in self.parts), neighbors)

    def as_dict(self) -> dict[str, Any]:
        """Return the parts as plain values."""
        return {"kind": "composition", "parts": [part.as_dict() for part in self.parts],
                "neighbors": self.neighbors}  # fmt: skip


def read_guarantee(plain: dict[str, Any]) -> Guarantee:
    """Return the guarantee whose `as_dict` this is."""
    neighbors = plain["neighbors"]
    match plain["kind"]:
        case "pure_dp":
            return PureDP(Fraction(plain["epsilon"]), neighbors)
        case "bounded_range":
            return BoundedRange(Fraction(plain["epsilon"]), neighbors)
        case "zcdp":
            return ZCDP(Fraction(plain["rho"]), neighbors)
        case "approx_dp":
            return ApproxDP(Fraction(plain["epsilon"]), Fraction(plain["delta"]), neighbors)
        case "composition":
            return Composition(tuple(map(read_guarantee, plain["parts"])), neighbors)
    raise InvalidArgument(f"no guarantee is called {shown(plain['kind'])}")


def _widened(value: Fraction, factor: int, ours: Neighbors, theirs: Neighbors) -> Fraction:
    """Return the value under another relation: a replaced record is one removed and one added."""
    if ours == theirs:
        return value
    if theirs == "add_remove":
        raise InvalidArgument("nothing under add_remove follows from a guarantee under replace_one")
    return factor * value


def _equals(symbol: str, value: Fraction) -> str:
    text = spell(value)
    return f"{symbol} {text}" if text.startswith("≤") else f"{symbol} = {text}"
