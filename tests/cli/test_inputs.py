"""What commands read: standard input, pipes, files of any name; and what becomes of private bytes."""

import io
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
import zipfile
from contextlib import closing
from pathlib import Path

import duckdb
import pytest

from discreet.cli import inputs, run
from discreet.cli.inputs import in_form
from discreet.errors import InvalidArgument, UnreadableFile
from discreet.tables.formats.text_form import CsvFile, scan_csv

ROWS = "person,drink,age\n" + "a,tea,30\n" * 60 + "b,milk,40\n" * 3
DRINK = ["--candidates", "tea,milk", "--epsilon", "20"]


def given(text: str | bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the text standard input."""
    raw = text if isinstance(text, bytes) else text.encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw)))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty folder, in which temporary files are made, and where commands run."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


WESTERN = ["--csv", "encoding=cp1252", "--csv", "delimiter=;", "--csv", "names=person,drink"]
TEA = ["--candidates", "thé,lait", "--epsilon", "20"]


def test_the_form_of_a_csv_file_is_said(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = ("a;thé\n" * 60 + "b;lait\n").encode("cp1252")
    (folder / "t.csv").write_bytes(rows)
    assert run(["mode", "t.csv", "drink", *TEA, *WESTERN]) == 0
    assert capsys.readouterr().out == "thé\n"
    given(rows, monkeypatch)
    assert run(["mode", "-", "drink", *TEA, *WESTERN, "--csv", "quote="]) == 0
    assert capsys.readouterr().out == "thé\n"
    with pytest.warns(UserWarning, match="the promise is about one line"):
        assert run(["mode", "t.csv", "drink", *TEA, *WESTERN, "--csv", "multiline=false"]) == 0


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("code=utf-8", "KEY is one of encoding, delimiter"), ("encoding", "takes KEY=VALUE"),
        ("multiline=no", "must be True or False"), ("quote=ab", "quote must be one character"),
        ("encoding=no", "must be a character code"), ("names=a,,b", "empty value"),
    ],
)  # fmt: skip
def test_forms_that_are_none_are_refused(
    word: str, message: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "t.csv").write_text(ROWS)
    assert run(["mode", "t.csv", "drink", *DRINK, "--csv", word]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("form", [[], ["--format", "csv"]])
def test_a_table_from_standard_input(
    form: list[str],
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    given(ROWS, monkeypatch)
    assert run(["mode", "-", "drink", *DRINK, *form]) == 0
    assert capsys.readouterr().out == "tea\n"
    given(ROWS, monkeypatch)
    assert run(["median", "-", "age", "--lo", "0", "--hi", "120", "--epsilon", "20", *form]) == 0
    assert capsys.readouterr().out == "30\n"
    assert not list(folder.glob("discreet-input-*"))


def test_every_format_can_be_piped(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"drink": ["tea"] * 60 + ["milk"] * 3})
    frame.to_csv("t.csv.gz", index=False)
    frame.to_csv("t.tsv", index=False, sep="\t")
    frame.to_json("t.jsonl", orient="records", lines=True)
    frame.to_parquet("t.parquet")
    frame.to_feather("t.arrow", compression="uncompressed")
    for form in ("csv.gz", "tsv", "jsonl", "parquet", "arrow"):
        given((folder / f"t.{form}").read_bytes(), monkeypatch)
        assert run(["mode", "-", "drink", *DRINK, "--format", form]) == 0, form
        assert capsys.readouterr().out == "tea\n"


def test_a_file_whose_name_does_not_say_its_format(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "own.dat").write_text(ROWS)
    assert run(["mode", "own.dat", "drink", *DRINK]) == 3
    assert "own.dat does not say its format. Give --format csv" in capsys.readouterr().err
    assert run(["mode", "own.dat", "drink", *DRINK, "--format", "csv"]) == 0
    assert capsys.readouterr().out == "tea\n"
    assert run(["mode", "own.dat", "drinks", *DRINK, "--format", "csv"]) == 3
    err = capsys.readouterr().err
    assert "no column 'drinks' in own.dat (did you mean 'drink'?)" in err
    assert run(["mode", "own.dat", "drink", *DRINK, "--format", "xml"]) == 2
    assert "--format must be one of csv, " in capsys.readouterr().err
    assert run(["mode", ".", "drink", *DRINK, "--format", "csv"]) == 2
    assert "--format is of one file" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "fix"),
    [
        ("people.duckdb", "duckdb -csv people.duckdb 'SELECT …' | discreet … -"),
        ("people.sqlite", "sqlite3 -csv -header people.sqlite 'SELECT …' | discreet … -"),
        ("people.xlsx", "by its bytes and its name"),
        ("https://example.org/people.csv", "curl ADDRESS | discreet … -"),
    ],
)
def test_what_other_programs_read_is_refused_with_the_fix(
    name: str, fix: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if "duckdb" in name:
        duckdb.connect(name).execute("CREATE TABLE people (drink TEXT)").close()
    elif "sqlite" in name:
        with closing(sqlite3.connect(name)) as lite:
            lite.execute("CREATE TABLE people (drink TEXT)")
    elif "://" not in name:
        (folder / name).write_bytes(b"x")
    assert run(["mode", name, "drink", *DRINK]) == 3
    err = capsys.readouterr().err
    assert fix in err
    assert ("one of 'people'" in err) == ("sqlite" in name or "duckdb" in name)


@pytest.mark.parametrize("source", ["-", "/dev/stdin"])
def test_a_draft_of_a_pipe_is_refused(source: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["describe", source, "--header"]) == 2
    assert "give the path of a file" in capsys.readouterr().err


def test_a_database_by_standard_input_is_told(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    duckdb.connect("people.db").execute("CREATE TABLE people (drink TEXT)").close()
    given((folder / "people.db").read_bytes(), monkeypatch)
    assert run(["mode", "-", "drink", *DRINK]) == 3
    assert "duckdb -csv FILE 'SELECT …' | discreet … -" in capsys.readouterr().err


@pytest.mark.parametrize("form", [[], ["--format", "xlsx"], ["--format", "csv"]])
def test_workbooks_and_archives_are_told_by_their_bytes_in_a_pipe(
    form: list[str],
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book, rows = openpyxl.Workbook(), [line.split(",") for line in ROWS.split()]
    for row in rows:
        book.active.append(row)
    book.create_sheet("empty")
    book.save("t.xlsx")
    with zipfile.ZipFile("t.zip", "w") as archive:
        archive.writestr("t.csv", ROWS)
    sheet = ["--csv", "sheet=Sheet"]
    for name, words in (("t.xlsx", sheet), ("t.zip", [])):
        if name == "t.zip" and "xlsx" in form:
            continue
        given((folder / name).read_bytes(), monkeypatch)
        assert run(["mode", "-", "drink", *DRINK, *form, *words]) == 0
        assert capsys.readouterr().out == "tea\n"
    given((folder / "t.xlsx").read_bytes(), monkeypatch)
    assert run(["mode", "-", "drink", *DRINK, *form]) == 3
    assert "standard input has the sheets 'Sheet', 'empty'" in capsys.readouterr().err


def test_many_files_by_a_pattern_and_by_a_folder(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "rows").mkdir()
    for i in range(3):
        (folder / "rows" / f"{i}.csv").write_text(ROWS)
    for data in ("rows/*.csv", "rows"):
        assert run(["mode", data, "drink", *DRINK]) == 0
        assert capsys.readouterr().out == "tea\n"
    assert run(["mode", "rows/0.csv", "rows/1.csv", "drink", *DRINK]) == 2
    assert "pattern in quotes, such as 'rows/*.csv'" in capsys.readouterr().err


def test_errors_name_standard_input_and_not_the_copy(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given(ROWS, monkeypatch)
    assert run(["mode", "-", "drinks", *DRINK]) == 3
    err = capsys.readouterr().err
    assert "there is no column 'drinks' in standard input" in err
    assert str(folder) not in err
    assert not list(folder.glob("discreet-input-*"))


def test_the_copy_is_for_its_owner_alone(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given(ROWS, monkeypatch)
    with inputs.table_file("-") as path:
        assert Path(path).read_text() == ROWS
        assert Path(path).stat().st_mode & 0o777 == 0o600
        assert Path(path).parent.stat().st_mode & 0o777 == 0o700
    assert not Path(path).exists()
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    ("signum", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
@pytest.mark.one_in(3)
def test_the_copy_is_removed_when_the_command_is_stopped(
    signum: signal.Signals, code: int, folder: Path
) -> None:
    command = subprocess.Popen(
        [sys.executable, "-m", "discreet", "mode", "-", "drink", *DRINK],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(folder)},
        # A shell starts what runs in its background without Ctrl-C, and nohup without hanging up.
        preexec_fn=lambda: signal.signal(signum, signal.SIG_DFL),
    )
    assert command.stdin is not None
    command.stdin.write(ROWS.encode() * 1000)
    command.stdin.flush()
    while not list(folder.glob("discreet-input-*/table.csv")):  # it waits for the rest
        time.sleep(0.01)
    command.send_signal(signum)
    _, err = command.communicate()
    assert (command.returncode, err) == (code, b"")
    assert not list(folder.glob("discreet-input-*"))


def test_a_named_pipe_is_read_once(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo(folder / "pipe")
    writer = subprocess.Popen(
        [sys.executable, "-c", "import sys; open('pipe', 'w').write(sys.argv[1])", ROWS]
    )
    assert run(["mode", "pipe", "drink", *DRINK]) == 0
    assert writer.wait() == 0
    assert capsys.readouterr().out == "tea\n"


def test_a_terminal_is_no_table(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given("", monkeypatch)
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
    assert run(["mode", "-", "drink", *DRINK]) == 2
    assert "standard input is a terminal: end the command with < FILE" in capsys.readouterr().err


def test_the_ledger_is_asked_before_standard_input_is_read(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", None)  # reading it would fail
    assert run(["mode", "-", "drink", *DRINK, "--ledger", "no.db", "--dataset", "p"]) == 2
    assert "there is no ledger at no.db" in capsys.readouterr().err


# --- a private value, and scores


def test_a_number_with_noise(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["noise", "laplace", "--sensitivity", "1", "--epsilon", "50"]
    given("42\n", monkeypatch)
    assert run(asked) == 0
    out, err = capsys.readouterr()
    assert out == "42\n"
    within = "within 1, with probability 95 %"
    assert err == f"ε = 50 (add/remove one record), exponential mechanism\n{within}\n"
    (folder / "count.txt").write_text("42.26")
    assert run([*asked, "count.txt", "--step", "0.5", "--lo", "0", "--hi", "100"]) == 0
    assert capsys.readouterr().out == "42.5\n"


def test_a_private_number_on_the_command_line_is_refused_and_not_repeated(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["noise", "laplace", "4242", "--sensitivity", "1", "--epsilon", "1"]) == 3
    err = capsys.readouterr().err
    assert "others can see" in err
    assert "4242" not in err


@pytest.mark.parametrize("text", ["forty-two", "4 2", "nan", "1e999999999", "", "1\n2\n"])
def test_no_error_shows_a_private_value(
    text: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given(text, monkeypatch)
    assert run(["noise", "laplace", "--sensitivity", "1", "--epsilon", "1"]) == 3
    err = capsys.readouterr().err
    assert not text or text not in err
    assert err.count("\n") == 1


def test_at_a_terminal_a_value_is_asked_for_without_showing_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given("", monkeypatch)
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
    monkeypatch.setattr("getpass.getpass", lambda prompt, stream: "no")
    assert run(["noise", "randomized-response", "--candidates", "yes,no", "--epsilon", "50"]) == 0
    out, err = capsys.readouterr()
    assert out == "no\n"
    assert err == "ε = 50 (replace one record), exponential mechanism\n"


def test_a_randomized_response_from_a_file(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "answer.txt").write_text("yes\n")
    asked = [
        "noise",
        "randomized-response",
        "answer.txt",
        "--candidates",
        "yes,no",
        "--epsilon",
        "50",
    ]
    assert run([*asked, "--size", "2", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["value"] == ["yes", "yes"]
    assert told["epsilon"] == "100"
    (folder / "answer.txt").write_text("yes\nno\n")
    assert run(asked) == 3
    assert "one line is needed" in capsys.readouterr().err


@pytest.mark.parametrize(
    "text",
    [
        "tea,60\nmilk,3\n",
        "candidate,score\ntea,60\n\nmilk,3",
        '"tea", 6e1\n"milk",5/2\n',
        '{"tea": 60, "milk": 3.5}',
        '{"milk": 3, "tea": "60"}',
    ],
)
def test_scores_of_ones_own(
    text: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given(text, monkeypatch)
    assert run(["select", "-", "--sensitivity", "1", "--epsilon", "50"]) == 0
    assert capsys.readouterr().out == "tea\n"


@pytest.mark.parametrize(
    ("options", "answer"),
    [
        ("--mask milk,juice", "milk"),
        ("--mask milk --mask juice", "milk"),
        ("--base-measure tea=0", "milk"),
        ("--base-measure milk=1e400", "milk"),
        ("--base-measure milk=1/2 --base-measure juice=2", "tea"),
        ("--log-base-measure tea=-inf", "milk"),
        ("--log-base-measure tea=-3000.5", "milk"),
    ],
)
def test_some_candidates_may_be_excluded_or_weighted(
    options: str, answer: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given("tea,60\nmilk,30\njuice,0\n", monkeypatch)
    assert run(["select", "-", "--sensitivity", "1", "--epsilon", "50", *options.split()]) == 0
    assert capsys.readouterr().out == f"{answer}\n"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--mask wine", "--mask: 'wine' is none of the candidates"),
        ("--base-measure wine=1", "'wine' is none"),
        ("--base-measure tea", "takes NAME=NUMBER"),
        ("--base-measure tea=1 --base-measure tea=2", "once for a candidate"),
        ("--base-measure tea=x", "--base-measure must be a number"),
        ("--base-measure tea=-inf", "base_measure"),
        ("--base-measure tea=1 --log-base-measure tea=1", "not both"),
        ("--mask tea --gap", "leave out gap"),
    ],
)
def test_masks_and_weights_without_sense_are_refused(
    options: str, words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given("tea,60\nmilk,30\njuice,0\n", monkeypatch)
    assert run(["select", "-", "--sensitivity", "1", "--epsilon", "1", *options.split()]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert words in err


@pytest.mark.parametrize(
    "text",
    [
        "tea,secret7\nmilk,3\n",
        "tea\n",
        "tea,1,2\n",
        "tea,1\ntea,2\n",
        '{"tea": 1, "tea": 2}',
        '{"tea": secret7}',
        '{"tea": NaN}',
        '{"tea": [1]}',
        '{"tea": {"secret7": 1}}',
        "{" * 100_000,
        b"\xff\xfe",
    ],
)
def test_scores_that_are_none_are_refused_and_not_shown(
    text: str | bytes, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given(text, monkeypatch)
    assert run(["select", "-", "--sensitivity", "1", "--epsilon", "50"]) == 3
    err = capsys.readouterr().err
    assert "secret7" not in err
    assert err.count("\n") == 1


def test_scores_are_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    from fractions import Fraction

    from discreet.cli.select_command import read_scores

    assert read_scores('{"a": 0.1, "b": 1e-3}') == {"a": Fraction(1, 10), "b": Fraction(1, 1000)}
    assert read_scores("a,0.1\nb,1/3") == {"a": Fraction(1, 10), "b": Fraction(1, 3)}


def test_values_of_a_ledger_are_replayed_too(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["ledger", "open", "b.db", "--dataset", "p", "--epsilon", "50"]) == 0
    paid = ["--epsilon", "50", "--ledger", "b.db", "--dataset", "p", "--request", "r"]
    for text in ("tea,60\nmilk,3\n", "milk,3\ntea,60\n"):  # the order of lines is no part of it
        capsys.readouterr()
        given(text, monkeypatch)
        assert run(["select", "-", "--sensitivity", "1", *paid]) == 0
        assert capsys.readouterr().out == "tea\n"


def test_a_comparison_on_public_scores(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "votes.csv").write_text("votes\n310\n322\n245\n300\n")
    asked = ["compare", "votes.csv", "votes", "--epsilons", "0.1, 1"]
    assert run([*asked, "--plot", "votes.svg"]) == 0
    head, names, *rows = capsys.readouterr().out.splitlines()
    assert (head, names.split()) == (
        "expected error (as private as the scores)",
        ["exponential", "permute_and_flip"],
    )
    assert rows[0].split()[:4] == ["ε", "=", "0.1", "4.309"]
    assert (folder / "votes.svg").read_text().startswith("<?xml")
    assert run([*asked, "--mechanisms", "exponential", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["expected_error"]
    assert [row["epsilon"] for row in told] == ["1/10", "1"]
    assert run([*asked, "--mechanisms", "magic"]) == 2


def test_a_stream_that_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"\xff")
    with pytest.raises(UnreadableFile), inputs.secret_text(str(tmp_path / "x")):
        pass


def test_a_draft_has_the_form_that_is_said(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "t.dat").write_bytes("größe;menge\n1;2\n".encode("cp1252"))
    words = ["--csv", "encoding=cp1252", "--csv", "multiline=false"]
    assert run(["describe", "t.dat", "--header", *words]) == 0
    text = capsys.readouterr().out
    for line in ('csv.encoding = "cp1252"', "csv.multiline = false", "[datasets.t.columns.menge]"):
        assert text.count(f"{line}\n") == 1
    assert text.count("csv.") == 3  # and the delimiter, as the header shows it
    assert run(["describe", "t.dat", "--csv", "names=a,b", "--names", "a,b"]) == 2
    assert "the names are given twice" in capsys.readouterr().err
    (folder / "t.parquet").write_bytes(b"PAR1")
    assert run(["describe", "t.parquet", "--csv", "quote="]) == 2
    assert "--csv is of a CSV file" in capsys.readouterr().err


def test_a_profile_of_standard_input_names_no_copy(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given(b"age;drink\n" + b"3;tea\n" * 50, monkeypatch)
    asked = ["--epsilon", "9", "--numbers", "age", "--columns", "age", "--csv", "delimiter=;"]
    assert run(["profile", "-", *asked, "--draft"]) == 0
    assert "discreet-input-" not in capsys.readouterr().out


def test_an_exact_check_takes_no_form(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "people", "--not-private", "--csv", "delimiter=;"]) == 2
    assert "leave out --csv" in capsys.readouterr().err


def test_numbers_are_read_in_the_form_that_is_said(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "t.csv").write_text("who;rent\na;1.000,5\nb;2.000,5\n")
    form = ["--csv", "decimal=,", "--csv", "thousands=."]
    asked = ["--where", "rent > 1000 AND rent < 2000", "--epsilon", "1000"]
    assert run(["count", "t.csv", *asked, *form]) == 0
    assert capsys.readouterr().out.split()[0] == "1"
    assert run(["count", "t.csv", *asked, "--csv", "decimal=."]) == 0
    assert capsys.readouterr().out.split()[0] == "0"
    assert run(["count", "t.csv", *asked, "--csv", "decimal=x"]) == 2
    assert "decimal must be one of" in capsys.readouterr().err


@pytest.mark.parametrize("words", [None, []])
def test_without_words_a_path_stays_one(words: list[str] | None) -> None:
    assert in_form("t.csv", words) == "t.csv"


@pytest.mark.parametrize(
    ("words", "form"),
    [
        (["encoding=cp1252"], {"encoding": "cp1252"}),
        (["delimiter=;", "quote="], {"delimiter": ";", "quote": ""}),
        ([r"delimiter=\t"], {"delimiter": "\t"}),
        (["delimiter=="], {"delimiter": "="}),
        (["multiline=false"], {"multiline": False}),
        (["multiline=true"], {}),
        (["names=a,b c"], {"names": ["a", "b c"]}),
        (["escape=\\", "comment=#"], {"escape": "\\", "comment": "#"}),
        (["skip=12", "skip_initial_space=true"], {"skip": 12, "skip_initial_space": True}),
        (['missing=NA,"k. A., -"'], {"missing": ["NA", "k. A., -"]}),
    ],
)
def test_words_say_the_form(words: list[str], form: dict[str, object]) -> None:
    said = in_form("t.csv", words)
    assert isinstance(said, CsvFile)
    assert said == scan_csv("t.csv", **form)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "word",
    [
        "",
        "=",
        "encoding",
        "Encoding=utf-8",
        "sep=;",
        "multiline=no",
        "quote=ab",
        "names=",
        "skip=-1",
        "skip=x",
    ],
)
def test_words_that_say_no_form(word: str) -> None:
    with pytest.raises(InvalidArgument):
        in_form("t.csv", [word])
