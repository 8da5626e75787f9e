"""discreet top: the most common values of a column, in order."""

from pathlib import Path
from typing import Annotated, cast

import typer

from ..releases import Release
from ..terms import Terms
from ..verbs import top_k as verb
from .candidates import (
    CandidatesColumnOption,
    CandidatesFileOption,
    CandidatesOption,
    read_candidates,
)
from .releasing import releasing


@releasing("rows_per_person")
def top_command(
    file: Annotated[Path, typer.Argument(help="A CSV or Parquet file.", show_default=False)],
    column: Annotated[str, typer.Option(help="The column.", show_default=False)],
    k: Annotated[int, typer.Option("--k", metavar="NUMBER", help="How many.", show_default=False)],
    terms: Terms,
    candidates: CandidatesOption = None,
    candidates_from: CandidatesFileOption = None,
    candidates_column: CandidatesColumnOption = None,
    method: Annotated[str, typer.Option(metavar="NAME", help="peeling or joint.")] = "peeling",
) -> Release:
    """Release the most common values of a column, in order.

    Rows whose value is not among the candidates are ignored.

    Example: discreet top people.csv --column drink --candidates tea,coffee,milk --k 2 --epsilon 1
    """
    named = read_candidates(file, column, candidates, candidates_from, candidates_column)
    chosen = cast(verb.TopKMethod, method)
    return verb.top_k(file, k, column, candidates=named, method=chosen, **terms)
