"""What the figures were measured on."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

PACKAGES = ("discreet", "numpy", "python-flint", "duckdb", "opendp", "diffprivlib", "scikit-learn")


def machine() -> dict[str, str]:
    """Return the processor, the system, Python and the version of every library concerned."""
    return {
        "processor": f"{_processor()}, {os.cpu_count()} cores",
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "numpy's instructions": _instructions(),
        **{package: _version(package) for package in PACKAGES},
    }


def _instructions() -> str:
    """Return the highest level that numpy dispatches to here: its sort takes twice the time without AVX-512."""
    simd: Any = np.show_config(mode="dicts")
    levels = [*simd["SIMD Extensions"]["baseline"], *simd["SIMD Extensions"]["found"]]
    return levels[-1] if levels else "unknown"


def _processor() -> str:
    """Return the processor's name as Linux knows it, or what Python knows."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return next(iter(names), platform.processor() or "unknown processor")


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
