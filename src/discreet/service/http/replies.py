"""Replies to callers: a thread does the work, another process reads the data, and every failure is one reply.

Everything that needs only public information is done first. If a question then has neither a stored answer nor a
rejection, the work stops by raising `ReadingNeeded`. The dispatcher is then asked, without blocking a thread, and
the work is repeated with its answer.
"""

import asyncio
from collections.abc import Callable
from dataclasses import replace

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from ...errors import DiscreetError, Unanswerable
from ...selection.releases import Release
from ..asking import wire
from ..asking.connection import Connection
from ..asking.isolation import Failure
from ..asking.refusals import RefusedError, error_for_reader, failure
from ..asking.service import ReadingNeeded, Service
from ..asking.tokens import Token
from ..queue.dispatcher import QueuedQuestion
from ..queue.dispatcher_client import UnreachableError
from ..queue.readers import Line
from .exchange import Exchange, caller_of, exchange_of

LONGEST_WAIT = 60.0
"""Seconds that a connection waits for an answer: proxies wait no longer. Then it is to ask again."""

Handler = Callable[[Connection], Response]
Refuse = Callable[[Request, DiscreetError, int | None], Response]
Postpone = Callable[[QueuedQuestion], Response]


async def reply_with(service: Service, request: Request, work: Handler) -> Response:
    """Answer a caller with the response that the work returns."""
    return await reply_to(service, request, caller_of(request.scope), work, failure, _postpone)


async def reply_to(  # noqa: PLR0913  # a caller, the work, and the form of both its failures
    service: Service,
    request: Request,
    token: Token,
    work: Handler,
    refuse: Refuse,
    postpone: Postpone,
) -> Response:
    """Answer a caller once the data are read that it asks about, with failures in a form of its own.

    Args:
        service: the service.
        request: the request.
        token: the caller.
        work: returns the reply.
        refuse: returns the reply for a failure, as the caller may see it, and never with a traceback.
        postpone: returns the reply for an answer that is not there yet.
    """
    exchange = exchange_of(request.scope)

    def respond(answer: Release | Failure | None = None) -> Response | QueuedQuestion:
        try:
            return work(service.connection(token, exchange.arrival, answer))
        except ReadingNeeded as reading:
            return reading.question
        except RefusedError as refusal:
            return refuse(request, refusal.error, refusal.status)
        except Exception as error:
            return refuse(request, error_for_reader(error, token.role), None)

    async with service.places.line(token):
        reply = await run_in_threadpool(respond)
    if isinstance(reply, Response):
        return reply
    answer = await _await_answer(service, exchange, reply)
    if answer is None:
        return await run_in_threadpool(postpone, reply)
    response = await run_in_threadpool(respond, answer)
    assert isinstance(response, Response)  # with an answer, nothing more is asked
    return response


async def _await_answer(
    service: Service, exchange: Exchange, question: QueuedQuestion
) -> Release | Failure | None:
    """Return the answer to a question, or None if it is long in coming."""
    try:
        message = await _ask(service, exchange, question)
    except UnreachableError:
        return Failure(_unreachable(question.request))
    if message is None:
        return None
    exchange.end = message["end"]
    if message.get("is_ledger_late") and message["is_first"]:
        exchange.late_ledger = question.dataset
    answer = wire.read_answer(message["reply"])
    if isinstance(answer, Release) and not message["is_first"]:
        return replace(answer, charged=False)
    return answer


async def _ask(service: Service, exchange: Exchange, question: QueuedQuestion) -> Line | None:
    """Return the message of the dispatcher about a question, or None if it is long in coming, and goes on there."""
    assert service.dispatcher is not None
    assert exchange.arrival is not None
    assert exchange.gone is not None
    arrival = exchange.arrival.seconds
    asking = asyncio.ensure_future(service.dispatcher.ask(replace(question, arrival=arrival)))
    left = max(0.0, arrival + LONGEST_WAIT - service.clock.now())
    waiting = asyncio.ensure_future(service.clock.sleep(left))
    absent = asyncio.ensure_future(exchange.gone())
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


def _postpone(question: QueuedQuestion) -> Response:
    """Return the reply for an answer that is not there yet: the name by which it is asked for again, at once."""
    return JSONResponse(
        {"request": question.request}, 202, {wire.REPLAYED: "?0", "Retry-After": "0"}
    )


def _unreachable(request: str) -> Unanswerable:
    """Return the error where the dispatcher has ended: it may have had the question charged."""
    error = Unanswerable("no data can be read now. Retry, or contact their owner")
    error.add_note(f"if this was paid, retry with request={request!r} at no cost")
    error.charged, error.is_public = None, True
    return error
