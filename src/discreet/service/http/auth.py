"""The caller, by the head of a request, before the first byte of its body is read.

All under /v1 and at /mcp needs a token. The pages need a session, which was begun with one. Of strangers one body
is read: the form of the login.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from threading import Lock
from typing import Final
from weakref import WeakKeyDictionary

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from ...errors import DiscreetError, NotAllowed
from ..asking.refusals import RefusedError, error_for_reader, failure
from ..asking.tokens import Token, Tokens
from .exchange import AsgiMessage, exchange_of

LOGIN: Final = "POST", "/login"
"""The one request of a stranger that has a body: the form with the token."""

_OPENAPI = "/v1/openapi.json"
_READS = ("GET", "HEAD")


PLACES = 32
"""Requests of one caller that one worker answers at the same time: fewer than its threads, and its connections."""


@dataclass(slots=True)
class Places:
    """At most so many requests of one caller at the same time: the others keep their connections and threads.

    A caller is an analyst, whatever the tokens, or all owners, or all auditors.

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
        """Take a place for a request until its reply was sent, and return whether there was one."""
        caller = _caller_of(token)
        with self._lock:
            if self._counts[caller] >= self.most:
                return False
            self._counts[caller] += 1
        exchange_of(scope).leave = partial(self._leave, caller)
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


@dataclass(frozen=True, slots=True)
class Gate:
    """Lets callers in by the heads of their requests.

    Attributes:
        tokens: who may ask.
        places: how many requests of one caller are answered at the same time.
        token_of: returns the token of a session of the pages. None if there is no such session.
        session_name_of: returns the session that a request names, or empty if it names none.
        to_login: returns the reply to a form that comes without a session.
        paths: all paths, as the log of requests names them.
        pages: those of them that need a session.
        mcp: that of assistants.
    """

    tokens: Tokens
    places: Places
    token_of: Callable[[str], Token | None]
    session_name_of: Callable[[Request], str]
    to_login: Callable[[Request], Response]
    paths: frozenset[str]
    pages: frozenset[str]
    mcp: str

    async def enter(self, scope: AsgiMessage) -> Response | None:
        """Note the caller of a request, and return the reply that rejects it, or None."""
        method, path, request = scope["method"], scope["path"], Request(scope)
        exchange = exchange_of(scope)
        if path in self.paths:
            exchange.route = path
        if path in self.pages:
            session = self.session_name_of(request)
            exchange.caller = await run_in_threadpool(self._visitor, session)
            may_go_on = exchange.caller is not None or method in _READS
            return None if may_go_on else await run_in_threadpool(self.to_login, request)
        is_open = path == _OPENAPI and method in _READS
        if is_open or (path.split("/")[1:2] != ["v1"] and path != self.mcp):
            return None
        try:
            exchange.caller = self._caller(scope, request.headers)
        except Exception as error:
            status = error.status if isinstance(error, RefusedError) else None
            return failure(request, error_for_reader(error, None), status)
        return None

    def _caller(self, scope: AsgiMessage, headers: Mapping[str, str]) -> Token:
        """Return the caller of a request by its token.

        Raises:
            RefusedError: 401 if it is not valid, 429 if its caller asks too much at once.
        """
        scheme, _, text = headers.get("authorization", "").partition(" ")
        try:
            token = self.tokens.find(text if scheme.lower() == "bearer" else "")
        except NotAllowed as error:
            raise RefusedError(error, 401) from None
        if not self.places.enter(token, scope):
            too_many = f"more than {self.places.most} requests at once. Wait for their replies"
            raise RefusedError(NotAllowed(too_many), 429)
        return token

    def _visitor(self, session: str) -> Token | None:
        """Return the token of a session, or None for a stranger, and if the page of the login says the error."""
        with suppress(DiscreetError):
            return self.token_of(session) if session else None
        return None
