"""The commonest mistakes are refused or warned of, from public arguments alone, and every message names the fix.

The table of docs/how-to/i_made_a_mistake.md#mistakes-that-are-caught has the same rows: a test compares them.
"""

import datetime as dt
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pytest

import discreet
from discreet import Grid
from discreet.cli import run
from discreet.cli.releasing import UNDESCRIBED_TEXT
from discreet.errors import DiscreetError, InvalidDescription
from discreet.tables.datasets.configuration import read_configuration

PEOPLE = pd.DataFrame(
    {
        "age": [20, 30, 40, 50] * 5,
        "city": ["Basel", "Bern", "Zug", "Bern"] * 5,
        "hired": pd.to_datetime(["2020-01-01", "2021-05-02"] * 10),
        "pay": ["CHF 88'401", "$1,200"] * 10,
    }
)
DECLARED = discreet.Dataset(
    PEOPLE,
    {
        "city": {"type": "string", "enum": ["Basel", "Bern"]},
        "age": {"type": "integer", "minimum": 0, "maximum": 99},
    },
)
AGES = Grid(0, 120)
TOWNS = ["Basel", "Bern"]


class Mistake(NamedTuple):
    """A mistake in words, the call, and a part of the message, which names the fix."""

    words: str
    call: Callable[[], object]
    fix: str
    is_refused: bool = True


library: Any = discreet
"""The library without its types, which refuse some of these mistakes too."""

