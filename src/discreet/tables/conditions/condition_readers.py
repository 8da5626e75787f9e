"""Reads conditions: SQL's text, expressions of Narwhals, and conditions themselves."""

import datetime as dt
from collections.abc import Callable, Sequence
from functools import partial

from ...base.arguments import exact_text
from ...base.numbers import exact
from ...errors import InvalidArgument, MissingPackage, preview
from .conditions import (
    All,
    CellComparison,
    Condition,
    Constant,
    Either,
    Membership,
    Missing,
    Not,
    Operator,
    both,
    check_size,
    either,
    read_constant,
)
from .sql_trees import Tree, sqlglot_package

_LONGEST_TEXT = 20_000
_DEEPEST = 100
"""So many brackets, negations and the like may be inside one another."""

CONDITION_PARTS = (
    "comparisons (=, <>, <, <=, >, >=), IN, BETWEEN and IS NULL of columns with constants, joined by "
    "AND, OR and NOT"
)


def read_condition(where: object) -> Condition | None:
    """Return a condition, or None if there is none.

    Args:
        where: SQL such as "age >= 18 AND city IN ('Bern', 'Basel')", a Narwhals expression such as
            `nw.col("age") >= 18`, or a condition.

    Raises:
        InvalidArgument: if it is neither, or has other parts than `CONDITION_PARTS` says.
        MissingPackage: if it is SQL, and sqlglot is not installed.
    """
    if where is None:
        return None
    if isinstance(where, CellComparison | Membership | Missing | Not | All | Either):
        return check_size(where)
    text = exact_text(where)
    if text is not None:
        return check_size(_from_text(text))
    if type(where).__module__.partition(".")[0] == "narwhals" and hasattr(where, "_nodes"):
        return check_size(_from_nodes(where, 0))
    raise InvalidArgument(
        "where must be SQL such as \"age >= 18\" or a Narwhals expression such as nw.col('age') >= "
        f"18, got {preview(where)}"
    )


def _refusal(part: str) -> InvalidArgument:
    """Return the error for a part that no condition has."""
    return InvalidArgument(f"where takes {CONDITION_PARTS}. Not {part}")


# Expressions of Narwhals. An expression is a list of nodes, each a function of the one before it.

_COMPARISONS: dict[str, Operator] = {
    "__eq__": "=", "__ne__": "<>", "__lt__": "<", "__le__": "<=", "__gt__": ">", "__ge__": ">=",
}  # fmt: skip

_ENDS: dict[str, tuple[Operator, Operator]] = {
    "both": (">=", "<="), "left": (">=", "<"), "right": (">", "<="), "none": (">", "<"),
}  # fmt: skip


def _from_nodes(expression: Tree, depth: int) -> Condition:
    """Return the condition of a Narwhals expression."""
    if depth > _DEEPEST:
        raise InvalidArgument(f"a condition is at most {_DEEPEST} expressions deep")
    nodes = getattr(expression, "_nodes", None)
    if not nodes:
        raise _refusal(f"{preview(expression)} in place of a condition")
    first, rest = nodes[0], list(nodes[1:])
    names: Tree = first.kwargs.get("names", ()) if first.name == "col" else ()
    if len(names) != 1:
        raise _refusal(
            f"the expression {first.name}"
            if first.name != "col"
            else "several columns in one comparison"
        )
    if not rest:
        raise _refusal("a column alone: compare it, such as nw.col('member') == True")
    condition = _test_of(names[0], rest[0])
    for node in rest[1:]:
        condition = _join_node(condition, node, depth)
    return condition


def _test_of(column: str, node: Tree) -> Condition:
    """Return the comparison of a column that a node is."""
    if node.name in _COMPARISONS:
        other = node.exprs[0]
        return CellComparison(column, _COMPARISONS[node.name], _constant_of(other))
    if node.name == "is_null":
        return Missing(column)
    if node.name == "is_in":
        values = node.kwargs["other"]
        if isinstance(values, str) or not isinstance(values, Sequence):
            raise _refusal("is_in of anything but a list")
        return Membership(column, tuple(map(_constant_of, values)))
    if node.name == "is_between":
        low, high = node.exprs
        least, greatest = _ENDS[node.kwargs["closed"]]
        return both(
            CellComparison(column, least, _constant_of(low)),
            CellComparison(column, greatest, _constant_of(high)),
        )
    raise _refusal(f"the function {node.name} of a column")


