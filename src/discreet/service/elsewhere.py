"""The datasets of a description that a service holds elsewhere, asked over HTTP."""

from collections.abc import Mapping
from typing import Any, Protocol
from uuid import uuid4

from ..datasets.column import Column
from ..errors import DiscreetError, InvalidArgument, LedgerUnwritable, MissingPackage
from ..ledger import Budget, Quote
from ..node import AllowedQuestion
from ..releases import Release
from . import wire
from .past_releases import PastRelease
from .rights import Paying


class Client(Protocol):
    """What sends requests: an `httpx.Client`."""

    def request(self, method: str, url: str, **sent: Any) -> Any:
        """Send a request, and return the reply."""
        ...


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
        return {column.name: column for column in map(wire.read_column, told)}

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

    def _paid(self, path: str, asked: dict[str, Any], paying: Paying) -> Release:
        """Return an answer. Every request has a name, so that a lost reply is asked for again at no cost."""
        request = paying.request or str(uuid4())
        most = None if paying.max_cost is None else str(paying.max_cost)
        key = {"Idempotency-Key": request}
        try:
            told = self._told("POST", path, json={**asked, "max_cost": most}, headers=key)
        except LedgerUnwritable as error:
            error.add_note(f"if this was paid: request={request!r} asks again at no cost")
            raise
        return wire.read_release(told)

    def _told(self, method: str, path: str, **sent: Any) -> Any:
        """Return what the service replies.

        Raises:
            DiscreetError: that of the service; `LedgerUnwritable` if it cannot be reached or understood.
        """
        reply = self._replied(method, path, sent)
        if reply is None:
            raise LedgerUnwritable("the service cannot be reached; ask again")
        try:
            told = reply.json()
            if reply.status_code == 200:
                return told
            error: DiscreetError | None = wire.read_error(told)
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


def _free(
    verb: str, dataset: str, column: str, size: int | None, terms: Mapping[str, object]
) -> dict[str, Any]:
    written = {name: wire.write_value(value) for name, value in terms.items()}
    return {"verb": verb, "dataset": dataset, "column": column, "size": size, "terms": written}
