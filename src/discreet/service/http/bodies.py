"""The arguments of an operation, as a request of HTTP holds them."""

import json
from functools import cache
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, create_model, model_validator
from starlette.requests import Request

from ...errors import InvalidArgument
from ..asking.operations import REQUEST, REQUEST_KEY, Argument, Body, Operation
from ..asking.refusals import RefusedError


def read_arguments(operation: Operation[Any], request: Request, body: bytes) -> dict[str, Any]:
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


@cache
def body_model(body: Body) -> type[BaseModel]:
    """Return the model by which a body is checked: it holds declared fields alone."""
    fields = _fields(body.arguments)
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


@cache
def parameter_model(operation: Operation[Any]) -> type[BaseModel]:
    """Return the model that checks the parameters beside a body: texts, that may spell numbers."""
    model: type[BaseModel] = create_model(operation.name, **_fields(operation.parameters))
    return model


def _fields(arguments: tuple[Argument, ...]) -> dict[str, Any]:
    """Return the fields of a model of some arguments."""
    return {
        one.name: (
            str if one is REQUEST else one.kind.annotation,
            Field(
                one.default,
                description=one.description,
                json_schema_extra=one.kind.schema,
                **one.kind.limits,
            ),
        )
        for one in arguments
    }
