"""Texts of a declaration that a person may take for one another: public, so it costs nothing to say so."""

import unicodedata
from collections.abc import Sequence

from ..errors import shown

_LATIN = dict(
    zip(
        "АВЕЅІЈКМНОРСТУХаеѕіјорсухΑΒΕΖΗΙΚΜΝΟΡΤΥΧοιν",
        "ABESIJKMHOPCTYXaesijopcyxABEZHIKMNOPTYXoiv",
        strict=True,
    )
)
"""Cyrillic and Greek letters that look like Latin ones."""

_SCRIPTS = ("LATIN", "CYRILLIC", "GREEK")


def look_alikes(values: Sequence[object]) -> str | None:
    """Return what is doubtful about the first doubtful text of a list, or None.

    A text is doubtful if it looks like another one of the list, begins or ends with a blank, or has a word of
    several alphabets.
    """
    seen: dict[str, str] = {}
    for text in values:
        if not isinstance(text, str):
            return None
        first = seen.setdefault(_skeleton(text), text)
        if first != text:
            return (
                f"{_spelled(first)} and {_spelled(text)} differ only in {_difference(first, text)}"
            )
        doubt = _alone(text)
        if doubt is not None:
            return f"{_spelled(text)} {doubt}"
    return None


def _alone(text: str) -> str | None:
    """Return what is doubtful about a text by itself, or None."""
    if text != text.strip():
        return "begins or ends with a blank"
    if text.isascii():
        return None
    for word in text.split():
        names = {unicodedata.name(letter, "").partition(" ")[0] for letter in word}
        if len(names.intersection(_SCRIPTS)) > 1:
            return "mixes letters of several alphabets in a word"
    return None


def _skeleton(text: str) -> str:
    """Return what texts share that look alike."""
    composed = unicodedata.normalize("NFKC", text)
    latin = "".join(_LATIN.get(letter, letter) for letter in composed)
    return " ".join(latin.split()).casefold()


def _difference(one: str, other: str) -> str:
    """Return in what two texts differ that look alike."""
    for words, read in (
        ("how letters with accents are composed", lambda text: unicodedata.normalize("NFC", text)),
        ("blanks", lambda text: "".join(text.split())),
        ("small and capital letters", str.casefold),
    ):
        if read(one) == read(other):
            return words
    return "letters that look alike"


def _spelled(text: str) -> str:
    """Return a text for a message; code points tell what letters do not."""
    return shown(text) if text.isascii() else f"{shown(text)} ({ascii(text)[1:-1]})"
