"""discreet randomized-response: one person's answer, or another one."""

from typing import Annotated

import typer

from ..releases import Release
from ..terms import Terms
from ..verbs import noise as verb
from .inputs import secret_text
from .laplace import ValueArgument
from .options import split_candidates
from .releasing import OF_TABLES, releasing


@releasing(
    *OF_TABLES,
    "privacy_unit",
    "mechanism",
    "noise",
    "mechanism_option",
    "neighbors",
    opened=secret_text,
)
def randomized_response_command(
    terms: Terms,
    candidates: Annotated[
        list[str],
        typer.Option(metavar="A,B,C", help="What may be answered; public.", show_default=False),
    ],
    data: ValueArgument = "-",
) -> Release:
    """Release one's own answer, or by chance another.

    If the answer is none of the candidates, all of them are equally likely.

    Example: discreet randomized-response answer.txt --candidates yes,no --epsilon 1
    """
    return verb.randomized_response(data, split_candidates(candidates), **terms)
