"""A small storm over the service; `make storm` has the large one."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from .storm import FAILED

pytest.importorskip("starlette", reason="the extra server is not installed")
pytest.importorskip("httpx", reason="the extra server is not installed")

ROOT = Path(__file__).parents[2]


def test_a_small_storm() -> None:
    few = ["--where", "budget.db", "--kills", "1", "--workers-killed", "0"]
    done = subprocess.run(
        [sys.executable, "-m", "tests.service.storm", *few],
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=240,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(done.stdout)
    assert found["kills of the service"] == 1
    assert not any(found[what] for what in FAILED)
    assert found["requests"] >= 8


def test_a_small_storm_of_assistants() -> None:
    pytest.importorskip("mcp", reason="the SDK of the Model Context Protocol is not installed")
    few = ["--calls", "150", "--kills", "1", "--after", "20ms"]
    done = subprocess.run(
        [sys.executable, "-m", "tests.service.assistant_storm", *few],
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=240,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    figures = json.loads(done.stdout)
    assert figures["calls"] >= 150
    assert not any(figures[name] for name in FAILED)
