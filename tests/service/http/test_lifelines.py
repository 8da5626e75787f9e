"""Processes live and die together: none is left, the port is free, and a service that starts again answers."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest

pytest.importorskip("starlette", reason="the extra server is not installed")
httpx = pytest.importorskip("httpx", reason="the extra server is not installed")

from discreet.service.asking.tokens import tokens_beside
from discreet.service.http.lifelines import StoppedError, command, end_with, stopping

from ..answer_times import answering
from ..asking.test_connect import TEXT, write_files
from ..running import Running, below
from .test_http_client import LATER

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="it looks at /proc")
MARKS = {
    "dispatcher": "discreet.service.queue.dispatcher_process", "worker": "multiprocessing.spawn",
    "template": "multiprocessing.forkserver", "tracker": "multiprocessing.resource_tracker",
}  # fmt: skip
KINDS = ("supervisor", "worker", "dispatcher", "template", "reader", "tracker")
PATIENCE = 120.0


def wait_until(holds: Callable[[], object], seconds: float = PATIENCE) -> bool:
    until = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True


def of_session(session: int) -> list[int]:
    """Return the processes of a session that have not ended, whoever their parents are by now."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, _, sid = stat.read_text().rpartition(")")[2].split()[:4]
        except OSError:
            continue
        if int(sid) == session and state != "Z":
            found.append(int(stat.parent.name))
    return found


def has_ended(session: int) -> bool:
    """Return whether no process of a session is left."""
    return not of_session(session)


def of_kind(root: int, kind: str) -> list[int]:
    """Return the processes of a kind of a service that was started as a process."""
    if kind == "supervisor":
        return [root]
    found = {pid: command_of(pid) for pid in below(root)}
    if kind == "reader":
        templates = of_kind(root, "template")
        return [pid for one in templates for pid in below(one)]
    named = [pid for pid, text in found.items() if MARKS[kind] in text]
    of_template = {pid for one in named for pid in below(one)} if kind == "template" else set()
    return [pid for pid in named if pid not in of_template]


def command_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode("utf-8", "replace")
    except OSError:
        return ""


def is_free(port: int) -> bool:
    with socket.socket() as found:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            found.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


