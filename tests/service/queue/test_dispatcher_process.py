"""Data are read in other processes: one that is killed takes one answer with it, charged and not drawn again."""

import asyncio
import fcntl
import os
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="the extra server is not installed")
pytest.importorskip("httpx", reason="the extra server is not installed")

import discreet
from discreet import Connection
from discreet.errors import (
    InvalidArgument,
    LedgerUnwritable,
    MissingColumn,
    RequestConflict,
    Unanswerable,
    UnknownName,
    UnreadableData,
)
from discreet.ledger.delays import READINGS
from discreet.ledger.toml_budgets import configuration
from discreet.service.asking.tokens import tokens_beside
from discreet.service.http.app import make_app
from discreet.service.http.http_client import HttpClient
from discreet.service.queue.dispatcher_client import DispatcherClient
from discreet.service.queue.dispatcher_process import DispatcherProcess, WorkerLink

from ..answer_times import answering
from ..asking.test_connect import TEXT, spent, write_files
from ..http.test_http_client import LATER, InTheProcess
from ..killing import endless, kill_readers, killed_while_reading, readers_of, wait_for
from ..running import below

FINAL = "this is paid: request='{}' gives the same error again, at no cost"
WORDS = "this question cannot be answered. The owner of the data can see why"
DATA = Path("SECRET-PLACE.csv")
PATIENCE = 60.0


class Served:
    """A service whose data are read in other processes.

    Args:
        turn: the turn that it declares.
    """

    def __init__(self, turn: str = "0s") -> None:
        # Endless data take three times as long on a fast machine.
        often = TEXT.replace("max_failures = 1", 'max_failures = 1000\nlongest = "500ms"')
        Path("discreet.toml").write_text(answering(often, turn))
        self.process = DispatcherProcess(configuration(), 1)
        self.client = DispatcherClient(self.process.path)
        app: Any = make_app(configuration(), ["testserver"], dispatcher=self.client)
        known = tokens_beside(Path("discreet.toml"))
        self.ann, self.owner = (
            Connection(
                HttpClient(InTheProcess(app, known.create(role, analyst, LATER)[0])), "a service"
            )
            for role, analyst in (("analyst", "ann"), ("owner", None))
        )

    def readers(self) -> list[int]:
        """Return the readers, those that are free too."""
        return readers_of(self.process.process)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(tmp_path_factory.mktemp("apart"))
        patched.delenv("DISCREET_CONFIG", raising=False)
        patched.setenv("PYTHONPATH", os.pathsep.join([str(Path(__file__).parents[3] / "src")]))
        write_files()
        made = Served()
        yield made
        made.process.end()


def test_answers_come_from_another_process(served: Served) -> None:
    first = served.ann.ask("typical-age", request="a")
    again = served.ann.ask("typical-age", request="a", max_cost="1/2")
    assert (first.value, first.charged, again.charged) == (again.value, True, False)
    by_age = served.ann.mode("people", "city", epsilon="1/8", by="age", groups=[30, 31])
    assert {*by_age.value} == {30, 31}
    assert served.ann.quote("typical-age").fits
    assert served.client.count_alive() == (1, 1)


@pytest.mark.proof
def test_what_is_refused_is_refused_alike_and_reaches_no_reader(served: Served) -> None:
    before = spent(served.owner)
    with pytest.raises(UnknownName, match=r"there is no question 'wages'. There are"):
        served.ann.ask("wages")
    with pytest.raises(UnknownName, match=r"'typical-ag' \(did you mean 'typical-age'\?\)"):
        served.ann.ask("typical-ag")
    with pytest.raises(InvalidArgument, match="more than max_cost"):
        served.ann.ask("typical-age", max_cost="1/4")
    with pytest.raises(InvalidArgument, match="up to ε"):
        served.ann.mode("people", "city", epsilon=1)
    with pytest.raises(RequestConflict):
        served.ann.ask("city", dataset="people", request="a")
    assert spent(served.owner) == before


