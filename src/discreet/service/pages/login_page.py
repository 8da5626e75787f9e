"""Logging in by a token, and leaving."""

from starlette.requests import Request
from starlette.responses import Response

from ...base.messages import Message, using_language
from ...errors import NotAllowed
from .page_request import (
    LOGIN,
    SESSION,
    AuthenticatedRequest,
    PageRequest,
    Site,
    forget_cookie,
    is_from_here,
    keep_cookie,
    page_request_without_fields,
)
from .rendering import redirect
from .sessions import LASTING, form_secret, is_same, random_name

_NO_TOKEN = Message("This token is not valid: it is unknown, was revoked, or has expired.")
_NO_SESSION = Message("Please log in. What you sent was not read.")
_NO_COOKIE = Message(
    "Please try again. The form was too old, or your browser did not send its cookie back: pages need https, or "
    "localhost."
)


def show(site: Site, page_request: PageRequest) -> Response:
    """Return the page where one logs in. For a caller that is logged in, the first page of the role."""
    if site.token_of(page_request.cookie(SESSION)) is not None:
        return redirect("/")
    return _login_form(page_request)


def enter(site: Site, page_request: PageRequest) -> Response:
    """Begin a session for a token, and end the one before."""
    before = page_request.cookie(LOGIN)
    known_secret = form_secret(before) if before else ""
    is_ours = known_secret and is_same(page_request.fields.get("secret", ""), known_secret)
    if not (is_ours and is_from_here(page_request.request)):
        return _login_form(page_request, _NO_COOKIE, 403)
    try:
        token = site.service.tokens.find(page_request.fields.get("token", ""))
    except NotAllowed:
        return _login_form(page_request, _NO_TOKEN, 401)
    _end_session(site, page_request)
    reply = redirect("/")
    keep_cookie(reply, SESSION, site.sessions.begin(token.id), LASTING)
    forget_cookie(reply, LOGIN)
    return reply


def to_login(request: Request) -> Response:
    """Return the page where one logs in, for a form that comes without a session: it was not read."""
    page_request = page_request_without_fields(request)
    with using_language(page_request.lang):
        return _login_form(page_request, _NO_SESSION, 401)


def leave(request: AuthenticatedRequest) -> Response:
    """End the session."""
    _end_session(request.site, request)
    reply = redirect("/login")
    forget_cookie(reply, SESSION)
    return reply


def _end_session(site: Site, page_request: PageRequest) -> None:
    """End the session of a request, if there is one."""
    if page_request.cookie(SESSION):
        site.sessions.end(page_request.cookie(SESSION))


def _login_form(
    page_request: PageRequest, wrong: Message | None = None, status: int = 200
) -> Response:
    """Return the form with a secret that its cookie repeats: no other site can send it for a visitor."""
    name = page_request.cookie(LOGIN) or random_name()
    response = page_request.page("login.html", status, secret=form_secret(name), wrong=wrong)
    keep_cookie(response, LOGIN, name)
    return response
