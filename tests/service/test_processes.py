"""Data are read in other processes: one that is killed takes one answer with it, charged and not drawn again."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the extra server is not installed")
pytest.importorskip("httpx", reason="the extra server is not installed")

from discreet import Connection
from discreet.errors import (
    InvalidArgument,
    LedgerBusy,
    LedgerUnwritable,
    MissingColumn,
    RequestConflict,
    Unanswerable,
    UnknownName,
    UnreadableData,
)
from discreet.ledger.toml_budgets import configuration
from discreet.service import processes as processes_of
from discreet.service.answering import file_digest
from discreet.service.app import make_app
from discreet.service.http_client import HttpClient
from discreet.service.operations import ANSWER
from discreet.service.processes import Processes
from discreet.service.tokens import tokens_beside

from .test_connect import TEXT, spent, write_files
from .test_http_client import LATER, InTheProcess

FINAL = "this is paid: request='{}' gives the same error again, at no cost"
WORDS = "this question cannot be answered; the owner of the data can see why"


class Served:
    """A service whose data are read in one other process."""

    def __init__(self) -> None:
        often = TEXT.replace("[datasets.people]\n", "[datasets.people]\nmax_failures = 1000\n")
        Path("discreet.toml").write_text(often + '[server]\nturn = "0s"\n')
        path = Path("discreet.toml").absolute()
        self.processes = Processes(1, [str(path), file_digest(path)])
        app: Any = make_app(configuration(), ["testserver"], processes=self.processes)
        known = tokens_beside(path)
        self.ann, self.owner, self.auditor = (
            Connection(
                HttpClient(InTheProcess(app, known.create(role, analyst, LATER)[0])), "a service"
            )
            for role, analyst in (("analyst", "ann"), ("owner", None), ("auditor", None))
        )

    def kill(self) -> None:
        """Kill the process that reads the data as soon as it is asked."""
        process = self.processes._idle.get()
        process.await_ready()
        process._process.send_signal(signal.SIGSTOP)  # it takes the question, and goes no further
        threading.Timer(0.3, process._process.kill).start()
        self.processes._idle.put(process)

    def kill_idle(self) -> None:
        """Kill it now, and wait until it is gone."""
        process = self.processes._idle.get()
        process._process.kill()
        process._process.wait()
        self.processes._idle.put(process)

    def end(self) -> None:
        self.processes._idle.get().end()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(tmp_path_factory.mktemp("apart"))
        patched.delenv("DISCREET_CONFIG", raising=False)
        patched.setenv("PYTHONPATH", os.pathsep.join([str(Path(__file__).parents[2] / "src")]))
        write_files()
        made = Served()
        yield made
        made.end()


def test_answers_come_from_another_process(served: Served) -> None:
    first = served.ann.ask("typical-age", request="a")
    again = served.ann.ask("typical-age", request="a", max_cost="1/2")
    assert (first.value, first.charged, again.charged) == (again.value, True, False)
    by_age = served.ann.mode("people", "city", epsilon="1/8", by="age", groups=[30, 31])
    assert {*by_age.value} == {30, 31}
    assert served.ann.quote("typical-age").fits


@pytest.mark.proof
def test_what_is_refused_is_refused_alike(served: Served) -> None:
    before = spent(served.owner)
    with pytest.raises(UnknownName, match="there is no question 'wages'"):
        served.ann.ask("wages")
    with pytest.raises(InvalidArgument, match="more than max_cost"):
        served.ann.ask("typical-age", max_cost="1/4")
    with pytest.raises(InvalidArgument, match="up to ε"):
        served.ann.mode("people", "city", epsilon=1)
    with pytest.raises(RequestConflict):
        served.ann.ask("city", dataset="people", request="a")
    assert spent(served.owner) == before


def test_what_fails_because_of_the_data_is_one_error_for_analysts(served: Served) -> None:
    there = Path("SECRET-PLACE.csv").read_text()
    Path("SECRET-PLACE.csv").write_text("age\n1\n")
    with pytest.raises(Unanswerable, match=WORDS) as caught:
        served.ann.mode("people", "city", epsilon="1/8", request="f")
    with pytest.raises((MissingColumn, UnreadableData)) as owners:
        served.owner.mode("people", "city", epsilon="1/8", request="f")
    Path("SECRET-PLACE.csv").write_text(there)
    for told in (caught, owners):
        assert told.value.__notes__ == [FINAL.format("f")]
    for asker in (
        served.ann,
        served.owner,
    ):  # the data are repaired, and not read for this any more
        with pytest.raises(Unanswerable) as again:
            asker.mode("people", "city", epsilon="1/8", request="f")
        assert (again.value.__notes__, again.value.charged) == ([FINAL.format("f")], True)
    assert served.ann.mode("people", "city", epsilon="1/8", request="g").charged is True


def test_a_process_that_was_killed_is_one_error_and_is_charged(served: Served) -> None:
    before = spent(served.ann)["people / ann"]
    served.kill()
    with pytest.raises(Unanswerable) as caught:
        served.ann.ask("typical-age", request="killed")
    assert str(caught.value) == WORDS
    assert caught.value.__notes__ == [FINAL.format("killed")]
    paid = spent(served.ann)["people / ann"]
    assert paid is not None
    assert before is not None
    assert paid - before == 1 / 2
    with pytest.raises(Unanswerable, match=WORDS):
        served.ann.ask("typical-age", request="killed")
    assert spent(served.ann)["people / ann"] == paid


@pytest.mark.proof
def test_an_answer_that_was_stored_is_given_though_the_process_was_killed(served: Served) -> None:
    first = served.ann.ask("typical-age", request="stored")
    served.kill()
    again = served.ann.ask("typical-age", request="stored")
    assert (again.value, again.charged) == (first.value, False)


@pytest.mark.proof
def test_what_is_refused_is_not_charged_though_the_process_was_killed(served: Served) -> None:
    before = spent(served.owner)
    served.kill()
    with pytest.raises(InvalidArgument, match="more than max_cost"):
        served.ann.ask("typical-age", max_cost="1/4")
    assert spent(served.owner) == before
    assert served.owner.ask("typical-age").charged is True


@pytest.mark.proof
def test_a_process_that_is_killed_while_it_answers(served: Served) -> None:
    process = served.processes._idle.get()
    served.processes._idle.put(process)
    process._process.send_signal(signal.SIGSTOP)  # it takes the question, and goes no further
    killing = threading.Timer(0.2, process._process.kill)
    killing.start()
    with pytest.raises(Unanswerable, match=WORDS) as caught:
        served.ann.ask("typical-age", request="reading")
    killing.join()
    assert caught.value.__notes__ == [FINAL.format("reading")]
    with pytest.raises(Unanswerable, match=WORDS):
        served.ann.ask("typical-age", request="reading")


def test_a_process_that_ended_while_nobody_asked_is_replaced_unseen(served: Served) -> None:
    before = spent(served.owner)["people / ann"]
    served.kill_idle()
    assert served.processes.count_alive() == (0, 1)
    assert served.ann.ask("typical-age", request="idle").charged is True
    assert served.processes.count_alive() == (1, 1)
    paid = spent(served.owner)["people / ann"]
    assert paid is not None
    assert before is not None
    assert paid - before == 1 / 2


def test_where_no_process_can_be_started_nothing_is_charged_and_stored_answers_are_given(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = served.ann.ask("typical-age", request="before")
    before = spent(served.owner)
    monkeypatch.setattr(sys, "executable", "/bin/false")
    served.kill_idle()
    with pytest.raises(Unanswerable, match="no data can be read now") as caught:
        served.ann.ask("typical-age", request="none")
    assert (caught.value.charged, hasattr(caught.value, "__notes__")) == (False, False)
    again = served.ann.ask("typical-age", request="before")
    assert (again.value, again.charged) == (first.value, False)
    assert spent(served.owner) == before
    monkeypatch.undo()
    assert served.ann.ask("typical-age", request="none").charged is True


def test_stored_answers_are_given_while_too_many_wait(served: Served) -> None:
    first = served.ann.ask("typical-age", request="crowd")
    rooms = 0
    while served.processes._room.acquire(blocking=False):
        rooms += 1
    try:
        assert served.ann.ask("typical-age", request="crowd").value == first.value
        with pytest.raises(LedgerBusy, match="ask again"):
            served.ann.ask("typical-age", request="crowded")
    finally:
        for _ in range(rooms):
            served.processes._room.release()


@pytest.mark.proof
def test_the_owner_is_told_that_the_process_ended(served: Served) -> None:
    served.kill()
    with pytest.raises(Unanswerable, match="the process that read the data ended"):
        served.owner.ask("typical-age", request="owners")
    with pytest.raises(Unanswerable, match="failed before because of the data"):
        served.owner.ask("typical-age", request="owners")


@pytest.mark.proof
def test_too_many_who_wait_are_refused(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes_of, "_WAITING", 0)
    path = Path("discreet.toml").absolute()
    alone = Processes(1, [str(path), file_digest(path)])
    assert alone._room.acquire(blocking=False)  # somebody asks
    with pytest.raises(LedgerBusy, match="too many questions"):
        alone.ask({})
    alone._room.release()
    assert alone.ask({}) == {}
    alone._idle.get().end()


@pytest.mark.proof
def test_a_description_that_was_changed_is_not_served(served: Served) -> None:
    path = Path("discreet.toml").absolute()
    text = path.read_text()
    path.write_text(text.replace('epsilon = "1/2"', 'epsilon = "1/4"'))
    before = spent(served.owner)
    served.kill()
    with pytest.raises(Unanswerable):  # and another takes its place
        served.ann.ask("typical-age", request="edited")
    with pytest.raises(LedgerUnwritable, match="description was changed"):
        served.ann.ask("typical-age", request="another")
    with pytest.raises(Unanswerable, match=WORDS):
        served.ann.ask("typical-age", request="edited")
    path.write_text(text)
    assert served.ann.ask("typical-age", request="another").charged is True
    assert spent(served.owner) != before


def question() -> dict[str, Any]:
    """Return what a process is asked."""
    plain = ANSWER.write(ANSWER.check({"question": "typical-age", "request": "put-back"}))
    token = tokens_beside(Path("discreet.toml")).valid()[0].id
    asker = {"role": "owner", "analyst": None, "token": token, "beginning": None}
    return {"operation": ANSWER.name, "arguments": plain, **asker}


def test_a_description_that_is_put_back_is_served_by_processes_that_were_started_meanwhile(
    served: Served,
) -> None:
    path = Path("discreet.toml").absolute()
    text, digest = path.read_text(), file_digest(path)
    path.write_text(f"{text}\n# edited")
    alone = Processes(1, [str(path), digest])
    refused = alone.ask(question())
    path.write_text(text)
    answered = alone.ask(question())
    alone._idle.get().end()
    assert "was changed" in refused["failure"]["message"]
    assert answered["release"]["charged"]


def test_a_process_whose_asker_was_killed_ends_in_silence(served: Served) -> None:
    ours, theirs = socket.socketpair()
    path = Path("discreet.toml").absolute()
    told = [str(theirs.fileno()), str(path), file_digest(path)]
    with ours, theirs:
        reading = subprocess.Popen(
            [sys.executable, "-m", "discreet.service.answering", *told],
            pass_fds=[theirs.fileno()], stderr=subprocess.PIPE,
        )  # fmt: skip
        theirs.close()
        ours.sendall(json.dumps(question()).encode() + b"\n")
    assert (reading.communicate(timeout=60)[1], reading.returncode) == (b"", 0)


def test_the_first_question_imports_no_package(tmp_path: Path) -> None:
    """Else it would take many times as long as others, and miss its slot."""
    code = (
        "import sys; from pathlib import Path; from discreet.service.answering import warm_up; warm_up();"
        "Path('a.csv').write_text('x\\n1\\n'); before = {*sys.modules}; import discreet;"
        "discreet.median('a.csv', 'x', candidates=discreet.Grid(0, 9), epsilon=1);"
        "new = {name.partition('.')[0] for name in {*sys.modules} - before};"
        "sys.exit(str(new & {'duckdb', 'narwhals', 'numpy', 'flint', 'sqlalchemy'} or ''))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, stderr=subprocess.PIPE, check=False
    )
    assert not done.stderr.strip()
