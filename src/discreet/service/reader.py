"""A process that reads data: it answers one question after the other, in their places of the timetable.

It is forked from a template without data (`reader_template`), and gets its questions over a socket, as lines of
JSON, from the dispatcher. It replies with lines too: that it is ready, that a question was charged, that its answer
was drawn, and the answer. Without turns it waits after the charge for a line that lets it read. It ends with the
other end of the socket.
"""

import gc
import json
import os
import signal
import socket
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import sha256
from math import ceil
from pathlib import Path
from time import monotonic, sleep
from typing import Any, Protocol

from ..account import Indices
from ..datasets.configuration import Configuration, read_configuration
from ..errors import LedgerBusy, LedgerUnwritable
from ..node.allowed_questions import Prepare, charge_first, charge_unread
from ..node.datasets import Datasets
from ..node.isolation import Failure, call_isolated, isolated, translation_for
from ..releases import Release
from ..verbs.mode import mode
from . import wire
from .operations import READING
from .permissions import hold, rights_of
from .reader_limits import ReaderLimits, set_limits
from .tokens import tokens_beside

_RECORDINGS = 10
"""How often a failure is recorded again while the ledger is busy, which each waits for."""

Report = Callable[[dict[str, Any]], object]
"""Sends a line to the dispatcher."""

Permit = Callable[[], object]
"""Waits until the dispatcher lets this process read, which reads in no place of a timetable."""


class AnswerFunction(Protocol):
    """Answers questions."""

    def __call__(
        self, line: dict[str, Any], report: Report, permit: Permit = ...
    ) -> dict[str, Any]:
        """Return the answer to a question, and report its steps."""
        ...


@dataclass(frozen=True, slots=True)
class ReaderSettings:
    """The settings of a reader.

    Attributes:
        path: the description.
        digest: that of its text; while the file has another, questions are refused.
        limits: the limits of the process.
    """

    path: str
    digest: str
    limits: ReaderLimits


def _permit_at_once() -> None:
    """Return at once."""


@dataclass(slots=True)
class Pace:
    """The times of a question: when it is charged, and when its outcome may be stored.

    A charge that waits for the ledger is late by whole turns, and so is all that follows: so no other use of the
    ledger takes from the time in which the data are read.

    Attributes:
        report: sends a line to the dispatcher.
        charge_by: until when the charge must be committed; later, the question is late by whole turns.
        store_at: when the outcome may be stored; None for as soon as it is there.
        turn: the seconds of a turn.
        limit: the seconds in which the outcome must be there, from the charge on.
        permit: waits until this one may read, where no place says when.
        now: returns seconds that never go back, the same in all processes.
        wait: waits for so many seconds.
    """

    report: Report
    charge_by: float
    store_at: float | None
    turn: float
    limit: float
    permit: Permit = _permit_at_once
    now: Callable[[], float] = monotonic
    wait: Callable[[float], None] = sleep
    _late_turns: int = field(default=0, init=False)

    def begin(self) -> None:
        """Report that the charge is committed. The kernel ends this process if no other one does in time."""
        time = self.now()
        if self.store_at is not None:
            self._late_turns = max(0, ceil((time - self.charge_by) / self.turn))
            signal.setitimer(signal.ITIMER_REAL, self.limit + self.turn)
        self.report({"step": "charged", "at": time, "late_turns": self._late_turns})
        if self.store_at is None:
            self.permit()

    def finish(self) -> None:
        """Report that the outcome is there, and wait until it may be stored, where that has a time."""
        if self.store_at is not None:
            signal.setitimer(signal.ITIMER_REAL, 0)
        self.report({"step": "drawn"})
        if self.store_at is None:
            return
        time_to_store = self.store_at + self._late_turns * self.turn
        self.wait(max(0.0, time_to_store - self.now()))


