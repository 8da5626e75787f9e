"""Texts of discreet.toml with the times of answers."""

import re

_DATASET = re.compile(r"^(\[datasets\.[\w-]+\]\n)", re.MULTILINE)


def answering(text: str, after: str = "0s") -> str:
    """Return a description in which answers about every dataset leave after so long; at once if nothing is said."""
    return _DATASET.sub(rf'\1answers_after = "{after}"\n', text)
