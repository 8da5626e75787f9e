"""The face of the package: small, complete, and quick to import."""

import inspect
import pickle
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import jedi
import pytest

import discreet
from discreet.mechanisms import MECHANISMS
from discreet.privacy.guarantees import _GUARANTEE_KINDS

from .public_names import PATHS, public

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


SELECTING = """
import os
os.urandom = lambda n: (%d).to_bytes(n, "little")
import discreet
discreet.select(%s, sensitivity=1, epsilon=1)
"""
"""A first answer, on a word of our choice."""

SURE, OPEN = 3 << 60, 1 << 63
"""A word that falls inside a candidate of two or 5,000 equal ones, and one on the border between two of them."""


@pytest.mark.parametrize("scores", ["[1, 1]", "[1.0, 1.0]"])
def test_a_first_answer_loads_few_modules(scores: str) -> None:
    """Each of ours takes a millisecond of it, and ball arithmetic takes as long as half of numpy."""
    loaded = loaded_after(SELECTING % (SURE, scores))
    assert not loaded & {*FRAMES, "flint", "pathlib", "hashlib", "json", "html", "difflib", "uuid"}
    ours = {name for name in loaded if name.startswith("discreet.")}
    folders = {name.split(".")[1] for name in ours}
    assert not folders & {"ledger", "service", "study", "tables"}
    assert len(ours) <= 38  # three are folders


def test_a_first_answer_from_an_array_loads_no_balls() -> None:
    assert "flint" not in loaded_after(SELECTING % (SURE, "__import__('numpy').zeros(5000)"))


@pytest.mark.parametrize("scores", ["[1, 1]", "__import__('numpy').zeros(5000)"])
def test_a_doubt_loads_balls(scores: str) -> None:
    """Once in 2**40 first answers or rarer: see the side channels of the exponential mechanism."""
    assert "flint" in loaded_after(SELECTING % (OPEN, scores))


def test_other_first_answers_load_no_dataframe_library() -> None:
    program = "import discreet; discreet.select({'tea': 1, 'milk': 2}, sensitivity=1, epsilon=1)"
    assert not loaded_after(program) & {*FRAMES, "flint"}


def test_laws_and_plans_load_no_pictures() -> None:
    code = "import discreet; discreet.distribution([1, 2], sensitivity=1, epsilon=1).entropy()"
    assert "matplotlib" not in loaded_after(code)


def test_public_names_are_offered_and_no_others() -> None:
    assert dir(discreet) == discreet.__all__
    namespace: dict[str, Any] = {}
    exec("from discreet import *", namespace)
    assert {*namespace} - {"__builtins__"} == set(discreet.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'random'"):
        _: Any = discreet.random  # type: ignore[attr-defined]


def test_mechanisms_and_guarantees_are_among_the_public_names() -> None:
    classes = {*MECHANISMS.values(), *_GUARANTEE_KINDS.values()}
    assert {*discreet.privacy.__all__} | {one.__name__ for one in classes} <= {*PATHS}


def test_a_notebook_completes_public_names_and_no_others() -> None:
    """Jedi is what Jupyter asks; without a running module it lists the files of a package too, of any package.

    Of a checkout it then reads the source, and not the stub.
    """
    found = jedi.Interpreter("discreet.", [{"discreet": discreet}]).complete()
    assert {one.name for one in found} == {*discreet.__all__}
    read = jedi.Script("import discreet\ndiscreet.").complete()
    others = {one.name for one in read if not one.name.startswith("_")} - {*discreet.__all__}
    files = {path.stem for path in Path(discreet.__file__).parent.iterdir()}
    assert others <= files | {"TYPE_CHECKING"}


def test_public_names_can_be_pickled() -> None:
    for name in PATHS:
        value = public(name)
        if isinstance(value, type) or inspect.isfunction(value):
            assert pickle.loads(pickle.dumps(value)) is value, name


def test_every_public_name_has_a_docstring() -> None:
    for name in PATHS:
        value = public(name)
        if not isinstance(value, dict):
            assert value.__doc__, name


def test_no_randomness_but_bits() -> None:
    """Nothing in the library draws from anywhere but `bits`; tokens and sessions of callers are no draws."""
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
            of_tokens = forbidden == "secrets" and file.name in ("tokens.py", "sessions.py")
            found = re.search(rf"\b{re.escape(forbidden)}\b", text)
            assert of_tokens or not found, (file, forbidden)
        assert ("urandom" in text) == (file.name == "bits.py"), file
