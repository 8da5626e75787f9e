"""discreet mode: the most common value of a column."""

import csv
from pathlib import Path
from typing import Annotated

import typer

from .. import tables
from ..errors import InvalidCandidates
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
        None if candidates is None else tables.parse_candidates(file, column, _split(candidates))
    )
    answer = verb.mode(
        file, column, named, unsafe_candidates_from_data=unsafe_candidates_from_data, **terms
    )
    show(answer, as_json=as_json)


def _split(texts: list[str]) -> list[str]:
    """Return the comma-separated candidates; quotes keep a comma or a blank."""
    try:
        rows = list(csv.reader(texts, skipinitialspace=True, strict=True))
    except csv.Error:
        raise InvalidCandidates(
            "--candidates has a quote that is not closed, or a line break"
        ) from None
    candidates = [candidate.rstrip() for row in rows for candidate in row]
    if not all(candidates):
        raise InvalidCandidates("--candidates has an empty candidate; remove a comma")
    return candidates
