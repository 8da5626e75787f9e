"""Which parts of a service can be used: one word for strangers, all of them for the owner."""

import socket
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

pytest.importorskip("starlette", reason="the extra server is not installed")
pytest.importorskip("httpx", reason="the extra server is not installed")

from discreet.ledger.toml_budgets import configuration
from discreet.service.asking.datasets import hold
from discreet.service.http.health import Health
from discreet.service.http.metrics import RequestCounts
from discreet.service.queue.dispatcher_client import DispatcherClient

from ..asking.test_connect import write_files
from ..fault_injection import Harm, emptied, locked, removed, short_patience, writable

PARTS = {"ledger", "disk", "description", "tokens", "sessions", "counts", "dispatcher", "readers"}


class Readers:
    """A dispatcher none of whose readers is there."""

    def count_alive(self) -> tuple[int, int]:
        return 0, 2


@pytest.fixture
def health(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Health]:
    monkeypatch.chdir(tmp_path)
    with short_patience():
        write_files()
        declared = configuration()
        counts = RequestCounts(tmp_path / "discreet.counts")
        yield Health(declared, hold(declared), counts)


def down(health: Health) -> set[str]:
    found = health.parts()
    assert {*found} == PARTS
    return {name for name, holds in found.items() if not holds}


@pytest.mark.parametrize(
    ("file", "harm", "parts"),
    [
        ("discreet.toml", emptied, {"description"}),
        ("discreet.tokens", writable, {"tokens"}),
        ("discreet.sessions", writable, {"sessions"}),
        ("discreet.counts", locked, {"counts"}),
        ("budget.db", removed, {"ledger"}),
        ("budget.db-lock", locked, set()),
    ],
)
def test_each_part_is_told_to_the_owner_and_strangers_hear_if_no_question_is_accepted(
    health: Health, file: str, harm: Harm, parts: set[str]
) -> None:
    assert down(health) == set()
    with harm(Path(file)):
        assert down(health) == parts
        assert health.is_up() == parts.isdisjoint({"ledger", "description"})


def test_readers_that_are_gone_are_for_the_owner_alone(health: Health) -> None:
    gone: Any = Readers()
    health.dispatcher = gone
    assert down(health) == {"readers"}
    assert health.is_up()


def test_a_dispatcher_that_is_gone_is_told_to_strangers(health: Health, tmp_path: Path) -> None:
    """Whether it listened and ended, takes a connection and closes it, or is not there at all."""
    with socket.socket(socket.AF_UNIX) as listener:
        health.dispatcher = DispatcherClient(str(tmp_path / "socket"))
        assert down(health) == {"dispatcher", "readers"}
        listener.settimeout(60)
        listener.bind(health.dispatcher.path)
        listener.listen()
        assert down(health) == {"dispatcher", "readers"}
        assert not health.is_up()  # also while the first look is under way

        def accept_and_close() -> None:
            for _ in range(5):  # three wait since before
                listener.accept()[0].close()

        Thread(target=accept_and_close).start()
        assert down(health) == {"dispatcher", "readers"}


def test_a_full_disk_is_told_to_strangers_as_no_question_fills_it(
    health: Health, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("discreet.service.http.health._ROOM", 1 << 80)
    assert down(health) == {"disk"}
    assert not health.is_up()


def test_counts_go_on_in_memory_while_they_are_locked(health: Health) -> None:
    counts = health.counts
    counts.add("a", "x")
    assert counts.write()
    with locked(Path("discreet.counts")):
        counts.add("a", "x")
        assert not counts.write()
        assert counts.read("a") == {"x": 1}
    assert counts.read("a") == {"x": 2}
