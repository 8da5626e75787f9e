"""Public files against Python's csv: `python -m bench.public_files FOLDER`.

The files are those of public_files.toml, each in the folder as OWNER/NAME/PATH. Its form is declared, and csv reads
it in the same form. Compared are the number of records, how often each value is in each column, and where the form
says how numbers are written, the numbers, as pandas reads them. Verbs are asked, and ε is so large that no noise is
left.
"""

import bz2
import csv
import gzip
import io
import sys
import tomllib
import warnings
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from pandas.api.types import is_numeric_dtype

import discreet
from discreet.errors import DiscreetError
from discreet.tables.engines import numbers
from discreet.tables.formats.text_form import CsvFile

LIST = Path(__file__).with_name("public_files.toml")
EPSILON = 10**6
MOST_COLUMNS, MOST_VALUES = 40, 2_000
"""So many columns of a file are compared, and of each so many values: the most common ones."""

Words = Mapping[str, Any]
_OF_CSV = {
    "delimiter": "delimiter",
    "quote": "quotechar",
    "escape": "escapechar",
    "skip_initial_space": "skipinitialspace",
}
"""The words that csv has under other names."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """A file, by both readers.

    Attributes:
        repository: where it is public.
        records: its number of records, by csv.
        cells: how many cells were compared.
        difference: where the two differ; empty if nowhere.
    """

    repository: str
    path: str
    records: int
    cells: int
    difference: str


def unpacked(file: Path) -> bytes:
    """Return the bytes of a file, as Python unpacks them."""
    content = file.read_bytes()
    if zipfile.is_zipfile(file):
        with zipfile.ZipFile(file) as archive:
            return archive.read(archive.namelist()[0])
    for opener, signature in ((gzip, b"\x1f\x8b"), (bz2, b"BZh")):
        if content.startswith(signature):
            return bytes(opener.decompress(content))
    return content


def by_csv(file: Path, words: Words) -> tuple[list[str], list[list[str]]]:
    """Return the names and the records of a file, as Python's csv reads it in a declared form."""
    csv.field_size_limit(2**30)
    text = unpacked(file).decode(words.get("encoding", "utf-8-sig"), errors="replace")
    lines = io.StringIO(text, newline="")
    for _ in range(words.get("skip", 0)):
        lines.readline()
    options = {ours: words[word] for word, ours in _OF_CSV.items() if word in words}
    if words.get("quote") == "":
        options |= {"quoting": csv.QUOTE_NONE, "quotechar": None}
    sign = words.get("comment")
    kept = (line for line in lines if sign is None or not line.startswith(sign))
    records = [one for one in csv.reader(kept, **options) if one]
    names = words.get("names") or records.pop(0)
    missing = {*words.get("missing", ())}
    width = len(names)
    rows = [([*one, *[""] * width])[:width] for one in records]
    return names, [["" if cell in missing else cell for cell in one] for one in rows]


def differences(file: Path, words: Words, names: list[str], rows: list[list[str]]) -> Iterator[str]:
    """Yield where our answers differ from the records of csv."""
    given = discreet.scan_csv(file, **words)
    count = discreet.count(given, epsilon=EPSILON).value
    if count != len(rows):
        yield f"{count} records, and {len(rows)} by csv"
    for place, name in enumerate(names[:MOST_COLUMNS]):
        if names.count(name) > 1 or not name:
            continue
        counts = Counter(row[place] for row in rows)
        common = {one: n for one, n in counts.most_common(MOST_VALUES) if "\ufffd" not in one}
        if not common:
            continue
        found = discreet.counts(given, name, candidates=[*common], epsilon=EPSILON).value
        if other_numbers(given, words, name, [row[place] for row in rows]):
            yield f"column {name!r}: other numbers"
        if found != common:
            others = sum(one != found[value] for value, one in common.items())
            yield f"column {name!r}: {others} values"


def by_pandas(cells: list[str], words: Words) -> list[float]:
    """Return the numbers among cells, as pandas reads them in a declared form; a unit is taken away before."""
    for unit in words.get("units", ()):
        cells = [cell.strip().removeprefix(unit).strip() for cell in cells]
    column = pd.DataFrame({"x": [cell for cell in cells if cell]}).to_csv(index=False)
    signs = {"decimal": words.get("decimal", "."), "thousands": words.get("thousands")}
    table = pd.read_csv(io.StringIO(column), float_precision="round_trip", **signs)
    return sorted(table["x"].tolist()) if is_numeric_dtype(table["x"]) else []


def other_numbers(given: CsvFile, words: Words, name: str, cells: list[str]) -> bool:
    """Return whether a column has other numbers than pandas finds; where pandas finds texts, no."""
    if not {"decimal", "thousands", "units"} & words.keys():
        return False
    expected = by_pandas(cells, words)
    return bool(expected) and sorted(map(float, numbers(given, name))) != expected


def compare(folder: Path, repository: str, path: str, words: Words) -> Comparison:
    """Return how a file is read by both."""
    file = folder / repository / path
    names, rows = by_csv(file, words)
    try:
        differs = "; ".join(differences(file, words, names, rows))
    except DiscreetError as error:
        differs = f"{type(error).__name__}: {error}"
    return Comparison(
        repository, path, len(rows), len(rows) * min(len(names), MOST_COLUMNS), differs
    )


def main(folder: Path) -> int:
    """Print a line for each repository, and one for each difference; return how many there are."""
    listed = tomllib.loads(LIST.read_text(encoding="utf-8"))
    found = [
        compare(folder, repository, path, words)
        for repository, files in listed.items()
        for path, words in files.items()
    ]
    print("| repository | files | records | cells | equal |\n|---|---|---|---|---|")
    for repository in listed:
        own = [one for one in found if one.repository == repository]
        records, cells = sum(one.records for one in own), sum(one.cells for one in own)
        equal = sum(not one.difference for one in own)
        print(f"| {repository} | {len(own)} | {records:,} | {cells:,} | {equal} |")
    others = [one for one in found if one.difference]
    for one in others:
        print(f"\n{one.repository}/{one.path}: {one.difference}")
    return len(others)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.exit(bool(main(Path(sys.argv[1]))))
