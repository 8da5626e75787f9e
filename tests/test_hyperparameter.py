"""The example that chooses a hyper-parameter: its sensitivity, over every record, and that it runs."""

import runpy
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="module")
def example() -> dict[str, Any]:
    """The names of the example. It is run here, as every worker collects this file, and one runs it."""
    pytest.importorskip("sklearn")
    return runpy.run_path(str(Path(__file__).parents[1] / "examples" / "hyperparameter.py"))


def test_without_any_one_record_all_scores_fall_by_at_most_one(example: dict[str, Any]) -> None:
    from sklearn.datasets import load_iris

    records, labels = load_iris(return_X_y=True)
    public, private = (records[::3], labels[::3]), (records[1::3], labels[1::3])
    depths = [1, 2, 3]
    scores = example["correct"](public, private, depths)
    falls = set()
    for i in range(len(private[1])):
        kept = [j for j in range(len(private[1])) if j != i]
        fewer = example["correct"](public, (private[0][kept], private[1][kept]), depths)
        falls |= {scores[d] - fewer[d] for d in depths}
    assert falls == {0, 1}


def test_the_example_runs(example: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    example["main"]()
    printed = capsys.readouterr().out
    assert printed.startswith("depth ")
    assert "ε = 1 (add/remove one record), permute-and-flip mechanism" in printed
