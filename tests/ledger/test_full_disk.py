"""The disk is full at every call that needs space, once or from then on, and has space again afterwards.

A preloaded library, `disk_full.c`, fails the calls of one process in turn, at once or after half of the bytes. What
is asked again then is answered, costs nothing if it was paid, and the ledger verifies. Each error says whether it
was paid, and so does the file.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent

PROGRAM = '''
import ctypes, json, os, shutil, sys
from fractions import Fraction
from pathlib import Path
from discreet import Ledger
from discreet.errors import LedgerUnwritable
from discreet.ledger import schema
from tests.ledgers import bill, forgetting

disk, folder = ctypes.CDLL(os.environ["LD_PRELOAD"]), Path(sys.argv[1])
disk.fill_disk.argtypes = [ctypes.c_char_p, ctypes.c_long, ctypes.c_long, ctypes.c_int]
disk.calls_made.restype = ctypes.c_long
path, END = folder / "budget.db", 1 << 40
answers = iter(range(10**9))
given = {}

def buy(ledger, request):
    [answer] = ledger.session("adult").buy(bill("1/100", request), lambda: lambda: [next(answers)])
    assert given.setdefault(request, answer) == answer, "one request has two answers"

def opened(_=None):
    ledger = Ledger(path)
    ledger.open("adult", epsilon=1)
    return ledger

def with_one():
    ledger = opened()
    buy(ledger, "before")
    return ledger

def add_notes(connection):
    connection.exec_driver_sql("CREATE TABLE discreet_notes (text TEXT)")

def of_schema_1():
    del schema.MIGRATIONS[1:]
    with_one()
    schema.MIGRATIONS.append(add_notes)

def migrated(_):
    Ledger(path).budgets()

def bought(ledger):
    buy(ledger, "full")

def is_charged(request):
    """Look into a copy, as another process would: the files stay as they are."""
    copy = folder.with_name("copy")
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(folder, copy)
    forgetting()
    return any((e.kind, e.request) == ("charged", request) for e in Ledger(copy / path.name).history())

def check(work):
    forgetting()
    ledger = Ledger(path)
    ledger.verify()
    if work is migrated:
        return
    history = ledger.history()
    charged = [e.request for e in history if e.kind == "charged"]
    stored = {e.request: int(e.body["answer"][0]) for e in history if e.kind == "answered"}
    assert len(charged) == len(set(charged)), "one request is charged twice"
    assert stored == given, "an answer is given that is not stored, or stored for nobody"
    assert ledger.budgets()[0].spent.epsilon == Fraction(len(charged), 100)

def once(prepare, work, first, end, half):
    """Return whether there was no such call."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    given.clear()
    forgetting()
    ledger = prepare()
    disk.fill_disk(bytes(folder), first, end, half)
    for _ in range(2):  # a disk that stays full is asked of once more
        try:
            work(ledger)
        except LedgerUnwritable as error:
            assert "is the disk full" in str(error) or "No space left" in str(error), str(error)
            if end == first + 1 and work is bought and error.charged is not None:
                assert error.charged is is_charged("full"), "the error is wrong about the charge"
    is_past = disk.calls_made() <= first
    disk.fill_disk(bytes(folder), -1, -1, 0)
    work(ledger)
    check(work)
    return is_past

for prepare, work in ((lambda: None, opened), (with_one, bought), (of_schema_1, migrated)):
    tried = 0
    for end in (1, END):
        for half in (0, 1):
            first = 0
            while not once(prepare, work, first, first + end, half):
                first += 1
            tried += first
    print(work.__name__, tried)
'''


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library, compiled."""
    compiler, path = shutil.which("cc"), tmp_path_factory.mktemp("disk") / "disk_full.so"
    if compiler is None or not sys.platform.startswith("linux"):
        pytest.skip("no C compiler, or no /proc")
    command = [
        compiler,
        "-shared",
        "-fPIC",
        "-O1",
        "-o",
        str(path),
        str(HERE / "disk_full.c"),
        "-ldl",
    ]
    subprocess.run(command, check=True)
    return path


@pytest.mark.proof
def test_the_disk_is_full_at_every_call_that_needs_space(tmp_path: Path, library: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path / "disk")],
        cwd=HERE.parents[1],
        env={**os.environ, "LD_PRELOAD": str(library)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    tried = dict(line.split() for line in done.stdout.splitlines())
    assert {name: int(count) > 20 for name, count in tried.items()} == {
        "opened": True, "bought": True, "migrated": True
    }  # fmt: skip
