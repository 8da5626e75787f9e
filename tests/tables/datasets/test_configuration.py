"""discreet.toml: what it declares, and its errors with file, line and fix."""

import os
import re
import tomllib
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet import Bins
from discreet.errors import InvalidDescription, UnknownName
from discreet.tables.datasets.configuration import (
    FILE,
    VARIABLE,
    find_configuration,
    line_of,
    read_configuration,
    read_toml,
)
from discreet.tables.engines.sql_queries import SqlQuery

TEXT = """\
ledger = "budget.db"

[datasets.people]
source = "people/*.parquet"
privacy_unit = "user_id"
max_contributions = 3
budget = { epsilon = "3" }

[datasets.people.columns.age]
type = "integer"
minimum = 0
maximum = 120

[datasets.people.columns.city]
type = "string"
# in the order of the map
enum = [
  "Basel",
  "Bern", "Zürich",
]

[datasets.people.columns]
paid = { type = "number", minimum = 0, maximum = 1, step = 0.1 }

[datasets.people.questions.typical-age]
verb = "median"
column = "age"
epsilon = "1/2"

[server]
listen = "127.0.0.1:8765"
readers = 2

[analysts.team-a]
datasets = ["people"]
share = { epsilon = "1" }
verbs = ["mode", "median"]
max_epsilon = "1/4"
"""


SOURCE, QUERY = 'source = "people/*.parquet"', 'query = "SELECT 1"'


def written(folder: Path, text: str = TEXT) -> Path:
    file = folder / "discreet.toml"
    file.write_text(text, encoding="utf-8")
    return file


def test_the_format_is_read(tmp_path: Path) -> None:
    found = read_configuration(written(tmp_path))
    people = found.dataset("people")
    assert found.ledger == str(tmp_path / "budget.db")
    assert people.source == str(tmp_path / "people/*.parquet")
    assert (people.name, people.privacy_unit, people.max_contributions) == ("people", "user_id", 3)
    assert [*people.columns] == ["age", "city", "paid"]
    assert people.columns["paid"].step == Fraction(1, 10)
    assert people.columns["city"].enum == ("Basel", "Bern", "Zürich")
    assert found.budgets == {"people": {"epsilon": 3}}
    asked = {"verb": "median", "column": "age", "epsilon": "1/2"}
    assert found.questions == {"people": {"typical-age": asked}}
    assert found.server == {"listen": "127.0.0.1:8765", "readers": 2}
    assert found.analysts["team-a"]["max_epsilon"] == Fraction(1, 4)
    with pytest.raises(UnknownName, match="did you mean 'people'"):
        found.dataset("peple")


@pytest.mark.parametrize(
    ("before", "after", "line", "reason"),
    [
        (
            "maximum = 120",
            "maximum = 'x'",
            12,
            "people.columns.age.maximum: it must be a whole number",
        ),
        ('"Bern", "Zürich"', '"Bern", "Bern"', 17, "columns.city.enum: it must list"),
        ("maximum = 120", "maxmum = 120", 12, "did you mean 'maximum'?"),
        ("step = 0.1", "step = 0.3", 23, "columns.paid.step"),
        ("max_contributions = 3", "max_contributions = 0", 6, "max_contributions must be"),
        ("privacy_unit =", "privacyunit =", 5, "did you mean 'privacy_unit'?"),
        ('privacy_unit = "user_id"', "", 6, "name their column as privacy_unit"),
        ('privacy_unit = "user_id"', 'privacy_unit = "FILL IN"', 5, "still to be filled in"),
        ('source = "people/*.parquet"', "", 3, "give source, a path or a list"),
        ('source = "people/*.parquet"', "source = 3", 4, "it must be a text"),
        ("source =", "query =", 3, "give source, a path or a list"),
        ('epsilon = "3"', "epsilon = 0", 7, "budget.epsilon: epsilon must be greater than zero"),
        ('epsilon = "3"', "delta = 1e-6", 7, "give a budget as epsilon, as rho"),
        ('verb = "median"', 'verb = "medin"', 26, "did you mean 'median'?"),
        ('column = "age"', 'column = "ages"', 27, "did you mean 'age'?"),
        ('column = "age"', 'column = "age"\nalpha = 0.5', 28, "alpha: there is no such key"),
        ("readers = 2", "reader = 1", 32, "did you mean 'readers'?"),
        ("readers = 2", 'turn = "1s"', 32, "server.turn: there is no such key"),
        ('["people"]', '["peple"]', 35, "did you mean 'people'?"),
        ('datasets = ["people"]', "", 34, "the datasets are missing"),
        ('"mode", "median"', '"mode", "laplace"', 37, "it must be one of mode"),
        ("= 120", "= 120 5", None, "it is not TOML"),
        ('ledger = "budget.db"', 'leger = "budget.db"', 1, "did you mean 'ledger'?"),
        ('"budget.db"', '"postgresql://me:s3cret@host/db"', 1, "leave the password out"),
        (
            'source = "people/*.parquet"',
            'query = "SELECT 1"\nconnection = "postgresql://me:s3cret@h/d"',
            5,
            "leave the password out",
        ),
        (
            SOURCE,
            f'{QUERY}\nconnection = "oracle://h/d"',
            5,
            "it must be duckdb:///",
        ),
    ],
)
def test_errors_have_file_line_and_fix(
    before: str, after: str, line: int | None, reason: str, tmp_path: Path
) -> None:
    assert before in TEXT
    file = written(tmp_path, TEXT.replace(before, after, 1))
    with pytest.raises(InvalidDescription) as refused:
        read_configuration(file)
    where = f"{file}, line {line}: " if line else f"{file}: "
    assert str(refused.value).startswith(where)
    assert reason in str(refused.value)
    assert "s3cret" not in str(refused.value)


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidDescription, match="cannot be read: No such file"):
        read_configuration(tmp_path / "discreet.toml")
    (tmp_path / "discreet.toml").write_bytes(b"\xff")
    with pytest.raises(InvalidDescription, match="not UTF-8"):
        read_configuration(tmp_path / "discreet.toml")
    with pytest.raises(InvalidDescription, match="describes no dataset"):
        read_configuration(written(tmp_path, ""))


