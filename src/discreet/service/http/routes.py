"""The routes: those of all operations under a prefix, health, metrics and the OpenAPI document."""

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from ...base.error_boundary import public_errors
from ...errors import InvalidArgument, NotAllowed
from ..asking.connection import Connection
from ..asking.operations import OPERATIONS, REQUEST, REQUEST_KEY, Operation
from ..asking.refusals import RefusedError, charged_failures, failure
from ..asking.service import Service
from .exchange import caller_of
from .health import Health
from .metrics import RequestCounts, as_json, as_text
from .models import body_model, parameter_model
from .openapi import openapi_document
from .replies import Handler, reply_with
from .router import Endpoint, Route


def operation_routes(service: Service, prefix: str) -> Iterator[Route]:
    """Yield the routes of all operations."""
    for operation in OPERATIONS:
        method, path = operation.route
        yield Route(method, f"{prefix}{path}", _endpoint(service, operation))


def _endpoint(service: Service, operation: Operation[Any]) -> Endpoint:
    """Return the function that answers requests for an operation."""

    async def endpoint(request: Request) -> Response:
        try:
            parameters = _read_arguments(operation, request, await request.body())
        except RefusedError as refusal:
            return failure(request, refusal.error, refusal.status)
        return await reply_with(service, request, _work(operation, parameters))

    return endpoint


def _read_arguments(operation: Operation[Any], request: Request, body: bytes) -> dict[str, Any]:
    """Return the arguments of a request, checked for their types, to be read by the operation.

    Raises:
        RefusedError: 400 if the body is no JSON, 422 if it or a parameter is not as the OpenAPI document says.
    """
    plain = _read_json(request, body) if operation.body is not None and body else None
    names = {**request.query_params, **request.path_params}
    if REQUEST in operation.parameters:
        names[REQUEST.name] = request.headers.get(REQUEST_KEY) or None
    try:
        arguments = parameter_model(operation).model_validate(names).model_dump()
        if operation.body is not None:
            arguments |= body_model(operation.body).model_validate(plain).model_dump()
    except ValueError:
        pass
    else:
        return arguments
    raise RefusedError(InvalidArgument("the request is not as /v1/openapi.json says"))


def _read_json(request: Request, body: bytes) -> Any:
    """Return a body as JSON. A body of another declared type is rejected."""
    kind, _, form = request.headers.get("content-type", "").partition(";")[0].strip().partition("/")
    if kind.lower() != "application" or not (
        form.lower() == "json" or form.lower().endswith("+json")
    ):
        return None
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        pass
    error = InvalidArgument(
        "the body cannot be read as JSON: it must be UTF-8, not nested deeply, "
        "with numbers of at most 4,300 digits"
    )
    raise RefusedError(error, 400)


def _work(operation: Operation[Any], parameters: dict[str, Any]) -> Handler:
    """Return the work that answers a request with those parameters."""

    def respond(connection: Connection) -> Response:
        arguments = _read_operation(operation, parameters)
        answer = connection.call(operation, **arguments)
        if not operation.is_paid:
            return _write_response(operation, answer)
        with charged_failures(arguments[REQUEST.name]):
            return _write_response(operation, answer)

    return respond


@public_errors()
def _read_operation(operation: Operation[Any], parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of an operation."""
    if operation.is_paid:
        parameters = {**parameters, REQUEST.name: _decode_key(parameters[REQUEST.name])}
    return operation.read(parameters)


def _decode_key(key: str) -> str:
    """Return the name of a request from its header, which is read as Latin-1 and written as UTF-8."""
    try:
        return key.encode("latin-1").decode()
    except UnicodeError:
        pass
    raise InvalidArgument("the Idempotency-Key must be text in UTF-8")


def _write_response(operation: Operation[Any], answer: Any) -> Response:
    """Return the response that holds the result of an operation."""
    content, headers = operation.reply.write(answer), dict(operation.reply.headers(answer))
    if not operation.reply.is_lines:
        return JSONResponse(content, operation.status, headers)
    lines = "".join(f"{json.dumps(line)}\n" for line in content)
    return Response(lines, media_type="application/jsonl", headers=headers)


def open_routes(health: Health, prefix: str) -> Iterator[Route]:
    """Yield the routes that need no token: whether the service is up, and the OpenAPI document."""

    async def is_up(_: Request) -> Response:
        if await run_in_threadpool(health.is_up):
            return JSONResponse({"status": "ok"})
        return JSONResponse({"status": "unavailable"}, 503)

    async def document(_: Request) -> Response:
        return JSONResponse(_document(prefix))

    yield Route("GET", "/healthz", is_up)
    for method in ("GET", "HEAD"):
        yield Route(method, f"{prefix}/openapi.json", document)


@cache
def _document(prefix: str) -> dict[str, Any]:
    return openapi_document(prefix)


def owner_routes(
    service: Service, health: Health, counts: RequestCounts, prefix: str
) -> Iterator[Route]:
    """Yield the routes that are for the owner alone: parts of the service, and metrics."""

    async def parts(request: Request) -> Response:
        def check(_: Connection) -> Response:
            _check_owner(request)
            usable = health.parts()
            words = {name: "ok" if holds else "unavailable" for name, holds in usable.items()}
            status = "ok" if all(usable.values()) else "degraded"
            late = [one.as_dict() for one in service.late_answers()]
            return JSONResponse({"status": status, "parts": words, "late_answers": late})

        return await reply_with(service, request, check)

    async def metrics(request: Request) -> Response:
        def measure(connection: Connection) -> Response:
            _check_owner(request)
            accept_header, budgets = request.headers.get("accept", ""), connection.budgets()
            if "text/plain" in accept_header or "openmetrics" in accept_header:
                return PlainTextResponse(as_text(counts, budgets, service.late_answers()))
            return JSONResponse(as_json(counts, budgets, service.late_answers()))

        return await reply_with(service, request, measure)

    yield Route("GET", f"{prefix}/health", parts)
    yield Route("GET", f"{prefix}/metrics", metrics)


def _check_owner(request: Request) -> None:
    """Raise unless the caller is an owner."""
    if caller_of(request.scope).role != "owner":
        raise RefusedError(NotAllowed("this is for the owner"))
