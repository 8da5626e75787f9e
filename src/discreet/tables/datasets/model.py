"""The model of discreet.toml: its keys, of which the reader, the JSON Schema and the reference page are made.

All that only the whole file tells is left to `configuration`: whether the column of a question is declared, say.
"""

from functools import partial

from ...base.numbers import count
from ...privacy.sensitivity import read_neighbors
from ..formats.text_form import MOST_SKIPPED
from .cell_keys import CELL_KEYS
from .columns import COLUMN
from .dataset import MOST_ROWS, NO_UNIT
from .keys import (
    ABOVE_ZERO,
    ANY_TEXT,
    DURATION,
    TIME_ABOVE_ZERO,
    TRUTH,
    UNQUOTED_TEXT,
    Key,
    KeyTable,
    Kind,
    Schema,
    TablesByName,
    accepted_by,
    anything,
    choice_of,
    list_of,
    one_or_list_of,
)
from .questions import QUESTION, VERB

PERIODS = ("year", "quarter", "month")
"""The calendar periods for which a budget may be."""

DELTA_FOR = ("questions", "composition")
"""What the delta of a budget may be for."""

MOST_WAITING = 1000
"""The most questions of one caller that wait."""

MOST_MEGABYTES = 1 << 24
"""The most memory, or disk, of one reader."""

_MOST_FAILURES = 1_000
"""A larger number closes nothing, and the number of patterns takes long to compute."""


def _whole_number(most: int) -> Kind:
    """Return the kind of whole numbers from one to the most."""
    schema = {"type": "integer", "minimum": 1, "maximum": most}
    return accepted_by("whole number above zero", schema, partial(count, most=most))


_COUNT = _whole_number(MOST_ROWS)
_FAILURES = _whole_number(_MOST_FAILURES)
_WAITING = _whole_number(MOST_WAITING)
_MEGABYTES = _whole_number(MOST_MEGABYTES)
_NEIGHBORS = accepted_by(
    '"add_remove" or "replace_one"',
    {"enum": ["add_remove", "replace_one"]},
    lambda entry, _: read_neighbors(entry),
)
_FOR_PEOPLE = Key(ANY_TEXT, "For people.")

_AMOUNTS = {
    "epsilon": Key(ABOVE_ZERO, "ε: the most that may be spent."),
    "rho": Key(ABOVE_ZERO, "ρ of zCDP, in place of epsilon."),
    "delta": Key(ABOVE_ZERO, "δ, with epsilon."),
    "neighbors": Key(_NEIGHBORS, "Which data are neighbours; add_remove if left out."),
}
_AMOUNT_FORMS = (["epsilon"], ["epsilon", "delta"], ["rho"])
_NO_AMOUNT = "give a budget as epsilon, as rho, or as epsilon and delta"

SHARE = KeyTable(_AMOUNTS, forms=_AMOUNT_FORMS, no_form=_NO_AMOUNT)
"""The share of an analyst."""

BUDGET = KeyTable(
    {
        **_AMOUNTS,
        "period": Key(choice_of(PERIODS), "The calendar period that the budget is for."),
        "delta_for": Key(
            choice_of(DELTA_FOR), "What delta is for: questions that have one each, or composition."
        ),
    },
    needs={"delta_for": (["delta"], "it says what delta is for, and there is no delta")},
    forms=_AMOUNT_FORMS,
    no_form=_NO_AMOUNT,
)
"""The budget of a dataset."""

CSV = KeyTable(
    {
        "delimiter": Key(
            anything("one character", {"type": "string", "minLength": 1}),
            "What stands between the cells; without it the header tells.",
        ),
        "names": Key(
            list_of(anything("text", {"type": "string"}), unique=True),
            "The names of the columns, where the first line is a row.",
        ),
        "encoding": Key(
            anything("a character code", {"type": "string", "minLength": 1}),
            'The character code, such as "cp1252"; without it that of the mark, or UTF-8.',
        ),
        "quote": Key(
            anything("one character, or none", {"type": "string", "maxLength": 1}),
            'What stands around cells with delimiters or line ends; \'"\' if left out, "" for none.',
        ),
        "multiline": Key(
            TRUTH,
            "Whether a quoted cell may hold line ends; true if left out. If others append lines, false.",
        ),
        "escape": Key(
            anything("one character", {"type": "string", "minLength": 1}),
            "What makes the next character part of its cell, such as a backslash. Without it quotes are doubled.",
        ),
        "skip": Key(
            anything(
                "a number of lines", {"type": "integer", "minimum": 0, "maximum": MOST_SKIPPED}
            ),
            "How many lines there are above the header.",
        ),
        "comment": Key(
            anything("one character", {"type": "string", "minLength": 1}),
            "What begins a line that is no record.",
        ),
        "skip_initial_space": Key(
            TRUTH, "Whether blanks at the beginning of a cell are no part of it."
        ),
        **CELL_KEYS,
        "sheet": Key(
            anything("the name of a sheet", {"type": "string", "minLength": 1, "maxLength": 255}),
            "The sheet of a workbook with several.",
        ),
    }
)
"""The form of a CSV file."""

