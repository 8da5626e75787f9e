"""discreet mode: the most common value of a column."""

from typing import Annotated, cast

from ..selection.releases import Release
from ..selection.terms import AnswerTerms
from ..tables.verbs import mode as verb
from .candidate_options import (
    CandidatesColumnOption,
    CandidatesFileOption,
    CandidatesOption,
    read_candidates,
)
from .completion import one_of
from .described import columns_of_texts
from .options import ColumnsArgument, DataArgument, GapOption, MaxCandidates, option
from .releasing import releasing


@releasing(verb.mode)
def mode_command(
    data: DataArgument,
    column: ColumnsArgument,
    terms: AnswerTerms,
    candidates: CandidatesOption = None,
    candidates_from: CandidatesFileOption = None,
    candidates_column: CandidatesColumnOption = None,
    gap: GapOption = False,
    method: Annotated[
        str | None,
        option(
            "NAME",
            "counts: add noise to every count, and show the count next to the answer.",
            completes=one_of("counts"),
        ),
    ] = None,
    max_candidates: MaxCandidates = None,
) -> Release:
    """Release the most common value of a column.

    Rows with a value outside the candidates are ignored.

    Example: discreet mode people.csv drink --candidates tea,coffee --epsilon 1
    """
    columns = columns_of_texts(column)
    choices = read_candidates(data, columns, candidates, candidates_from, candidates_column)
    typed_method = cast(verb.ModeMethod | None, method)
    return verb.mode(
        data,
        columns,
        candidates=choices,
        method=typed_method,
        max_candidates=max_candidates,
        gap=gap,
        **terms,
    )
