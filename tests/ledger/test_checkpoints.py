"""What was seen must still be there: by this process, and by whoever keeps checkpoints."""

import json
import os
import pickle
import shutil
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine

from discreet.cli import run
from discreet.errors import Exhausted, InvalidArgument, LedgerCorrupt, LedgerUnwritable
from discreet.ledger import Checkpoint, Ledger
from discreet.ledger.checkpoints import read_checkpoints

from .. import postgres
from ..ledgers import answering, bill, forgetting, undrawn, untouched


def spent(ledger: Ledger, releases: int) -> None:
    session = ledger.session("adult")
    for _ in range(releases):
        session.buy(bill("1/5"), answering(1))


def opened(where: Any, **terms: Any) -> Ledger:
    ledger = Ledger(where, **terms)
    ledger.open("adult", epsilon=1)
    return ledger


def test_a_copy_that_is_put_back_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "budget.db"
    ledger = opened(path)
    spent(ledger, 3)
    shutil.copy(path, tmp_path / "copy.db")
    session = ledger.session("adult")
    spent(ledger, 2)
    with pytest.raises(Exhausted):
        session.buy(bill("1/5"), untouched)
    shutil.copy(tmp_path / "copy.db", path)
    asked: list[Callable[[], object]] = [
        lambda: session.buy(bill("1/5"), untouched), ledger.budgets, ledger.verify, ledger.checkpoint,
        lambda: Ledger(path).budgets(), lambda: ledger.open("census", epsilon=1),
    ]  # fmt: skip
    for ask in asked:
        with pytest.raises(LedgerCorrupt, match="replaced by an older copy, or rewritten"):
            ask()
    assert Ledger(tmp_path / "copy.db").verify().events == 7  # under its own name it is what it is


def test_a_copy_is_refused_in_a_process_that_only_looked(tmp_path: Path) -> None:
    path = tmp_path / "budget.db"
    opened(path)
    shutil.copy(path, tmp_path / "copy.db")
    spent(Ledger(path), 1)
    forgetting()
    other = Ledger(path)
    other.budgets()
    shutil.copy(tmp_path / "copy.db", path)
    with pytest.raises(LedgerCorrupt, match="event 3 with the head"):
        other.session("adult")


def test_another_ledger_in_its_place_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "budget.db"
    session = opened(path).session("adult")
    path.unlink()
    fresh = opened(path)  # who opens it anew means it
    with pytest.raises(LedgerCorrupt, match="was replaced by another one"):
        session.buy(bill("1/5"), untouched)
    spent(fresh, 1)


def test_a_branch_of_the_same_length_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "budget.db"
    ledger = opened(path)
    shutil.copy(path, tmp_path / "copy.db")
    spent(Ledger(tmp_path / "copy.db"), 2)
    spent(ledger, 1)
    session = ledger.session("adult")
    shutil.copy(tmp_path / "copy.db", path)
    with pytest.raises(LedgerCorrupt, match="event 3 with the head"):
        session.buy(bill("1/5"), untouched)


def test_a_server_that_fell_back_is_refused(postgresql: str) -> None:
    ledger = opened(postgres.schema(postgresql, "fell_back"))
    spent(ledger, 1)
    session = ledger.session("adult")
    spent(ledger, 1)
    engine = create_engine(ledger._store.url)
    with engine.begin() as connection:
        for statement in (
            "ALTER TABLE discreet_events DISABLE TRIGGER ALL",
            "DELETE FROM discreet_events WHERE number > 3",
            "UPDATE discreet_account SET events = 3, head = (SELECT head FROM discreet_events WHERE number = 3)",
            "ALTER TABLE discreet_events ENABLE TRIGGER ALL",
        ):
            connection.exec_driver_sql(statement)
    engine.dispose()
    with pytest.raises(LedgerCorrupt, match="replaced by an older copy"):
        session.buy(bill("1/5"), untouched)


def test_every_commit_is_noted(tmp_path: Path) -> None:
    path, kept = tmp_path / "budget.db", tmp_path / "elsewhere.jsonl"
    ledger = opened(path, checkpoints=kept)
    spent(ledger, 2)
    lines = [json.loads(line) for line in kept.read_text().splitlines()]
    history = ledger.history()
    assert [(line["number"], line["at"], line["head"]) for line in lines] == [
        (event.number, event.at, event.head) for event in history
    ]
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert read_checkpoints(kept)[-1] == ledger.checkpoint()
    assert ledger.verify() == Ledger(path).verify(checkpoints=kept)
    ledger.budgets()
    ledger.session("adult").quoted([bill()])
    assert len(kept.read_text().splitlines()) == len(history), "noted what was noted"


