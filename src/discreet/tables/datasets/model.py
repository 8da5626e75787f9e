"""The model of discreet.toml: its keys, of which the reader, the JSON Schema and the reference page are made.

All that only the whole file tells is left to `configuration`: whether the column of a question is declared, say.
"""

from collections.abc import Mapping
from functools import partial

from ...base.numbers import count
from ...privacy.sensitivity import read_neighbors
from ...selection.plain_columns import COLUMNS_SCHEMA, columns_of_plain
from ..formats.text_form import MOST_SKIPPED
from ..verb_table import VERBS
from .cell_keys import CELL_KEYS
from .columns import COLUMN
from .dataset import MOST_ROWS, NO_UNIT
from .declarations import read_text
from .keys import (
    ABOVE_ZERO,
    ABOVE_ZERO_AS_GIVEN,
    ANY_TEXT,
    DURATION,
    TIME_ABOVE_ZERO,
    TRUTH,
    UNQUOTED_TEXT,
    Key,
    KeyContent,
    KeyTable,
    Kind,
    Schema,
    TablesByName,
    Variants,
    accepted_by,
    anything,
    choice_of,
    list_of,
    one_or_list_of,
)

VERB = choice_of(VERBS)
"""A verb in discreet.toml."""


def keys_of(verb: str) -> tuple[str, ...]:
    """Return the keys of a named question with a verb."""
    return ("verb", "column", *VERBS[verb].terms, "description")


COLUMN_OR_CELLS = accepted_by(
    'text, bins such as `{column = "age", lo = 0, hi = 120, step = 10}`, or a list of these',
    COLUMNS_SCHEMA,
    columns_of_plain,
)
"""A column, or those of cells."""

_ARGUMENT = anything("as the verb takes it")
_PARTS: Mapping[str, KeyContent] = {
    "by": COLUMN_OR_CELLS,
    **dict.fromkeys(("epsilon", "rho", "scale"), ABOVE_ZERO_AS_GIVEN),
}
_DESCRIPTIONS = {"column": "A declared column.", "description": "For people."}


def _question_with(verb: str) -> KeyTable:
    """Return the table of a question with a verb."""
    keys = {
        name: Key(_PARTS.get(name, _ARGUMENT), _DESCRIPTIONS.get(name, ""))
        for name in keys_of(verb)
    }
    keys["verb"] = Key(Kind(f'"{verb}"', {"const": verb}, read_text), missing="")
    needed = "the column is missing. Name a declared one" if VERBS[verb].needs_column else None
    kind = COLUMN_OR_CELLS if VERBS[verb].takes_cells else ANY_TEXT
    keys["column"] = Key(kind, _DESCRIPTIONS["column"], needed)
    return KeyTable(keys)


QUESTION = Variants("verb", VERB, {verb: _question_with(verb) for verb in VERBS})
"""A named question. What its verb and the column refuse is not known here."""


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
    "rho": Key(ABOVE_ZERO, "ρ of zCDP, instead of epsilon."),
    "delta": Key(ABOVE_ZERO, "δ, with epsilon."),
    "neighbors": Key(_NEIGHBORS, "Which data are neighbours. The default is add_remove."),
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
    needs={"delta_for": (["delta"], "it says what delta is for, but delta is missing")},
    forms=_AMOUNT_FORMS,
    no_form=_NO_AMOUNT,
)
"""The budget of a dataset."""

