"""A trial for the owner: which times fit, by durations that are invented; and `discreet serve --try` itself."""

import json
from collections.abc import Iterator
from fractions import Fraction
from math import inf
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("starlette", reason="the extra server is not installed")

from discreet.cli import run
from discreet.ledger.toml_budgets import configuration, open_described
from discreet.selection.verb_calls import Call
from discreet.service.asking.dearest_questions import DearQuestion, Duration
from discreet.service.http.trial import TURNS, FittingTimes, room_of, try_times
from discreet.service.http.trial_processes import Load
from discreet.service.queue.promises import LADDER, AnswerTimes
from discreet.tables.datasets.configuration import Configuration, read_configuration
from discreet.tables.verbs.quantile import median

DECLARED = AnswerTimes(Fraction(1), Fraction(30), "day")
TEXT = """
ledger = "budget.db"
[datasets.people]
source = "people.csv"
answers_after = "200ms"
budget = { epsilon = "9" }
columns.age = { type = "integer", minimum = 0, maximum = 120 }
questions.low = { verb = "minimum", column = "age", epsilon = 1 }
questions.middle = { verb = "median", column = "age", epsilon = 1, where = "age IN (1, 2, 3, 4)" }
questions.high = { verb = "maximum", column = "age", epsilon = 1 }
questions.tenth = { verb = "quantile", column = "age", alpha = 0.1, epsilon = 1 }
[analysts.ann]
datasets = ["people"]
share = { epsilon = "5" }
"""


def fitting(*tried: tuple[int, Duration], room: int = 3) -> FittingTimes:
    """Return the times for questions of so many parts that took so long."""
    questions = [
        DearQuestion("people", f"q{i}", Call(median, (), {}), parts, duration)
        for i, (parts, duration) in enumerate(tried)
    ]
    return FittingTimes("people", DECLARED, questions, room)


@pytest.mark.parametrize(
    ("seconds", "after"),
    [
        (0.01, "0.1"),
        (0.034, "0.2"),
        (0.1, "0.5"),
        (0.32, "1"),
        (0.34, "2"),
        (19.9, "60"),
        (20.1, None),
    ],
)
def test_a_unit_is_the_first_of_the_ladder_above_three_times_the_slowest(
    seconds: float, after: str | None
) -> None:
    times = fitting((1, Duration(seconds, 0.01)), (1, Duration(0.001, 0.001)))
    assert times.answers_after == (None if after is None else Fraction(after))


def test_what_would_need_exactly_the_unit_takes_the_next() -> None:
    assert fitting((1, Duration(1.0, 1.0)), room=5).answers_after == 10


def test_longer_questions_are_compared_by_their_units() -> None:
    times = fitting((64, Duration(2.5, 2.4)), (1, Duration(0.3, 0.25)))
    assert times.slowest is not None
    assert times.slowest.units == 8
    assert times.answers_after == times.longest == Fraction(1)
    assert fitting((8, Duration(2.5, 2.4))).answers_after == 10


def test_on_one_core_everything_that_is_busy_has_its_part() -> None:
    """An answer of t seconds takes (1 + workers)·t there."""
    assert [room_of(Load(1, workers, 1)) for workers in (1, 2, 3, 8)] == [3, 3, 4, 9]
    assert [room_of(Load(1, workers, 2)) for workers in (1, 2, 3, 8)] == [3, 3, 3, 3]
    assert fitting((1, Duration(0.3, 0.3)), room=9).answers_after == 5


