"""Refusals and failures as their reader may see them, and their status over HTTP: the only way out for an error."""

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager

from starlette.requests import Request
from starlette.responses import JSONResponse

from ...errors import (
    DiscreetError,
    Exhausted,
    InvalidArgument,
    LedgerError,
    MissingColumn,
    NotAllowed,
    RequestConflict,
    Unanswerable,
    UnknownBudget,
    UnknownName,
)
from ..http.exchange import exchange_of
from . import wire
from .isolation import error_for_analyst

FAILURES = logging.getLogger("discreet.failures")
"""One line of JSON for every error that only an owner may see in full."""

_STATUS: tuple[tuple[type[DiscreetError], int], ...] = (
    (Exhausted, 402), (RequestConflict, 409), (UnknownName, 404), (MissingColumn, 404), (InvalidArgument, 422),
    (NotAllowed, 403), (UnknownBudget, 403), (DiscreetError, 503),
)  # fmt: skip


class RefusedError(Exception):
    """A request that is rejected before anything is done for it, in words for its sender."""

    def __init__(self, error: DiscreetError, status: int | None = None) -> None:
        super().__init__()
        self.error = error
        self.status = status_of(error) if status is None else status


def status_of(error: DiscreetError) -> int:
    """Return the status of a failure: 500 if it was charged, and else that of the first class that fits."""
    if error.charged:
        return 500
    return next(status for kind, status in _STATUS if isinstance(error, kind))


@contextmanager
def charged_failures(request: str) -> Iterator[None]:
    """Say of whatever fails in a block that it was charged: the request was answered before."""
    try:
        yield
    except Exception:
        pass
    else:
        return
    failure = Unanswerable("the answer cannot be shown. Contact the owner of the data")
    failure.add_note(f"this is paid: retry with request={request!r} at no cost")
    failure.charged = failure.is_public = True
    raise failure


def error_for_reader(error: Exception, role: str | None) -> DiscreetError:
    """Return an error as a caller of a role may see it. The role is None if the token is not known.

    An error that was not made for its reader is shown to the owner alone, and is written to the log of failures.
    """
    if isinstance(error, RefusedError):
        return error.error
    if isinstance(error, DiscreetError) and error.is_public:
        return error
    full = _in_full(error)
    FAILURES.warning(json.dumps({"error": type(error).__name__, "message": str(full)}))
    error_shown = full if role == "owner" else _in_short(error)
    error_shown.charged = getattr(error, "charged", False)
    return error_shown


def _in_full(error: Exception) -> DiscreetError:
    """Return an error for the owner. The message of one that is not ours may quote anything."""
    if isinstance(error, DiscreetError) and type(error).__module__ == DiscreetError.__module__:
        return error
    return Unanswerable(f"the service failed ({type(error).__name__})")


def _in_short(error: Exception) -> DiscreetError:
    """Return an error for every caller."""
    if isinstance(error, LedgerError):
        return error_for_analyst(error)
    return Unanswerable("this cannot be answered now. Retry, or contact the owner of the data")


def failure(request: Request, error: DiscreetError, status: int | None = None) -> JSONResponse:
    """Return the reply for an error, and note its class for the metrics."""
    content, code = wire.write_error(error), status or status_of(error)
    exchange_of(request.scope).refusal = content["error"]
    headers = {wire.REPLAYED: "?0"}  # as long as an answer's, which a failure may stand for
    if code == 401:
        headers["WWW-Authenticate"] = "Bearer"
    return JSONResponse(content, code, headers)
