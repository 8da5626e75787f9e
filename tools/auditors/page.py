"""The tables of docs/reference/audited_by_others.md: what the auditors said so far, and where it is read from."""

import re
from dataclasses import dataclass, field
from pathlib import Path

from .auditor import Finding
from .subjects import Subject

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "audited_by_others.md"

BEGIN, END = "<!-- written by make auditors -->", "<!-- end -->"
NOT_RUN = "not run"


@dataclass
class Results:
    """What was said so far, which a run that is stopped goes on from.

    Args:
        versions: by auditor, its revision, or why it did not run.
        figures: by auditor, what it is that it says.
        findings: by auditor and subject.
        draws: by auditor, how many answers of each side a choice by scores had.
        reasons: by auditor and subject, why it cannot say anything.
    """

    versions: dict[str, str] = field(default_factory=dict)
    figures: dict[str, str] = field(default_factory=dict)
    findings: dict[str, dict[str, Finding]] = field(default_factory=dict)
    draws: dict[str, int] = field(default_factory=dict)
    reasons: dict[str, dict[str, str]] = field(default_factory=dict)

    @classmethod
    def read(cls) -> "Results":
        """Return what the page says."""
        results = cls()
        tables = PAGE.read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0]
        rows = [
            [cell.strip() for cell in line.strip("|").split("|")]
            for line in tables.splitlines()
            if line.startswith("|") and not line.startswith("|---")
        ]
        names: list[str] = []
        for first, *others in rows:
            if first == "subject":
                names = others
            elif names:
                results._read_subject(first, dict(zip(names, others, strict=True)))
            elif first != "auditor":
                results.versions[first], results.figures[first] = others[:2]
                results.draws[first] = int(others[2].replace(",", ""))
        return results

    def _read_subject(self, subject: str, cells: dict[str, str]) -> None:
        """Take in the cells of a subject; bold ones refute."""
        for auditor, cell in cells.items():
            bold = re.fullmatch(r"\*\*(.*)\*\*", cell)
            if bold is None and (italic := re.fullmatch(r"\*(.*)\*", cell)):
                self.reasons.setdefault(auditor, {})[subject] = italic[1]
            elif cell != NOT_RUN:
                finding = Finding(bold is not None, bold[1] if bold else cell)
                self.findings.setdefault(auditor, {})[subject] = finding


def write(results: Results, audited: list[Subject]) -> None:
    """Put the tables into the page, between its marks."""
    text = PAGE.read_text(encoding="utf-8")
    before, after = text.partition(BEGIN)[0], text.partition(END)[2]
    tables = "\n\n".join(
        [
            _versions(results),
            "### The mechanisms\n\n"
            + _table(results, [one for one in audited if not one.is_broken]),
            "### The faults\n\n" + _table(results, [one for one in audited if one.is_broken]),
            _score(results, audited),
        ]
    )
    PAGE.write_text(f"{before}{BEGIN}\n\n{tables}\n\n{END}{after}", encoding="utf-8")


def _versions(results: Results) -> str:
    rows = [
        f"| {name} | {version} | {results.figures.get(name, '')} | {results.draws.get(name, 0):,} |"
        for name, version in results.versions.items()
    ]
    return "\n".join(["| auditor | version | its figure | draws |", "|---|---|---|---|", *rows])


def _table(results: Results, audited: list[Subject]) -> str:
    names = [*results.versions]
    rows = [f"| subject | {' | '.join(names)} |", "|---" * (len(names) + 1) + "|"]
    for subject in audited:
        cells = [_cell(results, name, subject.name) for name in names]
        rows.append(f"| {subject.name} | {' | '.join(cells)} |")
    return "\n".join(rows)


def _cell(results: Results, auditor: str, subject: str) -> str:
    """Return a figure, in bold where it refutes; or why there is none, in italics."""
    finding = results.findings.get(auditor, {}).get(subject)
    if finding is None:
        reason = results.reasons.get(auditor, {}).get(subject)
        return f"*{reason}*" if reason else NOT_RUN
    return f"**{finding.figure}**" if finding.is_refuted else finding.figure


def _score(results: Results, audited: list[Subject]) -> str:
    """Return in a sentence how many faults each auditor found, and how many mechanisms it refuted."""
    broken = {one.name for one in audited if one.is_broken}
    words = []
    for name, found in results.findings.items():
        refuted = {subject for subject, finding in found.items() if finding.is_refuted}
        looked = found.keys()
        words.append(
            f"{name} refuted {len(refuted & broken)} of {len(looked & broken)} faults and "
            f"{len(refuted - broken)} of {len(looked - broken)} mechanisms."
        )
    return " ".join(words)
