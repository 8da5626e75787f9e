"""Reports of every kind say in every language what they said before: numbers, promises, and the order of all.

The files in tests/golden/reports are the texts of reports as they were written at commit 3d1894d. Whoever changes a
sentence on purpose writes them anew: `python -m tests.study.reports.test_golden`.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

import discreet

from .outlines import outline
from .subjects import Subject, guarantees, subjects

FOLDER = Path(__file__).parents[2] / "golden" / "reports"
LANGUAGES = ("en", "zh")
NAMES = sorted(path.stem for path in FOLDER.glob("en/*.txt"))


def written(subject: Subject, folder: Path, language: str) -> str:
    """Return the texts of the report of a subject."""
    about, others = subject
    path = discreet.report(about, folder / "r.html", **others, lang=language)
    return outline(path.read_text(encoding="utf-8"))


def in_words() -> str:
    """Return what guarantees of every kind say of themselves, one a line."""
    return "\n".join(map(str, guarantees())) + "\n"


@pytest.fixture(scope="module")
def every() -> dict[str, Subject]:
    return subjects()


def test_every_subject_has_its_golden_texts(every: dict[str, Subject]) -> None:
    assert sorted(every) == NAMES
    assert sorted(path.stem for path in FOLDER.glob("zh/*.txt")) == NAMES


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", NAMES)
def test_reports_say_what_they_said(
    name: str, language: str, every: dict[str, Subject], tmp_path: Path
) -> None:
    golden = (FOLDER / language / f"{name}.txt").read_text(encoding="utf-8")
    assert written(every[name], tmp_path, language) == golden


def test_guarantees_say_what_they_said() -> None:
    assert in_words() == (FOLDER / "guarantees.txt").read_text(encoding="utf-8")


def main() -> None:
    """Write the golden texts anew."""
    with TemporaryDirectory() as folder:
        for name, subject in subjects().items():
            for language in LANGUAGES:
                (FOLDER / language).mkdir(parents=True, exist_ok=True)
                text = written(subject, Path(folder), language)
                (FOLDER / language / f"{name}.txt").write_text(text, encoding="utf-8")
    (FOLDER / "guarantees.txt").write_text(in_words(), encoding="utf-8")


if __name__ == "__main__":
    main()
