"""A case that costs too much fails, a run that finds fewer cases fails, and a run says what it has left out."""

from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from . import budgets

ROOT = Path(__file__).parents[1]


def a_case(nodeid: str, *marks: str) -> Any:
    found = [SimpleNamespace(name=mark) for mark in marks]
    return SimpleNamespace(
        nodeid=nodeid, stash={budgets._BEGUN: 0.0}, iter_markers=lambda: iter(found)
    )


def reported(case: Any, seconds: float, **terms: Any) -> Any:
    """Return the report of a case whose test took so many seconds, as the plugin leaves it."""
    report = {"when": "call", "passed": True, "outcome": "passed", "longrepr": None, **terms}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(budgets, "seconds_used", lambda: seconds)
        made = budgets.pytest_runtest_makereport(case, SimpleNamespace(when=report["when"]))
        next(made)
        with pytest.raises(StopIteration) as ended:
            made.send(SimpleNamespace(**report))
    return ended.value.value


@pytest.mark.parametrize(("seconds", "outcome"), [(7.9, "passed"), (8.1, "failed")])
def test_a_case_of_no_kind_may_take_eight_seconds(seconds: float, outcome: str) -> None:
    report = reported(a_case("tests/new.py::test"), seconds)
    assert report.outcome == outcome
    assert ("8.1 s of processor" in str(report.longrepr)) == (outcome == "failed")


def test_what_is_marked_may_take_longer_and_what_fails_keeps_its_reason() -> None:
    assert reported(a_case("tests/new.py::test", "slow"), 9).outcome == "passed"
    assert reported(a_case("tests/new.py::test"), 9, when="setup").outcome == "passed"
    failed = {"passed": False, "outcome": "failed", "longrepr": "why"}
    assert reported(a_case("tests/new.py::test"), 9, **failed).longrepr == "why"


def test_the_kind_of_a_case(monkeypatch: pytest.MonkeyPatch) -> None:
    kinds = {
        "proof": {"cases": 0},
        "spark": {"cases": 0, "names": ["spark"]},
        "process": {"cases": 0, "files": {"tests/a.py": ["test_one", "test_*[a*]"]}},
        "slow": {"cases": 0},
        "default": {"cases": 0},
    }
    monkeypatch.setattr(budgets, "KINDS", kinds)
    monkeypatch.setattr(budgets, "SLOW_CASES", {"tests/a.py": ["test_one"], "b.py": ["test[x]"]})
    cases = {
        "tests/a.py::test_two": "process",
        "tests/a.py::test_one": "slow",
        "tests/a.py::test_two[spark]": "spark",
        "tests/a.py::test_two[a | b]": "default",
        "tests/a.py::test_two[b | a]": "process",
        "b.py::test[x]": "slow",
        "b.py::test[y]": "default",
    }
    assert {name: budgets.kind_of(a_case(name)) for name in cases} == cases
    assert budgets.kind_of(a_case("tests/a.py::test_two[spark]", "proof")) == "proof"
    assert budgets.kind_of(a_case("b.py::test[y]", "process")) == "process"


def test_a_run_says_what_it_leaves_out_and_how_to_run_it() -> None:
    said = budgets.left_out(Counter(proof=5000, process=200, slow=1))
    assert said == [
        "left out: 201 cases (process 200, slow 1); `make test-all` runs them",
        "left out: 5,000 long proofs; `make proofs` runs them",
    ]
    assert budgets.left_out(Counter()) == []


def test_a_run_of_all_files_that_finds_fewer_cases_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budgets, "KINDS", {"slow": {"cases": 3}, "default": {"cases": 9}})
    by_file, by_path = pytest.Config.ArgsSource.TESTPATHS, pytest.Config.ArgsSource.ARGS
    for source, found, code in (
        (by_file, {"slow": 3, "default": 9}, 0),
        (by_file, {"slow": 3, "default": 8}, 1),
        (by_file, {"slow": 2, "default": 99}, 1),
        (by_path, {"slow": 2, "default": 8}, 0),
    ):
        config: Any = SimpleNamespace(args_source=source, getoption=lambda _: False)
        totals, session = budgets.Totals(config), SimpleNamespace(exitstatus=0)
        totals.pytest_testnodedown(SimpleNamespace(workeroutput={"found": found}))
        totals.pytest_testnodedown(SimpleNamespace())  # one that died
        totals.pytest_sessionfinish(session)  # type: ignore[arg-type]
        assert session.exitstatus == code


def test_what_is_measured_is_stored(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    slow, markers = tmp_path / "slow.toml", tmp_path / "markers.toml"
    markers.write_text("# Why.\n[docs]\ncases = 1\n[slow]\ncases = 1\n[default]\ncases = 1\n")
    monkeypatch.setattr(budgets, "SLOW", slow)
    monkeypatch.setattr(budgets, "MARKERS", markers)
    monkeypatch.setattr(budgets, "KINDS", {"docs": {}, "slow": {}, "default": {}})
    calls = {
        "a.py::test[1]": ("default", 1.5),
        "a.py::test[2]": ("slow", 0.4),
        "a.py::test[3]": ("slow", 2.0),
        "a.py::test[4]": ("default", 0.5),
        "b.py::test": ("docs", 9.0),
    }
    budgets.store(Counter(docs=1, slow=2, default=2), calls)
    assert slow.read_text().endswith('\n"a.py" = ["test[1]", "test[3]", "test[4]"]\n')
    stored = "# Why.\n[docs]\ncases = 1\n[slow]\ncases = 3\n[default]\ncases = 1\n"
    assert markers.read_text() == stored
    budgets.store(Counter(docs=2, slow=3, default=1), {})
    assert markers.read_text() == stored.replace("cases = 1", "cases = 2", 1)


def test_files_and_cases_that_are_named_exist() -> None:
    """A kind that names a file that was moved would put all its cases into `make test`."""
    for kind, terms in budgets.KINDS.items():
        for file, in_default in terms.get("files", {}).items():
            text = (ROOT / file).read_text(encoding="utf-8")
            for name in in_default:
                assert f"def {name.partition('[')[0].rstrip('*')}(" in text, (kind, file, name)
