"""Charges for releases made elsewhere: by another library, a script, a training run. Docs: docs/ledger.md."""

from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import Connection

from ..arguments import read_name
from ..errors import InvalidArgument, RequestConflict, shown
from ..privacy.guarantees import Guarantee, read_guarantee
from ..privacy.units import read_unit, whose
from . import checked
from .events import Event, canonical, per
from .purchase import Buyer
from .rows import News, Tip, append, tip_of, update


@dataclass(frozen=True, slots=True)
class Charge:
    """A charge for a release made elsewhere. It says whether this call made it, and never counts as a truth value.

        charge = session.charge(guarantee, description="mean age, OpenDP", request="mean-age")
        if charge.is_new:
            answer = measurement(data)
            charge.done("means.json")

    What is tried again must ask again: `is_new` says what one call did, and does not change. So a retry
    holds the call of `charge` too, not the release alone.

    Attributes:
        request: its name; asked again under this name, by the same dataset and analyst, nothing is charged.
        description: what is released, in words.
        guarantee: what the release promises.
        unit: whom it protects: the column that says whose a row is, if all rows of one person are one
            record; None if each row is one.
        is_new: whether this call has charged it. Else it was charged before.
        event: the number of the event that charged it.
        at: when that was, UTC.
        note: what was noted when the release was made, such as where it is kept; None if nobody has said that
            it was made.
    """

    request: str
    description: str
    guarantee: Guarantee
    unit: str | None
    is_new: bool
    event: int
    at: str
    note: str | None
    _buyer: Buyer = field(repr=False, compare=False)

    @property
    def is_done(self) -> bool:
        """Whether it was noted that the release was made."""
        return self.note is not None

    def done(self, note: str = "made") -> "Charge":
        """Note durably that the release was made, and return the charge as it is now, which is not new.

        Args:
            note: where the release is kept, or its hash. Nothing private: the ledger is as public as answers.

        Raises:
            RequestConflict: if another note says that it was made: that may have been a second release.
        """
        return replace(self, is_new=False, note=done(self._buyer, self.request, note).note)

    def as_dict(self) -> dict[str, Any]:
        """Return the charge in plain values, ready for JSON."""
        return {
            "request": self.request, "description": self.description, "is_new": self.is_new,
            "guarantee": self.guarantee.as_dict(), "privacy_unit": self.unit,
            "event": self.event, "at": self.at, "note": self.note,
        }  # fmt: skip

    def __bool__(self) -> bool:
        raise InvalidArgument(
            "a charge is neither true nor false: ask charge.is_new before you make the release"
        )

    def __str__(self) -> str:
        which = f"for {self.description} (request {self.request}, event {self.event})"
        said = f"{self.guarantee}{whose(self.unit)}, {which}"
        if self.note is not None:
            return (
                f"charged already: {said}; the release was made ({self.note}): do not make it again"
            )
        if self.is_new:
            return f"charged {said}: make the release now, once"
        return (
            f"charged already, at {self.at[:19].replace('T', ' ')} UTC: {said}, and nobody has noted that the "
            "release was made. Whoever charged it may be making it right now. If not, and if anything of it may "
            "have been seen or kept, take that and make no other; only if it was lost as a whole, make it once"
        )


def charge(
    buyer: Buyer, guarantee: Guarantee, description: str, request: str, unit: str | None
) -> Charge:
    """Charge the budgets for a release made elsewhere, or return what was charged before under this name."""
    named = read_name(request, "request")
    body = {
        "query": read_name(description, "description"), "guarantee": _written(guarantee),
        **per(read_unit(unit)),
    }  # fmt: skip
    return buyer.store.write(lambda connection: _charged(connection, buyer, named, body))


def done(buyer: Buyer, request: str, note: str) -> Charge:
    """Note that the release was made that was charged under this name.

    Raises:
        RequestConflict: if no such release was charged, or it was noted as made with another note.
    """
    named, said = read_name(request, "request"), read_name(note, "note")
    return buyer.store.write(lambda connection: _done(connection, buyer, named, said))


def _charged(connection: Connection, buyer: Buyer, request: str, body: dict[str, Any]) -> Charge:
    tip = tip_of(connection, alone=True)
    found = _found(connection, tip, buyer, request)
    if "charged" in found or not _same(found.get("charged_outside"), body):
        event = found.get("charged") or found["charged_outside"]
        raise RequestConflict(
            f"request {shown(request)} was another question (event {event.number}); give this one a name "
            "of its own"
        )
    if not found:
        _pay(connection, tip, buyer, request, body)
        return _told(_found(connection, tip, buyer, request), buyer, is_new=True)
    return _told(found, buyer, is_new=False)


def _pay(
    connection: Connection, tip: Tip, buyer: Buyer, request: str, body: dict[str, Any]
) -> None:
    guarantee, unit = read_guarantee(body["guarantee"]), body.get("privacy_unit")
    priced = buyer.priced(connection, tip, guarantee, unit)
    costs = [cost.as_dict() for cost, _ in priced]
    whole = {**body, "costs": costs, **checked.stated(*(paid for _, paid in priced))}
    append(connection, tip, News("charged_outside", buyer.dataset, buyer.analyst, request, whole))
    for _, paid in priced:
        update(connection, paid)


def _done(connection: Connection, buyer: Buyer, request: str, note: str) -> Charge:
    tip = tip_of(connection, alone=True)
    found = _found(connection, tip, buyer, request)
    if "charged_outside" not in found:
        raise RequestConflict(f"no release made elsewhere was charged as request {shown(request)}")
    if "released_outside" not in found:
        news = News("released_outside", buyer.dataset, buyer.analyst, request, {"note": note})
        append(connection, tip, news)
        found = _found(connection, tip, buyer, request)
    known = found["released_outside"].body["note"]
    if known != note:
        raise RequestConflict(
            f"request {shown(request)} was noted as made: {known}; a second release needs a charge of its own"
        )
    return _told(found, buyer, is_new=False)


def _found(connection: Connection, tip: Tip, buyer: Buyer, request: str) -> dict[str, Event]:
    return checked.of_request(connection, tip, buyer.dataset, buyer.analyst, request)


def _same(known: Event | None, body: dict[str, Any]) -> bool:
    """Return whether the charge that is there, if any, is for this release."""
    if known is None:
        return True
    ours = {name: known.body.get(name) for name in ("query", "guarantee", "privacy_unit")}
    return canonical(ours) == canonical({"privacy_unit": None, **body})


def _told(found: dict[str, Event], buyer: Buyer, *, is_new: bool) -> Charge:
    """Return the charge that these events tell of."""
    event, made = found["charged_outside"], found.get("released_outside")
    return Charge(
        str(event.request), str(event.body["query"]), read_guarantee(event.body["guarantee"]),
        event.body.get("privacy_unit"), is_new, event.number, event.at,
        None if made is None else str(made.body["note"]), buyer,
    )  # fmt: skip


def _written(guarantee: Any) -> dict[str, Any]:
    """Return a guarantee as plain values from which it can be read again, as `verify` will.

    Raises:
        InvalidArgument: if it is none, or cannot be written down.
    """
    try:
        plain: dict[str, Any] = guarantee.as_dict()
        known = read_guarantee(plain) == guarantee and bool(canonical(plain))
    except (AttributeError, TypeError, ValueError):
        known = False
    if not known:
        raise InvalidArgument(
            "a charge takes a guarantee that can be written down, such as PureDP('1/2', 'add_remove') or "
            f"GaussianDP('1/2', 'add_remove'), got {shown(guarantee)}"
        )
    return plain
