"""The figures of waits are those of the ledger, and what is not well is seen."""

import pytest

pytest.importorskip("uvicorn", reason="the extra server is not installed")

from .waits import is_well, waiting


@pytest.mark.process
def test_two_analysts_are_answered_in_turn() -> None:
    with waiting("0.2s", 2) as waits:
        waits.run(1.0, waits.of_all("both"))
        figures = waits.figures()
    assert is_well({"both": figures}), figures
    assert figures["waits"]["both"]["answers"] == figures["charged"] >= 2


def test_figures_that_are_not_well_are_seen() -> None:
    well = {"failed": 0, "charged": 1, "answered": 1, "statuses": {"people 200": 1}}
    assert is_well({"one": well})
    for wrong in ({"failed": 1}, {"answered": 0}, {"statuses": {"people 402": 1}}):
        assert not is_well({"one": {**well, **wrong}})
