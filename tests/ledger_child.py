"""Processes for the tests of the ledger: `python -m tests.ledger_child COMMAND WHERE ...`, results as JSON.

They are processes of their own because they fork and are killed, which a process with threads cannot bear.
"""

import json
import multiprocessing
import os
import random
import signal
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from fractions import Fraction
from functools import partial
from typing import Any

from sqlalchemy import Engine, event

from discreet.errors import Exhausted, LedgerError, Unanswerable
from discreet.ledger import Ledger
from discreet.ledger.failed_questions import QuestionFailed
from discreet.ledger.schema import Statement
from discreet.ledger.store import Store
from discreet.ledger.transaction import KnownState
from discreet.selection.payment import Bill

from .ledgers import answering, bill

COST = Fraction(1, 10**6)


def together(count: str, name: str, *arguments: str) -> list[Any]:
    """Run a command in so many forks, which begin at the same moment; return what they return."""
    stopped, go = os.pipe()
    pipes = [os.pipe() for _ in range(int(count))]

    def running(told: int) -> int:
        def begin() -> None:
            os.close(go)
            os.write(told, b"\n")
            os.read(stopped, 1)  # returns when nobody can write any more

        _written(told, json.dumps(COMMANDS[name](*arguments, begin)))
        return 0

    children = [_forked(partial(running, told)) for _, told in pipes]
    for listening, told in pipes:
        os.close(told)
        assert os.read(listening, 1) == b"\n"
    os.close(go)
    results = []
    for listening, _ in pipes:
        with os.fdopen(listening) as pipe:
            results.append(json.load(pipe))
    assert [os.waitstatus_to_exitcode(os.waitpid(each, 0)[1]) for each in children] == [0] * len(
        pipes
    )
    return results


def spend(where: str, cost: str, begin: Callable[[], None]) -> list[Any]:
    """Buy until the budget is gone; return the answers."""
    session = Ledger(where).session("adult")
    begin()
    answers: list[Any] = []
    try:
        while True:
            answers.append(session.buy(bill(cost), answering(os.getpid())))
    except Exhausted:
        return answers


def race(where: str, request: str, begin: Callable[[], None]) -> Any:
    """Ask the same as all others; return the answer."""
    session = Ledger(where).session("adult")
    begin()
    return session.buy(bill("1/4", request), answering(os.getpid()))


def fork(where: str) -> list[int]:
    """Buy halves of a budget of 1 in four forks of a ledger that is open; return their exit codes."""
    ledger = Ledger(where)
    session = ledger.session("adult")

    def child() -> int:
        try:
            session.buy(bill("1/2"), answering(0))
        except Exhausted:
            return 3
        return 0

    children = [_forked(child) for _ in range(4)]
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    assert ledger.verify().events == 5
    return sorted(codes)


def fork_busy(where: str, count: str) -> list[int]:
    """Fork so many times while a thread is buying; each child buys, and has one that does. Return exit codes.

    A fork waits for the transactions of all threads, so a child finds none that nobody will end.
    """
    session = Ledger(where).session("adult")
    over = threading.Event()

    def busy() -> None:
        while not over.is_set():
            session.buy(bill(COST), answering(0))

    def child(generations: int) -> int:
        signal.alarm(60)  # ends whoever is blocked
        try:
            session.buy(bill(COST), answering(0))
            Ledger(where).budgets()
        except LedgerError:
            return 3
        if not generations:
            return 0
        born = _forked(lambda: child(generations - 1))
        return os.waitstatus_to_exitcode(os.waitpid(born, 0)[1])

    thread = threading.Thread(target=busy)
    thread.start()
    children = [_forked(lambda: child(1)) for _ in range(int(count))]
    codes = [os.waitstatus_to_exitcode(os.waitpid(each, 0)[1]) for each in children]
    over.set()
    thread.join()
    return codes


def close_all_the_while(where: str, count: str, begin: Callable[[], None]) -> int:
    """Buy so many times while a thread opens, reads and closes the file; return how many answers there are."""
    session = Ledger(where).session("adult")
    over = threading.Event()

    def reading() -> None:
        while not over.is_set():
            with open(where, "rb") as file:
                file.read(1)

    begin()
    thread = threading.Thread(target=reading)
    thread.start()
    try:
        return sum(session.buy(bill(COST), answering(1)) == 1 for _ in range(int(count)))
    finally:
        over.set()
        thread.join()


def pooled(where: str, method: str) -> list[int]:
    """Buy in processes of a pool that were started in that way."""
    session = Ledger(where).session("adult")
    session.buy(bill(COST), answering(1))
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(method)) as pool:
        return list(pool.map(_bought, [where] * 4))


