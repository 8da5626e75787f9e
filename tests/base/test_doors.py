"""Each message in the words of its door: options at a terminal, arguments in Python."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import discreet
from discreet import Grid, Ledger
from discreet.base import doors
from discreet.base.doors import fix, set_door, spelling
from discreet.cli import run

from ..test_names_in_messages import COMMANDS, OPTION, known_names, messages

library: Any = discreet
SOURCE = Path(discreet.__file__).parent

CALL = re.compile(
    r"\b(?:Date)?Grid\(|\bdiscreet\.(?!toml|schema)\w+|\b(?:pandas|polars|numpy)\.\w+"
    r"|(?<!--csv )\b(?:candidates|groups|by|minimum|maximum|delta|delta_for|method|privacy_unit|bounds_share|"
    r"request|names|encoding|delimiter|mechanism)=|\b[a-z_]+\(\)"
)
"""What only Python reads."""

IN_A_COMMAND = re.compile(r"[Dd]iscreet [a-z][^.;]*?--[a-z-]+[^.;]*")
"""A whole command line, which an owner runs at a shell whatever the door."""

FOR_PYTHON = {
    "arguments.py", "batches.py", "biased_index.py", "bindings.py", "calls.py", "candidates.py",
    "charge_checks.py",
    "connect.py", "connection.py", "contract.py", "custom.py", "data_terms.py", "databases.py", "date_grid.py",
    "dp_events.py", "draft.py", "engine.py",
    "guarantees.py", "http_client.py", "in_process.py", "file_paths.py", "ledger.py", "opendp.py",
    "refusals.py", "names_elsewhere.py", "replies.py",
    "rows.py", "sql_queries.py", "terms.py", "vectors.py", "verb_calls.py",
}  # fmt: skip
"""Files whose messages answer to objects that only Python has, to callers of a service, or to `describe`."""


def of_one_door() -> set[str]:
    """Return the places outside of `doors` and of the commands whose messages have the words of one door."""
    commands = {file.name for file in (SOURCE / "cli").glob("*.py")}
    found = set()
    for place, text in messages():
        file = place.partition(":")[0]
        if file.endswith(".po") or file in commands | FOR_PYTHON | {"doors.py"}:
            continue
        plain = re.sub(r"<[^>]*>", "", text)
        if CALL.search(plain) or OPTION.search(IN_A_COMMAND.sub("", plain)):
            found.add(f"{place}: {text[:80]}")
    return found


def test_what_one_door_alone_says_stands_in_the_table_of_doors() -> None:
    assert of_one_door() == set()


def test_both_spellings_exist() -> None:
    """Arguments that messages spell by the rule are parameters in Python and options at the terminal."""
    options = set(re.findall(OPTION, " ".join(one["help"]["en"] for one in COMMANDS.values())))
    told = [
        name
        for file in SOURCE.rglob("*.py")
        for call in re.findall(r"\bspelling\(([a-z_]+=[^()]*(?:\([^()]*\))?[^()]*)\)", file.read_text("utf-8"))
        for name in re.findall(r"\b([a-z_]+)=", call)
    ]  # fmt: skip
    assert len(told) > 20
    for name in told:
        assert f"--{name.replace('_', '-')}" in options, name
        assert name in known_names() | {"oversubscribed", "header", "table"}, name
    for python, terminal in doors._FIXES.values():
        assert not OPTION.search(IN_A_COMMAND.sub("", python))
        assert not CALL.search(terminal)
        assert set(re.findall(OPTION, terminal)) <= options


PEOPLE = "id,drink,city,age\n" + "1,tea,Basel,30\n2,coffee,Bern,40\n" * 20

SLIPS = """
mode FILE drink --candidates tea,coffee --epsilon ten
mode FILE drink --epsilon 1
mode FILE drink --candidates private --epsilon 1
mode FILE drink --candidates private --epsilon 1 --delta 1e-8 --method counts
mode FILE drinks --candidates tea,coffee --epsilon 1
mode FILE --candidates tea,coffee --epsilon 1
mode FILE drink --candidates tea --candidates-from x.csv --epsilon 1
mode FILE drink --candidates tea,coffee --by city --epsilon 1
mode FILE drink --candidates tea,coffee --by city --groups private --epsilon 1
mode FILE drink --candidates tea,coffee --by city --groups private --rho 1
mode FILE drink --candidates tea,coffee --method counts --mechanism exponential --epsilon 1
mode FILE drink --candidates tea,coffee --max-candidates 2 --epsilon 1
mode FILE drink --candidates coffee\\ tea --epsilon 1
median FILE age --epsilon 1
median FILE age --lo 120 --hi 0 --epsilon 1
median FILE age --lo 0 --epsilon 1
median FILE age --lo 2020-01-01 --hi 2019-01-01 --epsilon 1
median PARQUET drink --lo 0 --hi 100 --epsilon 1
median PARQUET member --lo 0 --hi 100 --epsilon 1
quantile FILE age --alpha 1 --epsilon 1
quantiles FILE age --alphas 0.5,0.9 --epsilon 1
quantiles FILE age --alphas 0.5,0.9 --lo 0 --hi 100 --method joint --delta 1e-8 --epsilon 1
bounds FILE drink --epsilon ten
best-price FILE age --epsilon 1
top-k FILE city -k 2 --epsilon 1
top-k FILE city -k 1 --candidates Basel,Bern --method joint --delta 1e-8 --epsilon 1
top-k FILE city -k 1 --candidates Basel,Bern --method counts --delta 1e-8 --epsilon 1
top-k FILE city -k 1 --candidates private --epsilon 1
top-k FILE city -k 1 --candidates Basel,Bern --method joint --gap --epsilon 1
count FILE --epsilon 1 --request r
count FILE --epsilon 0
counts FILE city --epsilon 1
counts FILE city --epsilon 1 --delta 1
counts FILE city --epsilon 1 --delta 1e-6x
hist FILE city --epsilon 1
sum FILE age --epsilon 1
variance FILE age --epsilon 1
count-distinct FILE drink --epsilon 1 --max-groups 2
standard-deviation FILE age --epsilon 1
sum FILE age --minimum 3 --maximum 2 --epsilon 1
mean FILE age --epsilon 1
keys FILE city --epsilon 1
keys FILE city --epsilon 1 --delta 1
profile FILE --epsilon ten
profile FILE --columns x --epsilon 1
sql FILE --epsilon 1
select missing.csv --epsilon 1
describe missing.csv
describe LATIN
count LATIN --epsilon 1
mode LATIN drink --candidates tea,coffee --epsilon 1
mode UTF16 drink --candidates tea,coffee --epsilon 1
mode WORKBOOK drink --candidates tea,coffee --epsilon 1
mode STATA drink --candidates tea,coffee --epsilon 1
mode NUMBERS drink --candidates tea,coffee --epsilon 1
profile NUMBERS --epsilon 1
count OTHER --epsilon 1
check FILE --epsilon 1
plan --epsilon 1
plan --candidates 3 --epsilon ten
compare missing.csv --epsilon 1
attack nothing
ask question
audit exact x
ledger open budget.db --dataset people --epsilon 1 --delta 1e-6
ledger open budget.db --dataset people --epsilon ten
ledger show missing.db
ledger renew budget.db --dataset people
noise laplace ten --epsilon 1
noise geometric 3 --epsilon 0
token create
tally --wrong
""".strip().splitlines()


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    monkeypatch.chdir(tmp_path)
    table = pd.DataFrame({"drink": ["tea", "coffee"], "member": [True, False]})
    table.to_parquet("people.parquet")
    files = {
        "FILE": ("people.csv", PEOPLE.encode()),
        "LATIN": ("latin.csv", "größe,drink\n1,tea\n".encode("cp1252")),
        "UTF16": ("utf16.csv", PEOPLE.encode("utf-16")),
        "WORKBOOK": ("book.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)),
        "STATA": ("people.dta", b"<stata_dta>"),
        "NUMBERS": ("numbers.csv", b"1,tea\n2,coffee\n"),
        "OTHER": ("people.weird", b"a,b\n1,2\n"),
    }
    for name, content in files.values():
        (tmp_path / name).write_bytes(content)
    return {"PARQUET": "people.parquet", **{key: name for key, (name, _) in files.items()}}


@pytest.mark.parametrize("line", SLIPS)
@pytest.mark.filterwarnings("ignore")
def test_a_terminal_has_no_words_of_python(
    line: str, places: dict[str, str], capfd: pytest.CaptureFixture[str]
) -> None:
    words = [places.get(word, word) for word in re.split(r"(?<!\\) ", line)]
    code = run([word.replace("\\ ", " ") for word in words])
    told = capfd.readouterr().err
    assert code != 0 or told
    assert not CALL.search(told), told


def test_no_file_is_excused_that_needs_it_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    excused = FOR_PYTHON
    monkeypatch.setitem(globals(), "FOR_PYTHON", set())
    assert excused == {place.partition(":")[0] for place in of_one_door()}


def test_a_column_that_is_not_named_is_asked_for(
    places: dict[str, str], capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(["mode", places["FILE"], "--candidates", "tea", "--epsilon", "1"]) == 2
    assert "It is one of id, drink, city, age." in capfd.readouterr().err
    assert run(["mode", places["NUMBERS"], "--candidates", "tea", "--epsilon", "1"]) == 2
    assert "It is one of" not in capfd.readouterr().err, "the first line may be a row"


def test_what_the_description_declares_is_said_in_its_words(
    places: dict[str, str], capfd: pytest.CaptureFixture[str]
) -> None:
    text = f'''ledger = "budget.db"

[datasets.people]
source = "{places["FILE"]}"
budget = {{ epsilon = "3", delta = "1e-6" }}

[datasets.people.columns.age]
type = "integer"
minimum = 0
maximum = 120
'''
    Path("discreet.toml").write_text(text, encoding="utf-8")
    assert run(["ledger", "open", "people"]) == 2
    assert 'delta_for = "questions" in discreet.toml' in capfd.readouterr().err
    run(["describe", places["FILE"], "--header"])
    assert 'delta = "1e-6", delta_for = "questions" }' in capfd.readouterr().out


def test_every_command_with_data_has_a_slip() -> None:
    tried = {line.split()[0] for line in SLIPS}
    assert {name.split()[0] for name in COMMANDS if name} - tried <= {"serve", "mcp", "help"}


TABLE = pd.DataFrame({"drink": ["tea", "coffee"] * 20, "age": [30, 40] * 20})


@pytest.mark.parametrize(
    "call",
    [
        lambda: library.mode(TABLE, "drink", candidates=["tea"], epsilon="ten"),
        lambda: library.mode(TABLE, "drink", epsilon=1),
        lambda: library.counts(TABLE, "drink", epsilon=1),
        lambda: library.top_k(TABLE, "drink", k=1, epsilon=1),
        lambda: library.mode(TABLE, "drink", candidates="private", epsilon=1),
        lambda: library.quantile(TABLE, "age", alpha=1, epsilon=1),
        lambda: library.mean(TABLE, "age", epsilon=1),
        lambda: library.sum(TABLE, "age", epsilon=1),
        lambda: library.variance(TABLE, "age", minimum=0, maximum=9, delta="1e-8", epsilon=1),
        lambda: library.mode(TABLE, "drink", candidates=["tea"], by="age", epsilon=1),
        lambda: library.mode(TABLE, "drink", candidates=["tea"], by="age", groups="private", epsilon=1),
        lambda: library.best_price(TABLE, "age", epsilon=1),
        lambda: library.median(TABLE, "drink", candidates=Grid(0, 1), epsilon=1),
        lambda: library.median("book.xls", "age", candidates=Grid(0, 1), epsilon=1),
        lambda: library.median("people.dta", "age", candidates=Grid(0, 1), epsilon=1),
        lambda: library.mode("latin.csv", "drink", candidates=["tea"], epsilon=1),
        lambda: library.mode("numbers.csv", "drink", candidates=["tea"], epsilon=1),
        lambda: library.check(TABLE, epsilon=1),
        lambda: Grid(1, 0),
        lambda: Ledger("budget.db").open("people", epsilon=1, delta="1e-6"),
    ],
)  # fmt: skip
def test_python_has_no_options(call: Callable[[], object], places: dict[str, str]) -> None:
    with pytest.raises((discreet.errors.DiscreetError, TypeError)) as caught:
        call()
    told = "; ".join([str(caught.value), *getattr(caught.value, "__notes__", [])])
    assert not OPTION.search(IN_A_COMMAND.sub("", told)), told


def test_a_command_speaks_as_a_terminal_and_leaves_python_as_it_was() -> None:
    run(["plan", "--epsilon", "ten"])
    assert spelling(delta="1e-8") == "delta='1e-8'"


@pytest.mark.parametrize(
    ("arguments", "python", "terminal"),
    [
        ({"delta": "1e-8"}, "delta='1e-8'", "--delta 1e-8"),
        ({"minimum": 0, "maximum": 9}, "minimum=0, maximum=9", "--minimum 0 --maximum 9"),
        ({"groups": ["a b", "c"]}, "groups=['a b', 'c']", "--groups 'a b,c'"),
        ({"oversubscribed": True}, "oversubscribed=True", "--oversubscribed"),
        ({"lo": "9" * 100}, f"lo='{'9' * 56}...", f"--lo {'9' * 57}..."),
    ],
)
def test_an_argument_is_spelled_by_one_rule(
    arguments: dict[str, Any], python: str, terminal: str
) -> None:
    assert spelling(**arguments) == python
    from contextvars import copy_context

    def at_a_terminal() -> str:
        set_door("terminal")
        return spelling(**arguments)

    assert copy_context().run(at_a_terminal) == terminal
    assert json.loads(json.dumps(fix("bounds"))) == "bounds()"
