"""The page of the auditors, which is also where a run that was stopped goes on from."""

from pathlib import Path

import pytest
from tools.auditors import page
from tools.auditors.auditor import Finding
from tools.auditors.subjects import subjects


def test_the_page_is_read_as_it_was_written(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    text = page.PAGE.read_text(encoding="utf-8")
    results = page.Results.read()
    copy = tmp_path / "page.md"
    copy.write_text(text, encoding="utf-8")
    monkeypatch.setattr(page, "PAGE", copy)
    page.write(results, subjects(1000))
    assert copy.read_text(encoding="utf-8") == text
    assert page.Results.read() == results


@pytest.mark.parametrize("is_refuted", [True, False])
def test_a_finding_is_kept_and_what_was_not_run_is_none(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, is_refuted: bool
) -> None:
    first, second, *_ = audited = subjects(1000)
    copy = tmp_path / "page.md"
    copy.write_text(f"Before\n{page.BEGIN}{page.END}\nafter", encoding="utf-8")
    monkeypatch.setattr(page, "PAGE", copy)
    results = page.Results({"A": "1", "B": "2"}, {"A": "p", "B": "q"}, draws={"A": 8000, "B": 5})
    results.findings = {"A": {first.name: Finding(is_refuted, "0.1, nan")}}
    page.write(results, audited)
    read = page.Results.read()
    assert read == results
    assert second.name not in read.findings["A"]
    assert "B" not in read.findings
    assert copy.read_text(encoding="utf-8").startswith("Before\n")
