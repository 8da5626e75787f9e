"""discreet mode: the most common value of a column."""

from ..releases import Release
from ..terms import Terms
from ..verbs import mode as verb
from .candidate_options import (
    CandidatesColumnOption,
    CandidatesFileOption,
    CandidatesOption,
    read_candidates,
)
from .options import ColumnArgument, DataArgument, GapOption
from .releasing import releasing


@releasing("max_contributions")
def mode_command(
    data: DataArgument,
    column: ColumnArgument,
    terms: Terms,
    candidates: CandidatesOption = None,
    candidates_from: CandidatesFileOption = None,
    candidates_column: CandidatesColumnOption = None,
    gap: GapOption = False,
) -> Release:
    """Release the most common value of a column.

    Rows whose value is not among the candidates are ignored.

    Example: discreet mode people.csv drink --candidates tea,coffee --epsilon 1
    """
    choices = read_candidates(data, column, candidates, candidates_from, candidates_column)
    return verb.mode(data, column, candidates=choices, gap=gap, **terms)
