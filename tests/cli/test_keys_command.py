"""discreet keys, counts --delta and plan --delta."""

import json
from pathlib import Path

import pytest

from discreet.cli.application import run_command


@pytest.fixture
def visits(tmp_path: Path) -> str:
    rows = ["tea,u"] * 60 + ["=milk,u"] * 40 + ["seldom,u"]
    path = tmp_path / "visits.csv"
    path.write_text("\n".join(["page,who", *(f"{row}{i}" for i, row in enumerate(rows))]))
    return str(path)


TERMS = ["--epsilon", "1", "--delta", "1e-9"]


def test_keys_are_printed_in_order(visits: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["keys", visits, "page", *TERMS, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["value"] == ["=milk", "tea"]
    assert answer["mechanism"] == "private_keys"
    assert (
        run_command(["keys", visits, "page", *TERMS, "--privacy-unit", "who", "--most", "1"]) == 0
    )
    assert capsys.readouterr().out.strip() == "=milk"


def test_counts_with_a_delta(visits: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["counts", visits, "page", *TERMS, "--other", "1/10", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert [*answer["value"]] == ["=milk", "tea"]
    assert abs(answer["value"]["tea"] - 60) < 25
    assert isinstance(answer["other"], int)


def test_what_is_missing_or_contradicts(visits: str, capsys: pytest.CaptureFixture[str]) -> None:
    for wrong, words in (
        (["keys", visits, "page", "--epsilon", "1"], "give --delta"),
        (["counts", visits, "page", *TERMS, "--max-candidates", "2"], "goes with candidates"),
        (
            ["counts", visits, "page", "--candidates", "tea", "--epsilon", "1", "--most", "3"],
            "go with delta",
        ),
        (["plan", "--delta", "1e-6", "--candidates", "3", "--error", "1"], "go with --candidates"),
    ):
        assert run_command(wrong) == 2
        assert words in " ".join(capsys.readouterr().err.split())


def test_the_plan(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert (
        run_command(
            ["plan", "--epsilon", "1", "--delta", "1e-6", "--plot", str(tmp_path / "p.svg")]
        )
        == 0
    )
    assert (
        "a key of fewer than 14 records is answered with a probability below one half"
        in capsys.readouterr().out
    )
    assert (tmp_path / "p.svg").exists()
    assert (
        run_command(["plan", "--epsilon", "1", "--delta", "1e-6", "--max-groups", "2", "--json"])
        == 0
    )
    assert json.loads(capsys.readouterr().out)["one_half_from"] == 27


def test_why_a_key_may_be_missing_is_said_before_anything_is_paid(
    visits: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where nothing can be paid; and nothing that keys do not do is said of their cells."""
    words = "a key of fewer than 21 records is answered with a probability below one half"
    for command in (["keys"], ["counts"], ["mode", "--candidates", "private"]):
        assert run_command([command[0], visits, "page", *TERMS, *command[1:]]) == 0
        assert capsys.readouterr().err.splitlines()[0] == words
    assert run_command(["keys", visits, "page", *TERMS]) == 0
    assert "are ignored" not in capsys.readouterr().err
    monkeypatch.setattr("discreet.tables.verbs.keys.KeyQuestion.prepare", lambda _: 1 / 0)
    assert run_command(["keys", visits, "page", *TERMS]) != 0
    assert capsys.readouterr().err.startswith(words)


EMPTY = "the answer is empty: no value or group has enough records to be released"


@pytest.mark.parametrize(
    ("words", "value"),
    [
        (["keys", "page", *TERMS], []),
        (["counts", "page", *TERMS], {}),
        (["counts", "page", "--candidates", "tea,coffee", "--epsilon", "1"], {}),
        (["count", "--by", "page", "--groups", "tea,coffee", "--epsilon", "1"], {}),
    ],
)
def test_an_empty_answer_says_so_beside_it(
    visits: str, capsys: pytest.CaptureFixture[str], words: list[str], value: object
) -> None:
    command = [words[0], visits, *words[1:], "--minimum-count", "100000"]
    assert run_command(command) == 0
    shown = capsys.readouterr()
    assert shown.out == ""
    assert EMPTY in shown.err.splitlines()
    assert run_command([*command, "--json"]) == 0
    shown = capsys.readouterr()
    assert json.loads(shown.out)["value"] == value
    assert EMPTY not in shown.err
