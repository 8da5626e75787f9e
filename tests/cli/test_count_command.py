"""discreet count, counts, keys and plan --delta."""

import json
from pathlib import Path

import pytest

from discreet.cli.application import run_command


@pytest.fixture
def table(tmp_path: Path) -> str:
    path = tmp_path / "people.csv"
    path.write_text("who,drink\n" + "ann,tea\nann,milk\nbob,tea\ncid,\n" * 100, encoding="utf-8")
    return str(path)


def test_counts_are_printed_as_a_table_or_as_json(
    table: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(["count", table, "--epsilon", "10"]) == 0
    assert abs(int(capsys.readouterr().out) - 400) < 20
    assert run_command(["count", table, "drink", "--epsilon", "10"]) == 0
    assert abs(int(capsys.readouterr().out) - 300) < 20
    counts = ["counts", table, "drink", "--candidates", "tea,milk", "--epsilon", "10"]
    assert run_command(counts) == 0
    assert "tea " in capsys.readouterr().out
    assert run_command([*counts, "--json"]) == 0
    value = json.loads(capsys.readouterr().out)["value"]
    assert list(value) == ["tea", "milk"]
    assert abs(value["tea"] - 200) < 20


def test_units_are_bounded_by_their_options(table: str, capsys: pytest.CaptureFixture[str]) -> None:
    unit = ["--privacy-unit", "who", "--epsilon", "10", "--json"]
    assert run_command(["count", table, *unit]) == 0
    assert json.loads(capsys.readouterr().out)["value"] < 20
    counts = ["counts", table, "drink", "--candidates", "tea,milk", "--max-candidates", "1"]
    assert run_command([*counts, *unit]) == 0
    guarantee = json.loads(capsys.readouterr().out)["guarantee"]
    assert guarantee == {"kind": "pure_dp", "epsilon": "10", "neighbors": "add_remove"}


def test_mistakes_are_told(table: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["counts", table, "drink", "--candidates", "tea"]) == 2
    assert "how much privacy" in capsys.readouterr().err
    assert run_command(["count", table, "--mechanism", "base2", "--epsilon", "1"]) == 2


CELLS = ["--candidates", "who=ann,bob", "--candidates", "drink=tea,milk"]


def test_cells_of_several_columns_are_counted(
    table: str, capsys: pytest.CaptureFixture[str]
) -> None:
    counts = ["counts", table, "who", "drink", *CELLS, "--epsilon", "1000"]
    assert run_command(counts) == 0
    lines = [line.split("  ") for line in capsys.readouterr().out.splitlines()]
    assert [line[0].rstrip() for line in lines] == [
        "ann, tea",
        "ann, milk",
        "bob, tea",
        "bob, milk",
    ]
    assert run_command([*counts, "--json"]) == 0
    plain = json.loads(capsys.readouterr().out)
    assert plain["column"] == ["who", "drink"]
    assert [(one["key"], one["value"]) for one in plain["value"]] == [
        (["ann", "tea"], 100), (["ann", "milk"], 100), (["bob", "tea"], 100), (["bob", "milk"], 0)
    ]  # fmt: skip
    assert run_command([*counts, "--dry-run"]) == 0
    assert "costs ε = 1000" in capsys.readouterr().out


def test_groups_of_several_columns_and_bins(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "ages.csv"
    path.write_text("who,age\n" + "ann,17\nann,70\nbob,18\nbob,\n" * 100, encoding="utf-8")
    exact = ["--epsilon", "1000"]
    by = ["--by", "who", "--by", "age:0,18,65:above:missing", "--groups", "who=ann,bob"]
    assert run_command(["count", str(path), *by, *exact]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "ann, [0, 18)      100  ██████████████████████████████", "ann, [18, 65)       0",
        "ann, 65 or above  100  ██████████████████████████████", "ann, missing        0",
        "bob, [0, 18)        0", "bob, [18, 65)     100  ██████████████████████████████",
        "bob, 65 or above    0", "bob, missing      100  ██████████████████████████████",
    ]  # fmt: skip
    assert (
        run_command(["count", str(path), *by[:-1], "ann", *exact, "--json"]) == 0
    )  # the only list
    assert len(json.loads(capsys.readouterr().out)["value"]) == 4
    medians = ["median", str(path), "age", "--by", "age:0:120:60", "--by", "who", *by[-2:]]
    assert run_command([*medians, "--lo", "0", "--hi", "120", *exact]) == 0
    assert capsys.readouterr().out.splitlines()[:2] == ["[0, 60), ann: 17", "[0, 60), bob: 18"]
    assert run_command(["counts", str(path), "age:0:120:60", *exact]) == 0
    assert capsys.readouterr().out.split()[:3] == ["[0,", "60)", "200"]
    private = ["--groups", "private", "--delta", "1e-6"]
    assert run_command(["count", str(path), *by[:4], *private, *exact, "--json"]) == 0
    keys = [one["key"] for one in json.loads(capsys.readouterr().out)["value"]]
    assert keys == [
        ["ann", "65 or above"],
        ["ann", "[0, 18)"],
        ["bob", "[18, 65)"],
        ["bob", "missing"],
    ]


MISTAKES: dict[str, tuple[int, str]] = {
    "counts FILE who,drink -c tea": (3, "several columns are several words, or several options"),
    "count FILE --by who,drink --groups tea": (3, "by: there is no column 'who,drink'"),
    "count FILE --by nobody --groups tea": (3, "by: there is no column 'nobody'"),
    "count FILE --by who --by nobody --groups who=a --groups nobody=b": (
        3,
        "by: there is no column",
    ),
    "count FILE --by who --by drink --groups tea": (2, "--groups who=A,B --groups drink=A,B"),
    "count FILE --by who --by drink": (2, "--groups who=A,B --groups drink=A,B"),
    "count FILE --by who --by who --groups who=a": (2, "columns that differ"),
    "count FILE --by age:0:120 --groups a": (2, "bins are age:0:120:10"),
    "count FILE --by drink:0:9:1 --groups a": (2, "leave out --groups"),
    "counts FILE who drink": (2, "--candidates who=A,B --candidates drink=A,B"),
    "counts FILE who drink -c who=a -c who=b": (2, "names the column of its values once"),
    "counts FILE who drink -c who=a": (2, "values of 'who', 'drink'"),
    "mode FILE who drink --candidates-from x.csv": (2, "is of one column"),
    "counts FILE who FILE": (2, "is a file, in place of a column"),
    "count FILE --epsilon 2": (2, "--epsilon takes one value, and it is there twice"),
    "count FILE --delta 1e-8 --delta=1e-9": (2, "--delta takes one value"),
}


@pytest.mark.parametrize("words", MISTAKES)
def test_mistakes_in_columns_and_options_are_told(
    words: str, table: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, message = MISTAKES[words]
    arguments = [table if word == "FILE" else word for word in words.split()]
    assert run_command([*arguments, "-e", "1"]) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err


def test_cells_are_selected_and_drawn(table: str, capsys: pytest.CaptureFixture[str]) -> None:
    cells = [table, "drink", "who", "-c", "who=ann,bob", "-c", "drink=milk", "-e", "1000"]
    assert run_command(["mode", *cells]) == 0
    assert run_command(["top-k", *cells, "--k", "2", "--method", "peeling"]) == 0
    assert run_command(["keys", *cells[:3], "--epsilon", "1000", "--delta", "1e-6"]) == 0
    selected, keys = ["milk, ann", "milk, ann", "milk, bob"], [", cid", "milk, ann", "tea, ann"]
    assert capsys.readouterr().out.splitlines() == [*selected, *keys, "tea, bob"]


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
