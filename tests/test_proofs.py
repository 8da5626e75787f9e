"""What is written about the theories in proofs/ agrees with them; `make coq` has Coq check them.

No Coq is needed here: names and forbidden words are looked up in the text.
"""

import math
import re
import runpy
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
PROOFS = ROOT / "proofs"
THEORIES = {
    file.stem: re.sub(r"\(\*.*?\*\)", "", file.read_text(encoding="utf-8"), flags=re.S)
    for file in sorted(PROOFS.glob("*.v"))
}
LISTED: dict[str, Any] = tomllib.loads((PROOFS / "theorems.toml").read_text(encoding="utf-8"))
MUTANTS: dict[str, str] = LISTED.pop("mutants")
STATEMENT = re.compile(r"^\s*(?:Theorem|Lemma|Corollary|Example)\s+(\w+)", re.M)
NAMES = {
    f"{theory}.{name}" for theory, text in THEORIES.items() for name in STATEMENT.findall(text)
}
FORBIDDEN = re.compile(
    r"\b(?:Admitted|admit|Axioms?|Parameters?|Conjectures?|give_up|Unset Guard Checking|bypass_check)\b"
)
CITED = re.compile(r"Coq: (\w+\.\w+(?:, \w+\.\w+)*)")
CODE = [file for suffix in ("*.py", "*.c") for file in sorted((ROOT / "src").rglob(suffix))]


@pytest.mark.parametrize("theory", THEORIES)
def test_nothing_is_assumed(theory: str) -> None:
    assert FORBIDDEN.findall(THEORIES[theory]) == []


@pytest.mark.parametrize("theory", THEORIES)
def test_hypotheses_stand_in_sections_alone(theory: str) -> None:
    """There they become premises of each theorem; outside they would be axioms."""
    depth = 0
    for sentence in re.split(r"\.\s", THEORIES[theory]):
        words = sentence.split()
        if not words:
            continue
        depth += (words[0] == "Section") - (words[0] == "End")
        if words[0] in {"Hypothesis", "Hypotheses", "Variable", "Variables", "Context"}:
            assert depth > 0, sentence


@pytest.mark.parametrize("theory", LISTED)
def test_each_theorem_exists_and_has_an_instance(theory: str) -> None:
    for name, described in LISTED[theory].items():
        assert set(described) == {"words", "instance"}, name
        assert f"{theory}.{name}" in NAMES
        instance = described["instance"]
        assert (instance if "." in instance else f"{theory}.{instance}") in NAMES, name
        assert described["words"].endswith("."), name


def test_each_mutant_is_refuted_by_a_lemma() -> None:
    for change, lemma in MUTANTS.items():
        assert lemma in NAMES, change


def test_each_lemma_that_the_code_cites_exists() -> None:
    for file in CODE:
        for names in CITED.findall(file.read_text(encoding="utf-8")):
            assert set(names.split(", ")) <= NAMES, file


def test_coq_and_gappa_are_given_the_constants_of_the_kernel() -> None:
    made = runpy.run_path(str(ROOT / "tools" / "coq.py"))
    kernel = (ROOT / "src" / "discreet" / "sampling" / "kernel.c").read_text(encoding="utf-8")
    (block,) = re.findall(r"TAYLOR\[12\] = \{(.*?)\};", kernel, re.S)
    in_c = [*re.findall(r"0x\S+(?=,)", block), math.log(2).hex()]
    in_c[12:12] = [re.findall(rf"{name} = (\S+);", kernel)[0] for name in ("CUT", "ROUNDING")]
    pairs = re.findall(r"\((-?\d+), (-?\d+)\)", made["constants"]())
    numbers = [math.ldexp(int(mantissa), int(exponent)) for mantissa, exponent in pairs]
    assert numbers == [float.fromhex(text) if "x" in text else float(text) for text in in_c]
    assert made["gappa_input"]() == (PROOFS / "kernel.gappa").read_text(encoding="utf-8")


def test_the_page_of_theorems_lists_only_what_is_there() -> None:
    """`make theorems` writes it anew; what was added since may be missing."""
    page = (ROOT / "docs" / "explanation" / "theorems.md").read_text(encoding="utf-8")
    for part in page.split("\n## ")[1:]:
        theory = part.split("\n")[0]
        for name, words in re.findall(r"^\| `(\w+)` \| (.*) \| \d+ \| [\d.]+ \|$", part, re.M):
            assert LISTED[theory][name]["words"].replace("|", "\\|") == words, name
