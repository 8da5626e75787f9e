"""The result of an attack: a naive mechanism that breaks, and ours that does not, on the same input."""

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field

from ...base.numbers import Number
from ..audit import ExactAudit, laws


@dataclass(frozen=True, slots=True)
class AttackResult:
    """The result of one attack. All of it is public, because the attacker made up the input.

    Attributes:
        name: the name in the registry.
        claim: the guarantee of the naive mechanism, and why it seems to hold.
        naive: the outcome for the naive mechanism.
        ours: the outcome for ours.
        naive_audit: the audit of its distributions on two neighbours, computed, not sampled, against the claim.
        our_audit: the audit of our corresponding mechanism, on the same two neighbours.
        source: the people who found it.
        other_audits: the audits of our other mechanisms, by name.
        other_input: the input of those audits, if it differs.
    """

    name: str
    claim: str
    naive: str
    ours: str
    naive_audit: ExactAudit
    our_audit: ExactAudit
    source: str
    other_audits: Mapping[str, ExactAudit] = field(default_factory=dict)
    other_input: str = "the same input"

    @property
    def broken(self) -> bool:
        """Whether the naive mechanism certainly breaks its promise."""
        return not self.naive_audit.holds

    @property
    def standing(self) -> bool:
        """Whether our mechanism and all others that were tried certainly keep it."""
        return all(audit.holds for audit in (self.our_audit, *self.other_audits.values()))

    def as_dict(self) -> dict[str, object]:
        """Return the result in plain values, ready for JSON."""
        texts = {key: getattr(self, key) for key in ("name", "claim", "naive", "ours", "source")}
        return {
            **texts,
            "broken": self.broken,
            "standing": self.standing,
            "epsilon_claimed": str(self.naive_audit.claimed),
            "epsilon_naive": str(self.naive_audit.epsilon),
            "epsilon_ours": str(self.our_audit.epsilon),
            "epsilon_others": {name: str(a.epsilon) for name, a in self.other_audits.items()},
        }

    def __str__(self) -> str:
        verdict = "BROKEN" if self.broken else "not broken"
        stands = "STANDING" if self.standing else "NOT STANDING"
        rows = [
            ("claim", f"{self.claim} (ε = {float(self.naive_audit.claimed):g})"),
            (verdict, f"{self.naive} True ε: {self.naive_audit.epsilon}."),
            (stands, f"{self.ours} True ε: {self.our_audit.epsilon}."),
            *self._others(),
            ("source", self.source),
        ]
        return "\n".join([self.name, *(_row(*row) for row in rows)])

    def _others(self) -> list[tuple[str, str]]:
        """Return a row on the mechanism with the largest epsilon of the others, if there are any."""
        if not self.other_audits:
            return []
        worst = max(self.other_audits, key=lambda name: float(self.other_audits[name].epsilon))
        largest = self.other_audits[worst].epsilon
        text = (
            f"All mechanisms of discreet on {self.other_input}: true ε at most {largest} ({worst})."
        )
        return [("others", text)]


def alike(certain: bool, *, epsilon: Number) -> ExactAudit:
    """Return an audit of equal distributions if `certain`, else of distributions that reveal the dataset."""
    return laws([1, 0], [1, 0] if certain else [0, 1], epsilon=epsilon)


def _row(head: str, text: str) -> str:
    """Return a paragraph beside its head, 80 columns wide."""
    return textwrap.fill(
        text, 80, initial_indent=f"  {head:<14}", subsequent_indent=" " * 16, break_long_words=False
    )
