"""The table of all numbers, read; `python -m tests.reproductions.table` writes it into the index page."""

import tomllib
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[2] / "docs" / "reproductions"
INDEX = FOLDER / "index.md"
BEGIN, END = "<!-- the table is made of numbers.toml -->\n\n", "\n<!-- end of the table -->\n"
WORDS = {
    "exactly": "yes",
    "rounded": "yes, to its digits",
    "formula": "yes, by its formula",
    "at most": "yes, the bound holds",
    "no": "**no**, corrected",
}

with (FOLDER / "numbers.toml").open("rb") as file:
    KNOWN: dict[str, Any] = tomllib.load(file)


def source_of(row: dict[str, Any]) -> str:
    """Return the short name of the source of a number or a figure."""
    return str(row.get("source") or row["id"].partition(".")[0])


def page_of(source: str) -> str:
    """Return the text of the page of a source."""
    return (FOLDER / f"{source}.md").read_text(encoding="utf-8")


def rendered() -> str:
    """Return the tables, one per source, in Markdown."""
    return "\n\n".join(_table(source, about["name"]) for source, about in KNOWN["sources"].items())


def _table(source: str, name: str) -> str:
    lines = [
        f"### [{name}]({source}.md)\n",
        "| section | what | the source | ours | agrees |",
        "|---|---|---|---|---|",
    ]
    lines += [_number(row) for row in KNOWN["numbers"] if source_of(row) == source]
    lines += [
        f"| {row['section']} | {row['what']} | drawn | [drawn](pictures/{row['picture']}) | beside it |"
        for row in KNOWN["figures"]
        if row["source"] == source
    ]
    return "\n".join(lines)


def _number(row: dict[str, Any]) -> str:
    agrees = WORDS.get(row["agrees"]) or f"by chance: {row['chance']}"
    what = row["what"].replace("|", "\\|")  # a bar would end the cell
    cells = (row["section"], what, _shown(row.get("theirs")), _shown(row["ours"]), agrees)
    return f"| {' | '.join(cells)} |"


def _shown(values: list[str] | None) -> str:
    if values is None:
        return "a formula"
    return ", ".join(values if len(values) <= 7 else [*values[:3], "…", values[-1]])


def main() -> None:
    """Write the tables into the page."""
    head, _, rest = INDEX.read_text(encoding="utf-8").partition(BEGIN)
    INDEX.write_text(head + BEGIN + rendered() + END + rest.partition(END)[2], encoding="utf-8")


if __name__ == "__main__":
    main()
