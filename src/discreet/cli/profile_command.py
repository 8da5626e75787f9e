"""discreet profile: an undescribed table, column by column."""

from dataclasses import replace
from typing import Annotated, Any

from ..selection.releases import Release
from ..tables.datasets.table_profile import Draft, Profile
from ..tables.verbs import profile as verb
from .completion import columns_of_file
from .inputs import is_copy
from .options import DataArgument, option, split_candidates, switch
from .releasing import releasing

Names = list[str] | None


_DeltaOfTexts = Annotated[
    str | None,
    option(
        "NUMBER",
        "The δ of the whole profile, such as 1e-8. Without it no values of text columns are shown.",
    ),
]
_MostUnits = Annotated[
    int | None,
    option(
        "NUMBER",
        "The most units that there may be, known without a look at the data. A δ that "
        "is too large for them is rejected.",
    ),
]
_ColumnNames = Annotated[
    Names,
    option(
        "A,B,C",
        "The columns. The default is all of the header or the schema.",
        completes=columns_of_file,
    ),
]
_NumberColumns = Annotated[
    Names,
    option(
        "A,B,C", "Columns of numbers, if their type doesn't show it.", completes=columns_of_file
    ),
]
_DateColumns = Annotated[
    Names, option("A,B,C", "Columns that hold dates.", completes=columns_of_file)
]
_TextColumns = Annotated[
    Names,
    option(
        "A,B,C",
        "Columns to show by value, even if the values spell numbers.",
        completes=columns_of_file,
    ),
]
_LeastShared = Annotated[
    int, option("NUMBER", "The fewest units that must share a value before it is shown.")
]
_MostValues = Annotated[int, option("NUMBER", "The most values to show for a column.")]
_DraftAlone = Annotated[bool, switch("--draft", "Print only the draft of discreet.toml.")]


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

    For each column, show how many cells are filled, and its quartiles and ends, or the values that enough units
    share with their counts. All of it has noise, costs one price and is ready to publish. A draft of
    discreet.toml comes with it.

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
