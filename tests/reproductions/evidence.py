"""The table of corrections, read; `python -m tests.reproductions.evidence` writes it into both pages."""

import tomllib
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[2] / "docs" / "explanation"
BEGIN, END = "<!-- the table is made of corrections.toml -->\n", "<!-- end of the table -->\n"
PAGES = {"": FOLDER / "corrections.md", "_zh": FOLDER / "corrections.zh.md"}
HEADS = {
    "": "| source | where | its words | and says | grade | claimed ε | true ε |",
    "_zh": "| 来源 | 位置 | 原文 | 它说 | 评级 | 声称的 ε | 真实的 ε |",
}
GRADES = {
    "": {"wrong": "**wrong**", "loose": "safe, but loose: {factor} times", "slip": "slip"},
    "_zh": {"wrong": "**错误**", "loose": "安全但偏松：{factor} 倍", "slip": "笔误"},
}

with (FOLDER / "corrections.toml").open("rb") as file:
    CORRECTIONS: list[dict[str, Any]] = tomllib.load(file)["corrections"]


def factor_of(row: dict[str, Any]) -> str:
    """Return by how much the claim is too large, in three digits."""
    return f"{float(row['claimed']) / float(row['true']):,.3g}".replace("2e+03", "2,000")


def where(row: dict[str, Any]) -> str:
    """Return the place of a quotation: the file and line, and of a program its commit or version."""
    if "commit" in row:
        return f"`{row['repository']}` at `{row['commit'][:7]}`, `{row['file']}`:{row['at']}"
    return f"`{row['file']}`:{row['at']}" if "package" in row else f"line {row['at']} of the text"


def rendered(language: str) -> str:
    """Return the table in Markdown."""
    return "\n".join([HEADS[language], "|---|---|---|---|---|---|---|", *_rows(language), ""])


def _rows(language: str) -> list[str]:
    rows = []
    for row in CORRECTIONS:
        factor = factor_of(row) if row["grade"] == "loose" else ""
        grade = GRADES[language][row["grade"]].format(factor=factor)
        numbers = row.get("claimed", "–"), row.get("true", "–")
        words = f"`{row['quotation']}`"
        cells = (row["source"], where(row), words, row[f"says{language}"], grade, *numbers)
        rows.append(f"| {' | '.join(cells)} |")
    return rows


def main() -> None:
    """Write the tables into the pages."""
    for language, page in PAGES.items():
        head, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
        table = f"\n{rendered(language)}"
        page.write_text(head + BEGIN + table + END + rest.partition(END)[2], encoding="utf-8")


if __name__ == "__main__":
    main()
