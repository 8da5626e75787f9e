"""A process that reads data: it answers one question after the other, as the dispatcher says.

It is forked from a template without data (`reader_template`), and gets its questions over a socket, as lines of
JSON. It replies with lines too: that it is ready, that a question was charged, that there is an outcome, and the
answer. It stores an outcome when the dispatcher says under which time. It ends with the other end of the socket.
"""

import gc
import json
import os
import signal
import socket
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from ...errors import LedgerUnwritable
from ...ledger.delays import Timing
from ...selection.releases import Release
from ...tables.datasets.configuration import Configuration, read_configuration
from ...tables.verbs.mode import mode
from ..asking import wire
from ..asking.checkout import charge_first, end_unread
from ..asking.datasets import Datasets, hold
from ..asking.isolation import Failure, call_isolated, isolated, translation_for
from ..asking.operations import READING
from ..asking.rights import rights_of
from ..asking.tokens import tokens_beside
from .resources import ReaderLimits, set_limits, stop_databases_after

Report = Callable[[dict[str, Any]], object]
"""Sends a line to the dispatcher."""

Instruct = Callable[[], dict[str, Any]]
"""Waits for the line that says under which time an outcome is stored."""


AnswerFunction = Callable[[dict[str, Any], Report, Instruct], dict[str, Any]]
"""Returns the answer to a question, and reports its steps."""


@dataclass(frozen=True, slots=True)
class ReaderSettings:
    """The settings of a reader.

    Attributes:
        path: the description.
        digest: that of its text; while the file has another, questions are rejected.
        limits: the limits of the process.
    """

    path: str
    digest: str
    limits: ReaderLimits


@dataclass(slots=True)
class Reading:
    """One reading: its steps are reported, and its processor time is limited.

    Attributes:
        report: sends a line to the dispatcher.
        instruct: waits for the line that says under which time the outcome is stored.
        timing: the times of its events.
        limit: the seconds that it may compute.
    """

    report: Report
    instruct: Instruct
    timing: Timing
    limit: float

    def begin(self) -> None:
        """Report that the charge is durable. The kernel ends this process if it computes for too long."""
        self.report({"step": "charged", "factor": self.timing.factor})
        signal.setitimer(signal.ITIMER_PROF, self.limit)

    def finish(self) -> None:
        """Report that the outcome is there, and wait until it is to be stored."""
        signal.setitimer(signal.ITIMER_PROF, 0)
        self.report({"step": "ended"})
        instruction = self.instruct()
        self.timing.stored_at, self.timing.factor = instruction["stored_at"], instruction["factor"]


def answering(description: Configuration, datasets: Datasets) -> AnswerFunction:
    """Return the function that answers questions about datasets."""
    tokens = tokens_beside(description.path)

    def answer(line: dict[str, Any], report: Report, instruct: Instruct) -> dict[str, Any]:
        record = line.get("record")

        def release() -> Release:
            rights = rights_of(datasets, description, line["role"], line["analyst"])
            timing = Timing("", is_record=record is not None)
            reading = Reading(report, instruct, timing, line["limit"])
            wrap = charge_first(reading.begin, reading.finish)
            if record is not None:
                timing.stored_at, timing.factor = record["stored_at"], record["factor"]
                wrap = end_unread(record["reason"], is_given_up=record["is_given_up"])
            rights = replace(
                rights, beginning=line["beginning"], timing=timing, wrap=wrap,
                check_again=partial(tokens.check, line["token"]),
            )  # fmt: skip
            operation = next(one for one in READING if one.name == line["operation"])
            operation.audience.check(line["role"])
            arguments = operation.check(operation.read(line["arguments"]))
            outcome: Release = operation.bound(rights)(**arguments)
            return outcome

        # Whatever fails here is an answer: else the process would end, and a question that read no data be charged.
        return wire.write_answer(
            call_isolated(isolated(release, translation_for(line["role"] == "owner")))
        )

    return answer


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
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    set_limits(settings.limits)
    path = Path(settings.path)
    answer = _answer_of(path, settings.digest)
    warm_up()
    collect_no_more()

    def report(line: dict[str, Any]) -> None:
        with suppress(ConnectionError):
            dispatcher.sendall(json.dumps(line).encode() + b"\n")

    with dispatcher, suppress(ConnectionError), dispatcher.makefile("rb") as lines:

        def instruct() -> dict[str, Any]:
            line = lines.readline()
            if not line:  # the dispatcher has ended: only it knew when the outcome was to be stored
                os._exit(1)
            instruction: dict[str, Any] = json.loads(line)
            return instruction

        report({"step": "ready", "process": os.getpid()})
        for text in lines:
            answer = answer or _answer_of(path, settings.digest)
            line = json.loads(text)
            stop_databases_after(line["clock"])
            report({"answer": (answer or _refuse_change)(line, report, instruct)})


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


def _refuse_change(line: dict[str, Any], report: Report, instruct: Instruct) -> dict[str, Any]:
    """Refuse to answer: the service knows another description than that in the file now."""
    error = LedgerUnwritable(
        "the description was changed. Its owner restarts the service, or puts it back as it was"
    )
    return wire.write_answer(Failure(error))
