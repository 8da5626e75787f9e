"""Truncation: all weights are above zero, but the running sum forgets them (Ilvento 2020, attack 2)."""

from ...mechanisms import MECHANISMS, Base2
from .. import audit
from .floats import unsafe_law
from .result import AttackResult

_LARGE_EPSILON = 30
_WITH_ALICE = [0.5] + [-2.0] * 999
_WITHOUT = [-0.5] + [-1.0] * 999
"""Scores of 1,000 candidates. One record changes each by at most 1."""

_FEW = 12


def truncation_attack() -> AttackResult:
    """Run the attack and return its result."""
    with_alice, without = (
        unsafe_law(_WITH_ALICE, _LARGE_EPSILON),
        unsafe_law(_WITHOUT, _LARGE_EPSILON),
    )
    others = {}
    for name in MECHANISMS:
        mechanism = Base2(granularity="1/2") if name == "base2" else name  # these scores are halves
        pair = _WITH_ALICE[:_FEW], _WITHOUT[:_FEW]
        others[name] = audit.exact(
            *pair, sensitivity=1, epsilon=_LARGE_EPSILON, mechanism=mechanism
        )
    return AttackResult(
        name="truncation",
        claim="The exponential mechanism by np.exp, checked that no weight is zero.",
        naive=(
            f"With Alice candidate 0 has probability {float(with_alice[0]):.4g}, without her "
            f"{float(without[0]):.4g}: in doubles 1808.04 + 9.36e-14 is 1808.04."
        ),
        ours="Sums are certified intervals too: the other answers keep their 5e-14 with Alice.",
        naive_audit=audit.laws(with_alice, without, epsilon=_LARGE_EPSILON),
        our_audit=audit.exact(_WITH_ALICE, _WITHOUT, sensitivity=1, epsilon=_LARGE_EPSILON),
        source="Ilvento, CCS 2020, https://arxiv.org/abs/1912.04222",
        other_audits=others,
        other_input=f"the first {_FEW} candidates",
    )
