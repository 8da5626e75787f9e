"""discreet check: how many cells fit their description, with privacy, or without it for the owner alone."""

from collections.abc import Callable
from typing import Annotated, Any

from ..errors import InvalidArgument
from ..selection.releases import Release
from ..selection.terms import spelled_out
from ..tables.verbs import check as verb
from .accounts import DescribedDataset
from .completion import columns_of_file
from .describe_command import count_not_private
from .options import argument, option, switch
from .releasing import releasing

_PRIVATE = {
    "columns": "COLUMN", "max_contributions": "--max-contributions", "epsilon": "--epsilon",
    "analyst": "--analyst", "request": "--request", "dry_run": "--dry-run", "report": "--report",
    "as_json": "--json", "csv": "--csv",
}  # fmt: skip
"""What goes with --epsilon, and not with --not-private."""

NotPrivate = Annotated[
    bool,
    switch(
        "--not-private",
        "Instead of --epsilon: I own the data, and keep the exact counts to myself.",
    ),
]


@releasing(verb.check, without=("form", "privacy_unit"))
def _noisy(
    data: DescribedDataset,
    terms: dict[str, Any],
    columns: Annotated[
        list[str] | None,
        argument(
            "COLUMN",
            "The columns to check. They divide epsilon. The default is every described column.",
            completes=columns_of_file,
        ),
    ] = None,
    max_contributions: Annotated[
        int | None,
        option(
            "NUMBER",
            "The most cells of one privacy unit that count in a column, if that is not described.",
        ),
    ] = None,
) -> Release:
    """Count the cells that fit their description."""
    dataset: Any = data
    return verb.check(dataset, columns or None, max_contributions=max_contributions, **terms)


def _with_options(command: Callable[..., None]) -> Callable[..., None]:
    """Show the parser the options of the noisy count, and --not-private."""
    options = spelled_out(_noisy, {"not_private": (NotPrivate, False)})
    command.__signature__ = options  # type: ignore[attr-defined]
    return command


@_with_options
def check_command(**arguments: Any) -> None:
    """Count the cells that fit their description.

    Also print how many do not fit, and how many are missing. With --epsilon each count has noise and is charged
    like every answer. You may publish that output. It holds with the probability that it states. With
    --not-private the rows themselves are counted, for the owner of the data alone. Then exit with 1 if any cell
    does not fit.

    Example: discreet check people --epsilon 0.1
    """
    if not arguments.pop("not_private"):
        if arguments["epsilon"] is None:
            raise InvalidArgument(
                "give --epsilon, such as 0.1. If you own the data and keep the counts to "
                "yourself, --not-private counts the rows themselves, without any privacy"
            )
        _noisy(**arguments)
        return
    for name, spelling in _PRIVATE.items():
        if arguments[name]:
            raise InvalidArgument(f"--not-private counts all columns exactly: leave out {spelling}")
    count_not_private(arguments["data"])
