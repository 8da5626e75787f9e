"""The fields of a question on a page."""

from discreet.service.pages.question_form import columns_for
from discreet.tables.datasets.columns import read_column

COLUMNS = [
    read_column(name, entry, ())
    for name, entry in {
        "id": {"type": "integer", "minimum": 1, "maximum": 9},
        "city": {"type": "string", "enum": ["a"]},
        "note": {"type": "string"},
        "hired": {"type": "date", "minimum": "2020-01-01", "maximum": "2024-12-31"},
        "salary": {"type": "number"},
        "age": {"type": "integer", "minimum": 0, "maximum": 120},
    }.items()
]


def test_a_form_offers_the_columns_that_fit_its_verb_best_first() -> None:
    """An id is the last of all, and those without declared answers come after the others."""

    def names(verb: str) -> list[str]:
        return [one.name for one in columns_for(verb, COLUMNS, "id")]

    assert names("median") == names("quantiles") == ["hired", "age", "salary", "id"]
    assert names("best_price") == ["age", "salary", "id"]
    assert names("mode") == ["city", "hired", "age", "note", "salary", "id"]
