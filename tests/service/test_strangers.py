"""A stranger without a token keeps nobody from answers, and makes no question fail."""

from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="the extra server is not installed")
pytest.importorskip("httpx", reason="the extra server is not installed")

from .strangers import is_well, run


@pytest.mark.process
def test_a_stranger_keeps_nobody_from_answers(tmp_path: Path) -> None:
    figures = run(tmp_path, None, 3.0)
    assert is_well(figures), figures
    assert figures["bodies"]["stranger 401"] > 0
    assert figures["half bodies"]["stranger halves"] >= 500


@pytest.mark.proof
@pytest.mark.parametrize("proxy", ["nginx", "caddy"])
def test_a_stranger_keeps_nobody_from_answers_behind_a_proxy(tmp_path: Path, proxy: str) -> None:
    figures = run(tmp_path, proxy, 20.0)
    assert is_well(figures), figures


def test_figures_that_are_not_well_are_seen() -> None:
    """One question failed, one was charged and not answered, or somebody was refused: each is seen."""
    well = {"quiet": {"answers 200": 1}, "bodies": {"stranger 401": 9}, "half bodies": {}}
    counts = {"failed": 0, "charged without an answer": 0}
    assert is_well({**well, **counts})
    for name in counts:
        assert not is_well({**well, **counts, name: 1})
    assert not is_well({**well, **counts, "bodies": {"answers 503": 1}})
