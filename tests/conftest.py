"""What several test modules share."""

import threading
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from hypothesis import settings

from . import postgres

settings.register_profile(
    "quick", deadline=None, derandomize=True, print_blob=True, max_examples=20
)
settings.register_profile("thorough", settings.get_profile("quick"), max_examples=200)
settings.load_profile("quick")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give all tests of Spark to one process: Java takes seconds to start, and a gigabyte."""
    for item in items:
        if "spark" in item.name:
            item.add_marker(pytest.mark.xdist_group("spark"))


@pytest.fixture(autouse=True, scope="session")
def coverage_in_threads() -> Iterator[None]:
    """Let coverage see transactions: their threads are the interpreter's own, which it does not follow."""
    with pytest.MonkeyPatch.context() as patch:
        if threading.gettrace() is not None:
            start = "discreet.ledger.uninterrupted.start_new_thread"
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
