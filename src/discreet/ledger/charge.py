"""Charges for releases made by other software: a library, a script, a training run.

See docs/how-to/ledger.md.
"""

from dataclasses import dataclass, field, replace
from typing import Any

from ..base.arguments import read_name
from ..base.messages import Message
from ..base.text_tables import fact_table
from ..errors import InvalidArgument, RequestConflict, preview
from ..privacy.guarantees import Guarantee, read_guarantee
from ..privacy.sensitivity import Unit, plain_unit, read_unit
from ..privacy.wording import in_full
from . import queries
from .events import Event, EventBody, canonical_json, unit_field
from .purchase import Payer
from .transaction import NewEvent, Transaction


@dataclass(frozen=True, slots=True)
class Charge:
    """A charge for a release made by other software. Check `is_new` before the release. It has no truth value.

        charge = session.charge(guarantee, description="mean age, OpenDP", request="mean-age")
        if charge.is_new:
            answer = measurement(data)
            charge.done("means.json")

    `is_new` describes one call and does not change. To retry, call `session.charge` again, not only the release.

    Attributes:
        request: the name of the release. The same name is charged once per dataset and analyst.
        description: the release in words.
        guarantee: the guarantee of the release.
        unit: the column that identifies the privacy unit, or a tuple of several. Rows with equal values there are
            one record. None if every row is a record.
        is_new: whether this call made the charge. Otherwise it existed before.
        event: the number of the event that records the charge.
        at: the time of the charge, UTC.
        note: the note from `done`, such as where the release is stored. None until the release is reported as made.
    """

    request: str
    description: str
    guarantee: Guarantee
    unit: Unit | None
    is_new: bool
    event: int
    at: str
    note: str | None
    _payer: Payer = field(repr=False, compare=False)

    @property
    def is_done(self) -> bool:
        """Whether the release was reported as made."""
        return self.note is not None

    def done(self, note: str = "made") -> "Charge":
        """Record durably that the release was made, and return the updated charge, which is not new.

        Args:
            note: where the release is stored, or its hash. Don't put anything private in it, because the ledger is
                as public as the answers.

        Raises:
            RequestConflict: if it was recorded with another note, which may mean a second release.
        """
        return replace(self, is_new=False, note=mark_done(self._payer, self.request, note).note)

    def as_dict(self) -> dict[str, object]:
        """Return the charge in plain values, ready for JSON."""
        return {
            "request": self.request, "description": self.description, "is_new": self.is_new,
            "guarantee": self.guarantee.as_dict(), "privacy_unit": plain_unit(self.unit),
            "event": self.event, "at": self.at, "note": self.note,
        }  # fmt: skip

    def _repr_html_(self) -> str:
        facts = {
            "request": self.request, "description": self.description,
            "guarantee": in_full(self.guarantee, self.unit), "charged": self.at,
            "new": "yes: make the release now" if self.is_new else "no: charged before",
            "made": self.note or "not recorded yet",
        }  # fmt: skip
        return fact_table("Charge for a release made elsewhere", facts).html()

    def __bool__(self) -> bool:
        raise InvalidArgument(
            "a charge is neither true nor false: ask charge.is_new before you make the release"
        )

    def __str__(self) -> str:
        charge = Message(
            "{guarantee}, for {description} (request {request}, event {event})",
            guarantee=in_full(self.guarantee, self.unit), description=self.description,
            request=self.request, event=self.event,
        )  # fmt: skip
        if self.note is not None:
            return Message(
                "charged already: {charge}. The release was made ({note}): do not make it again",
                charge=charge, note=self.note,
            )  # fmt: skip
        if self.is_new:
            return Message("charged {charge}: make the release now, once", charge=charge)
        return Message(
            "charged already, at {time} UTC: {charge}, and its release was not noted as made. The "
            "process that charged it may be making it right now. If it is not, and any part of "
            "the release may have been seen or kept, use that and make no other. Only if all of "
            "it was lost, make it once",
            time=self.at[:19].replace("T", " "), charge=charge,
        )  # fmt: skip


