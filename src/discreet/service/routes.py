"""The routes of those who ask, under /v1: questions, columns, prices, answers, budgets, and releases before."""

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query
from fastapi.responses import JSONResponse, Response

from ..error_boundary import public_errors
from ..errors import InvalidArgument
from ..releases import Release
from . import models, wire
from .connection import Connection
from .refusals import charged_failures
from .replies import Answering, AnswerWork, Asked, reply, reply_with
from .tokens import Token

RequestKey = Annotated[str, Header(description="The name of the request: charged and drawn once.")]
OfDataset = Annotated[str, Query(description="The name of the dataset.")]

_REPLAYED: dict[int | str, dict[str, Any]] = {
    200: {
        "headers": {
            wire.REPLAYED: {
                "description": "?1 if the request was charged before: its answer has the same bytes.",
                "schema": {"type": "string", "enum": ["?0", "?1"]},
            }
        }
    }
}

_RESERVED = frozenset({"self", "verb", "dataset", "column", "size", "request", "max_cost"})


def add_views(api: APIRouter, service: Answering) -> None:
    """Add what is looked at, and costs nothing."""

    @api.get("/questions", response_model=list[models.QuestionReply])
    async def questions(asked: Asked) -> Response:
        """List the named questions."""
        return await reply(service, asked, lambda c: list(map(wire.write_question, c.questions())))

    @api.get("/columns", response_model=list[models.ColumnReply])
    async def columns(asked: Asked, dataset: OfDataset) -> Response:
        """List the declared columns of a dataset."""

        def listed(c: Connection) -> list[dict[str, Any]]:
            return list(map(wire.write_column, c.columns(dataset).values()))

        return await reply(service, asked, listed)

    @api.get("/budgets", response_model=list[models.BudgetReply])
    async def budgets(asked: Asked) -> Response:
        """List the caller's budgets."""
        return await reply(service, asked, lambda c: list(map(wire.write_budget, c.budgets())))

    @api.get("/releases", response_model=list[models.PastReleaseReply])
    async def releases(asked: Asked) -> Response:
        """List what was released to the caller before."""
        return await reply(service, asked, lambda c: list(map(wire.write_past, c.releases())))


def add_questions(api: APIRouter, service: Answering) -> None:
    """Add prices and answers of named questions."""

    @api.post("/quotes", response_model=models.QuoteReply)
    async def quote(asked: Asked, about: models.NamedQuestion) -> Response:
        """Return the price of a named question, and how far off an answer may be."""

        def quoted(c: Connection) -> dict[str, Any]:
            return wire.write_quote(c.quote(about.question, dataset=about.dataset, size=about.size))

        return await reply(service, asked, quoted)

    @api.post("/answers", response_model=models.ReleaseReply, responses=_REPLAYED)
    async def answer(
        asked: Asked, about: models.QuestionToPay, idempotency_key: RequestKey
    ) -> Response:
        """Answer a named question, and charge it once for each Idempotency-Key."""

        def answered(c: Connection) -> Release:
            return c.ask(
                about.question, dataset=about.dataset, size=about.size, max_cost=about.max_cost,
                request=_request(idempotency_key),
            )  # fmt: skip

        return await reply_with(service, asked, _released(answered, idempotency_key))


def add_free_questions(api: APIRouter, service: Answering) -> None:
    """Add prices and answers of free questions."""

    @api.post("/verbs/quotes", response_model=models.QuoteReply)
    async def quote_verb(asked: Asked, about: models.FreeQuestion) -> Response:
        """Return the price of a free question, and how far off an answer may be."""

        def quoted(c: Connection) -> dict[str, Any]:
            found = c.quote_verb(
                about.verb, about.dataset, about.column, size=about.size, **_terms(about)
            )
            return wire.write_quote(found)

        return await reply(service, asked, quoted)

    @api.post("/verbs/answers", response_model=models.ReleaseReply, responses=_REPLAYED)
    async def answer_verb(
        asked: Asked, about: models.FreeQuestionToPay, idempotency_key: RequestKey
    ) -> Response:
        """Answer a free question, and charge it once for each Idempotency-Key."""

        def answered(c: Connection) -> Release:
            return c.ask_verb(
                about.verb, about.dataset, about.column, size=about.size, max_cost=about.max_cost,
                request=_request(idempotency_key), **_terms(about),
            )  # fmt: skip

        return await reply_with(service, asked, _released(answered, idempotency_key))


def _released(work: Callable[[Connection], Release], key: str) -> AnswerWork:
    """Return what answers with a release: the same bytes for a request, and in a header if it is the first."""

    def released(connection: Connection, token: Token) -> Response:
        release = work(connection)
        with charged_failures(_request(key)):
            told = wire.write_release(release)
            replayed = {wire.REPLAYED: "?0" if told.pop("charged") else "?1"}
            return JSONResponse(told, headers=replayed)

    return released


@public_errors()
def _terms(about: models.FreeQuestion) -> dict[str, Any]:
    """Return the terms of a free question as values; names of our own arguments are refused."""
    reserved = _RESERVED & about.terms.keys()
    if reserved:
        raise InvalidArgument(f"terms may not hold {', '.join(sorted(reserved))}")
    return {name: wire.read_value(value) for name, value in about.terms.items()}


@public_errors()
def _request(key: str) -> str:
    """Return the name of a request, whose header is read as Latin-1 and written as UTF-8."""
    try:
        return key.encode("latin-1").decode()
    except UnicodeError:
        pass
    raise InvalidArgument("the Idempotency-Key must be text in UTF-8")
