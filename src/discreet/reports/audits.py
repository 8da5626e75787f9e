"""Reports of audits."""

from functools import partial

from .. import plots
from ..audit import ExactAudit, SamplingAudit, SensitivityAudit, TimingAudit
from .page import Markup, Page, Section, facts, lede, paragraph, picture, verbatim, verdict

_MOST_BARS = 40

_MEANING = (
    "On two datasets that are neighbours the same mechanism has two distributions. The audit computes certified "
    "intervals for both, and compares them output by output: the true ε is the largest logarithm of a ratio of two "
    "probabilities. Numbers are certified bounds; nothing was sampled.",
    "It is about these two datasets. The ε of a mechanism is the largest over all neighbours, so a claim that "
    "holds here can fail elsewhere, while one that is false here is false. The statement and its proof are "
    "in the library's documentation: “Audit”.",
    "The pair is taken to be made up. An audit of real data is as private as the data.",
)


def about_exact_audit(audit: ExactAudit) -> Page:
    """Return the report of an exact audit."""
    kind = ", bounded range" if audit.bounded_range else ""
    delta = f", δ = {float(audit.delta):.6g}" if audit.delta else ""
    claim = f"ε = {float(audit.claimed):.10g}{delta}{kind}"
    judged = (
        f"The claim {claim} holds for this pair of datasets. That is a proof, not a test."
        if audit.holds
        else f"The claim {claim} is false: this pair of datasets refutes it."
    )
    found = {
        "Claimed": claim,
        "True ε of the pair": f"{audit.epsilon}, at output {audit.output}",
        "Largest difference of log-ratios": str(audit.range),
        "δ at the claimed ε": str(audit.hockey_stick(audit.claimed)),
        "Claimed ε over the true ε": f"{audit.slack:.4g}",
    }
    return Page(
        "An audit of a privacy claim",
        verdict(judged, good=audit.holds),
        (
            Section("What was found", (facts(found), *_pictures(audit))),
            Section("What it means", tuple(paragraph(text) for text in _MEANING)),
        ),
    )


def about_other_audit(audit: SamplingAudit | SensitivityAudit | TimingAudit) -> Page:
    """Return the report of an audit from its text."""
    return Page(
        "An audit of a privacy claim",
        lede(str(audit).splitlines()[0]),
        (
            Section("What was found", (verbatim(str(audit)),)),
            Section(
                "What it means",
                (
                    paragraph((type(audit).__doc__ or "").split("\n\n")[0]),
                    paragraph(
                        "The statement and its proof are in the library's documentation: “Audit”."
                    ),
                    paragraph(
                        "The data are taken to be made up. An audit of real data is as private as the data."
                    ),
                ),
            ),
        ),
    )


def _pictures(audit: ExactAudit) -> list[Markup]:
    """Return a plot of the privacy losses of all outputs beside the claim, if there are few enough to see."""
    losses = [float(loss) for loss in audit.losses()]
    if len(losses) > _MOST_BARS:
        return []
    says = (
        "What each output tells: the logarithm of how much likelier it is on the first dataset than on the "
        "second. The claim allows what is between the dashed lines."
    )
    return [picture(partial(plots.losses, losses, float(audit.claimed)), says)]
