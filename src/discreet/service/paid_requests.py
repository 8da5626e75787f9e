"""Requests for answers in their usual form, read without the layers of the web framework.

Those took as long as half of all else that a worker does for an answer. A request in this form is read as they read
it, by the same model. Every other one goes to the framework, and so does one that it would refuse: refusals have
their words and their forms there alone.
"""

import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass

from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response

from .padding import App, AsgiMessage, Receive, Send

_KEY, _TYPE, _JSON = b"idempotency-key", b"content-type", b"application/json"


@dataclass(frozen=True, slots=True)
class PaidRoute:
    """The route of a paid question.

    Attributes:
        path: its path.
        model: the model of its body.
        answer: answers a request by its body and the name under which it is charged.
    """

    path: str
    model: type[BaseModel]
    answer: Callable[[Request, BaseModel, str], Awaitable[Response]]

    def read(self, message: AsgiMessage) -> BaseModel | None:
        """Return the body of a message that holds all of it; None if the framework may refuse it."""
        if message["type"] == "http.request" and not message.get("more_body", False):
            with suppress(ValueError, RecursionError):  # the framework says in which words
                return self.model.model_validate(json.loads(message["body"]))
        return None


@dataclass(frozen=True, slots=True)
class PaidRequests:
    """An application that answers paid questions in their usual form, and hands all other requests on.

    Attributes:
        app: the application for all others.
        routes: the routes of paid questions, by their paths.
    """

    app: App
    routes: Mapping[str, PaidRoute]

    async def __call__(self, scope: AsgiMessage, receive: Receive, send: Send) -> None:
        """Answer a request."""
        route = self.routes.get(scope["path"]) if _is_plain_post(scope) else None
        key = None if route is None else _read_key(scope["headers"])
        if route is None or key is None:
            await self.app(scope, receive, send)
            return
        message = await receive()
        body = route.read(message)
        if body is None:
            messages = [message]

            async def receive_again() -> AsgiMessage:
                return messages.pop() if messages else await receive()

            await self.app(scope, receive_again, send)
            return
        scope["route"] = route
        response = await route.answer(Request(scope, receive), body, key)
        await response(scope, receive, send)


def _is_plain_post(scope: AsgiMessage) -> bool:
    return bool(scope["type"] == "http" and scope["method"] == "POST" and not scope["query_string"])


def _read_key(headers: Iterable[tuple[bytes, bytes]]) -> str | None:
    """Return the name of the request in its headers, as the framework reads it; None unless they are plain."""
    keys = [content for name, content in headers if name == _KEY]
    types = [content for name, content in headers if name == _TYPE]
    if types != [_JSON] or len(keys) != 1 or not keys[0]:
        return None
    return keys[0].decode("latin-1")
