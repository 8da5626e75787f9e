"""The owner is told which named questions noisy counts would answer better, and no question changes by itself."""

import contextlib
from pathlib import Path

import pytest

import discreet
from discreet.cli import run
from discreet.datasets.configuration import read_configuration
from discreet.node.method_notes import method_notes

FILE = """
ledger = "budget.db"

[datasets.people]
source = "people.csv"
budget = {{ {budget} }}

[datasets.people.columns.city]
type = "string"
enum = ["Basel", "Bern", "Chur", "Davos", "Genf"]

[datasets.people.questions.three]
verb = "top_k"
column = "city"
k = 3
{terms}

[datasets.people.questions.one]
verb = "mode"
column = "city"
epsilon = 1
"""


@pytest.mark.parametrize(
    ("budget", "terms", "is_noted"),
    [
        ("epsilon = 9", "epsilon = 1", True),
        ("epsilon = 9", 'epsilon = 1\nmethod = "peeling"', False),
        ("epsilon = 9", 'epsilon = 1\nmethod = "counts"', False),
        ("epsilon = 9", 'epsilon = 1\nmechanism = "permute_and_flip"', False),
        ("rho = 9", "epsilon = 1", False),
        ('epsilon = 9\ndelta = "1e-6"\ndelta_for = "questions"'.replace("\n", ", "), "epsilon = 1", True),
    ],
)  # fmt: skip
def test_a_better_method_is_recommended(
    budget: str, terms: str, is_noted: bool, tmp_path: Path
) -> None:
    (tmp_path / "people.csv").write_text("city\nBern\n", encoding="utf-8")
    path = tmp_path / "discreet.toml"
    path.write_text(FILE.format(budget=budget, terms=terms), encoding="utf-8")
    notes = list(method_notes(read_configuration(path)))
    assert [note.partition(":")[0] for note in notes] == is_noted * [
        "datasets.people.questions.three"
    ]
    assert not is_noted or 'method = "counts"' in notes[0]


def test_named_questions_of_a_file_are_peeled_as_before(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("city\nBern\n", encoding="utf-8")
    path = tmp_path / "discreet.toml"
    path.write_text(FILE.format(budget="epsilon = 9", terms="epsilon = 1"), encoding="utf-8")
    with contextlib.chdir(tmp_path):
        assert run(["ledger", "open", "people"]) == 0
    node = discreet.connect(path)
    by_name = {question.access: question.mechanism for question in node.questions()}
    assert by_name["three"] == "peeling(exponential)"


def test_a_free_question_of_before_is_answered_again(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("city\nBern\n", encoding="utf-8")
    path = tmp_path / "discreet.toml"
    path.write_text(FILE.format(budget="epsilon = 9", terms="epsilon = 1"), encoding="utf-8")
    with contextlib.chdir(tmp_path):
        assert run(["ledger", "open", "people"]) == 0
    node = discreet.connect(path)
    first = node.top_k("people", "city", k=3, epsilon=1, method="peeling", request="r")
    again = node.top_k("people", "city", k=3, epsilon=1, request="r")
    assert (again.value, again.charged, again.mechanism) == (first.value, False, first.mechanism)
    new = node.top_k("people", "city", k=3, epsilon=1, request="s")
    assert (new.mechanism, new.charged, len(new.counts)) == ("geometric", True, 3)
