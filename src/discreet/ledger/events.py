"""Events, and the hash chain that binds each to all before it."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Any

from ..errors import InvalidArgument
from ..payment import Indices

_WIDE = 2**53

CHARGED = ("charged", "charged_outside")
"""The kinds of events that a budget pays for: a release of ours, and one made elsewhere."""

STATED = ("opened", "extended", "carried", *CHARGED)
"""The kinds of events that change a budget, or carry it over: their bodies hold what it is after them."""

STATED_SINCE = 3
"""The first schema in which they do."""


@dataclass(frozen=True, slots=True)
class Event:
    """One line of a ledger. Nothing in it is private.

    Attributes:
        number: its place, from 1.
        at: when it was written, UTC, by the clock of whoever wrote it.
        kind: "opened", "extended", "charged" or "answered"; "charged_outside" and "released_outside" for
            releases made elsewhere; "carried" for budgets of an older ledger, when it was renewed.
        dataset: whose budget.
        analyst: whose share, or None.
        request: the request that was charged or answered; None for budgets.
        body: everything else, in plain values.
        head: the hash of this event and, through its predecessor's, of all before it.
    """

    number: int
    at: str
    kind: str
    dataset: str
    analyst: str | None
    request: str | None
    body: Mapping[str, Any]
    head: str

    def as_dict(self) -> dict[str, Any]:
        """Return the event in plain values, ready for JSON."""
        return {name: getattr(self, name) for name in self.__slots__}

    def __str__(self) -> str:
        name = self.dataset if self.analyst is None else f"{self.dataset} / {self.analyst}"
        unit = self.body.get("privacy_unit", "") if self.kind == "opened" else ""
        said = self.body.get("query") or (unit and f"per {unit}")
        return " ".join(filter(None, [str(self.number), self.at, self.kind, name, said]))


def canonical(value: Any) -> str:
    """Return the one JSON text of a plain value: sorted, without spaces, in ASCII."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def per(unit: str | None) -> dict[str, str]:
    """Return what a body says of whom a budget or a release protects: nothing, if each row is a record."""
    return {} if unit is None else {"privacy_unit": unit}


def genesis(identity: str, born: int) -> str:
    """Return the hash before the first event: of the ledger's own id, and the schema it began with."""
    return _hashed(["discreet ledger", identity, born])


def link(previous: str, columns: list[Any]) -> str:
    """Return the hash of an event: of the hash before it, and all its columns in order."""
    return _hashed([previous, *columns])


def plain(drawn: Indices) -> Any:
    """Return indices as JSON keeps them anywhere: numbers beyond 2**53 as hexadecimal text."""
    if isinstance(drawn, list):
        return [plain(each) for each in drawn]
    return drawn if abs(drawn) < _WIDE else hex(drawn)


def read_indices(drawn: Any) -> Indices:
    """Return what was drawn as whole numbers of Python's own, in lists if it has lists.

    Raises:
        InvalidArgument: if it is something else. The message does not say what: it is private.
    """
    if isinstance(drawn, list | tuple):
        return [read_indices(each) for each in drawn]
    if isinstance(drawn, Integral):
        return int(drawn)
    raise InvalidArgument(
        f"what is drawn must be an index, or a list of them, not a {type(drawn).__name__}: draw the index of an "
        "answer, and name the answer by it afterwards"
    )


def indices(value: Any) -> Indices:
    """Return the indices whose `plain` this is."""
    if isinstance(value, list):
        return [indices(each) for each in value]
    return int(value, 16) if isinstance(value, str) else int(value)


def _hashed(values: list[Any]) -> str:
    return hashlib.sha256(canonical(values).encode()).hexdigest()
