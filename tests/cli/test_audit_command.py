"""discreet audit and discreet attack."""

import json
from pathlib import Path

import pytest

from discreet.cli import run

PAIR = ["audit", "exact", "--scores", "0,1,2", "--neighbor", "1,1,2", "--epsilon", "1"]


def test_a_claim_that_holds(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*PAIR, "--sensitivity", "1"]) == 0
    assert capsys.readouterr().out == (
        "claimed  ε = 1, bounded range: holds for this pair\n"
        "true     ε ≈ 0.39 (output 0), range ≈ 0.5\n"
        "δ at the claimed ε: 0\n"
    )


def test_a_false_claim_exits_with_1(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*PAIR, "--sensitivity", "1/3", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["holds"] is False
    assert found["range"] == "1.5"


@pytest.mark.parametrize("mechanism", ["base2", "permute_and_flip", "noisy_max"])
def test_every_mechanism_is_audited(mechanism: str) -> None:
    assert run([*PAIR, "--sensitivity", "1", "--mechanism", mechanism]) == 0
    assert (
        run(
            [
                *PAIR,
                "--spread",
                "1",
                "--mechanism",
                "noisy_max",
                "--mechanism-option",
                "noise=gumbel",
            ]
        )
        == 0
    )


def test_laws_of_ones_own(capsys: pytest.CaptureFixture[str]) -> None:
    laws = ["audit", "laws", "--law", "0.75, 0.25", "--neighbor", "0.25,0.75"]
    assert run([*laws, "--epsilon", "1.0987"]) == 0
    assert run([*laws, "--epsilon", "1"]) == 1
    assert run([*laws, "--epsilon", "1", "--delta", "0.08"]) == 0
    out = capsys.readouterr().out
    assert out.count("true     ε ≈ 1.0986 (output 0), range ≈ 2.2\n") == 1
    assert out.count("true     ε ≈ 1.1 (output 0), range ≈ 2.2\n") == 2
    assert out.count("δ at the claimed ε: 0.07\n") == 2
    assert out.count("FALSE") == 1


def test_draws_in_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, two = tmp_path / "one.txt", tmp_path / "two.txt"
    one.write_text("tea\n" * 400)
    two.write_text("coffee\n" * 400)
    assert run(["audit", "draws", str(one), str(two), "--epsilon", "1"]) == 1
    assert "ε = 1 is REFUTED" in capsys.readouterr().out
    assert run(["audit", "draws", str(one), str(one), "--epsilon", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["refuted"] is False
    assert run(["audit", "draws", str(one), str(tmp_path / "no.txt"), "--epsilon", "1"]) == 3
    assert "no.txt cannot be read as text" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["audit"], "Missing command"),
        (
            ["audit", "exact", "--scores", "1,x", "--neighbor", "1,2"],
            "--scores must be a number such as 1",
        ),
        ([*PAIR], "give either sensitivity"),
        (
            ["audit", "laws", "--law", "1", "--neighbor", "0.5", "--epsilon", "1"],
            "sum to exactly one",
        ),
        (["attack", "magic"], "attack must be one of underflow, truncation"),
    ],
)
def test_errors_are_one_line_and_exit_with_2(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert message in err


def test_help_fits(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    for command in ("exact", "laws", "draws"):
        assert run(["audit", command, "--help"]) == 0
    assert run(["attack", "--help"]) == 0
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 80


def test_a_picture_of_what_each_output_tells(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    picture = tmp_path / "audit.svg"
    words = "audit exact --scores 0,1,2 --neighbor 1,1,2 --sensitivity 1 --epsilon 1 --plot"
    assert run([*words.split(), str(picture)]) == 0
    assert "<svg" in picture.read_text(encoding="utf-8")
    assert run([*words.split(), "audit.txt"]) == 2
