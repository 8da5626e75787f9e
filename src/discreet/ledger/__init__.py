"""The durable ledger: charge, commit, then draw. For guarantees and proofs, see docs/how-to/ledger.md."""

from .budget import Amount, Budget
from .charge import Charge
from .checkpoints import Checkpoint
from .events import Event
from .ledger import Ledger
from .session import Quote, Session
from .verification import Verified

__all__ = [
    "Amount", "Budget", "Charge", "Checkpoint", "Event", "Ledger", "Quote", "Session", "Verified",
]  # fmt: skip
