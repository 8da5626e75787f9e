"""Whether the service is up, for all callers, and which of its parts are, for the owner."""

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock, Thread
from time import monotonic

from ...tables.datasets.configuration import Configuration
from ..asking.datasets import Datasets
from ..asking.tokens import tokens_beside
from ..pages.sessions import sessions_beside
from ..queue.dispatcher_client import DispatcherClient
from ..queue.reader import file_digest
from .metrics import RequestCounts

_ROOM = 1 << 20
"""Bytes that a disk must have left: a few charges need less."""

_FRESH, _PATIENCE = 1.0, 1.0
"""Seconds for which a result is given again, and for which a caller waits for a new one."""


@dataclass(slots=True)
class Health:
    """The parts of a service, and whether they can be used.

    Strangers are told one word, which neither the data nor questions move: whether a question can be accepted. The
    ledger can be read, its disk has room, on which readers spill nothing, the description is that of the start, and
    the dispatcher is there. A ledger or a reader that is busy is up.

    Attributes:
        configuration: the description.
        datasets: its datasets, with the ledger.
        counts: the counters.
        dispatcher: it knows the readers.
    """

    configuration: Configuration
    datasets: Datasets
    counts: RequestCounts
    dispatcher: DispatcherClient | None = None
    _digest: str = field(init=False)
    _is_up: bool = False
    _look_time: float = float("-inf")
    _looking: Thread | None = None
    _lock: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        self._digest = file_digest(self.configuration.path)

    def is_up(self) -> bool:
        """Return whether the service is up. It is looked at once a second at most, as any stranger may ask."""
        with self._lock:
            if self._looking is None and monotonic() - self._look_time > _FRESH:
                self._looking = Thread(target=self._look, daemon=True)
                self._looking.start()
            looking = self._looking
        if looking is not None:
            looking.join(_PATIENCE)
        return self._is_up

    def parts(self) -> dict[str, bool]:
        """Return the parts by name with whether they can be used, for the owner."""
        return {name: _holds(check) for name, check in self._checks().items()}

    def _look(self) -> None:
        checks = self._checks()
        names = ("ledger", "disk", "description", "dispatcher")
        self._is_up = all(_holds(checks[name]) for name in names)
        with self._lock:
            self._look_time, self._looking = monotonic(), None

    def _checks(self) -> Mapping[str, Callable[[], bool]]:
        path = self.configuration.path
        return {
            "ledger": self.datasets.can_read_ledger,
            "disk": lambda: _has_room(self._folder()),
            "description": lambda: file_digest(path) == self._digest,
            "tokens": lambda: tokens_beside(path).valid() is not None,
            "sessions": lambda: sessions_beside(path).token_of("") is None,
            "counts": self.counts.write,
            "dispatcher": lambda: self.dispatcher is None or self.dispatcher.count_alive()[1] > 0,
            "readers": self._can_read_data,
        }

    def _can_read_data(self) -> bool:
        if self.dispatcher is None:
            return True
        alive, number = self.dispatcher.count_alive()
        return alive == number

    def _folder(self) -> Path | None:
        """Return the folder of the ledger, or None if a server keeps it."""
        where = self.configuration.ledger
        return None if where is None or "://" in where else Path(where).absolute().parent


def _holds(check: Callable[[], bool]) -> bool:
    """Return the result of a check; False for one that fails."""
    try:
        return check()
    except Exception:
        return False


def _has_room(folder: Path | None) -> bool:
    return folder is None or shutil.disk_usage(folder).free >= _ROOM
