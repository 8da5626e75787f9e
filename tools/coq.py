"""Builds the theories in proofs/ with Coq, and says what was proved from what: `make coq`.

Into build/coq/, with Gappa's proof of the kernel's rounding written there first. Every theorem that
proofs/theorems.toml names must exist and rest on the axioms in proofs/axioms.txt alone, compared by their
exact text; then `coqchk` reads the compiled theories again. Where Coq or a library is missing, the reason is
printed, and nothing has failed.

Needs nothing but Python's standard library.
"""

import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
PROOFS, BUILD = ROOT / "proofs", ROOT / "build" / "coq"
PACKAGES = "coq libcoq-coquelicot libcoq-interval libcoq-flocq libcoq-mathcomp-ssreflect gappa libcoq-gappa"
LIBRARIES = ("Coquelicot.Coquelicot", "Interval.Tactic", "Flocq.Core.Core", "Gappa.Gappa_library")
CLOSED = "Closed under the global context"


class Theorem(NamedTuple):
    """A named theorem: how long it is, and how long Coq took over it."""

    name: str
    lines: int
    seconds: float


def run(*command: str, cwd: Path = BUILD) -> str:
    """Return what a command prints; where it fails, print that and end."""
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
    if done.returncode != 0:
        print(done.stdout[-4000:], done.stderr[-4000:], sep="\n")
        sys.exit(f"coq: {' '.join(command)} failed")
    return done.stdout


def missing() -> str | None:
    """Return what is not installed, None if all is there."""
    for program in ("coqc", "coq_makefile", "coqchk", "gappa", "make"):
        if shutil.which(program) is None:
            return program
    BUILD.mkdir(parents=True, exist_ok=True)
    probe = BUILD / "probe.v"
    for library in LIBRARIES:
        probe.write_text(f"Require {library}.\n", encoding="utf-8")
        if subprocess.run(["coqc", "probe.v"], cwd=BUILD, capture_output=True).returncode != 0:
            return f"Coq's library {library}"
    return None


def place() -> list[str]:
    """Copy the theories that changed into the build, write Gappa's there, and return the names of all files."""
    names = [file.name for file in sorted(PROOFS.glob("*.v"))]
    for stale in BUILD.glob("*.v"):
        if stale.name not in {*names, "KernelGappa.v", "probe.v", "All.v"}:
            stale.unlink()
    for name in names:
        text = (PROOFS / name).read_bytes()
        if not (BUILD / name).exists() or (BUILD / name).read_bytes() != text:
            (BUILD / name).write_bytes(text)
    gappa = run("gappa", "-Bcoq", "-Eno-auto-dichotomy", str(PROOFS / "kernel.gappa"))
    if not (BUILD / "KernelGappa.v").exists() or (BUILD / "KernelGappa.v").read_text() != gappa:
        (BUILD / "KernelGappa.v").write_text(gappa, encoding="utf-8")
    return [*names, "KernelGappa.v"]


def compile_theories(names: list[str]) -> None:
    """Compile all theories, two at a time, each sentence timed."""
    shutil.copy(PROOFS / "_CoqProject", BUILD / "_CoqProject")
    run("coq_makefile", "-f", "_CoqProject", "-o", "Makefile.coq", *names)
    workers = str(min(2, os.cpu_count() or 1))
    run("make", "-f", "Makefile.coq", "-j", workers, "TIMING=1")


def lemmas(listed: dict[str, dict[str, dict[str, str]]], mutants: dict[str, str]) -> list[str]:
    """Return the full names of all listed theorems, of their instances and of what refutes mutants."""
    names = [f"{theory}.{name}" for theory in listed for name in listed[theory]]
    for theory, described in listed.items():
        instances = [theorem["instance"] for theorem in described.values()]
        names += [name if "." in name else f"{theory}.{name}" for name in instances]
    return list(dict.fromkeys([*names, *mutants.values()]))


