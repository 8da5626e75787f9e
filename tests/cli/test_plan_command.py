"""discreet plan needs no data, and refuses plans that make no sense."""

import json
from pathlib import Path

import pytest

from discreet.cli import run


def test_a_plan_needs_no_data(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["plan", "--candidates", "1000", "-e", "1"]) == 0
    assert capsys.readouterr().out.split() == [
        "mechanism", "expected", "error",
        "exponential", "4.5",
        "permute_and_flip", "4.3",
    ]  # fmt: skip
    wanted = ["--error", "5", "--confidence", "0.95", "--spread", "2", "--json"]
    assert run(["plan", "--candidates", "1000", *wanted]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["exponential"]["epsilon"] == "3.94047750313"
    assert told["permute_and_flip"]["epsilon"] < told["exponential"]["epsilon"]


def test_a_plan_on_scores_that_are_public(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, picture = tmp_path / "votes.csv", tmp_path / "curve.png"
    file.write_text("votes\n310\n322\n245\n300\n")
    given = ["plan", "--scores", str(file), "--column", "votes"]
    assert run([*given, "--epsilon", "0.1", "--json", "--plot", str(picture)]) == 0
    told = json.loads(capsys.readouterr().out)
    assert float(told["exponential"]["error"]) == pytest.approx(4.30944)
    assert run([*given, "--error", told["exponential"]["error"], "--json"]) == 0
    again = json.loads(capsys.readouterr().out)
    assert float(again["exponential"]["epsilon"]) == pytest.approx(0.1, rel=1e-3)
    assert picture.read_bytes().startswith(b"\x89PNG")
    again_as = tmp_path / "curve.svg"
    assert run(["plan", "--candidates", "9", "--error", "2", "--plot", str(again_as)]) == 0
    assert again_as.read_text().startswith("<?xml")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--epsilon", "1"], "either --candidates"),
        (["--candidates", "2", "--scores", "a.csv", "--epsilon", "1"], "either --candidates"),
        (["--candidates", "2"], "either --epsilon"),
        (["--candidates", "2", "--epsilon", "1", "--error", "1"], "either --epsilon"),
        (["--scores", "a.csv", "--error", "1", "--confidence", "0.9"], "goes with --candidates"),
        (["--candidates", "2", "--epsilon", "0"], "epsilon must be greater than zero"),
        (["--candidates", "2", "--epsilon", "1", "--plot", "a.xyz"], "--plot must end in"),
    ],
)
def test_plans_that_make_no_sense_are_refused(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["plan", *arguments]) == 2
    assert message in capsys.readouterr().err
