"""The processes of a trial: what leaves them, and that they end."""

import json
import warnings
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="the extra server is not installed")

import discreet
from discreet.selection.verb_calls import Call
from discreet.service.asking.dearest_questions import Duration, dearest_questions
from discreet.service.http import trial_processes
from discreet.service.http.trial_processes import DiscardingAccount, Load, TrialProcesses, measure
from discreet.service.queue.reader import read_again
from discreet.tables.datasets.configuration import Configuration, read_configuration

TEXT = """
[datasets.people]
source = "people.csv"
columns.age = { type = "integer", minimum = 0, maximum = 120 }
questions.age = { verb = "median", column = "age", epsilon = 1 }
"""


@pytest.fixture
def described(tmp_path: Path) -> Configuration:
    (tmp_path / "discreet.toml").write_text(TEXT)
    (tmp_path / "people.csv").write_text("age\n" + "33\n" * 77)
    return read_configuration(tmp_path / "discreet.toml")


def ask(described: Configuration, **terms: Any) -> Duration:
    call = Call(discreet.median, ("age",), {"epsilon": 1, **terms})
    return measure(call, described.datasets["people"], "epsilon")


def test_an_answer_is_drawn_and_thrown_away(described: Configuration) -> None:
    """Its account has no memory of it, and no release is made."""
    account = DiscardingAccount("epsilon")
    drawn = []

    def prepare() -> Any:
        return lambda: drawn.append("an answer")

    with pytest.raises(trial_processes._DrawnNotice) as caught:
        account.buy(None, prepare)
    assert drawn == ["an answer"]
    assert caught.value.args == ()
    assert set(DiscardingAccount.__slots__) == {"currency", "duration"}
    duration = ask(described)
    assert duration.failure == ""
    assert duration.seconds > 0


def test_failures_have_the_name_of_their_class_and_no_words(
    described: Configuration, tmp_path: Path
) -> None:
    (tmp_path / "people.csv").unlink()
    assert ask(described).failure == "UnreadableFile"
    assert ask(described, where="nothing < 1").failure in ("MissingColumn", "InvalidArgument")

    def fail(*_: object, **__: object) -> Any:
        raise ValueError("SECRET")

    call = Call(fail, (), {})
    assert measure(call, None, "epsilon") == (0.0, 0.0, "InvalidScores")


def test_a_reader_sends_two_numbers_and_a_class(
    described: Configuration, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In this process: all that goes through its connection is seen."""

    class Wire:
        def __init__(self) -> None:
            self.sent: list[bytes] = []
            self.questions = [(one, 9.0) for one in dearest_questions(described)] * 2

        def recv(self) -> Any:
            if self.questions:
                return self.questions.pop()
            raise EOFError

        def send_bytes(self, text: bytes) -> None:
            self.sent.append(text)

    for name in ("end_with", "set_limits", "warm_up", "collect_no_more", "stop_databases_after"):
        monkeypatch.setattr(trial_processes, name, lambda *_: None)
    monkeypatch.setattr(trial_processes, "read_again", read_again)
    monkeypatch.setattr("signal.signal", lambda *_: None)
    wire: Any = Wire()
    with warnings.catch_warnings():
        trial_processes._read(wire, str(described.path), None, 0)  # type: ignore[arg-type]
    ready, *durations = (json.loads(one) for one in wire.sent)
    assert ready == []
    assert len(durations) == 2
    for seconds, processor, failure in durations:
        assert isinstance(seconds, float)
        assert isinstance(processor, float)
        assert failure == ""


@pytest.mark.process
def test_processes_end_with_the_block_and_one_that_is_too_slow_is_endless(
    described: Configuration,
) -> None:
    (question,) = dearest_questions(described)
    with TrialProcesses(described, Load(1, 1, 2)) as processes:
        ((first, _),) = processes._readers
        assert [one.failure for one in processes.ask(question, 60.0)] == [""]
        assert [one.seconds for one in processes.ask(question, 0.0)] == [float("inf")]
        ((second, _),) = processes._readers
        assert not first.is_alive()
        running = [second, *processes._busy]
        assert all(one.is_alive() for one in running)
        assert [one.seconds < 60 for one in processes.ask(question, 60.0)] == [True]
    assert not any(one.is_alive() for one in running)
