"""Chinese in a text that is wrapped where it has blanks: a line may end after any letter, except before a mark.

`textwrap` knows neither that a Chinese letter takes two columns, nor that a line may end after it. So a text is
marked before it is wrapped: a blank after it counts as its second column, and there the line may end.
Where it may not, another sign takes the place of the blank. `without_marks` removes both. A line that ends with a
wide letter lost its blank, and may be one column longer.
"""

import unicodedata

_BLANK, _NO_BREAK = " ", "\0"
_CLOSING = "，。、；：？！）》】”’…"
_OPENING = "（《【“‘"


def with_marks(text: str) -> str:
    """Return a text in which wide letters take two places, with blanks where a line may end."""
    return "".join(map(_marked, text, f"{text[1:]}\n"))


def _marked(letter: str, following: str) -> str:
    """Return a letter of a text, and a mark if it is wide."""
    if not _is_wide(letter):
        return letter
    is_joined = letter in _OPENING or following in _CLOSING
    return letter + (_NO_BREAK if is_joined else _BLANK)


def without_marks(text: str) -> str:
    """Return a marked text as it was, but for the lines that it was wrapped into."""
    pairs = zip(f"\n{text}", text, strict=False)  # each letter with the one before
    return "".join(a for b, a in pairs if not (a in (_BLANK, _NO_BREAK) and _is_wide(b)))


def _is_wide(letter: str) -> bool:
    return unicodedata.east_asian_width(letter) in "WF"
