"""A path that no file can have is refused at once, in every place that takes one."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import discreet
from discreet import Dataset, Ledger
from discreet.cli import run
from discreet.errors import DiscreetError
from discreet.ledger.toml_budgets import configuration
from discreet.tables.datasets.sources import place_of

COLUMNS = {"x": {"type": "integer", "minimum": 0, "maximum": 9}}


class Named:
    """An object that says a path."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __fspath__(self) -> str:
        return self.path


TAKES: dict[str, Callable[[Any], object]] = {
    "Dataset": lambda path: Dataset(path, columns=COLUMNS),
    "place_of": place_of,
    "csv": discreet.scan_csv,
    "in a list": lambda path: Dataset(["a.csv", path], columns=COLUMNS),
    "a verb": lambda path: discreet.mode(path, "x", candidates=[1], epsilon=1),
    "a verb, in a list": lambda path: discreet.mode(
        ["a.csv", path], "x", candidates=[1], epsilon=1
    ),
    "a ledger": lambda path: Ledger(os.fspath(path)),
    "an export": lambda path: Ledger().export(path),
    "connect": discreet.connect,
    "a description": configuration,
}


@pytest.mark.parametrize("path", ["a\0b.csv", "\0.csv", "/tmp/\0.csv", "a\ud800b.csv"])
@pytest.mark.parametrize("kind", [str, Path, Named])
@pytest.mark.parametrize("where", TAKES)
@pytest.mark.one_in(7)
def test_a_path_that_no_file_can_have(
    where: str,
    kind: Callable[[str], Any],
    path: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.csv").write_text("x\n1\n")
    with pytest.raises(DiscreetError) as caught:
        TAKES[where](kind(path))
    assert "\0" not in str(caught.value)
    assert "raised" not in str(caught.value)  # it is ours, and says what is wrong


@pytest.mark.parametrize(
    "arguments",
    [
        ["mode", "a\0b.csv", "x", "--candidates", "1", "--epsilon", "1"],
        ["token", "list", "--config", "a\0b.toml"], ["serve", "a\0b.toml"], ["describe", "a\0b.csv"],
        ["ledger", "verify", "a\0b.db"],
        ["mode", "a.csv", "x\0y", "--candidates", "1", "--epsilon", "1"],
    ],
)  # fmt: skip
def test_the_command_line_holds_none(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 2
    assert "NUL" in capsys.readouterr().err
