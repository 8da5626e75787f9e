"""discreet mode: the most common value of a column."""

from pathlib import Path
from typing import Annotated

import typer

from .. import tables
from ..releases import Release
from ..selection import Terms
from ..verbs import mode as verb
from .options import split_candidates
from .releasing import releasing


@releasing("rows_per_person")
def mode(
    file: Annotated[Path, typer.Argument(help="A CSV or Parquet file.", show_default=False)],
    column: Annotated[str, typer.Option(help="The column.", show_default=False)],
    terms: Terms,
    candidates: Annotated[
        list[str] | None,
        typer.Option(
            metavar="A,B,C", help="What may be answered; public, never taken from the data."
        ),
    ] = None,
    unsafe_candidates_from_data: Annotated[
        bool,
        typer.Option(
            "--unsafe-candidates-from-data",
            help="Answer any value found in the data, without any guarantee.",
        ),
    ] = False,
) -> Release:
    """Release the most common value of a column.

    Rows whose value is not among the candidates are ignored.

    Example: discreet mode people.csv --column drink --candidates tea,coffee --epsilon 1
    """
    named = (
        None
        if candidates is None
        else tables.parse_candidates(file, column, split_candidates(candidates))
    )
    return verb.mode(
        file, column, named, unsafe_candidates_from_data=unsafe_candidates_from_data, **terms
    )
