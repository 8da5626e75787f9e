"""The core: its answers with two packages alone, the words that it may not know, and the tests that are its own."""

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import discreet

from .core import CORE, FILES, TESTS, is_of_core, names_the_core_alone
from .core_calls import STORED

SOURCE = Path(discreet.__file__).parent
WORDS = re.compile("dataset|analyst|token|service", re.IGNORECASE)
NAMES = ("id", "attr", "name", "asname", "arg", "module")


@pytest.mark.parametrize("kernel", ["0", "1"])
def test_the_core_answers_as_before_without_any_other_package(kernel: str) -> None:
    """If you change an answer or a text on purpose: python -m tests.core_calls --store."""
    environment = {**os.environ, "DISCREET_KERNEL": kernel, "PYTHONPATH": str(SOURCE.parent)}
    command = [sys.executable, "-m", "tests.core_calls"]
    done = subprocess.run(
        command, cwd=SOURCE.parents[1], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    replies = json.loads(done.stdout)
    assert len(replies) == 26
    assert replies == json.loads(STORED.read_text(encoding="utf-8"))


def words_of(text: str) -> set[str]:
    """Return the names in a program that have a word of the parts above the core."""
    nodes = ast.walk(ast.parse(text))
    names = (getattr(node, place, None) for node in nodes for place in NAMES)
    return {name for name in names if isinstance(name, str) and WORDS.search(name)}


@pytest.mark.parametrize("part", sorted(CORE))
def test_the_core_knows_no_word_of_the_parts_above_it(part: str) -> None:
    folder = SOURCE / part
    files = sorted(folder.rglob("*.py")) if folder.is_dir() else [folder.with_suffix(".py")]
    assert files
    for file in files:
        assert not words_of(file.read_text(encoding="utf-8")), file


@pytest.mark.parametrize(
    "line",
    [
        "def ask(dataset): ...",
        "self.tokens = 1",
        "class Analyst: ...",
        "import service",
        "f(dataset=1)",
    ],
)
def test_a_word_of_the_parts_above_is_found(line: str) -> None:
    assert len(words_of(line)) == 1


def test_most_tests_of_the_core_need_nothing_else() -> None:
    """They run by `make core`; a test that has come to need more is left out there, and must not be many."""
    assert sum(map(is_of_core, FILES)) >= 79


@pytest.mark.parametrize(
    ("line", "is_below"),
    [
        ("import numpy as np", True),
        ("from discreet.privacy.pld import x", True),
        ("import discreet\ndiscreet.select", True),
        ("import discreet\ndiscreet.median", False),
        ("import pandas", False),
        ("from discreet import Ledger", False),
        ("from discreet.tables.scores import counts", False),
        ("from . import engines", False),
        ("from tests.engines import ENGINES", False),
        ("'discreet.ledger.store.Store'", False),
    ],
)
def test_a_test_that_needs_more_is_none_of_the_core(line: str, is_below: bool) -> None:
    assert names_the_core_alone(line, TESTS / "test_of_no_folder.py") is is_below
