"""How a caller is answered: a token is looked up, work is done in a thread, and every failure is one reply."""

from collections.abc import Callable
from typing import Annotated, Any, Protocol

from fastapi import Depends, Request
from fastapi.responses import JSONResponse, Response
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from starlette.concurrency import run_in_threadpool

from ..errors import DiscreetError, NotAllowed
from . import wire
from .access import REFUSED
from .connection import Connection
from .refusals import RefusedError, error_for_reader, status_of
from .slots import BEGINNING
from .tokens import Token


class Answering(Protocol):
    """A service that answers: see `app.Service`."""

    def caller(self, request: Request) -> Token:
        """Return the stored record of the token of a request, or raise a `RefusedError`."""
        ...

    def connection(self, token: Token, beginning: str | None = None) -> Connection:
        """Return the connection of a caller, for a request with a slot that began at that time."""
        ...


_BEARER = HTTPBearer(auto_error=False, description="A token: discreet token create.")


async def _require_token(
    request: Request,
    credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(_BEARER)],
) -> Request:
    """Return the request; the parameter declares in the OpenAPI document that a token is needed."""
    return request


TokenRequest = Annotated[Request, Depends(_require_token)]
"""A request that must bring a token."""

AnswerWork = Callable[[Connection, Token], Response]


async def reply(
    service: Answering, request: Request, work: Callable[[Connection], Any], status: int = 200
) -> Response:
    """Answer a caller with the result of the work, as JSON."""

    def as_json(connection: Connection, token: Token) -> Response:
        return JSONResponse(work(connection), status)

    return await reply_with(service, request, as_json)


async def reply_with(service: Answering, request: Request, work: AnswerWork) -> Response:
    """Answer a caller with the response that the work returns."""
    return await run_in_threadpool(_respond, service, request, work)


def _respond(service: Answering, request: Request, work: AnswerWork) -> Response:
    """Answer a caller; whatever fails is told as the caller may see it, and never with a traceback."""
    role = status = None
    try:
        token = service.caller(request)
        role = token.role
        return work(service.connection(token, request.scope.get(BEGINNING)), token)
    except RefusedError as refusal:
        error_for_caller, status = refusal.error, refusal.status
    except Exception as error:
        error_for_caller = error_for_reader(error, role)
    return failure(request, error_for_caller, status)


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
