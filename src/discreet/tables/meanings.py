"""The values of a column that candidates mean: decided from its type, which is public, before a row is read."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ..candidates import Labels
from ..errors import InvalidCandidates, preview
from ..numbers import exact
from ..sampling.vectors import read_vector
from ..warning import warn
from .kinds import (
    NUMBERS,
    CellKey,
    ColumnType,
    check_candidates,
    key,
    kind_of,
    nearest_float,
    represent,
    single,
)
from .text_files import as_texts, is_written, spellings

MOST_NAMES = 3
"""So many candidates are named that no cell can equal."""

_NOUNS = {
    **dict.fromkeys(("integer", "float", "decimal"), "number"),
    **dict.fromkeys(("timestamp", "timestamp with time zone"), "time"),
    "text": "text",
}

Meanings = Sequence[tuple[Hashable, ...]]
"""The values that each candidate means, in the column's own type: none where no cell can equal it; several where
files or Python write one value in several ways."""


def meanings(candidates: Sequence[object], of: ColumnType, name: str = "candidate") -> Meanings:
    """Return the values of a column that each candidate means.

    A candidate means the value that equals it. A declared number means the number of the column's type that is
    nearest to it, where that is a type of floating-point numbers: nobody can write 0.1 otherwise there.

    No value belongs to two answers of a question. An answer that no value equals is warned of, if others may count.

    Raises:
        InvalidCandidates: if a candidate cannot be compared with the column's type; or, of the answers of a
            question, if two mean one value, or no value equals any.
    """
    if is_written(of):
        plain_candidates: Sequence[object] = candidates
        values = [
            text_meanings(text, candidate, of)
            for text, candidate in texts_and_candidates(candidates, of, name)
        ]
    else:
        plain_candidates = check_candidates(candidates, of, name)
        choose = nearest_meaning if is_declared(candidates) else equal_meaning
        values = [choose(one, of) for one in plain_candidates]
    if isinstance(candidates, Labels):
        _refuse_repeats(plain_candidates, values, of, name)
        if of.kind != "nothing" and of.categories is None:  # of which some may come from rows
            absent = [one for one, means in zip(plain_candidates, values, strict=True) if not means]
            _tell_absent(absent, plain_candidates, of)
    return values


def is_declared(candidates: object) -> bool:
    """Return whether numbers are declared as those of a column."""
    return isinstance(candidates, Labels) and candidates.is_declared


@dataclass(frozen=True, slots=True)
class Rungs:
    """Numbers in a list, as the records of a column are compared with them.

    Attributes:
        exact: among integers, decimals and fractions.
        floating: among floating-point numbers.
    """

    exact: Sequence[Fraction]
    floating: Sequence[Fraction]


def rungs(labels: Labels, of: ColumnType | None = None) -> Rungs:
    """Return the numbers that labels mean where records are ordered; one that a column cannot hold is itself.

    Args:
        labels: numbers.
        of: the type of the column; None for numbers without one.
    """
    if not labels.is_declared:
        numbers = read_vector(list(labels))
        return Rungs(*[[numbers.exact(i) for i in range(len(numbers))]] * 2)
    precise = [exact(one, "a candidate") for one in labels]
    like = of if of is not None and of.kind == "float" else ColumnType("", "float", "double")
    nearest_numbers = [
        x if value is None else Fraction(value)
        for x in precise
        for value in [nearest_float(x, like)]
    ]
    return Rungs(nearest_numbers if like is of else precise, nearest_numbers)


def positions(values: Meanings) -> dict[object, int]:
    """Return the position of the candidate that each value belongs to; of a repeated one, the first."""
    places: dict[object, int] = {}
    for i, means in enumerate(values):
        for value in means:
            places.setdefault(value, i)
    return places


def as_codes(values: Meanings, codes: Mapping[CellKey, int]) -> Meanings:
    """Return the integers that stand for Python objects in place of those. Private: some are in the rows."""
    return [tuple(codes[key(one)] for one in means if key(one) in codes) for means in values]


def texts_and_candidates(
    candidates: Sequence[object], of: ColumnType, name: str
) -> list[tuple[object, object]]:
    """Return the candidates as they are written in a file, with the candidates."""
    texts = check_candidates(as_texts(candidates, of.column, name), of, name)
    return list(zip(texts, map(single, candidates), strict=True))


def text_meanings(text: object, candidate: object, of: ColumnType) -> tuple[Hashable, ...]:
    """Return all texts as which a file may write a candidate."""
    several = (text, *spellings(candidate)[1:])
    return tuple(value for one in several if (value := represent(one, of)) is not None)


def equal_meaning(candidate: object, of: ColumnType) -> tuple[Hashable, ...]:
    """Return the value that equals a candidate."""
    value = None if of.kind == "nothing" else represent(candidate, of)
    return () if value is None else (value,)


def nearest_meaning(number: object, of: ColumnType) -> tuple[Hashable, ...]:
    """Return the value that a declared number means; among Python objects it may be a double, or exact."""
    number = exact(number, "a declared number")
    if of.kind == "float":
        value = nearest_float(number, of)
        return () if value is None else (value,)
    if of.kind == "anything":
        value = nearest_float(number, ColumnType(of.column, "float", "float"))
        return (number,) if value is None or value == number else (value, number)
    return equal_meaning(number, of)


def _refuse_repeats(
    candidates: Sequence[object], values: Meanings, of: ColumnType, name: str
) -> None:
    """Raise if two candidates mean one value: a record would count for both."""
    first_of: dict[CellKey, object] = {}
    for candidate, means in zip(candidates, values, strict=True):
        for value in means:
            first = first_of.setdefault(key(value), candidate)
            if first is not candidate:
                raise InvalidCandidates(
                    f"the {name}s {preview(first)} and {preview(candidate)} are one value of {of.words}: "
                    "leave one out"
                )


def _tell_absent(absent: Sequence[object], candidates: Sequence[object], of: ColumnType) -> None:
    """Say which candidates no cell of the column can equal, and which number would count.

    Raises:
        InvalidCandidates: if that is so of all.
    """
    if not absent:
        return
    reasons = "; ".join(_absence(one, of) for one in absent[:MOST_NAMES])
    more = f"; and {len(absent) - MOST_NAMES:,} more" if len(absent) > MOST_NAMES else ""
    if len(absent) == len(candidates):
        raise InvalidCandidates(f"no candidate can count: {reasons}{more}")
    warn(f"{reasons}{more}: no cell can equal it, so it counts 0")


def _absence(candidate: object, of: ColumnType) -> str:
    """Return that no cell of a column can equal a candidate, and which number would count."""
    if of.enum_categories is not None:
        return f"{preview(candidate)} is none of the categories of {of.words}"
    noun = _NOUNS.get(of.kind, "value")
    would = _instead(candidate, of)
    return f"{preview(candidate)} is no {noun} of {of.words}" + (f"; {would}" if would else "")


def _instead(candidate: Any, of: ColumnType) -> str:
    """Return which number would count in place of a candidate, or which numbers there are; else an empty text."""
    if kind_of(candidate) not in NUMBERS or candidate in (float("inf"), float("-inf")):
        return ""
    number = exact(candidate, "a candidate")
    value = nearest_float(number, of) if of.kind == "float" else represent(number, of)
    if value is not None:
        return f"{preview(value)} is"
    scale = 10**of.scale
    beyond = of.kind != "float" and not of.low <= number * scale <= of.high
    return f"they are from {of.low} to {of.high}" if beyond and of.kind == "integer" else ""
