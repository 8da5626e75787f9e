"""The OpenAPI document, made from the table of operations."""

from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import JsonSchemaMode, models_json_schema

from ..asking import wire
from ..asking.operations import OPERATIONS, REQUEST, REQUEST_KEY, Argument, Operation
from . import models

Plain = dict[str, Any]

_VERSION = "0.1.0"
"""Of the interface."""

_REFERENCE = "#/components/schemas/{model}"
_REPLAYED = {
    wire.REPLAYED: {
        "description": "?1 if the request was charged before: its answer has the same bytes.",
        "schema": {"type": "string", "enum": ["?0", "?1"]},
    }
}
_TEXT = {"schema": {"type": "string"}}


def openapi_document(prefix: str) -> Plain:
    """Return the document of a service with operations under a prefix."""
    replies = [getattr(models, one.reply.model) for one in OPERATIONS if not one.reply.is_lines]
    bodies = [models.body_model(one.body) for one in OPERATIONS if one.body is not None]
    others = [
        models.ErrorReply, models.PostponedReply, models.HealthReply, models.PartsReply, models.Metrics,
    ]  # fmt: skip
    wanted: list[tuple[type[BaseModel], JsonSchemaMode]] = [
        *((model, "serialization") for model in dict.fromkeys([*replies, *others])),
        *((model, "validation") for model in dict.fromkeys(bodies)),
    ]
    schemas = _without_nulls(models_json_schema(wanted, ref_template=_REFERENCE)[1]["$defs"])
    return {
        "openapi": "3.1.0", "info": {"title": "discreet", "version": _VERSION},
        "paths": _paths(prefix),
        "components": {
            "schemas": schemas,
            "securitySchemes": {
                "HTTPBearer": {
                    "type": "http", "scheme": "bearer", "description": "A token: discreet token create.",
                }
            },
        },
    }  # fmt: skip


def _without_nulls(plain: Any) -> Any:
    """Return schemas without defaults of null: a field that is left out is null anyway."""
    if isinstance(plain, list):
        return list(map(_without_nulls, plain))
    if not isinstance(plain, dict):
        return plain
    return {key: _without_nulls(value) for key, value in plain.items() if value is not None}


def _paths(prefix: str) -> Plain:
    """Return all operations by path and method."""
    paths: Plain = {"/healthz": {"get": _health()}}
    for operation in OPERATIONS:
        method, path = operation.route
        paths.setdefault(f"{prefix}{path}", {})[method.lower()] = _operation(operation)
    metrics = {**_json(_reference("Metrics")), "text/plain": _TEXT}
    words = (
        "Return metrics, as JSON or as Prometheus reads them, by the header Accept. For the owner."
    )
    paths[f"{prefix}/metrics"] = {"get": _guarded("metrics", words, _reply(metrics))}
    words = "Say which parts of the service can be used. For the owner."
    parts = _reply(_json(_reference("PartsReply")))
    paths[f"{prefix}/health"] = {"get": _guarded("parts", words, parts)}
    return paths


def _health() -> Plain:
    """Return the one operation that needs no token."""
    content = _json(_reference("HealthReply"))
    description = _named("health", "Say whether the service is up: whether the ledger can be used.")
    down = _reply(content, "Service Unavailable")
    return {**description, "responses": {"200": _reply(content), "503": down}}


def _operation(operation: Operation[Any]) -> Plain:
    """Return an operation of the table."""
    reply = operation.reply
    schema = _reference(reply.model)
    if reply.is_list:
        title = f"Response {_title(operation.name)}"
        schema = {"type": "array", "items": schema, "title": title}
    content = {"application/jsonl": _TEXT} if reply.is_lines else _json(schema)
    headers = {"headers": _REPLAYED} if operation.is_paid else {}
    answer = {**_reply(content), **headers}
    plain = _guarded(operation.name, operation.description, answer, str(operation.status))
    if operation.is_paid:
        postponed = _json(_reference("PostponedReply"))
        plain["responses"]["202"] = _reply(postponed, models.POSTPONED)
    if operation.parameters:
        plain["parameters"] = [_parameter(operation, one) for one in operation.parameters]
    if operation.body is not None:
        content = _json(_reference(operation.body.name))
        plain["requestBody"] = {"required": True, "content": content}
    return plain


def _parameter(operation: Operation[Any], argument: Argument) -> Plain:
    """Return an argument that travels in the path, the query or a header."""
    name, place = argument.name, "query"
    if argument is REQUEST:
        name, place = REQUEST_KEY.lower(), "header"
    elif f"{{{name}}}" in operation.route[1]:
        place = "path"
    kind = {int: "integer"}.get(argument.kind.annotation, "string")
    bounds = {"ge": "minimum", "le": "maximum"}
    limits = {bounds[key]: value for key, value in argument.kind.limits.items()}
    description = {} if argument.description is None else {"description": argument.description}
    default = {} if argument.default is ... else {"default": argument.default}
    title = name.title() if argument is REQUEST else _title(name)
    schema = {"type": kind, **limits, **description, **default, "title": title}
    return {"name": name, "in": place, "required": not default, "schema": schema, **description}


def _guarded(name: str, description: str, reply: Plain, status: str = "200") -> Plain:
    """Return an operation that needs a token."""
    error = _json(_reference("ErrorReply"))
    responses = {status: reply, "4XX": _reply(error, "Refused."), "5XX": _reply(error, "Failed.")}
    return {**_named(name, description), "security": [{"HTTPBearer": []}], "responses": responses}


def _named(name: str, description: str) -> Plain:
    return {"summary": _title(name), "description": description, "operationId": name}


def _title(name: str) -> str:
    return name.replace("_", " ").title()


def _reply(content: Plain, description: str = "Successful Response") -> Plain:
    return {"description": description, "content": content}


def _json(schema: Plain) -> Plain:
    return {"application/json": {"schema": schema}}


def _reference(model: str) -> Plain:
    return {"$ref": _REFERENCE.format(model=model)}