def test_what_fails_because_of_the_data_is_one_error_for_analysts(served: Served) -> None:
    text = DATA.read_text()
    DATA.write_text("age\n1\n")
    with pytest.raises(Unanswerable, match=WORDS) as caught:
        served.ann.mode("people", "city", epsilon="1/8", request="f")
    with pytest.raises((MissingColumn, UnreadableData)) as owners:
        served.owner.mode("people", "city", epsilon="1/8", request="f")
    DATA.write_text(text)
    for error in (caught, owners):
        assert (error.value.__notes__, error.value.charged) == ([FINAL.format("f")], True)
    for asker in (
        served.ann,
        served.owner,
    ):  # the data are repaired, and not read for this any more
        with pytest.raises(Unanswerable) as again:
            asker.mode("people", "city", epsilon="1/8", request="f")
        assert (again.value.__notes__, again.value.charged) == ([FINAL.format("f")], True)
    assert served.ann.mode("people", "city", epsilon="1/8", request="g").charged is True


def test_a_question_whose_reader_is_killed_is_given_up_and_asked_again(served: Served) -> None:
    before = spent(served.ann)["people / ann"]

    killed = killed_while_reading(served.process.process, DATA, Path("budget.db"), "killed")
    with killed, pytest.raises(Unanswerable, match="this question was given up") as caught:
        served.ann.ask("typical-age", request="killed")
    again = "this is paid: retry with request='killed' at no cost"
    assert (caught.value.__notes__, caught.value.charged) == ([again], True)
    assert served.ann.ask("typical-age", request="killed").charged is False
    paid = spent(served.ann)["people / ann"]
    assert paid is not None
    assert before is not None
    assert paid - before == 1 / 2
    kinds = [event.kind for event in discreet.Ledger("budget.db").history()]
    assert (kinds.count("given_up"), kinds.count("second_reading")) == (1, 1)
    assert served.owner.ask("typical-age", request="after").charged is True


def failure_of(analyst: Connection, question: str, request: str) -> Unanswerable:
    """Return the error of a question that computes for too long, asked again where a busy machine gave it up."""
    for _ in READINGS:
        with pytest.raises(Unanswerable) as caught:
            analyst.ask(question, dataset="people", request=request)
        if "given up" not in str(caught.value):
            break
    assert WORDS in str(caught.value)
    return caught.value


def test_a_question_that_computes_for_too_long_fails(served: Served) -> None:
    """By its own processor time: it is counted, and the same request gives the same error."""
    with endless(DATA):
        error = failure_of(served.ann, "city", "long")
    assert (error.__notes__, error.charged) == ([FINAL.format("long")], True)
    with pytest.raises(Unanswerable, match=WORDS):
        served.ann.ask("city", dataset="people", request="long")
    failed = [event for event in discreet.Ledger("budget.db").history() if event.kind == "failed"]
    assert failed[-1].body["reason"] == "processor time or memory"


def test_readers_that_end_while_nobody_asks_are_replaced_unseen(served: Served) -> None:
    before = served.readers()
    kill_readers(served.process.process)
    assert served.owner.ask("typical-age", request="idle").charged is True

    def are_replaced() -> bool:
        readers = served.readers()  # one, and a spare; those that were killed until they are reaped
        return len(readers) == 2 and not {*before} & {*readers}

    wait_for(are_replaced)


