"""The processes of a trial: readers that ask without a ledger, and busy ones beside them.

Nothing leaves a reader but how long it read, how long it computed, and the class of an error.
"""

import json
import os
import signal
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from math import inf
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, NoReturn, Self

from ...base.error_boundary import Notice
from ...errors import LedgerUnwritable
from ...selection.payment import PrepareDraw
from ...selection.verb_calls import Call
from ...tables.datasets.configuration import Configuration
from ..asking.dearest_questions import DearQuestion, Duration
from ..asking.isolation import error_for_owner
from ..queue.reader import collect_no_more, read_again, warm_up
from ..queue.resources import (
    ONE_THREAD,
    ReaderLimits,
    reader_limits,
    set_limits,
    stop_databases_after,
)
from .lifelines import end_with

_CONTEXT = get_context("spawn")
_STARTING = 300.0
"""Seconds in which a reader must be ready."""


@dataclass(frozen=True, slots=True)
class Load:
    """The load under which questions are tried.

    Attributes:
        readers: how many ask at the same time.
        workers: how many processes are busy beside them.
        cores: how many cores there are.
    """

    readers: int
    workers: int
    cores: int


class _DrawnNotice(Notice):
    """Raised in place of an answer that is thrown away."""


class DiscardingAccount:
    """An account without charges, which throws each draw away.

    Args:
        currency: the unit in which the budget of the dataset is declared.

    Attributes:
        duration: how long the last reading took, from where a charge would be durable to the draw.
    """

    __slots__ = ("currency", "duration")

    def __init__(self, currency: str) -> None:
        self.currency, self.duration = currency, Duration(0.0, 0.0)

    def buy(self, bill: object, prepare: PrepareDraw) -> NoReturn:
        """Draw, and throw that away."""
        seconds, processor = perf_counter(), process_time()
        try:
            prepare()()
        finally:
            self.duration = Duration(perf_counter() - seconds, process_time() - processor)
        raise _DrawnNotice


def measure(call: Call, dataset: Any, currency: str) -> Duration:
    """Return how long a question takes."""
    account = DiscardingAccount(currency)
    try:
        call.about(dataset).ask(ledger=account)
    except _DrawnNotice:
        return account.duration
    except Exception as error:
        failure = type(error_for_owner(error)).__name__
    else:
        failure = "InvalidArgument"  # a verb that buys nothing
    return account.duration._replace(failure=failure)


def _read(connection: Connection, path: str, limits: ReaderLimits, parent: int) -> None:
    """Measure each question that comes, until the other end is closed."""
    end_with(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    set_limits(limits)
    warnings.simplefilter("ignore")
    description = read_again(Path(path))
    warm_up()
    collect_no_more()
    connection.send_bytes(b"[]")
    with suppress(EOFError):
        while True:
            question, clock = connection.recv()
            stop_databases_after(clock)
            data = description.datasets[question.dataset]
            currency = _currency(description.budgets.get(question.dataset, {}))
            connection.send_bytes(json.dumps(measure(question.call, data, currency)).encode())


def _be_busy(parent: int) -> None:
    """Take a core for ever."""
    end_with(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True:
        pass


def _currency(terms: Mapping[str, Any]) -> str:
    """Return the unit that a declared budget counts."""
    if "rho" in terms or terms.get("delta_for") == "composition":
        return "rho"
    return "epsilon and delta" if "delta" in terms else "epsilon"


@dataclass(slots=True)
class TrialProcesses:
    """The processes of a trial, which end with a block.

    Attributes:
        description: the description.
        load: how many there are.
    """

    description: Configuration
    load: Load
    _busy: list[Any] = field(default_factory=list)
    _readers: list[tuple[Any, Connection]] = field(default_factory=list)

    def ask(self, question: DearQuestion, clock: float) -> Iterator[Duration]:
        """Ask in all readers at once, and yield how long each took; infinite for one that did not end in time."""
        for _, connection in self._readers:
            connection.send((question, clock))
        for place, (process, connection) in enumerate(self._readers):
            if connection.poll(clock):
                yield Duration(*json.loads(connection.recv_bytes()))
            else:
                _end(process, connection)
                self._readers[place] = self._start_reader()
                yield Duration(inf, inf)

    def __enter__(self) -> Self:
        try:
            for _ in range(self.load.workers):
                busy = _CONTEXT.Process(target=_be_busy, args=(os.getpid(),), daemon=True)
                busy.start()
                self._busy.append(busy)
            for _ in range(self.load.readers):
                self._readers.append(self._start_reader())
        except BaseException:
            self.__exit__()
            raise
        return self

    def _start_reader(self) -> tuple[Any, Connection]:
        """Return a reader that is ready, and the connection to it."""
        ours, theirs = _CONTEXT.Pipe()
        arguments = theirs, str(self.description.path), reader_limits(self.description), os.getpid()
        process = _CONTEXT.Process(target=_read, args=arguments, daemon=True)
        with theirs, _environment(ONE_THREAD):
            process.start()
        is_ready = False
        with suppress(EOFError):
            is_ready = ours.poll(_STARTING) and ours.recv_bytes() == b"[]"
        if not is_ready:
            _end(process, ours)
            raise LedgerUnwritable("no process can be started that reads the data")
        return process, ours

    def __exit__(self, *_: object) -> None:
        for process in self._busy:
            _end(process)
        for process, connection in self._readers:
            _end(process, connection)


def _end(process: Any, connection: Connection | None = None) -> None:
    """End a process at once."""
    process.kill()
    process.join()
    if connection is not None:
        connection.close()


@contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Set variables of the environment for the processes that are started in a block."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
