"""The end of a ledger's chain as this process last saw it: if it is gone, the ledger was replaced."""

from threading import Lock

from ..errors import LedgerCorrupt
from .checkpoints import Checkpoint
from .locks import FORK_LOCK
from .transaction import Transaction


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

    def remember(self, end: Checkpoint) -> None:
        """Store the end of the chain."""
        key = self._place, end.ledger
        with FORK_LOCK, _CHANGING:  # so that no fork copies it while it is held
            if key not in _SEEN or _SEEN[key].number < end.number:
                _SEEN[key] = end
        self._last = end


_SEEN: dict[tuple[str, str], Checkpoint] = {}
"""By location and id, so that all `Ledger` objects of this process share it."""

_CHANGING = Lock()


def check_continues(transaction: Transaction, last: Checkpoint, name: str) -> None:
    """Check that the chain continues from where it was last seen.

    Raises:
        LedgerCorrupt: if it is another ledger, or the last event seen is gone.
    """
    if transaction.end.ledger != last.ledger:
        raise LedgerCorrupt(
            f"the ledger {name} was replaced by another one; the one that was used here has the id {last.ledger}"
        )
    if not transaction.continues(last):
        raise LedgerCorrupt(
            f"the ledger {name} was replaced by an older copy, or written anew: event {last.number} with the "
            f"head {last.head} was seen, and is not in it"
        )
