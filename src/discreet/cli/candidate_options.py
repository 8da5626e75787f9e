"""The options for candidates: a list, or a public file."""

from pathlib import Path
from typing import Annotated, Literal

from ..errors import InvalidArgument
from ..selection.any_column import AnyColumn
from ..tables.engines.candidate_table import CandidateTable, names_file
from ..tables.engines.records import PRIVATE_GROUPS
from .completion import candidate_columns, declared_values
from .described import Data, parse_values, values_of_columns, without_column
from .options import option, split_candidates

CandidatesOption = Annotated[
    list[str] | None,
    option(
        "A,B,C",
        "The possible answers. They must be public, never taken from the data. Use 'private' "
        "if you have no public list. For several columns: city=A,B, one option for each.",
        "--candidates",
        "-c",
        completes=declared_values,
    ),
]
CandidatesFileOption = Annotated[
    Path | None,
    option("FILE", "Instead of --candidates: a public CSV or Parquet file of them, of any length."),
]
CandidatesColumnOption = Annotated[
    str | None,
    option(
        "COLUMN",
        "The column of that file. The default is the column of the data.",
        completes=candidate_columns,
    ),
]


def read_candidates(
    data: Data,
    column: AnyColumn,
    choices: list[str] | None,
    from_file: Path | None,
    file_column: str | None,
) -> list[object] | dict[str, list[object]] | CandidateTable | Literal["private"] | None:
    """Return the candidates, or None if none are given."""
    if from_file is not None or file_column is not None:
        return _candidates_in_file(column, choices, from_file, file_column)
    if choices is None:
        return None
    if choices == [PRIVATE_GROUPS]:
        return "private"
    if not isinstance(column, str):
        return values_of_columns(data, column, choices, "--candidates")
    texts = split_candidates(without_column(column, choices))
    if len(texts) == 1 and names_file(texts[0]):
        raise InvalidArgument(
            f"--candidates lists what may be answered. Give --candidates-from {texts[0]}"
        )
    return parse_values(data, column, texts)


def _candidates_in_file(
    column: AnyColumn, choices: list[str] | None, from_file: Path | None, file_column: str | None
) -> CandidateTable:
    """Return the candidates in a column of a file."""
    if from_file is None:
        raise InvalidArgument("--candidates-column goes with --candidates-from")
    if choices is not None:
        raise InvalidArgument("give either --candidates or --candidates-from, not both")
    if not isinstance(column, str):
        raise InvalidArgument("--candidates-from is of one column, without bins")
    return CandidateTable(from_file, column if file_column is None else file_column)