def _bought(where: str) -> int:
    answer = Ledger(where).session("adult").buy(bill(COST), answering(1))
    assert isinstance(answer, int)
    return answer


def fork_memory(_: str) -> int:
    """Use a ledger in memory after a fork; return the exit code."""
    ledger = Ledger()
    ledger.open("adult", epsilon=1)

    def child() -> int:
        try:
            ledger.budgets()
        except LedgerError as error:
            return 7 if "after a fork" in str(error) else 8
        return 0

    code = os.waitstatus_to_exitcode(os.waitpid(_forked(child), 0)[1])
    assert len(ledger.budgets()) == 1
    return code


def _forked(work: Callable[[], int]) -> int:
    child = os.fork()
    if child:
        return child
    try:
        os._exit(work())
    finally:
        os._exit(99)


class Crash:
    """Forks that make one release each and are killed in it, at a step or at a time."""

    def __init__(self, where: str) -> None:
        self.where = where
        self.seen: dict[str, list[str]] = {"drawn": [], "given": []}

    def release(
        self, request: str, step: Callable[[], None], tell: Callable[[str, int], None]
    ) -> None:
        """Make one release; `step` is called wherever the process may die."""
        _step_at_every_statement(step)

        def prepare() -> Callable[[], int]:
            step()

            def draw() -> int:
                step()
                drawn = random.SystemRandom().randrange(2**40)
                tell("drawn", drawn)
                step()
                return drawn

            return draw

        answer = Ledger(self.where).session("adult").buy(bill(COST, request), prepare)
        step()
        assert isinstance(answer, int)
        tell("given", answer)
        step()

    def batch(
        self, request: str, step: Callable[[], None], tell: Callable[[str, int], None]
    ) -> None:
        """Make two releases in one batch; `step` is called wherever the process may die."""
        _step_at_every_statement(step)

        def prepare() -> Callable[[], int]:
            step()

            def draw() -> int:
                drawn = random.SystemRandom().randrange(2**40)
                tell("drawn", drawn)
                step()
                return drawn

            return draw

        session = Ledger(self.where).session("adult")
        answers = session.buy_batch([(one, prepare) for one in _batch_of(request)])
        step()
        for answer in answers:
            assert isinstance(answer.indices, int)
            tell("given", answer.indices)
            step()

    def batch_at_step(self, request: str, n: int) -> dict[str, Any]:
        """Kill a batch at its n-th step, and buy it again."""
        left = [n]

        def step() -> None:
            left[0] -= 1
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)

        return self._run(request, step, None, self.batch, self._batch_again)

    def _batch_again(self, request: str) -> dict[str, Any]:
        """Return what the crash left, and buy the batch again."""
        names = {one.request for one in _batch_of(request)}
        ledger, drawn = Ledger(self.where), list[int]()
        left = [event.kind for event in ledger.history() if event.request in names]

        def draw() -> int:
            drawn.append(random.SystemRandom().randrange(2**40))
            return drawn[-1]

        orders = [(one, lambda: draw) for one in _batch_of(request)]
        answers = ledger.session("adult").buy_batch(orders)
        return {"left": left, "answers": [answer.indices for answer in answers], "drawn": drawn}

    def failure(
        self, request: str, step: Callable[[], None], tell: Callable[[str, int], None]
    ) -> None:
        """Ask one question that fails because of the data; `step` is called wherever the process may die."""
        _step_at_every_statement(step)

        def prepare() -> Callable[[], int]:
            step()

            def draw() -> int:
                tell("drawn", 0)
                step()
                raise QuestionFailed(Unanswerable("because of the data"))

            return draw

        try:
            Ledger(self.where).session("adult").buy(bill(COST, request), prepare)
        except Unanswerable:
            step()
            tell("given", 0)
            step()

    def failure_at_step(self, request: str, n: int) -> dict[str, Any]:
        """Kill a question that fails at its n-th step, and ask again what could be answered by now."""
        left = [n]

        def step() -> None:
            left[0] -= 1
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)

        return self._run(request, step, None, self.failure)

    def at_step(self, request: str, n: int) -> dict[str, Any]:
        """Kill the release at its n-th step."""
        left = [n]

        def step() -> None:
            left[0] -= 1
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)

        return self._run(request, step, None)

    def at_time(self, request: str, seconds: float) -> dict[str, Any]:
        """Kill the release after that time."""
        return self._run(request, lambda: None, seconds)

    def _run(
        self,
        request: str,
        step: Callable[[], None],
        seconds: float | None,
        work: Callable[..., None] | None = None,
        again: Callable[[str], dict[str, Any]] | None = None,
    ) -> dict[str, Any]:
        reading, writing = os.pipe()

        def child() -> int:
            (work or self.release)(
                request, step, lambda kind, n: _written(writing, f"{kind} {n}\n")
            )
            return 0

        pid = _forked(child)
        os.close(writing)
        if seconds is not None:
            time.sleep(seconds)
            os.kill(pid, signal.SIGKILL)
        with os.fdopen(reading) as pipe:
            lines = [line.split() for line in pipe]
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        told: dict[str, Any] = {"request": request, "code": code, "drawn": [], "given": []}
        for kind, n in lines:
            told[kind].append(int(n))
        return {**told, "again": (again or self._again)(request)}

    def _again(self, request: str) -> dict[str, Any]:
        """Ask again after the crash."""
        drawn: list[int] = []

        def draw() -> int:
            drawn.append(random.SystemRandom().randrange(2**40))
            return drawn[-1]

        answer: Any = None
        with suppress(Unanswerable):
            answer = Ledger(self.where).session("adult").buy(bill(COST, request), lambda: draw)
        return {"answer": answer, "drawn": drawn}


