"""A storm over a service: clients ask and ask again, while its workers and all of it are killed.

    python -m tests.service.storm                    # 1,000 kills of processes, 50 of all, a file, a server
    python -m tests.service.storm --kills 2 --workers-killed 4 --where budget.db

What is killed is a worker, the dispatcher, the template of its readers, or a reader, which takes one answer with it
if it reads then: the question is given up, and asked again, three times at most. The owner resets what waits then.
Each client notes what it asks before, and what it was given after. At the end everything is asked once more, and
compared with the ledger. Figures are printed as JSON; the exit code is 1 unless nothing was unpaid, nothing was
charged or answered twice, no failure was forgotten or answered, every reply under one Idempotency-Key was the same,
and nothing else failed.
"""

import argparse
import json
import os
import random
import signal
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from fractions import Fraction
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any

from discreet.errors import DiscreetError
from discreet.ledger import Ledger
from discreet.ledger.toml_budgets import configuration, open_described
from discreet.service.asking.tokens import read_expiry, tokens_beside

from ..storm import fast_place, on_a_server, told
from .running import STOPPED, Running

CLIENTS = 8
TEAMS = ("a", "b", "c", "d")
"""Analysts, each with two clients, which ask for the same at the same time."""

WORKERS = ("--workers", "2", "--readers", "1")
ALONE = ("--readers", "1")
ROUNDS = 5
"""So many kills of the service are of one with workers, which is slow to start."""

RETRIED = (402, 429, 500, 503)
"""What may be told for a while; a failure that was stored is told for ever."""

WAITS, NO_MORE = b"questions were given up", b"so it is not read again"
"""Words to an analyst whose questions wait for the next reset, and of a question that was read three times."""

FINAL = b"gives the same error again"

COST = Fraction(1, 10**6)
RATE = 100
"""Requests of one token."""

FAILED = ("unpaid", "twice", "differ", "forgotten", "failed", "amiss")

_ANALYST = """
[analysts.{team}]
datasets = ["people"]
share = {{ epsilon = "250" }}
"""
_TEXT = """
ledger = "{ledger}"

[datasets.people]
source = "people.csv"
budget = {{ epsilon = "1000" }}
max_failures = 1000
answers_after = "{after}"
columns.age = {{ type = "integer", minimum = 0, maximum = 99 }}
questions.age = {{ verb = "mode", column = "age", epsilon = "{cost}" }}
"""
_ASKED: dict[str, Any] = {"question": "age"}
# So little is paid that all answers are about as likely, and two draws are seldom alike.


