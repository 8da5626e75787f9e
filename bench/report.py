"""The results in print, within 80 columns."""

from collections.abc import Mapping, Sequence
from itertools import groupby

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from .race import Ratio, Timing
from .results import Line, Row, Target
from .traces import Trace

_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))


def report(
    console: Console, machine: Mapping[str, str], rows: Sequence[Row], traces: Sequence[Trace]
) -> None:
    """Print what was measured, what we owe, and what went wrong."""
    console.print(escape(", ".join(_described(machine))), style="dim", highlight=False)
    if rows:
        console.print(_table_of_rows(rows))
    for _, same in groupby(traces, lambda trace: trace.cases):
        console.print(_table_of_traces(list(same)))
    console.print(_notes(rows, traces))


def duration(seconds: float | None) -> str:
    """Return three digits and a unit."""
    if seconds is None:
        return "–"
    size, unit = next((u for u in _UNITS if abs(seconds) >= u[0] * 0.9995), _UNITS[-1])
    return f"{seconds / size:.3g} {unit}"


def ratio(value: float | None) -> str:
    """Return a ratio in two or three digits, nothing for none."""
    if value is None:
        return ""
    return "< 0.001" if value < 0.001 else f"{value:,.0f}" if value >= 100 else f"{value:.2g}"


def _described(machine: Mapping[str, str]) -> list[str]:
    plain = ("processor", "system")
    return [value if name in plain else f"{name} {value}" for name, value in machine.items()]


def _table_of_rows(rows: Sequence[Row]) -> Table:
    table = _table(
        "time", "min", "ours by\ntheirs", "by\nprocessor", "target", "met", "bits a\ndraw"
    )
    for row in rows:
        table.add_row(f"[bold]{escape(row.title)}")
        for line in row.lines:
            table.add_row(f"  {escape(line.name)}", *_cells(line))
        table.add_section()
    return table


def _cells(line: Line) -> list[str]:
    met = {None: "", True: "[green]yes", False: "[bold red]NO"}[line.met]
    return [
        _time(line.timing),
        duration(line.timing.best) if line.timing.best is not None else "",
        _with_interval(line.ratio),
        _with_interval(line.processor),
        _owed(line.target),
        met,
        _number(line.bits),
    ]


def _with_interval(ratio: Ratio | None) -> str:
    """Return the ratio, and its interval on a line below."""
    if ratio is None:
        return ""
    return f"{_number(ratio.median, 'x')}\n[dim]{_number(ratio.low)}–{_number(ratio.high)}"


def _table_of_traces(traces: Sequence[Trace]) -> Table:
    """Return works on the same cases: the time of the first, and the processor's of the others by it."""
    table = _table(*traces[0].cases, "bits a\ndraw")
    for trace in traces:
        bits = [bits for bits in trace.bits if bits is not None]
        ratios = [
            _number(None if ratio is None else ratio.median, "x") for ratio in trace.ratios[1:]
        ]
        first = _time(trace.timings[0])
        table.add_row(escape(trace.name), first, *ratios, _number(max(bits, default=None)))
    return table


def _table(*columns: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, padding=0)
    table.add_column("")  # the titles wrap where there is little room, the figures never
    for column in columns:
        table.add_column(column, justify="right", no_wrap=True)
    return table


def _time(timing: Timing) -> str:
    """Return the median, or in a word why there is none."""
    return "[red]failed" if timing.failure else duration(timing.median)


def _owed(target: Target | None) -> str:
    if target is None:
        return ""
    return (
        f"≤ {duration(target.limit)}"
        if target.against is None
        else f"≤ {_number(target.limit, 'x')}"
    )


def _number(value: float | None, unit: str = "") -> str:
    if value is None:
        return ""
    if value < 0.001:
        return f"<0.001{unit}"
    return (f"{value:,.0f}" if value >= 100 else f"{value:.3g}") + unit


def _notes(rows: Sequence[Row], traces: Sequence[Trace]) -> Table:
    """Return what the reader must know beside the figures: failures and warnings above all."""
    notes = Table.grid(padding=(0, 1))
    for trouble, titles in _troubles(rows, traces).items():
        notes.add_row("•", escape(f"{trouble} ({'; '.join(dict.fromkeys(titles))})"))
    for row in rows:
        for note in row.notes:
            notes.add_row("•", escape(f"{row.title}: {note}"))
    return notes


def _troubles(rows: Sequence[Row], traces: Sequence[Trace]) -> dict[str, list[str]]:
    """Return what went wrong, and in which rows."""
    timed = [(row.title, line.name, line.timing) for row in rows for line in row.lines]
    timed += [("traces", trace.name, timing) for trace in traces for timing in trace.timings]
    troubles: dict[str, list[str]] = {}
    for title, name, timing in timed:
        if timing.failure:
            troubles.setdefault(f"{name} failed: {timing.failure}", []).append(title)
        if timing.warned:
            troubles.setdefault(f"{name} warned {timing.warned} times", []).append(title)
    return troubles
