"""Reports: one self-contained HTML file about a release, an audit or a budget.

A report holds public information alone: the question, the answer, the guarantee and its cost. It loads no other
file, runs no script, and all its text is escaped. Guide: docs/how-to/reports.md.
"""

import os
from collections.abc import Callable
from functools import singledispatch
from pathlib import Path
from typing import Any

from ..arguments import file_path, read_name
from ..audit import ExactAudit, SamplingAudit, SensitivityAudit, TimingAudit
from ..error_boundary import error_boundary
from ..errors import InvalidArgument, ReportUnwritable, shown
from ..file_permissions import open_private
from ..languages import Language
from ..ledger import Ledger
from ..planning.distribution import Distribution
from ..releases import Release
from .audits import about_exact_audit, about_other_audit
from .budgets import about_budget, remaining_section
from .chinese import CHINESE
from .english import ENGLISH
from .page import Page
from .releases import about_release, private_distribution
from .wording import Wording

_LANGUAGES = {"en": ENGLISH, "zh": CHINESE}


@error_boundary
def report(  # noqa: PLR0913  # the report, what it may show besides, and its language
    subject: object,
    path: str | os.PathLike[str],
    *,
    ledger: Ledger | None = None,
    dataset: str | None = None,
    private_law: Distribution | None = None,
    lang: Language = "en",
) -> Path:
    """Write a report of a release, of an audit, or of a dataset's budget in a ledger, as one HTML file.

    Args:
        subject: a `Release`, a result of `audit`, or a `Ledger` (with `dataset`).
        path: the file, with the extension .html. An existing file is replaced.
        ledger: with a release, the ledger that was charged: the report then shows the remaining budget.
        dataset: the dataset in the ledger.
        private_law: with a release, the distribution it was drawn from, to be plotted. The report is then as
            private as the data, says so in red, and must not be published.
        lang: the language of the report, "en" (English, the default) or "zh" (Chinese). What was recorded, such as
            the question, stays as it is.

    Returns:
        The path.

    Raises:
        InvalidArgument: if the subject is of another type, or an argument is missing.
        UnknownBudget: if the ledger has no budget for the dataset.
        ReportUnwritable: if the file cannot be written.
    """
    file, words = check_path(path), _language(lang)
    for name, value, kind in (
        ("ledger", ledger, Ledger),
        ("private_law", private_law, Distribution),
    ):
        if value is not None and not isinstance(value, kind):
            raise InvalidArgument(f"{name} must be a {kind.__name__}, got {shown(value)}")
    page = _page(subject, words, ledger=ledger, dataset=dataset, private_law=private_law)
    try:
        with open_private(file) as out:
            out.write(page.html())
    except OSError as error:
        reason = error.strerror
    else:
        return file
    raise ReportUnwritable(f"the report {file} cannot be written: {reason}")


def check_path(path: str | os.PathLike[str]) -> Path:
    """Return the path of a report, checked before anything is charged or drawn.

    Raises:
        InvalidArgument: if the extension is not .html.
        ReportUnwritable: if the folder does not exist.
    """
    file = file_path(path, "path")
    if file.suffix.lower() not in {".html", ".htm"}:
        raise InvalidArgument(f"a report ends in .html, got {shown(str(path))}")
    if not file.parent.is_dir():
        raise ReportUnwritable(f"the report {file} cannot be written: there is no such folder")
    return file


def _language(lang: object) -> Wording:
    """Return the sentences of reports in a language.

    Raises:
        InvalidArgument: if there are no reports in it.
    """
    if not isinstance(lang, str) or lang not in _LANGUAGES:
        known = " or ".join(map(repr, _LANGUAGES))
        raise InvalidArgument(f"lang must be {known}, got {shown(lang)}")
    return _LANGUAGES[lang]


@singledispatch
def _page(subject: object, words: Wording, **_: object) -> Page:
    raise InvalidArgument(
        f"a report is about a release, an audit or a ledger, got {shown(subject)}"
    )


@_page.register
def _(
    subject: Release,
    words: Wording,
    *,
    ledger: Ledger | None,
    dataset: str | None,
    private_law: Distribution | None,
) -> Page:
    page = about_release(subject, words)
    if ledger is not None:
        page = page.followed_by(remaining_section(ledger, _named(dataset), words))
    if private_law is None:
        return page
    return page.made_private(private_distribution(private_law, words))


@_page.register
def _(subject: Ledger, words: Wording, *, dataset: str | None, **others: object) -> Page:
    _refuse(others, "a ledger")
    return about_budget(subject, _named(dataset), words)


def _of_audit(about: Callable[[Any, Wording], Page]) -> Callable[..., Page]:
    def page(subject: object, words: Wording, **others: object) -> Page:
        _refuse(others, "an audit")
        return about(subject, words)

    return page


_page.register(ExactAudit, _of_audit(about_exact_audit))
for _kind in (SamplingAudit, SensitivityAudit, TimingAudit):
    _page.register(_kind, _of_audit(about_other_audit))


def _named(dataset: str | None) -> str:
    if dataset is None:
        raise InvalidArgument("which dataset of the ledger? give dataset too")
    return read_name(dataset, "dataset")


def _refuse(others: dict[str, object], subject: str) -> None:
    for name, value in others.items():
        if value is not None:
            raise InvalidArgument(f"{name} goes with a release; leave it out for {subject}")
