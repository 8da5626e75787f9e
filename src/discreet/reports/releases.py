"""Reports of releases."""

from collections.abc import Iterator
from fractions import Fraction
from functools import partial

from .. import plots
from ..mechanisms import BOUNDED
from ..planning.distribution import Distribution
from ..planning.worst_case import worst_error
from ..privacy.contract import equals
from ..releases import Release, json_value
from . import prose
from .page import Markup, Page, Section, facts, lede, paragraph, picture

_SHARES = [Fraction(k, 10) for k in range(2, 51)]
"""The epsilons of the curve, as shares of that of the answer."""

_MOST_SHOWN = 100


def about_release(release: Release) -> Page:
    """Return the report of a release."""
    guarantee = release.guarantee
    asked = {
        "Question": release.query or "not recorded",
        "Answer": _answer(release),
        "Mechanism": release.mechanism,
    }
    promised = tuple(paragraph(text) for text in prose.guarantee_in_words(guarantee))
    exactly = {
        "Exactly": str(guarantee),
        "Neighbours": prose.neighbors_in_words(guarantee.neighbors, release.unit),
    }
    sections = [
        Section("What was asked", (facts(asked),)),
        Section("What is promised", (*promised, facts(exactly))),
        Section("What it cost", (facts(dict(_costs(release))),)),
    ]
    error = _error(release)
    if error is not None:
        sections.append(Section("How good such an answer is", error))
    return Page("A private answer", lede(_answer(release)), (*sections, prose.exactness_section()))


def private_distribution(law: Distribution) -> Section:
    """Return the section with the private distribution, for the owner of the data."""
    says = "The distribution that the answer was drawn from. It is as private as the data."
    return Section("The distribution: do not publish", (picture(law.plot, says),))


def _answer(release: Release) -> str:
    value = json_value(release.value)
    if isinstance(value, dict):
        return "; ".join(f"{group}: {answer}" for group, answer in value.items())
    if isinstance(value, list):
        more = f", and {len(value) - _MOST_SHOWN:,} more" if len(value) > _MOST_SHOWN else ""
        return ", ".join(map(str, value[:_MOST_SHOWN])) + more
    return str(value)


def _costs(release: Release) -> Iterator[tuple[str, str]]:
    guarantee = release.guarantee
    if guarantee.pure is not None:
        yield "Pure differential privacy", equals("ε", guarantee.pure)
    if guarantee.rho is not None:
        yield "Zero-concentrated", equals("ρ", guarantee.rho)
    if guarantee.pure is None and guarantee.rho is None:
        yield "Privacy", str(guarantee)


def _error(release: Release) -> tuple[Markup, ...] | None:
    """Return the section on the worst-case error, which is public as it depends on no data."""
    n, epsilon = release.candidates, release.guarantee.pure
    single = release.guarantee.kind != "composition"
    if n is None or n < 2 or epsilon is None or not single or release.mechanism not in BOUNDED:
        return None

    def at(share: Fraction) -> Fraction:
        return worst_error(n, spread=1, epsilon=share * epsilon, mechanism=release.mechanism)

    points = [float(share * epsilon) for share in _SHARES]
    line = {release.mechanism: (points, [float(at(share)) for share in _SHARES])}
    says = (
        f"The expected error on the worst of all data, for {n:,} candidates; the answer was given at "
        f"ε = {float(epsilon):.4g}. It is not about these data, so it is public."
    )
    return (
        paragraph(
            f"Whatever the data are, the score of the answer is behind the best score by at most "
            f"{float(at(Fraction(1))):.4g} on average, in units of how much one record can move the "
            "difference of two scores."
        ),
        picture(
            partial(
                plots.curve,
                line,
                what="worst expected error",
                unit="the range sensitivity",
                at=float(epsilon),
            ),
            says,
        ),
    )
