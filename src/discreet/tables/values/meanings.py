"""The values of a column that candidates mean: decided from its type, which is public, before a row is read."""

import datetime as dt
import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import product
from operator import getitem
from typing import Any
from uuid import UUID

import numpy as np

from ...base.numbers import exact
from ...base.warning import warn
from ...errors import InvalidCandidates, preview
from ...sampling.quotients import Quotients
from ...sampling.vectors import ExactArray, in_one_array, objects, read_vector, types_of
from ...selection.bins import CellLabels
from ...selection.candidates import (
    Labels,
    decimal_places,
    instant,
    is_missing,
    plain_number,
    plain_text,
)
from ..formats.date_texts import DateForm
from ..formats.number_texts import NumberForm
from ..formats.text_form import CellUse
from .key_values import MOST_KEY_BYTES, part_word
from .kinds import (
    NUMBERS,
    CellKey,
    ColumnType,
    check_candidates,
    is_written,
    key,
    kind_of,
    nearest_float,
    plain,
    represent,
    rounded_float,
    single,
)
from .numeric import TRUTHS


def spellings(candidate: object, of: ColumnType) -> tuple[str, ...]:
    """Return the texts as which a file may write a candidate, the first of which stands for all.

    None for a value that can be written in many ways, such as a float or a time. In a column where what the cells
    spell was read, a number or a date is its plain text.
    """
    form = None if of.reading is None else of.reading.form
    if isinstance(form, NumberForm) and isinstance(candidate, int | Fraction | Decimal):
        return (plain_text(candidate),)
    if type(candidate) is dt.date and of.reading is None and of.cells.dates is not None:
        return ()
    if isinstance(candidate, bool):
        return TRUTHS[candidate]
    if isinstance(candidate, int | Fraction | Decimal | str):
        return (str(candidate),)
    return (candidate.isoformat(),) if type(candidate) is dt.date else ()


def use_of_cells(values: Sequence[object]) -> CellUse | None:
    """Return the use of cells that are compared with values, all of them numbers or dates; None for their texts."""
    kinds = {kind_of(plain(one)) for one in values if one is not None}
    if kinds and kinds <= NUMBERS:
        return "number"
    return "naive" if kinds == {"date"} else None


def check_one_kind(values: Sequence[object]) -> None:
    """Raise for numbers or dates beside other values: a form of cells reads a column in one way.

    Raises:
        InvalidCandidates: from the values alone.
    """
    kinds = {kind_of(plain(one)) for one in values if one is not None}
    if kinds & (NUMBERS | {"date"}) and not (kinds <= NUMBERS or kinds == {"date"}):
        raise InvalidCandidates(
            "candidates and groups of a column with a form of numbers or dates must be all numbers, all dates or "
            "all texts, as each cell is read in one way. Ask for the others in a question of their own"
        )


def as_texts(candidates: Sequence[object], of: ColumnType, name: str = "candidate") -> list[str]:
    """Return the candidates as they are written in a file."""
    if isinstance(candidates, str | bytes):
        raise InvalidCandidates(f"candidates must be a list of values, not {preview(candidates)}")
    texts: list[str] = []
    for candidate in map(single, candidates):
        texts.extend(spellings(candidate, of)[:1])
        if not spellings(candidate, of):
            raise InvalidCandidates(
                f"the {name} {preview(candidate)} is a {type(candidate).__name__}, but column "
                f"{of.column!r} of a file holds text. Give it as it is written in the file"
            )
    return texts


MOST_NAMES = 3
"""So many candidates are named that no cell can equal."""

_WHOLE = 2**53
"""Integers up to it, either way, are doubles."""

_NOUNS = {
    **dict.fromkeys(("integer", "float", "decimal"), "number"),
    **dict.fromkeys(("timestamp", "timestamp with time zone"), "time"),
    "text": "text",
}

Meanings = Sequence[tuple[Hashable, ...]]
"""The values that each candidate means, in the column's own type: none where no cell can equal it; several where
files or Python write one value in several ways."""


