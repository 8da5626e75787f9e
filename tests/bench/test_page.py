"""The page of benchmarks says what was stored, and a slower library is noticed."""

import copy
from typing import Any

import pytest
from bench.race import Timing
from bench.results import Row, Target, compared
from rich.console import Console

from bench import page, picture, regressions, stored


def results(ours: float, theirs: float = 2.0, failure: str | None = None) -> dict[str, Any]:
    """Return results of one row, with a peer that we owe something to."""
    timings = {
        "ours": Timing([ours, 3 * ours]),
        "peer": Timing([theirs, theirs], failure=failure),
        "base": Timing([1.0, 1.0]),
    }
    row = Row("work", compared(timings, Target(1, "base")))
    return {"machine": {"processor": "one"}, "rows": {"work": row.as_dict()}}


def test_the_page_says_what_is_stored() -> None:
    """After another run, `python -m bench --page` writes it again."""
    kept, text = stored.read(), page.PAGE.read_text(encoding="utf-8")
    assert page.table(kept) in text
    assert {"kernel", "numpy"} <= set(kept)
    drawn = page.PICTURE.read_text(encoding="utf-8")
    for row in kept["kernel"]["rows"].values():
        assert row["title"] in text
        against = stored.peer(row)
        others = against is not None and not against["name"].startswith("discreet")
        assert (row["title"] in drawn) == others


def test_the_table_and_the_picture_of_a_row() -> None:
    both = {"kernel": results(1.5), "numpy": results(3.0)}
    *_, against_peer, against_base = page.table(both).splitlines()
    assert (
        against_peer
        == "| work | 3 s (1.5 s) | peer | 2 s (2 s) | 1.5 [0.75, 2.2] |  | 3 [1.5, 4.5] |  |"
    )
    assert (
        against_base
        == "| work | 3 s (1.5 s) | base | 1 s (1 s) | 3 [1.5, 4.5] |  | 6 [3, 9] | ≤ 1, not met |"
    )
    svg = picture.picture(both).to_svg()
    for said in ("work: 3", "work: 6", "target: 1", "prefers-color-scheme"):
        assert said in svg


@pytest.mark.parametrize(
    ("ours", "theirs", "worse"), [(1.0, 2.0, False), (1.4, 1.0, False), (1.6, 1.0, True), (0.1, 9.0, False)]
)  # fmt: skip
def test_only_the_ratio_to_the_same_peer_counts(ours: float, theirs: float, worse: bool) -> None:
    slower_machine = results(ours * 7)
    for line in slower_machine["rows"]["work"]["lines"][1:]:
        line["min"] = theirs * 7 if line["name"] == "peer" else 7.0
    [found] = regressions.comparisons(results(1.0), slower_machine)
    assert (found.peer, found.before, found.worse) == ("base", 1.0, worse)
    assert found.now == pytest.approx(ours)
    assert regressions.report(Console(quiet=True), [found]) is not worse


def test_what_cannot_be_compared() -> None:
    before, alone = results(1.0), results(1.0)
    alone["rows"]["new"] = copy.deepcopy(alone["rows"]["work"])
    alone["rows"]["work"]["lines"][0]["min"] = None
    [failed] = regressions.comparisons(before, alone)
    assert failed.now is None
    assert failed.worse
    del before["rows"]["work"]["lines"][1:]
    assert regressions.comparisons(before, alone) == []


def test_results_are_kept_row_by_row(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored, "FILE", tmp_path / "stored.json")
    assert stored.read() == {}
    stored.write(kernel=results(1.0), numpy=results(2.0))
    other = results(5.0)
    other["rows"] = {"other": other["rows"]["work"]}
    stored.write(kernel=other)
    kept = stored.read()
    assert {*kept["kernel"]["rows"]} == {"work", "other"}
    assert kept["numpy"] == results(2.0)


def test_traces_are_kept_and_written_by_their_cases(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored, "FILE", tmp_path / "stored.json")
    trace = {
        "name": "median",
        "cases": ["distinct", "one"],
        "median": [0.001, 0.003],
        "ratios": [1.0, 2.96],
    }
    stored.write(kernel={**results(1.0), "traces": [trace, {**trace, "name": "price"}]})
    stored.write(kernel=results(2.0))
    assert page.table_of_traces(stored.read()["kernel"]["traces"]).splitlines() == [
        "| work | distinct | one |",
        "|---|---|---|",
        "| median | 1 ms | 2.96 |",
        "| price | 1 ms | 2.96 |",
    ]


def test_a_peer_that_failed_is_no_peer() -> None:
    row = results(1.0, failure="not installed")["rows"]["work"]
    found = stored.peer(row)
    assert found is not None
    assert found["name"] == "base"
    assert "peer" not in page.table({"kernel": {"machine": {}, "rows": {"work": row}}})[120:]
