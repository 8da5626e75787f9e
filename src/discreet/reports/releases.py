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
from .wording import Wording

_SHARES = [Fraction(k, 40) for k in (*range(8, 40), *range(40, 201, 4))]
"""The epsilons of the curve, as shares of that of the answer."""

_MOST_SHOWN = 100


def about_release(release: Release, words: Wording) -> Page:
    """Return the report of a release."""
    guarantee, answer = release.guarantee, _answer(release, words)
    asked = {
        words.question: release.query or words.not_recorded,
        words.answer: answer,
        words.mechanism: words.said(release.mechanism),
    }
    promised = tuple(map(paragraph, prose.guarantee_in_words(guarantee, words)))
    exactly = {
        words.exactly: words.said(guarantee),
        words.neighbours: prose.neighbors_in_words(guarantee.neighbors, release.unit, words),
    }
    sections = [
        Section(words.asked_title, (facts(asked),)),
        Section(words.promised_title, (*promised, facts(exactly))),
        Section(words.cost_title, (facts(dict(_costs(release, words))),)),
    ]
    error = _error(release, words)
    if error is not None:
        sections.append(Section(words.error_title, error))
    sections.append(prose.exactness_section(words))
    return Page(words.release_title, lede(answer), tuple(sections), words)


def private_distribution(law: Distribution, words: Wording) -> Section:
    """Return the section with the private distribution, for the owner of the data."""
    drawn = picture(law.plot, words.distribution_picture, words, words.private_labels)
    return Section(words.distribution_title, (drawn,))


def _answer(release: Release, words: Wording) -> str:
    value = json_value(release.value)
    if isinstance(value, dict):
        return "; ".join(f"{group}: {answer}" for group, answer in value.items())
    if isinstance(value, list):
        shown, more = ", ".join(map(str, value[:_MOST_SHOWN])), len(value) - _MOST_SHOWN
        return words.more_answers.format(shown=shown, more=more) if more > 0 else shown
    return str(value)


def _costs(release: Release, words: Wording) -> Iterator[tuple[str, str]]:
    guarantee = release.guarantee
    if guarantee.pure is not None:
        yield words.pure, equals("ε", guarantee.pure)
    if guarantee.rho is not None:
        yield words.concentrated, equals("ρ", guarantee.rho)
    if guarantee.pure is None and guarantee.rho is None:
        yield words.privacy, words.said(guarantee)


def _error(release: Release, words: Wording) -> tuple[Markup, ...] | None:
    """Return the section on the worst-case error, which is public as it depends on no data."""
    n, epsilon = release.candidates, release.guarantee.pure
    single = release.guarantee.kind != "composition"
    if n is None or n < 2 or epsilon is None or not single or release.mechanism not in BOUNDED:
        return None

    def at(share: Fraction) -> Fraction:
        return worst_error(n, spread=1, epsilon=share * epsilon, mechanism=release.mechanism)

    points = [float(share * epsilon) for share in _SHARES]
    line = {release.mechanism: (points, [float(at(share)) for share in _SHARES])}
    says = words.error_picture.format(candidates=n, epsilon=float(epsilon))
    drawn = partial(
        plots.curve,
        line,
        what="worst expected error",
        unit="the range sensitivity",
        at=float(epsilon),
    )
    told = words.error.format(error=float(at(Fraction(1))))
    return paragraph(told), picture(drawn, says, words)
