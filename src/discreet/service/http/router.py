"""The router: finds the route of a request by its path and its method."""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response

from ...errors import UnknownName
from ..asking.refusals import failure
from .exchange import App, AsgiMessage, Receive, Send, exchange_of

Endpoint = Callable[[Request], Awaitable[App]]
"""Returns the reply to a request."""

NotFound = Callable[[Request, int], Response]


@dataclass(frozen=True, slots=True)
class Route:
    """A route.

    Attributes:
        method: the method of HTTP.
        path: the path. Its last part may be the name of an argument, such as {identity}.
        endpoint: answers a request.
    """

    method: str
    path: str
    endpoint: Endpoint


class Router:
    """The application that answers a request by its route.

    Args:
        routes: all routes.
        not_found: returns the reply to a request outside of the prefixes, which no route has.
        prefixes: beginnings of paths at which the replies are JSON.
    """

    def __init__(
        self, routes: Iterable[Route], not_found: NotFound, prefixes: tuple[str, ...]
    ) -> None:
        self.routes = tuple(routes)
        self._by_path: dict[str, dict[str, Route]] = {}
        for route in self.routes:
            self._by_path.setdefault(route.path, {})[route.method] = route
        self._not_found, self._prefixes = not_found, prefixes

    async def __call__(self, scope: AsgiMessage, receive: Receive, send: Send) -> None:
        """Answer a request."""
        methods = self._match(scope)
        route = None if methods is None else methods.get(scope["method"])
        request = Request(scope, receive, send)
        if route is not None:
            response: App = await route.endpoint(request)
        elif scope["path"].startswith(self._prefixes):
            words = UnknownName("there is nothing at this path, or not by this method")
            response = failure(request, words, 404 if methods is None else 405)
        else:
            response = self._not_found(request, 404 if methods is None else 405)
        await response(scope, receive, send)

    def _match(self, scope: AsgiMessage) -> dict[str, Route] | None:
        """Return the routes of a path, and note which that is, or None if there is none."""
        path: str = scope["path"]
        if path not in self._by_path:
            parent, _, last = path.rpartition("/")
            path = next((one for one in self._by_path if one.startswith(f"{parent}/{{")), "")
            if not (path and last):
                return None
            scope["path_params"] = {path[len(parent) + 2 : -1]: last}
        elif path.endswith("}"):  # the text of a route is none of its paths
            scope["path_params"] = {path.rpartition("{")[2][:-1]: path.rpartition("/")[2]}
        exchange_of(scope).route = path
        return self._by_path[path]
