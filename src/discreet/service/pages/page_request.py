"""The pages of a service, and the request of a browser for one, of a stranger or of a caller."""

from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlencode

from starlette.requests import Request
from starlette.responses import Response

from ...base.messages import SOURCE, gettext, language_tag, languages, using_language
from ...errors import DiscreetError, InvalidArgument
from ...ledger import Budget, Ledger
from ..asking.connection import Connection
from ..asking.refusals import RefusedError, status_of
from ..asking.service import Service
from ..asking.tokens import Token
from ..http.exchange import exchange_of
from .rendering import page
from .sessions import Fields, Sessions, form_secret, is_random_name

SESSION, LOGIN, LANGUAGE = "__Host-discreet", "__Host-discreet-login", "__Host-discreet-language"
"""Cookies. By the prefix a browser takes them only from this host itself, and only if they are `Secure`."""

_YEAR = 365 * 24 * 3600

LONGEST_FORM = 4096
"""Characters of all fields of a form together: every reply that repeats them is shorter than its padding."""

_MOST = 40

_MENUS = {
    "analyst": ("questions", "answers", "budgets"),
    "owner": ("budgets", "questions", "answers", "access", "tokens", "history"),
    "auditor": ("history", "budgets", "questions"),
}
"""The pages of every role, the first of which it sees first."""


@dataclass(frozen=True, slots=True)
class Site:
    """The pages of a service.

    Attributes:
        service: the service.
        ledger: the ledger, for owners and auditors.
        sessions: who is logged in.
    """

    service: Service
    ledger: Ledger
    sessions: Sessions

    def token_of(self, session: str) -> Token | None:
        """Return the valid token of a session. A session is over once its token was revoked or has expired."""
        identity = self.sessions.token_of(session) if session else None
        if identity is None:
            return None
        for token in self.service.tokens.valid():
            if token.id == identity:
                return token
        self.sessions.end_all(identity)
        return None


class OtherLanguage(NamedTuple):
    """The address of a page in another language, with the tag and the name of that."""

    address: str
    tag: str
    name: str


