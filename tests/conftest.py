"""What several test modules share."""

import gc
import os
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import settings
from xdist.scheduler import LoadScopeScheduling

from . import postgres

settings.register_profile(
    "quick", deadline=None, derandomize=True, print_blob=True, max_examples=10
)
settings.register_profile("thorough", settings.get_profile("quick"), max_examples=200)
settings.load_profile("quick")


LONGEST = (
    "spark",
    "tests/test_docs_run.py",
    "tests/service/test_timed_worlds.py",
    "tests/service/test_storm.py",
    "tests/tables/test_times.py",
    "tests/test_verb_places.py",
    "tests/service/test_workers.py",
    "tests/service/test_dispatcher_process.py",
    "tests/service/test_fault_injection.py",
    "tests/ledger/test_crashes.py",
    "tests/service/test_two_worlds.py",
    "tests/node/test_isolation.py",
    "tests/verbs/test_profile.py",
    "tests/test_float_environment.py",
)
"""What takes longest, though it may be few tests: begun first, so that nobody is waited for at the end."""


def group_of(nodeid: str) -> str:
    """Return the group of a test, all of which go to one process: its file, or "spark"."""
    path, _, name = nodeid.partition("::")
    return "spark" if "spark" in name else path


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Make proofs of all parameters but those of every run: one in `n` of a test marked `one_in(n)`.

    Of a test marked `proof_in(name, …)`, those with such a name in theirs are proofs: it is too slow there.

    In Spark, whose jobs take a second each, it is the first of each file.
    """
    seen: Counter[tuple[str, bool]] = Counter()
    for item in items:
        in_spark = "spark" in item.name
        if item.get_closest_marker("proof") is not None:
            continue
        slow = item.get_closest_marker("proof_in")
        if slow is not None and any(name in item.name for name in slow.args):
            item.add_marker(pytest.mark.proof)
            continue
        marker = item.get_closest_marker("one_in")
        many = len(items) if in_spark else 1 if marker is None else marker.args[0]
        test = item.nodeid.partition("::" if in_spark else "[")[0], in_spark
        if seen[test] % many:
            item.add_marker(pytest.mark.proof)
        seen[test] += 1
    if hasattr(config, "workerinput"):  # of pytest-xdist
        runs = [item for item in items if item.get_closest_marker("proof") is None]
        sizes = Counter(group_of(item.nodeid) for item in runs)
        places = {name: place - len(LONGEST) for place, name in enumerate(LONGEST)}
        groups = {name: (places.get(name, 0), -size) for name, size in sizes.items()}
        items.sort(key=lambda item: groups.get(group_of(item.nodeid), (1, 0)))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Look for no garbage meanwhile, nor later among what is imported and collected: all of it stays to the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


class FilesAndSpark(LoadScopeScheduling):
    """Tests of a file go to one process, for what they share is made once, and those of Spark to one too.

    Java takes seconds to start, and a gigabyte.
    """

    def _split_scope(self, nodeid: str) -> str:
        return group_of(nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> FilesAndSpark | None:
    """Return how tests are divided among processes: pytest-xdist 3.8 does not see groups under pytest 9.2."""
    if config.getvalue("dist") not in {"loadscope", "loadgroup"}:
        return None
    config.option.loadscopereorder = False  # they are in order already
    return FilesAndSpark(config, log)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Return how many processes run the tests: one more than cores, as some wait, for a lock or a process."""
    return (os.cpu_count() or 1) + 1


@pytest.fixture(autouse=True, scope="session")
def commands_in_english() -> Iterator[None]:
    """Let commands answer in English, whatever the locale of who runs the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LANGUAGE", "en")
        yield


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