def _batch_of(request: str) -> list[Bill]:
    """Return the bills of a batch of two."""
    return [bill(COST, f"{request} first"), bill(COST, f"{request} second")]


def _written(pipe: int, line: str) -> None:
    os.write(pipe, line.encode())


def _step_at_every_statement(step: Callable[[], None]) -> None:
    """Call `step` before every statement, before every commit, and after every transaction."""
    event.listen(Engine, "commit", lambda _: step())
    for name in ("run", "run_on"):
        setattr(Statement, name, _stepping(getattr(Statement, name), before=step))
    KnownState.settle = _stepping(KnownState.settle, before=step)  # type: ignore[method-assign]
    Store._run = _stepping(Store._run, after=step)  # type: ignore[method-assign]


def _stepping(
    method: Callable[..., Any],
    before: Callable[[], None] = lambda: None,
    after: Callable[[], None] = lambda: None,
) -> Callable[..., Any]:
    """Return a method with steps around it. A transaction settles what it knows before it is committed."""

    def stepping(*args: Any, **values: Any) -> Any:
        before()
        outcome = method(*args, **values)
        after()
        return outcome

    return stepping


def crash_at_steps(where: str, rounds: str) -> list[dict[str, Any]]:
    """Kill releases at step 1, 2, 3 ... until one lives; so many times over."""
    crash = Crash(where)
    told: list[dict[str, Any]] = []
    for turn in range(int(rounds)):
        n = 0
        while not told or told[-1]["code"] or n == 0:
            n += 1
            told.append(crash.at_step(f"{turn}-{n}", n))
    return told


def fail_at_steps(where: str, rounds: str) -> list[dict[str, Any]]:
    """Kill questions that fail at step 1, 2, 3 ... until one lives; so many times over."""
    crash = Crash(where)
    told: list[dict[str, Any]] = []
    for turn in range(int(rounds)):
        n = 0
        while not told or told[-1]["code"] or n == 0:
            n += 1
            told.append(crash.failure_at_step(f"{turn}-{n}", n))
    return told


def batches_at_steps(where: str, rounds: str) -> list[dict[str, Any]]:
    """Kill batches at step 1, 2, 3 ... until one lives; so many times over."""
    crash = Crash(where)
    told: list[dict[str, Any]] = []
    for turn in range(int(rounds)):
        n = 0
        while not told or told[-1]["code"] or n == 0:
            n += 1
            told.append(crash.batch_at_step(f"{turn}-{n}", n))
    return told


def crash_at_times(where: str, count: str, longest: str) -> list[dict[str, Any]]:
    """Kill releases at random times up to so many seconds."""
    crash, dice = Crash(where), random.Random(3)
    return [crash.at_time(f"t{i}", dice.uniform(0, float(longest))) for i in range(int(count))]


_ALL: list[Callable[..., Any]] = [
    together, spend, race, fork, fork_busy, fork_memory, close_all_the_while, pooled, crash_at_steps,
    crash_at_times, fail_at_steps, batches_at_steps,
]  # fmt: skip
COMMANDS = {command.__name__: command for command in _ALL}

if __name__ == "__main__":
    print(json.dumps(COMMANDS[sys.argv[1]](*sys.argv[2:])))
