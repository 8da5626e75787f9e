"""Reads a statement of SQL as questions: the verbs, columns and terms that it stands for. It asks none of them.

One SELECT in the clause that BigQuery made known:

    SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1) city, COUNT(*), MEDIAN(age)
    FROM people WHERE age >= 18 GROUP BY city
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TypeAlias

from ...base.arguments import text as read_text
from ...base.numbers import count, positive
from ...errors import InvalidArgument, preview
from ...selection.any_column import AnyColumn
from .bigquery import BOUNDS, with_bounds_outside, with_double_quotes, with_units_last
from .condition_readers import from_tree
from .conditional_aggregates import Conditional, conjunction, without_condition, without_filter
from .conditions import Condition, check_size, count_parts
from .sql_groups import GroupClause, is_grouped, read_groups
from .sql_trees import (
    Tree,
    column_of_tree,
    has_only,
    number_of_tree,
    parts_of_tree,
    signed_number_of_tree,
    sqlglot_package,
    tree_in_words,
)

_LONGEST_STATEMENT = 20_000
MOST_ITEMS = 100
MOST_COMPARISONS = 10_000
"""So many comparisons and constants all aggregates have together: the condition counts for each of them."""

EXAMPLE = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1) COUNT(*) FROM people"


StatementBounds: TypeAlias = tuple[str, Fraction, Fraction]
"""Bounds of an aggregate: the argument by which the statement names them, the lower and the upper one."""


@dataclass(frozen=True, slots=True)
class Aggregate:
    """An aggregate of the select list, as a question.

    Attributes:
        name: the name of its column in the answer.
        verb: the name of the verb.
        column: the column that it is about; None for a number of records.
        terms: the arguments of the verb besides.
        units: the columns of which distinct values are counted, those of the privacy unit or another one; None for
            other aggregates.
        bounds: the bounds that the statement names, which must be those of the description; None if it names none.
        where: the condition of its own rows; None for all.
        truth: the condition of which a mean is the share of rows; None of columns.
    """

    name: str
    verb: str
    column: str | None
    terms: Mapping[str, object] = field(default_factory=dict)
    units: tuple[str, ...] | None = None
    bounds: StatementBounds | None = None
    where: Condition | None = None
    truth: Condition | None = None

    @property
    def has_condition(self) -> bool:
        """Whether it is about rows of its own, or about a share of them."""
        return self.where is not None or self.truth is not None

    def conditions(self, where: Condition | None) -> list[Condition | None]:
        """Return the conditions of the rows that it reads in a statement: of a share all, and the true ones."""
        rows = conjunction(where, self.where)
        return [rows] if self.truth is None else [rows, conjunction(rows, self.truth)]


@dataclass(frozen=True, slots=True)
class SortKey:
    """A column of the answer by which its rows are sorted.

    Attributes:
        name: its name.
        descending: whether the largest come first.
        nulls_first: whether rows without a value come first.
    """

    name: str
    descending: bool
    nulls_first: bool


@dataclass(frozen=True, slots=True)
class Options:
    """The options of the clause.

    Attributes:
        epsilon: ε of all answers together.
        delta: δ of all answers together, or None.
        privacy_unit: the privacy unit that the statement names, or None.
        max_groups: the most groups in which a unit counts, or None.
        minimum_count: the least number of units of a group that is answered, of listed groups the least noisy
            number; or None.
    """

    epsilon: Fraction
    delta: Fraction | None = None
    privacy_unit: tuple[str, ...] | None = None
    max_groups: int | None = None
    minimum_count: int | None = None


@dataclass(frozen=True, slots=True)
class SqlStatement:
    """A statement, read: its questions, their dataset and their privacy.

    Attributes:
        dataset: the name of the dataset.
        aggregates: the questions, in the order of the select list.
        columns: the names of the columns of the answer, in order; the column of groups is called as it is selected.
        groups: the columns of GROUP BY, as they are or in bins.
        group_names: which of these the columns of the answer are that are no aggregates.
        where: the condition, or None.
        options: how private it is.
        order: the columns by which the rows are sorted.
        limit: the most rows, or None.
    """

    dataset: str
    aggregates: tuple[Aggregate, ...]
    columns: tuple[str, ...]
    groups: GroupClause
    group_names: Mapping[str, int]
    where: Condition | None
    options: Options
    order: tuple[SortKey, ...]
    limit: int | None

    @property
    def by(self) -> AnyColumn:
        """The column of groups, the cells of several or of bins, or None."""
        return self.groups.by


def read_statement(statement: object) -> SqlStatement:
    """Return a statement of SQL, read.

    Raises:
        InvalidArgument: if it is none, or has a part that is not answered here; the message says what would do.
        MissingPackage: if sqlglot is not installed.
    """
    text = read_text(statement, "a statement")
    if len(text) > _LONGEST_STATEMENT:
        raise InvalidArgument(f"a statement is at most {_LONGEST_STATEMENT:,} characters long")
    sqlglot = sqlglot_package()
    text = with_double_quotes(text)
    text = with_units_last(text, _tokens(text))
    options_text, select_text = _split_clause(with_bounds_outside(text, _tokens(text)))
    options = _read_options(options_text)
    tree = _parse(select_text, "the statement")
    if type(tree) is not sqlglot.exp.Select:
        raise InvalidArgument(f"a statement is one SELECT, got {type(tree).__name__.upper()}")
    _check_parts(tree)
    groups = read_groups(tree)
    names, aggregates, group_names = _select_list(tree, groups)
    return SqlStatement(
        _dataset(tree),
        aggregates,
        names,
        groups,
        group_names,
        _condition(tree, aggregates),
        _amounts(options, has_groups=bool(groups.parts)),
        _order(tree, names, aggregates),
        _limit(tree),
    )


def _condition(tree: Tree, aggregates: Sequence[Aggregate]) -> Condition | None:
    """Return the condition of a statement with some aggregates, or None."""
    where = tree.args.get("where")
    condition = None if where is None else check_size(from_tree(where.this))
    conditions = [one for aggregate in aggregates for one in aggregate.conditions(condition)]
    parts = [count_parts(check_size(one)) for one in conditions if one is not None]
    if sum(parts) > MOST_COMPARISONS:
        raise InvalidArgument(
            f"a statement has at most {MOST_COMPARISONS:,} comparisons and constants: those of its "
            f"condition, for each of its {len(aggregates)} aggregates"
        )
    return condition


def _parse(text: str, what: str) -> Tree:
    """Return the tree of a text that is one statement."""
    sqlglot = sqlglot_package()
    try:
        trees = sqlglot.parse(text)
    except (sqlglot.errors.SqlglotError, RecursionError, ValueError):
        trees = []
    if len(trees) != 1 or trees[0] is None:
        raise InvalidArgument(
            f"{what} cannot be read as one statement of SQL: {preview(text.strip())}. An example: "
            f"{EXAMPLE}"
        )
    return trees[0]


def _tokens(text: str) -> list[Tree]:
    """Return the tokens of a statement; none if it cannot be read."""
    sqlglot = sqlglot_package()
    try:
        tokens: list[Tree] = sqlglot.tokenize(text)
    except (sqlglot.errors.SqlglotError, ValueError):
        return []
    return tokens


def _split_clause(text: str) -> tuple[str, str]:
    """Return the options of the clause, and the statement without the clause."""
    tokens = _tokens(text)
    words = [token.text.upper() for token in tokens[:5]]
    if words[:1] != ["SELECT"] or words[1:5] != ["WITH", "DIFFERENTIAL_PRIVACY", "OPTIONS", "("]:
        raise InvalidArgument(
            "a statement begins with SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = ...). "
            f"There is no default ε. An example: {EXAMPLE}"
        )
    depth = 0
    for token in tokens[4:]:
        depth += {"(": 1, ")": -1}.get(token.text, 0)
        if depth == 0:
            return text[tokens[4].end + 1 : token.start], f"SELECT {text[token.end + 1 :]}"
    raise InvalidArgument("the brackets of OPTIONS are not closed")


_OPTIONS = (
    "epsilon",
    "delta",
    "privacy_unit_column",
    "max_groups_contributed",
    "min_privacy_units_per_group",
)

_OTHER_OPTIONS = {
    "kappa": "Write max_groups_contributed",
    "group_selection_strategy": "Leave it out: public numbers decide how groups that you don't list are chosen",
    "max_rows_contributed": "Leave it out: max_contributions of the description bounds the rows of a unit",
    "rho": "Give epsilon",
    "report_format": "Leave it out",
}


def _read_options(text: str) -> dict[str, Tree]:
    """Return the options of the clause: trees by name."""
    exp = sqlglot_package().exp
    tree = _parse(f"SELECT {text}", "OPTIONS") if text.strip() else None
    if tree is not None and (
        type(tree) is not exp.Select or set(parts_of_tree(tree)) != {"expressions"}
    ):
        raise InvalidArgument("OPTIONS takes NAME = VALUE, with commas between")
    options: dict[str, Tree] = {}
    for pair in [] if tree is None else tree.expressions:
        if type(pair) is not exp.EQ or type(pair.this) is not exp.Column:
            raise InvalidArgument("OPTIONS takes NAME = VALUE, with commas between")
        name = pair.this.name.lower()
        if name in options:
            raise InvalidArgument(f"OPTIONS has {name} twice")
        if name not in _OPTIONS:
            advice = _OTHER_OPTIONS.get(name, f"Write one of {', '.join(_OPTIONS)}")
            raise InvalidArgument(f"OPTIONS: {preview(name)} is not supported here. {advice}")
        options[name] = pair.expression
    if "epsilon" not in options:
        raise InvalidArgument("OPTIONS needs epsilon, such as epsilon = 1: there is no default")
    return options


def _amounts(options: Mapping[str, Tree], *, has_groups: bool) -> Options:
    """Return the options, read."""
    epsilon = positive(number_of_tree(options["epsilon"], "epsilon"), "epsilon")
    delta = (
        positive(number_of_tree(options["delta"], "delta"), "delta") if "delta" in options else None
    )
    most = _whole(options, "max_groups_contributed")
    least = _whole(options, "min_privacy_units_per_group")
    for name, value in (("max_groups_contributed", most), ("min_privacy_units_per_group", least)):
        if value is not None and not has_groups:
            raise InvalidArgument(f"OPTIONS: {name} goes with GROUP BY, and there is none")
    return Options(epsilon, delta, _named_unit(options.get("privacy_unit_column")), most, least)


def _whole(options: Mapping[str, Tree], name: str) -> int | None:
    """Return an option that is a whole number of at least one, or None."""
    if name not in options:
        return None
    number = number_of_tree(options[name], name)
    return count(int(number) if number.denominator == 1 else 0, name)


def _named_unit(tree: Tree) -> tuple[str, ...] | None:
    """Return the columns of the privacy unit that the statement names."""
    if tree is None:
        return None
    exp = sqlglot_package().exp
    parts = tree.expressions if type(tree) in (exp.Tuple, exp.Struct) else [tree]
    return tuple(column_of_tree(part) for part in parts)


_ADVICE = {
    "having": "HAVING looks at answers: ask without it, and filter the released rows. "
    "OPTIONS (min_privacy_units_per_group = 10) leaves small counts out",
    "joins": "a question is about one dataset: join in the query of its description",
    "distinct": "SELECT DISTINCT lists values. With OPTIONS (delta = ...) the groups of a GROUP "
    "BY are released",
    "with": "WITH is not supported: a question is about one dataset",
    "with_": "WITH is not supported: a question is about one dataset",
    "qualify": "windows are not supported",
    "windows": "windows are not supported",
    "laterals": "a question is about one dataset",
    "offset": "OFFSET is not supported. Leave it out",
    "hint": "hints are not supported. Leave them out",
    "into": "a statement only reads",
    "locks": "a statement only reads",
    "sample": "rows are not sampled here: leave out TABLESAMPLE",
    "kind": "SELECT AS is not supported",
    "pivots": "PIVOT is not supported",
}

_READ = ("expressions", "from", "from_", "where", "group", "order", "limit")


def _check_parts(tree: Tree) -> None:
    """Raise for a part of a statement that is not answered here."""
    for name in parts_of_tree(tree):
        if name not in _READ:
            raise InvalidArgument(_ADVICE.get(name, f"{name.upper()} is not supported here"))


def _dataset(tree: Tree) -> str:
    """Return the name of the dataset after FROM."""
    exp = sqlglot_package().exp
    clause = tree.args.get("from_") or tree.args.get("from")
    if clause is None:
        raise InvalidArgument("a statement needs FROM, and the name of a dataset")
    table = clause.this
    if type(table) is not exp.Table:
        raise InvalidArgument(
            "FROM takes the name of a dataset, and no subquery. Describe the query as a dataset"
        )
    if parts_of_tree(table).get("db") or parts_of_tree(table).get("catalog"):
        raise InvalidArgument("FROM takes the name of a dataset, with nothing before it")
    if type(table.this) is not exp.Identifier or not has_only(table, "this"):
        raise InvalidArgument(
            "FROM takes the name of a dataset alone: no alias, no TABLESAMPLE, nothing after it. Leave the rest out"
        )
    name: str = table.name
    return name


def _select_list(
    tree: Tree, groups: GroupClause
) -> tuple[tuple[str, ...], tuple[Aggregate, ...], dict[str, int]]:
    """Return the names of the columns of the answer, the aggregates, and which names are those of groups."""
    exp = sqlglot_package().exp
    names, aggregates, group_names = list[str](), list[Aggregate](), dict[str, int]()
    if len(tree.expressions) > MOST_ITEMS:
        raise InvalidArgument(f"a statement selects at most {MOST_ITEMS} columns")
    for expression in tree.expressions:
        has_alias = type(expression) is exp.Alias
        whole = expression.this if has_alias else expression
        outer = without_filter(whole)
        inner, bounds = _inside_bounds(outer.tree)
        name = (
            expression.alias
            if has_alias
            else tree_in_words(inner if whole is outer.tree else whole)
        )
        if name in names:
            raise InvalidArgument(
                f"two columns of the answer are called {preview(name)}: give one an alias, AS ..."
            )
        names.append(name)
        if is_grouped(whole):
            group_names[name] = groups.place(whole)
        else:
            conditional = without_condition(inner).of_rows(outer.where)
            aggregates.append(replace(_aggregate(conditional, name), bounds=bounds))
    if not aggregates:
        raise InvalidArgument(
            "a statement needs an aggregate, such as COUNT(*) or MEDIAN(age): rows and values alone are not "
            "released"
        )
    return tuple(names), tuple(aggregates), group_names


def _inside_bounds(tree: Tree) -> tuple[Tree, StatementBounds | None]:
    """Return an aggregate without the bounds around it, and the bounds; None if there are none."""
    name = tree.name.lower() if type(tree) is sqlglot_package().exp.Anonymous else ""
    if name not in BOUNDS:
        return tree, None
    if len(tree.expressions) != 3:
        raise InvalidArgument(f"{name} takes two numbers, such as {name} => (0, 120)")
    inner, *ends = tree.expressions
    low, high = (signed_number_of_tree(end, name) for end in ends)
    return inner, (name, low, high)


def _aggregate(conditional: Conditional, name: str) -> Aggregate:
    """Return an aggregate as a question."""
    tree, where, truth = conditional
    if truth is not None:
        return Aggregate(name, "mean", None, where=where, truth=truth)
    reader = _aggregates().get(type(tree))
    if reader is None:
        raise InvalidArgument(_refusal(tree))
    return replace(reader(tree, name), where=where)


_Reader = Callable[[Tree, str], Aggregate]


def _aggregates() -> dict[type, _Reader]:
    """Return the readers of aggregates, by the class of their trees."""
    exp = sqlglot_package().exp
    simple = {
        exp.Sum: "sum",
        exp.Avg: "mean",
        exp.Median: "median",
        exp.Min: "minimum",
        exp.Max: "maximum",
        exp.Variance: "variance",
        exp.VariancePop: "variance",
        exp.Stddev: "standard_deviation",
        exp.StddevSamp: "standard_deviation",
        exp.StddevPop: "standard_deviation",
    }
    readers: dict[type, _Reader] = {kind: _of_column(verb) for kind, verb in simple.items()}
    return {
        **readers,
        exp.Count: _count,
        exp.ApproxDistinct: _count_values,
        exp.Mode: _of_column("mode"),
        exp.PercentileDisc: _quantile,
        exp.Quantile: _quantile,
        exp.WithinGroup: _within_group,
        exp.Anonymous: _named,
        exp.ApproxTopK: _top_k,
    }


def _of_column(verb: str) -> _Reader:
    """Return the reader of an aggregate of one column alone."""

    def read(tree: Tree, name: str) -> Aggregate:
        if not has_only(tree, "this", "big_int", "is_string", "dialect"):
            raise InvalidArgument(f"{tree_in_words(tree)}: give it the column alone")
        return Aggregate(name, verb, _argument(tree.this, tree))

    return read


def _count(tree: Tree, name: str) -> Aggregate:
    """Return COUNT(*), COUNT(x) of the records with a value, or COUNT(DISTINCT unit)."""
    exp = sqlglot_package().exp
    if not has_only(tree, "this", "big_int"):
        raise InvalidArgument(
            f"{tree_in_words(tree)}: COUNT(*) counts records, and COUNT(DISTINCT unit) privacy units"
        )
    if type(tree.this) is exp.Star and has_only(tree.this):
        return Aggregate(name, "count", None)
    if type(tree.this) is exp.Distinct and has_only(tree.this, "expressions"):
        return Aggregate(
            name, "count", None, units=tuple(map(column_of_tree, tree.this.expressions))
        )
    if type(tree.this) is exp.Column:
        return Aggregate(name, "count", column_of_tree(tree.this))
    raise InvalidArgument(
        f"{tree_in_words(tree)}: COUNT(*) counts records, and COUNT(DISTINCT unit) privacy units"
    )


def _count_values(tree: Tree, name: str) -> Aggregate:
    """Return APPROX_COUNT_DISTINCT(x), which is COUNT(DISTINCT x)."""
    if not has_only(tree, "this"):
        raise InvalidArgument(f"{tree_in_words(tree)}: give it the column alone")
    return Aggregate(name, "count", None, units=(_argument(tree.this, tree),))


def _quantile(tree: Tree, name: str) -> Aggregate:
    """Return PERCENTILE_DISC(x, 0.9) or QUANTILE(x, 0.9)."""
    if not has_only(tree, "this", "expression", "quantile"):
        raise InvalidArgument(f"{tree_in_words(tree)}: give it the column and the fraction alone")
    alpha = tree.args.get("quantile") or tree.args.get("expression")
    if alpha is None:
        raise InvalidArgument(f"{tree_in_words(tree)}: give it a fraction from 0 to 1, such as 0.9")
    return Aggregate(name, "quantile", _argument(tree.this, tree), {"alpha": _fraction(alpha)})


def _within_group(tree: Tree, name: str) -> Aggregate:
    """Return PERCENTILE_DISC(0.9) WITHIN GROUP (ORDER BY x), or MODE() WITHIN GROUP (ORDER BY x)."""
    exp = sqlglot_package().exp
    function, order = tree.this, tree.expression
    keys = order.expressions if type(order) is exp.Order else []
    if len(keys) != 1 or keys[0].args.get("desc") or not has_only(keys[0], "this", "nulls_first"):
        raise InvalidArgument(f"{tree_in_words(tree)}: ORDER BY one column, ascending")
    column = _argument(keys[0].this, tree)
    if type(function) is exp.Mode and has_only(function):
        return Aggregate(name, "mode", column)
    if type(function) is exp.PercentileDisc and has_only(function, "this"):
        return Aggregate(name, "quantile", column, {"alpha": _fraction(function.this)})
    raise InvalidArgument(_refusal(function))


def _named(tree: Tree, name: str) -> Aggregate:
    """Return an aggregate that sqlglot knows by its name alone."""
    function = tree.name.upper()
    arguments = tree.expressions
    if function in ("APPROX_TOP_COUNT", "TOP_K") and len(arguments) == 2:
        return _listed(tree, name, function, *arguments)
    if function in ("QUANTILE_DISC",) and len(arguments) == 2:
        return Aggregate(
            name, "quantile", _argument(arguments[0], tree), {"alpha": _fraction(arguments[1])}
        )
    raise InvalidArgument(_refusal(tree))


def _top_k(tree: Tree, name: str) -> Aggregate:
    """Return APPROX_TOP_COUNT(x, k), as a dialect may read it."""
    if not has_only(tree, "this", "expression") or tree.args.get("expression") is None:
        raise InvalidArgument(
            f"{tree_in_words(tree)}: give it the column and how many, such as TOP_K(city, 3)"
        )
    return _listed(tree, name, "APPROX_TOP_COUNT", tree.this, tree.expression)


def _listed(tree: Tree, name: str, function: str, column: Tree, most: Tree) -> Aggregate:
    """Return the most common values; with their counts if the function has them."""
    number = number_of_tree(most, "the number of values")
    k = count(int(number) if number.denominator == 1 else 0, "the number of values")
    method = {"method": "counts"} if function == "APPROX_TOP_COUNT" else {}
    return Aggregate(name, "top_k", _argument(column, tree), {"k": k, **method})


_REFUSALS = {
    "PercentileCont": "PERCENTILE_CONT interpolates between records. Write PERCENTILE_DISC",
    "QUANTILE_CONT": "QUANTILE_CONT interpolates between records. Write QUANTILE_DISC",
    "ApproxQuantiles": "write PERCENTILE_DISC(x, 0.25), one for each",
    "ApproxQuantile": "write PERCENTILE_DISC(x, 0.9)",
    "AnyValue": "ANY_VALUE releases a record's value; write MODE",
    "First": "FIRST releases a record's value; write MODE",
    "Last": "LAST releases a record's value; write MODE",
    "ArrayAgg": "ARRAY_AGG releases records. Write TOP_K(x, 10) for the most common values",
    "GroupConcat": "STRING_AGG releases records. Write TOP_K(x, 10) for the most common values",
    "ApproxTopSum": "write SUM(x) with GROUP BY, ORDER BY and LIMIT",
    **dict.fromkeys(
        ("Corr", "CovarPop", "CovarSamp"),
        "have the product as a column in the query of the description, and write AVG of it and of each",
    ),
    "CountIf": "COUNTIF takes a condition alone, such as COUNTIF(age >= 18)",
    "LogicalOr": "one record would decide whether any is true: write COUNTIF(...), how many are",
    "LogicalAnd": "one record would decide whether all are true: write COUNTIF(...), how many are",
    "Window": "windows are not answered. Write GROUP BY in place of OVER",
    "Star": "SELECT * releases records. Name aggregates, such as COUNT(*)",
    "Subquery": "subqueries are not answered. Describe the query as a dataset",
}


def _refusal(tree: Tree) -> str:
    """Return why an expression of the select list is not answered."""
    kind = type(tree).__name__
    if kind == "Anonymous":
        kind = tree.name.upper()
    answered = (
        "COUNT, SUM, AVG, VAR_POP, STDDEV_POP, MODE, MEDIAN, PERCENTILE_DISC, MIN, MAX, TOP_K and "
        "APPROX_TOP_COUNT"
    )
    return _REFUSALS.get(
        kind, f"{preview(tree_in_words(tree))} is not answered. There are {answered} of a column"
    )


def _argument(tree: Tree, aggregate: Tree) -> str:
    """Return the column of an aggregate."""
    exp = sqlglot_package().exp
    if type(tree) is exp.Distinct:
        raise InvalidArgument("DISTINCT goes with COUNT alone. Leave it out")
    if type(tree) is not exp.Column:
        raise InvalidArgument(
            f"{tree_in_words(aggregate)}: aggregates are of a column, and of no expression. Have it as a column in "
            "the query of the description"
        )
    return column_of_tree(tree)


def _fraction(tree: Tree) -> Fraction:
    """Return the fraction of a quantile."""
    number = number_of_tree(tree, "the fraction of a quantile")
    if not 0 <= number <= 1:
        raise InvalidArgument(
            f"the fraction of a quantile is from 0 to 1, got {preview(tree.this)}"
        )
    return number


def _order(
    tree: Tree, names: tuple[str, ...], aggregates: tuple[Aggregate, ...]
) -> tuple[SortKey, ...]:
    """Return the columns of the answer by which its rows are sorted."""
    exp = sqlglot_package().exp
    order = tree.args.get("order")
    if order is None:
        return ()
    if not has_only(order, "expressions"):
        raise InvalidArgument("ORDER BY takes columns of the answer")
    lists = [one.name for one in aggregates if one.verb == "top_k"]
    keys = []
    for one in order.expressions:
        if not has_only(one, "this", "desc", "nulls_first"):
            raise InvalidArgument("ORDER BY takes columns of the answer, ASC or DESC")
        name = tree_in_words(one.this)
        if type(one.this) is exp.Literal and not one.this.is_string and one.this.this.isdecimal():
            place = int(one.this.this)
            name = names[place - 1] if 1 <= place <= len(names) else name
        if name not in names:
            raise InvalidArgument(
                f"ORDER BY sorts the released rows: {preview(name)} is not a column of the answer"
            )
        if name in lists:
            raise InvalidArgument(f"ORDER BY: {preview(name)} holds lists, which have no order")
        keys.append(SortKey(name, bool(one.args.get("desc")), bool(one.args.get("nulls_first"))))
    return tuple(keys)


def _limit(tree: Tree) -> int | None:
    """Return the most rows."""
    limit = tree.args.get("limit")
    if limit is None:
        return None
    if type(limit) is not sqlglot_package().exp.Limit or not has_only(limit, "expression"):
        raise InvalidArgument("LIMIT takes a number of rows")
    number = number_of_tree(limit.expression, "LIMIT")
    return count(int(number) if number.denominator == 1 else 0, "LIMIT")
