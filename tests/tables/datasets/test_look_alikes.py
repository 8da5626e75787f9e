"""Values that a person may take for one another, and units that no column has, are said."""

import json
import signal
import unicodedata
from pathlib import Path
from typing import Any

import pytest

from discreet import Dataset
from discreet.cli import main
from discreet.tables.datasets.look_alikes import look_alikes

NFC, NFD = (unicodedata.normalize(form, "Zürich") for form in ("NFC", "NFD"))
CYRILLIC = "В\u0435rn"
DOUBTFUL: list[tuple[list[Any], str]] = [
    ([NFC, NFD], "differ only in how letters with accents are composed"),
    (["Bern", "Basel", CYRILLIC], "differ only in letters that look the same"),
    ([CYRILLIC], "mixes letters of several alphabets in a word"),
    (["Bern", "Bern "], "differ only in blanks"),
    (["New York", "New  York"], "differ only in blanks"),
    (["New York", "New\u00a0York"], "differ only in blanks"),
    ([" Bern"], "begins or ends with a blank"),
    (["Bern", "bern"], "differ only in small and capital letters"),
    (["Straße", "STRASSE"], "differ only in small and capital letters"),
]


@pytest.mark.parametrize(("values", "words"), DOUBTFUL)
def test_look_alikes_are_said(values: list[Any], words: str) -> None:
    with pytest.warns(UserWarning, match=f"column 'city', .*{words}") as warned:
        Dataset("x.csv", {"city": {"type": "string", "enum": values}})
    assert warned[0].filename == __file__


@pytest.mark.parametrize(
    "values",
    [
        ["Bern", "Basel", NFC],
        ["Берн", "Базель"],
        ["Αθήνα", "Berlin"],
        ["上海", "Zürich a"],
        [1, 2],
        [""],
    ],
)
def test_other_values_are_not(values: list[Any]) -> None:
    assert look_alikes(values) is None


def test_code_points_are_shown() -> None:
    assert look_alikes([NFC, NFD]) == (
        f"{NFC!r} (Z\\xfcrich) and {NFD!r} (Zu\\u0308rich) differ only in how letters with accents are composed"
    )


AGE: dict[str, dict[str, object]] = {"age": {"type": "integer", "minimum": 0, "maximum": 9}}


@pytest.mark.parametrize(
    "source", ["rows.jsonl", ("a.ndjson", "b.ndjson"), [{"age": 3, "user": 1}]]
)
def test_a_unit_that_no_column_has_is_said(source: Any) -> None:
    columns: dict[str, dict[str, object]] = {**AGE, "user": {"type": "integer"}}
    with pytest.warns(
        UserWarning, match=r"'usr' is not one of the declared columns \(did you mean 'user'\?\)"
    ):
        Dataset(source, columns, privacy_unit="usr")
    Dataset(source, columns, privacy_unit="user")
    Dataset(source, AGE)


def test_where_a_schema_tells_a_wrong_unit_nothing_is_said() -> None:
    Dataset("rows.csv", AGE, privacy_unit="usr")
    Dataset("rows.parquet", AGE, privacy_unit="usr")


def test_commands_say_it_without_a_line_of_the_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "discreet.toml").write_text(
        '[datasets.people]\nsource = "rows.csv"\ncolumns.city = { type = "string", enum = ["Bern", "bern"] }\n'
    )
    (tmp_path / "rows.csv").write_text("city\nBern\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DISCREET_CONFIG", raising=False)
    monkeypatch.setattr("warnings.showwarning", None)
    monkeypatch.setattr("warnings.filters", [])
    monkeypatch.setattr(
        "sys.argv", ["discreet", "mode", "people", "city", "--epsilon", "1", "--json"]
    )
    ours = {one: signal.getsignal(one) for one in (signal.SIGTERM, signal.SIGHUP)}
    try:
        with pytest.raises(SystemExit):
            main()
    finally:
        for one, handler in ours.items():
            signal.signal(one, handler)
    out, err = capsys.readouterr()
    assert json.loads(out)
    assert err.startswith(
        "discreet: people: of the values of column 'city', 'Bern' and 'bern' differ only in"
    )
