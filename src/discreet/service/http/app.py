"""The service as an ASGI application: described datasets over HTTP, under /v1. Every caller brings a token."""

from typing import Any

from starlette.middleware.trustedhost import TrustedHostMiddleware

from ...ledger.toml_budgets import described_ledger
from ...tables.datasets.configuration import Configuration
from ..asking.datasets import hold
from ..asking.service import Service
from ..asking.tokens import tokens_beside
from ..pages import PAGE_PATHS, Site, page_not_found, page_routes, session_name_of, to_login
from ..pages.sessions import sessions_beside
from ..queue.dispatcher_client import DispatcherClient
from ..queue.padding import Clock, Padding
from ..queue.promises import answer_times
from .auth import Gate
from .exchange import App
from .health import Health
from .mcp_route import PATH as MCP
from .mcp_route import mcp_route
from .metrics import AccessLog, RequestCounts
from .middleware import TokenFirst
from .router import Router
from .routes import open_routes, operation_routes, owner_routes

_PREFIX = "/v1"


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
        counts: the counts of all workers of the service. Without them this one counts for itself.
        dispatcher: asked for all that must be read. Without it that is read in this process.
        clock: the time. Without it that of this machine.
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
    gate = Gate(
        service.tokens,
        service.places,
        site.token_of,
        session_name_of,
        to_login,
        paths,
        PAGE_PATHS,
        MCP,
    )
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
