"""How a caller is answered: a token is looked up, work is done in a thread, and every failure is one reply."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Protocol

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from ..errors import DiscreetError, NotAllowed
from ..node.isolation import Failure
from ..releases import Release
from . import wire
from .access import REFUSED
from .connection import Connection
from .disclosures import LateAnswers
from .dispatcher import QueuedQuestion
from .dispatcher_client import DispatcherClient
from .limits import Places
from .padding import ARRIVAL, Arrival, Clock
from .paid_replies import PausedReply, ReadingNeeded, finish
from .refusals import RefusedError, error_for_reader, status_of
from .tokens import NOT_VALID, Token

CALLER = "discreet.caller"
"""Where the scope of a request has the stored record of its token."""


class Answering(Protocol):
    """A service that answers: see `app.Service`."""

    @property
    def dispatcher(self) -> DispatcherClient | None:
        """The dispatcher; None if data are read in this process."""
        ...

    @property
    def clock(self) -> Clock:
        """The time."""
        ...

    @property
    def places(self) -> Places:
        """How many requests of one caller are answered at the same time."""
        ...

    def late_answers(self) -> list[LateAnswers]:
        """Return the delays that have doubled since the last reset, and the questions given up, for the owner."""
        ...

    def connection(
        self, token: Token, arrival: Arrival | None = None, answer: Release | Failure | None = None
    ) -> Connection:
        """Return the connection of a caller, for a request that came at that time; perhaps with its answer."""
        ...


AnswerWork = Callable[[Connection, Token], Response]
Refuse = Callable[[Request, DiscreetError, int | None], Response]
Postpone = Callable[[QueuedQuestion], Response]


async def reply(
    service: Answering, request: Request, work: Callable[[Connection], Any], status: int = 200
) -> Response:
    """Answer a caller with the result of the work, as JSON."""

    def as_json(connection: Connection, token: Token) -> Response:
        return JSONResponse(work(connection), status)

    return await reply_with(service, request, as_json)


async def reply_with(service: Answering, request: Request, work: AnswerWork) -> Response:
    """Answer a caller with the response that the work returns."""
    token = caller_or_refusal(request)
    if isinstance(token, JSONResponse):
        return token
    respond = partial(_respond, service, request, token, work)
    return await _finished(service, request, token, respond)


async def reply_to(  # noqa: PLR0913  # a caller, the work, and the form of both its failures
    service: Answering,
    request: Request,
    token: Token,
    work: AnswerWork,
    refuse: Refuse,
    postpone: Postpone,
) -> Response:
    """Answer the caller of a known token, with failures and postponed answers in a form of its own."""
    respond = partial(_respond_to, service, request, token, work, refuse, postpone)
    return await _finished(service, request, token, respond)


async def _finished(
    service: Answering,
    request: Request,
    token: Token,
    respond: Callable[[], "Response | PausedReply"],
) -> Response:
    """Return a response, once the data that it needs are read."""
    async with service.places.line(token):
        response = await run_in_threadpool(respond)
    return (
        await finish(service, request, response) if isinstance(response, PausedReply) else response
    )


def caller_or_refusal(request: Request) -> Token | JSONResponse:
    """Return the caller of a request, or the reply that refuses it: one that no caller is known of."""
    token: Token | None = request.scope.get(CALLER)
    return failure(request, NotAllowed(NOT_VALID), 401) if token is None else token


def _respond(
    service: Answering, request: Request, token: Token, work: AnswerWork
) -> Response | PausedReply:
    """Answer a caller; whatever fails is told as the caller may see it, and never with a traceback."""
    reply = _respond_to(service, request, token, work, failure, _postpone)
    # An operation with its answer there writes it, and no more.
    return replace(reply, reads=False) if isinstance(reply, PausedReply) else reply


def _respond_to(  # noqa: PLR0913  # those of `reply_to`
    service: Answering,
    request: Request,
    token: Token,
    work: AnswerWork,
    refuse: Refuse,
    postpone: Postpone,
) -> Response | PausedReply:
    arrival = request.scope.get(ARRIVAL)

    def respond(answer: Release | Failure | None) -> Response | PausedReply:
        try:
            return work(service.connection(token, arrival, answer), token)
        except ReadingNeeded as reading:
            return PausedReply(reading.question, respond, postpone)
        except RefusedError as refusal:
            return refuse(request, refusal.error, refusal.status)
        except Exception as error:
            return refuse(request, error_for_reader(error, token.role), None)

    return respond(None)


def _postpone(question: QueuedQuestion) -> Response:
    """Return the reply for an answer that is not there yet: the name by which it is asked for again, at once."""
    return JSONResponse(
        {"request": question.request}, 202, {wire.REPLAYED: "?0", "Retry-After": "0"}
    )


def failure(request: Request, error: DiscreetError, status: int | None = None) -> JSONResponse:
    """Return the reply for an error, and note its class for the metrics."""
    content, code = wire.write_error(error), status or status_of(error)
    request.scope[REFUSED] = content["error"]
    headers = {wire.REPLAYED: "?0"}  # as long as an answer's, which a failure may stand for
    if code == 401:
        headers["WWW-Authenticate"] = "Bearer"
    return JSONResponse(content, code, headers)


def for_owners(token: Token) -> None:
    """Raise unless the caller is an owner."""
    if token.role != "owner":
        raise RefusedError(NotAllowed("this is for the owner"))
