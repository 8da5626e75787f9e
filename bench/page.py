"""The page of the documentation with the stored results, and its picture."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .report import duration, ratio
from .stored import Results, peer

DOCS = Path(__file__).parents[1] / "docs" / "reference"
PAGE, PICTURE = DOCS / "benchmarks.md", DOCS / "pictures" / "benchmarks.svg"
BEGIN, END = "<!-- measured -->", "<!-- end -->"


def write(stored: Mapping[str, Results]) -> None:
    """Put the stored results into the page, between its marks, and draw them."""
    from .picture import picture  # matplotlib is not in the group `bench`

    before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
    _, after = rest.split(END)
    PAGE.write_text(f"{before}{BEGIN}\n{table(stored)}\n{END}{after}", encoding="utf-8")
    PICTURE.write_text(f"{picture(stored).to_svg()}\n", encoding="utf-8")


def table(stored: Mapping[str, Results]) -> str:
    """Return the stored results as a table: medians, and ratios with the kernel and without it."""
    columns = (
        "work",
        "ours",
        "peer",
        "theirs",
        "ratio",
        "by processor",
        "without the kernel",
        "target",
    )
    found = [_machines(stored), "", f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    slow = stored.get("numpy", {}).get("rows", {})
    for name, row in stored["kernel"]["rows"].items():
        found += _lines(row, slow.get(name))
    return "\n".join(found)


def _lines(row: Mapping[str, Any], slow: Mapping[str, Any] | None) -> list[str]:
    """Return one line for each peer of a row; without peers one for ourselves."""
    ours, *peers = row["lines"]
    without = {} if slow is None else {line["name"]: line for line in slow["lines"]}
    chosen = peer(row)
    found = []
    for line in [line for line in peers if line["median"] is not None] or [None]:
        told = [row["title"], _times(ours)]
        if line is None:
            told += [""] * 6
        else:
            is_chosen = chosen is not None and line["name"] == chosen["name"]
            told += [
                line["name"],
                _times(line),
                _ratio(line),
                _ratio(line, "processor_ratio"),
                _ratio(without.get(line["name"])),
            ]
            told.append(_target(line) if is_chosen else "")
        found.append(f"| {' | '.join(told)} |")
    return found


def _machines(stored: Mapping[str, Results]) -> str:
    """Return what the results were measured on."""
    plain = ("processor", "system")
    machine = stored["kernel"]["machine"]
    return ", ".join(v if name in plain else f"{name} {v}" for name, v in machine.items()) + "."


def _times(line: Mapping[str, Any]) -> str:
    """Return the median, and the shortest time in brackets."""
    if line["median"] is None:
        return "failed"
    return f"{duration(line['median'])} ({duration(line['min'])})"


def _ratio(line: Mapping[str, Any] | None, clock: str = "ratio") -> str:
    """Return a ratio with its interval; nothing where there is none."""
    if line is None or line[clock] is None:
        return ""
    interval = line[f"{clock}_interval"]  # none of runs before there were any
    ends = "" if interval is None else " [{}, {}]".format(*map(ratio, interval))
    return f"{ratio(line[clock])}{ends}"


def _target(line: Mapping[str, Any]) -> str:
    """Return what we owe to this peer, and whether we keep to it."""
    if not line["target"]:
        return ""
    clock = " by processor" if line["target"]["clock"] == "processor" else ""
    return f"≤ {line['target']['limit']:g}{clock}{'' if line['met'] else ', not met'}"