def answering(description: Configuration, datasets: Datasets) -> AnswerFunction:
    """Return the function that answers questions about datasets."""
    tokens = tokens_beside(description.path)

    def answer(
        line: dict[str, Any], report: Report, permit: Permit = _permit_at_once
    ) -> dict[str, Any]:
        def release() -> Release:
            rights = replace(
                rights_of(datasets, description, line["role"], line["analyst"]),
                beginning=line["beginning"], stored_at=line["stored_at"], charges_first=True,
                wrap=_wrap_of(line, report, permit),
                reads=line["pace"] is not None, check_again=partial(tokens.check, line["token"]),
            )  # fmt: skip
            operation = next(one for one in READING if one.name == line["operation"])
            operation.audience.check(line["role"])
            arguments = operation.check(operation.read(line["arguments"]))
            outcome: Release = operation.bound(rights)(**arguments)
            return outcome

        # Whatever fails here is an answer: else the process would end, and a question that read no data be charged.
        translate = translation_for(line["role"] == "owner")
        outcome = call_isolated(isolated(release, translate))
        # A failure that a busy ledger did not take would leave no event, and its repetition would read again.
        for _ in range(0 if line["pace"] is not None else _RECORDINGS):
            if not (isinstance(outcome, Failure) and isinstance(outcome.error, LedgerBusy)):
                break
            outcome = call_isolated(isolated(release, translate))
        return wire.write_answer(outcome)

    return answer


def _wrap_of(line: dict[str, Any], report: Report, permit: Permit) -> Any:
    """Return the wrapper of the reading: for a question after the end of its reader no data are read."""
    if line["pace"] is None:
        return partial(fail_at, line["store_at"])
    pace = Pace(report, store_at=line["store_at"], permit=permit, **line["pace"])
    return charge_first(pace.begin, pace.finish)


def fail_at(store_at: float | None, prepare: Prepare) -> Prepare:
    """Return a function that reads no data; its draw fails at a time: as a question that was read fails."""
    failing = charge_unread(prepare)

    def prepare_wrapped() -> Callable[[], Indices]:
        draw = failing()

        def draw_later() -> Indices:
            if store_at is not None:
                sleep(max(0.0, store_at - monotonic()))
            return draw()

        return draw_later

    return prepare_wrapped


def read_again(path: Path) -> Configuration:
    """Return a description without warnings: they were given when the service started."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return read_configuration(path)


def file_digest(path: Path) -> str:
    """Return the digest of a description file."""
    return sha256(path.read_bytes()).hexdigest()


def read_for(dispatcher: socket.socket, settings: ReaderSettings) -> None:
    """Answer every question that comes from the dispatcher, until that closes the socket.

    Whoever stops the service stops all its processes, by a signal or with Ctrl-C. This one first answers the
    question that it was sent, and ends with the other end of the socket.
    """
    os.setpgid(0, 0)  # its own children end with it
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, signal.SIG_IGN)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    set_limits(settings.limits)
    path = Path(settings.path)
    answer = _answer_of(path, settings.digest)
    warm_up()
    collect_no_more()

    def report(line: dict[str, Any]) -> None:
        with suppress(
            ConnectionError
        ):  # the dispatcher was killed; what was charged is still stored
            dispatcher.sendall(json.dumps(line).encode() + b"\n")

    with dispatcher, suppress(ConnectionError), dispatcher.makefile("rb") as lines:
        report({"step": "ready", "process": os.getpid()})
        for line in lines:
            answer = answer or _answer_of(path, settings.digest)
            reply = (answer or _refuse_change)(json.loads(line), report, lines.readline)
            report({"answer": reply})


def _answer_of(path: Path, digest: str) -> AnswerFunction | None:
    """Return the function that answers, if the description is that of the service; None while it is edited."""
    if file_digest(path) != digest:
        return None
    description = read_again(path)
    return answering(description, hold(description))


def warm_up() -> None:
    """Answer a question about no data: its imports and caches would take many times as long as a question."""
    mode(["a"], candidates=["a"], epsilon=1)


def collect_no_more() -> None:
    """Leave all that was made so far to the end of the process.

    Collections of garbage would go through it, 190 ms at a time, and free nothing.
    """
    gc.collect()
    gc.freeze()


def _refuse_change(question: dict[str, Any], report: Report, permit: Permit) -> dict[str, Any]:
    """Refuse to answer: the service knows another description than that in the file now."""
    error = LedgerUnwritable(
        "the description was changed; its owner starts the service again, or puts it back as it was"
    )
    return wire.write_answer(Failure(error))
