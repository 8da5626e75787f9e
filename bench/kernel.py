"""The same measurements with the compiled kernel left out."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from typing import Any


def limit(with_kernel: float, without: float) -> float:
    """Return what we owe in this process, which has the kernel or has not."""
    from discreet.sampling.speed import speed

    return without if speed().kernel is None else with_kernel


def without_kernel(names: Sequence[str]) -> dict[str, Any]:
    """Return the results of these works, measured by another process that leaves the kernel out."""
    command = [sys.executable, "-m", "bench", "--json", "--only", *names]
    environment = {**os.environ, "DISCREET_KERNEL": "0"}
    done = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE)
    found: dict[str, Any] = json.loads(done.stdout)
    return found
