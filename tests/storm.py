"""A storm over one ledger: processes are killed, forked and interrupted, and others close the file.

    python -m tests.storm                       # a thousand kills, in a file, on a server and in memory
    python -m tests.storm --kills 12 --forks 4 --interrupts 12 --where budget.db

What was drawn and given is noted as it happens, and compared with the ledger at the end. Figures are printed as
JSON; the exit code is 1 unless nothing was unpaid, nothing twice, no retry differs, no child was blocked, no
answer that nobody was given is in a frame, and nothing else failed.
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
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from discreet.errors import DiscreetError
from discreet.ledger import Ledger
from discreet.selection.payment import Indices

from . import postgres
from .ledgers import bill, forgetting
from .reachable_numbers import numbers_in

COST = Fraction(1, 10**6)
BLOCKED = 120.0
"""Seconds after which whoever is not back is blocked; four times the patience of a ledger."""

DRAWN: list[int] = []
"""What this process has drawn. No closure holds it: what is found in a frame has come there otherwise."""

FAILED = ("unpaid", "twice", "differ", "blocked", "leaked", "failed", "amiss")


class Log:
    """Lines that survive the process that writes them."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def note(self, *words: object) -> None:
        os.write(self._file, (" ".join(map(str, words)) + "\n").encode())

    def latest(self) -> list[str]:
        """Return what was asked lately, the latest first."""
        with self._path.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - 2**13))
            lines = file.read().decode().splitlines()[1:]  # the first may be half of one
        return [line.split()[1] for line in reversed(lines) if line.startswith("asked ")]

    def lines(self) -> list[list[str]]:
        return [line.split() for line in self._path.read_text().splitlines()]


