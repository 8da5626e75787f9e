"""The result of an attack: a naive mechanism that breaks, and ours that does not, on the same input."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from ..audit import ExactAudit, laws
from ..numbers import Number


@dataclass(frozen=True, slots=True)
class AttackResult:
    """One attack that was run. Nothing in it is private: the attacker made up the input.

    Attributes:
        name: the name in the registry.
        claim: the guarantee of the naive mechanism, and why it seems to hold.
        naive: the outcome for the naive mechanism.
        ours: the outcome for ours.
        naive_audit: the audit of its distributions on two neighbours, computed, not sampled, against the claim.
        our_audits: the audits of our mechanisms that were tried.
        source: who found it.
    """

    name: str
    claim: str
    naive: str
    ours: str
    naive_audit: ExactAudit
    our_audits: Sequence[ExactAudit]
    source: str

    @property
    def broken(self) -> bool:
        """Whether the naive mechanism does not keep its promise, for certain."""
        return not self.naive_audit.holds

    @property
    def standing(self) -> bool:
        """Whether ours keeps it, for certain."""
        return bool(self.our_audits) and all(audit.holds for audit in self.our_audits)

    def as_dict(self) -> dict[str, object]:
        """Return the result in plain values, ready for JSON."""
        texts = {key: getattr(self, key) for key in ("name", "claim", "naive", "ours", "source")}
        return {
            **texts,
            "broken": self.broken,
            "standing": self.standing,
            "epsilon_claimed": str(self.naive_audit.claimed),
            "epsilon_naive": str(self.naive_audit.epsilon),
            "epsilon_ours": [str(audit.epsilon) for audit in self.our_audits],
        }

    def __str__(self) -> str:
        verdict = "BROKEN" if self.broken else "not broken"
        stands = "STANDING" if self.standing else "NOT STANDING"
        worst = max(self.our_audits, key=lambda audit: float(audit.epsilon))
        rows = [
            ("claim", f"{self.claim} (ε = {float(self.naive_audit.claimed):g})"),
            (verdict, f"{self.naive} True ε: {self.naive_audit.epsilon}."),
            (stands, f"{self.ours} True ε: {worst.epsilon}."),
            ("source", self.source),
        ]
        return "\n".join([self.name, *(_row(*row) for row in rows)])


def alike(certain: bool, *, epsilon: Number) -> ExactAudit:
    """Return an audit of equal distributions if `certain`, else of distributions that reveal the dataset."""
    return laws([1, 0], [1, 0] if certain else [0, 1], epsilon=epsilon)


def _row(head: str, text: str) -> str:
    """Return a paragraph beside its head, 80 columns wide."""
    return textwrap.fill(
        text, 80, initial_indent=f"  {head:<14}", subsequent_indent=" " * 16, break_long_words=False
    )
