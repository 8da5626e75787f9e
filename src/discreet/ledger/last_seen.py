"""The end of a ledger's chain as this process last saw it: if it is gone, the ledger was replaced."""

from threading import Lock

from sqlalchemy import Connection, bindparam, select

from ..errors import LedgerCorrupt
from .checkpoints import Checkpoint
from .locks import FORK_LOCK
from .schema import EVENTS, LEDGER

_LAST, _PAST = EVENTS.alias("last"), EVENTS.alias("past")
_ENDS = select(
    LEDGER.c.id, LEDGER.c.events, _LAST.c.at, LEDGER.c.head, _PAST.c.head.label("past")
).select_from(
    LEDGER.outerjoin(_LAST, _LAST.c.number == LEDGER.c.events).outerjoin(
        _PAST, _PAST.c.number == bindparam("past")
    )
)
"""The end of the chain and the hash of an earlier event, both found by the primary key."""


class LastSeen:
    """The last event of one ledger that any transaction of this process has seen."""

    def __init__(self, place: str) -> None:
        self._place = place
        self._last: Checkpoint | None = None

    @property
    def last(self) -> Checkpoint | None:
        """The end of the chain when it was last seen, or None."""
        if self._last is None:
            return None
        return _SEEN.get((self._place, self._last.ledger), self._last)

    def remember(self, seen: Checkpoint) -> None:
        """Store the end of the chain."""
        key = self._place, seen.ledger
        with FORK_LOCK, _CHANGING:  # so that no fork copies it while it is held
            if key not in _SEEN or _SEEN[key].number < seen.number:
                _SEEN[key] = seen
        self._last = seen


_SEEN: dict[tuple[str, str], Checkpoint] = {}
"""By location and id, so that all `Ledger` objects of this process share it."""

_CHANGING = Lock()


def read_end(connection: Connection, last: Checkpoint | None, name: str) -> Checkpoint:
    """Return the end of the chain, if it continues from where it was last seen.

    Raises:
        LedgerCorrupt: if it is another ledger, or the last event seen is gone.
    """
    found = connection.execute(_ENDS, {"past": last.number if last else 0}).all()
    if len(found) != 1:
        raise LedgerCorrupt(f"a ledger says once who it is, and {name} {len(found)} times")
    row = found[0]
    if not isinstance(row.events, int) or not isinstance(row.head, str):
        raise LedgerCorrupt(f"the ledger {name} does not say where it ends")
    here = Checkpoint(row.id, row.events, row.at, row.head)
    if last is not None:
        _check(last, here, row.past, name)
    return here


def _check(last: Checkpoint, here: Checkpoint, past: str | None, name: str) -> None:
    if here.ledger != last.ledger:
        raise LedgerCorrupt(
            f"the ledger {name} was replaced by another one; the one that was used here has the id {last.ledger}"
        )
    if last.number and (here.number < last.number or past != last.head):
        raise LedgerCorrupt(
            f"the ledger {name} was replaced by an older copy, or written anew: event {last.number} with the "
            f"head {last.head} was seen, and is not in it"
        )
