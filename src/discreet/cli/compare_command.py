"""discreet compare: the expected error of several mechanisms, on scores that are public."""

from typing import Annotated

import typer

from .. import tables
from ..mechanisms import BOUNDED, MECHANISMS
from ..planning.compare import compare
from .completion import one_of
from .inputs import table_file
from .json_output import print_json
from .options import AsJson, ColumnArgument, DataArgument, FormatName, PlotTo, check_picture
from .plan_command import LargestChangeOption


def compare_command(
    data: DataArgument,
    column: ColumnArgument,
    epsilons: Annotated[
        str, typer.Option(metavar="A,B,C", help="The epsilons of an answer.")
    ] = "0.1,0.2,0.5,1,2,5",
    mechanisms: Annotated[
        str,
        typer.Option(
            metavar="A,B,C",
            help=f"Some of {', '.join(MECHANISMS)}.",
            autocompletion=one_of(*MECHANISMS),
        ),
    ] = ",".join(BOUNDED),
    spread: LargestChangeOption = "1",
    form: FormatName = None,
    plot: PlotTo = None,
    as_json: AsJson = False,
) -> None:
    """Compare mechanisms by their errors on public scores.

    The column has one score per candidate, of last year or made up: what is printed is as private as they are.

    Example: discreet compare votes.csv votes --epsilons 0.1,1
    """
    check_picture(plot)
    with table_file(data, form) as path:
        scores = tables.numbers(path, column)
    comparison = compare(
        scores, spread=spread, epsilons=_parts(epsilons), mechanisms=_parts(mechanisms)
    )
    if plot is not None:
        comparison.plot().savefig(plot)
    if as_json:
        print_json(comparison.as_dict())
    else:
        typer.echo(str(comparison))


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",")]
