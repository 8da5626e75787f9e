"""discreet mode: the most common value of a column."""

from pathlib import Path
from typing import Annotated

import typer

from .. import tables
from ..verbs import mode as verb
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


def mode(
    file: Annotated[Path, typer.Argument(help="A CSV or Parquet file.", show_default=False)],
    column: Annotated[str, typer.Option(help="The column.", show_default=False)],
    candidates: Annotated[
        list[str] | None,
        typer.Option(
            metavar="A,B,C", help="What may be answered; public, never taken from the data."
        ),
    ] = None,
    epsilon: Epsilon = None,
    rho: Rho = None,
    scale: Scale = None,
    mechanism: MechanismName = "exponential",
    noise: NoiseName = None,
    neighbors: NeighborsName = "add_remove",
    size: Size = None,
    unsafe_candidates_from_data: Annotated[
        bool,
        typer.Option(
            "--unsafe-candidates-from-data",
            help="Answer any value found in the data, without any guarantee.",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Release the most common value of a column.

    Rows whose value is not among the candidates are ignored.

    Example: discreet mode people.csv --column drink --candidates tea,coffee --epsilon 1
    """
    terms = read_terms(
        {"epsilon": epsilon, "rho": rho, "scale": scale, "neighbors": neighbors, "size": size},
        mechanism,
        noise,
    )
    named = (
        None
        if candidates is None
        else tables.parse_candidates(file, column, split_candidates(candidates))
    )
    answer = verb.mode(
        file, column, named, unsafe_candidates_from_data=unsafe_candidates_from_data, **terms
    )
    show(answer, as_json=as_json)
