"""The table of all numbers, read; `python -m tests.reproductions.table` writes it into the index pages."""

import re
import tomllib
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[2] / "docs" / "reproductions"
INDEX = FOLDER / "index.md"
PAGES = {"": INDEX, "_zh": FOLDER / "index.zh.md"}
BEGIN, END = "<!-- the table is made of numbers.toml -->\n\n", "\n<!-- end of the table -->\n"
WORDS = {
    "": {
        "exactly": "yes",
        "rounded": "yes, to its digits",
        "formula": "yes, by its formula",
        "at most": "yes, the bound holds",
        "loose": "safe, but loose: {times} times",
        "no": "**no**, corrected",
        "by chance": "by chance: {chance}",
        "head": "| section | what | the source | ours | where | agrees |",
        "a formula": "a formula",
        "drawn": "drawn",
        "beside it": "beside it",
        "none": "none",
    },
    "_zh": {
        "exactly": "是",
        "rounded": "是，就其位数而言",
        "formula": "是，按其公式",
        "at most": "是，界成立",
        "loose": "安全，但偏松：{times} 倍",
        "no": "**否**，已更正",
        "by chance": "出于偶然：{chance}",
        "head": "| 节 | 内容 | 来源 | 我们 | 位置 | 是否一致 |",
        "a formula": "公式",
        "drawn": "有图",
        "beside it": "并列",
        "none": "无",
    },
}
"""The words of the table, in both languages."""

OUTPUT = re.compile(r"^```output\n(.*?)^```", re.M | re.S)
HEADING = re.compile(r"^##+ (.+)$", re.M)

with (FOLDER / "numbers.toml").open("rb") as file:
    KNOWN: dict[str, Any] = tomllib.load(file)


def source_of(row: dict[str, Any]) -> str:
    """Return the short name of the source of a number or a figure."""
    return str(row.get("source") or row["id"].partition(".")[0])


def file_of(source: str, language: str = "") -> str:
    """Return the name of the page of a source: in the language, if there is one."""
    sister = f"{source}{language.replace('_', '.')}.md"
    return sister if (FOLDER / sister).exists() else f"{source}.md"


def page_of(source: str, language: str = "") -> str:
    """Return the text of the page of a source."""
    return (FOLDER / file_of(source, language)).read_text(encoding="utf-8")


def shows(printed: str, row: dict[str, Any]) -> bool:
    """Return whether an output holds all our numbers of a row, in the line that it names if it names one."""
    line = row.get("prints", printed)
    found = (re.search(rf"(?<![\w.]){re.escape(n)}(?![\w.]*\d)", line) for n in row["ours"])
    return line in printed and all(found)


def heading_of(row: dict[str, Any], language: str = "") -> str | None:
    """Return the heading under which the page prints a number or shows a figure; None if it nowhere does."""
    page = page_of(source_of(row), language)
    if "picture" in row:
        places = [page.find(f"](pictures/{row['picture']})")]
    else:
        places = [block.start() for block in OUTPUT.finditer(page) if shows(block[1], row)]
    above = [head[1] for head in HEADING.finditer(page) if places and head.start() < places[0]]
    return above[-1] if above else None


def _where(row: dict[str, Any], language: str) -> str:
    """Return a link to the heading, by the anchor that the site gives it."""
    heading, file = heading_of(row, language) or "", file_of(source_of(row), language)
    heading = heading.replace("\\", "")
    anchor = re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-")
    return f"[{heading}]({file}#{anchor})"


def rendered(language: str = "") -> str:
    """Return the tables, one per source, in Markdown."""
    sources = KNOWN["sources"].items()
    return "\n\n".join(_table(source, about["name"], language) for source, about in sources)


def _table(source: str, name: str, language: str) -> str:
    lines = [
        f"### [{name}]({file_of(source, language)})\n",
        WORDS[language]["head"],
        "|---|---|---|---|---|---|",
    ]
    lines += [_number(row, language) for row in KNOWN["numbers"] if source_of(row) == source]
    lines += [_figure(row, language) for row in KNOWN["figures"] if row["source"] == source]
    return "\n".join(lines)


def _figure(row: dict[str, Any], language: str) -> str:
    words = WORDS[language]
    theirs = words[row.get("theirs", "drawn")]
    agrees = "–" if "theirs" in row else words["beside it"]
    what = row[f"what{language}"]
    return f"| {row['section']} | {what} | {theirs} | {words['drawn']} | {_where(row, language)} | {agrees} |"


def _number(row: dict[str, Any], language: str) -> str:
    agrees = WORDS[language][row["agrees"]]
    agrees = agrees.format(times=_times(row), chance=row.get("chance"))
    what = row[f"what{language}"].replace("|", "\\|")  # a bar would end the cell
    theirs = WORDS[language]["a formula"] if "theirs" not in row else _shown(row["theirs"])
    cells = (row["section"], what, theirs, _shown(row["ours"]), _where(row, language), agrees)
    return f"| {' | '.join(cells)} |"


def _times(row: dict[str, Any]) -> str:
    """Return by how much the source's number is too large."""
    if row["agrees"] != "loose":
        return ""
    return f"{float(row['theirs'][0]) / float(row['ours'][0]):,g}"


def _shown(values: list[str]) -> str:
    return ", ".join(values if len(values) <= 7 else [*values[:3], "…", values[-1]])


def main() -> None:
    """Write the tables into the pages."""
    for language, page in PAGES.items():
        head, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
        text = head + BEGIN + rendered(language) + END + rest.partition(END)[2]
        page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
