"""discreet top-k: the most common values of a column, in order."""

from typing import Annotated, cast

import typer

from ..releases import Release
from ..terms import Terms
from ..verbs import top_k as verb
from .candidate_options import (
    CandidatesColumnOption,
    CandidatesFileOption,
    CandidatesOption,
    read_candidates,
)
from .completion import one_of
from .options import ColumnArgument, DataArgument
from .releasing import releasing


@releasing("max_contributions")
def top_k_command(
    data: DataArgument,
    column: ColumnArgument,
    k: Annotated[
        int, typer.Option("--k", "-k", metavar="NUMBER", help="How many.", show_default=False)
    ],
    terms: Terms,
    candidates: CandidatesOption = None,
    candidates_from: CandidatesFileOption = None,
    candidates_column: CandidatesColumnOption = None,
    method: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="peeling or joint.", autocompletion=one_of("peeling", "joint")
        ),
    ] = "peeling",
    delta: Annotated[
        str | None,
        typer.Option(metavar="NUMBER", help="The δ of all answers together.", show_default=False),
    ] = None,
) -> Release:
    """Release the most common values of a column, in order.

    Rows whose value is not among the candidates are ignored.

    Example: discreet top-k people.csv drink --candidates tea,coffee,milk --k 2 --epsilon 1
    """
    choices = read_candidates(data, column, candidates, candidates_from, candidates_column)
    typed_method = cast(verb.TopKMethod, method)
    return verb.top_k(
        data, column, k=k, candidates=choices, method=typed_method, delta=delta, **terms
    )
