"""A process that reads data and answers questions, one after the other: see `processes`."""

import json
import os
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from ..datasets.configuration import Configuration, read_configuration
from ..errors import LedgerUnwritable
from ..node.datasets import Datasets
from ..node.isolation import Failure, call_isolated, isolated, translation_for
from ..releases import Release
from ..verbs.mode import mode
from .operations import READING
from .permissions import hold, rights_of
from .reader_client import write_answer
from .tokens import tokens_beside

Answer = Callable[[dict[str, Any]], dict[str, Any]]


def answering(description: Configuration, datasets: Datasets) -> Answer:
    """Return the function that answers questions about datasets."""
    tokens = tokens_beside(description.path)

    def answer(line: dict[str, Any]) -> dict[str, Any]:
        def release() -> Release:
            rights = replace(
                rights_of(datasets, description, line["role"], line["analyst"]),
                beginning=line["beginning"],
                check_again=partial(tokens.check, line["token"]),
            )
            operation = next(one for one in READING if one.name == line["operation"])
            operation.audience.check(line["role"])
            arguments = operation.check(operation.read(line["arguments"]))
            outcome: Release = operation.bound(rights)(**arguments)
            return outcome

        # Whatever fails here is an answer: else the process would end, and a question that read no data be charged.
        translate = translation_for(line["role"] == "owner")
        return write_answer(call_isolated(isolated(release, translate)))

    return answer


def file_digest(path: Path) -> str:
    """Return the digest of a description file."""
    return sha256(path.read_bytes()).hexdigest()


def answer_lines(number: int, path: Path, digest: str) -> None:
    """Answer every line that comes over a socket, until it is closed.

    Whoever stops the service stops all its processes, by a signal or with Ctrl-C. This one first answers
    the questions it was sent, and ends with the other end of the socket.
    """
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, signal.SIG_IGN)
    answer = _answer_of(path, digest)
    with (
        suppress(ConnectionError),  # who asked was killed
        socket.socket(fileno=number) as other,
        other.makefile("rb") as lines,
    ):
        for line in lines:
            question = json.loads(line)
            answer = answer or _answer_of(path, digest)
            reply = (answer or _refuse_change)(question) if question else {}
            other.sendall(json.dumps(reply).encode() + b"\n")


def _answer_of(path: Path, digest: str) -> Answer | None:
    """Return the function that answers, if the description is that of the service; None while it is edited."""
    if file_digest(path) != digest:
        return None
    description = read_configuration(path)
    answer = answering(description, hold(description))
    warm_up()
    return answer


def warm_up() -> None:
    """Import the modules of a first question: it would take many times as long as others, and miss its slot."""
    mode(["a"], candidates=["a"], epsilon=1)


def _refuse_change(question: dict[str, Any]) -> dict[str, Any]:
    """Refuse to answer: the service knows another description than that in the file now."""
    error = LedgerUnwritable(
        "the description was changed; its owner starts the service again, or puts it back as it was"
    )
    return write_answer(Failure(error))


if __name__ == "__main__":
    os.set_inheritable(int(sys.argv[1]), False)
    answer_lines(int(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
