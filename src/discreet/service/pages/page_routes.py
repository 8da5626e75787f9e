"""The routes of the pages: the roles that may see them, and the replies."""

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from functools import partial

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from ...errors import DiscreetError, NotAllowed, UnknownBudget, UnknownName
from ...messages import Message, gettext, using_language
from ...node.isolation import Failure
from ...releases import Release
from ..dispatcher import QueuedQuestion
from ..padding import LENGTH
from ..paid_replies import PausedReply, ReadingNeeded, finish
from ..refusals import RefusedError, error_for_reader, status_of
from ..replies import CALLER
from ..router import Endpoint, Route
from ..tokens import ROLES
from . import access_pages, asking_pages, budget_pages, history_pages, login_page
from .authenticated_request import AuthenticatedRequest, error_texts, note_error, page_frame
from .forms import is_from_here
from .page_request import SESSION, PageRequest, keep_language, language, read_page_request
from .rendering import page, redirect, style
from .sessions import form_secret, is_same
from .site import Site

ANSWER_LENGTH = 4 * LENGTH
"""Bytes of every reply to a question: answers, refusals and failures.

An answer is at most half of `LENGTH` as JSON, so at most six times that here; the page around it is shorter than
the rest."""

_NOT_FROM_HERE = Message(
    "This form did not come from these pages, or is from an earlier session. Go back, reload the page, and try "
    "again."
)

_TOO_MANY = Message("You asked for too many pages at once. Please wait for them.")

View = Callable[[AuthenticatedRequest], Response]
Stranger = Callable[[Site, PageRequest], Response | PausedReply]

PAGES: tuple[tuple[str, str, View, tuple[str, ...]], ...] = (
    ("GET", "/", lambda request: redirect(request.home), ROLES),
    ("GET", "/questions", asking_pages.questions, ROLES),
    ("GET", "/free", asking_pages.free, ROLES),
    ("GET", "/plan", asking_pages.plan, ROLES),
    ("POST", "/ask", asking_pages.ask, ("owner", "analyst")),
    ("GET", "/answer", asking_pages.answer, ("owner", "analyst")),
    ("GET", "/answers", asking_pages.answers, ("owner", "analyst")),
    ("GET", "/budgets", budget_pages.budgets, ROLES),
    ("POST", "/budgets", budget_pages.extend, ("owner",)),
    ("POST", "/budgets/open", budget_pages.open_budget_page, ("owner",)),
    ("POST", "/budgets/renew", budget_pages.renew, ("owner",)),
    ("POST", "/budgets/reopen", budget_pages.reopen, ("owner",)),
    ("GET", "/access", access_pages.access, ("owner",)),
    ("POST", "/access", access_pages.open_share, ("owner",)),
    ("GET", "/tokens", access_pages.tokens, ("owner",)),
    ("POST", "/tokens", access_pages.create, ("owner",)),
    ("POST", "/tokens/revoke", access_pages.revoke, ("owner",)),
    ("GET", "/history", history_pages.history, ("owner", "auditor")),
    ("POST", "/history", history_pages.verify, ("owner", "auditor")),
    ("GET", "/history/events", history_pages.events, ("owner", "auditor")),
    ("GET", "/history/checkpoint", history_pages.checkpoint, ("owner", "auditor")),
    ("GET", "/history/report", history_pages.budget_report, ("owner", "auditor")),
    ("POST", "/logout", login_page.leave, ROLES),
)
"""All pages behind the login: method, path, the function that makes it, and the roles that may see it."""

PAGE_PATHS = frozenset(path for _, path, _, _ in PAGES)
"""Their paths."""


def page_routes(site: Site) -> Iterator[Route]:
    """Yield the routes of all pages."""

    async def send_style(_: Request) -> Response:
        return style()

    yield Route("GET", "/style.css", send_style)
    for method, path, work, roles in PAGES:
        yield Route(method, path, _endpoint(path, partial(_for_visitors, work, roles), site))
    yield Route("GET", "/login", _endpoint("/login", login_page.show, site))
    yield Route("POST", "/login", _endpoint("/login", login_page.enter, site))


