"""The page of the documentation with the stored results, and its picture."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from .report import duration, ratio
from .stored import Results, peer

DOCS = Path(__file__).parents[1] / "docs" / "reference"
PAGE, PICTURE = DOCS / "benchmarks.md", DOCS / "pictures" / "benchmarks.svg"
BEGIN, END = "<!-- measured -->", "<!-- end -->"
TRACES, END_OF_TRACES = "<!-- traces -->", "<!-- end of traces -->"


def write(stored: Mapping[str, Results]) -> None:
    """Put the stored results into the page, between its marks, and draw them."""
    from .picture import picture  # matplotlib is not in the group `bench`

    text = _replace(PAGE.read_text(encoding="utf-8"), BEGIN, table(stored), END)
    tables = table_of_traces(stored["kernel"].get("traces", []))
    PAGE.write_text(_replace(text, TRACES, tables, END_OF_TRACES), encoding="utf-8")
    PICTURE.write_text(f"{picture(stored).to_svg()}\n", encoding="utf-8")


def _replace(page: str, begin: str, text: str, end: str) -> str:
    """Return the page with a text between two marks in place of what was there."""
    before, rest = page.split(begin)
    _, after = rest.split(end)
    return f"{before}{begin}\n{text}\n{end}{after}"


def table_of_traces(traces: Sequence[Mapping[str, Any]]) -> str:
    """Return what times show of the data: a table for the works on the same cases."""
    lines = list[str]()
    for cases, same in groupby(traces, lambda trace: trace["cases"]):
        lines += ["", f"| work | {' | '.join(cases)} |", "|---" * (len(cases) + 1) + "|"]
        for trace in same:
            first = duration(trace["median"][0])
            cells = [trace["name"], first, *(f"{one:.2f}" for one in trace["ratios"][1:])]
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines[1:])


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
    lines = [_machines(stored), "", f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    slow = stored.get("numpy", {}).get("rows", {})
    for name, row in stored["kernel"]["rows"].items():
        lines += _lines(row, slow.get(name))
    return "\n".join(lines)


def _lines(row: Mapping[str, Any], slow: Mapping[str, Any] | None) -> list[str]:
    """Return one line for each peer of a row; without peers one for ourselves."""
    ours, *peers = row["lines"]
    without = {} if slow is None else {line["name"]: line for line in slow["lines"]}
    first = peer(row)
    lines = []
    for line in [line for line in peers if line["median"] is not None] or [None]:
        cells = [row["title"], _times(ours)]
        if line is None:
            cells += [""] * 6
        else:
            is_first = first is not None and line["name"] == first["name"]
            cells += [
                line["name"],
                _times(line),
                _ratio(line),
                _ratio(line, "processor_ratio"),
                _ratio(without.get(line["name"])),
            ]
            cells.append(_target(line) if is_first else "")
        lines.append(f"| {' | '.join(cells)} |")
    return lines


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
