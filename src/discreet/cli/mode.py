"""discreet mode: the most common value of a column."""

from pathlib import Path
from typing import Annotated

import typer

from ..releases import Release
from ..terms import Terms
from ..verbs import mode as verb
from .candidates import (
    CandidatesColumnOption,
    CandidatesFileOption,
    CandidatesOption,
    read_candidates,
)
from .releasing import releasing


@releasing("rows_per_person")
def mode_command(
    file: Annotated[Path, typer.Argument(help="A CSV or Parquet file.", show_default=False)],
    column: Annotated[str, typer.Option(help="The column.", show_default=False)],
    terms: Terms,
    candidates: CandidatesOption = None,
    candidates_from: CandidatesFileOption = None,
    candidates_column: CandidatesColumnOption = None,
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
    named = read_candidates(file, column, candidates, candidates_from, candidates_column)
    return verb.mode(
        file, column, named, unsafe_candidates_from_data=unsafe_candidates_from_data, **terms
    )
