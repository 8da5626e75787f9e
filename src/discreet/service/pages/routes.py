"""The routes of the pages: who may see which, and what is sent back."""

from collections.abc import Callable
from functools import partial

from fastapi import APIRouter, FastAPI, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from ...errors import DiscreetError, NotAllowed, UnknownBudget, UnknownName
from ...messages import Message, gettext, using_language
from ..refusals import RefusedError, error_for_reader, status_of
from ..slots import LENGTH
from ..tokens import ROLES
from . import analyst, auditor, budgets, login, owner
from .asked import SESSION, PageRequest, keep_language, language, read_asked
from .forms import is_from_here
from .rendering import TOO_OFTEN, page, redirect, style
from .sessions import form_secret, is_same
from .site import Site
from .visit import Visit, frame, note, told_of

ANSWER_LENGTH = 4 * LENGTH
"""Bytes of every reply to a question: answers, refusals and failures.

An answer is at most half of `LENGTH` as JSON, so at most six times that here; what stands around it is shorter than
the rest."""

_NOT_FROM_HERE = Message(
    "This form did not come from these pages, or is from an earlier session. Go back, reload the page, and try "
    "again."
)

View = Callable[[Visit], Response]
Stranger = Callable[[Site, PageRequest], Response]

PAGES: tuple[tuple[str, str, View, tuple[str, ...]], ...] = (
    ("GET", "/", lambda visit: redirect(visit.home), ROLES),
    ("GET", "/questions", analyst.questions, ROLES),
    ("GET", "/free", analyst.free, ROLES),
    ("GET", "/plan", analyst.plan, ROLES),
    ("POST", "/ask", analyst.ask, ("owner", "analyst")),
    ("GET", "/answers", analyst.answers, ("owner", "analyst")),
    ("GET", "/budgets", budgets.budgets, ROLES),
    ("POST", "/budgets", budgets.extend, ("owner",)),
    ("POST", "/budgets/open", budgets.open_budget, ("owner",)),
    ("POST", "/budgets/renew", budgets.renew, ("owner",)),
    ("GET", "/access", owner.access, ("owner",)),
    ("POST", "/access", owner.open_share, ("owner",)),
    ("GET", "/tokens", owner.tokens, ("owner",)),
    ("POST", "/tokens", owner.create, ("owner",)),
    ("POST", "/tokens/revoke", owner.revoke, ("owner",)),
    ("GET", "/history", auditor.history, ("owner", "auditor")),
    ("POST", "/history", auditor.verify, ("owner", "auditor")),
    ("GET", "/history/events", auditor.events, ("owner", "auditor")),
    ("GET", "/history/checkpoint", auditor.checkpoint, ("owner", "auditor")),
    ("GET", "/history/report", auditor.budget_report, ("owner", "auditor")),
    ("POST", "/logout", login.leave, ROLES),
)
"""All pages of those who are logged in: method, path, what makes it, and the roles that may see it."""


def add_pages(api: FastAPI, site: Site) -> None:
    """Add the pages to a service."""
    router = APIRouter(include_in_schema=False)

    @router.get("/style.css", response_model=None)
    def styled() -> Response:
        return style()

    for method, path, work, roles in PAGES:
        _add(router, method, path, partial(_for_visitors, work, roles), site)
    _add(router, "GET", "/login", login.show, site)
    _add(router, "POST", "/login", login.enter, site)
    api.include_router(router)


def lost(request: Request, status: int) -> Response:
    """Return the page for an address that is none."""
    asked = PageRequest(request, {}, language(request), False)
    return _told(asked, UnknownName(Message("There is no such page.")), status)


def _add(router: APIRouter, method: str, path: str, work: Stranger, site: Site) -> None:
    """Add a route whose work runs in a thread."""
    padded = ANSWER_LENGTH if path == "/ask" else 0

    async def endpoint(request: Request) -> Response:
        body = await request.body()
        found = await run_in_threadpool(_replied, site, request, body, work)
        if padded:
            found.body = bytes(found.body).ljust(padded)
            found.headers["content-length"] = str(len(found.body))
        return found

    router.add_api_route(path, endpoint, methods=[method], response_model=None)


def _replied(site: Site, request: Request, body: bytes, work: Stranger) -> Response:
    """Answer a request; whatever fails is told as the caller may see it, and never with a traceback."""
    asked = PageRequest(request, {}, language(request), False)
    try:
        asked = read_asked(request, body)
        with using_language(asked.lang):
            return keep_language(work(site, asked), asked)
    except RefusedError as refused:
        wrong, status = refused.error, refused.status
    except Exception as error:
        wrong = error_for_reader(error, None)
        status = status_of(wrong)
    return _told(asked, wrong, status)


def _told(asked: PageRequest, error: DiscreetError, status: int) -> Response:
    """Return the page for an error to somebody who is not logged in."""
    note(asked, error)
    with using_language(asked.lang):
        return page("error.html", status, **frame(asked), **told_of(error))


def _for_visitors(work: View, roles: tuple[str, ...], site: Site, asked: PageRequest) -> Response:
    """Answer somebody who is logged in; lead others to the page where one logs in."""
    session = asked.cookie(SESSION)
    token = site.token_of(session)
    if token is None:
        return redirect("/login")
    visit = Visit(site, asked, session, token)
    has_place = site.service.places.enter(token, asked.request.scope)
    if not (has_place and site.service.rate.admits(token.id)):
        return visit.failure(RefusedError(NotAllowed(TOO_OFTEN)), 429)
    try:
        _check(visit, roles)
        return work(visit)
    except RefusedError as refused:
        return visit.failure(refused, refused.status)
    except UnknownBudget as error:
        return visit.failure(error, title=gettext("Not open yet"))
    except Exception as error:
        return visit.failure(error)


def _check(visit: Visit, roles: tuple[str, ...]) -> None:
    """Raise unless the visitor may see the page, and a page of ours sent the form."""
    asked = visit.asked
    if visit.token.role not in roles:
        raise RefusedError(NotAllowed(Message("This page is for other roles than yours.")))
    if asked.request.method == "GET":
        return
    given = asked.fields.get("secret", "")
    if not (is_from_here(asked.request) and is_same(given, form_secret(visit.session))):
        raise RefusedError(NotAllowed(_NOT_FROM_HERE))
