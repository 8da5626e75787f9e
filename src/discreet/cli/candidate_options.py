"""The options for candidates: a list, or a public file."""

from pathlib import Path
from typing import Annotated, Literal

from ..errors import InvalidArgument
from ..tables.engines.candidate_table import CandidateTable, names_file
from ..tables.engines.records import PRIVATE_GROUPS
from .completion import candidate_columns, declared_values
from .described import Data, parse_values
from .options import option, split_candidates

CandidatesOption = Annotated[
    list[str] | None,
    option(
        "A,B,C",
        "The possible answers. They must be public, never taken from the data. Use 'private' "
        "if you have no public list.",
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
    column: str,
    choices: list[str] | None,
    from_file: Path | None,
    file_column: str | None,
) -> list[object] | CandidateTable | Literal["private"] | None:
    """Return the candidates, or None if none are given."""
    if file_column is not None and from_file is None:
        raise InvalidArgument("--candidates-column goes with --candidates-from")
    if from_file is not None:
        if choices is not None:
            raise InvalidArgument("give either --candidates or --candidates-from, not both")
        return CandidateTable(from_file, column if file_column is None else file_column)
    if choices is None:
        return None
    texts = split_candidates(choices)
    if texts == [PRIVATE_GROUPS]:
        return "private"
    if len(texts) == 1 and names_file(texts[0]):
        raise InvalidArgument(
            f"--candidates lists what may be answered. Give --candidates-from {texts[0]}"
        )
    return parse_values(data, column, texts)
