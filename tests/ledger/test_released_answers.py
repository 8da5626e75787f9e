"""Answers that are values, in a ledger: paid and drawn once, checked like all others, inert where shown."""

import csv
import json
import os
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import discreet
from discreet.cli import run
from discreet.errors import LedgerCorrupt, LedgerUnwritable
from discreet.ledger import Ledger
from discreet.ledger.store import Store
from discreet.selection.payment import Indices
from discreet.selection.released_values import ReleasedValue
from discreet.study.reports import report

from ..base.test_escapes import INVISIBLE
from ..ledgers import answering, bill, forgetting, untouched
from ..selection.test_released_values import HOSTILE
from .test_verification import rechained, tampered

KEYS = [ReleasedValue.of(text) for text in sorted(HOSTILE)]
ANSWER: Any = [KEYS, [*range(len(KEYS) - 1), -(2**70)]]


def answered(path: Path | str, answer: Any = ANSWER) -> Ledger:
    """Return a ledger with an answer of values."""
    ledger = Ledger(path)
    ledger.open("visits", epsilon=4)
    assert ledger.session("visits").buy(bill(1, "keys"), answering(answer)) == answer
    return ledger


def test_an_answer_of_values_is_paid_and_drawn_once(where: str) -> None:
    ledger = answered(where)
    forgetting()
    assert Ledger(where).session("visits").buy(bill(1, "keys"), untouched) == ANSWER
    assert ledger.verify(ledger.checkpoint().head).events == 3
    assert ledger.budgets()[0].spent.epsilon == 1


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{"text":"Bern"}', '{"text":"Basel"}'),
        ('{"text":"Bern"}', '{"integer":"7"}'),
        ('{"text":"Bern"}', "7"),
        ('{"text":"Bern"},', ""),
        ('{"text":"Bern"},{"text":"Chur"}', '{"text":"Chur"},{"text":"Bern"}'),
    ],
)
def test_a_value_that_was_edited_is_not_served(tmp_path: Path, before: str, after: str) -> None:
    path = tmp_path / "budget.db"
    ledger = answered(path, [ReleasedValue.of(name) for name in ("Bern", "Chur")])
    tampered(
        path,
        "UPDATE discreet_events SET body = replace(body, ?, ?) WHERE number = 3",
        before,
        after,
    )
    for read in (ledger.verify, lambda: ledger.session("visits").buy(bill(1, "keys"), untouched)):
        with pytest.raises(LedgerCorrupt) as error:
            read()
        assert "Bern" not in str(error.value)


@pytest.mark.parametrize(
    "answer",
    [
        {"texts": "SECRET"}, {"text": 7}, {"integer": "SECRET"}, {"date": "2026-02-30"}, {},
        [{"text": "a", "b": "c"}],
        {"text in UTF-8": "61"}, {"text in UTF-8": "SECRET"}, {"number": "NaN"}, {"text": None}, {"text": ["a"]},
    ],
)  # fmt: skip
def test_a_value_that_none_is_written_as_is_no_answer(tmp_path: Path, answer: Any) -> None:
    """Whoever can compute the chain anew can write any value, and nothing that is none."""
    path = tmp_path / "budget.db"
    ledger = answered(path, [ReleasedValue.of("Bern")])

    def change(events: list[list[Any]]) -> None:
        events[2][6] = json.dumps({"answer": [answer]}, separators=(",", ":"))

    rechained(path, change)
    for read in (ledger.verify, lambda: ledger.session("visits").buy(bill(1, "keys"), untouched)):
        with pytest.raises(LedgerCorrupt) as error:
            read()
        assert "SECRET" not in "".join(traceback.format_exception(error.value))


def test_a_crash_before_the_values_are_stored_gives_them_to_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The draw is lost and paid, no frame or error holds it, and the same request draws again."""
    path = tmp_path / "budget.db"
    ledger, write, calls = Ledger(path), Store.write, []
    ledger.open("visits", epsilon=1)

    def failing(store: Store, work: Callable[..., Any], *args: Any) -> Any:
        calls.append(work)
        if len(calls) == 2:
            raise LedgerUnwritable("the disk is full")
        return write(store, work, *args)

    secret = ReleasedValue.of("SECRET-KEY")
    with monkeypatch.context() as broken:
        broken.setattr(Store, "write", failing)
        with pytest.raises(LedgerUnwritable) as error:
            ledger.session("visits").buy(bill(1, "keys"), answering([secret]))
    frames = [frame for frame, _ in traceback.walk_tb(error.value.__traceback__)][1:]
    assert not any(
        held in ([secret], secret) for frame in frames for held in frame.f_locals.values()
    )
    assert error.value.charged
    assert "SECRET-KEY" not in str(error.value)
    assert [event.kind for event in ledger.history()] == ["opened", "charged"]
    assert ledger.session("visits").buy(bill(1, "keys"), answering([KEYS[0]])) == [KEYS[0]]
    assert ledger.verify().events == 3


def test_a_process_that_dies_after_its_draw_has_paid_and_given_nothing(tmp_path: Path) -> None:
    path = tmp_path / "budget.db"
    Ledger(path).open("visits", epsilon=1)
    child = os.fork()
    if child == 0:

        def die() -> Indices:
            os._exit(3)

        Ledger(path).session("visits").buy(bill(1, "keys"), lambda: die)
        os._exit(4)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3
    ledger = Ledger(path)
    assert [event.kind for event in ledger.history()] == ["opened", "charged"]
    assert ledger.session("visits").buy(bill(1, "keys"), answering(ANSWER)) == ANSWER
    assert ledger.session("visits").buy(bill(1, "keys"), untouched) == ANSWER
    assert ledger.verify().events == 3


def test_values_are_inert_in_exports_and_in_the_history(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ledger = answered("budget.db")
    ledger.export("events.csv")
    ledger.export("events.json")
    text = Path("events.csv").read_text("ascii")
    with open("events.csv", encoding="ascii", newline="") as file:
        cells = [cell for row in csv.reader(file) for cell in row]
    assert not any(cell.startswith(("=", "+", "-", "@", "\t", "\r")) for cell in cells)
    assert not any(sign in text for sign in INVISIBLE)
    exported = json.loads(Path("events.json").read_text("ascii"))
    assert exported[2]["body"]["answer"][0] == [key.plain for key in KEYS]
    for command in (
        "ledger history budget.db",
        "ledger history budget.db --json",
        "ledger show budget.db",
        "ledger verify budget.db",
    ):
        assert run(command.split()) == 0
        shown = capsys.readouterr().out
        assert not any(sign in shown for sign in INVISIBLE)
    page = report(ledger, "ledger.html", dataset="visits").read_text("utf-8")
    assert not any(sign in page for sign in INVISIBLE if sign != "\t")
    assert "<script>alert" not in page
    shown = "\n".join(event._repr_html_() + str(event) + repr(event) for event in ledger.history())
    assert not any(sign in shown for sign in INVISIBLE)
    assert "<script>" not in shown


def test_auditors_verify_answers_of_values(tmp_path: Path) -> None:
    """Events travel as JSON, are verified where they arrive, and hold the same values."""
    ledger = answered(tmp_path / "budget.db")
    events = [json.loads(json.dumps(event.as_dict())) for event in ledger.history()]
    assert (
        events[-1]["body"]["answer"] == json.loads(json.dumps(ledger.history()[-1].body))["answer"]
    )
    assert discreet.Ledger(tmp_path / "budget.db").verify(events[-1]["head"]).events == 3
