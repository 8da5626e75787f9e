"""`make auditors`: run the auditors that are here, and write their tables."""

import argparse
import sys
import time

from .auditor import Auditor, Discreet, Finding, NotAsked
from .checkout import NotInstalled
from .delta_siege import DeltaSiege
from .dp_auditorium import DPAuditorium
from .dp_sniper import DPSniper
from .page import Results, write
from .statdp import StatDP
from .streams import Stream
from .subjects import Subject, subjects

AUDITORS: list[Auditor] = [Discreet(), StatDP(), DPSniper(), DeltaSiege(), DPAuditorium()]


def main() -> None:
    """Run, and go on where a run was stopped."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=100_000, help="for a choice by scores")
    parser.add_argument("--only", default="", help="the auditors, by their names between commas")
    parser.add_argument("--subjects", default="", help="only those whose name has this in it")
    terms = parser.parse_args()
    results, audited = Results.read(), subjects(terms.draws)
    for auditor in AUDITORS:
        if terms.only and auditor.name not in terms.only.split(","):
            continue
        results.draws.setdefault(auditor.name, terms.draws)
        run(auditor, results, audited, terms.subjects)
    write(results, audited)
    sys.exit(failures(results, audited))


def run(auditor: Auditor, results: Results, audited: list[Subject], part: str) -> None:
    """Let an auditor look at the subjects that it has not looked at, and whose name has a part in it."""
    results.figures[auditor.name] = auditor.figure
    try:
        results.versions[auditor.name] = auditor.start()
    except NotInstalled as reason:
        print(f"{auditor.name}: skipped, {reason}", flush=True)
        results.versions.setdefault(auditor.name, f"not run: {reason}")
        return
    findings = results.findings.setdefault(auditor.name, {})
    reasons = results.reasons.setdefault(auditor.name, {})
    for subject in [one for one in audited if part in one.name]:
        if subject.name in {*findings, *reasons}:
            continue
        begin = time.monotonic()
        try:
            finding = findings[subject.name] = look(auditor, subject)
            verdict = "refuted" if finding.is_refuted else "not refuted"
            said = f"{verdict}, {finding.figure}"
        except NotAsked as reason:
            said = reasons[subject.name] = str(reason)
        took = f"{time.monotonic() - begin:.0f} s"
        print(f"{auditor.name}: {subject.name}: {said} ({took})", flush=True)
        write(results, audited)


def look(auditor: Auditor, subject: Subject) -> Finding:
    """Return what an auditor says of a subject, whose answers are drawn for it."""
    if subject.delta and not auditor.takes_delta:
        raise NotAsked("knows no δ")
    return auditor.look(Stream(subject))


def failures(results: Results, audited: list[Subject]) -> int:
    """Return 1 if a mechanism was refuted, or a fault that discreet's own auditor must find was not."""
    broken = {one.name for one in audited if one.is_broken}
    refuted = [
        (auditor, name)
        for auditor, found in results.findings.items()
        for name, finding in found.items()
        if finding.is_refuted and name not in broken
    ]
    for auditor, name in refuted:
        print(f"{auditor} REFUTES {name}")
    return int(bool(refuted))


if __name__ == "__main__":
    main()