def _join_node(condition: Condition, node: Tree, depth: int) -> Condition:
    """Return a condition joined with the condition of a node."""
    if node.name == "__invert__":
        return Not(condition)
    if node.name in ("__and__", "__or__"):
        [other] = node.exprs
        join = both if node.name == "__and__" else either
        return join(condition, _from_nodes(other, depth + 1))
    raise _refusal(f"the function {node.name} of a condition")


def _constant_of(value: Tree) -> Constant:
    """Return a constant of an expression; `nw.lit` is read too."""
    nodes = getattr(value, "_nodes", None)
    if nodes is not None:
        if len(nodes) != 1 or nodes[0].name != "lit" or nodes[0].kwargs.get("dtype") is not None:
            raise _refusal("a comparison of one column with another, or with an expression")
        value = nodes[0].kwargs["value"]
    return read_constant(value)


# SQL, read by sqlglot.


def _from_text(text: str) -> Condition:
    """Return the condition that a text of SQL is."""
    try:
        import sqlglot
    except ImportError:
        raise MissingPackage(
            "where as text needs sqlglot: pip install 'discreet[sql]', or give a Narwhals expression"
        ) from None
    if len(text) > _LONGEST_TEXT:
        raise InvalidArgument(f"a condition is at most {_LONGEST_TEXT:,} characters long")
    try:
        tree = sqlglot.parse_one(text, into=sqlglot.exp.Condition)
    except (sqlglot.errors.SqlglotError, RecursionError, ValueError):
        tree = None
    if tree is None:
        raise InvalidArgument(
            f"where is not a condition in SQL: {preview(text)}. It takes {CONDITION_PARTS}"
        )
    return from_tree(tree)


def from_tree(tree: Tree, depth: int = 0) -> Condition:
    """Return the condition that a tree of sqlglot is."""
    exp = sqlglot_package().exp
    if depth > _DEEPEST:
        raise InvalidArgument(f"a condition is at most {_DEEPEST} brackets deep")
    again = partial(from_tree, depth=depth + 1)
    kind = type(tree)
    if kind is exp.Paren:
        return again(tree.this)
    if kind is exp.Not:
        return Not(again(tree.this))
    if kind in (exp.And, exp.Or):
        return _chain(tree, kind, both if kind is exp.And else either, again)
    reader = _tests().get(kind)
    if reader is None:
        raise _refusal(_words_of(tree))
    return reader(tree)


def _chain(
    tree: Tree, kind: Tree, join: Callable[..., Condition], again: Callable[[Tree], Condition]
) -> Condition:
    """Return a chain of AND or of OR, which sqlglot nests to the left; it may be long."""
    operands = list[Tree]()
    while type(tree) is kind:
        operands.append(tree.expression)
        tree = tree.this
    return join(*map(again, [tree, *reversed(operands)]))


def _tests() -> "dict[type, Callable[[Tree], Condition]]":
    """Return the reader of every kind of comparison."""
    exp = sqlglot_package().exp
    operators: dict[type, Operator] = {
        exp.EQ: "=", exp.NEQ: "<>", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">=",
    }  # fmt: skip
    comparisons: dict[type, Callable[[Tree], Condition]] = {
        kind: partial(_comparison, operator) for kind, operator in operators.items()
    }
    return {**comparisons, exp.In: _membership, exp.Between: _between, exp.Is: _missing}


_MIRRORED: dict[Operator, Operator] = {
    "=": "=",
    "<>": "<>",
    "<": ">",
    ">": "<",
    "<=": ">=",
    ">=": "<=",
}


def _comparison(operator: Operator, tree: Tree) -> Condition:
    """Return a comparison of a column with a constant, whichever is on the left."""
    exp = sqlglot_package().exp
    first, second = _without_brackets(tree.this), _without_brackets(tree.expression)
    if isinstance(second, exp.Column) and not isinstance(first, exp.Column):
        return CellComparison(_column(second), _MIRRORED[operator], constant_of_tree(first))
    return CellComparison(_column(first), operator, constant_of_tree(second))


def _membership(tree: Tree) -> Condition:
    """Return x IN (...); of a list, and of no query."""
    if any(
        tree.args.get(name) is not None for name in tree.args if name not in ("this", "expressions")
    ):
        raise _refusal("IN of anything but a list of constants, such as a subquery")
    return Membership(_column(tree.this), tuple(map(constant_of_tree, tree.expressions)))


