"""Commands about datasets of discreet.toml."""

import json
from pathlib import Path

import pytest

from discreet.cli import run
from discreet.cli.described import without_column

TEXT = """\
ledger = "budget.db"
[datasets.people]
source = "people/*.csv"
budget = { epsilon = "30" }
[datasets.people.columns]
age = { type = "integer", minimum = 0, maximum = 120 }
city = { type = "string", enum = ["Basel", "Bern"] }
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "people").mkdir()
    for name in ("people/a.csv", "people/b.csv", "other.csv"):
        (tmp_path / name).write_text("age,city\n" + "41,Bern\n" * 9_900 + "41,Basel\n" * 900)
    (tmp_path / "discreet.toml").write_text(TEXT)
    below = tmp_path / "below"
    below.mkdir()
    monkeypatch.chdir(below)
    monkeypatch.delenv("DISCREET_CONFIG", raising=False)
    return tmp_path


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = run([*arguments])
    out, err = capsys.readouterr()
    return code, out, err


def test_nothing_else_is_needed(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    code, _, err = said(capsys, "median", "people", "age", "--epsilon", "5")
    assert code != 0
    assert "discreet ledger open people" in err
    assert not (folder / "budget.db").exists()
    assert said(capsys, "ledger", "open", "people")[0] == 0
    for command, answer in (
        (["median", "people", "age"], "41"),
        (["quantile", "people", "age", "--alpha", "1"], ""),
        (["quantiles", "people", "age", "--alphas", "0.5"], "41"),
        (["mode", "people", "city"], "Bern"),
        (["mode", "people", "city", "--candidates", "city=Bern"], "Bern"),
        (["top-k", "people", "city", "--k", "2", "--method", "peeling"], "Bern\nBasel"),
        (["best-price", "people", "age"], "41"),
        (["mode", "people", "age", "--by", "city", "--groups", "city=Bern"], "Bern: 41"),
    ):
        code, out, _ = said(capsys, *command, "--epsilon", "3")
        assert (code, out.strip()) == (0, answer) or (code == 0 and not answer)
    _, out, _ = said(capsys, "ledger", "show", "../budget.db", "--json")
    (budget,) = json.loads(out)
    assert budget["spent"] == {"epsilon": "24"}


def test_a_path_of_a_dataset_is_charged_to_it(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    said(capsys, "ledger", "open", "people")
    for path in ("../people", "../people/*.csv", str(folder / "people")):
        code, out, err = said(capsys, "mode", path, "city", "--epsilon", "5")
        assert (code, out.strip()) == (0, "Bern")
        assert "is declared as people" in err
    code, _, err = said(capsys, "mode", "../people/a.csv", "city", "--epsilon", "5")
    assert code != 0
    assert "Ask about people" in err
    code, _, _ = said(
        capsys, "mode", "../*/a.csv", "city", "--candidates", "Bern", "--epsilon", "1"
    )
    assert code != 0
    code, out, err = said(
        capsys, "mode", "../other.csv", "city", "--candidates", "Bern", "--epsilon", "9"
    )
    assert (code, out.strip(), "declared" in err) == (0, "Bern", False)
    _, out, _ = said(capsys, "ledger", "show", "../budget.db", "--json")
    assert json.loads(out)[0]["spent"] == {"epsilon": "15"}


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        (["mode", "people", "city", "--candidates", "Berne"], "did you mean 'Bern'?"),
        (["mode", "people", "age", "--candidates", "130"], "beyond the maximum"),
        (["mode", "people", "age", "--candidates", "x"], "'x' is not a value of column 'age'"),
        (["median", "people", "city"], "declared as string"),
        (["median", "people", "age", "--lo", "0", "--hi", "130"], "beyond the bounds"),
        (["median", "people", "age", "--lo", "0"], "give --hi"),
        (["median", "../other.csv", "age", "--hi", "9"], "give --lo"),
        (["best-price", "../other.csv", "age"], "give --lo and --hi"),
        (["median", "people", "age", "--ledger", "x.db"], "Leave out --ledger"),
        (["median", "people", "age", "--dataset", "x"], "Leave out --ledger and --dataset"),
        (["median", "people", "age", "--privacy-unit", "x"], "declares every row as a record"),
        (["mode", "people", "town"], "has no column 'town'"),
    ],
)
@pytest.mark.one_in(3)
def test_what_contradicts_the_description_is_refused(
    command: list[str], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    said(capsys, "ledger", "open", "people")
    code, out, err = said(capsys, *command, "--epsilon", "1")
    assert code in (2, 3)  # 3: the data have no such column
    assert out == ""
    assert reason in err


def test_a_dry_run_a_request_and_an_analyst_need_no_ledger_option(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    said(capsys, "ledger", "open", "people")
    said(capsys, "ledger", "open", "people", "--analyst", "ann", "--epsilon", "2")
    asked = ["mode", "people", "city", "--epsilon", "1", "--analyst", "ann"]
    assert "would leave ε = 1" in "".join(map(str, said(capsys, *asked, "--dry-run")))
    for _ in range(3):
        assert said(capsys, *asked, "--request", "monday")[0] == 0
    report = folder / "answer.html"
    assert said(capsys, *asked, "--report", str(report))[0] == 0
    assert "people" in report.read_text()
    code, _, err = said(capsys, *asked)
    assert code != 0
    assert "cannot pay" in err


def test_a_broken_file_is_named_and_not_passed_over(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    (folder / "discreet.toml").write_text(TEXT.replace("enum", "enums"))
    code, _, err = said(
        capsys, "mode", "../other.csv", "city", "--candidates", "Bern", "--epsilon", "1"
    )
    assert code == 2
    assert "discreet.toml, line 7" in err


def test_a_ledger_is_not_taken_for_a_dataset(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = said(capsys, "ledger", "open", "budget.db", "--epsilon", "1")
    assert code == 2
    assert "give --dataset too" in err


def test_the_environment_gives_way_to_the_description(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    said(capsys, "ledger", "open", "people")
    monkeypatch.setenv("DISCREET_LEDGER", "elsewhere.db")
    monkeypatch.setenv("DISCREET_DATASET", "another")
    assert said(capsys, "mode", "people", "city", "--epsilon", "9")[:2] == (0, "Bern\n")
    code, _, err = said(capsys, "mode", "people", "city", "--epsilon", "9", "--dataset", "x")
    assert code == 2
    assert "Leave out --ledger and --dataset" in err


def test_a_format_does_not_hide_that_a_file_is_described(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    said(capsys, "ledger", "open", "people")
    code, _, err = said(
        capsys, "mode", "../people/*.csv", "city", "--epsilon", "5", "--format", "csv"
    )
    assert (code, "is declared as people" in err) == (0, True)
    _, out, _ = said(capsys, "ledger", "show", "../budget.db", "--json")
    assert json.loads(out)[0]["spent"] == {"epsilon": "5"}


def test_every_command_of_a_ledger_takes_a_described_dataset(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    for command in ("show", "spent", "history", "verify"):
        code, out, err = said(capsys, "ledger", command, "people")
        assert (code, out, "discreet ledger open people" in err) == (2, "", True), command
    said(capsys, "ledger", "open", "people")
    assert said(capsys, "median", "people", "age", "--epsilon", "2", "--request", "a")[0] == 0
    assert said(capsys, "ledger", "renew", "people", "--period", "2027")[0] == 0
    assert said(capsys, "ledger", "extend", "people", "--epsilon", "40")[0] == 0
    outside = ["--epsilon", "3", "--description", "mean age", "--request", "m"]
    assert said(capsys, "ledger", "charge", "people", *outside)[0] == 0
    assert said(capsys, "ledger", "done", "people", "--request", "m")[0] == 0
    for named in (["people"], [], ["--dataset", "people"]):
        budgets = json.loads(said(capsys, "ledger", "show", *named, "--json")[1])
        assert [(b["dataset"], b["is_current"], b["total"], b["spent"]) for b in budgets] == [
            ("people", False, {"epsilon": "30"}, {"epsilon": "2"}),
            ("people 2027", True, {"epsilon": "40"}, {"epsilon": "3"}),
        ]
        assert len(json.loads(said(capsys, "ledger", "history", *named, "--json")[1])) == 9
    _, out, _ = said(capsys, "ledger", "spent", "people")
    assert "2 answers: ε = 5 in all" in out
    _, out, _ = said(capsys, "ledger", "spent", "--dataset", "people 2027")
    assert "1 answer: ε = 3" in out
    for where in (["people"], [], ["../budget.db"]):
        assert said(capsys, "ledger", "verify", *where)[0] == 0
    events = folder / "events.csv"
    assert said(capsys, "ledger", "history", "people", "--export", str(events))[0] == 0
    assert len(events.read_text().splitlines()) > 9
    picture, report = folder / "budget.svg", folder / "report.html"
    assert said(capsys, "ledger", "history", "people", "--plot", str(picture))[0] == 0
    assert said(capsys, "ledger", "show", "people", "--report", str(report))[0] == 0
    assert "people 2027" in report.read_text()


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        (["show", "peoples"], "describes no dataset 'peoples' (did you mean 'people'?)"),
        (["show", "people", "--dataset", "other"], "Leave out --dataset"),
        (["show", "--dataset", "other"], "no budget was opened for the dataset 'other'. There are people"),
        (["spent"], "which budget is it? give --dataset, or name a dataset"),
        (["open", "peoples"], "describes no dataset 'peoples' (did you mean 'people'?)"),
    ],
)  # fmt: skip
def test_a_name_that_stands_for_nothing_is_told(
    command: list[str], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    said(capsys, "ledger", "open", "people")
    code, out, err = said(capsys, "ledger", *command)
    assert (code != 0, out) == (True, "")
    assert reason in err


def test_a_ledger_by_its_path_needs_no_description_that_can_be_read(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    said(capsys, "ledger", "open", "people")
    (folder / "discreet.toml").write_text(TEXT.replace("enum", "enums"))
    assert said(capsys, "ledger", "show", "../budget.db")[0] == 0
    for command in (["show", "people"], ["show"], ["open", "people"]):
        code, _, err = said(capsys, "ledger", *command)
        assert (code, "discreet.toml, line 7" in err) == (2, True)
    (folder / "discreet.toml").unlink()
    code, _, err = said(capsys, "ledger", "show")
    assert (code, "which ledger is it?" in err) == (2, True)


QUESTIONS = """
[datasets.people.questions]
typical = { verb = "median", column = "age", epsilon = 5 }
[analysts.ann]
datasets = ["people"]
share = { epsilon = 6 }
"""


def test_named_questions_are_asked(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    (folder / "discreet.toml").write_text(TEXT + QUESTIONS)
    assert "discreet ledger open people" in said(capsys, "ask", "typical")[2]
    said(capsys, "ledger", "open", "people")
    said(capsys, "ledger", "open", "people", "--analyst", "ann")
    # Ann's share of 6 was paid for when it was opened.
    assert (
        "spent ε = 6, remaining ε = 24; would leave ε = 19"
        in said(capsys, "ask", "typical", "--dry-run")[1]
    )
    for _ in range(2):
        code, out, err = said(capsys, "ask", "typical", "--analyst", "ann", "--request", "a")
        assert (code, out) == (0, "41\n")
    assert "free: this request was charged before" in err
    code, _, err = said(capsys, "ask", "typical", "--analyst", "ann")
    assert (code, "cannot pay" in err) == (4, True)
    code, out, _ = said(capsys, "ask", "typical", "--json")
    assert (json.loads(out)["value"], json.loads(out)["question"]) == (41, "typical")
    code, _, err = said(capsys, "ask", "typicals")
    assert (code, "There are typical" in err) == (2, True)


def test_dates_are_asked_for_by_their_grid(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = "\n".join(f"2021-{1 + i % 12:02}-03" for i in range(600))
    Path("staff.csv").write_text(f"hired\n{rows}\n12.03.2021\n\n", "utf-8")
    ends = ("--lo", "2020-01-01", "--hi", "2024-12-31")
    for step in (("--step", "1 month"), ("--step", "month"), ("--step", "1", "month")):
        code, out, _ = said(
            capsys, "median", "staff.csv", "hired", *ends, *step, "--epsilon", "100"
        )
        assert (code, out.split("\n")[0][:7]) in ((0, "2021-06"), (0, "2021-07"))
    code, out, _ = said(
        capsys,
        "quantiles",
        "staff.csv",
        "hired",
        "--alphas",
        "0,1",
        *ends,
        "--epsilon",
        "200",
        "--json",
    )
    assert json.loads(out)["value"][0][:4] in ("2020", "2021")
    code, _, err = said(
        capsys, "median", "staff.csv", "hired", *ends, "--step", "5", "--epsilon", "1"
    )
    assert code != 0
    assert "1 month" in err
    Path("discreet.toml").write_text(
        '[datasets.staff]\nsource = "staff.csv"\ncolumns.hired = { type = "date", minimum = 2020-01-01, '
        'maximum = 2024-12-31, step = "1 month" }\n', "utf-8"
    )  # fmt: skip
    code, out, _ = said(capsys, "median", "staff", "hired", "--epsilon", "100")
    assert (code, out[:8] in ("2021-06-", "2021-07-")) == (0, True)


def test_the_name_of_the_only_column_is_no_part_of_its_values() -> None:
    """A value that begins as the column does is written with the name before it."""
    assert without_column("city", ["city=Bern,Basel", "city"]) == ["Bern,Basel", "city"]
    assert without_column("city", ["city=city=x", "cities=y"]) == ["city=x", "cities=y"]
