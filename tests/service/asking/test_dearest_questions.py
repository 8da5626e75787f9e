"""The questions of a trial: the named ones, and the dearest that the limits of analysts allow."""

from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="the extra server is not installed")
pytest.importorskip("sqlglot", reason="the extra sql is not installed")

from discreet.service.asking.dearest_questions import DearQuestion, dearest_questions
from discreet.tables.datasets.configuration import read_configuration

TEXT = """
[datasets.people]
source = "nowhere.csv"
columns.age = {{ type = "integer", minimum = 0, maximum = 120 }}
columns.pay = {{ type = "number", minimum = 0, maximum = 10, step = "0.5" }}
columns.city = {{ type = "string", enum = ["Bern", "L'Aquila"] }}
questions.old = {{ verb = "maximum", column = "age", epsilon = 1 }}
[datasets.others]
source = "nowhere.csv"
columns.age = {{ type = "integer", minimum = 0, maximum = 9 }}
[analysts.ann]
datasets = ["people"]
verbs = {verbs}
{more}
"""

Names = Callable[..., dict[str, DearQuestion]]


@pytest.fixture
def asked(tmp_path: Path) -> Names:
    """Return what is tried, by its name: no data are read, and there is no ledger."""

    def questions(verbs: list[str], more: str = "") -> dict[str, DearQuestion]:
        (tmp_path / "discreet.toml").write_text(TEXT.format(verbs=verbs, more=more))
        description = read_configuration(tmp_path / "discreet.toml")
        return {one.name: one for one in dearest_questions(description)}

    return questions


def test_without_free_verbs_the_named_questions_are_tried(asked: Names) -> None:
    (old,) = asked([]).values()
    assert (old.dataset, old.name, old.parts, old.units) == ("people", "old", 1, 1)
    assert old.call.terms["neighbors"] == "add_remove"


def test_of_verbs_that_read_alike_one_is_tried_on_the_widest_column(asked: Names) -> None:
    assert list(asked(["median", "minimum", "mode"])) == [
        "old", "median of age", "median of age by age", "mode of age", "mode of age in 1,000 bins",
        "mode of age by age",
    ]  # fmt: skip


def test_conditions_fill_the_unit_where_they_are_allowed(asked: Names) -> None:
    tried = asked(["mode"], 'where = ["city"]')
    assert [(one.name, one.parts, one.units) for one in tried.values()][1:] == [
        ("mode of age, 28 comparisons", 8, 1),
        ("mode of age in 1,000 bins", 42, 6),
        ("mode of age by age", 3, 1),
    ]
    where = tried["mode of age, 28 comparisons"].call.terms["where"]
    assert where.count("L''Aquila") == 14


def test_statements_have_a_unit_of_aggregates_and_as_many_as_there_may_be(asked: Names) -> None:
    tried = asked(["sql", "median"], 'where = ["age"]')
    found = {one.name: (one.parts, one.units) for one in tried.values() if "SQL" in one.name}
    assert found == {
        'SQL: 8 × MEDIAN("age")': (8, 1),
        'SQL: 100 × MEDIAN("age")': (100, 13),
        'SQL: 1 × MEDIAN("age"), 1,000 comparisons': (251, 32),
    }
    assert [name for name in asked(["sql", "count"]) if "SQL" in name] == [
        "SQL: 8 × COUNT(*)", "SQL: 100 × COUNT(*)",
    ]  # fmt: skip


def test_what_may_not_be_asked_is_not_tried(asked: Names) -> None:
    """Statements of aggregates that are not allowed, and lists of keys without their verb."""
    assert list(asked(["sql"])) == ["old"]
    assert list(asked(["counts"])) == ["old"]
    assert "keys of age" in asked(["keys"])
