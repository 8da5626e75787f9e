"""The durable ledger: pay, commit, then draw. What is promised: docs/ledger.md."""

from .book import Ledger
from .budget import Amount, Budget
from .charge import Charge
from .checkpoints import Checkpoint
from .events import Event
from .session import Quote, Session
from .verification import Verified

__all__ = [
    "Amount", "Budget", "Charge", "Checkpoint", "Event", "Ledger", "Quote", "Session", "Verified",
]  # fmt: skip
