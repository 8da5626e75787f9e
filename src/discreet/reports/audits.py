"""Reports of audits."""

from functools import partial

from .. import plots
from ..audit import ExactAudit, SamplingAudit, SensitivityAudit, TimingAudit
from .page import Markup, Page, Section, facts, lede, paragraph, picture, verbatim, verdict
from .wording import Wording

_MOST_BARS = 40


def about_exact_audit(audit: ExactAudit, words: Wording) -> Page:
    """Return the report of an exact audit."""
    kind = words.bounded_range if audit.bounded_range else ""
    delta = f", δ = {float(audit.delta):.6g}" if audit.delta else ""
    claim = f"ε = {float(audit.claimed):.10g}{delta}{kind}"
    judged = (words.holds if audit.holds else words.false).format(claim=claim)
    found = {
        words.claimed: claim,
        words.true: words.at_output.format(epsilon=words.said(audit.epsilon), output=audit.output),
        words.range: words.said(audit.range),
        words.delta: words.said(audit.hockey_stick(audit.claimed)),
        words.slack: f"{audit.slack:.4g}",
    }
    return Page(
        words.audit_title,
        verdict(judged, good=audit.holds),
        (
            Section(words.found_title, (facts(found), *_pictures(audit, words))),
            Section(words.meaning_title, tuple(map(paragraph, words.meaning))),
        ),
        words,
    )


def about_other_audit(
    audit: SamplingAudit | SensitivityAudit | TimingAudit, words: Wording
) -> Page:
    """Return the report of an audit from its text."""
    said = words.said(audit)
    meaning = (words.audits[type(audit).__name__], words.proof, words.made_up)
    return Page(
        words.audit_title,
        lede(said.splitlines()[0]),
        (
            Section(words.found_title, (verbatim(said),)),
            Section(words.meaning_title, tuple(map(paragraph, meaning))),
        ),
        words,
    )


def _pictures(audit: ExactAudit, words: Wording) -> list[Markup]:
    """Return a plot of the privacy losses of all outputs beside the claim, if there are few enough to see."""
    losses = [float(loss) for loss in audit.losses()]
    if len(losses) > _MOST_BARS:
        return []
    drawn = partial(plots.losses, losses, float(audit.claimed))
    return [picture(drawn, words.losses_picture, words)]
