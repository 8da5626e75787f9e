"""Reports of releases."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from ...base.messages import Message, gettext, plural
from ...base.numbers import rounded_up
from ...mechanisms import BOUNDED
from ...privacy.contract import equals
from ...privacy.wording import in_brief, in_full, mechanism_name
from ...selection.question_sentences import verb_of
from ...selection.releases import Release, json_value
from ...selection.sentences import guarantee_in_words, neighbors_in_words
from ...selection.shown_answers import error_in_words, is_of_numbers, number_with_size
from ...tables.datasets.table_profile import Profile
from ..planning.distribution import Distribution
from ..planning.worst_errors import worst_error
from ..plots.contents import axes_of_errors
from .charts import Picture, draw_counts, draw_curve, draw_law

_SHARES = [Fraction(k, 40) for k in (*range(8, 40), *range(40, 201, 4))]
"""The epsilons of the curve, as shares of that of the answer."""

_MOST_SHOWN = 100


def release_parts(release: Release) -> dict[str, object]:
    """Return the parts of the report of a release."""
    guarantee = release.guarantee
    return {
        "query": release.query, "answer": _answer(release.shown), "notes": release.notes,
        "how_far_off": error_in_words(release.error),
        "mechanism": mechanism_name(release.mechanism),
        "promise": guarantee_in_words(guarantee), "guarantee": in_full(guarantee, release.unit),
        "brief": in_brief(guarantee, release.unit),
        "relation": neighbors_in_words(guarantee.neighbors, release.unit),
        "epsilon": "" if guarantee.pure is None else equals("ε", guarantee.pure),
        "rho": "" if guarantee.rho is None else equals("ρ", guarantee.rho),
        **_error(release), **_pictures(release),
    }  # fmt: skip


def private_distribution(law: Distribution) -> Picture:
    """Return the plot of a private distribution, for the owner of the data."""
    caption = Message(
        "The distribution that the answer was drawn from. It is as private as the data."
    )
    return Picture(draw_law(law.series(), law.label), caption)


def _pictures(release: Release) -> dict[str, object]:
    """Return the counts that were released as a chart, and a profile, where there are any."""
    counts = release.count_table()
    caption = Message("The released counts, with their noise. They may be published.")
    return {
        "counts": None if counts is None else Picture(draw_counts(counts), caption),
        "profile": release.value if isinstance(release.value, Profile) else None,
    }


def _answer(release: Release) -> str:
    if isinstance(release.value, Profile):
        return release.value.title
    if release.counts is None and release.count_table() is not None:
        return plural("{count:,} count", "{count:,} counts", len(release.value))
    pair = number_with_size if is_of_numbers(release.query) else _pair
    if isinstance(release.value, dict):  # by group: two of them may have one text
        counts = release.counts or dict.fromkeys(release.value)
        groups = (
            (group, _with_counts(one, counts[group], pair)) for group, one in release.value.items()
        )
        return "; ".join(f"{group}: {json_value(one)}" for group, one in groups)
    answer = json_value(_with_counts(release.value, release.counts, pair))
    if not isinstance(answer, list):
        return str(answer)
    public, more = ", ".join(map(str, answer[:_MOST_SHOWN])), len(answer) - _MOST_SHOWN
    return Message("{shown}, and {more:,} more", shown=public, more=more) if more > 0 else public


def _with_counts(answer: Any, counts: Any, pair: Callable[[Any, Any], str]) -> Any:
    """Return an answer in plain values with its noisy counts behind it."""
    if isinstance(counts, list):
        return [_with_counts(one, own, pair) for one, own in zip(answer, counts, strict=True)]
    return answer if counts is None else pair(answer, counts)


def _pair(answer: object, count: int) -> str:
    return f"{answer}: {count}"


def _error(release: Release) -> dict[str, object]:
    """Return the worst-case error, which is public as it depends on no data, with its plot over epsilon."""
    n, epsilon, mechanism = release.candidates, release.guarantee.pure, release.mechanism
    single = release.guarantee.kind != "composition"
    if n is None or n < 2 or epsilon is None or not single or mechanism not in BOUNDED:
        return {"error": None}

    def at(share: Fraction) -> float:
        return float(worst_error(n, spread=1, epsilon=share * epsilon, mechanism=mechanism))

    worst = worst_error(n, spread=1, epsilon=epsilon, mechanism=mechanism)

    points = [float(share * epsilon) for share in _SHARES]
    epsilons, errors = axes_of_errors(
        gettext("worst expected error"), gettext("the range sensitivity")
    )
    curve = draw_curve(
        list(zip(points, map(at, _SHARES), strict=True)),
        name=mechanism,
        abscissa=epsilons,
        ordinate=errors,
        at=float(epsilon),
    )
    caption = Message(
        "The expected error on the worst of all data, for {candidates:,} candidates. The answer "
        "was given at ε = {epsilon:.4g}. It is not about these data, so it is public.",
        candidates=n, epsilon=float(epsilon),
    )  # fmt: skip
    return {
        "error": _error_in_words(release, worst),
        "error_picture": Picture(curve, caption),
    }


def _error_in_words(release: Release, error: Fraction) -> Message:
    """Return the worst expected error as a sentence, for a mode in records, which are its steps."""
    steps = rounded_up(error, 4)
    if verb_of(release.query) == "mode" and release.guarantee.neighbors == "add_remove":
        return Message(
            "Whatever the data are, the answer has on average at most {error} records fewer than the most common "
            "one.",
            error=steps,
        )
    return Message(
        "Whatever the data are, the answer is on average at most {error} steps behind the best one. A step is as "
        "much as one record can move the difference of two scores.",
        error=steps,
    )
