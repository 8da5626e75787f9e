"""The service: described datasets over HTTP, under /v1. Every caller brings a token."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from typing import Any

from starlette.middleware.trustedhost import TrustedHostMiddleware

from ..datasets.configuration import Configuration
from ..error_boundary import public_errors
from ..errors import NotAllowed
from ..ledger.budget import Amount, read_total
from ..ledger.toml_budgets import described_ledger
from ..node.datasets import Datasets
from ..node.isolation import Failure, isolated, translation_for, unwrap
from ..releases import Release
from .access import AccessLog
from .auth import Gate
from .connection import Connection
from .counts import RequestCounts
from .disclosures import Disclosure, LateAnswers, disclosures_of, late_answers, periods_of
from .dispatcher_client import DispatcherClient
from .health import Health
from .in_process import InProcess
from .limits import Places
from .mcp_route import PATH as MCP
from .mcp_route import mcp_route
from .middleware import TokenFirst
from .operations import READING
from .ownership import Ownership
from .padding import App, Arrival, Clock, Padding
from .pages import PAGE_PATHS, Site, page_not_found, page_routes, session_name_of, to_login
from .pages.sessions import sessions_beside
from .paid_replies import Settlement
from .permissions import hold, rights_of
from .promises import answer_times
from .refusals import RefusedError
from .rights import Rights, Scope
from .router import Router
from .routes import open_routes, operation_routes, owner_routes
from .tokens import Token, Tokens, tokens_beside

_PREFIX = "/v1"


@dataclass(slots=True)
class Service:
    """Everything that answers: the datasets, the tokens, and the limits.

    Attributes:
        configuration: the description.
        datasets: its datasets.
        tokens: who may ask.
        dispatcher: asked for all that must be read; None to read it in this process.
        clock: the time.
        places: how many requests of one caller are answered at the same time.
    """

    configuration: Configuration
    datasets: Datasets
    tokens: Tokens
    dispatcher: DispatcherClient | None = None
    clock: Clock = field(default_factory=Clock)
    places: Places = field(default_factory=Places)

    def connection(
        self,
        token: Token,
        arrival: Arrival | None = None,
        answer: Release | Failure | None = None,
    ) -> Connection:
        """Return the connection of a caller, for a request that came at that time; perhaps with its answer."""
        rights = self._rights_at(token, arrival)
        if answer is not None:  # its caller was let in before it was asked for
            return self._connect(token, rights, lambda _, **__: answer, lambda: None)
        reader = Settlement(rights, token).call if self.dispatcher else None
        return self._connect(token, rights, reader, rights.check)

    def _connect(
        self,
        token: Token,
        rights: Rights,
        reader: Callable[..., Any] | None,
        check: Callable[[], object],
    ) -> Connection:
        """Return the connection of a caller.

        Args:
            token: the caller.
            rights: its rights.
            reader: answers an operation that reads data; None to do it in this process.
            check: called before all others.
        """
        ownership = Ownership(self.configuration, self.tokens, self.datasets, token)
        readers = {} if reader is None else {one.name: partial(reader, one) for one in READING}
        node = InProcess(token.role, rights, ownership, check, readers)
        return Connection(node, "a service")

    def _rights_at(self, token: Token, arrival: Arrival | None) -> Rights:
        """Return the rights of a caller, for a request that came at that time."""
        return replace(
            self._rights(token.role, token.analyst),
            beginning=None if arrival is None else arrival.date,
            check_again=partial(self.tokens.check, token.id),
        )

    def scope(self, token: Token) -> Scope:
        """Return the datasets and the verbs that a caller may ask about."""
        rights = self._rights(token.role, token.analyst)
        with public_errors():
            return unwrap(isolated(rights.scope, translation_for(rights.are_the_owners))())

    def scope_of(self, analyst: str) -> Scope:
        """Return the datasets and the verbs that an analyst may ask about, for the owner."""
        return self._rights("analyst", analyst).scope()

    def disclosures_of(self, analyst: str) -> list[Disclosure]:
        """Return the failures and the times that an analyst can see, for the owner."""
        periods = periods_of(self.configuration)
        return disclosures_of(
            self._rights("analyst", analyst), answer_times(self.configuration), periods
        )

    def late_answers(self) -> list[LateAnswers]:
        """Return the delays that have doubled since the last reset, and the questions given up, for the owner."""
        times, names = answer_times(self.configuration), list(self.configuration.datasets)
        budgets = [
            (name, one)
            for name, several in zip(names, self.datasets.budgets_of(*names), strict=True)
            for one in several
            if one.is_current
        ]
        now = self.clock.date()
        delays = self.datasets.delays(one for _, one in budgets)
        shares = [
            (name, one, delay.after_reset(times[name].reset_before(now)))
            for (name, one), delay in zip(budgets, delays, strict=True)
        ]
        seen = [one for name in self.analysts() for one in self.disclosures_of(name)]
        return late_answers(shares, times, seen)

    def analysts(self) -> tuple[str, ...]:
        """Return the names of all analysts, for the owner."""
        return tuple(self.configuration.analysts)

    def declared_share(self, analyst: str) -> Amount | None:
        """Return the share that the description declares for an analyst, for the owner."""
        terms = self.configuration.analyst(analyst).get("share")
        if terms is None:
            return None
        return read_total(*(terms.get(unit) for unit in ("epsilon", "rho", "delta")))

    def confirm_above(self, analyst: str) -> Fraction | None:
        """Return above which cost a question of an assistant is confirmed by its user."""
        above: Fraction | None = self.configuration.analyst(analyst).get("confirm_above")
        return above

    def question_terms(self, dataset: str, question: str) -> Mapping[str, Any]:
        """Return the terms of a named question in the description, for callers that may ask it."""
        return self.configuration.questions[dataset][question]

    @property
    def description_name(self) -> str:
        """The name of the file of the description, for the owner."""
        return self.configuration.path.name

    def _rights(self, role: str, analyst: str | None) -> Rights:
        """Return the rights of a caller.

        Raises:
            RefusedError: if the description has no such analyst any more.
        """
        if analyst is not None and analyst not in self.configuration.analysts:
            raise RefusedError(NotAllowed("this token may ask nothing here; tell the owner"))
        return rights_of(self.datasets, self.configuration, role, analyst)


def make_app(
    configuration: Configuration,
    hosts: list[str],
    counts: RequestCounts | None = None,
    dispatcher: DispatcherClient | None = None,
    clock: Clock | None = None,
) -> App:
    """Return the service as an ASGI application.

    Args:
        configuration: the description, with its ledger open.
        hosts: the names under which the service may be called.
        counts: the counts of all workers of the service; without them this one counts for itself.
        dispatcher: asked for all that must be read; without it that is read in this process.
        clock: the time; without it that of this machine.
    """
    all_counts = RequestCounts() if counts is None else counts
    service = Service(
        configuration, hold(configuration), tokens_beside(configuration.path), dispatcher,
        clock or Clock(),
    )  # fmt: skip
    ledger = described_ledger(configuration, next(iter(configuration.datasets)))
    site = Site(service, ledger, sessions_beside(configuration.path))
    router: Any = _router(service, site, all_counts)
    host_check: Any = TrustedHostMiddleware(router, allowed_hosts=hosts, www_redirect=False)
    paths = frozenset(route.path for route in router.routes if "{" not in route.path)
    gate = Gate(service, site.token_of, session_name_of, to_login, paths, PAGE_PATHS, MCP)
    access_log = AccessLog(TokenFirst(host_check, gate.enter), all_counts)
    is_timed = any(one.answers_after for one in answer_times(configuration).values())
    return Padding(access_log, service.clock, pads_times=is_timed)


def _router(service: Service, site: Site, counts: RequestCounts) -> Router:
    """Return all routes."""
    health = Health(service.configuration, service.datasets, counts, service.dispatcher)
    routes = (
        *open_routes(health, _PREFIX), *operation_routes(service, _PREFIX),
        *owner_routes(service, health, counts, _PREFIX), mcp_route(service), *page_routes(site),
    )  # fmt: skip
    return Router(routes, page_not_found, (_PREFIX, MCP))