class Storm:
    """Processes that buy from one ledger, each in its own trouble."""

    def __init__(self, where: str | None, folder: Path) -> None:
        self.where = where
        self.log = Log(folder / "log")
        self._memory = Ledger() if where is None else None
        self.ledger().open("adult", epsilon=1000)

    def ledger(self) -> Ledger:
        """Open the ledger."""
        return self._memory or Ledger(self.where)

    def buy(self, request: str, ledger: Ledger | None = None) -> None:
        """Ask, and note what is asked, drawn and given."""
        log = self.log

        def draw() -> Indices:
            DRAWN.append(random.SystemRandom().randrange(2**60, 2**61))
            log.note("drawn", request, DRAWN[-1])
            return [DRAWN[-1]]

        log.note("asked", request)
        session = (ledger or self.ledger()).session("adult")
        [answer] = session.buy(bill(COST, request), lambda: draw)  # type: ignore[misc]
        log.note("given", request, answer)

    def victim(self, name: str, again: str | None) -> None:
        """Ask what the one before asked last, and then more and more."""
        with self.closing():
            if again is not None:
                self.buy(again)
            for turn in range(10**9):
                self.buy(f"{name}-{turn}")

    def visitor(self) -> None:
        """Look at the ledger, all of it, again and again."""
        while True:
            ledger = self.ledger()
            ledger.verify()
            ledger.budgets()

    def forker(self, forks: int) -> None:
        """Fork while two threads are buying; each child buys, and so does a child of every third."""
        with self.closing(), self.buying("busy"), self.buying("busier"):
            for turn in range(forks):
                code = ended(forked(lambda turn=turn: self.child(f"fork{turn}", turn % 3 == 0)))  # type: ignore[misc]
                self.log.note("forked" if code == 0 else "blocked", turn, code)

    def child(self, name: str, parent: bool) -> None:
        self.buy(name)
        if parent and (code := ended(forked(lambda: self.child(f"{name}-child", False)))):
            self.log.note("blocked", name, code)

    def struck(self, count: int) -> None:
        """Be interrupted so many times, and look for draws in all that the interrupts hold."""
        ledger, dice, done, turn = self.ledger(), random.Random(5), 0, 0
        kept: list[BaseException] = []
        with self.closing(), alarms() as strike:
            longest = 0.01
            while done < count:
                turn += 1
                begun, request = time.monotonic(), f"struck{turn}"
                try:
                    with strike(dice.uniform(0, longest)):
                        self.buy(request, ledger)
                    longest = max(0.001, 1.2 * (time.monotonic() - begun))
                except KeyboardInterrupt as error:
                    done += 1
                    kept[2:] = [error]  # frames are kept a while, as by a debugger
                    for number in numbers_in(error, below=sys._getframe()) & set(DRAWN):
                        self.log.note("seen", request, number)
                    self.log.note("struck", request)
                if turn % 3 == 0:
                    self.buy(request, ledger)

    @contextmanager
    def closing(self) -> Iterator[None]:
        """Open, read and close the file in a thread of this process, all the while."""

        def work() -> None:
            Path(str(self.where)).read_bytes()
            time.sleep(0.0005)

        if self.where is None or "://" in self.where:
            yield
        else:
            with repeated(self.noted(work)):
                yield

    @contextmanager
    def buying(self, name: str) -> Iterator[None]:
        """Buy in a thread of this process, all the while."""
        turns = iter(range(10**9))
        with repeated(self.noted(lambda: self.buy(f"{name}-{next(turns)}"))):
            yield

    def over(self, kills: int, forks: int, interrupts: int) -> None:
        """Let all of it happen at once, until there was enough of each."""
        begun = time.monotonic()
        self.buy("first")
        release = time.monotonic() - begun
        visitor = forked(self.noted(self.visitor))
        working = [
            forked(self.noted(lambda: self.forker(forks))),
            forked(self.noted(lambda: self.struck(interrupts))),
        ]
        dice, last = random.Random(6), list[str | None]([None, None])
        for turn in range(kills):
            lane = turn % 2
            name = f"victim{turn}"
            process = forked(self.noted(lambda name=name, lane=lane: self.victim(name, last[lane])))  # type: ignore[misc]
            time.sleep(dice.uniform(0, 4 * release))
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
            self.log.note("killed", turn)
            last[lane] = next(
                (one for one in self.log.latest() if one.startswith(f"{name}-")), None
            )
        for process in working:
            if ended(process, patience=3600):
                self.log.note("failed", "worker", "ended")
        os.kill(visitor, signal.SIGKILL)
        os.waitpid(visitor, 0)

    def noted(self, work: Callable[[], None]) -> Callable[[], None]:
        """Return work that notes what it fails of."""

        def noting() -> None:
            try:
                work()
            except BaseException as error:
                self.log.note("failed", type(error).__name__, str(error).replace(" ", "_")[:300])
                raise

        return noting

    def figures(self) -> dict[str, Any]:
        """Compare what was noted with what the ledger says, ask everything again, and count."""
        forgetting()
        ledger = self.ledger()
        lines = self.log.lines()
        before = {e.request: e.body["answer"] for e in ledger.history() if e.kind == "answered"}
        asked = sorted({line[1] for line in lines if line[0] == "asked"})
        for request in asked:
            self.buy(request, ledger)
        lines = self.log.lines()
        given: dict[str, set[int]] = defaultdict(set)
        for line in lines:
            if line[0] == "given":
                given[line[1]].add(int(line[2]))
        events = Counter((e.kind, e.request) for e in ledger.history() if e.request)
        stored = {
            e.request: _number(e.body["answer"]) for e in ledger.history() if e.kind == "answered"
        }
        noted = Counter(line[0] for line in lines)
        charged = sum(kind == "charged" for kind, _ in events)
        seen = [(line[1], int(line[2])) for line in lines if line[0] == "seen"]
        return {
            **{name: noted[name] for name in ("killed", "forked", "struck", "asked", "drawn", "given")},
            "requests": len(asked), "unanswered before they were asked again": len(set(asked) - set(before)),
            "unpaid": sum(("charged", r) not in events or r not in stored for r in given),
            "twice": sum(count > 1 for count in events.values()),
            "differ": sum(answers != {stored.get(r)} for r, answers in given.items())
            + sum(stored[r] != _number(answer) for r, answer in before.items() if r is not None),
            "blocked": noted["blocked"], "leaked": sum(stored.get(r) != number for r, number in seen),
            "failed": [" ".join(line) for line in lines if line[0] == "failed"],
            "amiss": self.amiss(ledger, charged),
        }  # fmt: skip

    def amiss(self, ledger: Ledger, charged: int) -> list[str]:
        """Return what is wrong with the ledger as a whole."""
        wrong = []
        try:
            ledger.verify()
        except DiscreetError as error:
            wrong.append(str(error))
        if ledger.budgets()[0].spent.epsilon != charged * COST:
            wrong.append("what was spent is not what was charged")
        return wrong


