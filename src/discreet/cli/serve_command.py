"""discreet serve: answer questions about described datasets over HTTP."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import InvalidArgument
from .answer_output import say
from .json_output import print_json
from .options import AsJson, argument, option, switch

if TYPE_CHECKING:
    from ..service.http.serving import ServeOptions
    from ..tables.datasets.configuration import Configuration


ConfigArgument = Annotated[
    Path | None,
    argument(
        "FILE",
        "The description. The default is discreet.toml in this folder or the nearest one above.",
    ),
]
HostOption = Annotated[
    list[str] | None, option("NAME", "Another host name to accept requests for.")
]
ReadersOption = Annotated[
    int | None,
    option("NUMBER", "The number of questions to read at once (one fewer than there are cores)."),
]
TryOption = Annotated[
    bool,
    switch("--try", "Measure how long answers take, print the times that fit, and serve nothing."),
]


def serve_command(
    config: ConfigArgument = None,
    listen: Annotated[
        str | None, option("HOST:PORT", "The address to listen on (127.0.0.1:8765).")
    ] = None,
    host: HostOption = None,
    workers: Annotated[int, option("NUMBER", "The number of processes that handle requests.")] = 1,
    readers: ReadersOption = None,
    is_trial: TryOption = False,
    as_json: AsJson = False,
) -> None:
    """Serve described datasets over HTTP. Create tokens for clients with discreet token create.

    Example: discreet serve discreet.toml
    """
    from ..ledger.toml_budgets import configuration
    from ..service.http.serving import ServeOptions, count_readers

    description = configuration(config)
    number = count_readers(description, readers)
    if is_trial:
        _try_times(description, workers, number, as_json=as_json)
    elif as_json:
        raise InvalidArgument("--json prints the times of --try. Give both, or neither")
    else:
        _serve_described(description, ServeOptions(listen, tuple(host or ()), workers, number))


def _try_times(description: "Configuration", workers: int, readers: int, *, as_json: bool) -> None:
    """Print the times that fit the answers about each dataset, as measured under load."""
    from ..base.messages import translate
    from ..service.http.serving import count_cores, count_workers
    from ..service.http.trial import NOTES, try_times
    from ..service.http.trial_processes import Load

    load = Load(readers, count_workers(workers), count_cores())
    say("trying every question under load. Nothing is charged, and no answer is kept")
    fitting = try_times(description, load)
    if as_json:
        print_json([one.as_dict() for one in fitting])
    else:
        for line in (line for one in fitting for line in one.lines()):
            typer.echo(translate(line))
    for note in NOTES:
        say(note)


def _serve_described(description: "Configuration", options: "ServeOptions") -> None:
    """Print the promises of the service, and serve until it is stopped."""
    from ..service.http.serving import serve

    _announce(description, options.listen)
    serve(description, options, partial(_say_address, description, options.listen))


def _announce(description: "Configuration", listen: str | None) -> None:
    """Print the promises of the service, and the machines that can reach it."""
    from ..ledger.toml_budgets import owner_notes
    from ..service.http.serving import exposure, require_server
    from ..service.queue.disclosures import declared_disclosures
    from ..service.queue.promises import answer_times, describe_times

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
    from ..service.http.serving import address_to_open

    address = address_to_open(description, listen)
    say(f"answering about {', '.join(description.datasets)} at {address} (stop with Ctrl-C)")
