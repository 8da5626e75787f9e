"""--csv KEY=VALUE says what `scan_csv` takes, and nothing else."""

import pytest

from discreet.cli.csv_form import in_form
from discreet.errors import InvalidArgument
from discreet.tables.engines.csv_files import CsvFile, scan_csv


@pytest.mark.parametrize("words", [None, []])
def test_without_words_a_path_stays_one(words: list[str] | None) -> None:
    assert in_form("t.csv", words) == "t.csv"


@pytest.mark.parametrize(
    ("words", "form"),
    [
        (["encoding=cp1252"], {"encoding": "cp1252"}),
        (["delimiter=;", "quote="], {"delimiter": ";", "quote": ""}),
        ([r"delimiter=\t"], {"delimiter": "\t"}),
        (["delimiter=="], {"delimiter": "="}),
        (["multiline=false"], {"multiline": False}),
        (["multiline=true"], {}),
        (["names=a,b c"], {"names": ["a", "b c"]}),
        (["escape=\\", "comment=#"], {"escape": "\\", "comment": "#"}),
        (["skip=12", "skip_initial_space=true"], {"skip": 12, "skip_initial_space": True}),
        (['missing=NA,"k. A., -"'], {"missing": ["NA", "k. A., -"]}),
    ],
)
def test_words_say_the_form(words: list[str], form: dict[str, object]) -> None:
    said = in_form("t.csv", words)
    assert isinstance(said, CsvFile)
    assert said == scan_csv("t.csv", **form)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "word",
    [
        "",
        "=",
        "encoding",
        "Encoding=utf-8",
        "sep=;",
        "multiline=no",
        "quote=ab",
        "names=",
        "skip=-1",
        "skip=x",
    ],
)
def test_words_that_say_no_form(word: str) -> None:
    with pytest.raises(InvalidArgument):
        in_form("t.csv", [word])
