"""Underflow: one step of the score, and all weights but one are zero (Ilvento 2020, attack 1)."""

from ...mechanisms import MECHANISMS
from .. import audit
from .floats import unsafe_law
from .result import AttackResult

_UNDERFLOW_EPSILON = "1/2"
X = 2980
"""exp(-X / 4) is the smallest double, exp(-(X + 1) / 4) is zero."""

_WITH_ALICE = [-X] + [-X - 1] * 99
_WITHOUT = [-X] * 100
"""Scores of 100 candidates. One record changes each by at most 1."""

_FEW = 12
"""Candidates of the shorter instance that all mechanisms are audited on: some take cubic time."""


def underflow_attack() -> AttackResult:
    """Run the attack and return its result."""
    with_alice, without = unsafe_law(_WITH_ALICE, 0.5), unsafe_law(_WITHOUT, 0.5)
    others = {}
    for name in MECHANISMS:
        pair = _WITH_ALICE[:_FEW], _WITHOUT[:_FEW]
        others[name] = audit.exact(*pair, sensitivity=1, epsilon=_UNDERFLOW_EPSILON, mechanism=name)
    return AttackResult(
        name="underflow",
        claim="The exponential mechanism by np.exp, over 100 candidates.",
        naive=(
            f"With Alice candidate 0 has probability {float(with_alice[0]):.4g}, without her "
            f"{float(without[0]):.4g}. Any other answer says that she is not there."
        ),
        ours="Weights are relative to the best, in certified intervals: none vanishes.",
        naive_audit=audit.laws(with_alice, without, epsilon=_UNDERFLOW_EPSILON),
        our_audit=audit.exact(_WITH_ALICE, _WITHOUT, sensitivity=1, epsilon=_UNDERFLOW_EPSILON),
        source="Ilvento, CCS 2020, https://arxiv.org/abs/1912.04222",
        other_audits=others,
        other_input=f"the first {_FEW} candidates",
    )
