"""Aggregates of rows of which a condition is true: COUNTIF, FILTER, CASE inside an aggregate, and a mean of truths.

Each is read as an aggregate without the condition, about the rows of which it is true. So the sum of CASE WHEN c
THEN 1 ELSE 0 END is COUNT(*) of them, and its mean their share. Where SQL has NULL for no rows, there is noise.
"""

from typing import NamedTuple

from ...errors import InvalidArgument
from .condition_readers import from_tree
from .conditions import Condition, Not, both, either
from .sql_trees import Tree, has_only, sqlglot_package, tree_in_words


class Conditional(NamedTuple):
    """An aggregate without its condition.

    Attributes:
        tree: the aggregate; COUNT(*) in place of a share.
        where: the condition of its rows; None for all.
        truth: the condition of which a share is asked for; None of other aggregates.
    """

    tree: Tree
    where: Condition | None = None
    truth: Condition | None = None

    def of_rows(self, where: Condition | None) -> "Conditional":
        """Return the same about the rows of which another condition is true, too."""
        return self._replace(where=conjunction(where, self.where))


def conjunction(*conditions: Condition | None) -> Condition | None:
    """Return the conjunction of those conditions that there are; None of none."""
    some = [one for one in conditions if one is not None]
    return both(*some) if len(some) > 1 else some[0] if some else None


def without_filter(tree: Tree) -> Conditional:
    """Return an aggregate without FILTER (WHERE ...), and its condition."""
    exp = sqlglot_package().exp
    if type(tree) is not exp.Filter:
        return Conditional(tree)
    return Conditional(tree.this, read_condition_of(tree.expression.this, "FILTER"))


def without_condition(tree: Tree) -> Conditional:
    """Return an aggregate without the condition inside it.

    Raises:
        InvalidArgument: if it has one of which the meaning is another, with what would do.
    """
    exp = sqlglot_package().exp
    kind, inner = type(tree), tree.args.get("this")
    if kind is exp.CountIf and has_only(tree, "this"):
        return Conditional(_count_of_rows(), read_condition_of(inner, "COUNTIF"))
    if kind is exp.Count and type(inner) is exp.Distinct and len(inner.expressions) == 1:
        case = _Case.of(inner.expressions[0], tree)
        if case is not None:
            return Conditional(_with_this(tree, _distinct(case.column())), case.condition)
        return Conditional(tree)
    if not isinstance(tree, exp.AggFunc) or not isinstance(inner, exp.Expression):
        return Conditional(tree)
    case = _Case.of(inner, tree)
    if case is not None:
        return case.read()
    truth = _truth(inner)
    if truth is None or kind not in (exp.Sum, exp.Avg):
        return Conditional(tree)
    condition = read_condition_of(truth, kind.__name__.upper())
    if kind is exp.Sum:
        return Conditional(_count_of_rows(), condition)
    return Conditional(_count_of_rows(), either(condition, Not(condition)), condition)


def read_condition_of(tree: Tree, clause: str) -> Condition:
    """Return the condition in a clause; errors call it by the name of that.

    Raises:
        InvalidArgument: if it has other parts than a condition takes.
    """
    try:
        return from_tree(tree)
    except InvalidArgument as error:
        words = str(error).replace("where takes", f"{clause} takes", 1)
    raise InvalidArgument(words)


def _count_of_rows() -> Tree:
    """Return COUNT(*)."""
    exp = sqlglot_package().exp
    return exp.Count(this=exp.Star())


def _distinct(column: Tree) -> Tree:
    """Return DISTINCT of a column."""
    return sqlglot_package().exp.Distinct(expressions=[column])


def _with_this(tree: Tree, inner: Tree) -> Tree:
    """Return an aggregate of something else."""
    other = tree.copy()
    other.set("this", inner)
    return other


