"""The router: one route for each path and method, and refusals in the form of what is asked for."""

import asyncio
import json
from typing import Any

import pytest

pytest.importorskip("starlette", reason="the extra server is not installed")

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from discreet.service.http.exchange import exchange_of
from discreet.service.http.router import Route, Router


def routes(*pairs: tuple[str, str]) -> list[Route]:
    def route(method: str, path: str) -> Route:
        async def endpoint(request: Request) -> Response:
            return PlainTextResponse(f"{method} {path} {request.path_params}")

        return Route(method, path, endpoint)

    return [route(*pair) for pair in pairs]


def not_found(request: Request, status: int) -> Response:
    return PlainTextResponse("a page", status)


ROUTER = Router(
    routes(("GET", "/"), ("GET", "/v1/a"), ("POST", "/v1/a"), ("DELETE", "/v1/a/{id}"), ("GET", "/b")),
    not_found, ("/v1",),
)  # fmt: skip


def sent(method: str, path: str) -> tuple[int, str, str]:
    """Return the status, the text and the route of a reply."""
    scope: dict[str, Any] = {"type": "http", "method": method, "path": path, "headers": []}
    replies: list[Any] = []

    async def send(message: Any) -> None:
        replies.append(message)

    async def receive() -> Any:
        raise AssertionError("the body was read")

    asyncio.run(ROUTER(scope, receive, send))
    return replies[0]["status"], replies[1]["body"].decode(), exchange_of(scope).route


@pytest.mark.parametrize(("method", "path", "told"), [
    ("GET", "/", "GET / {}"), ("GET", "/v1/a", "GET /v1/a {}"), ("POST", "/v1/a", "POST /v1/a {}"),
    ("DELETE", "/v1/a/x", "DELETE /v1/a/{id} {'id': 'x'}"), ("GET", "/b", "GET /b {}"),
    ("DELETE", "/v1/a/{id}", "DELETE /v1/a/{id} {'id': '{id}'}"),
])  # fmt: skip
def test_a_request_has_one_route(method: str, path: str, told: str) -> None:
    assert sent(method, path) == (200, told, told.split()[1])


@pytest.mark.parametrize(("method", "path", "status"), [
    ("PUT", "/v1/a", 405), ("GET", "/v1/a/x", 405), ("get", "/v1/a", 405), ("DELETE", "/v1/a/", 404),
    ("DELETE", "/v1/a/x/y", 404), ("DELETE", "/v1/a//", 404), ("GET", "/v1/a\n", 404), ("GET", "/v1", 404),
    ("GET", "/v1/", 404), ("GET", "//v1/a", 404), ("PUT", "/b", 405), ("GET", "/b/", 404), ("GET", "", 404),
    ("GET", "/{id}", 404), ("GET", "/v1x", 404),
])  # fmt: skip
def test_what_has_no_route_is_refused(method: str, path: str, status: int) -> None:
    told = sent(method, path)
    assert told[0] == status
    if path.startswith("/v1"):
        assert json.loads(told[1])["error"] == "UnknownName"
    else:
        assert told[1] == "a page"
    assert (told[2] == "unknown") == (status == 404)
