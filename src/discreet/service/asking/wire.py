"""Values that travel between a service and its clients, as JSON: exact both ways.

Values that JSON has not are objects with one key: {"$date": "2024-12-31"}, {"$datetime": "…"},
{"$decimal": "0.10"}, {"$fraction": "1/3"}, {"$map": [[group, answer], …]}, {"$grid": [lo, hi, step]},
{"$dates": [lo, hi, step, zone]}, {"$decimals": "3"}, {"$step": "1 month"}, {"$uuid": "…"},
{"$utf8": "1b5b"} for a text that JSON cannot hold, or makes much longer,
{"$cells": [fits, out_of_range, other_type, missing, unreadable, error, probability]}.
"""

import datetime as dt
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any
from uuid import UUID

from ... import errors
from ...base.escapes import visible_text
from ...base.numbers import exact, fits
from ...errors import DiscreetError, InvalidArgument
from ...ledger import Budget, Quote
from ...ledger.budget import Amount, read_amount, read_rule, read_use
from ...ledger.events import ChainHead
from ...mechanisms.accuracy import read_error_bound
from ...mechanisms.count_noise import read_noise_choice
from ...privacy.guarantees import read_guarantee
from ...privacy.sensitivity import plain_unit, read_unit
from ...selection.candidates import Grid
from ...selection.date_grid import DateGrid, DateStep
from ...selection.decimals import Decimals
from ...selection.payment import BilledPart
from ...selection.plain_columns import columns_of_plain, plain_columns
from ...selection.question_sentences import facts_of, read_sentence
from ...selection.releases import Release, json_value
from ...tables.datasets.columns import Column
from ...tables.datasets.noisy_cell_counts import NoisyCellCounts
from . import AllowedQuestion
from .isolation import Failure, error_for_analyst
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
    (UUID, "$uuid", str),
    (str, "$utf8", lambda text: text.encode("utf-8", "surrogatepass").hex()),
    (Grid, "$grid", lambda grid: [str(one) for one in (grid.lo, grid.hi, grid.step)]),
    (DateGrid, "$dates", lambda grid: list(grid.spelling)),
    (Decimals, "$decimals", lambda decimals: str(decimals.digits)),
    (DateStep, "$step", str),
    (
        NoisyCellCounts,
        "$cells",
        lambda one: [_number_text(getattr(one, field.name)) for field in fields(one)],
    ),
)
_READ: dict[str, Callable[[Any], Any]] = {
    "$datetime": dt.datetime.fromisoformat,
    "$date": dt.date.fromisoformat,
    "$decimal": Decimal,
    "$uuid": UUID,
    "$utf8": lambda text: bytes.fromhex(text).decode("utf-8", "surrogatepass"),
    "$fraction": lambda text: exact(text, "a fraction"),  # Fraction("1e999999999") would not end
    "$grid": lambda ends: _grid(*ends),
    "$dates": lambda ends: _dates(*ends),
    "$decimals": lambda digits: Decimals(int(digits)),
    "$step": DateStep.read,
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
    for kind, key, to_text in _WRITE:
        if isinstance(value, kind):
            return {key: _short(value, to_text)}
    raise _does_not_travel(value)


def _does_not_travel(value: object) -> InvalidArgument:
    if type(value) is int:
        return _too_long()
    return InvalidArgument(
        f"a value of type {type(value).__name__} cannot be sent. Give a plain value"
    )


def _short(value: Any, to_text: Callable[[Any], Any]) -> Any:
    """Return the text of a value, or the texts of its parts."""
    if isinstance(value, Fraction) and not fits(value):
        raise _too_long()
    texts = to_text(value)
    if any(len(text) > LONGEST for text in (texts if isinstance(texts, list) else [texts])):
        raise _too_long()
    return texts


def _too_long() -> InvalidArgument:
    return InvalidArgument(
        f"a number of more than 4,200 digits, or a value of more than {LONGEST:,} characters, does "
        "not travel"
    )


def _is_plain(value: Any) -> bool:
    """Return whether JSON has a value of this type, and both sides read it."""
    if type(value) is int:
        return fits(value)
    if type(value) is str:
        return _is_short_text(value)
    return value is None or type(value) is bool or _is_finite(value)


def _is_short_text(text: str) -> bool:
    """Return whether JSON writes a text, and not much longer than its bytes: see `longest_text`."""
    if text.isprintable():  # quotes and backslashes are two letters each
        return True
    try:
        return len(json.dumps(text, ensure_ascii=False).encode()) <= longest_text(
            len(text.encode())
        )
    except UnicodeEncodeError:
        return False


def longest_text(size: int) -> int:
    """Return a bound on the bytes of JSON that `write_value` makes of a text of so many bytes in UTF-8."""
    return 2 * size + len('{"$utf8":""}')


def read_value(plain: Any, depth: int = 0) -> Any:
    """Return the value that JSON holds.

    Raises:
        InvalidArgument: if it is none that `write_value` writes, or nested deeply.
    """
    if depth < _DEEPEST:
        if _is_plain(plain):
            return plain
        if isinstance(plain, list):
            return [read_value(one, depth + 1) for one in plain]
        if isinstance(plain, dict) and len(plain) == 1:
            return _read_object(*next(iter(plain.items())), depth)
    raise InvalidArgument('a value must be plain, or an object such as {"$date": "2024-12-31"}')


def _read_object(key: str, content: Any, depth: int) -> Any:
    try:
        if key == "$map":
            return {_read_key(k, depth + 1): read_value(v, depth + 1) for k, v in content}
        texts = content if key in ("$grid", "$dates", "$cells") else [content]
        if key in _READ and all(isinstance(one, str) and len(one) <= LONGEST for one in texts):
            return _READ[key](content)
    except InvalidArgument:
        raise
    except (ValueError, TypeError, ArithmeticError):
        pass
    raise InvalidArgument(f"a value cannot be read as {key[:20]!r}")


def _read_key(plain: object, depth: int) -> object:
    """Return a key of a map: a list is a cell of several columns."""
    key = read_value(plain, depth)
    return tuple(key) if isinstance(key, list) else key


def columns_to_wire(columns: Any) -> object:
    """Return columns for `columns_from_wire`: names as values, and bins as objects of their arguments."""
    if isinstance(columns, list | tuple):
        return list(map(columns_to_wire, columns))
    if isinstance(columns, Mapping):
        columns = columns_of_plain(columns, "by")
    plain = plain_columns(columns)
    return plain if isinstance(plain, Mapping) else write_value(plain)


def columns_from_wire(plain: object) -> object:
    """Return columns, of which the bins are still to be read."""
    if isinstance(plain, list):
        return list(map(columns_from_wire, plain))
    is_bins = isinstance(plain, dict) and "$utf8" not in plain
    return plain if is_bins else read_value(plain)


def read_by_column(plain: Any) -> Any:
    """Return a value; an object of lists by the names of columns is a mapping too."""
    if not isinstance(plain, dict) or any(name.startswith("$") for name in plain):
        return read_value(plain)
    return {column: read_value(values) for column, values in plain.items()}


def _grid(lo: str, hi: str, step: str) -> Grid:
    return Grid(lo, hi, step)


def _dates(lo: str, hi: str, step: str, zone: str) -> DateGrid:
    return DateGrid(lo, hi, step, zone=zone or None)


def _cells(*counts: str) -> NoisyCellCounts:
    *whole, error, probability, lines, comments = counts
    of_lines = [int(one) if one else None for one in (lines, comments)]
    sure = exact(probability, "a probability")
    return NoisyCellCounts.of(list(map(int, whole)), int(error), sure, *of_lines)


def _number_text(number: object) -> str:
    return "" if number is None else str(number)


def _is_finite(value: object) -> bool:
    return type(value) is float and math.isfinite(value)


def write_release(release: Release) -> dict[str, Any]:
    """Return a release for `read_release`."""
    return {
        "value": write_value(release.value), "guarantee": release.guarantee.as_dict(),
        "mechanism": release.mechanism, "unit": plain_unit(release.unit), "query": release.query,
        "asked": facts_of(release.query),
        "candidates": release.candidates, "charged": release.charged, "digits": release.digits,
        "error": json_value(release.error),
        **({} if release.noise is None else {"noise": json_value(release.noise)}),
        **{name: write_value(part) for name, part in release.parts().items()},
    }  # fmt: skip


def read_release(plain: Mapping[str, Any]) -> Release:
    """Return the release that `write_release` wrote."""
    answer = {
        name: read_value(plain.get(name)) for name in ("value", "counts", "gap", "other", "bounds")
    }
    terms = {**_with_question(plain), **answer, "unit": read_unit(plain["unit"])}
    names = facts_of(terms["query"]).get("column_names")
    if isinstance(names, list | tuple) and len(names) > 1:
        terms["value"] = _with_cells(answer["value"])
    error = _read_error(terms.pop("error", None))
    terms["noise"] = _read_noise(terms.get("noise"))
    return Release(
        **{**terms, "guarantee": read_guarantee(plain["guarantee"]), "error_source": error}
    )


def _with_cells(answer: object) -> object:
    """Return an answer with cells of several columns as tuples: JSON has them as lists, the innermost ones."""
    if isinstance(answer, dict):
        return {group: _with_cells(one) for group, one in answer.items()}
    if not isinstance(answer, list):
        return answer
    has_lists = any(isinstance(one, list) for one in answer)
    return [_with_cells(one) for one in answer] if has_lists or not answer else tuple(answer)


def _read_noise(plain: Any) -> Any:
    """Return the noise of a release or a quote: a choice, None, or a dict of these by column."""
    if plain is None or isinstance(plain.get("geometric"), str):
        return None if plain is None else read_noise_choice(plain)
    return {name: _read_noise(one) for name, one in plain.items()}


def _read_error(plain: Any) -> Any:
    """Return the error of a release: a bound, None, or a dict of these by column."""
    if plain is None:
        return None
    if isinstance(plain.get("error"), str):
        return read_error_bound(plain)
    return {name: _read_error(bound) for name, bound in plain.items()}


def _with_question(plain: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a reply with the question as a sentence, which its reader may translate."""
    rest = {name: plain[name] for name in plain if name != "asked"}
    return {**rest, "query": read_sentence(plain["asked"])}


def read_quote(plain: Mapping[str, Any]) -> Quote:
    """Return the quote that its `as_dict` wrote."""
    error = plain["worst_error"]
    return Quote(
        read_amount(plain["cost"]), read_amount(plain["spent"]), _read_remaining(plain["remaining"]),
        plain["fits"], plain["budget"], None if error is None else read_error_bound(error),
        plain["closed"], plain.get("answers_after"),
        tuple(map(_read_part, plain.get("parts") or ())), _read_noise(plain.get("noise")),
    )  # fmt: skip


def _read_part(plain: Mapping[str, Any]) -> BilledPart:
    """Return a question of a quote of several."""
    error = plain["worst_error"]
    bound = None if error is None else read_error_bound(error)
    guarantee = read_guarantee(plain["guarantee"])
    return BilledPart(plain["name"], guarantee, bound, _read_noise(plain.get("noise")))


def _read_remaining(plain: dict[str, str]) -> Amount:
    return replace(read_amount(plain), left=True)


def read_budget(plain: Mapping[str, Any]) -> Budget:
    """Return the budget that its `as_dict` wrote."""
    return Budget(
        plain["dataset"], plain["analyst"], plain["neighbors"], read_amount(plain["total"]),
        read_amount(plain["spent"]), read_unit(plain["privacy_unit"]), plain["period"], plain["is_current"],
        read_rule(plain.get("shares") or ""), read_use(plain.get("delta_for") or ""),
        plain.get("closed"),
    )  # fmt: skip


def write_question(question: AllowedQuestion) -> dict[str, Any]:
    """Return a question for `read_question`."""
    plain_fields = {field.name: getattr(question, field.name) for field in fields(question)}
    other_fields = {
        "asked": facts_of(question.query), "guarantee": question.guarantee.as_dict(),
        "unit": plain_unit(question.unit),
    }  # fmt: skip
    return {**plain_fields, **other_fields}


def read_question(plain: Mapping[str, Any]) -> AllowedQuestion:
    """Return the question that `write_question` wrote."""
    guarantee, unit = read_guarantee(plain["guarantee"]), read_unit(plain["unit"])
    return AllowedQuestion(**{**_with_question(plain), "guarantee": guarantee, "unit": unit})


def read_past(plain: Mapping[str, Any]) -> PastRelease:
    """Return the past release that its `as_dict` wrote."""
    terms = _with_question(plain)
    unit, guarantee = read_unit(terms.pop("privacy_unit")), read_guarantee(terms.pop("guarantee"))
    return PastRelease(**terms, unit=unit, guarantee=guarantee)


def write_column(column: Column) -> dict[str, Any]:
    """Return a column for `column_from_wire`, without how its cells are written in files."""
    names = (field.name for field in fields(column) if field.name != "form")
    return {name: write_value(getattr(column, name)) for name in names}


def column_from_wire(plain: Mapping[str, Any]) -> Column:
    """Return the column that `write_column` wrote."""
    terms = {name: read_value(value) for name, value in plain.items()}
    enum = terms.pop("enum")
    return Column(**terms, enum=None if enum is None else tuple(enum))


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
    plain = {"error": kind, "message": str(error), "notes": notes, "charged": error.charged}
    return {**plain, **amounts}


def read_error(plain: Mapping[str, Any]) -> DiscreetError:
    """Return the error that `write_error` wrote. For a class that is not known here, the root of all."""
    named_class = getattr(errors, str(plain.get("error")), None)
    is_ours = isinstance(named_class, type) and issubclass(named_class, DiscreetError)
    kind: type[DiscreetError] = named_class if is_ours else DiscreetError  # type: ignore[assignment]
    error = kind(_visible(plain.get("message")))
    error.charged = None if plain.get("charged", False) is None else plain.get("charged") is True
    for name in ("requested", "spent", "remaining"):
        if name in plain:
            amount = read_amount(plain[name])
            setattr(error, name, replace(amount, left=True) if name == "remaining" else amount)
    for note in plain.get("notes", ()):
        error.add_note(_visible(note))
    return error


def write_answer(answer: Release | Failure) -> dict[str, Any]:
    """Return an answer or a failure as it travels from the process that reads the data."""
    if isinstance(answer, Failure):
        error = answer.error
        public = error if isinstance(error, DiscreetError) else error_for_analyst(error)
        return {"failure": write_error(public)}
    return {"release": write_release(answer)}


def read_answer(plain: Mapping[str, Any]) -> Release | Failure:
    """Return the answer or the failure that `write_answer` wrote."""
    if "failure" in plain:
        return Failure(read_error(plain["failure"]))
    return read_release(plain["release"])


def _visible(text: object) -> str:
    """Return a foreign text as it may be shown: letters that could move a cursor, or hide a word, are spelled."""
    return visible_text(str(text)[:LONGEST], keep="\n")
