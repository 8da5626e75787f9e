"""The record of an audit: a text file by which another can repeat it."""

import json
import platform
from collections.abc import Callable, Mapping
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import Any

from ...base.error_boundary import error_boundary
from ...base.file_permissions import open_private
from ...base.messages import Message
from ...errors import InvalidArgument, UnreadableFile, preview
from .mechanism import InventedRecords, MechanismAudit, mechanism, spell_loss, verdict_of

FORMAT = 1
"""The version of the format."""

_MOST_BYTES = 10**7

_IN_JSON = {int, float, str, bool, type(None)}

_FIELDS: dict[str, type] = {
    "private": bool, "program": dict, "claim": dict, "universe": list, "sizes": list, "pairs": int,
    "outcome": dict, "versions": dict,
}  # fmt: skip
_FIELDS_WITHIN: dict[str, dict[str, type]] = {
    "program": {"name": str, "digest": str},
    "claim": {"epsilon": str, "delta": str, "neighbors": str, "draws": int, "confidence": str},
    "outcome": {"holds": bool, "largest": str, "between": list},
}


@error_boundary
def write_record(audit: MechanismAudit, path: str | Path) -> None:
    """Write the record of an audit, so that others can repeat it. Only its owner can read the file.

    The first line is the outcome. Below it is the whole audit as JSON, with a hash.

    Args:
        audit: the result of `mechanism`.
        path: the file to write.

    Raises:
        InvalidArgument: if it is not an audit, or it can't be repeated because a record is not a number, a text, a
            truth value or None.
        UnreadableFile: if the file cannot be written.
    """
    if not isinstance(audit, MechanismAudit):
        raise InvalidArgument(f"audit must be the result of audit.mechanism, got {preview(audit)}")
    check_records(audit.universe)
    body = _body(audit)
    text = _head(body) + "\n" + json.dumps(body, indent=2, ensure_ascii=False) + "\n"
    try:
        with open_private(Path(path)) as file:
            file.write(text)
    except OSError:
        pass
    else:
        return
    raise UnreadableFile(f"{path} cannot be written")


def check_records(records: InventedRecords) -> None:
    """Raise if another could not repeat an audit of these records from JSON.

    Raises:
        InvalidArgument: if one of them is something else there than it is here.
    """
    for record in records:
        try:
            is_same = type(record) in _IN_JSON and bool(
                json.dumps(record, allow_nan=False).encode()
            )
            json.dumps(record, ensure_ascii=False).encode()
        except (
            TypeError,
            ValueError,
        ):  # an infinity, half a character, more digits than Python reads
            is_same = False
        if not is_same:
            raise InvalidArgument(
                "a record of an audit can hold finite numbers, texts, truth values and None, so "
                f"that others can repeat it, got one of type {type(record).__name__}"
            )


def _head(body: Mapping[str, Any]) -> str:
    """Return the first line, in English whatever the language."""
    private = " PRIVATE: made from records of people." if body["private"] else ""
    return f"{verdict_of(body['outcome']['holds'], body['pairs'])}.{private}"


def _body(audit: MechanismAudit) -> dict[str, Any]:
    from ... import __version__

    body: dict[str, Any] = {
        "format": FORMAT,
        "private": audit.private,
        "program": asdict(audit.program),
        "claim": {name: entry if isinstance(entry, int) else str(entry)
                  for name, entry in asdict(audit.claim).items()},
        "universe": audit.universe,
        "sizes": audit.sizes,
        "pairs": audit.pairs,
        "outcome": {"holds": audit.holds, "largest": spell_loss(audit.largest), "between": [*audit.pair]},
        "versions": {"discreet": __version__, "python": platform.python_version(), "machine": platform.machine()},
    }  # fmt: skip
    return {**body, "hash": _digest(body)}


def _digest(body: Mapping[str, object]) -> str:
    """Return the SHA-256 hash of a record without its hash."""
    return sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


def read_record(path: str | Path) -> dict[str, Any]:
    """Return the contents of a record of an audit.

    Raises:
        UnreadableFile: if the file is missing, no record, of a newer format, or was altered, its first line too.
    """
    try:
        text = Path(path).read_bytes()[: _MOST_BYTES + 1].decode()
        head, _, rest = text.partition("\n")
        body: dict[str, Any] = json.loads(rest)
        digest = body.pop("hash")
        is_whole = (
            body["format"] == FORMAT
            and digest == _digest(body)
            and _is_complete(body)
            and head == _head(body)
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        is_whole = False
    if not is_whole:
        raise UnreadableFile(f"{path} is not an audit record as it was written")
    return body


def _is_complete(body: Mapping[str, Any]) -> bool:
    """Return whether a body has all its fields, of the right types."""
    return all(type(body[name]) is kind for name, kind in _FIELDS.items()) and all(
        type(body[name][part]) is kind
        for name, parts in _FIELDS_WITHIN.items()
        for part, kind in parts.items()
    )


@error_boundary
def repeat(record: str | Path, function: Callable[[InventedRecords], object]) -> MechanismAudit:
    """Repeat an audit from its record, with the same universe, claim and way of looking.

    Draws are new, so their outcome may vary by chance. Exact probabilities give the same outcome.

    Args:
        record: the file that `write_record` wrote.
        function: the mechanism, as for `mechanism`.

    Raises:
        UnreadableFile: if the file is no record, or was altered.
    """
    body = read_record(record)
    claim = body["claim"]
    return mechanism(
        function, body["universe"], body["sizes"], epsilon=claim["epsilon"], delta=claim["delta"],
        neighbors=claim["neighbors"], draws=claim["draws"] or None,
        confidence=claim["confidence"] if claim["draws"] else "0.95", private=body["private"],
    )  # fmt: skip


def compare_with_record(record: str | Path, audit: MechanismAudit) -> list[Message]:
    """Return how a repeated audit differs from its record; versions and machines may differ."""
    body, again = read_record(record), _body(audit)
    words = []
    if not (body["program"]["digest"] and again["program"]["digest"]):
        words.append(Message("no hash of the program is known, so it may be another one"))
    elif body["program"]["digest"] != again["program"]["digest"]:
        words.append(Message("the program is another one than that of the record"))
    if body["outcome"]["holds"] != again["outcome"]["holds"]:
        words.append(Message("the record has another outcome"))
    elif not audit.claim.draws and body["outcome"] != again["outcome"]:
        words.append(
            Message(
                "the record has {recorded} as the largest loss, and now it is {largest}",
                recorded=body["outcome"]["largest"], largest=again["outcome"]["largest"],
            )
        )  # fmt: skip
    return words
