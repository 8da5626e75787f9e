"""How the tests are divided among processes, in which order, and what ends the run when one of them dies."""

import os
from collections import Counter
from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling

LONGEST = (
    "spark",
    "tests/test_docs_run.py",
    "tests/service/test_timed_worlds.py",
    "tests/service/test_storm.py",
    "tests/tables/values/test_numeric.py",
    "tests/test_verb_places.py",
    "tests/service/test_workers.py",
    "tests/service/queue/test_dispatcher_process.py",
    "tests/service/test_fault_injection.py",
    "tests/ledger/test_crashes.py",
    "tests/service/test_two_worlds.py",
    "tests/service/asking/test_isolation.py",
    "tests/tables/verbs/test_profile.py",
    "tests/base/test_float_environment.py",
)
"""What takes longest, though it may be few tests: begun first, so that the end waits for none of them."""


def group_of(nodeid: str) -> str:
    """Return the group of a test, all of which go to one process: its file, or "spark"."""
    path, _, name = nodeid.partition("::")
    return "spark" if "spark" in name else path


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Sort the tests that several processes share by their groups: the longest ones, then those of many tests."""
    if not hasattr(config, "workerinput"):  # of pytest-xdist
        return
    sizes = Counter(group_of(item.nodeid) for item in items)
    places = {name: place - len(LONGEST) for place, name in enumerate(LONGEST)}
    groups = {name: (places.get(name, 0), -size) for name, size in sizes.items()}
    items.sort(key=lambda item: groups[group_of(item.nodeid)])


class FilesAndSpark(LoadScopeScheduling):
    """Tests of a file go to one process, for what they share is made once, and those of Spark to one too.

    Java takes seconds to start, and a gigabyte.
    """

    def _split_scope(self, nodeid: str) -> str:
        return group_of(nodeid)


def pytest_configure(config: pytest.Config) -> None:
    """Let no other process take the place of one that died: it would wait for ever for tests that had passed."""
    config.option.maxworkerrestart = "0"


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object | None) -> None:
    """End the run when a process dies: with what it said, and with a code that is not zero."""
    session = node.config.pluginmanager.get_plugin("dsession")
    if error and not session.shouldstop:
        session.shouldstop = f"the process {node.gateway.id} of the tests died: {error}"


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
