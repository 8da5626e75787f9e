"""The options --report and --lang: the output of a command, also as one self-contained HTML file."""

from pathlib import Path
from typing import Any

from ..errors import InvalidArgument
from ..messages import Message, check_language, current_language
from .answers import say


def check_report(path: Path | None, lang: str | None) -> None:
    """Refuse a report that could not be written, before anything is charged."""
    if path is None:
        if lang is not None:
            raise InvalidArgument(Message("--lang is the language of a report; give --report too"))
        return
    from ..reports import check_path  # most commands write none

    check_path(path)
    if lang is not None:
        check_language(lang)


def write_report(subject: Any, path: Path | None, lang: str | None, **about: Any) -> None:
    """Write the report of a subject, if a path is given.

    Args:
        subject: a release, an audit or a ledger.
        path: the path of the report, or None.
        lang: the code of its language; None for that of the command line.
        **about: the arguments of `discreet.report` besides.
    """
    if path is not None:
        from ..reports import report

        page = report(subject, path, lang=lang or current_language(), **about)
        say(Message("wrote {path}", path=page))
