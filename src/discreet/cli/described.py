"""The data of a command, a dataset of discreet.toml or a path, and the values of its columns that options spell."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from ..errors import InvalidArgument, MissingColumn
from ..selection.any_column import AnyColumn
from ..selection.bins import read_columns
from ..selection.candidates import Grid
from ..selection.date_grid import DateGrid, as_moment
from ..selection.plain_columns import column_of_text
from ..tables import engines as tables
from ..tables.datasets import Dataset
from ..tables.datasets.calls import find_by_path
from ..tables.datasets.configuration import find_configuration, read_configuration
from ..tables.engines.candidate_table import CandidateTable, names_file
from ..tables.engines.records import PRIVATE_GROUPS
from ..tables.formats.file_paths import file_format
from ..tables.formats.text_form import CsvFile
from .answer_output import say
from .options import split_candidates

Data = str | Path | CsvFile | Dataset
"""What a command asks about."""


def described_data(data_path: Path) -> Path | Dataset:
    """Return the described dataset of that name, or the one to which a path belongs, or otherwise the path.

    Raises:
        InvalidDescription: if discreet.toml cannot be accepted.
        InvalidArgument: if the path has files of a described dataset, and is not the same.
    """
    path = find_configuration()
    if path is None:
        return data_path
    from ..ledger.toml_budgets import with_its_ledger

    description = read_configuration(path)
    if str(data_path) in description.datasets:
        return with_its_ledger(description, str(data_path))
    match = find_by_path(data_path)
    if match is None:
        return data_path
    if match.is_whole:
        say(f"{data_path} is declared as {match.name} in {path}")
        return with_its_ledger(description, match.name)
    raise InvalidArgument(
        f"{data_path} has files of the dataset {match.name} of {path}, and is not the same. Ask "
        f"about {match.name}"
    )


def is_described(data: Data) -> bool:
    """Return whether data are a described dataset."""
    return isinstance(data, Dataset)


def parse_values(
    data: Data, column: str, texts: Sequence[str], argument: str = "column"
) -> list[object]:
    """Return the values that texts spell: by the declaration of a column, or by its type in the table.

    Raises:
        MissingColumn: if there is no such column. The message has the argument that names it.
    """
    if isinstance(data, Dataset):
        of = data.column(column, argument)
        return [of.parse(text) for text in texts]
    try:
        return tables.parse_candidates(data, column, texts)
    except MissingColumn as error:
        raise MissingColumn(f"{argument}:{str(error).removeprefix('column:')}") from None


def without_column(column: str, texts: Sequence[str]) -> list[str]:
    """Return the texts of values without the name of their only column: city=A,B is A,B, as of several columns."""
    return [text.removeprefix(f"{column}=") for text in texts]


def columns_of_texts(texts: Sequence[str]) -> AnyColumn:
    """Return the column that a text names, or the bins that it spells. For several texts a list of these.

    Raises:
        InvalidArgument: if one of several names a file: a pattern without quotes stands for many.
    """
    parts = list(map(column_of_text, texts))
    if len(parts) == 1:
        return parts[0]
    for part in parts:
        if isinstance(part, str) and file_format(Path(part)) and Path(part).is_file():
            raise InvalidArgument(
                f"{part} is a file, in place of a column. For several files give a pattern in quotes, such as "
                "'rows/*.csv'"
            )
    return parts


def values_of_columns(
    data: Data, column: AnyColumn, texts: Sequence[str], option: str, argument: str = "column"
) -> dict[str, list[object]]:
    """Return the values of several columns, which texts spell as city=York,Leeds. Those of bins are their edges.

    Raises:
        InvalidArgument: if a text does not begin with one of the columns, or a column is there twice.
    """
    cells = read_columns(column, argument)
    example = " ".join(f"{option} {name}=A,B" for name in cells.plain)
    if not example:
        raise InvalidArgument(f"bins are listed by their edges: leave out {option}")
    lists: dict[str, list[object]] = {}
    for text in texts:
        name = max(
            (one for one in cells.plain if text.startswith(f"{one}=")), key=len, default=None
        )
        if name is None and len(cells.plain) == 1:
            [name], text = cells.plain, f"{cells.plain[0]}={text}"
        if name is None or name in lists:
            raise InvalidArgument(
                f"{option} of several columns names the column of its values once: {example}"
            )
        values = split_candidates([text.removeprefix(f"{name}=")], option)
        lists[name] = parse_values(data, name, values, argument)
    return lists


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


def grid_of(lo: str | None, hi: str | None, step: str | None) -> Grid | DateGrid | None:
    """Return the grid of --lo, --hi and --step, or None if none of them is given.

    Raises:
        InvalidArgument: if some are given and others are missing.
    """
    if lo is not None and hi is not None:
        if as_moment(lo) is not None:
            return DateGrid(lo, hi, "1 day" if step is None else step)
        return Grid(lo, hi, "1" if step is None else step)
    if lo is None and hi is None and step is None:
        return None
    raise missing_bounds(lo, hi)


def missing_bounds(lo: str | None = None, hi: str | None = None) -> InvalidArgument:
    """Return the error that names the bounds which are missing."""
    missing = " and ".join(name for name, one in (("--lo", lo), ("--hi", hi)) if one is None)
    return InvalidArgument(
        f"give {missing}: answers are the numbers from --lo to --hi. Or describe the data once in "
        "discreet.toml"
    )
