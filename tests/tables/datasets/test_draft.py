"""Drafts of discreet.toml: from a schema alone, and refused until everything is filled in."""

import datetime as dt
import re
import sqlite3
import tomllib
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

import discreet
from discreet.cli import run
from discreet.errors import InvalidArgument, InvalidDescription, UnreadableFile
from discreet.tables.datasets.configuration import read_configuration
from discreet.tables.datasets.draft import draft

MARKER = "s3cr3t-m4rk3r"


def table(rows: int = 1) -> pa.Table:
    columns: dict[str, Any] = {
        "n": pa.array([987654321] * rows, pa.int32()), "u": pa.array([1] * rows, pa.uint64()),
        "x": pa.array([0.5] * rows, pa.float64()), "d": pa.array([Decimal("1.50")] * rows, pa.decimal128(9, 2)),
        "who is it?": pa.array([MARKER] * rows, pa.string()), "ok": pa.array([True] * rows, pa.bool_()),
        "day": pa.array([dt.date(1987, 6, 5)] * rows, pa.date32()),
        "at": pa.array([dt.datetime(1987, 6, 5)] * rows, pa.timestamp("us")),
        "many": pa.array([[1]] * rows, pa.list_(pa.int64())),
    }  # fmt: skip
    return pa.table(columns)


KINDS = {"n": "integer", "u": "integer", "x": "number", "d": "number", "who is it?": "string", "ok": "boolean",
         "day": "date", "at": "datetime"}  # fmt: skip


def filled_in(text: str) -> str:
    """Fill in what a draft asks for."""
    answers = {
        "minimum": "0",
        "maximum": "8",
        "step": "1",
        "type": '"string"',
        "enum": '["a"]',
        "privacy_unit": '"u"',
    }
    text = re.sub(r'epsilon = "FILL IN[^"]*"', 'epsilon = "1"', text)
    dated = re.sub(
        r'(type = "date"\nminimum = ).*\n(maximum = ).*', r"\1 2024-01-01\n\2 2024-12-31", text
    )
    dated = re.sub(
        r'(type = "datetime"\nminimum = ).*\n(maximum = ).*',
        r"\1 2024-01-01T00:00:00\n\2 2024-12-31T00:00:00",
        dated,
    )
    return re.sub(
        r"^(\w+) = .*FILL IN.*$",
        lambda found: f"{found[1]} = {answers[found[1]]}",
        dated,
        flags=re.M,
    )


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_names_and_types_are_drafted_and_nothing_of_the_rows(ending: str, tmp_path: Path) -> None:
    drafts = []
    for rows in (0, 1):
        file = tmp_path / f"my people.{ending}"
        pq.write_table(table(rows), file) if ending == "parquet" else feather.write_feather(
            table(rows), file
        )
        drafts.append(draft(str(file)))
    assert drafts[0] == drafts[1]
    assert MARKER not in drafts[0]
    assert not re.search("987654321|1987|0\\.5\\b", drafts[0].replace(str(tmp_path), ""))
    written = tmp_path / "discreet.toml"
    written.write_text(filled_in(drafts[0]), encoding="utf-8")
    people = read_configuration(written).dataset("my-people")
    assert {name: column.type for name, column in people.columns.items()} == KINDS
    assert '# "many" has the type' in drafts[0]


def test_a_draft_is_refused_until_every_mark_is_filled_in(tmp_path: Path) -> None:
    pq.write_table(table(), tmp_path / "people.parquet")
    lines = draft(str(tmp_path / "people.parquet")).split("\n")
    done = filled_in("\n".join(lines)).split("\n")
    marked = [i for i, line in enumerate(lines) if "FILL IN" in line]
    assert len(marked) == 17
    for i in marked:
        (tmp_path / "discreet.toml").write_text(
            "\n".join([*done[:i], lines[i], *done[i + 1 :]]), encoding="utf-8"
        )
        with pytest.raises(InvalidDescription, match=f"line {i + 1}: .*still to be filled in"):
            read_configuration(tmp_path / "discreet.toml")


