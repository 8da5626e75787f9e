"""A small storm; `make storm` has the large one."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ..storm import FAILED

ROOT = Path(__file__).parents[2]


@pytest.mark.proof_in("postgresql")
def test_a_small_storm(where: str) -> None:
    few = ["--kills", "6", "--forks", "2", "--interrupts", "6"]
    done = subprocess.run(
        [sys.executable, "-m", "tests.storm", "--where", where, *few],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(done.stdout)
    assert (found["killed"], found["forked"], found["struck"]) == (6, 2, 6)
    assert not any(found[what] for what in FAILED)
    assert found["given"] > 6
