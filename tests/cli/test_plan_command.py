"""discreet plan needs no data, and refuses plans that make no sense."""

import json
from pathlib import Path
from typing import Any

import pytest

import discreet
from discreet.cli import run
from discreet.selection.verb_calls import bill_of


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
        (["--candidates", "2", "--delta", "1e-6"], "either --epsilon"),
        (["--candidates", "2", "--delta", "1e-6", "--error", "1"], "go with --candidates"),
        (["--delta", "1e-6", "--epsilon", "1", "--error", "1"], "without scores"),
        (["--scores", "a.csv", "--delta", "1e-6", "--epsilon", "1"], "without scores"),
        (["--candidates", "2", "--delta", "2", "--epsilon", "1"], "delta must be below 1"),
        (
            ["--candidates", "2", "--delta", "1e-6", "--epsilon", "1", "--max-candidates", "3"],
            "from 1 to 2",
        ),
    ],
)
def test_plans_that_make_no_sense_are_refused(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["plan", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_a_plan_of_counts_says_which_noise_they_have(capsys: pytest.CaptureFixture[str]) -> None:
    """The same as the quote of the verbs, in both relations, and of a list beside its method."""
    for most, neighbors in ((20, "add_remove"), (20, "replace_one"), (5, "add_remove")):
        given = ["--candidates", "60", "--max-candidates", str(most), "--neighbors", neighbors]
        given += ["--epsilon", "1", "--delta", "1e-6"]
        terms: Any = {"candidates": range(60), "privacy_unit": "u", "max_candidates": most}
        terms |= {"epsilon": 1, "delta": "1e-6", "neighbors": neighbors}
        noise = discreet.quote(discreet.counts, "no.csv", "v", **terms).noise
        assert noise is not None
        assert run(["plan", *given]) == 0
        assert capsys.readouterr().out == f"{noise}\n"
        assert run(["plan", *given, "--json"]) == 0
        assert json.loads(capsys.readouterr().out) == {"noise": noise.as_dict()}
        for k in (2, 9) if most == 5 else ():
            assert run(["plan", *given, "--k", str(k), "--json"]) == 0
            plan = json.loads(capsys.readouterr().out)
            bill = bill_of(discreet.top_k, "no.csv", "v", k=k, **terms)
            assert (plan["method"] == "counts") == (bill.mechanism in ("gaussian", "geometric"))
            assert plan.get("noise") == (None if bill.noise is None else bill.noise.as_dict())
