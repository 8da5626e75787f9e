"""The service: described datasets over HTTP, under /v1. Every caller brings a token."""

import json
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import Annotated, Any

from fastapi import FastAPI, Header, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, ConfigDict, Field
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware.trustedhost import TrustedHostMiddleware

from ..datasets.configuration import Configuration
from ..errors import (
    DiscreetError,
    InvalidArgument,
    NotAllowed,
    Unanswerable,
    UnknownName,
)
from ..node.datasets import Datasets
from ..node.isolation import error_for_analyst
from . import wire
from .connection import Connection
from .held import auditor_rights, hold, rights
from .in_process import InProcess
from .limits import RateLimit, ShortBodies
from .pages import add_pages, lost
from .slots import LENGTH, App, Slots, read_slot
from .statuses import status_of
from .tokens import Token, Tokens, beside

ACCESS = logging.getLogger("discreet.access")

_SLOT = "1s"

_Bearer = Annotated[str | None, Header(description="Bearer, and the token.")]
_Key = Annotated[str, Header(description="The name of the request: charged and drawn once.")]
_Work = Callable[[Connection, Token], Response]


class _Asked(BaseModel):
    """A named question."""

    model_config = ConfigDict(extra="forbid", strict=True)

    question: str = Field(description="The name of the question.")
    dataset: str | None = Field(
        None, description="Its dataset, where several have such a question."
    )
    size: int | None = Field(None, description="How many independent answers.")


class _AskedToPay(_Asked):
    """A named question, and what is paid for its answer."""

    max_cost: str | None = Field(None, description="Refuse to pay more: ε, or ρ, such as 1/2.")


class _Free(BaseModel):
    """A free question."""

    model_config = ConfigDict(extra="forbid", strict=True)

    verb: str = Field(description="A verb that the owner allows, such as median.")
    dataset: str
    column: str
    size: int | None = None
    terms: dict[str, Any] = Field(default_factory=dict, description="epsilon, candidates, by, …")


class _FreeToPay(_Free):
    """A free question, and what is paid for its answer."""

    max_cost: str | None = None


class _RefusedError(Exception):
    """A request that is refused before anything is done for it."""

    def __init__(self, error: DiscreetError, status: int) -> None:
        super().__init__()
        self.error, self.status = error, status


