"""Builds the theories in proofs/ with Coq, and says what was proved from what: `make coq`.

Into build/coq/, with the kernel's constants and Gappa's proof of its rounding written there first, both from
kernel.c. Every theorem that proofs/theorems.toml names must exist and rest on the axioms in proofs/axioms.txt
alone, compared by their exact text; then `coqchk` reads the compiled theories again, the kernel's beside the
others, but for the longest of them. Where Coq or a library is missing, the reason is printed, and nothing
has failed. With --write the list of all theorems, with lines and seconds, is stored as
docs/explanation/theorems.md: `make theorems`.

Needs nothing but Python's standard library.
"""

import math
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
PROOFS, BUILD = ROOT / "proofs", ROOT / "build" / "coq"
KERNEL = ROOT / "src" / "discreet" / "sampling" / "kernel.c"
COMPUTED = ["KernelGappa", "KernelRounding", "KernelContraction", "KernelWeight"]
"""Theories whose proofs are computations of intervals: `coqchk` has no virtual machine, and takes as long for them
as for all others together; each alone, as it takes many times as long for all at once. Gappa's is generated, and no
theorem of it is listed."""
UNREAD = "Kernel"
"""The one that `coqchk` does not read: it had not ended after 14 minutes of a processor."""

PAGE = ROOT / "docs" / "explanation" / "theorems.md"
GENERATED = {"KernelConstants.v", "KernelGappa.v"}
PACKAGES = (
    "coq libcoq-coquelicot libcoq-interval libcoq-flocq libcoq-mathcomp-ssreflect gappa libcoq-gappa "
    "ocaml-nox libzarith-ocaml-dev ocaml-findlib"
)
"""Debian's packages; the last three are for `make bridge` alone."""

LIBRARIES = ("Coquelicot.Coquelicot", "Interval.Tactic", "Flocq.Core.Core", "Gappa.Gappa_library")
INTRODUCTION = """# All theorems

This page lists every theorem that Coq has checked, by theory (`proofs/`), with its meaning in words. You find the
statement itself under the same name in the theory. *Lines* counts the lines of statement and proof, and *seconds*
is the processor time that Coq took for both. For the other safeguards against errors, and for what you still trust,
see [what is proved, by what](proofs.md). `make theorems` checks all theorems and writes this page.

Of discrete Gaussian noise Coq has checked ρ, of any order and any number of cells, and the maximum that keys are
charged. The law of a sum is checked from above, for two numbers. Three steps rest on the
[proofs in prose](../reference/mechanisms/gaussian_noise.md) alone. These are the factor e^(−H) from below, δ as a
difference of two tails, and that smaller moves are dominated by larger ones.
"""
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


def coefficients() -> list[str]:
    """Return the coefficients of the kernel's polynomial as C has them, that of r**0 first."""
    text = KERNEL.read_text(encoding="utf-8")
    (block,) = re.findall(r"/\* coefficients \*/(.*?)/\* end of coefficients \*/", text, re.S)
    return [line.strip(" ,") for line in block.splitlines() if line.strip()]


def constant(name: str) -> float:
    """Return another constant of the kernel."""
    (number,) = re.findall(rf"double {name} = (\S+);", KERNEL.read_text(encoding="utf-8"))
    return float.fromhex(number) if "x" in number else float(number)


def pair(number: float) -> str:
    """Return m and e with number = m * 2**e, m odd, as Coq writes them."""
    numerator, denominator = number.as_integer_ratio()
    twos = (numerator & -numerator).bit_length() - 1
    return f"({numerator >> twos}, {twos - denominator.bit_length() + 1})"


def constants() -> str:
    """Return the theory that says the numbers of kernel.c, and the double of ln 2, in powers of two."""
    taylor = "; ".join(pair(float.fromhex(number)) for number in coefficients())
    cut, rounding = constant("CUT"), constant("ROUNDING")
    return f"""(* Written by tools/coq.py from src/discreet/sampling/kernel.c: (m, e) stands for m * 2^e. *)

From Coq Require Import ZArith List.
Import ListNotations.
Open Scope Z_scope.

Definition taylor : list (Z * Z) := [{taylor}].
Definition cut_at : Z * Z := {pair(cut)}.
Definition rounding_constant : Z * Z := {pair(rounding)}.
Definition ln2_as_double : Z * Z := {pair(math.log(2))}.
"""


def gappa_input() -> str:
    """Return proofs/kernel.gappa with the coefficients of kernel.c."""
    numbers, pattern = coefficients(), re.compile(r"^c(\d+) = \S+;$", re.M)
    text = (PROOFS / "kernel.gappa").read_text(encoding="utf-8")
    if [int(i) for i in pattern.findall(text)] != list(range(len(numbers))):
        sys.exit("coq: proofs/kernel.gappa has other coefficients than kernel.c")
    return pattern.sub(lambda c: f"c{c[1]} = {numbers[int(c[1])]};", text)


def write(name: str, text: str) -> None:
    """Write a file of the build, if it is new or another."""
    file = BUILD / name
    if not file.exists() or file.read_text(encoding="utf-8") != text:
        file.write_text(text, encoding="utf-8")


def place() -> list[str]:
    """Copy the theories that changed into the build, write the generated ones there, and return all names."""
    names = [file.name for file in sorted(PROOFS.glob("*.v"))]
    for stale in BUILD.glob("*.v"):
        if stale.name not in {*names, *GENERATED, "probe.v", "All.v"}:
            stale.unlink()
    for name in names:
        write(name, (PROOFS / name).read_text(encoding="utf-8"))
    write("KernelConstants.v", constants())
    write("kernel.gappa", gappa_input())
    write("KernelGappa.v", run("gappa", "-Bcoq", "-Eno-auto-dichotomy", "kernel.gappa"))
    return [*names, *sorted(GENERATED)]


