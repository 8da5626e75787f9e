"""The command line."""

import json
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from discreet.cli import run
from discreet.cli.releasing import UNDESCRIBED_TEXT

STATUS = "Married-civ-spouse,Never-married,Divorced"
EXAMPLE = str(Path(__file__).parents[2] / "examples" / "marital_status.csv")
MODE = ["mode", EXAMPLE, "marital_status"]


def test_json_is_stable(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--candidates", STATUS, "--epsilon", "1", "--json"]
    assert run([*MODE, *arguments, "--mechanism", "noisy_max", "--neighbors", "replace_one"]) == 0
    out, err = capsys.readouterr()
    assert err == f"{UNDESCRIBED_TEXT}\n"
    told = json.loads(out)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", told.pop("time"))
    assert told.pop("version") == version("discreet")
    assert told == {
        "promise": "ε = 1 (replace one record), noisy-max mechanism",
        "epsilon": "1",
        "query": "most common value of marital_status, 3 candidates",
        "data": EXAMPLE,
        "column": "marital_status",
        "value": "Married-civ-spouse",
        "mechanism": "noisy_max",
        "guarantee": {"kind": "laplace_dp", "epsilon": "1", "neighbors": "replace_one"},
        "error": None,
    }


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["mode", EXAMPLE, "marital_status", "--epsilon", "1"],
            "candidates are missing",
        ),
        ([*MODE, "--candidates", STATUS], "how much privacy? give epsilon"),
        (
            [*MODE, "--candidates", STATUS, "--epsilon", "0"],
            "epsilon must be greater than zero, got '0'",
        ),
        (
            [*MODE, "--candidates", STATUS, "--epsilon", "much"],
            "epsilon must be a number such as 1, 0.1 or 1/3",
        ),
        ([*MODE, "--candidates", "", "--epsilon", "1"], "candidates must not be empty"),
        (
            [*MODE, "--candidates", "a,,b", "--epsilon", "1"],
            "has an empty value. Remove a comma",
        ),
        ([*MODE, "--candidates", '"a,b', "--epsilon", "1"], "a quote that is not closed"),
        (
            [*MODE, "--candidates", "a,a", "--epsilon", "1"],
            "candidates must be distinct, 'a' is there twice",
        ),
        (
            [*MODE, "--candidates", "a", "--epsilon", "1", "--mechanism", "magic"],
            "mechanism must be one of",
        ),
        *(
            ([*MODE, "--candidates", "a", "--epsilon", "1", "--mechanism", name, *given], says)
            for name, given, says in [
                ("permute_and_flip", ["--mechanism-option", "noise=gumbel"], "has no options"),
                (
                    "base2",
                    ["--mechanism-option", "noise=gumbel"],
                    "has the options eta, granularity",
                ),
                ("base2", ["--mechanism-option", "eta"], "as eta=VALUE"),
                ("base2", ["--mechanism-option", "eta=1,x"], "eta must be x,y"),
                ("noisy_max", ["--mechanism-option", "noise=gumbel"] * 2, "once"),
            ]
        ),
        (
            [*MODE, "--candidates", "a", "--epsilon", "1", "--size", "3"],
            "No such option: --size",
        ),
        (["mode", EXAMPLE, "--candidates", "a", "--epsilon", "1"], "Missing argument 'COLUMN'"),
        (["mean", EXAMPLE, "age", "--lo", "0"], "No such option: --lo, here it is --minimum"),
        (
            ["median", EXAMPLE, "age", "--maximum", "9"],
            "No such option: --maximum, here it is --hi",
        ),
        (["mode", EXAMPLE, "age", "--mim", "9"], "No such option: --mim"),
        (["mode", EXAMPLE, "age", "--language", "zh"], "--language goes before the command"),
        (["frobnicate"], "No such command 'frobnicate'"),
    ],
)
def test_errors_are_one_line_and_exit_with_2(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith("discreet: ")
    assert message in err


def test_help_fits_and_names_everything(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert run(["mode", "--help"]) == 0
    out = capsys.readouterr().out
    for option in ("--candidates", "--epsilon", "--mechanism", "--neighbors", "--json"):
        assert option in out
    assert max(map(len, out.splitlines())) <= 80
    assert run(["--version"]) == 0
    assert capsys.readouterr().out.startswith("discreet ")


def test_a_bug_is_not_an_error_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr("discreet.tables.verbs.mode.mode", broken)
    with pytest.raises(RuntimeError, match="a bug"):
        run([*MODE, "--candidates", "a", "--epsilon", "1"])


def test_an_interrupt_exits_with_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("discreet.tables.verbs.mode.mode", interrupted)
    assert run([*MODE, "--candidates", "a", "--epsilon", "1"]) == 130


def test_no_arguments_show_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([]) == 0
    out, err = capsys.readouterr()
    assert "Usage: discreet" in out
    assert "mode" in out
    assert err == ""


def test_an_answer_that_cannot_be_written_is_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(sys.modules["discreet.cli.releasing"], "show_release", full)
    assert run([*MODE, "--candidates", STATUS, "--epsilon", "1"]) == 7
    assert capsys.readouterr().err == f"{UNDESCRIBED_TEXT}\n" + (
        "discreet: the answer could not be written: No space left on device\n"
    )


def test_python_dash_m() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "discreet", *MODE, "--candidates", STATUS, "--epsilon", "1"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0
    assert done.stdout.startswith("Married-civ-spouse\n")


# --- persons and groups


@pytest.fixture
def visits(tmp_path: Path) -> str:
    rows = [
        f"p{i},{'north' if i % 2 else 'south'},{'tea' if i % 2 else 'milk'},{i % 2 * 50}"
        for i in range(200)
    ]
    (tmp_path / "visits.csv").write_text("person,region,drink,age\n" + "\n".join(rows * 2) + "\n")
    return str(tmp_path / "visits.csv")


def test_persons_and_groups(visits: str, capsys: pytest.CaptureFixture[str]) -> None:
    people = [
        "--privacy-unit",
        "person",
        "--by",
        "region",
        "--groups",
        "south,north",
        "--epsilon",
        "50",
    ]
    drinks = ["drink", "--candidates", "tea,milk", *people]
    assert run(["mode", visits, *drinks]) == 0
    out, err = capsys.readouterr()
    assert out == "south: milk\nnorth: tea\n"
    promise = "ε = 50 (add/remove one person), exponential mechanism"
    error = "in 95 of 100 answers the answer is as good as the best one"
    assert err == f"{UNDESCRIBED_TEXT}\n{promise}\n{error}\n"
    assert run(["mode", visits, *drinks, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["value"] == {"south": "milk", "north": "tea"}
    assert told["privacy_unit"] == "person"
    assert run(["top-k", visits, *drinks, "--k", "2", "--max-groups", "2"]) == 0
    assert re.fullmatch(
        r"south: milk \(\d+\), tea \(\d+\)\nnorth: tea \(\d+\), milk \(\d+\)\n",
        capsys.readouterr().out,
    )
    ages = ["age", "--lo", "0", "--hi", "60", *people, "--max-contributions", "2"]
    assert run(["median", visits, *ages]) == 0
    assert capsys.readouterr().out.startswith("south: 0\nnorth: 50\n")


def test_groups_without_their_column(visits: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        run(
            [
                "mode",
                visits,
                "drink",
                "--candidates",
                "a,b",
                "--groups",
                "x",
                "--epsilon",
                "1",
            ]
        )
        == 2
    )
    assert "by goes with groups" in capsys.readouterr().err


@pytest.mark.parametrize("words", [[], ["--other", "1/10"]])
def test_no_key_is_an_answer(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "few.csv").write_text("city\nBern\n")
    ask = ["counts", str(tmp_path / "few.csv"), "city", "--delta", "1e-9", "--epsilon", "1"]
    assert run([*ask, *words]) == 0
    assert "Bern" not in capsys.readouterr().out
