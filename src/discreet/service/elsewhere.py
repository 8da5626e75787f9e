"""The datasets of a description that a service holds elsewhere, asked over HTTP."""

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol, TypeVar
from urllib.parse import quote
from uuid import uuid4

from ..datasets.column import Column
from ..errors import DiscreetError, InvalidArgument, LedgerUnwritable, MissingPackage
from ..ledger import Budget, Event, Quote
from ..ledger.transaction import ChainHead
from ..node import AllowedQuestion
from ..numbers import positive
from ..releases import Release
from . import wire
from .past_releases import PastRelease
from .rights import Paying
from .side import Amounts
from .tokens import NewToken, Token

if TYPE_CHECKING:
    from pydantic import BaseModel


LONGEST_REPLY = 1 << 28
"""Bytes of the longest reply that is read."""

_PATIENCE = 300.0
"""Seconds in which a reply must come to its end."""

T = TypeVar("T")


class Client(Protocol):
    """What sends requests: a `BoundedClient`."""

    def request(self, method: str, url: str, **sent: Any) -> Any:
        """Send a request, and return the reply."""
        ...


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply that was read to its end.

    Attributes:
        status_code: its status.
        headers: its headers, by names in any letters.
        body: its bytes.
    """

    status_code: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        """The body as text."""
        return self.body.decode()

    def json(self) -> Any:
        """Return the body as JSON."""
        return json.loads(self.body)


@dataclass(frozen=True, slots=True)
class BoundedClient:
    """A client that reads no reply that is longer, or takes longer, than any of a service.

    Attributes:
        client: an `httpx.Client`.
    """

    client: Any

    def request(self, method: str, url: str, **sent: Any) -> Reply:
        """Send a request, and return the reply.

        Raises:
            ValueError: if the reply is none of a service: too long, too slow, or compressed.
        """
        until = monotonic() + _PATIENCE
        with self.client.stream(method, url, **sent) as reply:
            if reply.headers.get("content-encoding", "identity") != "identity":
                raise ValueError("a service compresses nothing")
            body = bytearray()
            for part in reply.iter_raw():
                body += part
                if len(body) > LONGEST_REPLY or monotonic() > until:
                    raise ValueError("too long, or too slow")
        return Reply(reply.status_code, reply.headers, bytes(body))

    def close(self) -> None:
        """Close the connections."""
        self.client.close()


class Elsewhere:
    """The operations of one caller at a service.

    Args:
        client: sends requests, with the token.
    """

    __slots__ = ("_client",)

    def __init__(self, client: Client) -> None:
        self._client = client

    def questions(self) -> list[AllowedQuestion]:
        """Return the named questions."""
        return self._list("GET", "questions", "QuestionReply", wire.read_question)

    def columns(self, dataset: str) -> Mapping[str, Column]:
        """Return the declared columns."""
        asked = {"dataset": dataset}
        found = self._list("GET", "columns", "ColumnReply", wire.column_from_wire, params=asked)
        return {column.name: column for column in found}

    def quote(self, question: str, dataset: str | None, size: int | None) -> Quote:
        """Return the price of a named question."""
        asked = {"question": question, "dataset": dataset, "size": size}
        return self._one("POST", "quotes", "QuoteReply", wire.read_quote, json=asked)

    def quote_free(
        self, verb: str, dataset: str, column: str, size: int | None, terms: Mapping[str, object]
    ) -> Quote:
        """Return the price of a free question."""
        asked = _free(verb, dataset, column, size, terms)
        return self._one("POST", "verbs/quotes", "QuoteReply", wire.read_quote, json=asked)

    def ask(self, question: str, dataset: str | None, size: int | None, paying: Paying) -> Release:
        """Answer a named question."""
        asked = {"question": question, "dataset": dataset, "size": size}
        return self._paid("answers", asked, paying)

    def ask_free(  # noqa: PLR0913
        self, verb: str, dataset: str, column: str, size: int | None, terms: Mapping[str, object],
        paying: Paying,
    ) -> Release:  # fmt: skip
        """Answer a free question."""
        return self._paid("verbs/answers", _free(verb, dataset, column, size, terms), paying)

    def budgets(self) -> list[Budget]:
        """Return the budgets of the caller."""
        return self._list("GET", "budgets", "BudgetReply", wire.read_budget)

    def releases(self) -> list[PastRelease]:
        """Return what was released to the caller."""
        return self._list("GET", "releases", "PastReleaseReply", wire.read_past)

    def open_budget(self, dataset: str, analyst: str | None, amounts: Amounts) -> Budget:
        """Open the budget of a dataset, or a share of it."""
        given = _budget(dataset, analyst, amounts)
        return self._one("POST", "budgets", "BudgetReply", wire.read_budget, json=given)

    def extend_budget(self, dataset: str, analyst: str | None, amounts: Amounts) -> Budget:
        """Give a budget or a share a larger total."""
        given = _budget(dataset, analyst, amounts)
        return self._one("POST", "budgets/extensions", "BudgetReply", wire.read_budget, json=given)

    def create_token(self, role: str, analyst: str | None, expires: str) -> NewToken:
        """Make a token."""
        given = {"role": role, "analyst": analyst, "expires": expires}

        def made(told: dict[str, Any]) -> NewToken:
            return NewToken(told.pop("token"), Token(**told))

        return self._one("POST", "tokens", "NewTokenReply", made, json=given)

    def tokens(self) -> list[Token]:
        """Return the tokens that were not revoked."""
        return self._list("GET", "tokens", "TokenReply", lambda told: Token(**told))

    def revoke_token(self, identity: str) -> Token:
        """Revoke a token."""
        path = f"tokens/{quote(identity, safe='')}"
        return self._one("DELETE", path, "TokenReply", lambda told: Token(**told))

    def chain(self, after: int, limit: int) -> tuple[ChainHead, list[Event]]:
        """Return where the chain ends, and events of it."""

        def read(reply: Any) -> tuple[ChainHead, list[Event]]:
            lines = reply.text.rstrip(" ").splitlines()
            events = [Event(**_checked("EventReply", json.loads(line))) for line in lines]
            return wire.read_chain(reply.headers), events

        return self._told("GET", "audit", read, params={"after": after, "limit": limit})

    def _paid(self, path: str, asked: dict[str, Any], paying: Paying) -> Release:
        """Return an answer. Every request has a name, so that a lost reply is asked for again at no cost."""
        request = paying.request or str(uuid4())
        most = None if paying.max_cost is None else str(paying.max_cost)
        key = {"Idempotency-Key": request.encode()}  # any name, in UTF-8

        def read(reply: Any) -> Release:
            charged = {"?0": True, "?1": False}[reply.headers[wire.REPLAYED]]
            return wire.read_release({**_checked("ReleaseReply", reply.json()), "charged": charged})

        try:
            return self._told("POST", path, read, json={**asked, "max_cost": most}, headers=key)
        except LedgerUnwritable as error:
            error.add_note(f"if this was paid: request={request!r} asks again at no cost")
            raise

    def _one(self, method: str, path: str, model: str, read: Callable[[Any], T], **sent: Any) -> T:
        """Return what the service replies, checked by a model."""
        return self._told(method, path, lambda reply: read(_checked(model, reply.json())), **sent)

    def _list(
        self, method: str, path: str, model: str, read: Callable[[Any], T], **sent: Any
    ) -> list[T]:
        """Return the list that the service replies, each checked by a model."""

        def listed(reply: Any) -> list[T]:
            given: list[Any] = reply.json()
            if not isinstance(given, list):
                raise TypeError("no list")
            return [read(_checked(model, one)) for one in given]

        return self._told(method, path, listed, **sent)

    def _told(self, method: str, path: str, read: Callable[[Any], T], **sent: Any) -> T:
        """Return what the service replies, as it is read.

        Raises:
            DiscreetError: that of the service; `LedgerUnwritable` if it cannot be reached or understood.
        """
        reply = self._replied(method, path, sent)
        error: DiscreetError | None = None
        # Whatever was sent, it ends in an error of ours: also what is nested too deeply, or of other types.
        with suppress(Exception):
            if reply.status_code in (200, 201):
                return read(reply)
            error = wire.read_error(_checked("ErrorReply", reply.json()))
        raise error or LedgerUnwritable(
            f"what replied is no such service (status {reply.status_code})"
        )

    def _replied(self, method: str, path: str, sent: dict[str, Any]) -> Any:
        from httpx import HTTPError

        try:
            return self._client.request(method, f"/v1/{path}", **sent)
        except HTTPError:
            wrong = "the service cannot be reached; ask again"
        except ValueError:
            wrong = (
                "what replied is no such service: its reply is too long, too slow, or compressed"
            )
        raise LedgerUnwritable(wrong)


def _checked(model: str, given: Any) -> dict[str, Any]:
    """Return what a reply holds, if it is as a model of `models` says; other fields are left out.

    Raises:
        ValueError: if it is not.
    """
    from . import models

    checked: BaseModel = getattr(models, model).model_validate(given, strict=True)
    return checked.model_dump(exclude_unset=True)


def connect_to(url: str, token: str) -> BoundedClient:
    """Return a client of a service.

    Raises:
        InvalidArgument: if it is no URL, or the token would travel in the clear: over HTTP to another machine.
        MissingPackage: if httpx is not installed.
    """
    try:
        import httpx
    except ImportError:
        httpx = None  # type: ignore[assignment]
    if httpx is None:
        raise MissingPackage("a service is reached with httpx: pip install 'discreet[server]'")
    at = _url(httpx, url)
    if at.userinfo:
        raise InvalidArgument("leave names and passwords out of the URL; the token says who asks")
    if at.scheme != "https" and at.host not in ("127.0.0.1", "localhost", "::1"):
        raise InvalidArgument(
            "give an https:// URL: over http:// everybody on the way reads the token"
        )
    client: Any = httpx.Client(
        base_url=at,
        headers={"Authorization": f"Bearer {token}", "Accept-Encoding": "identity"},
        timeout=60,
        follow_redirects=False,
    )
    return BoundedClient(client)


def _url(httpx: Any, url: str) -> Any:
    try:
        return httpx.URL(url)
    except httpx.InvalidURL:
        pass
    raise InvalidArgument("this URL cannot be read; it has the form https://data.example.org")


def _budget(dataset: str, analyst: str | None, amounts: Amounts) -> dict[str, Any]:
    exact_texts = {
        kind: None if amount is None else str(positive(amount, kind))
        for kind, amount in amounts.items()
    }
    return {"dataset": dataset, "analyst": analyst, **exact_texts}


def _free(
    verb: str, dataset: str, column: str, size: int | None, terms: Mapping[str, object]
) -> dict[str, Any]:
    written = {name: wire.write_value(value) for name, value in terms.items()}
    return {"verb": verb, "dataset": dataset, "column": column, "size": size, "terms": written}
