"""Warnings about public arguments, at the line of the caller of the library."""

import os
import warnings
from inspect import currentframe

_PACKAGE = os.path.dirname(os.path.dirname(__file__)) + os.sep


def warn(message: str) -> None:
    """Warn at the line that called the library, in English as errors are; the message holds no private value."""
    warnings.warn(message, stacklevel=_outside())


def _outside() -> int:
    """Return how many frames above the caller the code of the user is."""
    level, frame = 0, currentframe()
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    return level
