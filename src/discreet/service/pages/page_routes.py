"""The routes of the pages: the roles that may see them, and the replies."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from ...base.messages import Message, gettext, using_language
from ...errors import DiscreetError, NotAllowed, UnknownBudget, UnknownName
from ..asking import operations
from ..asking.connection import Connection
from ..asking.operations import FLAG, REQUIRED, Operation
from ..asking.refusals import RefusedError, error_for_reader, status_of
from ..asking.tokens import ROLES
from ..http.exchange import exchange_of
from ..http.replies import reply_to
from ..http.router import Route
from ..queue.dispatcher import QueuedQuestion
from ..queue.padding import LENGTH
from . import asking_pages, ledger_pages, login_page
from .page_request import (
    AuthenticatedRequest,
    PageRequest,
    Site,
    is_from_here,
    keep_language,
    page_request_without_fields,
    read_page_request,
)
from .rendering import redirect, style
from .sessions import form_secret, is_same

ANSWER_LENGTH = 4 * LENGTH
"""Bytes of every reply to a question: answers, refusals and failures.

An answer is at most half of `LENGTH` as JSON, so at most six times that here. The page around it is shorter than
the rest."""

_NOT_FROM_HERE = Message(
    "This form did not come from these pages, or is from an earlier session. Go back, reload the page, and try "
    "again."
)

_TOO_MANY = Message("You asked for too many pages at once. Please wait for them.")

View = Callable[[AuthenticatedRequest], Response]
Page = tuple[str, str, View, tuple[str, ...]]
Stranger = Callable[[Site, PageRequest], Response]


def _form(path: str, operation: Operation[Any], end: str) -> Page:
    """Return the page of a form with the arguments of an operation: it has that done, and leads to another page."""

    def view(request: AuthenticatedRequest) -> Response:
        texts = {one: request.fields.get(one.name, "") for one in operation.arguments}
        arguments = {
            one.name: text == "yes" if one.kind is FLAG else text
            for one, text in texts.items()
            if text or one.default is REQUIRED
        }
        request.connection().call(operation, **arguments)
        return redirect(end)

    return "POST", path, view, operation.audience.roles


PAGES: tuple[Page, ...] = (
    ("GET", "/", lambda request: redirect(request.home), ROLES),
    ("GET", "/questions", asking_pages.questions, ROLES),
    ("GET", "/free", asking_pages.free, ROLES),
    ("GET", "/plan", asking_pages.plan, ROLES),
    ("POST", "/ask", asking_pages.ask, ("owner", "analyst")),
    ("GET", "/answer", asking_pages.answer, ("owner", "analyst")),
    ("GET", "/answers", asking_pages.answers, ("owner", "analyst")),
    ("GET", "/budgets", ledger_pages.budgets, ROLES),
    _form("/budgets", operations.EXTEND_BUDGET, "/budgets?done=extended"),
    _form("/budgets/open", operations.OPEN_BUDGET, "/budgets?done=budget_opened"),
    _form("/budgets/renew", operations.RENEW_BUDGET, "/budgets?done=renewed"),
    _form("/budgets/reopen", operations.REOPEN, "/budgets?done=reopened"),
    ("GET", "/access", ledger_pages.access, ("owner",)),
    _form("/access", operations.OPEN_BUDGET, "/access?done=opened"),
    ("GET", "/tokens", ledger_pages.tokens, ("owner",)),
    ("POST", "/tokens", ledger_pages.create, ("owner",)),
    _form("/tokens/revoke", operations.REVOKE_TOKEN, "/tokens?done=revoked"),
    ("GET", "/history", ledger_pages.history, ("owner", "auditor")),
    ("POST", "/history", ledger_pages.verify, ("owner", "auditor")),
    ("GET", "/history/events", ledger_pages.events, ("owner", "auditor")),
    ("GET", "/history/checkpoint", ledger_pages.checkpoint, ("owner", "auditor")),
    ("GET", "/history/report", ledger_pages.budget_report, ("owner", "auditor")),
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
    for method, path, view, roles in PAGES:
        yield Route(method, path, partial(_answer_visitor, site, view, roles))
    yield Route("GET", "/login", partial(_answer_stranger, site, login_page.show))
    yield Route("POST", "/login", partial(_answer_stranger, site, login_page.enter))


def page_not_found(request: Request, status: int) -> Response:
    """Return the page for an address that is none."""
    return _error_page(
        page_request_without_fields(request), UnknownName("There is no such page."), status
    )


async def _answer_stranger(site: Site, work: Stranger, request: Request) -> Response:
    """Answer a caller that is not logged in, in a thread."""
    body = await request.body()

    def respond() -> Response:
        page_request = page_request_without_fields(request)
        try:
            page_request = read_page_request(request, body)
            with using_language(page_request.lang):
                return keep_language(work(site, page_request), page_request)
        except RefusedError as refusal:
            return _error_page(page_request, refusal.error, refusal.status)
        except Exception as error:
            wrong = error_for_reader(error, None)
            return _error_page(page_request, wrong, status_of(wrong))

    return await run_in_threadpool(respond)


async def _answer_visitor(
    site: Site, view: View, roles: tuple[str, ...], request: Request
) -> Response:
    """Answer a caller that is logged in, and lead others to the page where one logs in."""
    token = exchange_of(request.scope).caller
    try:
        page_request = read_page_request(request, await request.body())
    except RefusedError as refusal:
        return _error_page(page_request_without_fields(request), refusal.error, refusal.status)
    if token is None:
        return keep_language(redirect("/login"), page_request)
    visit = page_request.of_caller(site, token)

    def work(connection: Connection) -> Response:
        _check_request(visit, roles)
        with using_language(page_request.lang):
            return keep_language(view(replace(visit, caller=connection)), page_request)

    def refuse(_: Request, error: DiscreetError, status: int | None) -> Response:
        with using_language(page_request.lang):
            title = {"title": gettext("Not open yet")} if isinstance(error, UnknownBudget) else {}
            return visit.failure(error, status, **title)

    def postpone(_: QueuedQuestion) -> Response:
        with using_language(page_request.lang):
            return asking_pages.postpone(visit)

    if not site.service.places.enter(token, request.scope):
        return await run_in_threadpool(refuse, request, NotAllowed(_TOO_MANY), 429)
    response = await reply_to(site.service, request, token, work, refuse, postpone)
    if request.scope["path"] in ("/ask", "/answer"):
        response.body = bytes(response.body).ljust(ANSWER_LENGTH)
        response.headers["content-length"] = str(len(response.body))
    return response


def _error_page(page_request: PageRequest, error: DiscreetError, status: int) -> Response:
    """Return the page for an error to a caller that is not logged in."""
    with using_language(page_request.lang):
        return page_request.failure(error, status)


def _check_request(request: AuthenticatedRequest, roles: tuple[str, ...]) -> None:
    """Raise unless the visitor may see the page, and a page of ours sent the form."""
    if request.token.role not in roles:
        raise RefusedError(NotAllowed("This page is for other roles than yours."))
    if request.request.method == "GET":
        return
    secret = request.fields.get("secret", "")
    if not (is_from_here(request.request) and is_same(secret, form_secret(request.session))):
        raise RefusedError(NotAllowed(_NOT_FROM_HERE))
