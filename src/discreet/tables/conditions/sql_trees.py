"""Trees of sqlglot: the parts of a statement, the columns and the numbers in it."""

from fractions import Fraction
from typing import Any, TypeAlias

from ...base.numbers import exact
from ...errors import InvalidArgument, MissingPackage, preview

Tree: TypeAlias = Any
"""A tree of sqlglot, a node of Narwhals, or a part of one: neither has public types for it."""


def sqlglot_package() -> Tree:
    """Return the package that parses SQL.

    Raises:
        MissingPackage: if it is not installed.
    """
    try:
        import sqlglot
    except ImportError:
        raise MissingPackage("SQL needs sqlglot: pip install 'discreet[sql]'") from None
    return sqlglot


def parts_of_tree(tree: Tree) -> dict[str, Tree]:
    """Return the parts of a tree that are there."""
    return {name: part for name, part in tree.args.items() if part not in (None, False, [], "")}


def has_only(tree: Tree, *names: str) -> bool:
    """Return whether a tree has no other parts than these."""
    return set(parts_of_tree(tree)) <= set(names)


def tree_in_words(tree: Tree) -> str:
    """Return an expression as SQL, which names its column where it has no alias."""
    is_column = type(tree) is sqlglot_package().exp.Column
    words: str = tree.name if is_column else tree.sql(comments=False)
    return words


def column_of_tree(tree: Tree) -> str:
    """Return the name of a column.

    Raises:
        InvalidArgument: for an expression, or a name with its table.
    """
    if type(tree) is not sqlglot_package().exp.Column:
        raise InvalidArgument(f"a column is named by itself, got {preview(tree_in_words(tree))}")
    if not has_only(tree, "this"):
        raise InvalidArgument(
            "a column is named without its table: a question is about one dataset"
        )
    name: str = tree.name
    return name


def number_of_tree(tree: Tree, name: str) -> Fraction:
    """Return a literal number; errors call it by a name.

    Raises:
        InvalidArgument: if it is none.
    """
    exp = sqlglot_package().exp
    if type(tree) is not exp.Literal or tree.is_string:
        raise InvalidArgument(f"{name} must be a number, got {preview(tree_in_words(tree))}")
    return exact(tree.this, name)


def signed_number_of_tree(tree: Tree, name: str) -> Fraction:
    """Return a number with its sign."""
    if type(tree) is sqlglot_package().exp.Neg:
        return -number_of_tree(tree.this, name)
    return number_of_tree(tree, name)
