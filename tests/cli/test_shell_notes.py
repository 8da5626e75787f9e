"""A note is shown once a shell, with what the header shows."""

import subprocess
import sys
from pathlib import Path

import pytest

from discreet.cli import shell_notes
from discreet.cli.application import run_command
from discreet.tables.datasets import tally

NOTE = "note: values that are not numbers or candidates are ignored"
SEMICOLONS = "note: semicolons separate the columns"
ASK = ["--candidates", "tea,milk", "--epsilon", "1"]


@pytest.fixture
def people(tmp_path: Path) -> Path:
    file = tmp_path / "people.csv"
    file.write_text("drink,age\ntea,3\ntea,4\n", encoding="utf-8")
    return file


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert run_command([*arguments]) == 0
    return capsys.readouterr().err


def test_a_note_is_shown_once_a_shell(
    people: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    mode = ["mode", str(people), "drink", *ASK]
    assert NOTE in said(capsys, *mode)
    assert NOTE not in said(capsys, *mode)
    monkeypatch.setattr(shell_notes, "_shell", lambda: "another shell")
    assert NOTE in said(capsys, *mode)
    assert NOTE not in said(capsys, *mode)


def test_another_session_is_another_shell() -> None:
    command = [sys.executable, "-c", "from discreet.cli.shell_notes import _shell; print(_shell())"]
    names = [
        subprocess.run(command, start_new_session=new, capture_output=True, check=True).stdout
        for new in (False, True)
    ]
    assert names[0].decode().strip() == shell_notes._shell()
    assert names[1] != names[0]


def test_semicolons_in_the_header_are_said_beside_it(
    people: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert SEMICOLONS not in said(capsys, "mode", str(people), "drink", *ASK)
    for name in ("miete.csv", "more.csv"):
        (tmp_path / name).write_text("drink;rent\ntea;983,68\n", encoding="utf-8")
    shown = said(capsys, "mode", str(tmp_path / "miete.csv"), "drink", *ASK)
    assert SEMICOLONS in shown
    assert "983,68" in shown  # of the message, whatever the rows are
    assert NOTE not in shown
    assert SEMICOLONS not in said(capsys, "mode", str(tmp_path / "more.csv"), "drink", *ASK)


def test_semicolons_are_seen_in_the_form_that_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "miete.csv"
    file.write_bytes("größe;rent\ntea;3\n".encode("cp1252"))
    form = ["--csv", "encoding=cp1252"]
    assert SEMICOLONS in said(capsys, "mode", str(file), "rent", *ASK, *form)


def test_nothing_is_said_of_semicolons_if_the_decimal_sign_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "miete.csv").write_text("drink;rent\ntea;983,68\n", encoding="utf-8")
    ask = ["mode", str(tmp_path / "miete.csv"), "drink", *ASK]
    assert SEMICOLONS not in said(capsys, *ask, "--csv", "decimal=,")
    assert "--csv decimal=,." in said(capsys, *ask)


@pytest.mark.parametrize("spoil", ["folder", "bytes", "nowhere"])
def test_a_place_that_cannot_be_used_hides_no_note(
    spoil: str,
    people: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    notes = tmp_path / "state" / "notes.txt"
    notes.parent.mkdir()
    monkeypatch.setattr(tally, "where", lambda: str(notes.with_name("tally.jsonl")))
    if spoil == "folder":
        notes.mkdir()
    elif spoil == "bytes":
        notes.write_bytes(b"\xff\xfe\n")
    else:
        monkeypatch.setattr(tally, "where", lambda: None)
    assert NOTE in said(capsys, "mode", str(people), "drink", *ASK)


def test_old_shells_are_forgotten(people: Path, capsys: pytest.CaptureFixture[str]) -> None:
    where = tally.where()
    assert where is not None
    notes = Path(where).with_name("notes.txt")
    notes.parent.mkdir(parents=True, exist_ok=True)
    notes.write_text("\n".join(f"old:{i} x" for i in range(5000)), encoding="ascii")
    assert NOTE in said(capsys, "mode", str(people), "drink", *ASK)
    assert len(notes.read_text(encoding="ascii").splitlines()) == 1000
