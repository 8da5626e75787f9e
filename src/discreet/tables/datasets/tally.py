"""The tally: the promise of all answers about a file without a ledger. A courtesy, and no budget.

On the command line it is a file in the user's state folder, one line an answer. In Python it is in memory, for one
process. It holds public facts only: which file, when, the verb, ε, δ and who is protected. Whatever goes wrong with
it, the answer stands: a tally that cannot be written or read is as if it were empty.
"""

from __future__ import annotations

import json
import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from fractions import Fraction
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias
from weakref import finalize

from ...base.messages import AND, Message, join, plural
from ...base.warning import warn
from ...privacy.contract import equals
from ...privacy.sensitivity import Unit, plain_unit
from ...privacy.weak_promises import LARGEST_EPSILON, LARGEST_QUIET_DELTA, epsilon_of_promise
from ...privacy.wording import with_relation

if TYPE_CHECKING:
    from ...selection.releases import Release

NO_TALLY = "DISCREET_NO_TALLY"
"""The environment variable that turns the tally off, if it is set to anything."""

MOST_PLACES = 64
"""Of a question about more files, so many are noted."""

_MOST_READ = 1 << 20
"""Bytes of the end of a tally that are read, so that it never takes long."""

_LONGEST_FRACTION = 256
"""Bits of a denominator."""

_BAD = (ValueError, TypeError, KeyError, ZeroDivisionError, RecursionError)
_NUMBER = re.compile(r"\d{1,400}(/\d{1,400})?", re.ASCII)

Place: TypeAlias = "tuple[int, int, str]"
"""A file: its device, its number, and its path. One that is put in its place has another number."""


class PromiseKind(NamedTuple):
    """The people that are protected: only promises of one kind add up."""

    neighbors: Any
    unit: Unit | None


def _rounded_up(number: Any) -> Any:
    """Return a number, rounded up if it is long: sums of many odd fractions would take minutes."""
    if number.denominator.bit_length() <= _LONGEST_FRACTION + 1:
        return number
    return Fraction(
        -(-(number.numerator << _LONGEST_FRACTION) // number.denominator), 1 << _LONGEST_FRACTION
    )


class Total(NamedTuple):
    """How many answers of one kind there were, and their promise together."""

    answers: int = 0
    epsilon: Fraction = Fraction(0)
    delta: Fraction = Fraction(0)

    def __add__(self, other: Any) -> Total:
        return Total(*(_rounded_up(mine + yours) for mine, yours in zip(self, other, strict=True)))

    def words(self, kind: PromiseKind) -> str:
        """Return the total in words."""
        answers = plural(
            "{count:,} answer about this file so far", "{count:,} answers about this file so far", self.answers
        )  # fmt: skip
        numbers = [("ε", self.epsilon), ("δ", self.delta)]
        promise = join(AND, (equals(sign, number) for sign, number in numbers if number))
        together = Message("{answers}: {promise} together", answers=answers, promise=promise)
        return with_relation(together, kind.neighbors, kind.unit)


Totals: TypeAlias = "dict[PromiseKind, Total]"


class Entry(NamedTuple):
    """One answer: the files that it is about, its verb and its promise."""

    files: tuple[Place, ...]
    verb: str
    kind: PromiseKind
    total: Total
    at: str


def entry_of(verb: str, release: Release, files: Iterable[Place]) -> Entry | None:
    """Return the entry of an answer; None if it has no promise, or it is about no file."""
    guarantee, places = release.guarantee, tuple(files)
    epsilon = epsilon_of_promise(guarantee)
    if epsilon is None or not places:
        return None
    core = guarantee.core if guarantee.slack else guarantee
    is_pure = core is not None and core.pure is not None
    delta = guarantee.slack if is_pure else max(guarantee.slack, LARGEST_QUIET_DELTA)
    kind = PromiseKind(guarantee.neighbors, release.unit)
    at = datetime.now(UTC).isoformat(timespec="seconds")
    return Entry(places, verb, kind, Total(1, epsilon, delta), at)


def places_of_files(files: Iterable[tuple[Any, str]]) -> list[Place]:
    """Return the first files of those that are found, by device, number and path."""
    return [(*identity, os.path.realpath(path)) for identity, path in islice(files, MOST_PLACES)]


def is_off() -> bool:
    """Return whether the user keeps no tally."""
    return bool(os.environ.get(NO_TALLY))


def where() -> str | None:
    """Return the path of the user's tally; None if there is no place for one."""
    folder = os.environ.get("XDG_STATE_HOME")
    if not folder or not os.path.isabs(folder):
        if sys.platform == "win32":
            folder = os.environ.get("LOCALAPPDATA") or "~"
        else:
            folder = (
                "~/Library/Application Support" if sys.platform == "darwin" else "~/.local/state"
            )
    path = os.path.join(os.path.expanduser(folder), "discreet", "tally.jsonl")
    return path if os.path.isabs(path) else None


def _open(path: str, flags: int) -> int:
    """Return the descriptor of a regular file of one's own, by no link.

    Raises:
        OSError: if it is another thing, which may be made to stop whoever opens it.
    """
    safe = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, flags | safe, 0o600)
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    raise OSError("the tally is not a file")