def charge_external(
    payer: Payer, guarantee: Guarantee, description: str, request: str, unit: Unit | None
) -> Charge:
    """Charge the budgets for a release made by other software, or return the earlier charge of this name."""
    name = read_name(request, "request")
    body = {
        "description": read_name(description, "description"), "guarantee": _plain_guarantee(guarantee),
        **unit_field(unit),
    }  # fmt: skip
    return payer.store.write(_charge_once, payer, name, body)


def mark_done(payer: Payer, request: str, note: str) -> Charge:
    """Record that the release charged under this name was made.

    Raises:
        RequestConflict: if no such release was charged, or it was recorded with another note.
    """
    name, text = read_name(request, "request"), read_name(note, "note")
    return payer.store.write(_note_release, payer, name, text)


def _charge_once(transaction: Transaction, payer: Payer, request: str, body: EventBody) -> Charge:
    events = _events_of(transaction, payer, request)
    if "charged" in events or not _is_same_release(events.get("charged_outside"), body):
        event = events.get("charged") or events["charged_outside"]
        raise RequestConflict(
            f"request {preview(request)} was another question (event {event.number}). Give this "
            "one another name"
        )
    if not events:
        payer.check_source(transaction, None)
        charge_outside(transaction, payer, request, body)
        return _charge_of(_events_of(transaction, payer, request), payer, is_new=True)
    return _charge_of(events, payer, is_new=False)


def charge_outside(transaction: Transaction, payer: Payer, request: str, body: EventBody) -> None:
    """Append an event that charges for a release made elsewhere.

    Raises:
        Exhausted: if a budget cannot pay.
    """
    guarantee = read_guarantee(body["guarantee"])
    unit = read_unit(body.get("privacy_unit"))
    payment = payer.payment(payer.budgets(transaction), guarantee, unit)
    whole = {**body, **payment.fields}
    transaction.append(NewEvent("charged_outside", payer.dataset, payer.analyst, request, whole))
    payment.store(transaction)


def _note_release(transaction: Transaction, payer: Payer, request: str, note: str) -> Charge:
    events = _events_of(transaction, payer, request)
    if "charged_outside" not in events:
        raise RequestConflict(
            f"no release made elsewhere was charged as request {preview(request)}"
        )
    if "released_outside" not in events:
        event = NewEvent("released_outside", payer.dataset, payer.analyst, request, {"note": note})
        transaction.append(event)
        events = _events_of(transaction, payer, request)
    first_note = events["released_outside"].body["note"]
    if first_note != note:
        raise RequestConflict(
            f"request {preview(request)} was noted as made: {first_note}. Charge a second release "
            "under another request"
        )
    return _charge_of(events, payer, is_new=False)


def _events_of(transaction: Transaction, payer: Payer, request: str) -> dict[str, Event]:
    return queries.events_of_request(transaction, payer.dataset, payer.analyst, request)


def _is_same_release(earlier: Event | None, body: EventBody) -> bool:
    """Return whether the existing charge, if any, is for this release."""
    if earlier is None:
        return True
    ours = {name: earlier.body.get(name) for name in ("description", "guarantee", "privacy_unit")}
    return canonical_json(ours) == canonical_json({"privacy_unit": None, **body})


def _charge_of(events: dict[str, Event], payer: Payer, *, is_new: bool) -> Charge:
    """Return the charge recorded by these events."""
    event, release = events["charged_outside"], events.get("released_outside")
    return Charge(
        str(event.request), str(event.body["description"]), read_guarantee(event.body["guarantee"]),
        read_unit(event.body.get("privacy_unit")), is_new, event.number, event.at,
        None if release is None else str(release.body["note"]), payer,
    )  # fmt: skip


def _plain_guarantee(guarantee: Any) -> dict[str, object]:
    """Return a guarantee as plain values that can be read back, as `verify` will.

    Raises:
        InvalidArgument: if it is no guarantee, or cannot be serialized.
    """
    try:
        plain: dict[str, Any] = guarantee.as_dict()
        is_readable = read_guarantee(plain) == guarantee and bool(canonical_json(plain))
    except (AttributeError, TypeError, ValueError):
        is_readable = False
    if not is_readable:
        raise InvalidArgument(
            "a charge takes a guarantee that can be written down, such as PureDP('1/2', "
            f"'add_remove') or GaussianDP('1/2', 'add_remove'), got {preview(guarantee)}"
        )
    return plain
