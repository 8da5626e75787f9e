"""A release as rows for a frame, and as a picture. Both are public, as the release is."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..base.lazy_names import ModuleOnUse
from ..errors import InvalidArgument, MissingPackage
from .question_sentences import facts_of, verb_of
from .shown_answers import are_counts

_PANDAS, _PLOTS = ModuleOnUse("pandas"), ModuleOnUse("discreet.study.plots")
"""Packages that a release needs for a frame or a picture alone."""


def rows_of(release: Any) -> list[dict[str, object]]:
    """Return the rows of an answer: of counts one for each, by group one for each group, else one.

    A cell has a column for each of its own.
    """
    verb, names = verb_of(release.query), names_of_cells(release.query)
    key_name = "value" if verb == "counts" else "group"
    name = "count" if are_counts(release.mechanism, release.query) else "answer"
    rows = _answer_rows(_as_list(release.value), release.counts, name, key_name)
    return [_in_columns(row, names) for row in rows]


def columns_of_no_rows(release: Any) -> list[str]:
    """Return the columns of an answer that has no rows."""
    facts, verb = facts_of(release.query), verb_of(release.query)
    of_statement = facts.get("row_names")
    if isinstance(of_statement, tuple | list):
        return [*of_statement]
    row: dict[str, object] = {"group": None} if "by" in facts else {}
    row |= {"value": None} if verb == "counts" else {}
    row |= {"count" if are_counts(release.mechanism, release.query) else "answer": None}
    row |= {} if release.counts is None else {"count": None}
    names = names_of_cells(release.query)
    return [
        *_in_columns(
            {one: (None,) * len(names[one]) if one in names else None for one in row}, names
        )
    ]


def names_of_cells(query: str) -> dict[str, Sequence[str]]:
    """Return the columns of cells by the column of rows that holds these: those of groups, and those of values."""
    facts, names = facts_of(query), dict[str, Sequence[str]]()
    for fact, columns in (("column_names", ("value", "answer")), ("by_names", ("group",))):
        of_cells = facts.get(fact)
        if isinstance(of_cells, tuple):
            names |= dict.fromkeys(columns, of_cells)
    return names


def _in_columns(row: Mapping[str, object], names: Mapping[str, Sequence[str]]) -> dict[str, object]:
    """Return a row with the values of its cells in columns of their own, with their kind if two have one name."""
    pairs: list[tuple[str, str, object]] = []
    for name, cell in row.items():
        if isinstance(cell, tuple):
            own = names.get(name) or [f"{name} {place}" for place in range(1, len(cell) + 1)]
            pairs += [(name, one, part) for one, part in zip(own, cell, strict=True)]
        else:
            pairs.append(("", name, cell))
    titles = [title for _, title, _ in pairs]
    return {
        f"{kind} {title}" if kind and titles.count(title) > 1 else title: part
        for kind, title, part in pairs
    }


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
    elif isinstance(value, list):
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
    rows = rows_of(release)
    return make(rows) if rows else make(columns=columns_of_no_rows(release))


def figure_of(release: Any, label: str | None) -> Any:
    """Return a bar chart of released counts, or a picture of cells of two columns or three.

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
    keys = [tuple(_parts_of_key(row[name] for name in names)) for row in rows]
    counts: Any = [row["count"] for row in rows]
    if len(keys[0]) in (2, 3):
        columns = columns_of_question(release.query)
        return _PLOTS.counts(dict(zip(keys, counts, strict=True)), names=columns)
    texts = [", ".join(map(str, key)) for key in keys]
    words = {} if label is None else {"label": label}
    return _PLOTS.counts(dict(zip(texts, counts, strict=True)), **words)


def _parts_of_key(labels: Iterator[object]) -> Iterator[object]:
    """Yield the values of cells, and of all other labels the labels."""
    for label in labels:
        yield from label if isinstance(label, tuple) else [label]


def columns_of_question(query: str) -> list[str]:
    """Return the columns of groups and of the values of a question."""
    facts, names = facts_of(query), list[str]()
    for name in ("by", "column"):
        of_cells = facts.get(f"{name}_names", [facts[name]] if name in facts else [])
        names += map(str, of_cells if isinstance(of_cells, tuple | list) else [])
    return names
