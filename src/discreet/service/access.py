"""The access log and the counts of requests, of those that are refused early too; without private values."""

import json
import logging
from dataclasses import dataclass
from time import monotonic

from starlette.concurrency import run_in_threadpool

from .counts import RequestCounts
from .turns import App, AsgiMessage, Receive, Send

ACCESS = logging.getLogger("discreet.access")
"""One line of JSON for every request."""

REQUESTS, REFUSALS = "requests", "refusals"
"""The names of the counters: requests by method, route and status; refusals by the class of the error."""

REFUSED = "discreet.refused"
"""Where the scope of a request has the class of the error that it was refused with."""

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
            await self._log(scope, statuses[-1], monotonic() - began)

    async def _log(self, scope: AsgiMessage, status: int, seconds: float) -> None:
        method = scope["method"] if scope["method"] in _METHODS else "other"
        path = getattr(scope.get("route"), "path", "unknown")
        line = {
            "method": method, "path": path, "status": status, "milliseconds": round(1000 * seconds),
        }  # fmt: skip
        ACCESS.info(json.dumps(line))
        await run_in_threadpool(self._count, scope, f"{method} {path} {status}")

    def _count(self, scope: AsgiMessage, labels: str) -> None:
        self.counts.add(REQUESTS, labels)
        if REFUSED in scope:
            self.counts.add(REFUSALS, scope[REFUSED])