@contextmanager
def stopped_readers(served: Served) -> Iterator[None]:
    """Stop all readers, when none of them holds the ledger: one that is being started reads it, too."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        readers = served.readers()
        send(signal.SIGSTOP, readers)
        try:
            if not is_held(Path("budget.db-lock")):
                yield
                return
        finally:
            send(signal.SIGCONT, readers)
        time.sleep(0.05)
    raise RuntimeError("some reader holds the ledger all the time")


def send(number: int, processes: list[int]) -> None:
    for pid in processes:
        os.kill(pid, number)


def is_held(lock: Path) -> bool:
    """Return whether some process has locked a file."""
    with lock.open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def test_a_stored_answer_needs_no_reader(served: Served) -> None:
    first = served.owner.ask("typical-age", request="stored")
    with stopped_readers(served):
        again = served.owner.ask("typical-age", request="stored")
        with pytest.raises(InvalidArgument, match="more than max_cost"):
            served.owner.ask("typical-age", max_cost="1/4")
    assert (again.value, again.charged) == (first.value, False)


def test_a_dispatcher_that_is_killed_is_replaced_and_nothing_is_lost(served: Served) -> None:
    first = served.owner.ask("typical-age", request="dispatcher")
    process = served.process.process
    os.kill(process, signal.SIGKILL)
    assert served.owner.ask("typical-age", request="dispatcher").value == first.value
    wait_for(lambda: served.process.process != process)
    assert served.owner.ask("typical-age", request="dispatcher 2").charged is True


@pytest.mark.proof
def test_a_description_that_was_changed_is_not_served(served: Served) -> None:
    path = Path("discreet.toml").absolute()
    text = path.read_text()
    path.write_text(text.replace('epsilon = "1/2"', 'epsilon = "1/4"'))
    before = spent(served.owner)
    kill_readers(served.process.process)
    with pytest.raises(LedgerUnwritable, match="description was changed"):
        served.owner.ask("typical-age", request="edited")
    path.write_text(text)
    assert spent(served.owner) == before
    assert served.owner.ask("typical-age", request="edited").charged is True


def test_the_socket_is_in_a_folder_that_nobody_else_can_enter(served: Served) -> None:
    folder = Path(served.process.path).parent
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_question_that_outlasts_its_place_is_ended_and_charged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The dispatcher ends the reader; the next question has a spare."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DISCREET_CONFIG", raising=False)
    write_files()
    served = Served("500ms")
    with endless(DATA):
        assert failure_of(served.ann, "typical-age", "endless").charged is True
    assert served.owner.ask("typical-age", request="after").charged is True
    process, folder = served.process.process, Path(served.process.path).parent
    readers = served.readers()
    served.process.end()
    assert not folder.exists()
    wait_for(lambda: not any(Path(f"/proc/{pid}").exists() for pid in (process, *readers)))


def test_a_dispatcher_that_is_stopped_while_readers_start_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They ignore the signal by which multiprocessing ends them, so that it would wait for ever."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DISCREET_CONFIG", raising=False)
    write_files()
    Served("0s").process.end()
    process = DispatcherProcess(configuration(), 3)
    pids = [process.process, *below(process.process)]
    process.end()
    wait_for(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids))


def test_the_end_of_the_dispatcher_logs_no_traceback_of_its_links() -> None:
    """Its event loop cancels what serves a worker, which asyncio of Python 3.11 calls an error."""
    nobody: Any = None

    async def served() -> list[str]:
        said: list[str] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, of: said.append(of["message"]))
        ours, theirs = socket.socketpair()
        links: list[asyncio.Task[None]] = []

        async def serve(lines: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            links.append(asyncio.current_task())  # type: ignore[arg-type]
            await WorkerLink(nobody, lines, writer).serve()

        with ours:
            protocol = asyncio.StreamReaderProtocol(asyncio.StreamReader(), serve)
            await asyncio.get_running_loop().connect_accepted_socket(lambda: protocol, theirs)
            await asyncio.sleep(0.01)
            links[0].cancel()
            await asyncio.sleep(0.01)
        return said

    assert asyncio.run(served()) == []


def test_the_first_question_imports_no_package(tmp_path: Path) -> None:
    """Else it would take many times as long as others, and miss its place."""
    code = (
        "import sys; from pathlib import Path; from discreet.service.queue.reader import warm_up; warm_up();"
        "Path('a.csv').write_text('x\\n1\\n'); before = {*sys.modules}; import discreet;"
        "discreet.median('a.csv', 'x', candidates=discreet.Grid(0, 9), epsilon=1);"
        "new = {name.partition('.')[0] for name in {*sys.modules} - before};"
        "sys.exit(str(new & {'duckdb', 'narwhals', 'numpy', 'flint', 'sqlalchemy'} or ''))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, stderr=subprocess.PIPE, check=False, timeout=120
    )
    assert not done.stderr.strip()
