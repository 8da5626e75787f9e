"""How often the answers to an analyst about a dataset had to wait longer, and how many questions were given up.

For the proof, see docs/explanation/threat_model.md, "Time". A delay doubles with an answer that needs longer, and
    stays until the next public reset. A question is given up for a clock, a lock or a lost server: it is charged,
    not counted as failed, and may be asked again under its name. What both can tell is bounded by counting them, so
    each is an event.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from ..base.messages import Message
from ..errors import LedgerCorrupt, Unanswerable
from .transaction import NewEvent, Transaction, time_text

MOST_GIVEN_UP = 5
"""So many questions of an analyst may be given up between two resets."""

READINGS = ("charged", "second_reading", "third_reading")
"""The kinds of events that begin the readings of a question: it has no more."""

RESETS = ("day", "renewal")
"""When delays begin again: at midnight, UTC, or with the next budget."""


class Delay(NamedTuple):
    """The delay of an analyst about a dataset.

    Attributes:
        factor: an answer leaves so many units after its start.
        given_up: how many questions were given up.
        since: the time of the reset before.
    """

    factor: int = 1
    given_up: int = 0
    since: str = ""

    def after_reset(self, since: str) -> "Delay":
        """Return the delay, unless a reset has come since it was recorded."""
        return self if self.since >= since else Delay(since=since)

    @property
    def fields(self) -> dict[str, object]:
        """The entries of an event's body."""
        return {"delay": self.factor, "given_up": self.given_up, "since": self.since}


@dataclass(slots=True)
class Timing:
    """The public times of one reading, and the delay in its ledger.

    Attributes:
        since: the time of the reset before the question began.
        is_record: whether nothing is read, but recorded what became of an earlier reading.
        factor: the delay: when the question was charged as the ledger has it; then as its outcome needed.
        stored_at: the time that the outcome has in the ledger, when its reply leaves; None before.
    """

    since: str
    is_record: bool = False
    factor: int = 1
    stored_at: str | None = None


class GivenUp(Exception):
    """Raised by a draw that was given up: the request may be asked again.

    Args:
        reason: why, for the owner.
    """

    def __init__(self, reason: str) -> None:
        super().__init__()
        self.reason = reason


def reset_before(time: datetime, rule: str) -> str:
    """Return the time of the last public reset by a rule, or an empty text if budgets alone reset."""
    if rule == "renewal":
        return ""
    return time_text(time.replace(hour=0, minute=0, second=0, microsecond=0))


def read_delay(body: Any, number: int) -> Delay:
    """Return the delay that an event records.

    Raises:
        LedgerCorrupt: if it is none.
    """
    factor, given_up, since = (body.get(name) for name in ("delay", "given_up", "since"))
    is_count = type(factor) is type(given_up) is int and factor > 0 and given_up >= 0
    if not is_count or factor & (factor - 1) or not isinstance(since, str):
        raise LedgerCorrupt(f"event {number} cannot be read")
    return Delay(factor, given_up, since)


def why_waiting(delay: Delay) -> Message | None:
    """Return why questions wait for the next reset after so many were given up, or None."""
    if delay.given_up < MOST_GIVEN_UP:
        return None
    return Message(
        "{count} questions were given up, so more are read after the next reset, and cost nothing until then",
        count=delay.given_up,
    )  # fmt: skip


def no_more_readings(request: str) -> Unanswerable:
    """Return the error of a request that was read as often as may be."""
    error = Unanswerable(
        f"this question was given up {len(READINGS)} times, so it is not read again. Ask it under "
        "another name"
    )
    error.charged = error.is_public = True
    return error


def given_up() -> Unanswerable:
    """Return the error of a question that was given up."""
    error = Unanswerable(
        "this question was given up: its data could not be read in time, for a reason that is not theirs"
    )
    error.is_public = True
    return error


def new_delay(
    transaction: Transaction,
    kind: str,
    names: tuple[str, str | None],
    delay: Delay,
    *,
    at: str | None = None,
    **more: object,
) -> None:
    """Append an event about a delay: "delayed", "given_up" or "reset".

    Args:
        transaction: where it is appended.
        kind: its kind.
        names: the dataset and the analyst.
        delay: the delay after it.
        at: its time.
        **more: the request, and the reason.
    """
    transaction.append(NewEvent(kind, *names, None, {**delay.fields, **more}, at))
