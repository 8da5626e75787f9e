"""Forms that a browser sends: their fields, and whether a page of ours sent them."""

from urllib.parse import parse_qsl

from starlette.requests import Request

from ...errors import InvalidArgument
from ..refusals import RefusedError
from .sessions import Fields

LONGEST_FORM = 4096
"""Characters of all fields of a form together: every reply that repeats them is shorter than its padding."""

_MOST = 40


def read_fields(text: str) -> Fields:
    """Return the fields of a form, or of the question part of an address.

    Raises:
        RefusedError: if there are too many, they are too long, or one is there twice.
    """
    try:
        pairs = parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=_MOST)
    except ValueError:
        pairs = [("", ""), ("", "")]
    fields = dict(pairs)
    if len(fields) < len(pairs) or sum(map(len, (*fields, *fields.values()))) > LONGEST_FORM:
        raise RefusedError(InvalidArgument("this form is too long, or is none of these pages"))
    return {name: value.replace("\r\n", "\n").strip() for name, value in fields.items()}


def is_from_here(request: Request) -> bool:
    """Return whether a page of this service sent a request, as the browser tells, which no page can change.

    Browsers of today send both headers with every form; one that contradicts, or the lack of both, is refused.
    The scheme is not compared: behind a proxy it is the proxy's.
    """
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    if site is None and origin is None:
        return False
    is_own = origin is None or origin.partition("://")[2] == request.headers.get("host")
    return is_own and site in (None, "same-origin")
