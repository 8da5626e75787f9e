"""Results that are kept beside the source: of which the page is made, and with which later ones are compared."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("stored.json")

Results = dict[str, Any]
"""What `python -m bench --json` prints: the machine, and the rows by name."""


def read() -> dict[str, Results]:
    """Return the results with the kernel and without it, as far as there are any."""
    if not FILE.exists():
        return {}
    found: dict[str, Results] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def write(**measured: Results) -> None:
    """Keep results, "kernel" or "numpy", in place of those of the same works."""
    kept = read()
    for way, results in measured.items():
        rows = {**kept.get(way, {}).get("rows", {}), **results["rows"]}
        traces = results.get("traces") or kept.get(way, {}).get("traces", [])
        kept[way] = {"machine": results["machine"], "rows": rows}
        kept[way] |= {"traces": traces} if traces else {}
    text = json.dumps(kept, indent=1, ensure_ascii=False)
    FILE.write_text(f"{text}\n", encoding="utf-8")


def peer(row: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the line that our target names, else the first peer that ran; None where we are alone."""
    lines = [line for line in row["lines"][1:] if line["ratio"] is not None]
    owed = [line for line in lines if line["target"]]
    return next(iter([*owed, *lines]), None)