def _number(plain: Any) -> int:
    return int(plain[0], 16) if isinstance(plain[0], str) else int(plain[0])


def forked(work: Callable[[], None]) -> int:
    """Return the process that does the work."""
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        work()
        code = 0
    finally:
        os._exit(code)


def ended(process: int, patience: float = BLOCKED) -> int:
    """Return the exit code of a process; one that is blocked is killed."""
    until = time.monotonic() + patience
    while time.monotonic() < until:
        done, status = os.waitpid(process, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    os.kill(process, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


@contextmanager
def repeated(work: Callable[[], None]) -> Iterator[None]:
    """Do this again and again in a thread."""
    over = threading.Event()

    def repeating() -> None:
        while not over.is_set():
            work()

    thread = threading.Thread(target=repeating, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@contextmanager
def alarms() -> Iterator[Callable[[float], Any]]:
    """Yield what interrupts a block after a time."""
    armed = [False]

    def strike(*_: object) -> None:
        if armed[0]:
            armed[0] = False
            raise KeyboardInterrupt

    @contextmanager
    def within(seconds: float) -> Iterator[None]:
        armed[0] = True
        signal.setitimer(signal.ITIMER_REAL, max(1e-6, seconds))
        try:
            yield
        finally:
            armed[0] = False
            signal.setitimer(signal.ITIMER_REAL, 0)

    before = signal.signal(signal.SIGALRM, strike)
    try:
        yield within
    finally:
        signal.signal(signal.SIGALRM, before)


def storm(
    where: str | None, place: Path | None, *, kills: int, forks: int, interrupts: int
) -> dict[str, Any]:
    """Return the figures of one storm, over a file of its own in that place if nothing else is said."""
    with tempfile.TemporaryDirectory(dir=place) as folder:
        over = Storm(str(Path(folder) / "budget.db") if where == "" else where, Path(folder))
        begun = time.monotonic()
        if where is None:
            over.struck(interrupts)
        else:
            over.over(kills, forks, interrupts)
        return {**over.figures(), "seconds": round(time.monotonic() - begun)}


def main() -> int:
    """Run the storm where it is asked for, or everywhere; print the figures."""
    options = argparse.ArgumentParser(description=__doc__)
    for name, count in (("kills", 1000), ("forks", 200), ("interrupts", 1000)):
        options.add_argument(f"--{name}", type=int, default=count)
    options.add_argument("--where", help="a URL or a path; else a file, a server and memory")
    said = vars(options.parse_args())
    where = said.pop("where")
    return told(_storms(said) if where is None else [(where, storm(where, None, **said))])


def told(storms: Iterable[tuple[str, dict[str, Any]]], failed: Iterable[str] = FAILED) -> int:
    """Print the figures of storms, and return 1 if one of them failed, else 0."""
    worst = 0
    for name, found in storms:
        print(json.dumps({"where": name, **found}, indent=1), flush=True)
        worst |= any(found.get(what) for what in failed)
    return int(worst)


def fast_place() -> Path | None:
    """Return where a file is kept in memory, if it can be: syncing takes longest."""
    shared = Path("/dev/shm")
    return shared if os.access(shared, os.W_OK) else None


def on_a_server(
    raging: Callable[[str], dict[str, Any]],
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the figures of a storm on PostgreSQL, or why there is none."""
    try:
        with postgres.server() as url:
            yield "PostgreSQL", raging(postgres.schema(url, "storm"))
    except pytest.skip.Exception as reason:
        yield "PostgreSQL", {"skipped": str(reason)}


def _storms(counts: dict[str, int]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the figures of all kinds of ledgers."""
    yield "SQLite", storm("", fast_place(), **counts)
    yield "memory", storm(None, None, **counts)
    yield from on_a_server(lambda url: storm(url, None, **counts))


if __name__ == "__main__":
    sys.exit(main())