_KEY = st.from_regex(r"[a-z]{1,3}", fullmatch=True)
_TREE: Any = st.recursive(
    st.integers() | st.just("x\ny = 3"),
    lambda inner: st.dictionaries(_KEY, inner, max_size=3),
    max_leaves=8,
)


def toml(table: dict[str, Any], at: tuple[str, ...] = ()) -> list[tuple[str, tuple[str, ...]]]:
    """Statements of a TOML file, each with the place that it makes."""
    lines = []
    for key, value in table.items():
        if not isinstance(value, dict):
            spelled = str(value) if isinstance(value, int) else f'"""\n{value}"""'
            lines.append((f"{key} = {spelled}", (*at, key)))
    for key, value in table.items():
        if isinstance(value, dict):
            lines += [("", ()), (f"[{'.'.join((*at, key))}]", (*at, key)), *toml(value, (*at, key))]
    return lines


@given(st.dictionaries(_KEY, _TREE, max_size=4))
def test_the_line_of_every_place_is_found(table: dict[str, Any]) -> None:
    statements = toml(table)
    text = "\n".join(line for line, _ in statements)
    assert read_toml(text) == table
    at = 1
    for line, place in statements:
        if place:
            found = line_of(text, place)
            assert found is not None
            # A table may be made by one of its own tables before.
            assert found == at or line.startswith("[")
        at += line.count("\n") + 1


def test_numbers_with_a_point_are_decimals() -> None:
    assert read_toml("x = 0.1")["x"] == Decimal("0.1")
    with pytest.raises(tomllib.TOMLDecodeError):
        read_toml("x = ")


def test_a_file_is_found_upwards_or_by_the_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    assert find_configuration() is None or not str(find_configuration()).startswith(str(tmp_path))
    file = written(tmp_path)
    assert find_configuration() == file
    nearer = written(tmp_path / "a")
    assert find_configuration() == nearer
    monkeypatch.setenv(VARIABLE, str(file))
    assert find_configuration() == file
    monkeypatch.setenv(VARIABLE, str(tmp_path / "none.toml"))
    with pytest.raises(InvalidDescription, match="no such file"):
        find_configuration()


def test_queries_are_opened_when_they_are_asked(tmp_path: Path) -> None:
    text = f'[datasets.t]\n{QUERY}\nconnection = "sqlite:///t.db"\ncolumns.x.type = "integer"\n'
    found = read_configuration(written(tmp_path, text)).dataset("t").source
    assert isinstance(found, SqlQuery)
    assert not (tmp_path / "t.db").exists()
    assert found.connection.public == f"sqlite:///{tmp_path / 't.db'}"


