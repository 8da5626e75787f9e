"""Statements as BigQuery spells them, in the spelling that is read here: backticks, and bounds as arguments."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from ...errors import InvalidArgument, preview
from .sql_trees import sqlglot_package

BOUNDS = ("contribution_bounds_per_group", "contribution_bounds_per_row")
"""The arguments of BigQuery by which a statement bounds its numbers."""

_ANON = {
    "ANON_COUNT": "COUNT(*), or COUNT(DISTINCT unit)",
    "ANON_SUM": "SUM(x)",
    "ANON_AVG": "AVG(x)",
    "ANON_PERCENTILE_CONT": "PERCENTILE_DISC(x, 0.5)",
    "ANON_QUANTILES": "PERCENTILE_DISC(x, 0.25), one for each",
    "ANON_VAR_POP": "VAR_POP(x)",
    "ANON_STDDEV_POP": "STDDEV_POP(x)",
}
"""The functions of the older clause, with those to write here."""

_ENDS = {"'": "'", '"': '"', "`": "`", "--": "\n", "/*": "*/"}
"""Where quoted texts, names and comments end, by how they begin."""


def with_double_quotes(text: str) -> str:
    """Return a statement with double quotes in place of backticks around names. Its length stays.

    Raises:
        InvalidArgument: if a name in backticks has a quote or a backslash in it.
    """
    pieces = []
    for piece in _pieces(text):
        if piece.startswith("`"):
            if len(piece) < 2 or piece[-1] != "`" or any(sign in piece for sign in '"\\'):
                raise InvalidArgument(
                    f"a name in backticks ends with one, and has no quote in it, got {preview(piece)}"
                )
            piece = f'"{piece[1:-1]}"'
        pieces.append(piece)
    return "".join(pieces)


def _pieces(text: str) -> Iterator[str]:
    """Yield a statement in pieces: quoted texts, names and comments, and the signs between them."""
    at = 0
    while at < len(text):
        begin = next((one for one in _ENDS if text.startswith(one, at)), None)
        if begin is None:
            yield text[at]
            at += 1
            continue
        end = text.find(_ENDS[begin], at + len(begin))
        stop = len(text) if end < 0 else end + len(_ENDS[begin])
        yield text[at:stop]
        at = stop


def with_bounds_outside(text: str, tokens: Sequence[Any]) -> str:
    """Return a statement in which BOUNDS(f(x), low, high) stands for f(x, bounds => (low, high)).

    Args:
        text: the statement.
        tokens: its tokens.

    Raises:
        InvalidArgument: for functions of an older clause, and TOP, with words to write.
    """
    _refuse_older(tokens)
    edits: list[tuple[int, int, str]] = []
    for place, token in enumerate(tokens):
        if token.text.lower() in BOUNDS and _texts(tokens, place + 1, 1) == ["=>"]:
            edits += _moves(text, tokens, place)
    for start, stop, words in sorted(edits, reverse=True):
        text = text[:start] + words + text[stop:]
    return text


def with_units_last(text: str, tokens: Sequence[Any]) -> str:
    """Return a statement in which DATETIME_TRUNC(x, MONTH) stands for DATE_TRUNC(x, MONTH), with the unit last.

    The parser reads the first argument of DATE_TRUNC as the unit, and would take the column for one.
    """
    string = sqlglot_package().tokens.TokenType.STRING
    for place in range(len(tokens) - 3, -1, -1):
        token, bracket, first = tokens[place : place + 3]
        is_call = token.text.upper() == "DATE_TRUNC" and bracket.text == "("
        if is_call and first.token_type != string:
            text = f"{text[: token.start]}DATETIME_TRUNC{text[token.end + 1 :]}"
    return text


def _moves(text: str, tokens: Sequence[Any], place: int) -> list[tuple[int, int, str]]:
    """Return the edits by which the bounds at a place go around their function: from, to, and the words there."""
    name, head = tokens[place].text.lower(), _start_of_call(tokens, place)
    stop = _end_of_bracket(tokens, place + 2) if _texts(tokens, place + 2, 1) == ["("] else None
    if head < 1 or stop is None or tokens[place - 1].text != ",":
        raise InvalidArgument(
            f"{name} goes behind the column of an aggregate, such as {_example(name)}"
        )
    end = _end_of_bracket(tokens, head)
    if end != stop + 1:
        raise InvalidArgument(
            f"{name} is the last argument of an aggregate, such as {_example(name)}"
        )
    bounds = text[tokens[place + 2].end + 1 : tokens[stop].start]
    return [
        (tokens[head - 1].start, tokens[head - 1].start, f"{name}("),
        (tokens[place - 1].start, tokens[stop].end + 1, ""),
        (tokens[end].end + 1, tokens[end].end + 1, f", {bounds})"),
    ]


def _example(name: str) -> str:
    return f"SUM(age, {name} => (0, 120))"


def _texts(tokens: Sequence[Any], place: int, number: int) -> list[str]:
    """Return the texts of some tokens from a place on."""
    return [token.text for token in tokens[place : place + number]]


def _start_of_call(tokens: Sequence[Any], place: int) -> int:
    """Return the place of the bracket that is open at a place; -1 if there is none."""
    depth = 0
    for i in range(place - 1, -1, -1):
        depth += {")": 1, "(": -1}.get(tokens[i].text, 0)
        if depth < 0:
            return i
    return -1


def _end_of_bracket(tokens: Sequence[Any], place: int) -> int | None:
    """Return the place of the bracket that closes the one at a place; None if there is none."""
    depth = 0
    for i in range(place, len(tokens)):
        depth += {"(": 1, ")": -1}.get(tokens[i].text, 0)
        if depth == 0:
            return i
    return None


def _refuse_older(tokens: Sequence[Any]) -> None:
    """Raise for functions of the older clause, and for TOP, with words to write."""
    for token, following in pairwise(tokens):
        name = token.text.upper()
        if name.startswith("ANON_") and following.text == "(":
            advice = _ANON.get(name, "COUNT, SUM, AVG or another aggregate")
            raise InvalidArgument(
                f"{name} is of an older clause: write {advice} after SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS "
                "(epsilon = ...), without CLAMPED BETWEEN, as the description has the bounds"
            )
        if name == "TOP" and following.text.isdecimal():
            raise InvalidArgument(f"TOP {following.text}: write LIMIT {following.text} at the end")
