"""What a source reaches in its database, as a ledger keeps and compares it."""

import pytest

from discreet.errors import InvalidArgument
from discreet.tables.engines.reach import BaseTable, Reach, ReachCheck, read_reach, same_reach

PEOPLE = Reach("main.people", 7, "1:2")


class Known:
    """A catalogue with one table, which others may replace."""

    def __init__(self) -> None:
        self.relations = frozenset({7})

    def identity(self) -> str:
        return "1:2"

    def lock(self, query: str) -> None:
        self.query = query

    def base_table(self, name: str) -> BaseTable | None:
        return (
            BaseTable("main.people", "SELECT * FROM ONLY people", 7) if name == "people" else None
        )

    def views(self) -> str:
        return "hash"

    def names(self) -> frozenset[str] | None:
        return None

    def locks(self) -> frozenset[int]:
        return self.relations


def test_a_reach_is_written_and_read() -> None:
    for reach in (PEOPLE, Reach(), Reach(views="hash", database="1:2")):
        assert read_reach(reach.as_dict) == reach
    assert read_reach(None) == Reach()


def test_what_a_source_reaches_is_compared_without_numbers_and_with_known_views() -> None:
    refilled = Reach("main.people", 8, "3:4")
    assert same_reach(PEOPLE.as_dict, refilled.as_dict)
    for other in (Reach("main.visits", 7, "1:2"), Reach()):
        assert not same_reach(PEOPLE.as_dict, other.as_dict)
    first, second, unknown = (Reach(views=views).as_dict for views in ("a", "b", ""))
    assert same_reach(first, unknown)
    assert same_reach(unknown, second)
    assert not same_reach(first, second)


def test_a_table_is_read_by_the_query_of_its_catalogue() -> None:
    check = ReachCheck(record=PEOPLE.as_dict, with_views=True)
    assert check.ask(Known(), "SELECT * FROM people", "people") == "SELECT * FROM ONLY people"
    assert check.reach == PEOPLE


def test_all_else_is_the_whole_database() -> None:
    for table, with_views in ((None, True), ("view", False)):
        check = ReachCheck(with_views=with_views)
        assert check.ask(Known(), "SELECT 1", table) == "SELECT 1"
        assert check.reach == Reach("", 0, "1:2", "hash" if with_views else "")
        check.confirm(Known())


def test_a_source_that_is_another_one_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="the source of people is not what it was"):
        ReachCheck("people", PEOPLE.as_dict).ask(Known(), "SELECT 1", None)
    check, catalogue = ReachCheck("people", PEOPLE.as_dict), Known()
    check.ask(catalogue, "SELECT * FROM people", "people")
    check.confirm(catalogue)
    catalogue.relations = frozenset({7, 9})
    with pytest.raises(InvalidArgument, match="the source of people is not what it was"):
        check.confirm(catalogue)
