"""The two fast passes, by numpy and by the kernel."""

from collections.abc import Iterator

import pytest

from discreet.sampling import kernel


@pytest.fixture(params=["kernel", "numpy"], scope="module")
def fast_pass(request: pytest.FixtureRequest) -> Iterator[str]:
    """Take one of the fast passes."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "numpy":
            patch.setattr(kernel, "active", lambda: None)
        elif kernel.active() is None:
            pytest.skip(f"no kernel: {kernel.load()}")
        yield str(request.param)