def meanings(candidates: Sequence[object], of: ColumnType, name: str = "candidate") -> Meanings:
    """Return the values of a column that the candidates mean.

    A candidate means the value that equals it, and None the cells without a value. A declared number means the
    number of the column's type that is nearest to it, where that is a type of floating-point numbers: nobody can
    write 0.1 otherwise there.

    No value belongs to two answers of a question. An answer that no value equals is warned of, if others may count.

    Raises:
        InvalidCandidates: if a candidate cannot be compared with the column's type; or, of the answers of a
            question, if two mean one value, or no value equals any.
    """
    if isinstance(candidates, CellLabels):
        return _meanings_of_cells(candidates, of, name)
    has_null = any(one is None for one in candidates)
    present = [one for one in candidates if one is not None] if has_null else candidates
    choose = nearest_meaning if is_declared(candidates) else equal_meaning
    in_order = iter(_meanings_of_values(present, of, name, choose))
    values = [_empty_cell(of) if one is None else next(in_order) for one in candidates]
    if isinstance(candidates, Labels):
        check_disjoint(candidates, values, of, name)
        if of.kind != "nothing" and of.categories is None:  # of which some may come from rows
            absent = [one for one, means in zip(candidates, values, strict=True) if not means]
            _tell_absent(absent, candidates, of)
    return values


def _meanings_of_values(
    candidates: Sequence[object],
    of: ColumnType,
    name: str,
    choose: Callable[[Any, ColumnType], tuple[Hashable, ...]],
) -> Meanings:
    """Return the values that candidates mean, none of which is None, one by one."""
    if not is_written(of):
        return [choose(one, of) for one in check_candidates(candidates, of, name)]
    check_markers(candidates, of, name)
    return [
        text_meanings(text, candidate, of)
        for text, candidate in texts_and_candidates(candidates, of, name)
    ]


def _empty_cell(of: ColumnType) -> tuple[Hashable, ...]:
    """Return the content of a cell without a value: the empty text in a file of text, and null elsewhere."""
    return ("",) if of.name == "CSV" else (None,)


def _meanings_of_cells(cells: CellLabels, of: ColumnType, name: str) -> Meanings:
    """Return the texts of cells of several columns: those of all values that the values of a tuple mean."""
    words = [
        [tuple(part_word(one, part) for one in means) for means in meanings(labels, part, name)]
        for labels, part in zip(cells.parts, of.parts, strict=True)
    ]
    if any(None in each for column in words for each in column):
        raise InvalidCandidates(
            f"a {name} of several columns has a value that no cell can hold: give texts of at most "
            f"{MOST_KEY_BYTES} bytes, whole numbers, decimals, truths, dates or UUIDs"
        )
    texts = [[[*filter(None, each)] for each in column] for column in words]
    return [  # of a million cells
        tuple(map("".join, product(*map(getitem, texts, places)))) for places in cells.places
    ]


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

    exact: ExactArray | Quotients
    floating: ExactArray | Quotients


def rungs(labels: Labels, of: ColumnType | None = None) -> Rungs:
    """Return the numbers that labels mean where records are ordered; one that a column cannot hold is itself.

    Args:
        labels: numbers.
        of: the type of the column; None for numbers without one.
    """
    if not labels.is_declared:
        plain_numbers = _own_numbers(labels)
        return Rungs(plain_numbers, plain_numbers)
    numbers = _plain_array(labels.description)
    is_double = of is not None and of.kind == "float" and of.layout == "<d"
    if numbers is not None and is_double and (numbers.dtype.kind == "f" or _are_doubles(numbers)):
        # The double nearest to the decimal that a double prints as is that double.
        return Rungs(numbers, numbers)
    precise = [exact(one, "a candidate") for one in labels]
    like = of if of is not None and of.kind == "float" else ColumnType("", "float", "double")
    nearest_numbers = [
        x if double is None else Fraction(double)
        for x in precise
        for double in [nearest_float(x, like)]
    ]
    return Rungs(objects(nearest_numbers if like is of else precise), objects(nearest_numbers))


def _own_numbers(labels: Labels) -> ExactArray | Quotients:
    """Return numbers that mean themselves."""
    if labels.quotients is not None:
        return labels.quotients
    numbers = _plain_array(labels.description)
    return _exact_array(labels) if numbers is None else numbers


def _plain_array(labels: Sequence[Any]) -> ExactArray | None:
    """Return Python's own integers and floats in one array that rounds none of them; None where there is none."""
    types = types_of(labels)
    array = in_one_array(labels, types)
    if array is not None or not types <= {int, float}:
        return array
    are_short = all(abs(label) <= _WHOLE for label in labels if type(label) is int)
    return np.array(labels, dtype=np.float64) if are_short else None


def _are_doubles(integers: ExactArray) -> bool:
    """Return whether doubles hold integers exactly, because none is long."""
    return bool((np.abs(integers.clip(-_WHOLE - 1, _WHOLE + 1)) <= _WHOLE).all())


def _exact_array(labels: Labels) -> ExactArray:
    """Return numbers as exact fractions."""
    numbers = read_vector(list(labels))
    return objects([numbers.exact(i) for i in range(len(numbers))])