def assumptions(names: list[str]) -> dict[str, str]:
    """Return what Coq prints of the assumptions of each lemma."""
    theories = sorted({name.split(".")[0] for name in names})
    lines = [f"From Discreet Require {theory}." for theory in theories]
    lines += ["Set Printing Width 200.", *(f"Print Assumptions {name}." for name in names)]
    (BUILD / "All.v").write_text("\n".join(lines) + "\n", encoding="utf-8")
    printed = run("coqc", "-R", ".", "Discreet", "All.v")
    parts = re.findall(rf"^(?:{CLOSED}|Axioms:\n(?:(?!{CLOSED}|Axioms:).*\n)+)", printed, re.M)
    assert len(parts) == len(names), printed
    return dict(zip(names, parts, strict=True))


def axioms(printed: str) -> list[str]:
    """Return the axioms in what `Print Assumptions` says, each with its type."""
    listed = printed.removeprefix("Axioms:").strip()
    return [] if listed == CLOSED else re.split(r"\n(?=\S)", listed)


def theorem_of(text: str, name: str) -> tuple[int, int]:
    """Return where a theorem begins and ends in the text of a theory, its proof included."""
    start = re.search(rf"^\s*(?:Theorem|Lemma|Corollary|Example|Definition)\s+{name}\b", text, re.M)
    assert start is not None, name
    end = re.compile(r"\b(?:Qed|Defined)\.").search(text, start.start())
    return start.start(), len(text) if end is None else end.end()


def seconds(timing: str, start: int, end: int) -> float:
    """Return how long Coq took over the sentences between two places of a theory, in bytes."""
    rows = re.findall(r"^Chars (\d+) - (\d+) \S* ?.*? ([\d.]+) secs", timing, re.M)
    return sum(float(took) for first, _, took in rows if start <= int(first) < end)


def measure(name: str) -> Theorem:
    """Return how long a theorem is, and how long Coq took over it."""
    theory, short = name.split(".")
    text = (BUILD / f"{theory}.v").read_text(encoding="utf-8")
    timing = (BUILD / f"{theory}.v.timing").read_text(encoding="utf-8")
    start, end = theorem_of(text, short)
    offsets = [len(text[:place].encode()) for place in (start, end)]
    lines = text[start:end].strip().count("\n") + 1
    return Theorem(name, lines, seconds(timing, *offsets))


def check(names: list[str], allowed: list[str]) -> None:
    """End where a lemma rests on more than the allowed axioms, and print on how many each rests."""
    for name, text in assumptions(names).items():
        own = axioms(text)
        if extra := [axiom for axiom in own if axiom not in allowed]:
            sys.exit(f"coq: {name} rests on {'; '.join(extra)}")
        _, lines, took = measure(name)
        print(f"{name:<60} {lines:>4} lines {took:>6.2f} s {len(own)} axioms")


def main() -> None:
    """Build, check, and print the table."""
    if (reason := missing()) is not None:
        print(f"coq: skipped, {reason} is not installed (Debian: apt-get install {PACKAGES})")
        return
    begin = time.monotonic()
    compile_theories(place())
    built = time.monotonic()
    listed = tomllib.loads((PROOFS / "theorems.toml").read_text(encoding="utf-8"))
    mutants = listed.pop("mutants")
    names = lemmas(listed, mutants)
    check(names, axioms((PROOFS / "axioms.txt").read_text(encoding="utf-8")))
    own = [word for name in listed for word in ("-norec", f"Discreet.{name}")]
    run("coqchk", "-silent", "-R", ".", "Discreet", *own)
    count, checked = sum(map(len, listed.values())), time.monotonic()
    print(f"coq: {count} theorems with their instances, {len(mutants)} mutants refuted")
    print(f"coq: no axiom beyond proofs/axioms.txt; built in {built - begin:.0f} s,", end=" ")
    print(f"checked in {checked - built:.0f} s")


if __name__ == "__main__":
    main()
