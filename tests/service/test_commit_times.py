"""Turns are long enough for the ledger, or refused with the turn that would do."""

from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from discreet.errors import InvalidArgument, LedgerUnwritable
from discreet.service import commit_times
from discreet.service.commit_times import check_commits, shortest_turn, slowest_commit
from discreet.service.timetable import Timetable


def described(ledger: str | None) -> Any:
    return SimpleNamespace(ledger=ledger)


def table(turn: str, readers: int = 2) -> Timetable:
    return Timetable(Fraction(turn), ((),) * readers, {})


def test_commits_are_made_beside_the_ledger_and_leave_nothing(tmp_path: Path) -> None:
    assert slowest_commit(tmp_path, commits=3) > 0
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(LedgerUnwritable, match="beside the ledger"):
        slowest_commit(tmp_path / "none")


def test_a_turn_has_time_for_four_commits_of_every_reader(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured: list[Path] = []

    def slow(folder: Path) -> float:
        measured.append(folder)
        return 0.03

    monkeypatch.setattr(commit_times, "slowest_commit", slow)
    assert shortest_turn(0.03, 2) == pytest.approx(0.24)
    ledger = described(str(tmp_path / "budget.db"))
    check_commits(ledger, table("0.25"))
    assert measured == [tmp_path]
    with pytest.raises(
        InvalidArgument, match=r'up to 30 ms; with 2 readers declare turn = "240ms"'
    ):
        check_commits(ledger, table("0.2"))
    assert measured == [tmp_path] * 4  # a hiccup is not the disk


def test_one_slow_measurement_is_a_hiccup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter([0.5, 0.001])
    monkeypatch.setattr(commit_times, "slowest_commit", lambda folder: next(times))
    check_commits(described("budget.db"), table("0.25"))


@pytest.mark.parametrize(("ledger", "turn"), [(None, "1"), ("postgresql://x", "1"), ("x.db", "0")])
def test_nothing_is_measured_without_turns_or_a_file(ledger: str | None, turn: str) -> None:
    check_commits(described(ledger), table(turn))
