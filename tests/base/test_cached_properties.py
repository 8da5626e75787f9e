"""Properties that are computed once, for which no other object waits."""

import threading

from discreet.base.cached_properties import cached_property
from discreet.tables.engines.column import Source
from discreet.tables.engines.grid_counts import CutCounts
from discreet.tables.engines.key_counts import KeyCounts

PATIENCE = 20.0


class Question:
    """A question that waits for another."""

    def __init__(self, ready: threading.Event, other: threading.Event) -> None:
        self.ready, self.other, self.times = ready, other, 0

    @cached_property
    def answer(self) -> bool:
        """Whether the other came as far."""
        self.times += 1
        self.ready.set()
        return self.other.wait(PATIENCE)


def test_two_questions_compute_at_the_same_time() -> None:
    """And one computes once. Both wait for the other, which a lock of both would forbid."""
    first, second = threading.Event(), threading.Event()
    one, two = Question(first, second), Question(second, first)
    thread = threading.Thread(target=lambda: two.answer)
    thread.start()
    assert one.answer
    thread.join(PATIENCE)
    assert one.answer
    assert (one.times, two.times) == (1, 1)


def test_what_waits_for_a_server_has_no_lock() -> None:
    """A question may wait for a lock of its table, or for a connection that another question holds."""
    for owner, names in (
        (Source, ("data", "table", "group_keys", "bounded", "array")),
        (KeyCounts, ("pairs",)),
        (CutCounts, ("_counts",)),
    ):
        assert all(type(owner.__dict__[name]) is cached_property for name in names)