def positions(values: Meanings) -> dict[object, int]:
    """Return the position of the candidate that each value belongs to; of a repeated one, the first."""
    places: dict[object, int] = {}
    for i, means in enumerate(values):
        for value in means:
            places.setdefault(value, i)
    return places


def as_codes(values: Meanings, codes: Mapping[CellKey, int]) -> Meanings:
    """Return the integers that stand for Python objects in place of those. Private: some are in the rows.

    None, NaN and the like are several objects, and all of them are missing.
    """
    nulls = tuple(code for (_, value), code in codes.items() if is_missing(value))
    return [
        nulls if None in means else tuple(codes[key(one)] for one in means if key(one) in codes)
        for means in values
    ]


def texts_and_candidates(
    candidates: Sequence[object], of: ColumnType, name: str
) -> list[tuple[object, object]]:
    """Return the candidates as they are written in a file, with the candidates."""
    texts = check_candidates(as_texts(candidates, of, name), of, name)
    return list(zip(texts, map(single, candidates), strict=True))


def text_meanings(text: object, candidate: object, of: ColumnType) -> tuple[Hashable, ...]:
    """Return all texts as which a file may write a candidate."""
    markers = (of.cells.missing or ()) if of.reading is None else ()
    several = [
        one for one in (text, *spellings(candidate, of)[1:]) if one not in markers or not one
    ]
    return tuple(cell for one in several if (cell := represent(one, of)) is not None)


def check_markers(candidates: Sequence[object], of: ColumnType, name: str) -> None:
    """Raise for a value that stands for a missing cell of a file: no cell equals it, and noise would be its answer.

    Raises:
        InvalidCandidates: from the candidates and the form alone.
    """
    markers = {*(of.cells.missing or ())} - {""}
    for one in candidates if markers else ():
        if markers.intersection(spellings(one, of)[:1]):
            raise InvalidCandidates(
                f"the {name} {preview(one)} stands for a missing cell of column {of.column!r}, as "
                "missing says: no cell equals it. Leave it out. The empty text stands for all "
                "missing cells"
            )


def equal_meaning(candidate: object, of: ColumnType) -> tuple[Hashable, ...]:
    """Return the value that equals a candidate."""
    cell = None if of.kind == "nothing" else represent(candidate, of)
    return () if cell is None else (cell,)


def nearest_meaning(number: object, of: ColumnType) -> tuple[Hashable, ...]:
    """Return the value that a declared number means; among Python objects it may be a double, or exact."""
    number = exact(number, "a declared number")
    if of.kind == "float":
        double = nearest_float(number, of)
        return () if double is None else (double,)
    if of.kind == "anything":
        double = nearest_float(number, ColumnType(of.column, "float", "float"))
        return (number,) if double is None or double == number else (double, number)
    return equal_meaning(number, of)