def test_a_function_is_told_of_every_commit() -> None:
    told: list[Checkpoint] = []
    ledger = opened(None, checkpoints=told.append)
    spent(ledger, 1)
    assert [each.number for each in told] == [1, 2, 3]
    assert told[-1] == ledger.checkpoint()
    assert str(told[-1]) == json.dumps(told[-1].as_dict())


def test_the_charge_is_noted_before_anything_is_drawn() -> None:
    told: list[Checkpoint] = []
    ledger = opened(None, checkpoints=told.append)
    seen: list[int] = []

    def draw() -> int:
        seen.append(told[-1].number)
        return 1

    ledger.session("adult").buy(bill("1/5"), lambda: draw)
    assert seen == [2]


class Full:
    """Takes no checkpoint of these events, until it is emptied."""

    def __init__(self, *refused: int) -> None:
        self.refused = list(refused)

    def __call__(self, end: Checkpoint) -> None:
        if end.number in self.refused:
            raise ValueError("a secret of the owner")


def test_a_checkpoint_that_cannot_be_written_withholds_the_answer() -> None:
    sink = Full(3)
    ledger = opened(None, checkpoints=sink)
    session = ledger.session("adult")
    with pytest.raises(
        LedgerUnwritable, match=r"of event 3 cannot be written \(ValueError\)"
    ) as told:
        session.buy(bill("1/5", "r"), answering(31415))
    assert told.value.__notes__ == ["this is paid: retry with request='r' at no cost"]
    assert "secret" not in str(told.value)
    assert told.value.__context__ is None
    for _ in range(2):  # a stored answer is withheld as well
        with pytest.raises(LedgerUnwritable):
            session.buy(bill("1/5", "r"), untouched)
    with pytest.raises(LedgerUnwritable):  # and nothing more is paid
        session.buy(bill("1/5", "s"), undrawn)
    assert len(ledger.history()) == 3
    sink.refused.clear()
    assert session.buy(bill("1/5", "r"), untouched) == 31415
    assert ledger.verify().events == 3


