"""Tab completion, by the protocol of the shells: commands, options, choices, and columns from schemas alone."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from discreet.cli import run
from discreet.cli.completion import columns_of_file
from discreet.mechanisms import MECHANISMS
from discreet.tables.engines.files import column_names as columns_of

Complete = Callable[[str], list[str]]


@pytest.fixture
def completed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Complete:
    """Return a function that returns what bash completes the last word of a line to."""
    monkeypatch.chdir(tmp_path)
    Path("own.csv").write_text("name,drink,age\nAlice,tea,30\nBob,milk,40\n")

    def complete(line: str) -> list[str]:
        words = line.split(" ")
        monkeypatch.setenv("_DISCREET_COMPLETE", "complete_bash")
        monkeypatch.setenv("COMP_WORDS", line)
        monkeypatch.setenv("COMP_CWORD", str(len(words) - 1))
        with pytest.raises(SystemExit) as end:
            run([])
        assert end.value.code == 0
        out, err = capsys.readouterr()
        assert err == ""
        return out.split()

    return complete


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("discreet med", ["median"]),
        ("discreet noise ra", ["randomized-response"]),
        ("discreet ledger ex", ["extend"]),
        ("discreet mode own.csv drink --eps", ["--epsilon"]),
        ("discreet mode own.csv drink --mechanism ", [*MECHANISMS]),
        ("discreet mode own.csv drink --mechanism b", ["base2"]),
        ("discreet mode own.csv drink --neighbors r", ["replace_one"]),
        ("discreet mode - drink --format p", ["parquet"]),
        ("discreet mode own.csv drink --csv enc", ["encoding="]),
        ("discreet describe own.csv --csv mu", ["multiline="]),
        ("discreet top-k own.csv drink --method j", ["joint"]),
        ("discreet attack under", ["underflow"]),
        ("discreet mode own.csv ", ["name", "drink", "age"]),
        ("discreet median own.csv a", ["age"]),
        ("discreet mode own.csv drink --privacy-unit n", ["name"]),
        ("discreet mode own.csv drink --by d", ["drink"]),
        ("discreet plan --scores own.csv --column a", ["age"]),
        ("discreet mode x drink --candidates-from own.csv --candidates-column n", ["name"]),
        ("discreet mode missing.csv d", []),
        ("discreet mode - d", []),
    ],
)
@pytest.mark.one_in(3)
def test_what_is_completed(line: str, found: list[str], completed: Complete) -> None:
    assert completed(line) == found


def test_no_value_of_the_data_is_ever_offered(completed: Complete) -> None:
    for word in ("", "A", "t", "3"):
        assert not {"Alice", "Bob", "tea", "milk", "30", "40"} & {
            *completed(f"discreet mode own.csv {word}"),
            *completed(f"discreet mode own.csv drink --candidates {word}"),
        }
    Path("bare.csv").write_text("Alice,30\nBob,40\n")  # without a header line
    assert completed("discreet mode bare.csv ") == []
    Path("rows.jsonl").write_text('{"name": "Alice"}\n')
    assert completed("discreet mode rows.jsonl ") == []


def test_names_that_a_shell_would_evaluate_are_left_out(completed: Complete) -> None:
    Path("evil.csv").write_text("$(touch hacked),`id`,two words,a'b,\\$(id),größe,ok-1.x\n")
    assert completed("discreet mode evil.csv ") == ["größe", "ok-1.x"]


def test_columns_of_parquet_arrow_folders_and_patterns(tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": [1], "b": ["x"]})
    (tmp_path / "t" / "year=2026").mkdir(parents=True)
    frame.to_parquet(tmp_path / "t" / "year=2026" / "p.parquet")
    frame.to_feather(tmp_path / "p.arrow", compression="uncompressed")
    assert columns_of(str(tmp_path / "t")) == ["a", "b", "year"]
    assert columns_of(str(tmp_path / "t" / "*" / "*.parquet")) == ["a", "b"]
    assert columns_of(str(tmp_path / "p.arrow")) == ["a", "b"]


def test_a_pipe_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")

    class Context:
        params = {"data": str(tmp_path / "pipe")}  # noqa: RUF012
        args: list[str] = []  # noqa: RUF012

    assert columns_of_file(Context(), "") == []  # type: ignore[arg-type]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
@pytest.mark.one_in(3)
def test_every_shell_gets_its_script(shell: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "discreet"],
        env={**os.environ, "_DISCREET_COMPLETE": f"source_{shell}"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert f"complete_{shell}" in done.stdout
    assert "discreet" in done.stdout


def test_zsh_and_fish_complete_columns_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("own.csv").write_text("drink,age\ntea,30\n")
    monkeypatch.setenv("_TYPER_COMPLETE_ARGS", "discreet mode own.csv dr")
    monkeypatch.setenv("_TYPER_COMPLETE_FISH_ACTION", "get-args")
    for shell in ("zsh", "fish"):
        monkeypatch.setenv("_DISCREET_COMPLETE", f"complete_{shell}")
        with pytest.raises(SystemExit):
            run([])
        out = capsys.readouterr().out
        assert "drink" in out
        assert "age" not in out


def test_completion_can_be_installed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--help"]) == 0
    out = capsys.readouterr().out
    assert "--install-completion" in out
    assert "--show-completion" in out


def test_what_discreet_toml_describes_is_completed(completed: Complete) -> None:
    Path("discreet.toml").write_text(
        'ledger = "b.db"\n[datasets.people]\nsource = "own.csv"\nbudget = { epsilon = "1" }\n'
        "[datasets.people.columns]\n"
        'age = { type = "integer", minimum = 0, maximum = 120 }\n'
        'drink = { type = "string", enum = ["tea", "milk", "two words"] }\n'
    )
    Path("pears.csv").write_text("a\n")
    assert completed("discreet median people ") == ["age", "drink"]
    assert completed("discreet median pe") == ["people", "pears.csv"]
    assert completed("discreet median own") == []  # the shell completes files by itself
    assert completed("discreet mode people drink --candidates ") == ["tea", "milk"]
    assert completed("discreet mode people drink --candidates tea,m") == ["tea,milk"]
    assert completed("discreet mode people age --candidates ") == []
    Path("discreet.toml").write_text("broken")
    assert completed("discreet median pe") == []
    assert completed("discreet mode people drink --candidates ") == []


DESCRIBED = """
[datasets.people]
source = "own.csv"
columns.age = { type = "integer", minimum = 30, maximum = 33 }
columns.drink = { type = "string", enum = ["tea", "milk", "x; rm"] }
columns.ok = { type = "boolean" }
questions.typical-age = { verb = "median", column = "age", epsilon = 1 }
questions.top = { verb = "mode", column = "drink", epsilon = 1 }
[datasets.visits]
source = "own.csv"
columns.day = { type = "date", minimum = 2024-01-30, maximum = 2024-02-01 }
questions.typical-day = { verb = "mode", column = "day", epsilon = 1 }
[analysts.ann]
datasets = ["people"]
[analysts.bob]
datasets = ["people"]
"""


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("discreet mode peo", ["people"]),
        ("discreet mode people ", ["age", "drink", "ok"]),
        ("discreet mode people drink --candidates ", ["tea", "milk"]),
        ("discreet mode people drink --candidates tea,", ["tea,tea", "tea,milk"]),
        ("discreet mode people age --candidates ", ["30", "31", "32", "33"]),
        ("discreet mode visits day --candidates 2024-02", ["2024-02-01"]),
        ("discreet mode people age --by ok --groups ", ["false", "true"]),
        ("discreet mode people age --by drink --groups m", ["milk"]),
        ("discreet median people a", ["age"]),
        ("discreet ask ty", ["typical-age", "typical-day"]),
        ("discreet ask top --dataset v", ["visits"]),
        ("discreet ask top --analyst ", ["ann", "bob"]),
        ("discreet mode people age --analyst b", ["bob"]),
        ("discreet ledger open peo", ["people"]),
        ("discreet ledger open people --analyst a", ["ann"]),
        ("discreet ledger show peo", ["people"]),
        ("discreet ledger show --dataset v", ["visits"]),
        ("discreet ledger renew v", ["visits"]),
        ("discreet check ", ["people", "visits"]),
    ],
)
@pytest.mark.one_in(4)
def test_what_a_description_completes(line: str, found: list[str], completed: Complete) -> None:
    Path("discreet.toml").write_text(DESCRIBED)
    assert completed(line) == found
    Path("discreet.toml").write_text(DESCRIBED.replace("type", "typ"))
    assert not {*found} & {*completed(line)}  # nothing of a file that cannot be read
