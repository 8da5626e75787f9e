"""Reports: one self-contained HTML file about a release, an audit or a budget.

A report holds public information alone: the question, the answer, the guarantee and its cost. It loads no other
file, runs no script, and all its text is escaped. See docs/how-to/reports.md.
"""

import os
import platform
from datetime import UTC, datetime
from functools import singledispatch
from importlib.metadata import version
from pathlib import Path

from ...base.arguments import choice, file_path, read_name
from ...base.error_boundary import error_boundary
from ...base.file_permissions import replaced_private
from ...base.messages import Message, languages, using_language
from ...errors import InvalidArgument, ReportUnwritable, preview
from ...ledger import Ledger
from ...selection.releases import Release
from ...tables.templates import render_template
from ..audit import ExactAudit, SamplingAudit, SensitivityAudit, TimingAudit
from ..planning.distribution import Distribution
from .audit_report import OtherAudit, exact_audit_parts, other_audit_parts
from .budget_report import budget_parts, remaining_budgets
from .release_report import private_distribution, release_parts

_PACKAGES = ("discreet", "python-flint", "numpy")


@error_boundary
def report(  # noqa: PLR0913  # the report, what it may show besides, and its language
    subject: object,
    path: str | os.PathLike[str],
    *,
    ledger: Ledger | None = None,
    dataset: str | None = None,
    private_law: Distribution | None = None,
    lang: str = "en",
) -> Path:
    """Write a report about a release, an audit, or a dataset's budget in a ledger, as one HTML file.

    Args:
        subject: a `Release`, a result of `audit`, or a `Ledger` (with `dataset`).
        path: the file, with the extension .html. An existing file is replaced.
        ledger: with a release, the ledger that was charged. The report then shows the remaining budget.
        dataset: the dataset in the ledger.
        private_law: with a release, the distribution it was drawn from, which is plotted. The report is then as
            private as the data and states this in red. Do not publish it.
        lang: the code of the language of the report: "en" (English, the default), "zh" (Chinese), or another one
            with a message catalogue. Recorded text, such as the question, stays as it is.

    Returns:
        The path.

    Raises:
        InvalidArgument: if the subject is of another type, or an argument is missing.
        UnknownBudget: if the ledger has no budget for the dataset.
        ReportUnwritable: if the file cannot be written.
    """
    file = check_path(path)
    choice(lang, "lang", languages())
    for name, value, kind in (
        ("ledger", ledger, Ledger),
        ("private_law", private_law, Distribution),
    ):
        if value is not None and not isinstance(value, kind):
            raise InvalidArgument(f"{name} must be a {kind.__name__}, got {preview(value)}")
    with using_language(lang):
        page = _page(subject, ledger=ledger, dataset=dataset, private_law=private_law)
    try:
        with replaced_private(file) as out:
            out.write(page)
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
        raise InvalidArgument(f"a report ends in .html, got {preview(str(path))}")
    if not file.parent.is_dir():
        missing = Message("there is no such folder")
        raise ReportUnwritable(f"the report {file} cannot be written: {missing}")
    return file


def budget_page(ledger: Ledger, dataset: str) -> str:
    """Return the report of a dataset's budget as a page, in the language of the reader."""
    return _render("budget", budget_parts(ledger, dataset))


@singledispatch
def _page(subject: object, **_: object) -> str:
    raise InvalidArgument(
        f"a report is about a release, an audit or a ledger, got {preview(subject)}"
    )


@_page.register
def _(
    subject: Release,
    *,
    ledger: Ledger | None,
    dataset: str | None,
    private_law: Distribution | None,
) -> str:
    parts = release_parts(subject)
    if ledger is not None:
        parts["remaining"] = remaining_budgets(ledger, _read_dataset(dataset))
    if private_law is not None:
        parts["distribution"] = private_distribution(private_law)
    return _render("release", parts)


@_page.register
def _(subject: Ledger, *, dataset: str | None, **others: object) -> str:
    _refuse_unused(others, "a ledger")
    return budget_page(subject, _read_dataset(dataset))


@_page.register
def _(subject: ExactAudit, **others: object) -> str:
    _refuse_unused(others, "an audit")
    return _render("audit", exact_audit_parts(subject))


@_page.register(SamplingAudit)
@_page.register(SensitivityAudit)
@_page.register(TimingAudit)
def _(subject: OtherAudit, **others: object) -> str:
    _refuse_unused(others, "an audit")
    return _render("audit", other_audit_parts(subject))


def _render(template: str, parts: dict[str, object]) -> str:
    """Return a report, with the time of writing and the versions of the software.

    A content security policy forbids references to other files.
    """
    versions = [f"{name} {version(name)}" for name in _PACKAGES]
    imprint = {
        "now": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "versions": ", ".join([*versions, f"Python {platform.python_version()}"]),
    }
    return render_template(
        f"reports/{template}.html", **{"distribution": None, "remaining": None, **imprint, **parts}
    )


def _read_dataset(dataset: str | None) -> str:
    if dataset is None:
        raise InvalidArgument("which dataset of the ledger? give dataset too")
    return read_name(dataset, "dataset")


def _refuse_unused(others: dict[str, object], subject: str) -> None:
    for name, argument in others.items():
        if argument is not None:
            raise InvalidArgument(f"{name} goes with a release. Leave it out for {subject}")
