"""The table of all numbers, read; `python -m tests.reproductions.table` writes it into the index page."""

import re
import tomllib
import unicodedata
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

OUTPUT = re.compile(r"^```output\n(.*?)^```", re.M | re.S)
HEADING = re.compile(r"^##+ (.+)$", re.M)

with (FOLDER / "numbers.toml").open("rb") as file:
    KNOWN: dict[str, Any] = tomllib.load(file)


def source_of(row: dict[str, Any]) -> str:
    """Return the short name of the source of a number or a figure."""
    return str(row.get("source") or row["id"].partition(".")[0])


def page_of(source: str) -> str:
    """Return the text of the page of a source."""
    return (FOLDER / f"{source}.md").read_text(encoding="utf-8")


def shows(printed: str, row: dict[str, Any]) -> bool:
    """Return whether an output holds all our numbers of a row, in the line that it names if it names one."""
    line = row.get("prints", printed)
    found = (re.search(rf"(?<![\w.]){re.escape(n)}(?![\w.]*\d)", line) for n in row["ours"])
    return line in printed and all(found)


def heading_of(row: dict[str, Any]) -> str | None:
    """Return the heading under which the page prints a number or shows a figure; None if it nowhere does."""
    page = page_of(source_of(row))
    if "picture" in row:
        places = [page.find(f"](pictures/{row['picture']})")]
    else:
        places = [block.start() for block in OUTPUT.finditer(page) if shows(block[1], row)]
    above = [head[1] for head in HEADING.finditer(page) if places and head.start() < places[0]]
    return above[-1] if above else None


def _where(row: dict[str, Any]) -> str:
    """Return a link to the heading, by the anchor that the site gives it."""
    heading = heading_of(row) or ""
    plain = unicodedata.normalize("NFKD", heading).encode("ascii", "ignore").decode().lower()
    anchor = re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", plain).strip())
    return f"[{heading}]({source_of(row)}.md#{anchor})"


def rendered() -> str:
    """Return the tables, one per source, in Markdown."""
    return "\n\n".join(_table(source, about["name"]) for source, about in KNOWN["sources"].items())


def _table(source: str, name: str) -> str:
    lines = [
        f"### [{name}]({source}.md)\n",
        "| section | what | the source | ours | where | agrees |",
        "|---|---|---|---|---|---|",
    ]
    lines += [_number(row) for row in KNOWN["numbers"] if source_of(row) == source]
    lines += [_figure(row) for row in KNOWN["figures"] if row["source"] == source]
    return "\n".join(lines)


def _figure(row: dict[str, Any]) -> str:
    theirs, agrees = row.get("theirs", "drawn"), "–" if "theirs" in row else "beside it"
    return f"| {row['section']} | {row['what']} | {theirs} | drawn | {_where(row)} | {agrees} |"


def _number(row: dict[str, Any]) -> str:
    agrees = WORDS.get(row["agrees"]) or f"by chance: {row['chance']}"
    what = row["what"].replace("|", "\\|")  # a bar would end the cell
    values = _shown(row.get("theirs")), _shown(row["ours"])
    cells = (row["section"], what, *values, _where(row), agrees)
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
