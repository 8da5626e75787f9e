"""Writes the figures of the prose: `make figures` puts into each page what the cells of docs/figures.toml hold.

A page says `<!--=lead-->4,293<!--/-->`. The cell of that name says where the figure comes from, and how it is
rounded; nothing is looked for by what it looks like. An address is one of

- `stored:WAY/ROW/LINE/FIELD`, a result in bench/stored.json: `stored:kernel/ten/discreet select/median`;
- `numbers:ID/FIELD/PLACE`, in docs/reproductions/numbers.toml: `numbers:sherpa.charge/ours/0`;
- `output:PAGE#BLOCK/LINE/WORD`, in the output of the block of a page that `<!-- id: BLOCK -->` names, from 0 on.
"""

import json
import math
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
CELLS = ROOT / "docs" / "figures.toml"
MARKED = re.compile(r"<!--=(?P<name>[\w.-]+)-->(?P<figure>[^<]*)<!--/-->")

_BOUNDS: Mapping[str, Callable[[Fraction], int]] = {
    "at most": math.ceil,
    "at least": math.floor,
    "nearest": round,
}
_SUPERSCRIPT = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
_NUMERAL = re.compile(r"[-+−]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?")


@cache
def document() -> dict[str, Any]:
    """Return docs/figures.toml."""
    return tomllib.loads(CELLS.read_text(encoding="utf-8"))


def pages() -> list[Path]:
    """Return the pages that may have figures."""
    return [*sorted(ROOT.glob("README*.md")), *sorted((ROOT / "docs").rglob("*.md"))]


def figure(cell: Mapping[str, Any]) -> str:
    """Return a cell as it stands in the prose.

    `of` is the address; `over`, another one by which it is divided; `minus`, one that is taken off; `times`, a
    factor, 1000 for milliseconds; `places` after the point; `bound`, which way it is rounded: "at most" up,
    "at least" down, "nearest"; `scientific`, whether it is written with a power of ten.
    """
    value = value_at(cell["of"]) * Fraction(str(cell.get("times", 1)))
    if "over" in cell:
        value /= value_at(cell["over"])
    if "minus" in cell:
        value -= value_at(cell["minus"])
    exponent = math.floor(math.log10(abs(value))) if cell.get("scientific") else 0
    shown = rounded(value / Fraction(10) ** exponent, cell["places"], cell["bound"])
    return shown + (f"·10{str(exponent).translate(_SUPERSCRIPT)}" if exponent else "")


def rounded(value: Fraction, places: int, bound: str) -> str:
    """Return a number with so many places, rounded as its cell declares."""
    steps = _BOUNDS[bound](value * 10**places)
    return f"{Decimal(steps).scaleb(-places):,.{places}f}".replace("-", "−")


def value_at(address: str) -> Fraction:
    """Return the number at an address, exactly as it is written there."""
    kind, _, path = address.partition(":")
    text = {"stored": _stored, "numbers": _numbers, "output": _output}[kind](path)
    numeral = _NUMERAL.search(text)
    if numeral is None:
        raise ValueError(f"{address}: there is no number in {text!r}")
    return Fraction(numeral[0].replace(",", "").replace("−", "-"))


def _stored(path: str) -> str:
    """Return a field of a line of a stored result."""
    way, row, line, field = path.split("/")
    lines = _json(ROOT / "bench" / "stored.json")[way]["rows"][row]["lines"]
    return str(next(one[field] for one in lines if one["name"] == line))


def _numbers(path: str) -> str:
    """Return a number of the reproductions."""
    name, field, place = path.split("/")
    table = tomllib.loads((ROOT / "docs/reproductions/numbers.toml").read_text(encoding="utf-8"))
    return str(next(one[field] for one in table["numbers"] if one["id"] == name)[int(place)])


def _output(path: str) -> str:
    """Return a word of the output of a block."""
    page, _, place = path.partition("#")
    name, line, word = place.split("/")
    text = (ROOT / page).read_text(encoding="utf-8")
    block = re.search(
        rf"^<!-- id: {name} -->\n```\w+\n.*?^```\n\n?```output\n(.*?)^```", text, re.M | re.S
    )
    if block is None:
        raise ValueError(f"{page}: there is no block {name} with an output")
    return block[1].splitlines()[int(line)].split()[int(word)]


@cache
def _json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def filled(text: str) -> str:
    """Return a page with the figures of its cells."""
    cells = document()["cells"]
    return MARKED.sub(
        lambda found: f"<!--={found['name']}-->{figure(cells[found['name']])}<!--/-->", text
    )


def unfounded(page: Path) -> Iterator[str]:
    """Yield the numerals in the prose of a page that neither a cell gives nor an exception allows."""
    allowed = {
        numeral
        for one in document()["exceptions"]
        if name_of(page) in one["pages"]
        for numeral in one["numerals"]
    }
    for numeral in numerals(page.read_text(encoding="utf-8")):
        if numeral not in allowed:
            yield numeral


def name_of(page: Path) -> str:
    """Return the name of a page in the exceptions: that of the English one, for the Chinese one too."""
    return page.relative_to(ROOT).as_posix().replace(".zh.md", ".md")


def numerals(text: str) -> list[str]:
    """Return the numerals in the prose of a page but those of its cells: without code, links and markup."""
    for dropped in (
        r"!\[[^\]]*\]\([^)]*badge_[^)]*\)", r"^```\w+\n.*?^```\n", r"<!--=.*?<!--/-->", r"<[^>]*>", r"`[^`]*`",
        r"\]\([^)]*\)", r"<https?:[^>]*>", r"\{[^}\n]*\}",
    ):  # fmt: skip
        text = re.sub(dropped, " ", text, flags=re.M | re.S)
    return re.findall(r"\d(?:[\d,]*\d)?(?:\.\d+)*", text)


def main() -> None:
    """Write the figures into all pages."""
    for page in pages():
        text = page.read_text(encoding="utf-8")
        if (new := filled(text)) != text:
            page.write_text(new, encoding="utf-8")
            print(page.relative_to(ROOT))


if __name__ == "__main__":
    main()
