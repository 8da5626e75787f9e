"""Two services that differ in the number of rows are told apart neither by delays nor by early replies."""

from contextlib import ExitStack
from pathlib import Path

import pytest

pytest.importorskip("uvicorn", reason="the extra server is not installed")

from .two_sizes import FREE, SIZES, World, compare, probe_all

pytestmark = pytest.mark.process


def test_a_small_count(tmp_path: Path) -> None:
    """One median in each, under three loads. Late probes are counted on a quiet machine alone."""
    worlds = [World(tmp_path / f"{rows}", rows, "2s") for rows in SIZES]
    with ExitStack() as closing:
        for one in worlds:
            one.open()
            closing.enter_context(one.running)
        probes = probe_all(worlds[0], 3)
        found = compare(worlds, 1, 1)
    assert [one["early"] for one in probes.values()] == [0] * len(FREE)
    assert {name: number for name, number in found.items() if "doublings" not in name} == {
        f"{load}: equal": 1 for load in ("quiet", "flood", "busy")
    }
