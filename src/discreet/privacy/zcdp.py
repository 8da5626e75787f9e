"""Zero-concentrated differential privacy (Bun and Steinke 2016), which adds up over adaptive answers."""

from dataclasses import dataclass
from fractions import Fraction

from ..numbers import spell
from .guarantees import _IN_WORDS
from .sensitivity import Neighbors


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
        text = spell(self.rho)
        shown = f"ρ {text}" if text.startswith("≤") else f"ρ = {text}"
        return f"{shown}, zCDP ({_IN_WORDS[self.neighbors]})"
