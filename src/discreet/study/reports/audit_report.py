"""Reports of audits."""

from ...base.messages import Message
from ..audit import ExactAudit, SamplingAudit, SensitivityAudit, TimingAudit
from ..plots.contents import MOST_NAMED
from .charts import Picture, draw_losses

OtherAudit = SamplingAudit | SensitivityAudit | TimingAudit

_MEANINGS: dict[type[OtherAudit], Message] = {
    SamplingAudit: Message(
        "A lower bound on epsilon. It can refute a claim, and it can never prove one."
    ),
    SensitivityAudit: Message(
        "The result of an audit: without a counterexample and exhaustive, a proof for that universe "
        "and those sizes."
    ),
    TimingAudit: Message(
        "How two inputs differ in work and in time. It can show a leak, never that there is none."
    ),
}


def exact_audit_parts(audit: ExactAudit) -> dict[str, object]:
    """Return the parts of the report of an exact audit."""
    return {"audit": audit, "is_exact": True, "losses": _losses(audit)}


def other_audit_parts(audit: OtherAudit) -> dict[str, object]:
    """Return the parts of the report of another audit."""
    return {"audit": audit, "is_exact": False, "meaning": _MEANINGS[type(audit)]}


def _losses(audit: ExactAudit) -> Picture | None:
    """Return a plot of the privacy losses of all outputs beside the claim, if there are few enough to see."""
    losses = [float(loss) for loss in audit.losses()]
    if len(losses) > MOST_NAMED:
        return None
    return Picture(
        draw_losses(losses, float(audit.claimed)),
        Message(
            "What each output tells: the logarithm of how much more likely it is on the first "
            "dataset than on the second. The claim allows what is between the dashed lines."
        ),
    )
