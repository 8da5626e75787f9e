"""What travels between a service and its clients, as JSON: exact both ways.

Values that JSON has not are objects with one key: {"$date": "2024-12-31"}, {"$datetime": "…"},
{"$decimal": "0.10"}, {"$fraction": "1/3"}, {"$map": [[group, answer], …]}, {"$grid": [lo, hi, step]},
{"$cells": [fits, misfits, missing, error, probability]}.
"""

import datetime as dt
import math
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

from .. import errors
from ..accuracy import read_error_bound
from ..candidates import Grid
from ..datasets.columns import Column
from ..datasets.noisy_cell_counts import NoisyCellCounts
from ..errors import DiscreetError, InvalidArgument
from ..ledger import Budget, Quote
from ..ledger.budget import Amount, read_amount, read_rule, read_use
from ..ledger.transaction import ChainHead
from ..node import AllowedQuestion
from ..numbers import exact, fits
from ..privacy.guarantees import read_guarantee
from ..privacy.units import plain_unit, read_unit
from ..releases import Release
from .past_releases import PastRelease

REPLAYED = "Idempotent-Replayed"
"""The header that says if a stored answer is given again, ?1, at no cost; all else has ?0. Its body is the same."""

_DEEPEST = 6

LONGEST = 10_000
"""Characters of a value that is written as text, such as a fraction: more than two numbers have that are read."""

_CHAIN = {
    "Ledger-Id": "identity", "Ledger-Schema": "first_schema", "Ledger-Events": "events", "Ledger-At": "at",
    "Ledger-Head": "head",
}  # fmt: skip

_WRITE: tuple[tuple[type, str, Callable[[Any], Any]], ...] = (
    (dt.datetime, "$datetime", dt.datetime.isoformat),  # before dates, of which it is one
    (dt.date, "$date", dt.date.isoformat),
    (Decimal, "$decimal", str),
    (Fraction, "$fraction", str),
    (Grid, "$grid", lambda grid: [str(one) for one in (grid.lo, grid.hi, grid.step)]),
    (
        NoisyCellCounts,
        "$cells",
        lambda one: [str(getattr(one, field.name)) for field in fields(one)],
    ),
)
_READ: dict[str, Callable[[Any], Any]] = {
    "$datetime": dt.datetime.fromisoformat,
    "$date": dt.date.fromisoformat,
    "$decimal": Decimal,
    "$fraction": lambda text: exact(text, "a fraction"),  # Fraction("1e999999999") would not end
    "$grid": lambda ends: _grid(*ends),
    "$cells": lambda counts: _cells(*counts),
}


def write_value(value: Any, depth: int = 0) -> Any:
    """Return a value as JSON holds it: whatever is returned, `read_value` reads.

    Raises:
        InvalidArgument: if it is of a type that does not travel, longer than is read, or nested more deeply.
    """
    if hasattr(value, "tolist"):
        value = value.tolist()
    if depth >= _DEEPEST:
        raise InvalidArgument(f"a value nested more than {_DEEPEST} deep does not travel")
    if _is_plain(value):
        return value
    if isinstance(value, list | tuple):
        return [write_value(one, depth + 1) for one in value]
    if isinstance(value, dict):
        pairs = value.items()
        return {"$map": [[write_value(k, depth + 1), write_value(v, depth + 1)] for k, v in pairs]}
    for kind, key, written in _WRITE:
        if isinstance(value, kind):
            return {key: _short(value, written)}
    raise _does_not_travel(value)


def _does_not_travel(value: object) -> InvalidArgument:
    if type(value) is int:
        return _too_long()
    return InvalidArgument(f"a {type(value).__name__} does not travel; give a plain value")


def _short(value: Any, written: Callable[[Any], Any]) -> Any:
    """Return the text of a value, or of each part of it."""
    if isinstance(value, Fraction) and not fits(value):
        raise _too_long()
    found = written(value)
    if any(len(text) > LONGEST for text in (found if isinstance(found, list) else [found])):
        raise _too_long()
    return found


def _too_long() -> InvalidArgument:
    return InvalidArgument(
        f"a number of more than 4,200 digits, or a value of more than {LONGEST:,} characters, does not travel"
    )


def _is_plain(value: Any) -> bool:
    """Return whether JSON has a value of this type, and both sides read it."""
    if type(value) is int:
        return fits(value)
    return value is None or type(value) in (str, bool) or _is_finite(value)


def read_value(given: Any, depth: int = 0) -> Any:
    """Return the value that JSON holds.

    Raises:
        InvalidArgument: if it is none that `write_value` writes, or nested deeply.
    """
    if depth < _DEEPEST:
        if _is_plain(given):
            return given
        if isinstance(given, list):
            return [read_value(one, depth + 1) for one in given]
        if isinstance(given, dict) and len(given) == 1:
            return _tagged(*next(iter(given.items())), depth)
    raise InvalidArgument('a value must be plain, or an object such as {"$date": "2024-12-31"}')


def read_number(text: str) -> Fraction:
    """Return the number that a text such as "1/2" spells."""
    return exact(text, "a number")


def _tagged(key: str, held: Any, depth: int) -> Any:
    try:
        if key == "$map":
            return {read_value(k, depth + 1): read_value(v, depth + 1) for k, v in held}
        texts = held if key in ("$grid", "$cells") else [held]
        if key in _READ and all(isinstance(one, str) and len(one) <= LONGEST for one in texts):
            return _READ[key](held)
    except InvalidArgument:
        raise
    except (ValueError, TypeError, ArithmeticError):
        pass
    raise InvalidArgument(f"a value cannot be read as {key[:20]!r}")


def _grid(lo: str, hi: str, step: str) -> Grid:
    return Grid(lo, hi, step)


