"""What all kinds of guarantees have in common."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize("size", ["size=2", "size=None"])
def test_a_new_process_states_the_guarantee_of_several_draws(size: str) -> None:
    """The module of compositions is imported on use: nothing else need have asked for it before."""
    lines = [
        "import discreet",
        f"release = discreet.select([1.0, 2.0], sensitivity=1, epsilon=1, {size})",
        "print(release.guarantee.repeated(3).pure)",
    ]
    command = [sys.executable, "-c", "\n".join(lines)]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert printed.strip() == ("6" if size == "size=2" else "3")
