"""The datasets of a description that a service holds elsewhere, asked over HTTP."""

import json
from collections.abc import Callable, Mapping
from typing import Any, Protocol
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


class Client(Protocol):
    """What sends requests: an `httpx.Client`."""

    def request(self, method: str, url: str, **sent: Any) -> Any:
        """Send a request, and return the reply."""
        ...


def _as_json(reply: Any) -> Any:
    return reply.json()


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
        return list(map(wire.read_question, self._told("GET", "questions")))

    def columns(self, dataset: str) -> Mapping[str, Column]:
        """Return the declared columns."""
        told = self._told("GET", "columns", params={"dataset": dataset})
        return {column.name: column for column in map(wire.column_from_wire, told)}

    def quote(self, question: str, dataset: str | None, size: int | None) -> Quote:
        """Return the price of a named question."""
        asked = {"question": question, "dataset": dataset, "size": size}
        return wire.read_quote(self._told("POST", "quotes", json=asked))

    def quote_free(
        self, verb: str, dataset: str, column: str, size: int | None, terms: Mapping[str, object]
    ) -> Quote:
        """Return the price of a free question."""
        asked = _free(verb, dataset, column, size, terms)
        return wire.read_quote(self._told("POST", "verbs/quotes", json=asked))

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
        return list(map(wire.read_budget, self._told("GET", "budgets")))

    def releases(self) -> list[PastRelease]:
        """Return what was released to the caller."""
        return list(map(wire.read_past, self._told("GET", "releases")))

    def open_budget(self, dataset: str, analyst: str | None, amounts: Amounts) -> Budget:
        """Open the budget of a dataset, or a share of it."""
        given = _budget(dataset, analyst, amounts)
        return wire.read_budget(self._told("POST", "budgets", json=given))

    def extend_budget(self, dataset: str, analyst: str | None, amounts: Amounts) -> Budget:
        """Give a budget or a share a larger total."""
        given = _budget(dataset, analyst, amounts)
        return wire.read_budget(self._told("POST", "budgets/extensions", json=given))

    def create_token(self, role: str, analyst: str | None, expires: str) -> NewToken:
        """Make a token."""
        given = {"role": role, "analyst": analyst, "expires": expires}
        told = self._told("POST", "tokens", json=given)
        return NewToken(told.pop("token"), Token(**told))

    def tokens(self) -> list[Token]:
        """Return the tokens that were not revoked."""
        return [Token(**told) for told in self._told("GET", "tokens")]

    def revoke_token(self, identity: str) -> Token:
        """Revoke a token."""
        return Token(**self._told("DELETE", f"tokens/{quote(identity, safe='')}"))

    def chain(self, after: int, limit: int) -> tuple[ChainHead, list[Event]]:
        """Return where the chain ends, and events of it."""

        def read(reply: Any) -> tuple[ChainHead, list[Event]]:
            lines = reply.text.rstrip(" ").splitlines()
            return wire.read_chain(reply.headers), [Event(**json.loads(line)) for line in lines]

        found: tuple[ChainHead, list[Event]] = self._told(
            "GET", "audit", read, params={"after": after, "limit": limit}
        )
        return found

    def _paid(self, path: str, asked: dict[str, Any], paying: Paying) -> Release:
        """Return an answer. Every request has a name, so that a lost reply is asked for again at no cost."""
        request = paying.request or str(uuid4())
        most = None if paying.max_cost is None else str(paying.max_cost)
        key = {"Idempotency-Key": request.encode()}  # any name, in UTF-8

        def read(reply: Any) -> Release:
            charged = {"?0": True, "?1": False}[reply.headers[wire.REPLAYED]]
            return wire.read_release({**reply.json(), "charged": charged})

        try:
            found: Release = self._told(
                "POST", path, read, json={**asked, "max_cost": most}, headers=key
            )
        except LedgerUnwritable as error:
            error.add_note(f"if this was paid: request={request!r} asks again at no cost")
            raise
        return found

    def _told(
        self, method: str, path: str, read: Callable[[Any], Any] = _as_json, **sent: Any
    ) -> Any:
        """Return what the service replies, as it is read.

        Raises:
            DiscreetError: that of the service; `LedgerUnwritable` if it cannot be reached or understood.
        """
        reply = self._replied(method, path, sent)
        if reply is None:
            raise LedgerUnwritable("the service cannot be reached; ask again")
        try:
            if reply.status_code in (200, 201):
                return read(reply)
            error: DiscreetError | None = wire.read_error(reply.json())
        except (ValueError, TypeError, KeyError, AttributeError):
            error = None
        raise error or LedgerUnwritable(
            f"what replied is no such service (status {reply.status_code})"
        )

    def _replied(self, method: str, path: str, sent: dict[str, Any]) -> Any:
        from httpx import HTTPError

        try:
            return self._client.request(method, f"/v1/{path}", **sent)
        except HTTPError:
            return None


def connect_to(url: str, token: str) -> Client:
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
        headers={"Authorization": f"Bearer {token}"},
        timeout=60,
        follow_redirects=False,
    )
    found: Client = client
    return found


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
