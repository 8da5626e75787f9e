"""In a notebook pictures and answers show themselves, without any magic command, and errors are short."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from IPython.core.formatters import DisplayFormatter

import discreet

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "examples" / "first_steps.ipynb"
VOTES = {"tea": 310, "coffee": 322}


def formats(value: object) -> dict[str, Any]:
    """Return what a notebook is given to show a value."""
    found, _ = DisplayFormatter().format(value)  # type: ignore[no-untyped-call]
    return dict(found)


def test_a_picture_shows_itself() -> None:
    law = discreet.distribution(VOTES, sensitivity=1, epsilon=1)
    for figure in (law.plot(), law.plot_scores(), discreet.plots.budget([(1, 0, 1)])):
        found = formats(figure)
        assert found["image/png"].startswith(b"\x89PNG")
        assert "text/html" not in found


def test_answers_show_themselves_and_distributions_do_not() -> None:
    release = discreet.select(VOTES, sensitivity=1, epsilon=1)
    assert "Release: may be published" in formats(release)["text/html"]
    law = discreet.distribution(VOTES, sensitivity=1, epsilon=1)
    assert {*formats(law)} == {"text/plain"}
    assert "0.99" in formats(law.table())["text/html"]


def outputs(notebook: dict[str, Any]) -> list[set[str]]:
    """Return the formats of the output of each cell of code, "error" for an error."""
    found = [cell["outputs"] for cell in notebook["cells"] if cell["cell_type"] == "code"]
    return [
        {kind for one in shown for kind in one.get("data", {one["output_type"]: ""})}
        for shown in found
    ]


SHOWN = [set(), {"text/html"}, set(), {"text/html"}, {"text/html"}, {"text/html"}, {"text/html"},
         {"image/png"}, {"image/png"}, {"text/html"}]  # fmt: skip


def check(notebook: dict[str, Any]) -> None:
    assert [kinds - {"text/plain"} for kinds in outputs(notebook)] == SHOWN


def test_the_example_holds_its_output_and_nothing_of_this_machine() -> None:
    text = EXAMPLE.read_text(encoding="utf-8")
    check(json.loads(text))
    assert str(ROOT) not in text
    assert "/home/" not in text


def run(source: str) -> dict[str, Any]:
    """Return a notebook of one's own code, run by Jupyter in a process of its own."""
    program = f"""
import sys, nbformat
from nbclient import NotebookClient
{source}
NotebookClient(notebook, timeout=120, kernel_name="python3", allow_errors=True,
               resources={{"metadata": {{"path": {str(EXAMPLE.parent)!r}}}}}).execute()
print(nbformat.writes(notebook))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return dict(json.loads(done.stdout))


@pytest.mark.proof
def test_the_example_runs() -> None:
    check(run(f"notebook = nbformat.read({str(EXAMPLE)!r}, as_version=4)"))


@pytest.mark.proof
def test_a_misspelled_column_is_told_in_few_lines() -> None:
    """113 lines at commit 55e243f."""
    code = "import discreet\ndiscreet.mode('people.csv', 'drnk', candidates=['tea'], epsilon=1)"
    cell = f"nbformat.v4.new_code_cell({code!r})"
    (shown,) = run(f"notebook = nbformat.v4.new_notebook(cells=[{cell}])")["cells"][0]["outputs"]
    lines = "\n".join(shown["traceback"]).splitlines()
    assert len(lines) < 30
    assert "did you mean 'drink'?" in lines[-1]
