"""Logging in by a token, and leaving."""

from starlette.responses import Response

from ...errors import NotAllowed
from ...messages import Message
from .asked import LOGIN, SESSION, PageRequest, forget, keep
from .forms import is_from_here
from .rendering import TOO_OFTEN, page, redirect
from .sessions import LASTING, form_secret, is_same, random_name
from .site import Site
from .visit import Visit, frame

_NO_TOKEN = Message("This token is not valid: it is unknown, was revoked, or has expired.")
_NO_COOKIE = Message(
    "Please try again. The form was too old, or your browser did not send its cookie back: pages need https, or "
    "localhost."
)


def show(site: Site, asked: PageRequest) -> Response:
    """Return the page where one logs in; to somebody who is logged in, the first page of the role."""
    if site.token_of(asked.cookie(SESSION)) is not None:
        return redirect("/")
    return _form(asked)


def enter(site: Site, asked: PageRequest) -> Response:
    """Begin a session for a token, and end the one before."""
    before = asked.cookie(LOGIN)
    expected = form_secret(before) if before else ""
    is_ours = expected and is_same(asked.fields.get("secret", ""), expected)
    if not (is_ours and is_from_here(asked.request)):
        return _form(asked, _NO_COOKIE, 403)
    try:
        token = site.service.tokens.find(asked.fields.get("token", ""))
    except NotAllowed:
        return _refuse(site, asked)
    if not site.service.rate.admits(f"login {token.id}"):
        return _form(asked, TOO_OFTEN, 429)
    _end(site, asked)
    entered = redirect("/")
    keep(entered, SESSION, site.sessions.begin(token.id), LASTING)
    forget(entered, LOGIN)
    return entered


def _refuse(site: Site, asked: PageRequest) -> Response:
    """Refuse a wrong token. Those alone are limited by address, which behind a proxy all share."""
    visitor = asked.request.client
    if site.logins.admits(f"login {visitor.host if visitor else ''}"):
        return _form(asked, _NO_TOKEN, 401)
    return _form(asked, TOO_OFTEN, 429)


def leave(visit: Visit) -> Response:
    """End the session."""
    _end(visit.site, visit.asked)
    left = redirect("/login")
    forget(left, SESSION)
    return left


def _end(site: Site, asked: PageRequest) -> None:
    """End the session of a request, if there is one."""
    if asked.cookie(SESSION):
        site.sessions.end(asked.cookie(SESSION))


def _form(asked: PageRequest, wrong: Message | None = None, status: int = 200) -> Response:
    """Return the form with a secret that its cookie repeats: no other site can send it for somebody."""
    name = asked.cookie(LOGIN) or random_name()
    response = page("login.html", status, **frame(asked), secret=form_secret(name), wrong=wrong)
    keep(response, LOGIN, name)
    return response
