"""The datasets of a description that a service holds elsewhere, asked over HTTP."""

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import quote
from uuid import uuid4

from ...errors import DiscreetError, InvalidArgument, LedgerUnwritable, MissingPackage
from ...privacy.weak_promises import say_weakness
from ...selection.releases import Release
from ..asking import wire
from ..asking.operations import REQUEST, REQUEST_KEY, Operation, Reply, T

if TYPE_CHECKING:
    from pydantic import BaseModel


LONGEST_REPLY = 1 << 28
"""Bytes of the longest reply that is read."""

_SECONDS_FOR_A_REPLY = 300.0
"""Seconds in which a reply must come to its end."""


_POSTPONED = 202
_PAUSE = 1.0
"""Seconds after which an answer that comes later is asked for again."""

_SILENCE = 90.0
"""Seconds for which nothing may come: a service says after a minute that the answer comes later."""


class Client(Protocol):
    """A client that sends requests: a `BoundedClient`."""

    def request(self, method: str, url: str, **options: Any) -> Any:
        """Send a request, and return the reply."""


@dataclass(frozen=True, slots=True)
class BoundedReply:
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

    def request(self, method: str, url: str, **options: Any) -> BoundedReply:
        """Send a request, and return the reply.

        Raises:
            ValueError: if the reply is none of a service: too long, too slow, or compressed.
        """
        until = monotonic() + _SECONDS_FOR_A_REPLY
        with self.client.stream(method, url, **options) as reply:
            if reply.headers.get("content-encoding", "identity") != "identity":
                raise ValueError("a service compresses nothing")
            body = bytearray()
            for part in reply.iter_raw():
                body += part
                if len(body) > LONGEST_REPLY or monotonic() > until:
                    raise ValueError("too long, or too slow")
        return BoundedReply(reply.status_code, reply.headers, bytes(body))

    def close(self) -> None:
        """Close the connections."""
        self.client.close()


class HttpClient:
    """The operations of one caller at a service.

    Args:
        client: sends requests, with the token.
    """

    __slots__ = ("_client",)

    def __init__(self, client: Client) -> None:
        self._client = client

    def call(self, operation: Operation[T], **arguments: Any) -> T:
        """Return the result of an operation, as the service replies it.

        A request that is charged always has a name, so that a lost reply is asked for again at no cost. An answer
        that comes later is waited for, and asked for by that name.
        """
        values = operation.check(arguments)
        if not operation.is_paid:
            return self._send(operation, values)
        request = values["request"] or str(uuid4())
        try:
            return self._send(operation, {**values, "request": request})
        except (LedgerUnwritable, KeyboardInterrupt) as error:
            error.add_note(f"if this was paid, retry with request={request!r} at no cost")
            raise

    def _send(self, operation: Operation[T], values: Mapping[str, Any]) -> T:
        """Send the arguments in the path, the query, a header and the body, and return the result."""
        method, path = operation.route
        plain = operation.write(values)
        options: dict[str, Any] = {}
        if operation.is_paid:
            options["headers"] = {
                REQUEST_KEY: plain.pop(REQUEST.name).encode()
            }  # any name, in UTF-8
        if operation.body is not None:
            options["json"] = plain
        elif method == "GET" and plain:
            options["params"] = plain
        path_values = {name: quote(str(value), safe="") for name, value in plain.items()}
        answer = self._request(method, path.format(**path_values), operation.reply, options)
        if isinstance(answer, Release):
            with suppress(Warning):  # made an error it could refuse nothing: the answer is paid
                say_weakness(answer.guarantee)
        return answer

    def _request(self, method: str, path: str, reply_type: Reply[T], options: dict[str, Any]) -> T:
        """Return the reply of the service, as its type reads it.

        Raises:
            DiscreetError: that of the service; `LedgerUnwritable` if it cannot be reached or understood.
        """
        reply = self._respond(method, path, options)
        is_postponed = reply.status_code == _POSTPONED
        while reply.status_code == _POSTPONED:
            sleep(_PAUSE)
            reply = self._respond(method, path, options)
        error: DiscreetError | None = None
        # Whatever was sent, it ends in an error of ours: also what is nested too deeply, or of other types.
        with suppress(Exception):
            if reply.status_code in (200, 201):
                answer = reply_type.read(_read_content(reply_type, reply), reply.headers)
                return _after_waiting(answer) if is_postponed else answer
            error = wire.read_error(_validate("ErrorReply", reply.json()))
        raise error or LedgerUnwritable(
            f"what replied is not this service (status {reply.status_code})"
        )

    def _respond(self, method: str, path: str, options: dict[str, Any]) -> Any:
        from httpx import HTTPError

        try:
            return self._client.request(method, f"/v1{path}", **options)
        except HTTPError:
            message = "the service cannot be reached. Check its address and that it runs, and retry"
        except ValueError:
            message = (
                "what replied is not this service: its reply is too long, too slow, or compressed"
            )
        raise LedgerUnwritable(message)


def _after_waiting(answer: Any) -> Any:
    """Return an answer that was waited for. It was paid meanwhile, in one of the requests."""
    return (
        replace(answer, charged=None)
        if isinstance(answer, Release) and not answer.charged
        else answer
    )


def _read_content(reply_type: Reply[T], reply: Any) -> Any:
    """Return the JSON of a reply, checked by its model."""
    if not reply_type.is_list:
        return _validate(reply_type.model, reply.json())
    if reply_type.is_lines:
        items = [json.loads(line) for line in reply.text.rstrip(" ").splitlines()]
    else:
        items = reply.json()
    if not isinstance(items, list):
        raise TypeError("no list")
    return [_validate(reply_type.model, one) for one in items]


def _validate(model: str, plain: Any) -> dict[str, Any]:
    """Return the fields of a reply, if they are as a model of `models` says. Others are left out.

    Raises:
        ValueError: if it is not.
    """
    from . import models

    instance: BaseModel = getattr(models, model).model_validate(plain, strict=True)
    return instance.model_dump(exclude_unset=True)


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
    address = _url(httpx, url)
    if address.userinfo:
        raise InvalidArgument("leave names and passwords out of the URL. The token says who asks")
    if address.scheme != "https" and address.host not in ("127.0.0.1", "localhost", "::1"):
        raise InvalidArgument(
            "give an https:// URL: over http:// others on the network can read the token"
        )
    client: Any = httpx.Client(
        base_url=address,
        headers={"Authorization": f"Bearer {token}", "Accept-Encoding": "identity"},
        timeout=_SILENCE,
        follow_redirects=False,
    )
    return BoundedClient(client)


def _url(httpx: Any, url: str) -> Any:
    try:
        return httpx.URL(url)
    except httpx.InvalidURL:
        pass
    raise InvalidArgument("this URL cannot be read. It has the form https://data.example.org")
