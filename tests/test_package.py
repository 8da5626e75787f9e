"""The face of the package: small, complete, and quick to import."""

import subprocess
import sys
from typing import Any

import pytest

import discreet

HEAVY = (
    "numpy",
    "flint",
    "narwhals",
    "duckdb",
    "pandas",
    "polars",
    "pyarrow",
    "typer",
    "rich",
    "sqlalchemy",
    "matplotlib",
)
FRAMES = ("narwhals", "duckdb", "pandas", "polars", "pyarrow")


def loaded_after(code: str) -> set[str]:
    program = f"{code}\nimport sys; print(' '.join(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


def test_importing_loads_nothing_heavy() -> None:
    assert not loaded_after("import discreet") & set(HEAVY)


def test_selecting_loads_no_dataframe_library() -> None:
    code = "import discreet; discreet.select([1, 2], sensitivity=1, epsilon=1)"
    assert not loaded_after(code) & set(FRAMES)


def test_laws_and_plans_load_no_pictures() -> None:
    code = "import discreet; discreet.distribution([1, 2], sensitivity=1, epsilon=1).entropy()"
    assert "matplotlib" not in loaded_after(code)


def test_the_face_is_complete() -> None:
    assert sorted(discreet.__all__) == sorted([*discreet._HOMES, *discreet._MODULES])
    for name in discreet.__all__:
        assert getattr(discreet, name) is not None
    assert set(dir(discreet)) == set(discreet.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'random'"):
        _: Any = discreet.random


def test_every_public_name_has_a_docstring() -> None:
    for name in discreet.__all__:
        value = getattr(discreet, name)
        if not isinstance(value, dict):
            assert value.__doc__, name


def test_no_randomness_but_bits() -> None:
    """Nothing in the library draws from anywhere but `bits`."""
    from pathlib import Path

    source = Path(discreet.__file__).parent
    for file in source.rglob("*.py"):
        text = file.read_text(encoding="utf-8")
        for forbidden in (
            "import random",
            "from random",
            "np.random",
            "numpy.random",
            "secrets",
            "isclose",
        ):
            assert forbidden not in text, (file, forbidden)
        assert ("urandom" in text) == (file.name == "bits.py"), file
