"""What several test modules share."""

import gc
import signal
import sys
import threading
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from uuid import uuid4

import pytest
from hypothesis import settings

from . import postgres

pytest_plugins = ["tests.budgets", "tests.core"]
if find_spec("xdist") is not None:  # `make core` does without
    pytest_plugins.append("tests.scheduling")

settings.register_profile(
    "quick", deadline=None, derandomize=True, print_blob=True, max_examples=10
)
settings.register_profile("thorough", settings.get_profile("quick"), max_examples=200)
settings.load_profile("quick")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Look for no garbage meanwhile, nor later among what is imported and collected: all of it stays to the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_configure() -> None:
    """Handle Ctrl-C as a program in the foreground does.

    A shell lets what it starts in the background ignore it, and so does nohup. Tests of that set it themselves.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)


def _state() -> dict[str, object]:
    """Return what a test must leave as it was."""
    ours = (signal.SIGINT, signal.SIGTERM, signal.SIGALRM, signal.SIGHUP)
    return {
        "the error that is handled": sys.exc_info()[1],
        "the trace function": sys.gettrace(),
        **{one.name: signal.getsignal(one) for one in ours},
    }


@pytest.fixture(autouse=True)
def nothing_left_behind() -> Iterator[None]:
    """Check that a test leaves no state of its process to those after it."""
    before = _state()
    yield
    after = _state()
    assert after == before, "this test has changed what the next ones find"


@pytest.fixture(autouse=True, scope="session")
def commands_in_english() -> Iterator[None]:
    """Let commands answer in English, whatever the locale of who runs the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LANGUAGE", "en")
        yield


@pytest.fixture(autouse=True)
def fresh_tally(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep a tally of the test alone: in a folder that is made when it is written."""
    folder = tmp_path_factory.getbasetemp() / "state" / uuid4().hex
    monkeypatch.setenv("XDG_STATE_HOME", str(folder))


@pytest.fixture(autouse=True, scope="session")
def coverage_in_threads() -> Iterator[None]:
    """Let coverage see transactions and draws, whose threads are the interpreter's own: it does not follow them."""
    with pytest.MonkeyPatch.context() as patch:
        if threading.gettrace() is not None:
            for module in ("discreet.ledger.interrupts", "discreet.sampling.shared_work"):
                start = f"{module}.start_new_thread"
                patch.setattr(start, lambda run, _: threading.Thread(target=run).start())
        yield


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut vectors into blocks of two, so that two-level draws can be enumerated."""
    monkeypatch.setattr("discreet.sampling.categorical.FLAT", 2)
    monkeypatch.setattr("discreet.sampling.categorical.BLOCK", 2)


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    """The URL of a PostgreSQL server of our own."""
    with postgres.server() as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a fresh ledger may be kept by several processes."""
    if request.param == "sqlite":
        return str(tmp_path / "budget.db")
    return postgres.schema(request.getfixturevalue("postgresql"), f"t{uuid4().hex}")