COLUMN = (
    '[datasets.p]\nsource = "a.csv"\ncolumns.c = { type = "number", minimum = 0, maximum = %s }\n'
)
HEAD = '[datasets.p]\nsource = "a.csv"\n'


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (f"{HEAD}x = {'[' * 10**5}", "it is not TOML: it is nested too deeply"),
        (f"{HEAD}x = {'{a=' * 10**4}1", "it is not TOML: it is nested too deeply"),
        (f"{HEAD}max_contributions = {'9' * 5000}", "a number in it has thousands of digits"),
        (COLUMN % "1e99999999", "line 3: datasets.p.columns.c.maximum: it must be a number, got 1E+99999999"),
        (COLUMN % "inf", "line 3: datasets.p.columns.c.maximum: it must be a number, got Infinity"),
        (COLUMN % '"1e99999999"', "line 3: datasets.p.columns.c.maximum: it must be a number"),
        (f"{HEAD}columns.c.type = 'boolean'\nbudget.epsilon = 1e-999999999", "line 4: datasets.p.budget.epsilon"),
        (f'{HEAD}title = "\\ud800"', "(at line 3, column"),
        (f'{HEAD}source = "b.csv"', ": a name is given twice. Keep one of them"),
        (f"{HEAD}[datasets.p]", "(at line 3, column 12): a name is given twice"),
        (f'{HEAD}columns."a\\nb".type = "boolean"', "line 3: datasets.p.columns: each name of the table"),
        (f'{HEAD}columns."{"x" * 10**5}".type = "boolean"', "line 3: datasets.p.columns: each name"),
        (f'{HEAD}columns.c.type = "{"x" * 10**5}"', "line 3: datasets.p.columns.c.type: it must be one of"),
        (f'{HEAD}{"x" * 150} = 1', f"line 3: datasets.p.{'x' * 150}: there is no such key"),
        (HEAD + "columns.c.enum = [\n" + '"a",\n' * 3000 + "]\ncolumns.c.type = 'string'", "line 3: datasets.p"),
        (f'{HEAD}columns.c = {{ type = "boolean", enum = {{ a = 1 }} }}', "enum: it must be a list, got a dict"),
    ],
)  # fmt: skip
def test_hostile_files_are_refused_in_short_words(text: str, reason: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidDescription) as refused:
        read_configuration(written(tmp_path, text))
    assert reason in str(refused.value)
    assert len(str(refused.value)) < 800 + len(str(tmp_path))


def test_many_columns_are_read_and_an_error_among_them_has_its_line(tmp_path: Path) -> None:
    lines = [f'columns.c{i} = {{ type = "boolean" }}' for i in range(2000)]
    found = read_configuration(written(tmp_path, HEAD + "\n".join(lines)))
    assert len(found.datasets["p"].columns) == 2000
    assert len(repr(found.datasets["p"])) < 1000
    lines[1500] = lines[1500].replace("boolean", "booleans")
    with pytest.raises(InvalidDescription, match=r"line 1503: .*did you mean 'boolean'"):
        read_configuration(written(tmp_path, HEAD + "\n".join(lines)))
    many = "".join(f'[datasets.d{i}]\nsource="a"\ncolumns.c.type="boolean"\n' for i in range(99))
    several = read_configuration(written(tmp_path, many))
    with pytest.raises(UnknownName, match=r"It describes d0, d1, .* and 69 more"):
        several.dataset("x")


