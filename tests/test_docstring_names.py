"""Every field and argument that a docstring of the package describes exists."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "src" / "discreet"
ENTRY = re.compile(r" {4}(\**\w+(?:, \**\w+)*):(?:\s|$)")
PLAIN = {"NamedTuple", "Protocol"}
"""The bases that have no fields."""


def described(documented: ast.ClassDef | ast.FunctionDef) -> Iterator[str]:
    """Yield the names in the entries of a docstring."""
    head = ""
    for line in (ast.get_docstring(documented) or "").splitlines():
        if line and not line.startswith(" "):
            head = line
        found = ENTRY.match(line)
        if head in ("Args:", "Attributes:") and found:
            yield from (name.lstrip("*") for name in found[1].split(", "))


def arguments(function: ast.FunctionDef) -> set[str]:
    """Return the names of the arguments of a function."""
    of = function.args
    every = [*of.posonlyargs, *of.args, *of.kwonlyargs, of.vararg, of.kwarg]
    return {one.arg for one in every if one is not None}


def members(kind: ast.ClassDef) -> set[str]:
    """Return the names of the fields, properties and methods of a class, and of what its code sets."""
    names = set()
    for node in ast.walk(kind):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            names.add(node.attr)
        elif isinstance(node, ast.FunctionDef):
            names |= {node.name} | (
                arguments(node) if node.name in ("__init__", "__new__") else set()
            )
    return names


def unknown(tree: ast.AST) -> Iterator[str]:
    """Yield the entries of docstrings that name nothing.

    Terms of all verbs, and fields of a base, may be described where they are not written.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.args.kwarg is None:
            known = arguments(node)
        elif isinstance(node, ast.ClassDef) and {*map(ast.unparse, node.bases)} <= PLAIN:
            known = members(node)
        else:
            continue
        yield from (f"{node.name}: {name}" for name in described(node) if name not in known)


def test_every_described_name_exists() -> None:
    found = [
        f"{file.name}: {one}"
        for file in sorted(PACKAGE.rglob("*.py"))
        for one in unknown(ast.parse(file.read_text(encoding="utf-8")))
    ]
    assert found == []


def test_a_name_that_is_gone_is_found() -> None:
    text = 'class A:\n    """A.\n\n    Attributes:\n        gone: x\n        kept: y\n    """\n    kept: int\n'
    assert [*unknown(ast.parse(text))] == ["A: gone"]
    text = (
        'def f(a, *b, c):\n    """F.\n\n    Args:\n        a, *b: two.\n        d: none.\n    """\n'
    )
    assert [*unknown(ast.parse(text))] == ["f: d"]
