"""The form of a file in the words of Frictionless: taken as ours, or refused."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from discreet import Dataset, scan_csv
from discreet.errors import InvalidDescription
from discreet.tables.engines import count
from discreet.tables.formats.text_form import CsvFile

FIELDS = [{"name": "a"}, {"name": "b", "type": "any"}]


def package(dialect: Any = None, **resource: Any) -> dict[str, Any]:
    form = {} if dialect is None else {"dialect": dialect}
    return {"resources": [{"schema": {"fields": FIELDS}, **form, **resource}]}


@pytest.mark.parametrize(
    ("dialect", "form"),
    [
        ({"delimiter": ";", "quoteChar": "'"}, {"delimiter": ";", "quote": "'"}),
        ({"delimiter": ";", "lineTerminator": "\r\n", "doubleQuote": True}, {"delimiter": ";"}),
        ({"escapeChar": "\\", "doubleQuote": False}, {"escape": "\\"}),
        ({"skipInitialSpace": True, "commentChar": "#"}, {"skip_initial_space": True, "comment": "#"}),
        ({"headerRows": [3], "csvddfVersion": "1.2"}, {"skip": 2}),
        ({"header": False}, {"names": ["a", "b"]}),
        ({"sheetName": "2024"}, {"sheet": "2024"}),
    ],
)  # fmt: skip
def test_a_dialect_is_the_form_of_the_file(dialect: Any, form: dict[str, Any]) -> None:
    source = Dataset.from_table_schema("x.csv", package(dialect)).source
    assert isinstance(source, CsvFile)
    assert source.form.given == form


@pytest.mark.parametrize(
    "resource", [package(), package({}), package({"header": True}), package(encoding="UTF-8")]
)
def test_what_says_what_is_read_anyway_leaves_the_source_as_it_is(resource: Any) -> None:
    assert Dataset.from_table_schema("x.csv", resource).source == "x.csv"


@pytest.mark.parametrize(
    ("resource", "reason"),
    [
        (package({"delimiter": ";;"}), "resources.1.dialect: delimiter must be one character"),
        (package({"escapeChar": "\\"}), "say doubleQuote false"),
        (package({"escapeChar": "\\", "doubleQuote": True}), "say doubleQuote false"),
        (package({"doubleQuote": False}), "keep one of the two"),
        (package({"headerRows": [1, 2]}), "names are in one row"),
        (package({"headerRows": [True]}), "names are in one row"),
        (package({"header": 0}), "dialect.header: it is 0"),
        (package({"lineTerminator": ";"}), "lines end with"),
        (package({"nullSequence": "NA"}), "dialect.nullSequence: there is no such property"),
        (package(encoding="utf-7"), "resources.1.encoding"),
        (package(["delimiter"]), "resources.1.dialect"),
    ],
)  # fmt: skip
def test_a_dialect_that_is_no_form_is_refused(resource: Any, reason: str) -> None:
    with pytest.raises(InvalidDescription) as refused:
        Dataset.from_table_schema("x.csv", resource)
    assert reason in str(refused.value)


@pytest.mark.parametrize("source", [pd.DataFrame({"a": ["x"]}), scan_csv("x.csv", skip=1)])
def test_a_dialect_is_of_files_without_a_form(source: Any) -> None:
    with pytest.raises(InvalidDescription, match=r"resources\.1\.dialect: .* delete"):
        Dataset.from_table_schema(source, package({"delimiter": ";"}))


def test_the_file_is_read_in_it(tmp_path: Path) -> None:
    for name in ("t.csv", "u.csv"):
        (tmp_path / name).write_bytes("Zürich;1\nBern;2\n".encode("cp1252"))
    resource = package({"delimiter": ";", "header": False}, encoding="cp1252")
    one = Dataset.from_table_schema(tmp_path / "t.csv", resource)
    assert count(one.table, "a", ["Zürich", "Bern"]) == [1, 1]
    both = Dataset.from_table_schema([tmp_path / "t.csv", tmp_path / "u.csv"], resource)
    assert count(both.table, "a", ["Zürich", "Bern"]) == [2, 2]
