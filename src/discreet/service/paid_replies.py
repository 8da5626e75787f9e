"""Replies to questions that must be read: all that is public is settled first, then they wait, without a thread.

The work for a reply is done twice. The first time its question is answered without reading: by a stored
answer or a refusal; if there is neither, the work is left with a `ReadingNeeded`. The dispatcher is asked then, and
the work done again with its answer.
"""

import asyncio
from collections.abc import Callable, Mapping
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
from .padding import ARRIVAL, END, GONE, Arrival, Clock
from .reader_pool import Line
from .rights import Rights
from .tokens import Token

_Argument = TypeVar("_Argument")
_Response = TypeVar("_Response")

LONGEST_WAIT = 60.0
"""Seconds that a connection waits for an answer: proxies wait no longer. Then it is to ask again."""


class ReadingNeeded(Exception):
    """A question has no stored answer, and is not refused: its data must be read.

    Args:
        question: the question.
    """

    def __init__(self, question: QueuedQuestion) -> None:
        super().__init__()
        self.question = question


@dataclass(frozen=True, slots=True)
class PausedReply:
    """A reply that needs the answer to a question.

    Attributes:
        question: the question.
        resume: returns the reply with an answer or a failure.
        postpone: returns the reply for an answer that is not there yet.
        reads: whether to write either takes more than the answer: a ledger or a file, which a thread waits for.
    """

    question: QueuedQuestion
    resume: "Callable[[Release | Failure], Response | PausedReply]"
    postpone: Callable[[QueuedQuestion], Response]
    reads: bool = True


class Waiting(Protocol):
    """The part of a service that waits for answers: see `app.Service`."""

    @property
    def dispatcher(self) -> DispatcherClient | None:
        """The dispatcher."""
        ...

    @property
    def clock(self) -> Clock:
        """The time."""
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
        translate = translation_for(self.rights.are_the_owners)
        refusal = call_isolated(isolated(self.rights.check, translate))
        if isinstance(refusal, Failure):
            return refusal
        with_request = {**arguments, "request": arguments["request"] or str(uuid4())}
        unread = Unanswerable("this was not answered before")
        notes: list[tuple[str, Bill, int]] = []

        rights = replace(self.rights, unread=unread, note=lambda *note: notes.append(note))
        try:
            plain = operation.write(with_request)
        except DiscreetError as error:
            return Failure(error)
        answer = call_isolated(isolated(operation.bound(rights), translate), **with_request)
        if not isinstance(answer, Failure) or answer.error is not unread:
            return answer
        return Failure(ReadingNeeded(self._question(operation, plain, *notes[-1])))

    def _question(
        self,
        operation: Operation[Any],
        plain: Mapping[str, Any],
        dataset: str,
        bill: Bill,
        parts: int,
    ) -> QueuedQuestion:
        """Return a question as the dispatcher takes it."""
        token = self.token
        line = {
            "operation": operation.name, "arguments": plain, "role": token.role,
            "analyst": token.analyst, "token": token.id,
        }  # fmt: skip
        return QueuedQuestion(token.analyst, dataset, plain["request"], bill.digest, line, parts)


async def finish(service: Waiting, request: Request, reply: PausedReply) -> Response:
    """Return a reply once its question is answered; that it is to ask again, if that takes long."""
    try:
        message = await _ask(service, request, reply.question)
    except UnreachableError:
        answer: Release | Failure = Failure(_unreachable(reply.question.request))
    else:
        if message is None:
            return await _write(reply, reply.postpone, reply.question)
        request.scope[END] = message["end"]
        answer = wire.read_answer(message["reply"])
        if isinstance(answer, Release) and not message["is_first"]:
            answer = replace(answer, charged=False)
    response = await _write(reply, reply.resume, answer)
    assert isinstance(response, Response)  # with an answer, nothing more is asked
    return response


async def _ask(service: Waiting, request: Request, question: QueuedQuestion) -> Line | None:
    """Return the message of the dispatcher about a question; None if it is long in coming, and goes on there."""
    assert service.dispatcher is not None
    arrival: Arrival = request.scope[ARRIVAL]
    asking = asyncio.ensure_future(
        service.dispatcher.ask(replace(question, arrival=arrival.seconds))
    )
    left = max(0.0, arrival.seconds + LONGEST_WAIT - service.clock.now())
    waiting = asyncio.ensure_future(service.clock.sleep(left))
    absent = asyncio.ensure_future(request.scope[GONE]())
    try:
        await asyncio.wait({asking, waiting, absent}, return_when=asyncio.FIRST_COMPLETED)
        if asking.done():
            return asking.result()
        if waiting.done():
            _GOING_ON.add(asking)
            asking.add_done_callback(_GOING_ON.discard)
        else:  # whoever asked has gone
            asking.cancel()
        return None
    finally:
        waiting.cancel()
        absent.cancel()


_GOING_ON: set[asyncio.Future[Line]] = set()
"""Questions that go on at the dispatcher while nobody waits for them: they are asked for again."""


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