class _Case(NamedTuple):
    """CASE WHEN condition THEN ... ELSE ... END inside an aggregate, or IF.

    Attributes:
        aggregate: the aggregate.
        condition: the condition.
        then: the column or the constant of rows of which it is true.
        otherwise: the constant of the others, as text; None without one, or for NULL.
    """

    aggregate: Tree
    condition: Condition
    then: Tree
    otherwise: str | None

    @classmethod
    def of(cls, tree: Tree, aggregate: Tree) -> "_Case | None":
        """Return the case that an expression is; None if it is none.

        Raises:
            InvalidArgument: if it has several conditions, or compares the expression behind CASE.
        """
        exp = sqlglot_package().exp
        if type(tree) not in (exp.Case, exp.If):
            return None
        some = [tree] if type(tree) is exp.If else tree.args["ifs"]
        if len(some) != 1 or (type(tree) is exp.Case and tree.this is not None):
            raise InvalidArgument(
                f"{tree_in_words(aggregate)}: CASE inside an aggregate has one condition, such as WHEN x = 1 OR "
                "x = 2 THEN 1, and nothing between CASE and WHEN"
            )
        otherwise = tree.args.get("false" if type(tree) is exp.If else "default")
        condition = read_condition_of(some[0].this, "CASE WHEN")
        has_rest = otherwise is not None and type(otherwise) is not exp.Null
        return cls(
            aggregate,
            condition,
            some[0].args["true"],
            _constant(otherwise) if has_rest else None,
        )

    def column(self) -> Tree:
        """Return the column behind THEN, of which rows without one have NULL.

        Raises:
            InvalidArgument: if it is none, or there is another value.
        """
        if type(self.then) is sqlglot_package().exp.Column and self.otherwise is None:
            return self.then
        raise self._refusal()

    def read(self) -> Conditional:
        """Return the aggregate of rows of which the condition is true."""
        exp = sqlglot_package().exp
        kind, constant = type(self.aggregate), _constant(self.then)
        if type(self.then) is exp.Column:
            if self.otherwise is None or (kind is exp.Sum and self.otherwise == "0"):
                return Conditional(_with_this(self.aggregate, self.then), self.condition)
        elif (kind is exp.Count and constant != "" and self.otherwise is None) or (
            kind is exp.Sum and constant == "1" and self.otherwise in (None, "0")
        ):
            return Conditional(_count_of_rows(), self.condition)
        elif kind is exp.Avg and constant == "1" and self.otherwise == "0":
            return Conditional(_count_of_rows(), truth=self.condition)
        raise self._refusal()

    def _refusal(self) -> InvalidArgument:
        """Return the error for a case of another form."""
        return InvalidArgument(
            f"{tree_in_words(self.aggregate)}: write AVG(CASE WHEN ... THEN 1 ELSE 0 END) for the share of rows, "
            "COUNTIF(...) for their number, or CASE WHEN ... THEN column END inside an aggregate. Or have it as a "
            "column in the query of the description"
        )


def _constant(tree: Tree) -> str:
    """Return a constant as a text: a number, or 0 and 1 for truths; "" for other expressions."""
    exp = sqlglot_package().exp
    if type(tree) is exp.Boolean:
        return str(int(tree.this))
    if type(tree) is not exp.Literal:
        return ""
    if tree.is_string:
        return repr(tree.this)
    return {"1.0": "1", "0.0": "0"}.get(tree.this, str(tree.this))


_NUMBER_TYPES = {"INT", "BIGINT", "SMALLINT", "TINYINT", "FLOAT", "DOUBLE", "DECIMAL", "FLOAT64"}


def _truth(tree: Tree) -> Tree | None:
    """Return the condition that an expression is, or that it makes 0 or 1 of by a cast; None for others."""
    exp = sqlglot_package().exp
    while type(tree) is exp.Paren:
        tree = tree.this
    if type(tree) is exp.Cast and has_only(tree, "this", "to"):
        is_number = tree.to.sql().upper() in _NUMBER_TYPES
        return _truth(tree.this) if is_number else None
    is_condition = isinstance(tree, exp.Connector | exp.Predicate | exp.Not)
    return tree if is_condition else None
