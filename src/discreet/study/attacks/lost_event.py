"""A lost event: the best score is taken off first, and still a 53-bit uniform never gets there."""

from ...mechanisms import MECHANISMS
from .. import audit
from .floats import FINE, unsafe_law
from .result import AttackResult

_EPSILON = 1
SCORES, NEIGHBOR = [0, -74], [-1, -73]


def lost_event_attack() -> AttackResult:
    """Run the attack and return its result."""
    first, second = (unsafe_law(scores, _EPSILON, shift=True) for scores in (SCORES, NEIGHBOR))
    return AttackResult(
        name="lost_event",
        claim="The exponential mechanism in doubles, shifted so that the best weight is 1.",
        naive=(
            f"Of the 2^53 uniforms {int(first[1] * FINE)} lead to candidate 1, for the neighbour "
            f"{int(second[1] * FINE)}: 1 + exp(-37) is 1 in doubles, 1 + exp(-36) is not."
        ),
        ours="More bits are read where 64 leave a doubt, so no event is too rare to happen.",
        naive_audit=audit.laws(first, second, epsilon=_EPSILON),
        our_audit=audit.exact(SCORES, NEIGHBOR, sensitivity=1, epsilon=_EPSILON),
        source="diffprivlib 0.6 and others: exp, cumsum, one uniform of 53 bits",
        other_audits={
            name: audit.exact(SCORES, NEIGHBOR, sensitivity=1, epsilon=_EPSILON, mechanism=name)
            for name in MECHANISMS
        },
    )
