"""The wall around the core, tested: `make core` runs its tests where nothing but their four packages is installed.

A test is of the core if it names nothing else: no part of the library above the core, no other package, and no
helper that does. What such a test needs all the same it would miss there, and fail.
"""

import ast
import re
import sys
from functools import cache
from pathlib import Path

import pytest

import discreet

TESTS = Path(__file__).parent
CORE = {"base", "errors", "sampling", "privacy", "mechanisms", "selection"}
PACKAGES = {"numpy", "flint", "pytest", "hypothesis", *sys.stdlib_module_names}
FILES = sorted(file for folder in CORE for file in (TESTS / folder).rglob("test_*.py"))
ABOVE = re.compile(r"discreet\.(cli|service|study|ledger|tables)\b[\w.]*")
"""What a test may replace in a module that it does not import."""


@cache
def is_of_core(file: Path) -> bool:
    """Return whether a test, and all that it takes from other tests, names nothing but the core."""
    return names_the_core_alone(file.read_text(encoding="utf-8"), file)


def names_the_core_alone(text: str, file: Path) -> bool:
    """Return whether the text of a file of tests names nothing but the core."""
    return all(_is_of_core(node, file) for node in ast.walk(ast.parse(text)))


def _is_of_core(node: ast.AST, file: Path) -> bool:
    """Return whether a part of a program names nothing but the core."""
    match node:
        case ast.Import(names):
            return all(_is_there(alias.name) for alias in names)
        case ast.ImportFrom(module, names, level) if level or str(module).startswith("tests"):
            base = file.parents[level - 1] if level else TESTS.parent
            place = base.joinpath(*(module or "").split("."))
            files = [place.with_suffix(".py"), *(place / f"{alias.name}.py" for alias in names)]
            return all(is_of_core(one) for one in files if one.is_file())
        case ast.ImportFrom(module, names):
            return all(_is_there(f"{module}.{alias.name}") for alias in names)
        case ast.Attribute(ast.Name("discreet"), name):
            return _is_there(f"discreet.{name}")
        case ast.Constant(str(text)):
            return ABOVE.fullmatch(text) is None
    return True


def _is_there(name: str) -> bool:
    """Return whether a dotted name is in the core, or in one of the packages."""
    package, _, rest = name.partition(".")
    if package != "discreet" or not rest:
        return package in {"discreet", *PACKAGES}
    first = rest.partition(".")[0]
    where = vars(discreet)["_MODULES"].get(first, f".{first}").rstrip(".")
    return first.startswith("__") or (where or f".{first}").split(".")[1] in CORE


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that `make core` gives."""
    parser.addoption("--core", action="store_true", help="collect the tests of the core alone")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Return True for a file of tests that is not of the core, if those alone are asked for."""
    if config.getoption("--core") and collection_path.name.startswith("test_"):
        return not (collection_path in FILES and is_of_core(collection_path)) or None
    return None
