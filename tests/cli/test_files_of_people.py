"""Files as people have them: from `describe` to a right answer in at most five commands and edits.

Each case writes a file as a program of the trade would, and says what its owner types after reading
docs/how-to/files.md. The truth is computed from the file by Python's csv, openpyxl, json or sqlite3, and ε is so
large that no noise is left.
"""

import csv
import gzip
import io
import json
import re
import sqlite3
import zipfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from statistics import median_low
from typing import Any

import pandas as pd
import pytest

from discreet.cli import run

openpyxl = pytest.importorskip("openpyxl")

MOST_STEPS = 5
CITIES = ["Bern", "Zürich", "Genf"]
CITY = f'columns.city = {{ type = "string", enum = {json.dumps(CITIES, ensure_ascii=False)} }}'
AGE = "columns.age = { type = 'integer', minimum = 0, maximum = 120 }"
PAID = "columns.paid = { type = 'number', minimum = 0, maximum = 9999, step = '0.01' }"
DAY = "columns.day = { type = 'date', minimum = 2024-01-01, maximum = 2024-12-31 }"

Rows = list[dict[str, str]]
PEOPLE: Rows = [
    {"city": CITIES[(i * i + i // 5) % 3], "age": str(20 + i * 7 % 50), "paid": f"{1000 + 37 * i / 4:.2f}",
     "day": f"2024-{1 + i % 12:02}-{1 + i % 28:02}"}
    for i in range(61)
]  # fmt: skip
"""What all the files hold, written in a different way in each."""


@dataclass(frozen=True)
class Case:
    """A kind of file, and what its owner types.

    Attributes:
        write: writes the files into a folder, and returns how the owner names them.
        truth: returns the rows of the files in plain texts, read by a reader that is not ours.
        options: what is typed behind `discreet describe FILE`.
        columns: what is filled in.
    """

    write: Callable[[Path], str]
    truth: Callable[[Path], Rows]
    options: str = "--header"
    columns: tuple[str, ...] = (CITY, AGE)


def write_csv(rows: Rows, names: Sequence[str] | None = None, **dialect: Any) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n", **dialect)
    writer.writerow(rows[0] if names is None else names)
    writer.writerows(row.values() for row in rows)
    return out.getvalue()


def some(*names: str) -> Rows:
    return [{name: row[name] for name in names} for row in PEOPLE]


def german(text: str) -> str:
    """The number as a German spreadsheet shows it."""
    return f"{Decimal(text):,.2f}".translate(str.maketrans(",.", ".,"))


def saved(name: str, content: str | bytes, encoding: str = "utf-8") -> Callable[[Path], str]:
    def write(folder: Path) -> str:
        raw = content if isinstance(content, bytes) else content.encode(encoding)
        (folder / name).write_bytes(raw)
        return name

    return write


def by_csv(
    name: str,
    encoding: str = "utf-8",
    *,
    skip: int = 0,
    names: Sequence[str] | None = None,
    **dialect: Any,
) -> Callable[[Path], Rows]:
    def read(folder: Path) -> Rows:
        lines = (folder / name).read_bytes().decode(encoding).splitlines()[skip:]
        return [*csv.DictReader(lines, names, **dialect)]

    return read


def parquet(folder: Path) -> str:
    table = pd.DataFrame(some("city", "age"))
    table.assign(age=table["age"].astype(int)).to_parquet(folder / "people.parquet")
    return "people.parquet"


def by_pandas(folder: Path) -> Rows:
    return [
        {"city": row.city, "age": str(row.age)}
        for row in pd.read_parquet(folder / "people.parquet").itertuples()
    ]


def workbook(folder: Path) -> str:
    book = openpyxl.Workbook()
    assert book.active is not None
    book.active.title = "Notes"
    book.active.append(["not this one"])
    sheet = book.create_sheet("People")
    sheet.append([*PEOPLE[0]])
    for row in PEOPLE:
        day = datetime.fromisoformat(row["day"])
        sheet.append([row["city"], int(row["age"]), float(row["paid"]), day])
    book.save(folder / "people.xlsx")
    return "people.xlsx"


def by_openpyxl(folder: Path) -> Rows:
    sheet = openpyxl.load_workbook(folder / "people.xlsx")["People"]
    names, *rows = sheet.iter_rows(values_only=True)
    return [
        {
            str(n): f"{v:%Y-%m-%d}" if isinstance(v, datetime) else str(v)
            for n, v in zip(names, row, strict=True)
        }
        for row in rows
    ]


def two_files(folder: Path) -> str:
    (folder / "y2023.csv").write_text(write_csv(some("city", "age")[:25]), "utf-8")
    (folder / "y2024.csv").write_text(write_csv(some("city", "age")[25:]), "utf-8")
    return "y*.csv"


def of_two_files(folder: Path) -> Rows:
    return by_csv("y2023.csv")(folder) + by_csv("y2024.csv")(folder)


def database(folder: Path) -> str:
    with sqlite3.connect(folder / "people.db") as connection:
        connection.execute("CREATE TABLE Person (city NVARCHAR(40), age INTEGER)")
        rows = [(row["city"], int(row["age"])) for row in PEOPLE]
        connection.executemany("INSERT INTO Person VALUES (?, ?)", rows)
    connection.close()
    return "people.db"


def by_sqlite(folder: Path) -> Rows:
    with sqlite3.connect(folder / "people.db") as connection:
        rows = connection.execute("SELECT city, age FROM Person").fetchall()
    connection.close()
    return [{"city": city, "age": str(age)} for city, age in rows]


def zipped_portal_file(folder: Path) -> str:
    """Write a table as statistical offices publish it: titles, local dates, dots for what is unknown."""
    rows = [
        {
            **row,
            "city": row["city"] if i % 7 else "...",
            "day": f"{datetime.fromisoformat(row['day']):%d.%m.%Y}",
        }
        for i, row in enumerate(some("city", "day"))
    ]
    text = "Bevölkerung\r\nStand 2024\r\n" + write_csv(rows, delimiter=";")
    with zipfile.ZipFile(folder / "people.zip", "w") as archive:
        archive.writestr("people.csv", text.encode("cp1252"))
    return "people.zip"


def of_zipped_portal_file(folder: Path) -> Rows:
    with zipfile.ZipFile(folder / "people.zip") as archive:
        lines = archive.read("people.csv").decode("cp1252").splitlines()[2:]
    rows = [*csv.DictReader(lines, delimiter=";")]
    return [{**row, "day": f"{datetime.strptime(row['day'], '%d.%m.%Y'):%Y-%m-%d}"} for row in rows]


def packed_folder(folder: Path) -> str:
    for city in CITIES:
        (folder / "data" / f"city={city}").mkdir(parents=True)
        rows = [{"age": row["age"]} for row in PEOPLE if row["city"] == city]
        (folder / "data" / f"city={city}" / "part-0.csv.gz").write_bytes(
            gzip.compress(write_csv(rows).encode())
        )
    return "data"


def of_packed_folder(folder: Path) -> Rows:
    found: Rows = []
    for file in (folder / "data").rglob("*.gz"):
        city = file.parent.name.partition("=")[2]
        lines = gzip.decompress(file.read_bytes()).decode().splitlines()
        found += [{"city": city, **row} for row in csv.DictReader(lines)]
    return found


def of_german_numbers(rows: Rows) -> Rows:
    return [{**row, "paid": row["paid"].replace(".", "").replace(",", ".")} for row in rows]


TWO = some("city", "age")
INDEXED = [{"": str(i), **row} for i, row in enumerate(TWO)]
AMOUNTS = [{"city": row["city"], "paid": german(row["paid"])} for row in PEOPLE]
JAPANESE = write_csv(TWO, names=["都市", "年齢"])
TOKYO = 'columns.都市 = { type = "string", enum = ["Bern", "Zurich", "Genf"] }'

CASES: dict[str, Case] = {
    "a clean CSV": Case(saved("people.csv", write_csv(TWO)), by_csv("people.csv")),
    "Parquet": Case(parquet, by_pandas, options=""),
    "cp1252 below a header of ASCII": Case(
        saved("people.csv", write_csv(TWO), "cp1252"), by_csv("people.csv", "cp1252"),
        "--header --csv encoding=cp1252",
    ),
    "cp1252 in the header": Case(
        saved("people.csv", write_csv(TWO, names=["city", "âge"]), "cp1252"), by_csv("people.csv", "cp1252"),
        "--header --csv encoding=cp1252", (CITY, AGE.replace("age", '"âge"')),
    ),
    "Unicode Text of Excel": Case(
        saved("people.txt", write_csv(TWO, delimiter="\t"), "utf-16"),
        by_csv("people.txt", "utf-16", delimiter="\t"),
    ),
    "Shift-JIS": Case(
        saved("people.csv", JAPANESE.replace("ü", "u"), "cp932"), by_csv("people.csv", "cp932"),
        "--header --csv encoding=cp932", (TOKYO.replace("都市", '"都市"'), AGE.replace("age", '"年齢"')),
    ),
    "semicolons and decimal commas": Case(
        saved("people.csv", write_csv(AMOUNTS, delimiter=";"), "utf-8-sig"),
        lambda folder: of_german_numbers(by_csv("people.csv", "utf-8-sig", delimiter=";")(folder)),
        "--header --csv decimal=, --csv thousands=.", (CITY, PAID),
    ),
    "a workbook": Case(
        workbook, by_openpyxl, "--header --csv sheet=People", (CITY, AGE, PAID, DAY),
    ),
    "an index of pandas": Case(saved("people.csv", write_csv(INDEXED)), by_csv("people.csv")),
    "no header": Case(
        saved("people.csv", write_csv(TWO).partition("\r\n")[2]),
        by_csv("people.csv", names=["city", "age"]), "--csv names=city,age",
    ),
    "several files": Case(two_files, of_two_files),
    "a JSON array": Case(
        saved("people.json", json.dumps([{**row, "age": int(row["age"])} for row in TWO], indent=1)),
        lambda folder: [
            {**row, "age": str(row["age"])} for row in json.loads((folder / "people.json").read_bytes())
        ],
        "--names city,age",
    ),
    "a table of SQLite": Case(database, by_sqlite, "--table Person"),
    "a zip archive of a statistical office": Case(
        zipped_portal_file, of_zipped_portal_file,
        "--header --csv encoding=cp1252 --csv skip=2 --csv missing=... --csv date=%d.%m.%Y", (CITY, DAY),
    ),
    "a folder of packed parts": Case(packed_folder, of_packed_folder),
}  # fmt: skip

CLI = pytest.CaptureFixture[str]


def answer(command: str, capsys: CLI) -> Any:
    """Run a command that answers, and return the answer."""
    capsys.readouterr()
    assert run([*command.split(" "), "--epsilon", "1000000000", "--json"]) == 0
    return json.loads(capsys.readouterr().out)["value"]


def edited(draft: str, columns: Sequence[str]) -> str:
    """The draft as its owner fills it in: what is marked is replaced, and of the columns some are described."""
    head = draft.split("[datasets.", 2)[1]
    lines = [line for line in ("[datasets." + head).splitlines() if "FILL IN" not in line]
    return "\n".join(
        ['ledger = "budget.db"', *lines, 'budget = { epsilon = "1000000000000" }', *columns, ""]
    )


@pytest.mark.parametrize("case", CASES)
@pytest.mark.filterwarnings("ignore:.*protects no one")
def test_the_answer_is_right_in_five_steps(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: CLI
) -> None:
    made, steps = CASES[case], 0
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DISCREET_CONFIG", raising=False)
    source = made.write(tmp_path)

    assert run(["describe", source, *made.options.split()]) == 0
    draft = capsys.readouterr().out
    steps += 1
    (tmp_path / "discreet.toml").write_text(edited(draft, made.columns), "utf-8")
    [name] = re.findall(r"^\[datasets\.([^.\]]+)\]", draft, re.MULTILINE)
    steps += 1
    rows = made.truth(tmp_path)
    assert run(["check", name, "--not-private"]) == 0, "all cells fit or are missing"
    steps += 1
    assert run(["ledger", "open", name]) == 0
    steps += 1

    steps += 1  # any of these
    assert answer(f"count {name}", capsys) == len(rows) == len(PEOPLE)
    for declared in made.columns:
        column = declared.split(" ")[0].removeprefix("columns.").strip('"')
        cells = [row[column] for row in rows]
        if "enum" in declared:
            values = json.loads("[" + declared.split("[")[1].split("]")[0] + "]")
            expected = {one: Counter(cells)[one] for one in values}
            assert answer(f"counts {name} {column}", capsys) == expected
            assert sum(expected.values()) > len(rows) / 2, "the oracle reads the file"
        elif "date" in declared:
            assert answer(f"median {name} {column}", capsys)[:10] == median_low(cells)
        else:
            numbers = [Decimal(one) for one in cells]
            assert Decimal(str(answer(f"sum {name} {column}", capsys))) == sum(numbers)
    assert steps <= MOST_STEPS
