"""The tables of docs/reference/discreet_toml.md, made of the model of the file.

`python -m tools.toml_reference` writes them into the page; a test compares them.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

from discreet.tables.datasets.columns import COLUMN
from discreet.tables.datasets.keys import KeyTable
from discreet.tables.datasets.model import (
    ANALYST,
    BUDGET,
    CSV,
    DATASET,
    DOCUMENT,
    QUESTION,
    SERVER,
    SHARE,
    keys_of,
)
from discreet.tables.verb_table import VERBS

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "discreet_toml.md"
BEGIN, END = "<!-- keys: python -m tools.toml_reference -->\n", "<!-- end of keys -->\n"

TABLES: Mapping[str, KeyTable] = {
    "At the top": DOCUMENT,
    "`[datasets.NAME]`": DATASET,
    "`csv`": CSV,
    "`[datasets.NAME.columns.NAME]`": COLUMN.tables["integer"],
    "`budget`": BUDGET,
    "`share`": SHARE,
    "`[analysts.NAME]`": ANALYST,
    "`[server]`": SERVER,
}


def reference() -> str:
    """Return the tables as Markdown."""
    return "\n".join([*_tables(), *_questions()]) + "\n"


def _tables() -> Iterator[str]:
    """Yield the lines of the tables of keys."""
    yield from ["| where | key | holds | what it says |", "|---|---|---|---|"]
    for where, table in TABLES.items():
        for name, key in table.keys.items():
            holds = (
                ", ".join(f'`"{kind}"`' for kind in COLUMN.tables)
                if name == "type"
                else key.part.words
            )
            needed = " Needed." if key.missing is not None else ""
            yield f"| {where} | `{name}` | {holds} | {key.words}{needed} |"
            where = ""


def _questions() -> Iterator[str]:
    """Yield the lines of the table of questions."""
    terms = [keys_of(verb) for verb in QUESTION.tables]
    shared = [name for name in terms[0] if all(name in names for names in terms)]
    yield "\nA question in `[datasets.NAME.questions.NAME]` has " + ", ".join(
        f"`{n}`" for n in shared
    )
    yield "and arguments of its verb:\n"
    yield from ["| `verb` | arguments |", "|---|---|"]
    for verb in VERBS:
        own = ", ".join(f"`{name}`" for name in keys_of(verb) if name not in shared)
        yield f'| `"{verb}"` | {own} |'


def page_with(tables: str) -> str:
    """Return the page with the tables."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    return f"{before}{BEGIN}{tables}{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    PAGE.write_text(page_with(reference()), encoding="utf-8")