class Killed:
    """A service of two workers, which is started again and again, and whose processes are killed."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.running = Running(folder, "--workers", "2", "--readers", "1")
        token, _ = tokens_beside(folder / "discreet.toml").create("analyst", "ann", LATER)
        self.headers = {"Authorization": f"Bearer {token}"}
        self.random, self.asked = Random(seed), 0

    def answers(self) -> bool:
        """Return whether a question is answered."""
        self.asked += 1
        headers = {**self.headers, "Idempotency-Key": f"{self.asked}"}
        try:
            reply = httpx.post(
                f"{self.running.url}/v1/answers", json={"question": "typical-age"},
                headers=headers, timeout=60,
            )  # fmt: skip
        except httpx.HTTPError:
            return False
        return bool(reply.status_code == 200)

    def close(self) -> None:
        """Leave nothing running, also where the test has failed."""
        if self.running.runs:
            self.running.kill()

    def round(self, kind: str) -> None:
        """Start the service, kill one of a kind at some time, and then the supervisor; look what is left."""
        running, random = self.running.start(), self.random
        root = running.process
        time.sleep(random.uniform(0, 6))
        first = of_kind(root, kind)
        if kind != "supervisor" and first:
            os.kill(random.choice(first), signal.SIGKILL)
            came_back = wait_until(
                lambda: not running.runs or (running.answers() and self.answers())
            )
            assert came_back, (kind, running.log.read_text()[-3000:])
            time.sleep(random.uniform(0, 1))
        if running.runs:
            os.kill(root, random.choice((signal.SIGKILL, signal.SIGTERM)))
        assert wait_until(lambda: not running.runs)
        assert wait_until(partial(has_ended, root)), [command_of(p) for p in of_session(root)]
        assert is_free(running.port)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[3] / "src"))
    monkeypatch.delenv(
        "PYTHONDONTWRITEBYTECODE", raising=False
    )  # else every start compiles all modules
    write_files()
    often = TEXT.replace("max_failures = 1", "max_failures = 1000")
    Path("discreet.toml").write_text(answering(often))
    return tmp_path


@LINUX
@pytest.mark.process
@pytest.mark.parametrize(
    "seed", [1, *(pytest.param(seed, marks=pytest.mark.proof) for seed in range(2, 36))]
)
def test_a_kill_of_any_process_at_any_time_leaves_nothing(folder: Path, seed: int) -> None:
    """Six kinds, at random times of the start and of the service: 6 kills, and 204 in the proofs."""
    killed = Killed(folder, seed)
    with contextlib.closing(killed):
        for kind in KINDS:
            killed.round(kind)
        running = killed.running.start()
        assert wait_until(running.answers), running.log.read_text()[-3000:]
        assert killed.answers()
        root = running.process
        running.stop()
        assert wait_until(partial(has_ended, root))
        assert "Traceback" not in running.log.read_text()


@LINUX
@pytest.mark.process
def test_a_service_of_the_tests_ends_with_the_program_that_started_it(folder: Path) -> None:
    """However that ends: by `timeout`, or killed."""
    code = (
        "from pathlib import Path; from tests.service.running import Running; import time\n"
        f"print(Running(Path({str(folder)!r}), '--readers', '1').start().wait().process, flush=True)\n"
        "time.sleep(600)"
    )
    for stop in (signal.SIGTERM, signal.SIGKILL):
        with subprocess.Popen(
            [sys.executable, "-c", code], cwd=Path(__file__).parents[3], stdout=subprocess.PIPE
        ) as program:
            assert program.stdout is not None
            session = int(program.stdout.readline())
            program.send_signal(stop)
        assert wait_until(partial(has_ended, session)), command_of(session)


@LINUX
def test_the_address_is_printed_when_it_answers(folder: Path) -> None:
    running = Running(folder).start()
    assert wait_until(lambda: not running.runs or "answering about" in running.log.read_text())
    assert running.answers(), running.log.read_text()
    running.stop()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        refused = Running(folder, port=port).start()
        assert wait_until(lambda: not refused.runs)
    said = refused.log.read_text().rpartition("stop with Ctrl-C")[2]
    assert "nobody can listen" in said
    assert "answering" not in said


@LINUX
def test_a_process_whose_parent_has_ended_does_not_begin(tmp_path: Path) -> None:
    """It ends before the module is imported."""
    (tmp_path / "late.py").write_text("print('imported', flush=True); import time; time.sleep(60)")
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}"}
    for parent, said in ((os.getpid(), b"imported\n"), (1, b"")):
        words = command("late")
        words[3] = str(parent)
        with subprocess.Popen(words, stdout=subprocess.PIPE, env=environment) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == said
            process.kill()


def test_elsewhere_a_thread_looks_who_the_parent_is(monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[int] = []
    parents: Iterator[int] = iter([7, 7, 7, 1])
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr("discreet.service.http.lifelines._BETWEEN_LOOKS", 0.01)
    monkeypatch.setattr(os, "getppid", lambda: next(parents))
    monkeypatch.setattr(os, "_exit", ended.append)
    end_with(7)
    assert wait_until(lambda: ended == [1], 5)


def test_a_signal_ends_what_was_begun_and_then_the_process(tmp_path: Path) -> None:
    code = (
        "import time; from discreet.service.http.lifelines import stopping\n"
        "with stopping():\n    try:\n        print('begun', flush=True); time.sleep(60)\n"
        "    finally:\n        print('ended', flush=True)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"begun\n"
        process.send_signal(signal.SIGTERM)
        assert process.stdout.read() == b"ended\n"
    assert process.returncode == -signal.SIGTERM


def test_another_error_is_raised_and_the_handler_is_as_before() -> None:
    before: Any = signal.getsignal(signal.SIGTERM)
    with pytest.raises(KeyError), stopping():
        raise KeyError
    with stopping():
        assert signal.getsignal(signal.SIGTERM) is not before
    assert signal.getsignal(signal.SIGTERM) is before
    assert not issubclass(StoppedError, Exception)
