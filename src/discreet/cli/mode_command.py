"""discreet mode, top-k: the most common value of a column, or several in order."""

from typing import Annotated, cast

from ..selection.releases import Release
from ..selection.terms import AnswerTerms
from ..tables.verbs import list_methods, top_k
from ..tables.verbs import mode as verb
from .completion import one_of
from .described import columns_of_texts, read_candidates
from .options import (
    CandidatesColumnOption,
    CandidatesFileOption,
    CandidatesOption,
    ColumnsArgument,
    DataArgument,
    GapOption,
    MaxCandidates,
    option,
)
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


@releasing(top_k.top_k)
def top_k_command(
    data: DataArgument,
    column: ColumnsArgument,
    k: Annotated[int, option("NUMBER", "The number of values.", "--k", "-k")],
    terms: AnswerTerms,
    candidates: CandidatesOption = None,
    candidates_from: CandidatesFileOption = None,
    candidates_column: CandidatesColumnOption = None,
    method: Annotated[
        str | None,
        option(
            "NAME",
            "The method: counts (shows the counts next to the answers), peeling or joint. The default is the "
            "best by public numbers.",
            completes=one_of("counts", "peeling", "joint"),
        ),
    ] = None,
    max_candidates: MaxCandidates = None,
    gap: GapOption = False,
) -> Release:
    """Release the most common values of a column, in order.

    Rows with a value outside the candidates are ignored.

    Example: discreet top-k people.csv drink --candidates tea,coffee,milk --k 2 --epsilon 1
    """
    columns = columns_of_texts(column)
    choices = read_candidates(data, columns, candidates, candidates_from, candidates_column)
    typed_method = cast(list_methods.TopKMethod | None, method)
    return top_k.top_k(
        data, columns, k=k, candidates=choices, method=typed_method,
        max_candidates=max_candidates, gap=gap, **terms,
    )  # fmt: skip
