"""The playground: its page reaches nothing, its program is the library's, and both run under Pyodide."""

import base64
import hashlib
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tools.playground import PYODIDE, ROOT, gather

import discreet

PAGE = (ROOT / "docs" / "playground" / "index.html").read_text(encoding="utf-8")
NODE = shutil.which("node")
NOT_THERE = {"duckdb", "narwhals", "sqlalchemy", "jinja2", "polib", "typer", "rich", "pandas"}
"""Packages that the library has and the playground does without."""

CSV = "drink,name\ntea,Alice\ntea,Bob\ncoffee,Carol\nbeer,Dan\n"


def test_the_page_may_reach_nothing_but_its_own_folder() -> None:
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', PAGE)
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert rules["connect-src"] == rules["style-src"] == "'self'"
    assert rules["form-action"] == rules["base-uri"] == "'none'"
    (script,) = re.findall(r"<script[^>]*>(.*?)</script>", PAGE, re.S)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert rules["script-src"] == f"'self' 'sha256-{digest}' 'wasm-unsafe-eval'"
    for word in ("storage", "indexedDB", "cookie", "history", "location.search", "location.hash", "innerHTML",
                 "sendBeacon", "WebSocket", "XMLHttpRequest", "http:", "https:", "//cdn", "eval("):  # fmt: skip
        assert word not in script, word
    assert not re.search(r"\son\w+=|style=", PAGE), "the policy forbids them"
    assert "Private: do not publish" in PAGE


def run(statements: str) -> list[Any]:
    """Return what the program prints, a line of JSON each, with the packages that Pyodide has here."""
    program = f"""
import sys, json
sys.path.insert(0, {str(ROOT / "docs" / "playground")!r})
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {sorted(NOT_THERE)!r}:
            raise ImportError(name)
sys.meta_path.insert(0, Missing())
import playground
CSV = {CSV!r}
{statements}
"""
    done = subprocess.run(
        [sys.executable, "-B", "-c", program], capture_output=True, text=True, check=True
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_the_distribution_is_that_of_the_library_and_says_that_it_is_private() -> None:
    (shown,) = run("print(playground.distribution(CSV, 'drink', 'tea, coffee, water', '1/2'))")
    law = discreet.distribution(
        discreet.mode, ["tea", "tea", "coffee", "beer"], candidates=["tea", "coffee", "water"], epsilon="1/2"
    )  # fmt: skip
    assert "do not publish" in shown["private"]
    assert shown["rows"] == [
        {"candidate": name, "probability": float(law.probability(name))} for name in ("tea", "coffee", "water")
    ]  # fmt: skip


def test_the_budget_of_the_tab_counts_answers_and_refuses_before_the_file_is_read() -> None:
    replies = run(
        "for text in (CSV, CSV, CSV, None):\n"
        "    print(playground.answer(text, 'drink', 'tea,coffee', '1'))"
    )
    assert [reply["answers"] for reply in replies] == [1, 2, 3, 3]
    assert [reply["remaining"] for reply in replies] == [2, 1, 0, 0]
    assert {reply.get("answer") for reply in replies[:3]} <= {"tea", "coffee"}
    assert "ε = 3 is spent" in replies[3]["error"]
    assert "answer" not in replies[3]


def test_candidates_are_those_that_were_typed_and_errors_tell_nothing_of_the_file() -> None:
    columns, mistake, attack = run(
        "print(playground.columns(CSV))\n"
        "print(playground.answer(CSV, 'drink', ' , ', '1'))\n"
        "print(playground.attack())"
    )
    assert columns == ["drink", "name"]
    assert mistake["answers"] == 0
    assert not {"Alice", "tea", "beer"} & set(re.findall(r"\w+", mistake["error"]))
    assert "probability 1" in attack["naive"]


@pytest.mark.proof
def test_it_runs_under_pyodide(tmp_path: Path) -> None:
    if NODE is None or not PYODIDE.exists():
        pytest.skip("Node or its packages are missing: npm ci --prefix tools/node")
    packages = gather(tmp_path)
    if "python-flint" in packages["missing"]:
        pytest.skip("the package index has no build of python-flint for Pyodide")
    command = [NODE, str(ROOT / "tools" / "node" / "playground.mjs"), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode == 0, done.stderr
    reply = json.loads(done.stdout.splitlines()[-1])
    assert reply["version"] == discreet.__version__
    assert reply["e"].startswith("[2.71828182845")
    if packages["missing"]:
        pytest.skip(
            f"the library is loaded; no build of {packages['missing']} can be had, so nothing is computed"
        )
    law = discreet.distribution(
        {"tea": 2, "coffee": 1, "water": 0}, sensitivity=1, monotonic=True, epsilon=1
    )
    for row in reply["distribution"]["rows"]:
        assert row["probability"] == float(law.probability(row["candidate"]))
    assert reply["answer"]["answers"] == 1
    assert "probability 1" in reply["attack"]["naive"]
