"""Events, and the hash chain that binds every event to all before it."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any, NamedTuple

from ..base.text_tables import fact_table
from ..errors import InvalidArgument
from ..privacy.sensitivity import Unit, plain_unit, read_unit, unit_in_words
from ..selection.payment import Indices
from ..selection.question_sentences import read_sentence
from ..selection.released_values import ReleasedValue, read_released_value

_HEX_FROM = 2**53
_UNIT_SIGNS = {"epsilon": "ε", "rho": "ρ", "delta": "δ"}

CHARGED = ("charged", "charged_outside")
"""The kinds of events that charge a budget: a release of this library, or of other software."""

BUDGET_EVENTS = ("opened", "extended", "shrunk", "recounted", *CHARGED)
"""The kinds of events that change a budget. Their bodies hold the state of the budgets after them."""

FAILURE_EVENTS = ("failed", "reopened")
"""The kinds of events whose bodies hold how many questions of an analyst have failed since the last "reopened"."""

DELAY_EVENTS = ("delayed", "given_up", "reset")
"""The kinds of events whose bodies hold the delay of an analyst's answers since the last reset."""

EventBody = Mapping[str, Any]
"""All of an event but its columns, in plain values."""


@dataclass(frozen=True, slots=True, repr=False)
class Event:
    """One event of a ledger. It is not private.

    Attributes:
        number: its position in the chain, from 1.
        at: the time it was written, UTC, by the writer's clock.
        kind: "opened", "extended", "charged" or "answered". "shrunk" for a share that was made smaller or closed.
            "recounted" for a dataset that pays for its shares in another way from then on. "charged_outside" and
            "released_outside" for releases made by other software. "failed", in place of an answer, for a question
            that failed because of the data. "reopened" for a dataset that its owner opened again for an analyst.
            "second_reading" and "third_reading" for a question that is read again. "delayed", "given_up" and
            "reset" for the delay of an analyst's answers. "described" for declarations about the data.
        dataset: the dataset with the budget that it concerns.
        analyst: the analyst, if it concerns a share. Otherwise None.
        request: the name of the request that was charged, answered or failed. None for budgets.
        body: everything else, in plain values.
        head: the hash of this event and, through its predecessor's, of all before it.
    """

    number: int
    at: str
    kind: str
    dataset: str
    analyst: str | None
    request: str | None
    body: EventBody = field(hash=False)
    head: str

    @property
    def question(self) -> str:
        """The charged question in words, or the owner's words for a release made elsewhere. Otherwise ""."""
        if "asked" in self.body:
            return read_sentence(self.body["asked"])
        return str(self.body.get("description", ""))

    def as_dict(self) -> dict[str, object]:
        """Return the event in plain values, ready for JSON."""
        return {name: getattr(self, name) for name in self.__slots__}

    def cells(self) -> dict[str, str]:
        """Return the event as the row of a table."""
        name = self.dataset if self.analyst is None else f"{self.dataset} / {self.analyst}"
        body = self.body
        return {
            "event": str(self.number), "time (UTC)": self.at[:19].replace("T", " "),
            "kind": self.kind.replace("_", " "), "budget": name,
            "question": self.question or str(body.get("note", "")),
            "cost": " and ".join(map(_cost_in_words, body.get("costs", []))), "request": self.request or "",
        }  # fmt: skip

    def _repr_html_(self) -> str:
        return fact_table("Event of a ledger", self.cells()).html()

    def __repr__(self) -> str:
        return f"Event({self})"

    def __str__(self) -> str:
        name = self.dataset if self.analyst is None else f"{self.dataset} / {self.analyst}"
        unit = read_unit(self.body.get("privacy_unit")) if self.kind == "opened" else None
        subject = self.question or ("" if unit is None else f"per {unit_in_words(unit)}")
        return " ".join(filter(None, [str(self.number), self.at, self.kind, name, subject]))


def _cost_in_words(cost: Mapping[str, str]) -> str:
    """Return a cost in words."""
    return (
        ", ".join(f"{_UNIT_SIGNS.get(unit, unit)} = {value}" for unit, value in cost.items())
        or "nothing"
    )


_QUOTE = json.encoder.encode_basestring_ascii
_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)


def canonical_json(value: object) -> str:
    """Return the one JSON text of a plain value: sorted, without spaces, in ASCII."""
    return _CANONICAL.encode(value)


def canonical_list(values: Sequence[object]) -> str:
    """Return the same text for a list of texts and whole numbers, in a third of the time."""
    texts = [
        _QUOTE(one) if type(one) is str else str(one) if type(one) is int else canonical_json(one)
        for one in values
    ]
    return f"[{','.join(texts)}]"


def unit_field(unit: Unit | None) -> dict[str, str | list[str]]:
    """Return the entry of an event's body for a privacy unit, or empty if every row is a record."""
    plain = plain_unit(unit)
    return {} if plain is None else {"privacy_unit": plain}


def event_columns(event: Event) -> list[object]:
    """Return the columns of an event without its hash."""
    return [event.number, event.at, event.kind, event.dataset, event.analyst or "", event.request,
            canonical_json(event.body)]  # fmt: skip


class ChainHead(NamedTuple):
    """The identity of a ledger and the end of its chain.

    Attributes:
        identity: the random id of the ledger.
        first_schema: the schema it was created with.
        events: how many events it has.
        at: the time of the last one.
        head: the hash of the last one.
    """

    identity: str
    first_schema: int
    events: int
    at: str | None
    head: str


def genesis(identity: str, first_schema: int) -> str:
    """Return the hash before the first event: of the ledger's id and the schema it was created with."""
    return _hash(["discreet_account", identity, first_schema])


def chain_hash(previous: str, *columns: object) -> str:
    """Return the hash of an event: of the previous hash and all columns in order."""
    return _hash([previous, *columns])


def encode(indices: Indices) -> Any:
    """Return a drawn answer as portable JSON: integers from 2**53 on as hexadecimal text, values as an entry."""
    if isinstance(indices, list):
        return [encode(each) for each in indices]
    if isinstance(indices, ReleasedValue):
        return indices.plain
    return indices if abs(indices) < _HEX_FROM else hex(indices)


def read_indices(answer: object) -> Indices:
    """Return a drawn answer as Python integers and released values, in nested lists if it has lists.

    Raises:
        InvalidArgument: if it is something else. The message does not quote it, as it is private.
    """
    if type(answer) is int:
        return answer
    if isinstance(answer, list | tuple):
        return [read_indices(each) for each in answer]
    if isinstance(answer, ReleasedValue):
        return answer
    if isinstance(answer, Integral):
        return int(answer)
    raise InvalidArgument(
        f"what is drawn must be an index, or a list of them, not a {type(answer).__name__}: draw "
        "the index of an answer and name the answer afterwards, or return a ReleasedValue if no "
        "answers are listed"
    )


def decode(value: Any) -> Indices:
    """Return the drawn answer that `encode` wrote."""
    if isinstance(value, list):
        return [decode(each) for each in value]
    if isinstance(value, dict):
        return read_released_value(value)
    return int(value, 16) if isinstance(value, str) else int(value)


def _hash(values: list[object]) -> str:
    return hashlib.sha256(canonical_list(values).encode()).hexdigest()
