"""Bins as a text, for the command line: the column, then the arguments of `Bins`, with colons between.

    age:0:120:10            the first edge, the last one and the width
    age:0,18,65,120         all edges
    age:0,18,65:above       with the cells outside: closed, below, above, missing
    day:2024-01-01:2025-01-01:1 month
    city:missing            no bins: every value, and those without one

A text of another form is the name of a column, with colons in it too.
"""

import re
from typing import Any

from ..errors import InvalidCandidates, preview
from .bins import BIN_OPTIONS, Bins, WithMissing
from .date_grid import STEP_UNITS

_MOST_LETTERS = 10_000
"""Longer texts are names."""

_CLOCK = r"[T ]\d\d(?::\d\d(?::\d\d(?:\.\d+)?)?)?(?:Z|[+-]\d\d:\d\d)?"
_EDGE = rf"(?:\d{{4}}-\d\d-\d\d(?:{_CLOCK})?|[-+]?\.?\d[\d.eE/+-]*)"
_STEP_TEXT = rf"(?:[-+]?\.?\d[\d.eE/+-]*|(?:\d+ ?)?(?:{'|'.join(STEP_UNITS)})s?)"
_OPTION_WORDS = rf"(?P<words>(?::(?:{'|'.join(BIN_OPTIONS)}))*)"
_BY_WIDTH = (
    rf"(?P<column>.+?):(?P<lo>{_EDGE}):(?P<hi>{_EDGE}):(?P<step>{_STEP_TEXT}){_OPTION_WORDS}"
)
_BY_EDGES = rf"(?P<column>.+?):(?P<edges>{_EDGE}(?:,{_EDGE})*){_OPTION_WORDS}"
_NEARLY = rf"(?P<column>.+?):{_EDGE}[:,]{_EDGE}(?:[:,].*)?"


def column_of_text(text: str) -> str | Bins | WithMissing:
    """Return the bins that a text spells, or the column with no value as a value, or else the name that it is.

    Raises:
        InvalidCandidates: if a text that begins as bins does is none, or the edges make no bins.
    """
    if len(text) > _MOST_LETTERS:
        return text
    match = re.fullmatch(_BY_WIDTH, text, re.DOTALL)
    if match is not None:
        return Bins(match["column"], match["lo"], match["hi"], match["step"], **_options(match))
    match = re.fullmatch(_BY_EDGES, text, re.DOTALL)
    if match is not None and ("," in match["edges"] or match["words"]):
        return Bins(match["column"], edges=match["edges"].split(","), **_options(match))
    match = re.fullmatch(_NEARLY, text, re.DOTALL)
    if match is None:
        name = text.removesuffix(":missing")
        return WithMissing(name) if name not in ("", text) else text
    name = match["column"]
    raise InvalidCandidates(
        f"{preview(text)}: bins are {name}:0:120:10, with the first edge, the last one and the width, or all "
        f"edges: {name}:0,18,65,120. After that there may be {', '.join(f':{word}' for word in BIN_OPTIONS)}"
    )


def _options(match: re.Match[str]) -> dict[str, Any]:
    """Return the options of a text."""
    words = match["words"].split(":")
    return {name: name in words for name in BIN_OPTIONS}
