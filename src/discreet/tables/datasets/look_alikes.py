"""Texts of a declaration that a person may take for one another: public, so a warning costs no budget."""

import unicodedata
from collections.abc import Sequence

from ...errors import preview

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
    """Return the doubt about the first doubtful text of a list, or None.

    A text is doubtful if it looks like another one of the list, begins or ends with a blank, or has a word of
    several alphabets.
    """
    by_skeleton: dict[str, str] = {}
    for text in values:
        if not isinstance(text, str):
            return None
        first = by_skeleton.setdefault(_skeleton(text), text)
        if first != text:
            pair = f"{_quote_with_codes(first)} and {_quote_with_codes(text)}"
            return f"{pair} differ only in {_difference(first, text)}"
        doubt = _alone(text)
        if doubt is not None:
            return f"{_quote_with_codes(text)} {doubt}"
    return None


def _alone(text: str) -> str | None:
    """Return the doubt about a text by itself, or None."""
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
    """Return the common form of texts that look alike."""
    nfkc = unicodedata.normalize("NFKC", text)
    latin = "".join(_LATIN.get(letter, letter) for letter in nfkc)
    return " ".join(latin.split()).casefold()


def _difference(one: str, other: str) -> str:
    """Return the difference of two texts that look alike."""
    for words, fold in (
        ("how letters with accents are composed", lambda text: unicodedata.normalize("NFC", text)),
        ("blanks", lambda text: "".join(text.split())),
        ("small and capital letters", str.casefold),
    ):
        if fold(one) == fold(other):
            return words
    return "letters that look the same"


def _quote_with_codes(text: str) -> str:
    """Return a text for a message; code points show the differences that letters do not."""
    return preview(text) if text.isascii() else f"{preview(text)} ({ascii(text)[1:-1]})"
