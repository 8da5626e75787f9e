"""A release as rows for a frame, and as a picture. Both are public, as the release is."""

from collections.abc import Iterator, Mapping
from typing import Any

from ..base.lazy_names import ModuleOnUse
from ..errors import InvalidArgument, MissingPackage
from .question_sentences import verb_of
from .shown_answers import are_counts

_PANDAS, _PLOTS = ModuleOnUse("pandas"), ModuleOnUse("discreet.study.plots")
"""Packages that a release needs for a frame or a picture alone."""


def rows_of(release: Any) -> list[dict[str, object]]:
    """Return the rows of an answer: of counts one for each, by group one for each group, else one."""
    verb = verb_of(release.query)
    key_name = "value" if verb == "counts" else "group"
    name = "count" if are_counts(release.mechanism, release.query) else "answer"
    return list(_answer_rows(_as_list(release.value), release.counts, name, key_name))


def _as_list(value: Any) -> object:
    """Return an array as a list."""
    return value.tolist() if hasattr(value, "tolist") else value


def _answer_rows(
    value: object, counts: object, name: str, key_name: str
) -> Iterator[dict[str, object]]:
    """Yield the rows of a value with its counts.

    Args:
        value: the value.
        counts: counts beside it, in its shape, or None.
        name: the column of single values.
        key_name: the column of the keys of a mapping that has no mappings in it.
    """
    if isinstance(value, Mapping):
        parts = counts if isinstance(counts, Mapping) else {}
        is_nested = any(isinstance(one, Mapping) for one in value.values())
        for key, one in value.items():
            for row in _answer_rows(one, parts.get(key), name, key_name):
                yield {"group" if is_nested else key_name: key, **row}
    elif isinstance(value, list | tuple):
        numbers = counts if isinstance(counts, list) else [None] * len(value)
        for one, count in zip(value, numbers, strict=True):
            yield from [one] if isinstance(one, dict) else _answer_rows(one, count, name, key_name)
    else:
        yield {name: value, **({} if counts is None else {"count": counts})}


def frame_of(release: Any) -> Any:
    """Return a pandas frame of the answer.

    Raises:
        MissingPackage: if pandas is not installed.
    """
    try:
        make = _PANDAS.DataFrame
    except ImportError:
        raise MissingPackage("to_pandas needs pandas: pip install pandas") from None
    return make(rows_of(release))


def figure_of(release: Any, label: str | None) -> Any:
    """Return a bar chart of released counts.

    Raises:
        InvalidArgument: if the release has no counts by value.
        MissingPackage: if matplotlib is not installed.
    """
    if release.count_table() is None:
        raise InvalidArgument(
            "plot draws counts by value, and this answer has none: print it, or ask for counts"
        )
    rows = rows_of(release)
    names = [name for name in rows[0] if name != "count"]
    numbers = {", ".join(str(row[name]) for name in names): row["count"] for row in rows}
    return _PLOTS.counts(numbers, **({} if label is None else {"label": label}))
