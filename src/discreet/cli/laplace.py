"""discreet laplace: a number with Laplace noise."""

from typing import Annotated

import typer

from ..releases import Release
from ..terms import Terms
from ..verbs import noise as verb
from .inputs import private_number, secret_text
from .releasing import OF_TABLES, releasing

ValueArgument = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="A file with the private value; - for standard input. Never the value itself: others "
        "see command lines.",
    ),
]


@releasing(*OF_TABLES, opened=secret_text)
def laplace_command(
    terms: Terms,
    sensitivity: Annotated[
        str,
        typer.Option(
            metavar="NUMBER",
            help="The most that the number changes between neighbors.",
            show_default=False,
        ),
    ],
    data: ValueArgument = "-",
    step: Annotated[
        str, typer.Option(metavar="NUMBER", help="The distance between answers.")
    ] = "1",
    lo: Annotated[
        str | None, typer.Option(metavar="NUMBER", help="The least answer; with --hi.")
    ] = None,
    hi: Annotated[
        str | None, typer.Option(metavar="NUMBER", help="The largest answer; with --lo.")
    ] = None,
) -> Release:
    """Release a number with Laplace noise, on a grid.

    Other mechanisms than the exponential need --lo and --hi.

    Example: discreet laplace count.txt --sensitivity 1 --epsilon 1
    """
    value = private_number(data, "the private value")
    return verb.laplace(value, sensitivity=sensitivity, step=step, lo=lo, hi=hi, **terms)
