"""The routes under /v1: those of all operations, and health and metrics for the owner."""

import json
from functools import cache
from inspect import Parameter, Signature
from typing import Annotated, Any

from fastapi import APIRouter, Header, Path, Query, Request
from fastapi.responses import JSONResponse, PlainTextResponse, Response
from pydantic import BaseModel, ConfigDict, Field, create_model, model_validator

from ..error_boundary import public_errors
from ..errors import InvalidArgument
from . import models, wire
from .connection import Connection
from .counts import RequestCounts
from .health import Health
from .metrics import as_json, as_text
from .operations import OPERATIONS, REQUEST, Body, Operation
from .paid_requests import PaidRoute
from .refusals import charged_failures
from .replies import Answering, AnswerWork, TokenRequest, for_owners, reply_with
from .tokens import Token

_PAID: dict[int | str, dict[str, Any]] = {
    200: {
        "headers": {
            wire.REPLAYED: {
                "description": "?1 if the request was charged before: its answer has the same bytes.",
                "schema": {"type": "string", "enum": ["?0", "?1"]},
            }
        }
    },
    202: {
        "model": models.PostponedReply,
        "description": "The answer is not there yet.",
    },
}
_LINES: dict[int | str, dict[str, Any]] = {
    200: {"content": {"application/jsonl": {"schema": {"type": "string"}}}}
}
_TEXT: dict[int | str, dict[str, Any]] = {
    200: {"model": models.Metrics, "content": {"text/plain": {"schema": {"type": "string"}}}}
}


def add_operations(api: APIRouter, service: Answering) -> None:
    """Add the routes of all operations."""
    for operation in OPERATIONS:
        _add(api, service, operation)


def paid_routes(service: Answering, prefix: str) -> dict[str, PaidRoute]:
    """Return the routes of the operations that are paid, by their paths."""
    routes = (_paid_route(service, one, prefix) for one in OPERATIONS if one.is_paid)
    return {route.path: route for route in routes}


def _paid_route(service: Answering, operation: Operation[Any], prefix: str) -> PaidRoute:
    async def answer(http_request: Request, body: BaseModel, key: str) -> Response:
        parameters = {"body": body, REQUEST.name: key}
        return await reply_with(service, http_request, _work(operation, parameters))

    assert operation.body is not None
    return PaidRoute(f"{prefix}{operation.route[1]}", _body_model(operation.body), answer)


def _work(operation: Operation[Any], parameters: dict[str, Any]) -> AnswerWork:
    """Return the work that answers a request with those parameters."""

    def respond(connection: Connection, token: Token) -> Response:
        arguments = _read_arguments(operation, parameters)
        answer = connection.call(operation, **arguments)
        if not operation.is_paid:
            return _write_response(operation, answer)
        with charged_failures(arguments[REQUEST.name]):
            return _write_response(operation, answer)

    return respond


def _add(api: APIRouter, service: Answering, operation: Operation[Any]) -> None:
    """Add the route of an operation, with the parameters that the table names."""

    async def endpoint(http_request: TokenRequest, **parameters: Any) -> Response:
        return await reply_with(service, http_request, _work(operation, parameters))

    method, path = operation.route
    request_parameter = Parameter("http_request", Parameter.KEYWORD_ONLY, annotation=TokenRequest)
    endpoint.__signature__ = Signature([request_parameter, *_parameters(operation)])  # type: ignore[attr-defined]
    model: Any = getattr(models, operation.reply.model)
    route_options: dict[str, Any] = {"response_model": model}
    if operation.reply.is_list:
        route_options = {"response_model": list.__class_getitem__(model)}
    if operation.reply.is_lines:
        route_options = {"response_class": Response, "responses": _LINES}
    if operation.is_paid:
        route_options["responses"] = _PAID
    api.add_api_route(
        path, endpoint, methods=[method], name=operation.name, description=operation.description,
        status_code=operation.status, **route_options,
    )  # fmt: skip


def _parameters(operation: Operation[Any]) -> list[Parameter]:
    """Return the parameters of the route of an operation, as FastAPI reads them."""
    places: list[tuple[str, Any, Any]] = []
    if operation.body is not None:
        places.append(("body", _body_model(operation.body), Parameter.empty))
    for one in operation.parameters:
        default = Parameter.empty if one.default is ... else one.default
        if one is REQUEST:
            place: Any = Header(alias="idempotency-key", description=one.description)
        elif f"{{{one.name}}}" in operation.route[1]:
            place = Path(description=one.description)
        else:
            place = Query(description=one.description, **one.kind.limits)
        kind = str if one is REQUEST else one.kind.annotation
        places.append((one.name, Annotated[kind, place], default))
    return [
        Parameter(name, Parameter.KEYWORD_ONLY, annotation=annotation, default=default)
        for name, annotation, default in places
    ]


@cache
def _body_model(body: Body) -> type[BaseModel]:
    """Return the model by which a body is checked: it holds declared fields alone."""
    fields: dict[str, Any] = {
        one.name: (one.kind.annotation, Field(one.default, description=one.description))
        for one in body.arguments
    }
    config = ConfigDict(extra="forbid", strict=True)

    def check_number(plain: Any) -> Any:
        # The model would make an error of every name that it does not have, in which others wait for a second.
        if isinstance(plain, dict) and len(plain) > len(fields):
            raise ValueError("more names than the model has")
        return plain

    validators: dict[str, Any] = {"check_number": model_validator(mode="before")(check_number)}
    return create_model(
        body.name, __config__=config, __doc__=body.description, __validators__=validators, **fields
    )


@public_errors()
def _read_arguments(operation: Operation[Any], parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a request."""
    plain = {name: value for name, value in parameters.items() if name != "body"}
    if operation.is_paid:
        plain[REQUEST.name] = _decode_key(plain[REQUEST.name])
    body = parameters.get("body")
    return operation.read({**({} if body is None else body.model_dump()), **plain})


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


def add_health(api: APIRouter, service: Answering, health: Health) -> None:
    """Add which parts of the service can be used, which the owner alone is told."""

    @api.get("/health", response_model=models.PartsReply)
    async def parts(request: TokenRequest) -> Response:
        """Say which parts of the service can be used; for the owner."""

        def check(_: Connection, token: Token) -> Response:
            for_owners(token)
            usable = health.parts()
            words = {name: "ok" if holds else "unavailable" for name, holds in usable.items()}
            status = "ok" if all(usable.values()) else "degraded"
            late = [one.as_dict() for one in service.late_answers()]
            return JSONResponse({"status": status, "parts": words, "late_answers": late})

        return await reply_with(service, request, check)


def add_metrics(api: APIRouter, service: Answering, counts: RequestCounts) -> None:
    """Add the counts of requests and budgets, for the owner alone."""

    @api.get("/metrics", responses=_TEXT)
    async def metrics(request: TokenRequest) -> Response:
        """Return metrics, as JSON or as Prometheus reads them, by the header Accept; for the owner."""

        def measure(connection: Connection, token: Token) -> Response:
            for_owners(token)
            accept_header, budgets = request.headers.get("accept", ""), connection.budgets()
            if "text/plain" in accept_header or "openmetrics" in accept_header:
                return PlainTextResponse(as_text(counts, budgets, service.late_answers()))
            return JSONResponse(as_json(counts, budgets, service.late_answers()))

        return await reply_with(service, request, measure)