class Storm:
    """One service, its clients, and what they note.

    Args:
        ledger: where the ledger is.
        folder: for the description, the data and the logs.
        after: when answers leave.
    """

    clients = CLIENTS
    """How many clients there are."""

    def __init__(self, ledger: str, folder: Path, after: str = "0s") -> None:
        self._folder = folder
        text = _TEXT.format(ledger=ledger, cost=COST, after=after)
        text += "".join(_ANALYST.format(team=team) for team in TEAMS)
        (folder / "discreet.toml").write_text(text)
        (folder / "people.csv").write_text("age\n1\n2\n3\n")
        declared = configuration(folder / "discreet.toml")
        for team in (None, *TEAMS):
            open_described(declared, "people", team)
        self._ledger, self._tokens = declared.ledger, tokens_beside(declared.path)
        self._lock = threading.Lock()
        self.asked: dict[str, list[str]] = {team: [] for team in TEAMS}
        self.given: dict[tuple[str, str], set[bytes]] = defaultdict(set)
        self.finals: dict[tuple[str, str], set[bytes]] = defaultdict(set)
        self.counts: Counter[str] = Counter()
        self.failures: list[str] = []
        self.lost_answers: set[tuple[str, str]] = set()
        self.service = Running(folder)
        self.over = threading.Event()

    def client(self, number: int) -> Any:
        """Return a client of a team."""
        return Client(self, TEAMS[number % len(TEAMS)], random.Random(number))

    def token(self, team: str) -> str:
        """Make a token."""
        return self._tokens.create("analyst", team, read_expiry("1d"))[0]

    def noted(self, team: str, key: str, status: int, body: bytes) -> None:
        """Note what a client was told."""
        with self._lock:
            self.counts[f"status {status}"] += 1
            if status == 200:
                self.given[team, key].add(_without_spaces(body))
            elif FINAL in body:
                self.finals[team, key].add(_without_spaces(body))
            elif NO_MORE in body:
                self.lost_answers.add((team, key))
            elif WAITS in body:
                Ledger(self._ledger).reset_delays("people", analyst=team)
                self.counts["resets"] += 1
            elif status not in RETRIED:
                self.failures.append(f"{status} {body[:300]!r}")

    def lost(self) -> None:
        """Note a request that got no reply."""
        with self._lock:
            self.counts["replies lost"] += 1

    def rage(self, kills: int, workers_killed: int) -> None:
        """Let clients ask, and kill: at first workers, and the service with them; then a service that has none."""
        dice, rounds = random.Random(6), min(kills, ROUNDS) if workers_killed else 0
        each = -(-workers_killed // max(1, rounds))
        threads = [threading.Thread(target=self.client(n).rage) for n in range(CLIENTS)]
        for turn in range(kills):
            self._start(turn < rounds)
            for thread in threads if turn == 0 else ():
                thread.start()
            self._await_answer()
            if turn < rounds:
                self._kill_workers(min(each, workers_killed - each * turn), dice)
            time.sleep(dice.uniform(0, 0.5))
            self.service.kill()
            self.counts["kills of the service"] += 1
        self._start(False)
        self._await_answer()
        self.over.set()
        for thread in threads:
            thread.join()

    def _start(self, with_workers: bool) -> None:
        options = WORKERS if with_workers else ALONE
        self.service = Running(self._folder, *options, port=self.service.port).start()
        self.service.wait()

    def end(self) -> None:
        """Leave nothing running."""
        self.over.set()
        if self.service.runs:
            self.service.kill()

    def _kill_workers(self, count: int, dice: random.Random) -> None:
        for turn in range(count):
            if turn % 20 == 0:
                self._await_answer()
            time.sleep(dice.uniform(0, 0.2))
            while not (found := self.service.workers()):
                time.sleep(0.01)
            with suppress(ProcessLookupError):  # it ended meanwhile with one that was killed
                os.kill(dice.choice(found), signal.SIGKILL)
                self.counts["kills of workers"] += 1

    def _await_answer(self) -> None:
        """Wait until a client got an answer, or too long."""
        before, until = self.counts["status 200"], time.monotonic() + 120
        while self.counts["status 200"] == before:
            if time.monotonic() > until:
                self.failures.append("no answer for two minutes")
                return
            time.sleep(0.005)

    def figures(self) -> dict[str, Any]:
        """Ask everything once more, compare with the ledger, and count."""
        with ThreadPoolExecutor(self.clients) as pool:
            list(pool.map(lambda n: self.client(n).insist(), range(self.clients)))
        code = self.service.stop()
        ledger = Ledger(self._ledger)
        history = [event for event in ledger.history() if event.request is not None]
        counted = Counter((e.kind, e.analyst, e.request) for e in history)
        stored = {
            (e.analyst, e.request): _values(e.body["answer"])
            for e in history
            if e.kind == "answered"
        }
        finals = {(e.analyst, e.request) for e in history if e.kind == "failed"}
        charged = sum(kind == "charged" for kind, _, _ in counted)
        answers = {
            of: {_values(json.loads(body)["value"]) for body in each}
            for of, each in self.given.items()
        }
        return {
            **self.counts, "requests": sum(map(len, self.asked.values())),
            "unpaid": sum(
                ("charged", *of) not in counted or of not in stored for of in self.given
            ),
            "twice": sum(count > 1 for count in counted.values()),
            "failures": len(finals), "given up three times": len(self.lost_answers),
            "forgotten": sum(of not in finals or of in self.given for of in self.finals)
            + len(finals & {*stored}),
            "differ": sum(len(b) > 1 for of in (self.given, self.finals) for b in of.values())
            + sum(values != {stored.get(of)} for of, values in answers.items()),
            "failed": self.failures + ([] if code in STOPPED else [f"it ended with {code}"]),
            "amiss": _amiss(ledger, charged),
        }  # fmt: skip


class Client:
    """Asks one question after the other, and every third time one that was asked before."""

    def __init__(self, storm: Storm, team: str, dice: random.Random) -> None:
        self._storm, self._team, self._dice = storm, team, dice
        self._calls, self._token = 0, ""
        self._http = HTTPConnection("127.0.0.1", storm.service.port, timeout=30)

    def rage(self) -> None:
        """Ask until it is over."""
        while not self._storm.over.is_set():
            known = self._storm.asked[self._team]
            if known and self._dice.random() < 1 / 3:
                key = self._dice.choice(known[-20:])
            else:
                key = f"{self._dice.randrange(2**60):x}"
                known.append(key)
            while (
                not self.ask(key) and self._dice.random() < 0.98 and not self._storm.over.is_set()
            ):
                pass

    def insist(self) -> None:
        """Ask what was not answered, and what was lately, until there is an answer."""
        asked = self._storm.asked[self._team]
        settled = {*self._storm.given, *self._storm.finals, *self._storm.lost_answers}
        unanswered = [key for key in asked if (self._team, key) not in settled]
        for key in {*unanswered, *asked[-100:]}:
            if not any(self.ask(key) for _ in range(100)):
                self._storm.failures.append(f"{key} is not answered")

    def ask(self, key: str) -> bool:
        """Ask once; return whether there was an answer."""
        if self._calls % RATE == 0:
            self._token = self._storm.token(self._team)
        self._calls += 1
        headers = {
            "Authorization": f"Bearer {self._token}", "Idempotency-Key": key, "Content-Type": "application/json",
        }  # fmt: skip
        try:
            self._http.request("POST", "/v1/answers", json.dumps(_ASKED), headers)
            reply = self._http.getresponse()
            body = reply.read()
        except (OSError, HTTPException):
            self._http.close()
            self._storm.lost()
            time.sleep(0.5)
            return False
        self._storm.noted(self._team, key, reply.status, body)
        is_settled = reply.status == 200 or FINAL in body or NO_MORE in body
        if not is_settled:
            time.sleep(0.2)
        return is_settled


def _without_spaces(body: bytes) -> bytes:
    """Return a reply without its padding."""
    return body.rstrip(b" ")


def _values(plain: Any) -> tuple[int, ...]:
    """Return the draws of an answer, in which a single one stands alone."""
    return tuple(map(_number, plain if isinstance(plain, list) else [plain]))


def _number(plain: Any) -> int:
    return int(plain, 16) if isinstance(plain, str) else int(plain)


def _amiss(ledger: Ledger, draws: int) -> list[str]:
    """Return what is wrong with the ledger as a whole."""
    wrong = []
    try:
        ledger.verify()
    except DiscreetError as error:
        wrong.append(str(error))
    spent = [budget.spent.epsilon or 0 for budget in ledger.budgets() if budget.analyst is not None]
    if sum(spent) != draws * COST:
        wrong.append("what was spent is not what was charged")
    return wrong


def storm(
    ledger: str, place: Path | None, *, kills: int, workers_killed: int, after: str = "0s"
) -> dict[str, Any]:
    """Return the figures of one storm, in a folder of its own in that place."""
    with tempfile.TemporaryDirectory(dir=place) as folder:
        over = Storm(ledger, Path(folder), after)
        begun = time.monotonic()
        try:
            over.rage(kills, workers_killed)
            return {**over.figures(), "seconds": round(time.monotonic() - begun)}
        finally:
            over.end()


def main() -> int:
    """Run the storm where it is asked for, or on a file and on a server; print the figures."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--kills", type=int, default=50)
    options.add_argument("--workers-killed", type=int, default=1000)
    options.add_argument("--after", default="0s", help="when answers leave")
    options.add_argument("--where", help="a URL or a path; else a file and a server")
    said = vars(options.parse_args())
    where = said.pop("where")
    storms = _storms(said) if where is None else [(where, storm(where, None, **said))]
    return told(storms, FAILED)


def _storms(counts: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the figures of a file and of a server."""
    yield "SQLite", storm("budget.db", fast_place(), **counts)
    yield from on_a_server(lambda url: storm(url, None, **counts))


if __name__ == "__main__":
    sys.exit(main())
