"""discreet tally: the questions about files without a ledger."""

from typing import Annotated

import typer

from ..base.escapes import visible_text
from ..base.messages import Message, translate
from ..tables.datasets import tally
from .json_output import print_json
from .options import AsJson, switch

_ABOUT = Message(
    "A tally counts what was answered, and stops nothing. For a budget: discreet describe"
)


def tally_command(
    clear: Annotated[bool, switch("--clear", "Delete the whole tally.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show the questions about files without a ledger.

    Each such answer adds a line of public facts to a file of yours: the file, the time, the verb, epsilon, delta
    and who is protected. Use --no-tally to leave out one answer, or DISCREET_NO_TALLY=1 to leave out all.

    Example: discreet tally
    """
    if clear:
        tally.clear()
        return
    files: dict[tally.Place, list[tally.Entry]] = {}
    for entry in tally.read():
        for place in entry.files:
            files.setdefault(place, []).append(entry)
    rows = [(path, kind, total) for (_, _, path), entries in files.items()
            for kind, total in tally.add_up(entries).items()]  # fmt: skip
    if as_json:
        print_json([
            {"file": path, "answers": total.answers, "epsilon": str(total.epsilon), "delta": str(total.delta),
             "neighbors": kind.neighbors, "unit": kind.unit}
            for path, kind, total in rows
        ])  # fmt: skip
        return
    for path, kind, total in rows:
        typer.echo(f"{visible_text(path)}: {translate(total.words(kind))}")
    typer.echo(translate(_ABOUT), err=True)