def test_a_csv_file_has_names_only_if_its_owner_says_so(tmp_path: Path) -> None:
    file = tmp_path / "people.csv.gz"
    import gzip

    file.write_bytes(gzip.compress(f"age;who\n7;{MARKER}\n".encode()))
    with pytest.raises(InvalidArgument, match="say header=True"):
        draft(str(file))
    found = draft(str(file), header=True)
    assert "[datasets.people.columns.age]" in found
    assert "[datasets.people.columns.who]" in found
    assert MARKER not in found
    (tmp_path / "rows.jsonl").write_text('{"a": 1}\n')
    with pytest.raises(InvalidArgument, match="For JSON lines give the keys"):
        draft(str(tmp_path / "rows.jsonl"), header=True)
    with pytest.raises(UnreadableFile):
        draft(str(tmp_path / "none.parquet"))


def test_partitions_of_folders_are_columns_of_text(tmp_path: Path) -> None:
    (tmp_path / "all" / "year=2024").mkdir(parents=True)
    pq.write_table(table(), tmp_path / "all" / "year=2024" / "a.parquet")
    found = draft(str(tmp_path / "all"))
    assert '[datasets.all.columns.year]\ntype = "string"' in found
    assert "2024" not in found.replace(str(tmp_path), "")


def test_the_command_prints_a_draft_under_the_name_given(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pq.write_table(table(), tmp_path / "x.parquet")
    assert run(["describe", str(tmp_path / "x.parquet"), "--name", "ann's"]) == 0
    out, _ = capsys.readouterr()
    assert '[datasets."ann\'s"]' in out
    assert out == draft(str(tmp_path / "x.parquet"), "ann's")


@pytest.mark.parametrize(
    ("declared", "kind"),
    [
        ("NVARCHAR(40)", "string"), ("VARCHAR2(9)", "string"), ("NATIVE CHARACTER(70)", "string"),
        ("STRING", "string"), ("citext", "string"), ("uuid", "string"), ("DateTime", "string"),
        ("INT8", "integer"), ("unsigned big int", "integer"), ("MEDIUMINT(9)", "integer"), ("bool", "integer"),
        ("NUMERIC(10,2)", "number"), ("DOUBLE PRECISION", "number"), ("money", "number"), ("DEC", "number"),
        ("", "FILL IN"), ("ANYTHING", "FILL IN"), ("VARBINARY(9)", "no question"), ("BLOB", "no question"),
    ],
)  # fmt: skip
def test_any_spelling_of_a_type_of_sqlite(tmp_path: Path, declared: str, kind: str) -> None:
    file = tmp_path / "t.bin"
    with closing(sqlite3.connect(file)) as connection:
        connection.execute(f"CREATE TABLE t (a {declared}, b GENERATED ALWAYS AS (1))")
        connection.execute("CREATE VIEW v AS SELECT a FROM t")
    for table in ("t", "v"):
        text = draft(str(file), table=table)
        part = text[text.index("columns.a]" if kind != "no question" else '# "a"') :]
        assert kind in part.partition("\n\n")[0]
    assert ".columns.b]" in draft(str(file), table="t")


def place(source: Path, **words: Any) -> dict[str, Any]:
    """Return the keys of the dataset in a draft, of which the columns are by their names."""
    [dataset] = tomllib.loads(draft(str(source), "t", header=True, **words))["datasets"].values()
    found: dict[str, Any] = dataset
    return found


@pytest.mark.parametrize(
    ("text", "encoding", "form"),
    [
        ("a,b\n1,2\n", "utf-8", {"delimiter": ","}),
        ("a;b\n1;2\n", "utf-8-sig", {"delimiter": ";", "encoding": "utf-8-sig"}),
        ("a\tb\n1\t2\n", "utf-16", {"delimiter": "\t", "encoding": "utf-16"}),
        ("sep=|\na|b\n1|2\n", "utf-8", {"delimiter": "|"}),
        ('"a";"x;\r\nb"\r\n1;2\r\n', "utf-8", {"delimiter": ";", "skip": 2, "names": ["a", "x;  b"]}),
        ("a,a,,\n1,2\n", "utf-8", {"delimiter": ",", "skip": 1, "names": ["a", "a_2", "column", "column_2"]}),
        ("sep=;\na;a;a_2\n", "utf-8", {"delimiter": ";", "skip": 2, "names": ["a", "a_3", "a_2"]}),
        (",a\n1,2\n", "utf-8", {"delimiter": ","}),
    ],
)  # fmt: skip
def test_the_form_that_the_header_shows_is_written(
    text: str, encoding: str, form: dict[str, Any], tmp_path: Path
) -> None:
    (tmp_path / "t.csv").write_bytes(text.encode(encoding))
    found = place(tmp_path / "t.csv")
    assert found["csv"] == {**form, "multiline": True}
    names = [name for name in form.get("names", ["a", "b"]) if name in found["columns"]]
    assert [*found["columns"]] == names
    file = discreet.scan_csv(tmp_path / "t.csv", **found["csv"])
    records = text.replace('"x;\r\nb"', "x").strip().count("\n") - text.startswith("sep=")
    assert discreet.count(file, epsilon=10**6).value == records


def test_the_form_of_files_in_a_folder_is_that_of_the_first(tmp_path: Path) -> None:
    for year in ("2023", "2024"):
        (tmp_path / f"year={year}").mkdir()
        (tmp_path / f"year={year}" / "t.csv").write_text("who;who\nBern;1\n")
    found = place(tmp_path)
    assert found["csv"]["names"] == ["who", "who_2"]
    assert [*found["columns"]] == ["who", "who_2", "year"]
    data = discreet.scan_csv(tmp_path, **found["csv"])
    asked: Any = {"candidates": ["2023", "2024", "2025"], "epsilon": 10**6}
    assert discreet.counts(data, "year", **asked).value == {"2023": 1, "2024": 1, "2025": 0}


IDS = [
    "id",
    "PassengerId",
    "person_id",
    "UUID",
    "user id",
    "Email",
    "e-mail",
    "phone",
    "身份证号",
    "ids",
]
NO_IDS = [
    "paid",
    "Android",
    "idea",
    "identity",
    "video",
    "hidden",
    "city",
    "Madrid",
    "kid",
    "phonetics",
]


@pytest.mark.parametrize("name", [*IDS, *NO_IDS])
def test_ids_are_marked_by_their_names_and_never_by_values(name: str, tmp_path: Path) -> None:
    for values in ("1", "person-7"):
        (tmp_path / "t.csv").write_text(f"{name},n\n{values},1\n")
        text = draft(str(tmp_path / "t.csv"), header=True)
        assert ("# A column of ids" in text) == (name in IDS)
        assert (f"who a row is about, such as {name}," in text) == (name in IDS)


def test_a_column_of_uuids_is_one_of_ids_by_its_type(tmp_path: Path) -> None:
    with duckdb.connect(tmp_path / "t.duckdb") as connection:
        connection.execute("CREATE TABLE t (whose UUID, age INTEGER)")
        connection.execute("COPY (FROM t) TO ? (FORMAT parquet)", [str(tmp_path / "t.parquet")])
    for text in (
        draft(str(tmp_path / "t.parquet")),
        draft(str(tmp_path / "t.duckdb"), table="t"),
    ):
        assert "says who a row is about, such as whose, or no line" in text
        assert (
            '# "whose" has the type UUID: its values are ids. Name it as the privacy_unit' in text
        )
        assert "columns.whose" not in text


def test_names_of_json_are_its_keys_and_no_word_of_a_csv_file(tmp_path: Path) -> None:
    (tmp_path / "t.json").write_text('[{"city": "Bern"}]')
    text = draft(str(tmp_path / "t.json"), names=["city"])
    assert "csv." not in text
    assert "[datasets.t.columns.city]" in text
    (tmp_path / "t.csv").write_text("Bern\n")
    text = draft(str(tmp_path / "t.csv"), names=["city"])
    assert 'csv.names = ["city"]' in text
    assert "The header has a name twice" not in text