def _between(tree: Tree) -> Condition:
    """Return x BETWEEN low AND high, both ends included."""
    if tree.args.get("symmetric"):
        raise _refusal("BETWEEN SYMMETRIC")
    column = _column(tree.this)
    return both(
        CellComparison(column, ">=", constant_of_tree(tree.args["low"])),
        CellComparison(column, "<=", constant_of_tree(tree.args["high"])),
    )


def _missing(tree: Tree) -> Condition:
    """Return x IS NULL."""
    exp = sqlglot_package().exp
    if type(tree.expression) is not exp.Null:
        raise _refusal("IS with anything but NULL. Compare truths by = TRUE")
    return Missing(_column(tree.this))


def _column(tree: Tree) -> str:
    """Return the name of a column."""
    exp = sqlglot_package().exp
    tree = _without_brackets(tree)
    if type(tree) is not exp.Column:
        raise _refusal(f"{_words_of(tree)} in place of a column")
    if tree.table:
        raise _refusal("the name of a table before a column: a question is about one table")
    name: str = tree.name
    return name


def constant_of_tree(tree: Tree) -> Constant:
    """Return a constant: a number, a text, a truth, DATE '...', TIMESTAMP '...' or TIMESTAMPTZ '...'."""
    exp = sqlglot_package().exp
    tree, sign = _without_brackets(tree), 1
    if type(tree) is exp.Neg:
        tree, sign = _without_brackets(tree.this), -1
        if type(tree) is not exp.Literal or tree.is_string:
            raise _refusal("arithmetic")
    if type(tree) is exp.Literal:
        return (
            str(tree.this)
            if tree.is_string
            else sign * exact(tree.this, "a constant of a condition")
        )
    if type(tree) is exp.Boolean:
        return bool(tree.this)
    if type(tree) is exp.Null:
        raise InvalidArgument("NULL equals nothing, and nothing is below or above it: use IS NULL")
    if type(tree) is exp.Cast and type(tree.this) is exp.Literal and tree.this.is_string:
        return _moment(tree)
    raise _refusal(f"{_words_of(tree)} in place of a constant")


def _moment(tree: Tree) -> dt.date:
    """Return the date or the time that a literal with its type is."""
    exp = sqlglot_package().exp
    text, word = tree.this.this, tree.to.this
    types = exp.DataType.Type
    try:
        if word == types.DATE:
            return dt.date.fromisoformat(text)
        if word in (
            types.TIMESTAMP,
            types.TIMESTAMPNTZ,
            types.DATETIME,
            types.TIMESTAMPTZ,
            types.TIMESTAMPLTZ,
        ):
            moment = dt.datetime.fromisoformat(text)
            if (moment.utcoffset() is None) == (
                word in (types.TIMESTAMP, types.TIMESTAMPNTZ, types.DATETIME)
            ):
                return moment
    except ValueError:
        pass
    raise InvalidArgument(
        f"{preview(text)} is not a date or time of its type. Write DATE '2024-12-31', TIMESTAMP "
        "'2024-12-31 23:59:00', or TIMESTAMPTZ '2024-12-31 23:59:00+01:00' with its offset"
    )


def _without_brackets(tree: Tree) -> Tree:
    """Return an operand without brackets around it."""
    exp = sqlglot_package().exp
    for _ in range(_DEEPEST):
        if type(tree) is not exp.Paren:
            break
        tree = tree.this
    return tree


_WORDS = {
    "AggFunc": "aggregates", "Window": "windows", "Subquery": "subqueries", "Select": "subqueries",
    "Cast": "casts", "TryCast": "casts", "Case": "CASE", "Like": "LIKE", "ILike": "LIKE", "Exists": "subqueries",
    "Add": "arithmetic", "Sub": "arithmetic", "Mul": "arithmetic", "Div": "arithmetic", "Mod": "arithmetic",
    "Column": "a column alone (compare it with a constant)", "Literal": "a constant alone", "Null": "NULL alone",
    "NullSafeEQ": "IS NOT DISTINCT FROM", "NullSafeNEQ": "IS DISTINCT FROM",
}  # fmt: skip


def _words_of(tree: Tree) -> str:
    """Return the name of a part of SQL."""
    exp = sqlglot_package().exp
    name = type(tree).__name__
    if isinstance(tree, exp.AggFunc):
        return _WORDS["AggFunc"]
    return _WORDS.get(name) or ("functions" if isinstance(tree, exp.Func) else f"this ({name})")
