"""Guarantees as frozen values in exact rationals. Definitions and proofs: docs/privacy.md."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

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

    def repeated(self, n: int) -> "Guarantee":
        """Return the guarantee of `n` independent answers from the same mechanism on the same data."""
        ...

    def as_dict(self) -> dict[str, str]:
        """Return the kind, the exact numbers as text, and the neighbouring relation."""
        ...


@dataclass(frozen=True, slots=True)
class PureDP:
    """epsilon-differential privacy: no probability differs by more than a factor exp(epsilon)."""

    epsilon: Fraction
    neighbors: Neighbors

    @property
    def rho(self) -> Fraction:
        """The zero-concentrated privacy that follows: epsilon**2 / 2 (Bun and Steinke 2016)."""
        return self.epsilon**2 / 2

    def repeated(self, n: int) -> "PureDP":
        """Return the guarantee of `n` independent answers: n * epsilon."""
        return PureDP(n * self.epsilon, self.neighbors)

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
    def rho(self) -> Fraction:
        """The zero-concentrated privacy that follows: epsilon**2 / 8 (Cesar and Rogers 2021)."""
        return self.epsilon**2 / 8

    def repeated(self, n: int) -> "BoundedRange":
        """Return the guarantee of `n` independent answers: n * epsilon."""
        return BoundedRange(n * self.epsilon, self.neighbors)

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

    def repeated(self, n: int) -> "ZCDP":
        """Return the guarantee of `n` independent answers: n * rho."""
        return ZCDP(n * self.rho, self.neighbors)

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

    def repeated(self, n: int) -> "NoGuarantee":
        """Return itself: nothing, n times."""
        return self

    def as_dict(self) -> dict[str, str]:
        """Return the kind and the reason."""
        return {"kind": "none", "reason": self.reason, "neighbors": self.neighbors}

    def __str__(self) -> str:
        return f"no privacy guarantee: {self.reason}"


def _equals(symbol: str, value: Fraction) -> str:
    text = spell(value)
    return f"{symbol} {text}" if text.startswith("≤") else f"{symbol} = {text}"