def check_disjoint(
    candidates: Sequence[object], values: Meanings, of: ColumnType, name: str
) -> None:
    """Raise if two candidates mean one value: a cell that equals both would count for both.

    So a row is in one count at most, on which the guarantee of noisy counts rests. It is decided by the type of the
    column, which is public, before a row is read: 1 and "1" are one value of a text file and two of a column of
    Python objects, a date and its text are one value of a text file and cannot both be compared with a column of
    dates.

    Args:
        candidates: the candidates.
        values: the values that they mean.
        of: the type of the column.
        name: how they are called, for the error.

    Raises:
        InvalidCandidates: if it is so.
    """
    first_of: dict[CellKey, object] = {}
    for candidate, means in zip(candidates, values, strict=True):
        for value in means:
            first = first_of.setdefault(key(value), candidate)
            if first is not candidate:
                raise InvalidCandidates(
                    f"the {name}s {preview(first)} and {preview(candidate)} are one value of "
                    f"{of.words}: leave one out"
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
        return f"{preview(candidate)} is not one of the categories of {of.words}"
    if of.cells.missing:
        return f"{preview(candidate)} stands for a missing cell of {of.words}"
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


INTEGER = re.compile(r"[+-]?[0-9]{1,4000}")
NUMERAL_PATTERN = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


def parse(text: str, of: ColumnType) -> object:
    """Return the text as a value of the column's type."""
    if of.kind not in PARSERS:
        return text
    words, parser = PARSERS[of.kind]
    try:
        return parser(text.strip(), of)
    except (ValueError, ArithmeticError, KeyError):
        pass
    raise InvalidCandidates(f"{text!r} cannot be read as {words} for {of.words}")


def parse_all(texts: Sequence[str], of: ColumnType) -> list[object]:
    """Return texts as values of the column's type; of a file with a form as numbers or dates, if all are some.

    A number is written plainly, as in Python, or as the form writes it.

    Raises:
        InvalidCandidates: if a text is no value of the type, stands for a missing cell, or is two numbers or dates.
    """
    if not is_written(of):
        return [parse(text, of) for text in texts]
    check_markers(texts, of, "candidate")
    numbers, dates = of.cells.numbers, of.cells.dates
    for noun, form, read in (
        ("number", numbers, _plain_number),
        ("date", dates, dt.date.fromisoformat),
    ):
        values: list[object] = (
            [] if form is None else [_spelled(text, form, read) for text in texts]
        )
        if values and None not in values:
            return values
        if any(one is not None for one in values):
            _tell_text(texts[values.index(None)], noun, of)
            break
    return [*texts]


def _tell_text(text: str, noun: str, of: ColumnType) -> None:
    """Say that texts are compared as they stand, because one of them is no number or no date."""
    warn(
        f"{text!r} is no {noun}, so all candidates and groups of column {of.column!r} are compared as texts, "
        "as they stand in the file"
    )


def _spelled(
    text: str, form: NumberForm | DateForm, read: Callable[[str], Any]
) -> int | Decimal | dt.date | None:
    """Return the number or the date that a text spells, plainly or in a form; None if it is none."""
    both = []
    for one in (text.strip(), form.plain(text)):
        with suppress(ValueError):
            both += [] if one is None else [read(one)]
    if len({*both}) > 1:
        raise InvalidCandidates(
            f"{text!r} is {both[0]}, and in the form of the file {both[1]}: write it so that it is one of them"
        )
    return both[0] if both else None


def _plain_number(text: str) -> Any:
    """Return the number that a text spells as Python does, or raise ValueError."""
    number = exact(match_text(NUMERAL_PATTERN, text), "a candidate")
    return plain_number(number, decimal_places(number))


def match_text(pattern: re.Pattern[str], text: str) -> str:
    """Return a text of a form, or raise ValueError."""
    if not pattern.fullmatch(text):
        raise ValueError
    return text


def _float(text: str, of: ColumnType) -> float:
    if text.lower().lstrip("+-") in ("inf", "infinity"):
        return float(text)
    return rounded_float(float(match_text(NUMERAL_PATTERN, text)), of)


def _moment(text: str, of: ColumnType) -> dt.datetime:
    moment = dt.datetime.fromisoformat(text)
    if (moment.utcoffset() is None) != (of.kind == "timestamp"):
        raise ValueError
    return moment


PARSERS: dict[str, tuple[str, Callable[[str, ColumnType], object]]] = {
    "integer": ("an integer", lambda text, _: int(match_text(INTEGER, text))),
    "float": ("a number", _float),
    "decimal": ("a decimal number", lambda text, _: Decimal(match_text(NUMERAL_PATTERN, text))),
    "boolean": ("true or false", lambda text, _: {"true": True, "false": False}[text.lower()]),
    "date": ("a date like 2024-12-31", lambda text, _: dt.date.fromisoformat(text)),
    "timestamp": ("a timestamp like 2024-12-31T23:59:59, without an offset", _moment),
    "timestamp with time zone": ("a timestamp with its offset, like 2024-12-31T23:59Z", _moment),
    "uuid": ("a UUID", lambda text, _: UUID(text)),
}


def in_order(values: Iterable[object]) -> list[object]:
    """Return the distinct values, sorted, in plain Python, without nulls and NaN.

    Values that Python cannot hold, as a date after the year 9999, are left out.
    """
    cells: dict[CellKey, object] = {}
    for value in values:
        try:
            exact = _canonical(value)
            cells.setdefault(key(exact), exact)
        except Exception:  # objects in a table may do anything
            continue
    present = [cell for cell in cells.values() if not is_missing(cell)]
    if len({type(cell) for cell in present}) == 1 and hasattr(present[0], "__lt__"):
        comparable: list[Any] = present  # of one type, which has an order
        return sorted(comparable)
    return sorted(present, key=_type_and_text)


def _type_and_text(value: object) -> tuple[str, str]:
    return type(value).__name__, repr(value)


def _canonical(value: object) -> object:
    """Return the value in plain Python, where zero is 0.0 and a time with an offset is in UTC."""
    exact = value if is_missing(value) else instant(plain(value))
    return 0.0 if isinstance(exact, float) and exact == 0 else exact