def compile_theories(names: list[str], *targets: str) -> None:
    """Compile all theories, or those that the targets need, two at a time, each sentence timed."""
    shutil.copy(PROOFS / "_CoqProject", BUILD / "_CoqProject")
    run("coq_makefile", "-f", "_CoqProject", "-o", "Makefile.coq", *names)
    workers = str(min(2, os.cpu_count() or 1))
    run("make", "-f", "Makefile.coq", "-j", workers, "TIMING=1", *targets)


def lemmas(listed: dict[str, dict[str, dict[str, str]]], mutants: dict[str, str]) -> list[str]:
    """Return the full names of all listed theorems, of their instances and of what refutes mutants."""
    names = [f"{theory}.{name}" for theory in listed for name in listed[theory]]
    for theory, described in listed.items():
        instances = [theorem["instance"] for theorem in described.values()]
        names += [name if "." in name else f"{theory}.{name}" for name in instances]
    return list(dict.fromkeys([*names, *mutants.values()]))


def by_theory(names: list[str]) -> dict[str, list[str]]:
    """Return the names of each theory."""
    theories = sorted({name.split(".")[0] for name in names})
    return {
        theory: [name for name in names if name.startswith(f"{theory}.")] for theory in theories
    }


def assumptions(names: list[str]) -> dict[str, str]:
    """Return what Coq prints of the assumptions of all named lemmas of each theory together.

    One by one they would take minutes: Coq goes through all that a lemma rests on, each time.
    """
    parts = by_theory(names)
    lines = [f"From Discreet Require {theory}." for theory in parts]
    lines += ["Set Printing Width 200."]
    for theory, own in parts.items():
        lines.append(f"Definition all_of_{theory} := ({', '.join(f'@{name}' for name in own)}).")
        lines.append(f"Print Assumptions all_of_{theory}.")
    (BUILD / "All.v").write_text("\n".join(lines) + "\n", encoding="utf-8")
    printed = run("coqc", "-R", ".", "Discreet", "All.v")
    found = re.findall(rf"^(?:{CLOSED}|Axioms:\n(?:(?!{CLOSED}|Axioms:).*\n)+)", printed, re.M)
    assert len(found) == len(parts), printed
    return dict(zip(parts, found, strict=True))


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
    """Return how much time of a processor Coq took over the sentences between two places of a theory, in bytes.

    The time of the clock would say how busy the machine was.
    """
    rows = re.findall(r"^Chars (\d+) - .* secs \(([\d.]+)u,([\d.]+)s\)", timing, re.M)
    return sum(
        float(own) + float(system) for first, own, system in rows if start <= int(first) < end
    )


def measure(name: str) -> Theorem:
    """Return how long a theorem is, and how long Coq took over it."""
    theory, short = name.split(".")
    text = (BUILD / f"{theory}.v").read_text(encoding="utf-8")
    timing = (BUILD / f"{theory}.v.timing").read_text(encoding="utf-8")
    start, end = theorem_of(text, short)
    offsets = [len(text[:place].encode()) for place in (start, end)]
    lines = text[start:end].strip().count("\n") + 1
    return Theorem(name, lines, seconds(timing, *offsets))


def page(listed: dict[str, dict[str, dict[str, str]]]) -> str:
    """Return the list of all theorems, in Markdown."""
    parts = [INTRODUCTION]
    for theory, described in listed.items():
        parts.append(f"## {theory}\n\n| theorem | says | lines | seconds |\n|---|---|---|---|")
        for name, theorem in described.items():
            _, lines, took = measure(f"{theory}.{name}")
            words = theorem["words"].replace("|", "\\|")
            parts.append(f"| `{name}` | {words} | {lines} | {took:.2f} |")
        parts.append("")
    return "\n".join(parts)


def check(names: list[str], allowed: list[str]) -> None:
    """End where a theory rests on more than the allowed axioms; print its lemmas, and on how many it rests."""
    for theory, text in assumptions(names).items():
        own = axioms(text)
        if extra := [axiom for axiom in own if axiom not in allowed]:
            sys.exit(f"coq: {theory} rests on {'; '.join(extra)}")
        print(f"{theory}: {len(own)} axioms")
        for name in by_theory(names)[theory]:
            _, lines, took = measure(name)
            print(f"    {name.split('.')[1]:<60} {lines:>4} lines {took:>6.2f} s")


def read_again(theories: list[str]) -> None:
    """Let `coqchk` check compiled theories, and none on which they rest."""
    own = [word for name in theories for word in ("-norec", f"Discreet.{name}")]
    run("coqchk", "-silent", "-R", ".", "Discreet", *own)


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
    allowed = axioms((PROOFS / "axioms.txt").read_text(encoding="utf-8"))
    others = [name for name in listed if name not in {*COMPUTED, UNREAD}]
    with ThreadPoolExecutor(2) as pool:
        jobs = [
            pool.submit(check, names, allowed),
            *(pool.submit(read_again, [name]) for name in COMPUTED),
            pool.submit(read_again, others),
        ]
    for job in jobs:
        job.result()
    if "--write" in sys.argv[1:]:
        PAGE.write_text(page(listed), encoding="utf-8")
    count, checked = sum(map(len, listed.values())), time.monotonic()
    print(f"coq: {count} theorems with their instances, {len(mutants)} mutants refuted")
    print(f"coq: no axiom beyond proofs/axioms.txt; built in {built - begin:.0f} s,", end=" ")
    print(f"checked in {checked - built:.0f} s")


if __name__ == "__main__":
    main()