CSV = KeyTable(
    {
        "delimiter": Key(
            anything("one character", {"type": "string", "minLength": 1}),
            "What stands between the cells. The default is read from the header.",
        ),
        "names": Key(
            list_of(anything("text", {"type": "string"}), unique=True),
            "The names of the columns, if the first line is a row.",
        ),
        "encoding": Key(
            anything("a character code", {"type": "string", "minLength": 1}),
            'The character encoding, such as "cp1252". The default is that of the byte order '
            "mark, or UTF-8.",
        ),
        "quote": Key(
            anything("one character, or none", {"type": "string", "maxLength": 1}),
            'What stands around cells with delimiters or line ends. The default is \'"\'. Give "" '
            "for none.",
        ),
        "multiline": Key(
            TRUTH,
            "Whether a quoted cell may hold line ends. The default is true. Set false if others "
            "append lines.",
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
            "What begins a line that is not a record.",
        ),
        "skip_initial_space": Key(TRUTH, "Whether blanks at the beginning of a cell are ignored."),
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
        "csv": Key(CSV, "The form of the CSV files in source, if it is not the default."),
        "connection": Key(
            UNQUOTED_TEXT, "duckdb:///file.duckdb, sqlite:///file.db or postgresql://host/database."
        ),
        "query": Key(UNQUOTED_TEXT, "SQL: one SELECT. Each row of its result is one record."),
        "table": Key(ANY_TEXT, "A table of the database, instead of a query."),
        "privacy_unit": Key(
            one_or_list_of(ANY_TEXT, unique=True),
            "The column, or a list of columns. Rows with equal values are one record.",
        ),
        "max_contributions": Key(_COUNT, "How many rows of one privacy unit count, for numbers."),
        "budget": Key(BUDGET, "The most that all answers may cost together."),
        "oversubscribed": Key(
            TRUTH,
            "Whether shares may be more than the budget. Rejections then reveal to analysts what "
            "others spend.",
        ),
        "columns": Key(
            TablesByName(COLUMN, least=1),
            "What may be asked about.",
            "the columns are missing. Declare each that may be asked about: [{place}.columns.NAME]",
        ),
        "questions": Key(TablesByName(QUESTION), "What analysts may ask by a name."),
        "answers_after": Key(
            DURATION,
            "For discreet serve: how long after its reading began an answer leaves. The default "
            'is "1s".',
        ),
        "longest": Key(
            TIME_ABOVE_ZERO,
            "For discreet serve: how long a question may compute until it fails. The default is "
            '"30s".',
        ),
        "delay_resets": Key(
            choice_of(["day", "renewal"]),
            'For discreet serve: when longer delays begin again: each "day", or with the next '
            "budget.",
        ),
        "max_failures": Key(
            _FAILURES,
            "How many questions of an analyst may fail until it is closed for them. The default "
            "is 3.",
        ),
        "title": _FOR_PEOPLE,
        "description": _FOR_PEOPLE,
    },
    needs={
        "csv": (["source"], "it is of a CSV file. A query says which columns it has"),
        "oversubscribed": (["budget"], "it goes with budget, which is missing"),
        "max_contributions": (["privacy_unit"], NO_UNIT),
    },
    forms=(["source"], ["connection", "query"], ["connection", "table"]),
    no_form=(
        "give source, a path or a list of paths. Or give connection with query or table: "
        'connection = "duckdb:///people.duckdb", table = "people"'
    ),
)
"""A dataset: files, or a query or a table of a database."""

ANALYST = KeyTable(
    {
        "datasets": Key(
            list_of(ANY_TEXT),
            "The datasets that the analyst may ask about.",
            "the datasets are missing. List those that the analyst may ask about",
        ),
        "share": Key(
            SHARE, "The most that the analyst's answers may cost, of each of these datasets."
        ),
        "verbs": Key(
            list_of(VERB, least=0),
            "Free questions on declared columns, in addition to the named ones.",
        ),
        "where": Key(
            list_of(ANY_TEXT, least=0),
            "The columns with which conditions of free questions may compare. The default is "
            "none. That of the privacy unit must be named here.",
        ),
        "max_epsilon": Key(ABOVE_ZERO, "The most that one free question may cost."),
        "max_delta": Key(
            ABOVE_ZERO,
            "The most δ that one free question may cost. With max_epsilon alone it is 0.",
        ),
        "confirm_above": Key(
            ABOVE_ZERO,
            "For discreet mcp: a question that may cost more is confirmed by the user first.",
        ),
        "min_epsilon": Key(
            ABOVE_ZERO,
            "The least that a question may cost. The default is a thousandth of the share.",
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
            "How many processes read data. The default is one fewer than the machine has cores.",
        ),
        "reader_memory": Key(
            _MEGABYTES, "The megabytes of memory that each reader may use. The default is no limit."
        ),
        "reader_spill": Key(
            _MEGABYTES,
            "The megabytes of temporary files that each reader may write. The default is no limit.",
        ),
        "waiting": Key(_WAITING, "How many questions of one caller may wait. The default is 16."),
    },
)
"""The service."""

DOCUMENT = KeyTable(
    {
        "ledger": Key(UNQUOTED_TEXT, "A file, or the URL of a PostgreSQL database."),
        "datasets": Key(
            TablesByName(DATASET, least=1),
            "The described datasets.",
            "it describes no dataset. Add [datasets.NAME] with source and columns",
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
