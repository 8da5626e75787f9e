"""The routes of the owner and of auditors, under /v1: budgets, tokens, the chain of events, metrics."""

import json
from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import JSONResponse, PlainTextResponse, Response

from . import models, wire
from .connection import Connection
from .health import Health
from .metrics import Told, as_json, as_text
from .ownership import MOST_EVENTS
from .replies import Answering, Asked, for_owners, reply, reply_with
from .tokens import Token

After = Annotated[int, Query(ge=0, description="The number of the last event known already.")]
Limit = Annotated[int, Query(ge=1, le=MOST_EVENTS, description="The most events in one reply.")]

_LINES = {200: {"content": {"application/jsonl": {"schema": {"type": "string"}}}}}
_TEXT: dict[int | str, dict[str, Any]] = {
    200: {"model": models.Metrics, "content": {"text/plain": {"schema": {"type": "string"}}}}
}


def add_budgets(api: APIRouter, service: Answering) -> None:
    """Add what opens and extends budgets."""

    @api.post("/budgets", response_model=models.BudgetReply, status_code=201)
    async def open_budget(asked: Asked, given: models.BudgetToOpen) -> Response:
        """Open the declared budget of a dataset, or an analyst's share of it; for the owner."""

        def opened(c: Connection) -> dict[str, object]:
            return wire.write_budget(c.open_budget(**given.model_dump()))

        return await reply(service, asked, opened, 201)

    @api.post("/budgets/extensions", response_model=models.BudgetReply)
    async def extend_budget(asked: Asked, given: models.BudgetToOpen) -> Response:
        """Give a budget or a share a larger total; for the owner."""

        def extended(c: Connection) -> dict[str, object]:
            return wire.write_budget(c.extend_budget(**given.model_dump()))

        return await reply(service, asked, extended)


def add_tokens(api: APIRouter, service: Answering) -> None:
    """Add what makes and revokes tokens."""

    @api.get("/tokens", response_model=list[models.TokenReply])
    async def tokens(asked: Asked) -> Response:
        """List the tokens that were not revoked, expired ones too; for the owner."""
        return await reply(service, asked, lambda c: [one.as_dict() for one in c.tokens()])

    @api.post("/tokens", response_model=models.NewTokenReply, status_code=201)
    async def create_token(asked: Asked, given: models.TokenToCreate) -> Response:
        """Make a token, which is shown once, and ends with the one it is made with; for the owner."""

        def made(c: Connection) -> dict[str, object]:
            return c.create_token(**given.model_dump()).as_dict()

        return await reply(service, asked, made, 201)

    @api.delete("/tokens/{identity}", response_model=models.TokenReply)
    async def revoke_token(asked: Asked, identity: str) -> Response:
        """Revoke a token by its id, and all made with it: from now on they are refused; for the owner."""
        return await reply(service, asked, lambda c: c.revoke_token(identity).as_dict())


def add_audit(api: APIRouter, service: Answering) -> None:
    """Add the chain of events."""

    @api.get("/audit", response_class=Response, responses=_LINES)  # type: ignore[arg-type]
    async def audit(asked: Asked, after: After = 0, limit: Limit = MOST_EVENTS) -> Response:
        """Return events of the ledger as JSON lines, to be verified; for owners and auditors.

        The headers tell where the chain ends now: Ledger-Id, Ledger-Schema, Ledger-Events and Ledger-Head.
        """

        def page(connection: Connection, _: Token) -> Response:
            chain, events = connection.chain(after, limit)
            lines = "".join(f"{json.dumps(event.as_dict())}\n" for event in events)
            headers = wire.write_chain(chain)
            return Response(lines, media_type="application/jsonl", headers=headers)

        return await reply_with(service, asked, page)


def add_health(api: APIRouter, service: Answering, health: Health) -> None:
    """Add which parts of the service can be used, which the owner alone is told."""

    @api.get("/health", response_model=models.PartsReply)
    async def parts(asked: Asked) -> Response:
        """Say which parts of the service can be used; for the owner."""

        def checked(_: Connection, token: Token) -> Response:
            for_owners(token)
            found = health.parts()
            said = {name: "ok" if holds else "unavailable" for name, holds in found.items()}
            status = "ok" if all(found.values()) else "degraded"
            return JSONResponse({"status": status, "parts": said})

        return await reply_with(service, asked, checked)


def add_metrics(api: APIRouter, service: Answering, told: Told) -> None:
    """Add what the owner alone is told of the service."""

    @api.get("/metrics", responses=_TEXT)
    async def metrics(asked: Asked) -> Response:
        """Return metrics, as JSON or as Prometheus reads them, by the header Accept; for the owner."""

        def measured(connection: Connection, token: Token) -> Response:
            for_owners(token)
            accepted, budgets = asked.headers.get("accept", ""), connection.budgets()
            if "text/plain" in accepted or "openmetrics" in accepted:
                return PlainTextResponse(as_text(told, budgets))
            return JSONResponse(as_json(told, budgets))

        return await reply_with(service, asked, measured)
