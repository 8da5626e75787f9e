"""Look, do not believe: is a claim of privacy true of a law, of draws, of a score function, of time?

`exact` and `laws` enclose what two laws tell. `sampling` and `samples` bound it from draws. `sensitivity`
looks for databases that a declaration is false on, `estimate_sensitivity` asks chance databases, and
`timing` compares how long two databases take. Statements and proofs: docs/audit.md.
"""

from .estimate_sensitivity import SensitivityEstimate, estimate_sensitivity
from .exact import ExactAudit, Interval, exact, laws
from .sampling import SamplingAudit, samples, sampling
from .sensitivity import Counterexample, Declared, SensitivityAudit, sensitivity
from .timing import TimingAudit, timing

__all__ = [
    "Counterexample",
    "Declared",
    "ExactAudit",
    "Interval",
    "SamplingAudit",
    "SensitivityAudit",
    "SensitivityEstimate",
    "TimingAudit",
    "estimate_sensitivity",
    "exact",
    "laws",
    "samples",
    "sampling",
    "sensitivity",
    "timing",
]
