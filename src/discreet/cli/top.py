"""discreet top: the most common values of a column, in order."""

from pathlib import Path
from typing import Annotated, cast

import typer

from .. import tables
from ..releases import Release
from ..selection import Terms
from ..verbs import top_k as verb
from .options import split_candidates
from .releasing import releasing


@releasing("rows_per_person")
def top(
    file: Annotated[Path, typer.Argument(help="A CSV or Parquet file.", show_default=False)],
    column: Annotated[str, typer.Option(help="The column.", show_default=False)],
    candidates: Annotated[
        list[str],
        typer.Option(
            metavar="A,B,C",
            help="What may be answered; public, never taken from the data.",
            show_default=False,
        ),
    ],
    k: Annotated[int, typer.Option("--k", metavar="NUMBER", help="How many.", show_default=False)],
    terms: Terms,
    method: Annotated[str, typer.Option(metavar="NAME", help="peeling or joint.")] = "peeling",
) -> Release:
    """Release the most common values of a column, in order.

    Rows whose value is not among the candidates are ignored.

    Example: discreet top people.csv --column drink --candidates tea,coffee,milk --k 2 --epsilon 1
    """
    named = tables.parse_candidates(file, column, split_candidates(candidates))
    chosen = cast(verb.Method, method)
    return verb.top_k(file, k, column, candidates=named, method=chosen, **terms)
