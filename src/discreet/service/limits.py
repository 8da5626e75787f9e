"""The limit of callers: how much one may ask at the same time. How often it may ask, a proxy limits."""

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from threading import Lock
from weakref import WeakKeyDictionary

from .padding import LEAVE, AsgiMessage
from .tokens import Token

PLACES = 32
"""Requests of one caller that one worker answers at the same time: fewer than its threads, and its connections."""


@dataclass(slots=True)
class Places:
    """At most so many requests of one caller at the same time: the others keep their connections and threads.

    A caller is an analyst, whatever the tokens; or all owners; or all auditors.

    Attributes:
        most: how many.
    """

    most: int = PLACES
    _counts: Counter[str] = field(default_factory=Counter)
    _lines: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, asyncio.Lock]] = field(
        default_factory=WeakKeyDictionary
    )
    _lock: Lock = field(default_factory=Lock)

    def enter(self, token: Token, scope: AsgiMessage) -> bool:
        """Take a place for a request until its reply was sent; return whether there was one."""
        caller = _caller_of(token)
        with self._lock:
            if self._counts[caller] >= self.most:
                return False
            self._counts[caller] += 1
        scope[LEAVE] = partial(self._leave, caller)
        return True

    def line(self, token: Token) -> asyncio.Lock:
        """Return the lock by which the requests of a caller are worked on one after another.

        The threads of a worker share one interpreter: thus a reply to others waits for one request of the caller at
        a time, however many there are. A lock is of one event loop, of which a worker has one.
        """
        with self._lock:
            lines = self._lines.setdefault(asyncio.get_running_loop(), {})
        return lines.setdefault(_caller_of(token), asyncio.Lock())

    def _leave(self, caller: str) -> None:
        with self._lock:
            self._counts[caller] -= 1
            if not self._counts[caller]:
                del self._counts[caller]


def _caller_of(token: Token) -> str:
    """Return the name by which the places of a caller are counted."""
    return f"{token.role} {token.analyst or ''}"
