"""Replies to questions that must be read: all that is public is settled first, then they wait, without a thread.

The work for a reply is done twice. The first time its question is answered without reading: by a stored
answer or a refusal; if there is neither, the work is left with a `ReadingNeeded`. The dispatcher is asked then, and
the work done again with its answer.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar
from uuid import uuid4

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from ..errors import DiscreetError, Unanswerable
from ..node.isolation import Failure, call_isolated, isolated, translation_for
from ..payment import Bill
from ..releases import Release
from . import wire
from .dispatcher import QueuedQuestion
from .dispatcher_client import DispatcherClient, UnreachableError
from .operations import Operation
from .rights import Rights
from .tokens import Token
from .turns import ARRIVAL, END, Turns

_Argument = TypeVar("_Argument")
_Response = TypeVar("_Response")

LONGEST_WAIT = 10.0
"""Seconds that a connection waits for an answer; one that comes later is asked for again then."""


class ReadingNeeded(Exception):
    """A question has no stored answer, and is not refused: its data must be read."""

    def __init__(self, question: QueuedQuestion) -> None:
        super().__init__()
        self.question = question


@dataclass(frozen=True, slots=True)
class PausedReply:
    """A reply that needs the answer to a question.

    Attributes:
        question: the question.
        resume: returns the reply with an answer or a failure.
        postpone: returns the reply for an answer that comes in so many seconds.
        reads: whether to write either takes more than the answer: a ledger or a file, which a thread waits for.
    """

    question: QueuedQuestion
    resume: "Callable[[Release | Failure], Response | PausedReply]"
    postpone: Callable[[float], Response]
    reads: bool = True


class Waiting(Protocol):
    """The part of a service that waits for answers: see `app.Service`."""

    @property
    def dispatcher(self) -> DispatcherClient | None:
        """The dispatcher."""
        ...

    @property
    def turns(self) -> Turns | None:
        """When replies leave."""
        ...


@dataclass(frozen=True, slots=True)
class Settlement:
    """The replies to the questions of a caller that need no data.

    Attributes:
        rights: the rights of the caller.
        token: the caller.
    """

    rights: Rights
    token: Token

    def call(self, operation: Operation[Any], **arguments: Any) -> Release | Failure:
        """Return the stored answer of a question, its refusal, or a `ReadingNeeded` as a failure."""
        with_request = {**arguments, "request": arguments["request"] or str(uuid4())}
        unread = Unanswerable("this was not answered before")
        bills: list[tuple[str, Bill]] = []

        rights = replace(self.rights, unread=unread, note=lambda *bill: bills.append(bill))
        try:
            plain = operation.write(with_request)
        except DiscreetError as error:
            return Failure(error)
        translate = translation_for(rights.are_the_owners)
        answer = call_isolated(isolated(operation.bound(rights), translate), **with_request)
        if not isinstance(answer, Failure) or answer.error is not unread:
            return answer
        dataset, bill = bills[-1]
        line = {
            "operation": operation.name, "arguments": plain, "role": self.token.role,
            "analyst": self.token.analyst, "token": self.token.id,
        }  # fmt: skip
        request = with_request["request"]
        return Failure(
            ReadingNeeded(QueuedQuestion(self.token.analyst, dataset, request, bill.digest, line))
        )


async def finish(service: Waiting, request: Request, reply: PausedReply) -> Response:
    """Return a reply once its question is answered; at once, if that takes long."""
    dispatcher, turns = service.dispatcher, service.turns
    assert dispatcher is not None
    assert turns is not None
    try:
        earliest = turns.leaving_time(request.scope[ARRIVAL])
        ticket = await dispatcher.ask(replace(reply.question, earliest=earliest))
        if ticket.end is not None:
            seconds = ticket.end - earliest
            if seconds > LONGEST_WAIT:
                return await _write(reply, reply.postpone, seconds)
        message = await asyncio.shield(ticket.reply)
    except UnreachableError:
        answer: Release | Failure = Failure(_unreachable(reply.question.request))
    else:
        request.scope[END] = message["end"]
        answer = wire.read_answer(message["reply"])
        if isinstance(answer, Release) and not message["is_first"]:
            answer = replace(answer, charged=False)
    response = await _write(reply, reply.resume, answer)
    assert isinstance(response, Response)  # with an answer, nothing more is asked
    return response


async def _write(
    reply: PausedReply, write: Callable[[_Argument], _Response], argument: _Argument
) -> _Response:
    """Return the response that a function of a reply writes, in a thread if it may take long."""
    return await run_in_threadpool(write, argument) if reply.reads else write(argument)


def _unreachable(request: str) -> Unanswerable:
    """Return the error where the dispatcher has ended: it may have had the question charged."""
    error = Unanswerable("no data can be read now; ask again, or tell their owner")
    error.add_note(f"if this was paid: request={request!r} asks again at no cost")
    error.charged, error.is_public = None, True
    return error
