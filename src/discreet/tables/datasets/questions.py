"""The questions about declared columns that an owner names in discreet.toml."""

from collections.abc import Mapping

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
    anything,
    choice_of,
)

VERB = choice_of(VERBS)
"""A verb in discreet.toml."""


def keys_of(verb: str) -> tuple[str, ...]:
    """Return the keys of a named question with a verb."""
    return ("verb", "column", *VERBS[verb].terms, "description")


_ARGUMENT = anything("as the verb takes it")
_PARTS: Mapping[str, KeyContent] = {
    "column": ANY_TEXT,
    "by": ANY_TEXT,
    **dict.fromkeys(("epsilon", "rho", "scale"), ABOVE_ZERO_AS_GIVEN),
}
_DESCRIPTIONS = {"column": "A declared column.", "description": "For people."}


def _question_with(verb: str) -> KeyTable:
    """Return the table of a question with a verb."""
    keys = {
        name: Key(_PARTS.get(name, _ARGUMENT), _DESCRIPTIONS.get(name, ""))
        for name in keys_of(verb)
    }
    kind = Kind(f'"{verb}"', {"const": verb}, read_text)
    keys["verb"] = Key(kind, missing="")
    needed = "the column is missing. Name a declared one" if VERBS[verb].needs_column else None
    keys["column"] = Key(ANY_TEXT, _DESCRIPTIONS["column"], needed)
    return KeyTable(keys)


QUESTION = Variants("verb", VERB, {verb: _question_with(verb) for verb in VERBS})
"""A named question. What its verb and the column refuse is not known here."""
