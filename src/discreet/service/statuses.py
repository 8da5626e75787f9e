"""The status of a reply over HTTP, by the class of the error."""

from ..errors import (
    DiscreetError,
    Exhausted,
    InvalidArgument,
    LedgerError,
    MissingColumn,
    NotAllowed,
    RequestConflict,
    UnknownName,
)

_STATUS: tuple[tuple[type[DiscreetError], int], ...] = (
    (Exhausted, 402), (RequestConflict, 409), (UnknownName, 404), (MissingColumn, 404), (InvalidArgument, 422),
    (NotAllowed, 403), (LedgerError, 503), (DiscreetError, 500),
)  # fmt: skip


def status_of(error: DiscreetError) -> int:
    """Return the status of the first class that fits."""
    return next(status for kind, status in _STATUS if isinstance(error, kind))
