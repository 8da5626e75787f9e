"""discreet mode and top-k: an answer or a list, its guarantee, and every mechanism by name."""

import json
import re
from pathlib import Path

import pytest
import typer

from discreet.cli import run
from discreet.cli.mode_command import top_k_command
from discreet.cli.releasing import UNDESCRIBED_TEXT

from .test_application import MODE, STATUS

RECORDS_FEWER = (
    "in 95 of 100 answers the answer has at most 3 records fewer than the most common one"
)


def test_an_answer_and_its_guarantee(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*MODE, "--candidates", STATUS, "--epsilon", "1"]) == 0
    out, err = capsys.readouterr()
    assert out == "Married-civ-spouse\n"
    assert (
        err
        == f"{UNDESCRIBED_TEXT}\nε = 1 (add/remove one record), exponential mechanism\n{RECORDS_FEWER}\n"
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ["--mechanism", "base2"],
        ["--mechanism", "permute_and_flip"],
        ["--mechanism", "noisy_max", "--mechanism-option", "noise=gumbel"],
        ["--mechanism", "noisy_max", "--mechanism-option", "noise=exponential"],
        ["--mechanism", "base2", "--mechanism-option", "granularity=0.5"],
        ["--mechanism-option", "base_measure=1,1,1/2"],
    ],
)
def test_every_mechanism_has_a_name(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*MODE, "--candidates", STATUS, "--epsilon", "1", *arguments]) == 0
    assert capsys.readouterr().out.startswith("Married-civ-spouse\n")


EXAMPLE = str(Path(__file__).parents[2] / "examples" / "marital_status.csv")


def test_short_options(capsys: pytest.CaptureFixture[str]) -> None:
    words = [
        "top-k",
        str(EXAMPLE),
        "marital_status",
        "-c",
        "Divorced,Widowed",
        "-k",
        "2",
        "-e",
        "9",
    ]
    assert run(words) == 0
    head, *rows = capsys.readouterr().out.splitlines()
    assert head.split() == ["answer", "count"]
    assert sorted(row.split()[0] for row in rows) == ["Divorced", "Widowed"]
    assert run([*words, "--method", "peeling"]) == 0
    assert sorted(capsys.readouterr().out.split()) == ["Divorced", "Widowed"]
    assert run([*words, "--mechanism", "exponential"]) == 0  # which only peeling takes
    assert sorted(capsys.readouterr().out.split()) == ["Divorced", "Widowed"]


def test_counts_are_shown_beside_the_answers(capsys: pytest.CaptureFixture[str]) -> None:
    options = [EXAMPLE, "marital_status", "-c", "Divorced,Widowed", "-e", "1", "--method", "counts"]
    assert run(["top-k", *options, "-k", "1", "--json"]) == 0
    plain = json.loads(capsys.readouterr().out)
    assert (plain["value"], plain["mechanism"]) == (["Divorced"], "geometric")
    assert abs(plain["counts"][0] - 4443) < 60
    assert run(["mode", *options]) == 0
    assert re.fullmatch(r"Divorced \(4[34]\d\d\)\n", capsys.readouterr().out)
    assert run(["top-k", *options, "-k", "1", "--max-candidates", "1"]) == 2
    assert "privacy_unit" in capsys.readouterr().err


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    app = typer.Typer()
    app.command()(top_k_command)
    command = typer.main.get_command(app)
    status = "Never-married,Divorced,Married-civ-spouse,Widowed"
    options = [EXAMPLE, "marital_status", "--candidates", status, "--k", "3"]
    for method in ("peeling", "joint"):
        command.main([*options, "--epsilon", "1", "--method", method], standalone_mode=False)
    errors = {"peeling": "15.6", "joint-top-k": "12.2"}
    out, err = capsys.readouterr()
    assert out == 2 * "Married-civ-spouse\nNever-married\nDivorced\n"
    together = "2 answers about this file so far: ε = 2 together (add/remove one record)\n"
    said = (
        f"ε = 1 (add/remove one record), {name} mechanism (exponential)\n"
        f"in 95 of 100 answers the answer is off by less than {error} records at any place of the list\n"
        for name, error in errors.items()
    )
    assert err == f"{UNDESCRIBED_TEXT}\n" + "".join(said) + together
    command.main([*options, "--rho", "1/2", "--json"], standalone_mode=False)
    assert json.loads(capsys.readouterr().out)["guarantee"]["kind"] == "discrete_gaussian_dp"
