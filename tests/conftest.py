"""What several test modules share."""

import pytest
from hypothesis import settings

settings.register_profile("house", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("house")


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut vectors into blocks of two, so that two-level draws can be enumerated."""
    monkeypatch.setattr("discreet.categorical.FLAT", 2)
    monkeypatch.setattr("discreet.categorical.BLOCK", 2)
