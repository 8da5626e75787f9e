"""The tools of an assistant by the Model Context Protocol, over standard streams."""

import json
from collections.abc import Awaitable, Callable
from fractions import Fraction
from importlib.metadata import version
from threading import Lock
from typing import Any, TypeAlias

from ...base.escapes import visible_text
from ...base.numbers import exact
from ...errors import DiscreetError, InvalidArgument, MissingPackage
from ..asking.connect import connect
from ..asking.connection import Connection
from .assistant_tools import TOOLS, TRUST, Arguments, Reply, Tool, call_tool

SdkPart: TypeAlias = Any
"""A part of the protocol's SDK, which is imported when it is needed."""

INSTRUCTIONS = (
    "Questions about private data, answered with differential privacy. Every answer costs part of a privacy budget "
    "that does not come back. Call datasets first, quote before each ask, and prefer few questions that matter. "
    + TRUST
)

ToolCall = Callable[[str, Arguments], Awaitable[Reply]]


class Handlers:
    """A server of the protocol, request by request.

    Args:
        call: does the work of a tool.
        confirm_above: an `ask` that may cost more is confirmed by the user first. None for none.
    """

    def __init__(self, call: ToolCall, confirm_above: Fraction | None = None) -> None:
        self._call, self._confirm_above = call, confirm_above
        self._types = _sdk()[0]

    async def list_tools(self, _: SdkPart, __: SdkPart) -> SdkPart:
        """Return the tools."""
        return self._types.ListToolsResult(
            tools=[_tool(self._types, one) for one in TOOLS.values()]
        )

    async def call_tool(self, context: SdkPart, params: SdkPart) -> SdkPart:
        """Return the result of a tool."""
        arguments = params.arguments or {}
        reply = await _unconfirmed(context, params.name, arguments, self._confirm_above)
        if reply is None:
            reply = await self._call(params.name, arguments)
        text = self._types.TextContent(type="text", text=json.dumps(reply, ensure_ascii=False))
        return self._types.CallToolResult(
            content=[text], structured_content=reply, is_error="error" in reply
        )


def build_server(call: ToolCall, confirm_above: Fraction | None = None) -> SdkPart:
    """Return a server of the protocol: see `Handlers`.

    Raises:
        MissingPackage: if the SDK is not installed.
    """
    handlers = Handlers(call, confirm_above)
    return _sdk()[1].Server(
        "discreet",
        version=version("discreet"),
        instructions=INSTRUCTIONS,
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
    )


def _sdk() -> tuple[SdkPart, SdkPart]:
    """Return the packages of the SDK."""
    try:
        from mcp import server, types
    except ImportError:
        raise MissingPackage(
            "this needs mcp, which is not installed: pip install 'discreet[mcp]'"
        ) from None
    return types, server


def _tool(types: SdkPart, tool: Tool) -> SdkPart:
    """Return a tool as the protocol lists it."""
    hints = types.ToolAnnotations(
        title=tool.title,
        read_only_hint=not tool.spends,
        destructive_hint=False,
        idempotent_hint=True,
        open_world_hint=False,
    )
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.schema,
        annotations=hints,
    )


async def _unconfirmed(
    context: SdkPart, name: str, arguments: Arguments, confirm_above: Fraction | None
) -> Reply | None:
    """Return the refusal of an `ask` that the user did not confirm, or None if it may go on."""
    if confirm_above is None or name != "ask":
        return None
    try:
        cost = exact(arguments.get("max_cost"), "max_cost")
    except DiscreetError:
        return None  # the tool refuses it by name
    if cost <= confirm_above:
        return None
    message = (
        f"The assistant wants to spend up to {cost} of the privacy budget on one question: "
        f"{_question_in_words(arguments)}. Allow it?"
    )
    schema = {
        "type": "object",
        "properties": {"allow": {"type": "boolean", "title": "Allow"}},
        "required": ["allow"],
    }
    try:
        reply = await context.session.elicit_form(message=message, requested_schema=schema)
        is_allowed = reply.action == "accept" and (reply.content or {}).get("allow") is True
    except Exception:  # a client without elicitation
        is_allowed = False
    if is_allowed:
        return None
    return {
        "error": f"questions above {confirm_above} are confirmed by the user first, and this one "
        "was not. Nothing was charged",
        "charged": False,
    }


_QUESTION_PARTS = ("question", "verb", "column", "dataset", "sql", "terms")
_LONGEST_QUESTION = 300


def _question_in_words(arguments: Arguments) -> str:
    """Return a question as the user is shown it."""
    parts = (
        f"{name} {json.dumps(arguments[name])}" for name in _QUESTION_PARTS if name in arguments
    )
    text = visible_text(", ".join(parts)) or "none"
    return text if len(text) <= _LONGEST_QUESTION else f"{text[:_LONGEST_QUESTION]}…"


class AssistantConnection:
    """The connection of an assistant, on which one call is worked on after the other.

    A call that is cancelled goes on, and its answer waits under the name of its request.

    Args:
        connection: the connection.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection, self._working = connection, Lock()

    def call(self, name: str, arguments: Arguments) -> Reply:
        """Return the result of a tool."""
        with self._working:
            try:
                return call_tool(self._connection, name, arguments)
            except Exception:  # its words may hold what an assistant is not told
                return {"error": _FAILED}

    async def call_beside(self, name: str, arguments: Arguments) -> Reply:
        """Return the result of a tool. Its work goes on in its thread if the call is cancelled."""
        from anyio import to_thread

        return await to_thread.run_sync(self.call, name, arguments, abandon_on_cancel=True)

    def close(self) -> None:
        """Wait for the call that is worked on."""
        self._working.acquire()


_FAILED = (
    "this call failed. The owner of the data can see why. Call the same again under the same "
    "request: if it was charged, it costs nothing more"
)


def run_over_streams(
    where: str | None, *, analyst: str | None = None, token: str | None = None
) -> None:
    """Serve one assistant over standard input and output, until the input ends.

    A file or a token that is rejected says so before anything is served, and not to a model.

    Args:
        where: the file, or the URL of a service. None for the nearest discreet.toml.
        analyst: the analyst; None with a token.
        token: the token; None with an analyst.

    Raises:
        InvalidArgument: if nobody is named who asks, who asks cannot connect, or it is no analyst.
    """
    if analyst is None and token is None:
        raise InvalidArgument(
            "name who asks: an analyst of discreet.toml, or the token of a service"
        )
    _sdk()
    import anyio
    from mcp.server.stdio import stdio_server

    connection = connect(where, analyst=analyst, token=token)
    rights = connection.rights()
    rights.check_is_analyst()
    assistant = AssistantConnection(connection)
    server = build_server(assistant.call_beside, rights.confirm_above)

    async def run() -> None:
        async with stdio_server() as (requests, replies):
            await server.run(requests, replies, server.create_initialization_options())

    try:
        anyio.run(run)
    finally:
        assistant.close()
