"""discreet profile: an undescribed table, column by column."""

from dataclasses import replace
from typing import Annotated, Any

import typer

from ..selection.releases import Release
from ..tables.datasets.table_profile import Draft, Profile
from ..tables.verbs import profile as verb
from .completion import columns_of_file
from .inputs import is_copy
from .options import DataArgument, split_candidates
from .releasing import releasing


def _column_names(words: str) -> Any:
    """Return an option for names of columns."""
    return typer.Option(
        metavar="A,B,C", help=words, show_default=False, autocompletion=columns_of_file
    )


Names = list[str] | None


_DeltaOfTexts = Annotated[
    str | None,
    typer.Option(
        metavar="NUMBER",
        help="The δ of all of it together, such as 1e-8: the values of texts are shown with one alone.",
    ),
]
_MostUnits = Annotated[
    int | None,
    typer.Option(
        metavar="NUMBER",
        help="The most units that there may be, as you know without a look: a δ too large for them is refused.",
    ),
]
_ColumnNames = Annotated[
    Names, _column_names("The columns; all of the header or the schema without it.")
]
_NumberColumns = Annotated[
    Names, _column_names("Columns that hold numbers, where no type says it.")
]
_DateColumns = Annotated[Names, _column_names("Columns that hold dates.")]
_TextColumns = Annotated[
    Names, _column_names("Columns whose values are wanted, though they may spell numbers.")
]
_LeastShared = Annotated[
    int, typer.Option(metavar="NUMBER", help="No value is shown that fewer units share.")
]
_MostValues = Annotated[int, typer.Option(metavar="NUMBER", help="The most values of a column.")]
_DraftAlone = Annotated[
    bool, typer.Option("--draft", help="Print the draft of discreet.toml alone.")
]


@releasing(verb.profile, note=None)
def profile_command(  # what is known of the table
    data: DataArgument,
    terms: dict[str, Any],
    delta: _DeltaOfTexts = None,
    at_most: _MostUnits = None,
    columns: _ColumnNames = None,
    numbers: _NumberColumns = None,
    dates: _DateColumns = None,
    texts: _TextColumns = None,
    minimum_count: _LeastShared = 10,
    most: _MostValues = 1000,
    draft: _DraftAlone = False,
) -> Release:
    """Profile a table that has no description.

    For each column how many cells are filled, and its quartiles and ends, or the values that enough units
    share with their counts: at one price, with noise, and ready to be published. A draft of discreet.toml
    comes with it.

    Example: discreet profile people.csv --epsilon 1 --delta 1e-8 --privacy-unit person
    """
    table: Any = data
    candidates = {"numbers": numbers, "dates": dates, "texts": texts}
    kinds: dict[str, Any] = {
        name: split_candidates(one or [], f"--{name}") for name, one in candidates.items()
    }
    release = verb.profile(
        table,
        delta=delta,
        at_most=at_most,
        columns=None if columns is None else split_candidates(columns, "--columns"),
        minimum_count=minimum_count,
        most=most,
        **kinds,
        **terms,
    )
    profile: Profile = release.value
    if is_copy(data):  # of standard input, or under another name
        profile = replace(profile, where=None)
    return replace(release, value=Draft(profile.draft) if draft else profile)  # type: ignore[arg-type]