def test_what_is_no_regular_file_is_not_read_and_not_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pipe and a device have no end; a link that leads nowhere hides whose budget it is."""
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.chdir(tmp_path)
    file = tmp_path / FILE
    makers: list[Callable[[], object]] = [
        lambda: os.mkfifo(file), lambda: file.symlink_to(file), lambda: file.symlink_to("nowhere"), file.mkdir,
        lambda: file.symlink_to("/dev/zero"),
    ]  # fmt: skip
    for make in makers:
        make()
        assert find_configuration() == file
        with pytest.raises(InvalidDescription, match=r"discreet.toml cannot be read: "):
            read_configuration(file)
        if file.is_dir():
            file.rmdir()
        else:
            file.unlink()
    file.write_bytes(b"#" * (2**24 + 1))
    with pytest.raises(InvalidDescription, match="it has more than 16,777,216 bytes"):
        read_configuration(file)
    file.write_text(f"\ufeff{TEXT}")  # as Notepad writes it
    assert read_configuration(file).datasets


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("oversubscribed = true", "oversubscribed: it goes with budget, which is missing"),
        ('oversubscribed = "yes"\nbudget = { epsilon = 1 }', "it must be true or false"),
        ('budget = { epsilon = 1, delta_for = "questions" }', "but delta is missing"),
        ('budget = { epsilon = 1, delta = "1e-6", delta_for = "both" }', "delta_for: it must be one of"),
        ('budget = { epsilon = 1, oversubscribed = true }', "there is no such key"),
    ],
)  # fmt: skip
def test_words_on_shares_and_delta_that_cannot_be_accepted(
    tmp_path: Path, words: str, message: str
) -> None:
    path = tmp_path / "discreet.toml"
    path.write_text(f'[datasets.a]\nsource = "a.csv"\n{words}\ncolumns.x.type = "string"\n')
    with pytest.raises(InvalidDescription, match=message):
        read_configuration(path)
    path.write_text(
        '[datasets.a]\nsource = "a.csv"\noversubscribed = true\ncolumns.x.type = "string"\n'
        'budget = { epsilon = 1, delta = "1e-6", delta_for = "questions" }\n'
    )
    terms = read_configuration(path).budgets["a"]
    assert (terms["delta_for"], terms["oversubscribed"]) == ("questions", True)


LAKE = (
    '[datasets.a]\nconnection = "sqlite:///a.db"\nquery = "SELECT 1"\ncolumns.x.type = "string"\n'
)


@pytest.mark.parametrize(
    "text",
    [
        f"ledger = 530129\n{LAKE}",
        f"ledger = [530129]\n{LAKE}",
        f'ledger = "postgresql://me:530129@h/d"\n{LAKE}',
        f'ledger = "530129\\u0000"\n{LAKE}',
        LAKE.replace('"sqlite:///a.db"', "530129"),
        LAKE.replace('"sqlite:///a.db"', "{ password = 530129 }"),
        LAKE.replace("sqlite:///a.db", "530129"),
        LAKE.replace("sqlite:///a.db", "mysql://me:530129@h/d"),
        LAKE.replace("sqlite:///a.db", "postgresql://me:530129@h/d"),
        LAKE.replace("sqlite:///a.db", "sqlite:///530129\\u0000"),
        LAKE.replace('"SELECT 1"', "530129"),
        LAKE.replace("SELECT 1", "DELETE FROM x WHERE password = 530129"),
        LAKE.replace('"SELECT 1"', '"""SELECT 530129'),
        LAKE.replace('"SELECT 1"', '"SELECT 530129" x'),
    ],
)
def test_no_error_quotes_a_connection_a_query_or_a_ledger(text: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidDescription) as refused:
        read_configuration(written(tmp_path, text))
    assert "530129" not in str(refused.value)


def test_a_named_question_is_about_cells_where_its_verb_takes_them(tmp_path: Path) -> None:
    bins = '{ column = "age", lo = 0, hi = 120, step = 10, missing = true }'
    named = f"""
        [datasets.people.questions.cells]
        verb = "counts"
        column = ["city", {bins}]
        by = {bins}
        candidates = {{ city = ["Bern"] }}
        epsilon = 1
    """
    read = read_configuration(written(tmp_path, f"{TEXT}\n{named}"))
    ages = Bins("age", 0, 120, 10, missing=True)
    question = read.questions["people"]["cells"]
    assert (question["column"], question["by"]) == (["city", ages], ages)
    assert question["candidates"] == {"city": ["Bern"]}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ('verb = "median"\ncolumn = ["age", "city"]', "column: it must be a text, got a list"),
        ('verb = "mode"\ncolumn = ["age", "age"]', "column: column must be one column, or a list"),
        ('verb = "mode"\ncolumn = ["age", "town"]', "has no column 'town'"),
        ('verb = "mode"\ncolumn = { column = "town", edges = [0, 1] }', "has no column 'town'"),
        ('verb = "mode"\ncolumn = { column = "age", low = 0 }', "bins have no 'low'"),
        ('verb = "mode"\ncolumn = { column = "city", edges = [0, 1] }', "declared as string"),
        ('verb = "counts"\ncolumn = ["age", "city"]\ncandidates = { city = [3] }', "3 is not a value"),
        ('verb = "median"\ncolumn = "age"\nby = []', "by: by must be one column, or a list"),
    ],
)  # fmt: skip
def test_other_columns_of_a_named_question_are_refused(
    words: str, told: str, tmp_path: Path
) -> None:
    wrong = f"[datasets.people.questions.cells]\n{words}\nepsilon = 1\n"
    with pytest.raises(InvalidDescription, match=re.escape(told)):
        read_configuration(written(tmp_path, f"{TEXT}\n{wrong}"))
