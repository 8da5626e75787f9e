"""The tools of an assistant at /mcp of the service: one JSON reply a request, at its time, padded.

A request stands alone: there is no session, no event stream and no progress of a question, so neither the questions
of others nor the data move a reply. A caller is an analyst by a token of the service; rights, limits, times and
prices are those of the other routes, as tools are operations of the same table.
"""

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any
from urllib.parse import urlsplit

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from ...errors import DiscreetError, InvalidArgument, MissingPackage, NotAllowed
from ..asking.connection import Connection
from ..asking.refusals import failure
from ..asking.service import Service
from ..asking.tokens import Token
from ..mcp.assistant_tools import Arguments, Reply, call_tool, refusal_as_data
from ..mcp.mcp_server import build_server
from ..queue.dispatcher import QueuedQuestion
from .exchange import App, AsgiMessage, Receive, Send, caller_of, exchange_of
from .replies import reply_to
from .router import Route

PATH = "/mcp"

_LENGTHS = 4
"""Of how many lengths of other replies one is here: an answer stands in it twice, as data and as text in JSON.

An answer takes at most half a length and its question as much. As text in a text, a quotation mark or a backslash
takes twice its place: less than 2 (1/2 + 1/2) lengths, and 1 for the data.
"""

_STREAMING = "subscriptions/listen"
"""The one method whose reply would be an event stream."""


def mcp_route(service: Service) -> Route:
    """Return the route.

    The SDK takes seconds to import: at the first request it would hold all replies back beyond their times.
    """
    with suppress(ImportError):  # without it requests are told what to install
        import_module("mcp.server.streamable_http_manager")
    return Route("POST", PATH, McpRoute(service).answer)


@dataclass(frozen=True, slots=True)
class McpRoute:
    """The endpoint: it lets a caller in, and has the SDK of the protocol answer one message.

    Attributes:
        service: the service.
    """

    service: Service

    async def answer(self, request: Request) -> App:
        """Return the reply to one message of the protocol."""
        exchange_of(request.scope).lengths = _LENGTHS
        caller = await run_in_threadpool(self._let_in, request)
        body = await request.body()
        if isinstance(caller, Response):
            return caller
        if _method_of(body) == _STREAMING:
            return failure(request, InvalidArgument("replies are no event streams here"), 405)
        return partial(self._serve, caller, body)

    def _let_in(self, request: Request) -> Token | Response:
        """Return the analyst of a request, or the reply that rejects it."""
        token = caller_of(request.scope)
        if token.role != "analyst" or token.analyst is None:
            words = (
                "an assistant asks by the token of an analyst: discreet token create --role analyst"
            )
            return failure(request, NotAllowed(words), 403)
        if not _is_same_origin(request):
            return failure(request, NotAllowed("a page of another site asks nothing here"), 403)
        try:
            build_server(_nothing)
        except MissingPackage as error:
            return failure(request, error, 501)
        return token

    async def _serve(
        self, token: Token, body: bytes, scope: AsgiMessage, _: Receive, send: Send
    ) -> None:
        """Have the SDK answer one message, which has no session."""
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        assert token.analyst is not None
        work = partial(self._work, Request(scope), token)
        about = self.service.configuration.analyst(token.analyst)
        server = build_server(work, about.get("confirm_above"))
        manager = StreamableHTTPSessionManager(server, json_response=True, stateless=True)
        messages = [{"type": "http.request", "body": body, "more_body": False}]

        async def whole() -> AsgiMessage:
            return messages.pop() if messages else {"type": "http.disconnect"}

        async with manager.run():
            await manager.handle_request(scope, whole, send)

    async def _work(self, request: Request, token: Token, name: str, arguments: Arguments) -> Reply:
        """Return the result of a tool, by the way of all other replies."""

        def work(connection: Connection) -> Response:
            return JSONResponse(call_tool(connection, name, arguments))

        response = await reply_to(self.service, request, token, work, _refuse, _postpone)
        content: Reply = json.loads(bytes(response.body))
        return content


async def _nothing(_: str, __: Arguments) -> Reply:
    """Do the work of no tool."""
    return {}


def _is_same_origin(request: Request) -> bool:
    """Return whether a request is of no page, or of a page of this service: see DNS rebinding."""
    origin = request.headers.get("origin")
    return origin is None or urlsplit(origin).netloc == request.headers.get("host")


def _method_of(body: bytes) -> object:
    """Return the method that a message names, or None if it cannot be read, which the SDK refuses."""
    message: Any = None
    with suppress(ValueError, RecursionError):
        message = json.loads(body)
    return message.get("method") if isinstance(message, Mapping) else None


def _refuse(_: Request, error: DiscreetError, __: int | None) -> Response:
    """Return a refusal as the result of a tool."""
    return JSONResponse(refusal_as_data(error))


def _postpone(question: QueuedQuestion) -> Response:
    """Return the result for an answer that is not there yet."""
    words = "the answer is not there yet: call ask again with the same arguments"
    return JSONResponse({"later": words, "request": question.request})
