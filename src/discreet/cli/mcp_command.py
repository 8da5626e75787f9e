"""discreet mcp: tools for an assistant, by the Model Context Protocol over standard streams."""

import os
from typing import Annotated

from ..errors import InvalidArgument
from .completion import analyst_names
from .options import argument, option

_ServiceUrl = Annotated[
    str | None,
    argument(
        "URL",
        "The URL of a service, with its token in DISCREET_TOKEN. The default is the nearest "
        "discreet.toml.",
    ),
]
_AssistantName = Annotated[
    str | None,
    option(
        "NAME",
        "The analyst of discreet.toml. The assistant gets the same rights and share.",
        completes=analyst_names,
    ),
]


def mcp_command(service: _ServiceUrl = None, analyst: _AssistantName = None) -> None:
    """Let an assistant ask, within a privacy budget.

    This does not hold an assistant that can run commands or read files on the same machine. If yours can, put
    the data behind discreet serve and give the assistant the URL and a token.

    Example: discreet mcp --analyst assistant
    """
    from ..service.mcp.mcp_server import run_over_streams  # heavy, and other commands do without

    if service is not None:
        token = os.environ.get("DISCREET_TOKEN")
        if analyst is not None or not token:
            raise InvalidArgument(
                "a service wants a token, which says who asks: set DISCREET_TOKEN, and leave out --analyst"
            )
        run_over_streams(service, token=token)
        return
    if analyst is None:
        raise InvalidArgument(
            "name an analyst of discreet.toml: --analyst NAME. The assistant gets the rights and "
            "the share of that analyst, never those of the owner"
        )
    run_over_streams(None, analyst=analyst)
