"""Replies to questions that must be read: all that is public is settled first, then they wait, without a thread.

The work for a reply is done twice. The first time its question is answered without reading: by a stored
answer or a refusal; if there is neither, the work is left with a `ReadingNeeded`. The dispatcher is asked then, and
the work done again with its answer.

Without turns a question whose bill is known is asked at once: the reader settles it anyway, by the state of the
ledger in which it is charged, and to read the ledger here too took a fifth of the time of an answer. An answer is
told, and a failure that was charged. If there is neither, or the reader takes long, the question is settled here.
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
from .dispatcher_client import DispatcherClient, RemoteTicket, UnreachableError
from .operations import ANSWER, Operation
from .rights import Rights
from .tokens import Token
from .turns import ARRIVAL, END, Turns

_Argument = TypeVar("_Argument")
_Response = TypeVar("_Response")

Settle = Callable[[], "Response | PausedReply"]

_LONGEST_UNSETTLED = 1.0
"""Seconds after which a question that was not settled is: a stored answer and a refusal need no reader."""

LONGEST_WAIT = 10.0
"""Seconds that a connection waits for an answer; one that comes later is asked for again then."""


class ReadingNeeded(Exception):
    """A question has no stored answer, and is not refused, as far as is known: its data must be read.

    Args:
        question: the question.
        is_settled: whether that is known from the ledger.
    """

    def __init__(self, question: QueuedQuestion, *, is_settled: bool = True) -> None:
        super().__init__()
        self.question, self.is_settled = question, is_settled


@dataclass(frozen=True, slots=True)
class PausedReply:
    """A reply that needs the answer to a question.

    Attributes:
        question: the question.
        resume: returns the reply with an answer or a failure.
        postpone: returns the reply for an answer that comes in so many seconds.
        reads: whether to write either takes more than the answer: a ledger or a file, which a thread waits for.
        settle: returns the reply as if the question had not been asked; None where it was settled before.
    """

    question: QueuedQuestion
    resume: "Callable[[Release | Failure], Response | PausedReply]"
    postpone: Callable[[float], Response]
    reads: bool = True
    settle: "Settle | None" = None


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
        translate = translation_for(self.rights.are_the_owners)
        refusal = call_isolated(isolated(self.rights.check, translate))
        if isinstance(refusal, Failure):
            return refusal
        with_request = {**arguments, "request": arguments["request"] or str(uuid4())}
        unread = Unanswerable("this was not answered before")
        bills: list[tuple[str, Bill]] = []

        rights = replace(self.rights, unread=unread, note=lambda *bill: bills.append(bill))
        try:
            plain = operation.write(with_request)
        except DiscreetError as error:
            return Failure(error)
        answer = call_isolated(isolated(operation.bound(rights), translate), **with_request)
        if not isinstance(answer, Failure) or answer.error is not unread:
            return answer
        return Failure(ReadingNeeded(self.question(operation, plain, *bills[-1])))

    def question(
        self, operation: Operation[Any], plain: Mapping[str, Any], dataset: str, bill: Bill
    ) -> QueuedQuestion:
        """Return a question as the dispatcher takes it.

        Args:
            operation: the operation.
            plain: its arguments, as they travel.
            dataset: the name of the dataset.
            bill: the bill of the question.
        """
        token = self.token
        line = {
            "operation": operation.name, "arguments": plain, "role": token.role,
            "analyst": token.analyst, "token": token.id,
        }  # fmt: skip
        return QueuedQuestion(token.analyst, dataset, plain["request"], bill.digest, line)


@dataclass(frozen=True, slots=True)
class KnownQuestions:
    """The questions of a caller that are asked at once where their bills are known, and settled where they are not.

    Attributes:
        settlement: settles the others.
    """

    settlement: Settlement

    def call(self, operation: Operation[Any], **arguments: Any) -> Release | Failure:
        """Return a `ReadingNeeded` as a failure; or the outcome of the settlement."""
        order = None
        if operation is ANSWER and arguments["request"] is not None:
            names = (arguments[name] for name in ("question", "dataset", "size"))
            order = self.settlement.rights.known_bill(*names)
        if order is None:
            return self.settlement.call(operation, **arguments)
        try:
            question = self.settlement.question(operation, operation.write(arguments), *order)
        except DiscreetError as error:
            return Failure(error)
        return Failure(ReadingNeeded(question, is_settled=False))


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
        early = await _settle_meanwhile(reply, ticket)
        if early is not None:
            return early
        message = await asyncio.shield(ticket.reply)
    except UnreachableError:
        answer: Release | Failure = Failure(_unreachable(reply.question.request))
        is_refusal = True
    else:
        request.scope[END] = message["end"]
        answer = wire.read_answer(message["reply"])
        is_refusal = isinstance(answer, Failure) and _is_free(answer.error)
        if isinstance(answer, Release) and not message["is_first"]:
            answer = replace(answer, charged=False)
    if is_refusal and reply.settle is not None:
        return await _finish_settled(service, request, reply.settle)
    response = await _write(reply, reply.resume, answer)
    assert isinstance(response, Response)  # with an answer, nothing more is asked
    return response


async def _settle_meanwhile(reply: PausedReply, ticket: RemoteTicket) -> Response | None:
    """Return the reply to a question that was not settled, if it needs no reading and is long in coming."""
    if reply.settle is None:
        return None
    replies, _ = await asyncio.wait([ticket.reply], timeout=_LONGEST_UNSETTLED)
    response = None if replies else await run_in_threadpool(reply.settle)
    return response if isinstance(response, Response) else None


async def _finish_settled(service: Waiting, request: Request, settle: Settle) -> Response:
    """Return the reply to a question as if it had not been asked."""
    reply = await run_in_threadpool(settle)
    return await finish(service, request, reply) if isinstance(reply, PausedReply) else reply


async def _write(
    reply: PausedReply, write: Callable[[_Argument], _Response], argument: _Argument
) -> _Response:
    """Return the response that a function of a reply writes, in a thread if it may take long."""
    return await run_in_threadpool(write, argument) if reply.reads else write(argument)


def _is_free(error: BaseException) -> bool:
    """Return whether a failure is known to be of a question that was not charged."""
    return getattr(error, "charged", False) is False


def _unreachable(request: str) -> Unanswerable:
    """Return the error where the dispatcher has ended: it may have had the question charged."""
    error = Unanswerable("no data can be read now; ask again, or tell their owner")
    error.add_note(f"if this was paid: request={request!r} asks again at no cost")
    error.charged, error.is_public = None, True
    return error
