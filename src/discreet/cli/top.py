"""discreet top: the most common values of a column, in order."""

from pathlib import Path
from typing import Annotated, cast

import typer

from .. import tables
from ..verbs import top_k as verb
from .options import (
    AsJson,
    Epsilon,
    MechanismName,
    NeighborsName,
    NoiseName,
    Rho,
    Scale,
    Size,
    read_terms,
    show,
    split_candidates,
)


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
    method: Annotated[str, typer.Option(metavar="NAME", help="peeling or joint.")] = "peeling",
    epsilon: Epsilon = None,
    rho: Rho = None,
    scale: Scale = None,
    mechanism: MechanismName = "exponential",
    noise: NoiseName = None,
    neighbors: NeighborsName = "add_remove",
    size: Size = None,
    as_json: AsJson = False,
) -> None:
    """Release the most common values of a column, in order.

    Rows whose value is not among the candidates are ignored.

    Example: discreet top people.csv --column drink --candidates tea,coffee,milk --k 2 --epsilon 1
    """
    terms = read_terms(
        {"epsilon": epsilon, "rho": rho, "scale": scale, "neighbors": neighbors, "size": size},
        mechanism,
        noise,
    )
    named = tables.parse_candidates(file, column, split_candidates(candidates))
    answer = verb.top_k(
        file, k, column, candidates=named, method=cast(verb.Method, method), **terms
    )
    show(answer, as_json=as_json)
