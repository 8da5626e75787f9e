"""The questions about declared columns that an owner names in discreet.toml."""

from collections.abc import Mapping

from ...selection.plain_columns import COLUMNS_SCHEMA, columns_of_plain
from ..verb_table import VERBS
from .declarations import read_text
from .keys import (
    ABOVE_ZERO_AS_GIVEN,
    ANY_TEXT,
    Key,
    KeyContent,
    KeyTable,
    Kind,
    Variants,
    accepted_by,
    anything,
    choice_of,
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
