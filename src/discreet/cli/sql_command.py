"""discreet sql: a statement about a dataset of discreet.toml."""

from collections.abc import Callable
from typing import Annotated, Any

from ..errors import InvalidArgument
from ..selection.releases import Release
from ..selection.terms import spelled_out
from ..tables.conditions.sql_statements import read_statement
from ..tables.verbs import sql as verb
from .options import argument
from .releasing import releasing

StatementArgument = Annotated[
    str,
    argument(
        "STATEMENT",
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1) ... FROM a dataset of discreet.toml.",
    ),
]


@releasing(verb.sql, without=("form", "csv"))
def _answer(data: Any, statement: str, terms: dict[str, Any]) -> Release:
    """Release the answer to a statement."""
    if isinstance(data, str):
        raise InvalidArgument(
            f"FROM names no dataset of discreet.toml: {data}. Describe it there first"
        )
    return verb.sql(data, statement, **terms)


def _with_options(command: Callable[..., None]) -> Callable[..., None]:
    """Show the parser the statement, and the options of all commands that release."""
    signature = spelled_out(_answer, {})
    others = [p for name, p in signature.parameters.items() if name not in ("data", "statement")]
    statement = signature.parameters["statement"].replace(annotation=StatementArgument)
    command.__signature__ = signature.replace(parameters=[statement, *others])  # type: ignore[attr-defined]
    return command


@_with_options
def sql_command(**arguments: Any) -> None:
    """Answer an SQL statement as rows.

    Write one SELECT with the clause WITH DIFFERENTIAL_PRIVACY, which gives ε. It supports COUNT, SUM, AVG, MODE,
    MEDIAN, PERCENTILE_DISC, MIN, MAX, TOP_K and APPROX_TOP_COUNT of declared columns, with WHERE and GROUP BY.

    Example: discreet sql "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1) MODE(drink) FROM people"
    """
    _answer(data=read_statement(arguments["statement"]).dataset, **arguments)