CHANGES: dict[str, Callable[[Ledger], Any]] = {
    "extend": lambda ledger: ledger.extend("adult", epsilon=5),
    "open": lambda ledger: ledger.open("other", epsilon=1),
    "share": lambda ledger: ledger.open("adult", analyst="ann", epsilon=1),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_of_the_owner_that_took_effect_is_a_warning_and_no_error(
    tmp_path: Path, change: str
) -> None:
    """Else it would be made again, and refused as made before. The next commit notes it first."""
    told: list[Checkpoint] = []
    fails = [False]

    def note(end: Checkpoint) -> None:
        if fails[0]:
            raise OSError(28, "No space left on device")
        told.append(end)

    ledger = opened(tmp_path / "budget.db", checkpoints=note)
    fails[0] = True
    number = ledger.checkpoint().number
    with pytest.warns(UserWarning, match="this has taken effect"):
        budget = CHANGES[change](ledger)
    assert budget in Ledger(tmp_path / "budget.db").budgets()
    with pytest.raises(LedgerUnwritable, match="so no answer is given"):
        CHANGES[change](ledger)  # refused before anything is changed
    fails[0] = False
    ledger.open("third", epsilon=1)
    assert {end.number for end in told} >= {number, number + 1}


def test_a_payment_that_cannot_be_noted_draws_nothing() -> None:
    sink = Full(2)
    ledger = opened(None, checkpoints=sink)
    session = ledger.session("adult")
    with pytest.raises(LedgerUnwritable) as told:
        session.buy(bill("1/5", "r"), undrawn)
    assert told.value.__notes__ == ["this is paid: retry with request='r' at no cost"]
    sink.refused.clear()
    assert session.buy(bill("1/5", "r"), answering(5)) == 5
    assert [event.kind for event in ledger.history()] == ["opened", "charged", "answered"]


def test_a_full_disk_withholds_the_answer_and_its_torn_line_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = tmp_path / "elsewhere.jsonl"
    ledger = opened(tmp_path / "budget.db", checkpoints=kept)
    session = ledger.session("adult")
    with monkeypatch.context() as full:

        def tearing(_: Any) -> None:
            with kept.open("a") as file:
                file.write('{"ledger": "6f')
            raise OSError(28, "No space left on device")

        full.setattr("discreet.ledger.checkpoints._open_to_append", tearing)
        with pytest.raises(LedgerUnwritable, match="No space left on device"):
            session.buy(bill("1/5", "r"), undrawn)
    assert session.buy(bill("1/5", "r"), answering(5)) == 5
    assert [each.number for each in read_checkpoints(kept)] == [1, 2, 3]
    ledger.verify()


def test_checkpoints_tell_a_later_process(tmp_path: Path) -> None:
    path, kept = tmp_path / "budget.db", tmp_path / "elsewhere.jsonl"
    ledger = opened(path, checkpoints=kept)
    shutil.copy(path, tmp_path / "copy.db")
    spent(ledger, 1)
    forgetting()
    shutil.copy(tmp_path / "copy.db", path)
    Ledger(path).verify()
    for use in (
        lambda: Ledger(path, checkpoints=kept),
        lambda: Ledger(path).verify(checkpoints=kept),
    ):
        with pytest.raises(LedgerCorrupt, match="an older copy"):
            use()
    path.unlink()
    opened(path)
    for use in (
        lambda: Ledger(path, checkpoints=kept),
        lambda: Ledger(path).verify(checkpoints=kept),
    ):
        with pytest.raises(LedgerCorrupt, match="another"):
            use()


def test_checkpoints_that_lag_are_caught_up_before_anything_is_paid(tmp_path: Path) -> None:
    path, kept = tmp_path / "budget.db", tmp_path / "elsewhere.jsonl"
    opened(path, checkpoints=kept)
    spent(Ledger(path), 1)
    ledger = Ledger(path, checkpoints=kept)
    assert [each.number for each in read_checkpoints(kept)] == [1]
    spent(ledger, 1)
    assert [each.number for each in read_checkpoints(kept)] == [1, 3, 4, 5]


def test_places_where_no_checkpoints_are_kept(tmp_path: Path) -> None:
    for wrong in (3, "", "a\0b", b"x"):
        with pytest.raises(InvalidArgument, match="checkpoints are a path, or a function"):
            Ledger(checkpoints=wrong)  # type: ignore[arg-type]
    with pytest.raises(LedgerUnwritable, match="cannot be made"):
        Ledger(checkpoints=tmp_path / "nowhere" / "c.jsonl")
    with pytest.raises(LedgerUnwritable, match="cannot be read"):
        Ledger(checkpoints=tmp_path)
    mixed = tmp_path / "mixed.jsonl"
    lines = [str(Checkpoint(name, 1, "2026-01-01", "ab" * 32)) for name in "ab"]
    mixed.write_text("\n".join(lines))
    with pytest.raises(LedgerCorrupt, match="those of several ledgers"):
        Ledger(checkpoints=mixed)
    for line in ("{}", "3", '{"ledger": 1, "number": 1, "at": null, "head": ""}'):
        mixed.write_text(line)
        with pytest.raises(LedgerCorrupt, match="a line that is not a checkpoint"):
            Ledger().verify(checkpoints=mixed)
    mixed.write_text("a letter")
    for nothing in (mixed, "", 3):
        with pytest.raises(InvalidArgument, match="checkpoints"):
            Ledger().verify(checkpoints=nothing)  # type: ignore[arg-type]


def test_a_ledger_with_checkpoints_travels_with_them(tmp_path: Path) -> None:
    ledger = opened(tmp_path / "budget.db", checkpoints=tmp_path / "elsewhere.jsonl")
    spent(pickle.loads(pickle.dumps(ledger)), 1)
    assert len(read_checkpoints(tmp_path / "elsewhere.jsonl")) == 3


def test_an_empty_ledger_has_come_nowhere() -> None:
    end = Ledger().checkpoint()
    assert (end.number, end.at) == (0, None)


def test_the_command_prints_one_to_sign(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, signed = tmp_path / "budget.db", tmp_path / "monday.asc"
    ledger = opened(path)
    shutil.copy(path, tmp_path / "copy.db")
    spent(ledger, 1)
    written = tmp_path / "monday.json"
    assert run(["ledger", "verify", str(path), "--write-checkpoint", str(written)]) == 0
    line = written.read_text()
    assert json.loads(line) == ledger.checkpoint().as_dict()
    signed.write_text(
        f"-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA512\n\n{line}-----BEGIN PGP\nabc\n"
    )
    verify = ["ledger", "verify", str(path), "--checkpoints", str(signed)]
    assert run(verify) == 0
    shutil.copy(tmp_path / "copy.db", path)
    forgetting()
    assert run(verify) == 5
    assert "an older copy, another ledger" in capsys.readouterr().err
    assert run(["ledger", "verify", str(path)]) == 0
    monkeypatch.setenv("DISCREET_CHECKPOINTS", os.fspath(signed))
    assert run(["ledger", "show", str(path)]) == 5