MISTAKES = [
    Mistake(
        "a pair of bounds as candidates",
        lambda: library.median(PEOPLE, "age", candidates=(0, 120), epsilon=1),
        "candidates=Grid(0, 120)",
    ),
    Mistake(
        "a pair of bounds for several quantiles",
        lambda: library.quantiles(PEOPLE, "age", alphas=[0.5], candidates=(0, 120), epsilon=1),
        "must be a Grid",
    ),
    Mistake(
        "a pair of bounds for a price",
        lambda: library.best_price(PEOPLE, "age", candidates=(0, 120), epsilon=1),
        "Grid(0, 120)",
    ),
    Mistake(
        "a list of the two bounds",
        lambda: library.quantile(PEOPLE, "age", alpha=0.5, candidates=[0, 120], epsilon=1),
        "candidates=Grid(0, 120)",
        False,
    ),
    Mistake(
        "bounds by a name of their own",
        lambda: library.median(PEOPLE, "age", lo=0, hi=120, epsilon=1),
        "candidates=Grid(0, 120)",
    ),
    Mistake(
        "bounds as bounds=",
        lambda: library.median(PEOPLE, "age", bounds=(0, 120), epsilon=1),
        "candidates=Grid(0, 120)",
    ),
    Mistake(
        "bounds of a mean as bounds=",
        lambda: library.mean(PEOPLE, "age", bounds=(0, 120), epsilon=1),
        "minimum=0, maximum=120",
    ),
    Mistake(
        "bounds of a sum as lo= and hi=",
        lambda: library.sum(PEOPLE, "age", lo=0, hi=120, epsilon=1),
        "minimum=0, maximum=120",
    ),
    Mistake(
        "bins= for a histogram",
        lambda: library.counts(PEOPLE, "age", bins=[0, 20, 40], epsilon=1),
        'Bins("age", 0, 120, 10)',
    ),
    Mistake(
        "no candidates",
        lambda: library.median(PEOPLE, "age", epsilon=1),
        "candidates=Grid(0, 120)",
        False,
    ),
    Mistake("the upper bound first", lambda: Grid(120, 0), "the lower end comes first"),
    Mistake(
        "values of the column as candidates",
        lambda: library.mode(PEOPLE, "city", candidates=PEOPLE.city.unique(), epsilon=1),
        "candidates=list(...)",
        False,
    ),
    Mistake(
        "a Series as candidates",
        lambda: library.mode(PEOPLE, "city", candidates=pl.Series(TOWNS), epsilon=1),
        "candidates=list(...)",
        False,
    ),
    Mistake(
        "an array as candidates",
        lambda: library.mode(PEOPLE, "city", candidates=np.array(TOWNS), epsilon=1),
        "candidates=list(...)",
        False,
    ),
    Mistake(
        "groups of the column",
        lambda: library.median(
            PEOPLE, "age", by="city", groups=PEOPLE.city.unique(), candidates=AGES, epsilon=1
        ),
        "groups=list(...)",
        False,
    ),
    Mistake(
        "the categories of pandas",
        lambda: library.mode(PEOPLE.astype({"city": "category"}), "city", epsilon=1),
        "Give the possible answers",
    ),
    Mistake(
        "candidates that differ in a blank",
        lambda: library.mode(PEOPLE, "city", candidates=["Bern", "Bern "], epsilon=1),
        "differ only in blanks",
        False,
    ),
    Mistake(
        "candidates that differ in a capital",
        lambda: library.mode(PEOPLE, "city", candidates=["Bern", "bern"], epsilon=1),
        "small and capital",
        False,
    ),
    Mistake(
        "a candidate misspelt against the declared ones",
        lambda: library.mode(DECLARED, "city", candidates=["Basle"], epsilon=1),
        "did you mean 'Basel'?",
    ),
    Mistake(
        "candidates beyond the declared bounds",
        lambda: library.median(DECLARED, "age", candidates=Grid(0, 200), epsilon=1),
        "Leave out candidates",
    ),
    Mistake(
        "candidates of another kind than the column",
        lambda: library.mode(PEOPLE, "city", candidates=["Bern", 3], epsilon=1),
        "give one of the kind text",
    ),
    Mistake(
        "candidates in one text",
        lambda: library.mode(PEOPLE, "city", candidates="Basel,Bern", epsilon=1),
        "must be a list",
    ),
    Mistake(
        "the same candidate twice",
        lambda: library.mode(PEOPLE, "city", candidates=["Bern", "Bern"], epsilon=1),
        "is there twice",
    ),
    Mistake(
        "epsilon above 10",
        lambda: library.mode(PEOPLE, "city", candidates=TOWNS, epsilon=1001),
        "at most 73.2 %",
        False,
    ),
    Mistake(
        "a scale or a rho with an epsilon above 10",
        lambda: library.mode(PEOPLE, "city", candidates=TOWNS, scale="0.001"),
        "at most 73.2 %",
        False,
    ),
    Mistake(
        "delta above 1e-5",
        lambda: library.keys(PEOPLE, "city", epsilon=1, delta=0.001),
        "such as 1e-8",
        False,
    ),
    Mistake(
        "delta above 0.01",
        lambda: library.keys(PEOPLE, "city", epsilon=1, delta=0.1),
        "such as 1e-8",
    ),
    Mistake(
        "size for the number of records",
        lambda: library.median([1, 2, 3], candidates=AGES, epsilon=1, size=3),
        "ask n times",
    ),
    Mistake("no epsilon", lambda: library.mode(PEOPLE, "city", candidates=TOWNS), "for example 1"),
    Mistake(
        "eps for epsilon",
        lambda: library.mode(PEOPLE, "city", candidates=TOWNS, eps=1),
        "Did you mean 'epsilon'?",
    ),
    Mistake(
        "a third argument without its name",
        lambda: library.median(PEOPLE, "age", AGES, epsilon=1),
        "candidates=",
    ),
    Mistake(
        "k without its name",
        lambda: library.top_k(PEOPLE, "city", 2, candidates=TOWNS, epsilon=1),
        "k=",
    ),
    Mistake(
        "levels without their name",
        lambda: library.quantiles(PEOPLE, "age", [0.1, 0.5], epsilon=1),
        "alphas=",
    ),
    Mistake(
        "q for alpha",
        lambda: library.quantile(PEOPLE, "age", q=0.9, candidates=AGES, epsilon=1),
        "alpha=0.9",
    ),
    Mistake(
        "a percentage for a share",
        lambda: library.quantile(PEOPLE, "age", alpha=90, candidates=AGES, epsilon=1),
        "0.9 for the 90th percentile",
    ),
    Mistake(
        "groups without their list",
        lambda: library.median(PEOPLE, "age", by="city", candidates=AGES, epsilon=1),
        "groups=['HR', 'Sales']",
    ),
    Mistake(
        "a seed",
        lambda: library.median(PEOPLE, "age", candidates=AGES, epsilon=1, seed=1),
        "request=",
    ),
    Mistake(
        "a sensitivity for a verb over data",
        lambda: library.median(PEOPLE, "age", candidates=AGES, epsilon=1, sensitivity=1),
        "select",
    ),
    Mistake(
        "a delta",
        lambda: library.median(PEOPLE, "age", candidates=AGES, epsilon=1, delta=1e-6),
        'candidates="private"',
    ),
    Mistake(
        "weights",
        lambda: library.median(PEOPLE, "age", candidates=AGES, epsilon=1, weights="w"),
        "Exponential(base_measure=[1, 2])",
    ),
    Mistake(
        "scores without a sensitivity",
        lambda: library.select([1, 2, 3], epsilon=1),
        "give either sensitivity",
    ),
    Mistake(
        "text as numbers",
        lambda: library.median(PEOPLE, "pay", candidates=AGES, epsilon=1),
        "cast it",
    ),
    Mistake(
        "no candidates for a list, with a delta",
        lambda: library.top_k(PEOPLE, "city", k=2, epsilon=1, delta=1e-6),
        "candidates='private'",
    ),
    Mistake(
        "a release in place of its guarantee",
        lambda: library.compose(library.count([1, 2], epsilon=1)),
        "release.guarantee",
    ),
    Mistake("a histogram by pandas' name", lambda: library.value_counts, "discreet.counts"),
    Mistake("a plan by the name of the command", lambda: library.plan, "discreet.worst_error"),
    Mistake(
        "text as numbers, in a column of objects",
        lambda: library.median(PEOPLE.astype({"pay": object}), "pay", candidates=AGES, epsilon=1),
        "cast it",
        False,
    ),
    Mistake(
        "text as numbers, in a series of objects",
        lambda: library.mean(PEOPLE.pay.astype(object), minimum=0, maximum=9, epsilon=1),
        "cast it",
        False,
    ),
    Mistake(
        "a table that is grouped",
        lambda: library.median(PEOPLE.groupby("city"), "age", candidates=AGES, epsilon=1),
        "as by=",
    ),
    Mistake(
        "a column that is not there",
        lambda: library.median({"age": [1]}, "aeg", candidates=AGES, epsilon=1),
        "did you mean 'age'?",
    ),
    Mistake(
        "a column of a condition that is not there",
        lambda: library.count(PEOPLE, where="aeg > 30", epsilon=1),
        "did you mean 'age'?",
    ),
    Mistake(
        "a table without its column",
        lambda: library.mode(PEOPLE, candidates=TOWNS, epsilon=1),
        "give it after the table",
    ),
    Mistake(
        "a mechanism misspelt",
        lambda: library.median(PEOPLE, "age", candidates=AGES, epsilon=1, mechanism="exponental"),
        "must be one of exponential",
    ),
    Mistake("a variance by a name of others", lambda: library.var, "discreet.variance"),
]


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.words)
def test_a_mistake_is_refused_or_warned_of_and_the_fix_is_named(mistake: Mistake) -> None:
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            mistake.call()
        except (DiscreetError, TypeError, AttributeError) as error:
            message, is_refused = str(error), True
        else:
            message, is_refused = "\n".join(str(one.message) for one in warned), False
    assert mistake.fix in message
    assert is_refused is mistake.is_refused


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.words)
def test_no_message_depends_on_rows(mistake: Mistake, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same mistake on other rows of the same types has the same message."""

    def message() -> list[str]:
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            try:
                mistake.call()
            except (DiscreetError, TypeError, AttributeError) as error:
                return [str(error)]
        return sorted({str(one.message) for one in warned})

    before = message()
    others = pd.DataFrame(
        {
            "age": [1, 99],
            "city": ["Olten", "Chur"],
            "hired": pd.to_datetime(["1999-01-01", "1999-01-02"]),
            "pay": ["1", "2"],
        }
    )
    monkeypatch.setitem(globals(), "PEOPLE", others)
    assert message() == before


@pytest.mark.parametrize("rows", ["age\n1\n2\n", "age\nx\n\n", "age\n"])
def test_an_undescribed_csv_has_one_constant_line_whatever_the_rows(
    rows: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text(rows)
    median = ["median", "people.csv", "age", "--lo", "0", "--hi", "9", "--epsilon", "1"]
    mode = ["mode", "people.csv", "age", "--candidates", "1,2", "--epsilon", "1"]
    for state, command in (("a", median), ("a", mode), ("b", mode)):  # once a shell
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / state))
        is_first = not (tmp_path / state).exists()
        assert run(command) == 0
        assert capsys.readouterr().err.count(UNDESCRIBED_TEXT) == is_first
    assert "discreet check" in UNDESCRIBED_TEXT


ALL_WRONG = """\
legder = "budget.db"
[datasets.people]
source = "people.csv"
privacyunit = "user"
budget = { epsilon = -1 }
[datasets.people.columns.age]
type = "integer"
lo = 0
bounds = [0, 120]
[datasets.people.columns.city]
type = "stringx"
[datasets.people.questions.typical]
verb = "medin"
column = "age"
epsilon = 1
[server]
reader = 1
"""
SECOND_ROUND = """\
ledger = "postgresql://me:s3cret@host/db"
[datasets.people]
source = "people.csv"
[datasets.people.columns.city]
type = "string"
[datasets.people.questions.typical]
verb = "median"
column = "city"
epsilon = 1
[datasets.people.questions.other]
verb = "mode"
column = "town"
epsilon = 1
[analysts.ann]
datasets = ["peoplex"]
"""


@pytest.mark.parametrize(
    ("text", "lines", "fixes"),
    [
        (
            ALL_WRONG,
            [1, 4, 5, 8, 9, 11, 13, 17],
            ["'ledger'", "'privacy_unit'", "'minimum'", "'string'", "'median'", "'readers'"],
        ),
        (SECOND_ROUND, [1, 6, 12, 15], ["leave the password out", "'people'"]),
    ],
)
def test_all_mistakes_of_a_description_are_said_at_once(
    text: str, lines: list[int], fixes: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "discreet.toml"
    path.write_text(text)
    with pytest.raises(InvalidDescription) as refused:
        read_configuration(path)
    messages = str(refused.value).splitlines()
    assert [int(one.split(", line ")[1].split(":")[0]) for one in messages] == lines
    for fix in fixes:
        assert fix in str(refused.value)
    assert "s3cret" not in str(refused.value)


def test_of_very_many_mistakes_the_first_are_said(tmp_path: Path) -> None:
    columns = "".join(f'[datasets.people.columns.c{i}]\ntype = "x"\n' for i in range(50))
    path = tmp_path / "discreet.toml"
    path.write_text(f'[datasets.people]\nsource = "people.csv"\n{columns}')
    with pytest.raises(InvalidDescription) as refused:
        read_configuration(path)
    assert str(refused.value).endswith("\nand 30 more")


def test_the_documentation_has_the_same_mistakes() -> None:
    page = Path(__file__).parent.parent / "docs/how-to/i_made_a_mistake.md"
    section = page.read_text(encoding="utf-8").partition("## Mistakes that are caught\n")[2]
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in section.splitlines()
        if line.startswith("| ")
    ]
    assert rows[1:] == [
        [one.words, "refused" if one.is_refused else "a warning", f"`{one.fix}`"]
        for one in MISTAKES
    ]


PRIVATE_COLUMNS = {
    "twice": ["Canary", "Canary", "Bern"],
    "missing": ["Canary", None],
    "alike": ["Canary", "canary"],
    "numbers": [1234567, 7654321],
    "one number twice": [1234567, 1234567],
    "dates": [dt.date(1977, 7, 7), dt.date(1988, 8, 8)],
}


@pytest.mark.parametrize("verb", [discreet.mode, discreet.median])
@pytest.mark.parametrize("name", PRIVATE_COLUMNS)
@pytest.mark.parametrize("make", [pd.Series, pl.Series, lambda values: np.array(values, object)])
def test_values_of_a_column_that_is_given_as_candidates_are_not_quoted(
    make: Any, name: str, verb: Any
) -> None:
    column = make(PRIVATE_COLUMNS[name])
    data = {"numbers": [1, 2], "dates": PRIVATE_COLUMNS["dates"]}.get(name, ["Bern"])
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            verb(data, candidates=column, epsilon=1)
        except DiscreetError as error:
            seen.append(error)  # type: ignore[arg-type]
    words = " ".join(str(getattr(one, "message", one)) for one in seen)
    assert "which looks like a column" in words
    for private in ("anary", "1234567", "7654321", "1977", "1988"):
        assert private not in words