@given(st.lists(st.tuples(st.integers(1, 200), st.floats(1e-4, 30)), min_size=1), st.integers(3, 9))
def test_every_answer_has_its_room_and_no_smaller_value_leaves_it(
    took: list[tuple[int, float]], room: int
) -> None:
    times = fitting(
        *((parts, Duration(seconds, seconds / 2)) for parts, seconds in took), room=room
    )
    needed = [room * seconds / -(-parts // 8) for parts, seconds in took]
    if times.answers_after is None:
        assert max(needed) >= LADDER[-1]
        return
    assert all(one < times.answers_after for one in needed)
    assert all(smaller <= max(needed) for smaller in LADDER if smaller < times.answers_after)
    more = times.times_as_many_rows
    assert more is not None
    assert more * max(needed) <= times.answers_after * (1 + 1e-9)
    assert (more + 0.1) * max(needed) > times.answers_after * (1 - 1e-9)


def test_what_is_declared_is_compared_with_what_is_needed() -> None:
    assert fitting((1, Duration(0.3, 0.3))).is_declared_enough
    assert not fitting((1, Duration(0.4, 0.3))).is_declared_enough
    assert not fitting((1, Duration(0.3, 11.0))).is_declared_enough
    assert any("too short" in line for line in fitting((1, Duration(0.4, 0.3))).lines())


def test_failures_are_named_and_what_did_not_end_fits_nothing() -> None:
    failed = fitting((1, Duration(0.1, 0.1)), (1, Duration(9.0, 9.0, "UnreadableFile")))
    assert failed.answers_after == Fraction(1, 2)
    assert "people: q1 failed with UnreadableFile" in failed.lines()
    endless = fitting((1, Duration(0.1, 0.1)), (1, Duration(inf, inf)))
    assert endless.answers_after is None
    assert endless.times_as_many_rows is None
    assert any("no time up to 60 s fits" in line for line in endless.lines())
    assert json.loads(json.dumps(endless.as_dict()))["questions"][1]["seconds"] is None
    assert list(fitting().lines()) == ["people: there are no questions to try"]


@pytest.fixture
def described(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Configuration:
    monkeypatch.chdir(tmp_path)
    Path("discreet.toml").write_text(TEXT)
    Path("people.csv").write_text("age\n" + "33\n" * 77)
    return read_configuration(Path("discreet.toml"))


def test_each_question_is_asked_once_and_the_slowest_five_times(described: Configuration) -> None:
    asked: list[str] = []
    seconds = {"low": 0.01, "middle": 0.05, "high": 0.03, "tenth": 0.02}

    def measure(question: DearQuestion, clock: float) -> Iterator[Duration]:
        assert clock == 300
        asked.append(question.name)
        slower = 0.1 if asked.count(question.name) == TURNS else 0.0
        yield Duration(seconds[question.name], 0.01)
        yield Duration(seconds[question.name] + slower, 0.02)

    (times,) = try_times(described, Load(2, 1, 2), measure)
    assert {name: asked.count(name) for name in seconds} == {
        "low": 1, "middle": 5, "high": 5, "tenth": 5,
    }  # fmt: skip
    assert times.answers_after == Fraction(1, 2)  # by the largest of all readers and turns
    assert times.longest == Fraction(1, 10)


def test_json_is_for_the_trial_alone(
    described: Configuration, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["serve", "--json"]) == 2
    assert "--try" in capsys.readouterr().err


@pytest.mark.process
def test_a_trial_charges_nothing_and_only_durations_leave(
    described: Configuration, capfd: pytest.CaptureFixture[str]
) -> None:
    """On real processes: the ledger is the same to the byte, and no file was made or changed."""
    declared = configuration()
    open_described(declared, "people")
    before = {path: path.read_bytes() for path in Path().iterdir()}
    assert run(["serve", "--try", "--json"]) == 0
    assert {path: path.read_bytes() for path in Path().iterdir()} == before
    out, err = capfd.readouterr()
    (people,) = json.loads(out)
    assert people["answers_after"] in [float(one) for one in LADDER]
    assert people["times_as_many_rows"] >= 1
    assert {one["question"] for one in people["questions"]} == {"low", "middle", "high", "tenth"}
    for one in people["questions"]:
        assert set(one) == {"question", "parts", "units", "seconds", "processor", "failure"}
        assert one["failure"] is None
        assert 0 < one["processor"] <= one["seconds"] + 0.1
    assert "33" not in err
    assert run(["serve", "--try"]) == 0
    out, err = capfd.readouterr()
    assert 'answers_after = "' in out
    assert "private" in err
    assert "public" in err
