"""The page of the auditors, which is also where a run that was stopped goes on from."""

from pathlib import Path

import pytest
from tools.auditors import __main__, page
from tools.auditors.auditor import Finding, NotAsked
from tools.auditors.streams import Stream
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
    first, second, third, *_ = audited = subjects(1000)
    copy = tmp_path / "page.md"
    copy.write_text(f"Before\n{page.BEGIN}{page.END}\nafter", encoding="utf-8")
    monkeypatch.setattr(page, "PAGE", copy)
    results = page.Results({"A": "1", "B": "2"}, {"A": "p", "B": "q"}, draws={"A": 8000, "B": 5})
    results.findings = {"A": {first.name: Finding(is_refuted, "0.1, nan")}}
    results.reasons = {"B": {third.name: "knows no δ"}}
    page.write(results, audited)
    read = page.Results.read()
    assert read == results
    assert second.name not in read.findings["A"]
    assert "B" not in read.findings
    assert copy.read_text(encoding="utf-8").startswith("Before\n")


class Silent:
    """An auditor that knows no delta, and says nothing of what has a gap."""

    name, figure, takes_delta = "Silent", "none", False

    def start(self) -> str:
        return "1"

    def look(self, stream: Stream) -> Finding:
        if "gap" in stream.subject.name:
            raise NotAsked("needs an order")
        return Finding(is_refuted=False, figure="0.000")


def test_what_an_auditor_cannot_say_is_given_with_the_reason(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    copy = tmp_path / "page.md"
    copy.write_text(f"{page.BEGIN}{page.END}", encoding="utf-8")
    monkeypatch.setattr(page, "PAGE", copy)
    asked = [
        one for one in subjects(20) if "gap" in one.name or one.delta or "geometric," in one.name
    ]
    results = page.Results(draws={"Silent": 20})
    __main__.run(Silent(), results, asked, "")
    results = page.Results.read()
    names = {one.name for one in asked if one.delta}
    assert results.reasons["Silent"] == {
        **dict.fromkeys(names, "knows no δ"), "permute_and_flip with its gap, c": "needs an order"
    }  # fmt: skip
    assert [*results.findings["Silent"]] == ["geometric, 0 and 1"]
