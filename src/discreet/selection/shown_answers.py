"""How an answer is shown to a reader: counts below 0 as 0, and a mean with how many numbers it is from.

Programs get the answer as it is: the value, JSON and arrays keep the noisy counts, so that their sums are right on
average.
"""

import datetime as dt
from collections.abc import Iterator, Mapping
from typing import Any

from ..base.escapes import visible_text
from ..base.messages import AND, Message, join, plural
from .question_sentences import verb_of

COUNTING = frozenset({"geometric", "gaussian", "private_keys"})
"""The mechanisms whose answers of several keys are counts."""


def are_counts(mechanism: str, query: str) -> bool:
    """Return whether the value of a release is a count, or several; sums have the same noise, and are none."""
    return mechanism in COUNTING and verb_of(query) in ("count", "counts", "count_distinct")


SPREADS = frozenset({"variance", "standard_deviation"})


def is_of_numbers(query: str) -> bool:
    """Return whether a question asks for a mean or a spread of numbers, or for those of groups."""
    return verb_of(query) in {"mean", *SPREADS}


def floor_counts(counts: Any) -> Any:
    """Return counts, in lists or by key, with 0 in place of those below it."""
    if isinstance(counts, Mapping):
        return {key: floor_counts(one) for key, one in counts.items()}
    if isinstance(counts, list):
        return [floor_counts(one) for one in counts]
    return max(0, counts) if isinstance(counts, int) else counts


def note_of_counts(*counts: Any) -> Message | None:
    """Return the sentence that says how many counts are shown as 0; None where all are as they are."""
    below = sum(number < 0 for number in _single_counts(counts))
    if not below:
        return None
    return plural(
        "the noise took {count:,} count below 0: it is shown as 0, and kept as it is in JSON and in Python",
        "the noise took {count:,} counts below 0: they are shown as 0, and kept as they are in JSON and in Python",
        below,
    )


def _single_counts(counts: Any) -> Iterator[int]:
    """Yield the counts in lists and under keys."""
    if isinstance(counts, int):
        yield counts
    elif isinstance(counts, Mapping | list | tuple):
        for one in counts.values() if isinstance(counts, Mapping) else counts:
            yield from _single_counts(one)


def error_in_words(error: Any) -> str:
    """Return how far off an answer may be; by column where there are several."""
    from ..mechanisms.accuracy import NO_ERROR  # a first answer does without

    if not isinstance(error, Mapping):
        return NO_ERROR if error is None else str(error.in_brief())
    columns = [
        Message("{name}: {error}", name=name, error=error_in_words(one))
        for name, one in error.items()
    ]
    return join(AND, columns)


def noise_in_words(noise: Any) -> list[str]:
    """Return sentences on the noise of numbers; by column where there are several."""
    if not isinstance(noise, Mapping):
        return [] if noise is None else [str(noise)]
    return [
        Message("{name}: {noise}", name=name, noise=one)
        for name, one in noise.items()
        if one is not None
    ]


def number_with_size(mean: object, count: int) -> Message:
    """Return a mean, or a spread, with how many numbers it is from: a second number alone has no meaning."""
    if mean is None:  # the count with its noise is 0, or below it
        return Message("no answer: 0 numbers were found (with noise)")
    if isinstance(mean, dt.datetime):
        records = plural("about {count:,} time", "about {count:,} times", count)
    elif isinstance(mean, dt.date):
        records = plural("about {count:,} date", "about {count:,} dates", count)
    else:
        records = plural("about {count:,} number", "about {count:,} numbers", count)
    return Message("{mean}, from {numbers}", mean=mean, numbers=records)


def answer_in_words(value: object) -> str:
    """Return an answer as text, with numbers and dates in a list or a dict written as they are alone.

    It may be a text of the data, so what could not be seen in it is escaped.
    """
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_inside(key)}: {_inside(one)}' for key, one in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_inside, value))}]"
    if isinstance(value, tuple):  # a cell of several columns
        return ", ".join(map(answer_in_words, value))
    return visible_text(value) if isinstance(value, str) else str(value)


def _inside(value: object) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(map(_inside, value))})"
    return repr(value) if isinstance(value, str) else answer_in_words(value)