@dataclass(frozen=True, slots=True)
class PageRequest:
    """A request for a page, also of a stranger.

    Attributes:
        request: the request.
        fields: the fields of its form, or of its address.
        lang: the code of the language of the page.
        is_new_language: whether the language was chosen just now.
    """

    request: Request
    fields: Fields
    lang: str
    is_new_language: bool

    @property
    def path(self) -> str:
        """The path: not of `request.url`, which the header Host takes part in."""
        return str(self.request.scope["path"])

    def cookie(self, name: str) -> str:
        """Return a cookie, or an empty text."""
        return self.request.cookies.get(name, "")

    def other_languages(self) -> list[OtherLanguage]:
        """Return the page in the other languages. For a form that was sent, the first page.

        An address repeats no path: one that begins with two slashes would lead to a host that the request named.
        """
        others = []
        for code in languages():
            if code == self.lang:
                continue
            with using_language(code):
                name, tag = gettext("English", "the name of this language"), language_tag()
            is_form = self.request.method != "GET"
            query = urlencode({"lang": code} if is_form else {**self.fields, "lang": code})
            others.append(OtherLanguage(f"/?{query}" if is_form else f"?{query}", tag, name))
        return others

    def page(self, template: str, status: int = 200, **page_values: Any) -> Response:
        """Return a page."""
        return page(template, status, **{**self._frame(), **page_values})

    def failure(
        self, error: DiscreetError, status: int | None = None, **page_values: Any
    ) -> Response:
        """Return the page for an error that its reader may see, and note its class for the metrics."""
        exchange_of(self.request.scope).refusal = type(error).__name__
        texts: dict[str, Any] = {
            "error": error, "notes": list(getattr(error, "__notes__", [])),
            "again": None, "is_final": False, "back": None, "title": None,
        }  # fmt: skip
        status_code = status_of(error) if status is None else status
        return self.page("error.html", status_code, **{**texts, **page_values})

    def _frame(self) -> dict[str, Any]:
        """Return the values that every page shows."""
        return {
            "others": self.other_languages(), "at": self.path.strip("/"), "menu": (), "token": None,
        }  # fmt: skip

    def of_caller(self, site: Site, token: Token) -> "AuthenticatedRequest":
        """Return the request of a caller that is logged in."""
        return AuthenticatedRequest(
            self.request, self.fields, self.lang, self.is_new_language, site, self.cookie(SESSION), token
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class AuthenticatedRequest(PageRequest):
    """A request for a page by a caller that is logged in.

    Attributes:
        site: the pages.
        session: the name of the session.
        token: the token it was begun with.
        caller: the connection of the caller. None for a page that asks nothing.
    """

    site: Site
    session: str
    token: Token
    caller: Connection | None = None

    @property
    def home(self) -> str:
        """The first page of the role."""
        return f"/{_MENUS[self.token.role][0]}"

    def connection(self) -> Connection:
        """Return the visitor's connection."""
        assert self.caller is not None
        return self.caller

    def charged(self) -> dict[str, Budget]:
        """Return the open budgets that are charged when the visitor asks, by the names of the datasets."""
        return self.site.service.charged(self.token)

    def _frame(self) -> dict[str, Any]:
        """Return the values that every page shows."""
        of_caller = {
            "menu": _MENUS[self.token.role],
            "token": self.token,
            "secret": form_secret(self.session),
        }
        return {**PageRequest._frame(self), **of_caller}


def session_name_of(request: Request) -> str:
    """Return the session that a request names, or empty if it names none that could have been begun."""
    session = request.cookies.get(SESSION, "")
    return session if is_random_name(session) else ""


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

    Browsers of today send both headers with every form. One that contradicts, or the lack of both, is rejected. The
    scheme is not compared: behind a proxy it is the proxy's.
    """
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    if site is None and origin is None:
        return False
    is_own = origin is None or origin.partition("://")[2] == request.headers.get("host")
    return is_own and site in (None, "same-origin")


def read_page_request(request: Request, body: bytes) -> PageRequest:
    """Return the request for a page.

    Raises:
        RefusedError: if the form is too long, or none.
    """
    query: bytes = request.scope["query_string"]
    text = (body if request.method == "POST" else query).decode("utf-8", "replace")
    fields = dict(read_fields(text))
    choice = fields.pop("lang", "")
    is_new_language = choice in languages()
    return PageRequest(
        request, fields, choice if is_new_language else language(request), is_new_language
    )


def page_request_without_fields(request: Request) -> PageRequest:
    """Return a request of which the language alone was read."""
    return PageRequest(request, {}, language(request), False)


def language(request: Request) -> str:
    """Return the language that was chosen before, or the first of ours that the browser lists; else English."""
    cookie = request.cookies.get(LANGUAGE)
    if cookie in languages():
        return cookie
    ranges = request.headers.get("accept-language", "")[:200].lower().split(",")
    weights = {
        _weight(one): one.strip(" ;").partition(";")[0].partition("-")[0] for one in ranges[::-1]
    }
    our_weights = [weight for weight, code in weights.items() if code in languages()]
    return weights[max(our_weights)] if our_weights else SOURCE


def _weight(language_range: str) -> float:
    """Return the weight of a language that a browser lists, such as zh;q=0.8."""
    _, _, weight = language_range.partition(";q=")
    try:
        return float(weight or 1)
    except ValueError:
        return 0.0


def keep_cookie(response: Response, name: str, value: str, seconds: int | None = None) -> None:
    """Let the browser keep a cookie that no script and no other site can use."""
    response.set_cookie(
        name, value, max_age=seconds, path="/", secure=True, httponly=True, samesite="strict"
    )


def forget_cookie(response: Response, name: str) -> None:
    """Let the browser forget a cookie."""
    response.delete_cookie(name, path="/", secure=True, httponly=True, samesite="strict")


def keep_language(response: Response, page_request: PageRequest) -> Response:
    """Let the browser keep a language that was chosen."""
    if page_request.is_new_language:
        keep_cookie(response, LANGUAGE, page_request.lang, _YEAR)
    return response