def append(entry: Entry) -> None:
    """Add a line to the user's tally, in one write, so that two processes do not mix theirs."""
    path, (_, epsilon, delta) = where(), entry.total
    if path is None:
        return
    plain = {
        "at": entry.at, "verb": entry.verb, "epsilon": str(epsilon), "delta": str(delta),
        "neighbors": entry.kind.neighbors, "unit": plain_unit(entry.kind.unit), "files": entry.files,
    }  # fmt: skip
    line = f"\n{json.dumps(plain)}\n".encode()  # behind a line that was cut, too
    with suppress(OSError):
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        descriptor = _open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        try:
            os.write(descriptor, line)
        finally:
            os.close(descriptor)


def clear() -> None:
    """Forget all that the user's tally holds, and that of this process."""
    path = where()
    _here.clear()
    _warned.clear()
    if path is not None:
        with suppress(OSError):
            os.remove(path)


def read(place: Place | None = None) -> Iterator[Entry]:
    """Yield the entries of the user's tally, of one file or of all."""
    return _about(_last_lines(), place)


def _about(lines: Iterable[bytes], place: Place | None) -> Iterator[Entry]:
    """Yield the entries of lines, of one file or of all; lines that cannot be read are passed over."""
    needle = None if place is None else json.dumps(place).encode()
    for line in lines:
        if needle is None or needle in line:
            with suppress(*_BAD):
                yield _entry(json.loads(line))


def _last_lines() -> list[bytes]:
    """Return the last lines of the user's tally."""
    path = where()
    with suppress(OSError):
        if path is not None:
            descriptor = _open(path, os.O_RDONLY)
            try:
                start = max(0, os.fstat(descriptor).st_size - _MOST_READ)
                os.lseek(descriptor, start, os.SEEK_SET)
                return os.read(descriptor, _MOST_READ).split(b"\n")[bool(start) :]
            finally:
                os.close(descriptor)
    return []


def _entry(plain: Mapping[str, Any]) -> Entry:
    """Return the entry of a line.

    Raises:
        ValueError: if it is none, or one of the other errors of `_BAD`.
    """
    unit, neighbors = plain["unit"], plain["neighbors"]
    if neighbors not in ("add_remove", "replace_one"):
        raise ValueError("no neighbouring relation")
    kind = PromiseKind(
        neighbors, tuple(map(str, unit)) if isinstance(unit, list) else unit and str(unit)
    )
    numbers = [_read_fraction(plain[name]) for name in ("epsilon", "delta")]
    files = tuple((int(device), int(number), str(path)) for device, number, path in plain["files"])
    return Entry(files, str(plain["verb"]), kind, Total(1, *numbers), str(plain["at"]))


def _read_fraction(text: str) -> Fraction:
    """Return a number of a tally; none that takes long to read."""
    if not _NUMBER.fullmatch(text):
        raise ValueError("no number")
    return Fraction(text)


def add_up(entries: Iterable[Entry]) -> Totals:
    """Return the totals of entries, by the people that are protected."""
    totals: Totals = {}
    for entry in entries:
        totals[entry.kind] = totals.get(entry.kind, Total()) + entry.total
    return totals


def note(entry: Entry) -> list[str]:
    """Add an answer to the user's tally, and return the promise of all about its file, in lines.

    Of several files it is the one with the largest total. Nothing is said of the first answer.
    """
    append(entry)
    lines = _last_lines()
    totals = largest_totals(add_up(_about(lines, place)) for place in entry.files)
    return [] if sum(one.answers for one in totals.values()) < 2 else in_lines(totals)


def largest_totals(many: Iterable[Totals]) -> Totals:
    """Return those totals of which one ε is the largest."""
    return max(
        many,
        key=lambda one: max((t.epsilon for t in one.values()), default=Fraction(0)),
        default={},
    )


def in_lines(totals: Totals) -> list[str]:
    """Return totals in words, a line for each kind, and a warning if one is large."""
    lines = [total.words(kind) for kind, total in totals.items()]
    return [*lines, TOO_MUCH] if is_large(totals) else list(lines)


TOO_MUCH = (
    "answers about this file promise more than ε = 10 together, which protects no one. To keep a budget describe "
    "the file: discreet describe"
)


def is_large(totals: Totals) -> bool:
    """Return whether several answers together promise more than any should."""
    return any(one.answers > 1 and one.epsilon > LARGEST_EPSILON for one in totals.values())


_here: dict[Place, Totals] = {}
"""The totals of this process."""

_warned: set[Place] = set()


def place_in_memory(table: object) -> Place | None:
    """Return the place of a table in memory, which is forgotten with it; None for all other data."""
    if not hasattr(type(table), "columns"):  # that of a lazy frame itself would read its schema
        return None
    place = (-1, id(table), type(table).__qualname__)
    if place not in _here:
        try:
            finalize(table, _forget, place)
        except TypeError:  # it cannot be followed, and another may have its number later
            return None
    return place


def _forget(place: Place) -> None:
    _here.pop(place, None)
    _warned.discard(place)


def note_here(entry: Entry) -> None:
    """Add an answer to the tally of this process, and warn once for every file about which too much was asked."""
    for place in entry.files:
        totals = _here.setdefault(place, {})
        totals[entry.kind] = totals.get(entry.kind, Total()) + entry.total
        if is_large(totals) and place not in _warned:
            _warned.add(place)
            warn(TOO_MUCH)
            return