DATASET = KeyTable(
    {
        "source": Key(
            one_or_list_of(ANY_TEXT),
            "A path, a pattern, a folder, or a list of them, from the folder of this file.",
        ),
        "csv": Key(CSV, "The form of the CSV files in source, where it is another one."),
        "connection": Key(
            UNQUOTED_TEXT, "duckdb:///file.duckdb, sqlite:///file.db or postgresql://host/database."
        ),
        "query": Key(UNQUOTED_TEXT, "SQL: one SELECT; one row of its result is one record."),
        "table": Key(ANY_TEXT, "A table of the database, in place of a query."),
        "privacy_unit": Key(
            one_or_list_of(ANY_TEXT, unique=True),
            "The column, or a list of columns, whose equal values make rows one record.",
        ),
        "max_contributions": Key(_COUNT, "How many rows of one privacy unit count, for numbers."),
        "budget": Key(BUDGET, "The most that all answers may cost together."),
        "oversubscribed": Key(
            TRUTH,
            "Whether shares may be more than the budget. Refusals then tell analysts about each other.",
        ),
        "columns": Key(
            TablesByName(COLUMN, least=1),
            "What may be asked about.",
            "the columns are missing; declare each that may be asked about: [{place}.columns.NAME]",
        ),
        "questions": Key(TablesByName(QUESTION), "What analysts may ask by a name."),
        "answers_after": Key(
            DURATION,
            'For discreet serve: answers leave so long after their reading began; "1s" if left out.',
        ),
        "longest": Key(
            TIME_ABOVE_ZERO,
            'For discreet serve: how long a question may compute until it fails; "30s" if left out.',
        ),
        "delay_resets": Key(
            choice_of(["day", "renewal"]),
            'For discreet serve: when longer delays begin anew: each "day", or with the next budget.',
        ),
        "max_failures": Key(
            _FAILURES,
            "How many questions of an analyst may fail until it is closed for them; 3 by default.",
        ),
        "title": _FOR_PEOPLE,
        "description": _FOR_PEOPLE,
    },
    needs={
        "csv": (["source"], "it is of a CSV file; a query says which columns it has"),
        "oversubscribed": (["budget"], "it goes with budget, which is missing"),
        "max_contributions": (["privacy_unit"], NO_UNIT),
    },
    forms=(["source"], ["connection", "query"], ["connection", "table"]),
    no_form=(
        "give source, a path or a list of paths; or connection, with query or table: connection = "
        '"duckdb:///people.duckdb", table = "people"'
    ),
)
"""A dataset: files, or a query or a table of a database."""

ANALYST = KeyTable(
    {
        "datasets": Key(
            list_of(ANY_TEXT),
            "The datasets that the analyst may ask about.",
            "the datasets are missing; list those that the analyst may ask about",
        ),
        "share": Key(
            SHARE, "The most that the analyst's answers may cost, of each of these datasets."
        ),
        "verbs": Key(
            list_of(VERB, least=0),
            "Free questions on declared columns, besides the named ones.",
        ),
        "where": Key(
            list_of(ANY_TEXT, least=0),
            "The columns with which conditions of free questions may compare; none if left out. That of the "
            "privacy unit only if it is named here.",
        ),
        "max_epsilon": Key(ABOVE_ZERO, "The most that one free question may cost."),
        "max_delta": Key(
            ABOVE_ZERO,
            "The most δ that one free question may cost; with max_epsilon and without this none.",
        ),
        "confirm_above": Key(
            ABOVE_ZERO,
            "For discreet mcp: a question that may cost more is confirmed by the user first.",
        ),
        "min_epsilon": Key(
            ABOVE_ZERO, "The least that a question may cost; a thousandth of the share by default."
        ),
        "min_rho": Key(ABOVE_ZERO, "The same for shares in rho."),
    },
)
"""An analyst."""

SERVER = KeyTable(
    {
        "listen": Key(ANY_TEXT, "The address of the service, such as 127.0.0.1:8765."),
        "readers": Key(
            _WAITING,
            "How many processes read data; one fewer than the machine has cores if left out.",
        ),
        "reader_memory": Key(
            _MEGABYTES, "The megabytes of memory that each reader may use; no limit if left out."
        ),
        "reader_spill": Key(
            _MEGABYTES,
            "The megabytes of temporary files that each reader may write; no limit if left out.",
        ),
        "waiting": Key(_WAITING, "How many questions of one caller may wait; 16 if left out."),
    },
)
"""The service."""

DOCUMENT = KeyTable(
    {
        "ledger": Key(UNQUOTED_TEXT, "A file, or the URL of a PostgreSQL database."),
        "datasets": Key(
            TablesByName(DATASET, least=1),
            "The described datasets.",
            "it describes no dataset; add [datasets.NAME] with source and columns",
        ),
        "server": Key(SERVER, "For discreet serve."),
        "analysts": Key(TablesByName(ANALYST), "Who else may ask."),
    }
)
"""All of discreet.toml."""


def json_schema() -> Schema:
    """Return the JSON Schema of discreet.toml, for editors.

    Whatever the reader accepts without a warning the schema accepts.
    """
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "discreet.toml",
        **DOCUMENT.schema,
    }
