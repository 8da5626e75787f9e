"""discreet serve: answer questions about described datasets over HTTP."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .answer_output import say

if TYPE_CHECKING:
    from ..datasets.configuration import Configuration
    from ..service.serving import ServeOptions


def serve_command(
    config: Annotated[
        Path | None,
        typer.Argument(
            metavar="FILE", help="The description; by default discreet.toml from here upwards."
        ),
    ] = None,
    listen: Annotated[
        str | None, typer.Option(metavar="HOST:PORT", help="Where to listen (127.0.0.1:8765).")
    ] = None,
    host: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="A name under which it may be called, besides this machine."
        ),
    ] = None,
    workers: Annotated[
        int, typer.Option(metavar="NUMBER", help="How many processes take requests.")
    ] = 1,
    readers: Annotated[
        int | None,
        typer.Option(
            metavar="NUMBER",
            help="How many questions are read at once (one fewer than there are cores).",
        ),
    ] = None,
    processes: Annotated[
        int | None, typer.Option(metavar="NUMBER", help="The old name of --readers.", hidden=True)
    ] = None,
) -> None:
    """Serve described datasets over HTTP. Callers bring a token: discreet token create.

    Example: discreet serve discreet.toml
    """
    from ..ledger.toml_budgets import configuration
    from ..service.serving import ServeOptions, count_readers

    _warn_of_old_name(processes)
    description = configuration(config)
    number = count_readers(description, processes if readers is None else readers)
    _serve_described(description, ServeOptions(listen, tuple(host or ()), workers, number))


def _warn_of_old_name(processes: int | None) -> None:
    """Say the new name of an option, if the old one was given."""
    if processes is not None:
        say("note: --processes is --readers now: all workers share the readers")


def _serve_described(description: "Configuration", options: "ServeOptions") -> None:
    """Print the promises of the service, and serve until it is stopped."""
    from ..service.serving import serve

    _announce(description, options.listen)
    serve(description, options, partial(_say_address, description, options.listen))


def _announce(description: "Configuration", listen: str | None) -> None:
    """Print the promises of the service, and the machines that can reach it."""
    from ..ledger.toml_budgets import owner_notes
    from ..service.disclosures import declared_disclosures
    from ..service.promises import answer_times, describe_times
    from ..service.serving import exposure, require_server

    require_server()
    for note in owner_notes(description):
        say(f"note: {note}")
    for disclosure in declared_disclosures(description):
        say(str(disclosure))
    for line in describe_times(answer_times(description)):
        say(line)
    warning = exposure(description, listen)
    if warning is not None:
        say(f"note: {warning}")


def _say_address(description: "Configuration", listen: str | None) -> None:
    """Print the address, now that the service answers."""
    from ..service.serving import address_to_open

    address = address_to_open(description, listen)
    say(f"answering about {', '.join(description.datasets)} at {address} (stop with Ctrl-C)")
