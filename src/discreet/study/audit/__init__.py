"""Audits of privacy claims, from distributions, samples, declared sensitivities and running times.

`exact` and `laws` compute the privacy loss of two distributions. `sampling` and `samples` bound it from samples.
`sensitivity` searches for counterexamples to a declared sensitivity, `monotonic` to the claim that scores move
together, `estimate_sensitivity` estimates a sensitivity on random datasets, and `timing` compares running times on
two datasets. Statements and proofs: docs/how-to/audit.md.
"""

from .audit_record import repeat, write_record
from .estimate_sensitivity import SensitivityEstimate, estimate_sensitivity
from .exact import ExactAudit, Interval, exact, laws
from .mechanism import MechanismAudit, mechanism
from .sampling import SamplingAudit, samples, sampling
from .sensitivity import (
    Counterexample,
    Declared,
    MonotonicAudit,
    SensitivityAudit,
    monotonic,
    sensitivity,
)
from .timing import TimingAudit, timing

__all__ = [
    "Counterexample",
    "Declared",
    "ExactAudit",
    "Interval",
    "MechanismAudit",
    "MonotonicAudit",
    "SamplingAudit",
    "SensitivityAudit",
    "SensitivityEstimate",
    "TimingAudit",
    "estimate_sensitivity",
    "exact",
    "laws",
    "mechanism",
    "monotonic",
    "repeat",
    "samples",
    "sampling",
    "sensitivity",
    "timing",
    "write_record",
]
