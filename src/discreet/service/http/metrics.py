"""Requests of a service, logged and counted without private values, and its metrics for the owner.

Several workers share the counts. They are in a small SQLite file beside the tokens, which nothing is lost with. A
worker that is alone counts in its memory, and so does each one while the file cannot be used.
"""

import asyncio
import json
import logging
import sqlite3
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import Any

from ...base.file_permissions import private_opener
from ...ledger import Budget
from ..queue.disclosures import LateAnswers
from .exchange import App, AsgiMessage, Receive, Send, exchange_of

ACCESS = logging.getLogger("discreet.access")
"""One line of JSON for every request."""

REQUESTS, REFUSALS, LATE_LEDGER = "requests", "refusals", "ledger_late"
"""The names of the counters: requests by method, route and status; refusals by the class of the error."""

_LATEST = 0.05
"""Seconds after which requests that were counted are written for the other workers."""

_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")

_TABLE = """
CREATE TABLE IF NOT EXISTS counted (name TEXT, labels TEXT, number INTEGER, PRIMARY KEY (name, labels))
"""
_COUNT = """
INSERT INTO counted VALUES (?, ?, ?) ON CONFLICT (name, labels) DO UPDATE SET number = number + excluded.number
"""
_PATIENCE = 1.0


class RequestCounts:
    """Counters that several processes share.

    Args:
        path: the file. None for this process alone.
    """

    __slots__ = ("_lock", "_new", "_path", "_unwritten")

    def __init__(self, path: Path | None = None) -> None:
        self._path, self._lock = path, Lock()
        self._new: deque[tuple[str, str]] = deque()
        self._unwritten: Counter[tuple[str, str]] = Counter()

    def begin(self) -> None:
        """Count anew from zero.

        Raises:
            OSError: if the file cannot be made.
            sqlite3.Error: if it cannot be written.
        """
        if self._path is not None:
            self._path.unlink(missing_ok=True)
            with _opened(self._path):
                pass

    def add(self, name: str, labels: str) -> None:
        """Add one to a counter, without waiting for a lock or a disk; `write` tells the other workers."""
        self._new.append((name, labels))

    def write(self) -> bool:
        """Write the counts for the other workers, and return whether that was possible."""
        with self._lock:
            while self._new:
                self._unwritten[self._new.popleft()] += 1
            if self._path is None:
                return True
            try:
                with _opened(self._path) as file:
                    rows = ((*key, number) for key, number in self._unwritten.items())
                    file.executemany(_COUNT, rows)
            except (OSError, sqlite3.Error):
                return False
            self._unwritten.clear()
            return True

    def read(self, name: str) -> Mapping[str, int]:
        """Return the counters of a name by their labels: of all workers, if the file can be used."""
        numbers = Counter[str]()
        if self.write() and self._path is not None:
            with suppress(OSError, sqlite3.Error), _opened(self._path) as file:
                rows = file.execute("SELECT labels, number FROM counted WHERE name = ?", (name,))
                numbers.update(dict(rows.fetchall()))
        with self._lock:
            numbers.update({at: n for (one, at), n in self._unwritten.items() if one == name})
        return dict(sorted(numbers.items()))


@contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    """Open the file, which is readable for its owner alone, for one transaction."""
    with open(path, "ab", opener=private_opener):
        pass
    with closing(sqlite3.connect(path, timeout=_PATIENCE)) as file:
        file.execute("PRAGMA synchronous = OFF")
        with file:
            file.execute(_TABLE)
            yield file


def kept_counts(description: Path) -> RequestCounts:
    """Return the counts of a service: discreet.counts beside discreet.toml."""
    return RequestCounts(description.absolute().with_suffix(".counts"))


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


def as_json(
    counts: RequestCounts, budgets: Iterable[Budget], late: Iterable[LateAnswers]
) -> dict[str, Any]:
    """Return the metrics in plain values."""
    return {
        "requests": list(_requests(counts)),
        "refusals": dict(counts.read(REFUSALS)),
        "ledger_late": dict(counts.read(LATE_LEDGER)),
        "late_answers": [one.as_dict() for one in late],
        "budgets": [one.as_dict() for one in budgets],
    }


def as_text(counts: RequestCounts, budgets: Sequence[Budget], late: Sequence[LateAnswers]) -> str:
    """Return the metrics as Prometheus reads them. The rest of a budget is rounded to a double."""
    requests = [
        ({k: v for k, v in one.items() if k != "number"}, one["number"])
        for one in _requests(counts)
    ]
    refusals = [({"error": error}, number) for error, number in counts.read(REFUSALS).items()]
    ledger_late = [({"dataset": name}, number) for name, number in counts.read(LATE_LEDGER).items()]
    names = [{"dataset": one.dataset, "analyst": one.analyst or ""} for one in late]
    delays = [float(one.delay.factor) for one in late]
    given_up = [float(one.delay.given_up) for one in late]
    families: list[tuple[str, str, str, list[Any]]] = [
        ("discreet_requests_total", "counter", "Requests answered, by route and status.", requests),
        ("discreet_refusals_total", "counter", "Requests refused, by the class of the error.", refusals),
        ("discreet_ledger_late_total", "counter", "Answers that left later for the ledger.", ledger_late),
        ("discreet_delay", "gauge", "Times as long as answers_after, since the reset.", _pairs(names, delays)),
        ("discreet_given_up", "gauge", "Questions given up since the reset.", _pairs(names, given_up)),
        ("discreet_budget_total", "gauge", "Total of a privacy budget.", _amounts(budgets, "total")),
        ("discreet_budget_remaining", "gauge", "What is left of it.", _amounts(budgets, "remaining")),
    ]  # fmt: skip
    return "".join(line for family in families for line in _family(*family))


def _pairs(labels: Iterable[Any], numbers: Iterable[float]) -> list[Any]:
    return list(zip(labels, numbers, strict=True))


def _requests(counts: RequestCounts) -> Iterator[dict[str, Any]]:
    for labels, number in counts.read(REQUESTS).items():
        method, route, status = labels.split(" ")
        yield {"method": method, "route": route, "status": int(status), "number": number}


def _amounts(budgets: Iterable[Budget], which: str) -> list[tuple[dict[str, str], float]]:
    """Return the amounts of budgets with their labels, by the units that they count."""
    return [
        ({"dataset": budget.dataset, "analyst": budget.analyst or "", "unit": kind}, float(amount))
        for budget in budgets
        for kind, amount in _amounts_by_unit(budget, which)
    ]


def _amounts_by_unit(budget: Budget, which: str) -> Iterator[tuple[str, Fraction]]:
    """Yield the units that a budget counts, with an amount of it."""
    for kind in budget.total.as_dict():
        amount = getattr(getattr(budget, which), kind)
        if amount is not None:
            yield kind, amount


def _family(
    name: str, kind: str, help_text: str, samples: Iterable[tuple[Mapping[str, Any], float]]
) -> Iterator[str]:
    yield f"# HELP {name} {help_text}\n# TYPE {name} {kind}\n"
    for labels, value in samples:
        label_texts = ",".join(
            f'{key}="{_escape_label(str(label))}"' for key, label in labels.items()
        )
        yield f"{name}{{{label_texts}}} {value}\n" if label_texts else f"{name} {value}\n"


def _escape_label(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