@dataclass(slots=True)
class Service:
    """Everything that answers: the datasets, the tokens, and the limits.

    Attributes:
        declared: the description.
        held: its datasets.
        tokens: who may ask.
        rate: how often one token may ask.
        slots: when replies leave.
    """

    declared: Configuration
    held: Datasets
    tokens: Tokens
    rate: RateLimit = field(default_factory=RateLimit)
    slots: Slots | None = None

    def caller(self, authorization: str | None) -> Token:
        """Return what is kept of the token in a header.

        Raises:
            _RefusedError: 401 if it is not valid, 429 if it asks too often.
        """
        scheme, _, text = (authorization or "").partition(" ")
        try:
            token = self.tokens.find(text if scheme.lower() == "bearer" else "")
        except NotAllowed as error:
            raise _RefusedError(error, 401) from None
        if not self.rate.admits(token.id):
            raise _RefusedError(NotAllowed("this token asks too often; wait a minute"), 429)
        return token

    def connection(self, token: Token) -> Connection:
        """Return the connection of a caller."""
        asking = (
            auditor_rights(self.held, self.declared)
            if token.role == "auditor"
            else rights(self.held, self.declared, token.analyst)
        )
        bounded = replace(asking, longest=LENGTH // 2)
        return Connection(InProcess(bounded, lambda: None), "a service")


def make_app(declared: Configuration, hosts: list[str]) -> App:
    """Return the service as an ASGI application.

    Args:
        declared: the description, with its ledger open.
        hosts: the names under which the service may be called.
    """
    service = Service(declared, hold(declared), beside(declared.path))
    api = FastAPI(
        title="discreet", docs_url=None, redoc_url=None, openapi_url="/v1/openapi.json",
        swagger_ui_oauth2_redirect_url=None,
    )  # fmt: skip
    _add_errors(api)
    _add_views(api, service)
    _add_questions(api, service)
    _add_free_questions(api, service)
    _add_audit(api, service)
    _add_metrics(api, service)
    add_pages(api, service)
    api.middleware("http")(_logged)
    trusted: Any = TrustedHostMiddleware(api, allowed_hosts=hosts)
    inner: Any = ShortBodies(trusted)
    service.slots = Slots(inner, read_slot(declared.server.get("slot", _SLOT)))
    return service.slots


def _add_views(api: FastAPI, service: Service) -> None:
    """Add what is looked at, and costs nothing."""

    @api.get("/healthz")
    def healthz() -> dict[str, str]:
        """Say that the service answers."""
        return {"status": "ok"}

    @api.get("/v1/questions")
    async def questions(authorization: _Bearer = None) -> Response:
        """List the named questions."""
        return await _reply(
            service, authorization, lambda c: list(map(wire.write_question, c.questions()))
        )

    @api.get("/v1/columns")
    async def columns(dataset: str, authorization: _Bearer = None) -> Response:
        """List the declared columns of a dataset."""

        def listed(c: Connection) -> list[dict[str, Any]]:
            return list(map(wire.write_column, c.columns(dataset).values()))

        return await _reply(service, authorization, listed)

    @api.get("/v1/budgets")
    async def budgets(authorization: _Bearer = None) -> Response:
        """List the caller's budgets."""
        return await _reply(
            service, authorization, lambda c: list(map(wire.write_budget, c.budgets()))
        )

    @api.get("/v1/releases")
    async def releases(authorization: _Bearer = None) -> Response:
        """List what was released to the caller before."""
        return await _reply(
            service, authorization, lambda c: list(map(wire.write_past, c.releases()))
        )


def _add_questions(api: FastAPI, service: Service) -> None:
    """Add prices and answers."""

    @api.post("/v1/quotes")
    async def quotes(asked: _Asked, authorization: _Bearer = None) -> Response:
        """Return the price of a named question."""

        def quoted(c: Connection) -> dict[str, Any]:
            return wire.write_quote(c.quote(asked.question, dataset=asked.dataset, size=asked.size))

        return await _reply(service, authorization, quoted)

    @api.post("/v1/answers")
    async def answers(
        asked: _AskedToPay,
        idempotency_key: _Key,
        authorization: _Bearer = None,
    ) -> Response:
        """Answer a named question, and charge it once for each Idempotency-Key."""

        def answered(c: Connection) -> dict[str, Any]:
            found = c.ask(
                asked.question, dataset=asked.dataset, size=asked.size, request=idempotency_key,
                max_cost=asked.max_cost,
            )  # fmt: skip
            return wire.write_release(found)

        return await _reply(service, authorization, answered)


def _add_free_questions(api: FastAPI, service: Service) -> None:
    """Add prices and answers of free questions."""

    @api.post("/v1/verbs/quotes")
    async def free_quotes(asked: _Free, authorization: _Bearer = None) -> Response:
        """Return the price of a free question."""

        def quoted(c: Connection) -> dict[str, Any]:
            found = c.quote_verb(
                asked.verb, asked.dataset, asked.column, size=asked.size, **_terms(asked)
            )
            return wire.write_quote(found)

        return await _reply(service, authorization, quoted)

    @api.post("/v1/verbs/answers")
    async def free_answers(
        asked: _FreeToPay,
        idempotency_key: _Key,
        authorization: _Bearer = None,
    ) -> Response:
        """Answer a free question, and charge it once for each Idempotency-Key."""

        def answered(c: Connection) -> dict[str, Any]:
            found = c.ask_verb(
                asked.verb, asked.dataset, asked.column, size=asked.size, request=idempotency_key,
                max_cost=asked.max_cost, **_terms(asked),
            )  # fmt: skip
            return wire.write_release(found)

        return await _reply(service, authorization, answered)


def _add_audit(api: FastAPI, service: Service) -> None:
    """Add the chain of events, for owners and auditors."""

    @api.get("/v1/audit")
    async def audit(authorization: _Bearer = None) -> Response:
        """Return all events of the ledger as JSON lines, to be verified."""
        return await run_in_threadpool(_replied, service, authorization, _chain(service))


def _chain(service: Service) -> _Work:
    """Return what answers with the events of all datasets."""

    def chain(connection: Connection, token: Token) -> Response:
        if token.role == "analyst":
            raise NotAllowed("the history of all is for owners and auditors")
        events = service.held.events()
        lines = "".join(f"{json.dumps(event.as_dict())}\n" for event in events)
        head = {"Ledger-Head": events[-1].head} if events else {}
        return Response(lines, media_type="application/jsonl", headers=head)

    return chain


def _add_metrics(api: FastAPI, service: Service) -> None:
    """Add what the owner alone is told."""

    def told(connection: Connection, token: Token) -> Response:
        if token.role != "owner":
            raise NotAllowed("metrics are for the owner")
        return JSONResponse({"missed_slots": 0 if service.slots is None else service.slots.missed})

    @api.get("/v1/metrics")
    async def metrics(authorization: _Bearer = None) -> Response:
        """Return how many replies were not ready at the first slot."""
        return await run_in_threadpool(_replied, service, authorization, told)


def _terms(asked: _Free) -> dict[str, Any]:
    """Return the terms of a free question as values; names of our own arguments are refused."""
    reserved = {
        "self",
        "verb",
        "dataset",
        "column",
        "size",
        "request",
        "max_cost",
    } & asked.terms.keys()
    if reserved:
        raise InvalidArgument(f"terms may not hold {', '.join(sorted(reserved))}")
    return {name: wire.read_value(value) for name, value in asked.terms.items()}


async def _reply(
    service: Service, authorization: str | None, work: Callable[[Connection], Any]
) -> Response:
    """Answer a caller with what the work returns, as JSON."""

    def as_json(connection: Connection, token: Token) -> Response:
        return JSONResponse(work(connection))

    return await run_in_threadpool(_replied, service, authorization, as_json)


def _replied(service: Service, authorization: str | None, work: _Work) -> Response:
    """Answer a caller; whatever fails is told as the caller may see it, and never with a traceback."""
    try:
        token = service.caller(authorization)
        return work(service.connection(token), token)
    except _RefusedError as refused:
        return _failure(refused.error, refused.status)
    except DiscreetError as error:
        return _failure(error)
    except Exception:
        pass
    return _failure(Unanswerable(str(error_for_analyst(Exception()))))


def _failure(error: DiscreetError, status: int | None = None) -> JSONResponse:
    """Return the reply for an error."""
    found = status or status_of(error)
    headers = {"WWW-Authenticate": "Bearer"} if found == 401 else None
    return JSONResponse(wire.write_error(error), found, headers)


def _add_errors(api: FastAPI) -> None:
    """Replace the replies of the framework, which quote what was sent."""

    @api.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: Exception) -> Response:
        return _failure(InvalidArgument("the request is not as /v1/openapi.json says"))

    @api.exception_handler(HTTPException)
    async def failed(request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 500
        if not request.url.path.startswith("/v1"):
            return lost(request, status)
        return _failure(UnknownName("there is nothing at this path, or not by this method"), status)


async def _logged(request: Request, proceed: Callable[[Request], Awaitable[Response]]) -> Response:
    """Log a request by method, the path of its route, status and time: nothing else that a caller wrote."""
    began = monotonic()
    response = await proceed(request)
    route = request.scope.get("route")
    told = {
        "method": request.method, "path": getattr(route, "path", "unknown"),
        "status": response.status_code, "milliseconds": round(1000 * (monotonic() - began)),
    }  # fmt: skip
    ACCESS.info(json.dumps(told))
    return response