def _cells(*counts: str) -> NoisyCellCounts:
    *whole, probability = counts
    fits, misfits, missing, error = map(int, whole)
    return NoisyCellCounts(fits, misfits, missing, error, exact(probability, "a probability"))


def _is_finite(value: object) -> bool:
    return type(value) is float and math.isfinite(value)


def write_release(release: Release) -> dict[str, Any]:
    """Return a release for `read_release`."""
    return {
        "value": write_value(release.value), "guarantee": release.guarantee.as_dict(),
        "mechanism": release.mechanism, "unit": plain_unit(release.unit), "query": release.query,
        "candidates": release.candidates, "charged": release.charged,
    }  # fmt: skip


def read_release(given: Mapping[str, Any]) -> Release:
    """Return the release that `write_release` wrote."""
    told = {**given, "value": read_value(given["value"]), "unit": read_unit(given["unit"])}
    return Release(**{**told, "guarantee": read_guarantee(given["guarantee"])})


def write_quote(quote: Quote) -> dict[str, Any]:
    """Return a quote for `read_quote`."""
    return quote.as_dict()


def read_quote(given: Mapping[str, Any]) -> Quote:
    """Return the quote that `write_quote` wrote."""
    error = given["worst_error"]
    return Quote(
        read_amount(given["cost"]), read_amount(given["spent"]), _left(given["remaining"]),
        given["fits"], given["budget"], None if error is None else read_error_bound(error),
        given["closed"],
    )  # fmt: skip


def _left(given: dict[str, str]) -> Amount:
    return replace(read_amount(given), left=True)


def write_budget(budget: Budget) -> dict[str, Any]:
    """Return a budget for `read_budget`."""
    return budget.as_dict()


def read_budget(given: Mapping[str, Any]) -> Budget:
    """Return the budget that `write_budget` wrote."""
    return Budget(
        given["dataset"], given["analyst"], given["neighbors"], read_amount(given["total"]),
        read_amount(given["spent"]), read_unit(given["privacy_unit"]), given["period"], given["is_current"],
        read_rule(given.get("shares") or ""), read_use(given.get("delta_for") or ""),
    )  # fmt: skip


def write_question(question: AllowedQuestion) -> dict[str, Any]:
    """Return a question for `read_question`."""
    told = {field.name: getattr(question, field.name) for field in fields(question)}
    plain = {"guarantee": question.guarantee.as_dict(), "unit": plain_unit(question.unit)}
    return {**told, **plain}


def read_question(given: Mapping[str, Any]) -> AllowedQuestion:
    """Return the question that `write_question` wrote."""
    guarantee, unit = read_guarantee(given["guarantee"]), read_unit(given["unit"])
    return AllowedQuestion(**{**given, "guarantee": guarantee, "unit": unit})


def write_past(past: PastRelease) -> dict[str, Any]:
    """Return a past release for `read_past`."""
    return past.as_dict()


def read_past(given: Mapping[str, Any]) -> PastRelease:
    """Return the past release that `write_past` wrote."""
    told = dict(given)
    unit, guarantee = read_unit(told.pop("privacy_unit")), read_guarantee(told.pop("guarantee"))
    return PastRelease(**told, unit=unit, guarantee=guarantee)


def write_column(column: Column) -> dict[str, Any]:
    """Return a column for `read_column`."""
    return {field.name: write_value(getattr(column, field.name)) for field in fields(column)}


def column_from_wire(given: Mapping[str, Any]) -> Column:
    """Return the column that `write_column` wrote."""
    told = {name: read_value(value) for name, value in given.items()}
    enum = told.pop("enum")
    return Column(**told, enum=None if enum is None else tuple(enum))


def write_chain(chain: ChainHead) -> dict[str, str]:
    """Return the end of a chain as headers, for `read_chain`."""
    return {header: str(getattr(chain, name) or "") for header, name in _CHAIN.items()}


def read_chain(headers: Mapping[str, str]) -> ChainHead:
    """Return the end of a chain from the headers that `write_chain` wrote."""
    identity, schema, events, at, head = (headers[header] for header in _CHAIN)
    return ChainHead(identity, int(schema), int(events or 0), at or None, head)


def write_error(error: DiscreetError) -> dict[str, Any]:
    """Return an error for `read_error`: class, message, notes, whether it was charged, amounts of a budget."""
    amounts = {
        name: amount.as_dict()
        for name in ("requested", "spent", "remaining")
        if isinstance(amount := getattr(error, name, None), Amount)
    }
    kind = type(error).__name__ if hasattr(errors, type(error).__name__) else "DiscreetError"
    notes = list(getattr(error, "__notes__", []))
    said = {"error": kind, "message": str(error), "notes": notes, "charged": error.charged}
    return {**said, **amounts}


def read_error(given: Mapping[str, Any]) -> DiscreetError:
    """Return the error that `write_error` wrote; of a class that is not known here, the root of all."""
    found = getattr(errors, str(given.get("error")), None)
    known = isinstance(found, type) and issubclass(found, DiscreetError)
    kind: type[DiscreetError] = found if known else DiscreetError  # type: ignore[assignment]
    error = kind(_visible(given.get("message")))
    error.charged = None if given.get("charged", False) is None else given.get("charged") is True
    for name in ("requested", "spent", "remaining"):
        if name in given:
            amount = read_amount(given[name])
            setattr(error, name, replace(amount, left=True) if name == "remaining" else amount)
    for note in given.get("notes", ()):
        error.add_note(_visible(note))
    return error


def _visible(told: object) -> str:
    """Return a text of somebody else's as it may be shown: what could move a cursor, or hide a word, is spelled."""
    letters = str(told)[:LONGEST]
    return "".join(one if one.isprintable() or one == "\n" else ascii(one)[1:-1] for one in letters)
