"""Look, do not believe: is a claim of privacy true of a law, of draws, of a score function, of time?

`exact` and `laws` enclose what two laws tell. `sampling` and `samples` bound it from draws. `sensitivity`
looks for databases that a declaration is false on, `estimate_sensitivity` asks chance databases, and
`timing` compares how long two databases take. Statements and proofs: docs/audit.md.
"""

from .draws import SamplingAudit, samples, sampling
from .estimates import SensitivityEstimate, estimate_sensitivity
from .laws import Enclosure, ExactAudit, exact, laws
from .times import TimingAudit, timing
from .witnesses import Declared, SensitivityAudit, Witness, sensitivity

__all__ = [
    "Declared",
    "Enclosure",
    "ExactAudit",
    "SamplingAudit",
    "SensitivityAudit",
    "SensitivityEstimate",
    "TimingAudit",
    "Witness",
    "estimate_sensitivity",
    "exact",
    "laws",
    "samples",
    "sampling",
    "sensitivity",
    "timing",
]