def page_not_found(request: Request, status: int) -> Response:
    """Return the page for an address that is none."""
    page_request = PageRequest(request, {}, language(request), False)
    return _error_page(page_request, UnknownName("There is no such page."), status)


def _endpoint(path: str, work: Stranger, site: Site) -> Endpoint:
    """Return the function that does the work of a page in a thread."""
    length = ANSWER_LENGTH if path in ("/ask", "/answer") else 0

    async def endpoint(request: Request) -> Response:
        body = await request.body()
        token = request.scope.get(CALLER)
        async with nullcontext() if token is None else site.service.places.line(token):
            response = await run_in_threadpool(_respond, site, request, body, work)
        if isinstance(response, PausedReply):
            response = await finish(site.service, request, response)
        if length:
            response.body = bytes(response.body).ljust(length)
            response.headers["content-length"] = str(len(response.body))
        return response

    return endpoint


def _respond(site: Site, request: Request, body: bytes, work: Stranger) -> Response | PausedReply:
    """Answer a request; whatever fails is told as the caller may see it, and never with a traceback."""
    page_request = PageRequest(request, {}, language(request), False)
    try:
        page_request = read_page_request(request, body)
        with using_language(page_request.lang):
            response = work(site, page_request)
            if isinstance(response, PausedReply):
                return response
            return keep_language(response, page_request)
    except RefusedError as refusal:
        wrong, status = refusal.error, refusal.status
    except Exception as error:
        wrong = error_for_reader(error, None)
        status = status_of(wrong)
    return _error_page(page_request, wrong, status)


def _error_page(page_request: PageRequest, error: DiscreetError, status: int) -> Response:
    """Return the page for an error to a caller that is not logged in."""
    note_error(page_request, error)
    with using_language(page_request.lang):
        return page("error.html", status, **page_frame(page_request), **error_texts(error))


def _for_visitors(
    work: View, roles: tuple[str, ...], site: Site, page_request: PageRequest
) -> Response | PausedReply:
    """Answer a caller that is logged in; lead others to the page where one logs in."""
    token = page_request.request.scope.get(CALLER)
    if token is None:
        return redirect("/login")
    request = AuthenticatedRequest(site, page_request, page_request.cookie(SESSION), token)
    if not site.service.places.enter(token, page_request.request.scope):
        return request.failure(RefusedError(NotAllowed(_TOO_MANY)), 429)
    try:
        _check_request(request, roles)
    except RefusedError as refusal:
        return request.failure(refusal, refusal.status)
    return _work_on(request, work)


def _work_on(
    request: AuthenticatedRequest, work: View, answer: Release | Failure | None = None
) -> Response | PausedReply:
    """Return the page of a visitor; of a question that must be read, once there is an answer."""
    request = replace(request, answer=answer)
    try:
        with using_language(request.page_request.lang):
            return work(request)
    except ReadingNeeded as reading:
        return PausedReply(
            reading.question, partial(_work_on, request, work), partial(_postpone, request)
        )
    except RefusedError as refusal:
        return request.failure(refusal, refusal.status)
    except UnknownBudget as error:
        return request.failure(error, title=gettext("Not open yet"))
    except Exception as error:
        return request.failure(error)


def _postpone(request: AuthenticatedRequest, _: QueuedQuestion) -> Response:
    """Return the page that says that an answer is not there yet, and leads to it."""
    with using_language(request.page_request.lang):
        return asking_pages.postpone(request)


def _check_request(request: AuthenticatedRequest, roles: tuple[str, ...]) -> None:
    """Raise unless the visitor may see the page, and a page of ours sent the form."""
    page_request = request.page_request
    if request.token.role not in roles:
        raise RefusedError(NotAllowed("This page is for other roles than yours."))
    if page_request.request.method == "GET":
        return
    secret = page_request.fields.get("secret", "")
    if not (is_from_here(page_request.request) and is_same(secret, form_secret(request.session))):
        raise RefusedError(NotAllowed(_NOT_FROM_HERE))
