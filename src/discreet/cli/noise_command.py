"""discreet noise: a number with Laplace noise; one's own answer, or by chance another one."""

from typing import Annotated

import typer

from ..selection import noise as verb
from ..selection.releases import Release
from ..selection.terms import Terms
from .inputs import private_number, secret_text
from .options import argument, option, split_candidates
from .releasing import releasing

noise_app = typer.Typer(
    name="noise", help="Add noise to a number, or randomize an answer.", no_args_is_help=True
)

ValueArgument = Annotated[
    str,
    argument(
        "FILE",
        "A file with the private value, or - for standard input. Never the value itself: "
        "others see command lines.",
    ),
]


@noise_app.command("laplace")
@releasing(verb.laplace, open_input=secret_text)
def laplace_command(
    terms: Terms,
    sensitivity: Annotated[
        str, option("NUMBER", "The most that the number changes between neighbors.")
    ],
    data: ValueArgument = "-",
    step: Annotated[str, option("NUMBER", "The distance between answers.")] = "1",
    lo: Annotated[str | None, option("NUMBER", "The least answer. Needs --hi.")] = None,
    hi: Annotated[str | None, option("NUMBER", "The largest answer. Needs --lo.")] = None,
) -> Release:
    """Release a number with Laplace noise, on a grid.

    Mechanisms other than the exponential need --lo and --hi.

    Example: discreet noise laplace count.txt --sensitivity 1 --epsilon 1
    """
    value = private_number(data, "the private value")
    return verb.laplace(value, sensitivity=sensitivity, step=step, lo=lo, hi=hi, **terms)


@noise_app.command("randomized-response")
@releasing(
    verb.randomized_response,
    without=("mechanism", "mechanism_option", "privacy_unit"),
    open_input=secret_text,
)
def randomized_response_command(
    terms: Terms,
    candidates: Annotated[list[str], option("A,B,C", "The possible answers. They must be public.")],
    data: ValueArgument = "-",
) -> Release:
    """Release your own answer, or by chance another.

    If the answer is none of the candidates, all of them are equally likely.

    Example: discreet noise randomized-response answer.txt --candidates yes,no --epsilon 1
    """
    return verb.randomized_response(data, split_candidates(candidates), **terms)
