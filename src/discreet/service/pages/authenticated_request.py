"""A request for a page by a caller that is logged in."""

from dataclasses import dataclass
from typing import Any

from starlette.responses import Response

from ...errors import DiscreetError
from ...ledger import Budget
from ..asking.connection import Connection
from ..asking.refusals import status_of
from ..asking.tokens import Token
from ..http.exchange import exchange_of
from .page_request import PageRequest, Site
from .rendering import page
from .sessions import Fields, form_secret

_MENUS = {
    "analyst": ("questions", "answers", "budgets"),
    "owner": ("budgets", "questions", "answers", "access", "tokens", "history"),
    "auditor": ("history", "budgets", "questions"),
}
"""The pages of every role, the first of which it sees first."""


@dataclass(frozen=True, slots=True)
class AuthenticatedRequest:
    """A request for a page with the session and the token of its caller.

    Attributes:
        site: the pages.
        page_request: the request.
        session: the name of the session.
        token: the token it was begun with.
        caller: the connection of the caller. None for a page that asks nothing.
    """

    site: Site
    page_request: PageRequest
    session: str
    token: Token
    caller: Connection | None = None

    @property
    def fields(self) -> Fields:
        """The fields of the form."""
        return self.page_request.fields

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

    def page(self, template: str, status: int = 200, **page_values: Any) -> Response:
        """Return a page."""
        return page(template, status, **{**self._frame(), **page_values})

    def failure(
        self, error: DiscreetError, status: int | None = None, **page_values: Any
    ) -> Response:
        """Return the page for an error that the visitor may see."""
        note_error(self.page_request, error)
        status_code = status_of(error) if status is None else status
        return self.page("error.html", status_code, **{**error_texts(error), **page_values})

    def _frame(self) -> dict[str, Any]:
        """Return the values that every page shows."""
        return {
            **page_frame(self.page_request), "menu": _MENUS[self.token.role], "token": self.token,
            "secret": form_secret(self.session),
        }  # fmt: skip


def page_frame(page_request: PageRequest) -> dict[str, Any]:
    """Return the values that every page shows, also to strangers."""
    return {
        "others": page_request.other_languages(), "at": page_request.path.strip("/"), "menu": (), "token": None,
    }  # fmt: skip


def note_error(page_request: PageRequest, error: DiscreetError) -> None:
    """Note the class of an error for the metrics."""
    exchange_of(page_request.request.scope).refusal = type(error).__name__


def error_texts(error: DiscreetError) -> dict[str, Any]:
    """Return the values that the page for an error shows."""
    return {
        "error": error, "notes": list(getattr(error, "__notes__", [])),
        "again": None, "is_final": False, "back": None, "title": None,
    }  # fmt: skip
