"""The access log and the counts of requests, of those that are rejected early too. Without private values."""

import asyncio
import json
import logging
from contextlib import suppress
from dataclasses import dataclass, field
from time import monotonic

from ..queue.counts import RequestCounts
from .exchange import App, AsgiMessage, Receive, Send, exchange_of

ACCESS = logging.getLogger("discreet.access")
"""One line of JSON for every request."""

REQUESTS, REFUSALS, LATE_LEDGER = "requests", "refusals", "ledger_late"
"""The names of the counters: requests by method, route and status; refusals by the class of the error."""

_LATEST = 0.05
"""Seconds after which requests that were counted are written for the other workers."""

_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")


@dataclass(slots=True)
class AccessLog:
    """An application that logs and counts its requests.

    A line has the method, the path of the route, the status and the time: nothing else that a caller wrote, and
    nothing of an answer.

    Attributes:
        app: the application.
        counts: where requests are counted.
    """

    app: App
    counts: RequestCounts
    _is_due: bool = field(default=False, init=False)

    async def __call__(self, scope: AsgiMessage, receive: Receive, send: Send) -> None:
        """Answer a request, and log it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began, statuses = monotonic(), [500]

        async def send_and_note(message: AsgiMessage) -> None:
            if message["type"] == "http.response.start":
                statuses.append(message["status"])
            await send(message)

        try:
            await self.app(scope, receive, send_and_note)
        finally:
            self._log(scope, statuses[-1], monotonic() - began)

    def _log(self, scope: AsgiMessage, status: int, seconds: float) -> None:
        method = scope["method"] if scope["method"] in _METHODS else "other"
        exchange = exchange_of(scope)
        line = {
            "method": method, "path": exchange.route, "status": status, "milliseconds": round(1000 * seconds),
        }  # fmt: skip
        ACCESS.info(json.dumps(line))
        self.counts.add(REQUESTS, f"{method} {exchange.route} {status}")
        if exchange.refusal is not None:
            self.counts.add(REFUSALS, exchange.refusal)
        if exchange.late_ledger is not None:
            self.counts.add(LATE_LEDGER, exchange.late_ledger)
        if not self._is_due:
            self._is_due = True
            asyncio.get_running_loop().call_later(_LATEST, self._write_counts)

    def _write_counts(self) -> None:
        """Write the counts in a thread, unless the loop is ending."""
        self._is_due = False
        with suppress(RuntimeError):
            asyncio.get_running_loop().run_in_executor(None, self.counts.write)
