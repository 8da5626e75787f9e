"""The privacy unit and the groups of a query over a table."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

from ...base.arguments import column_name, refuse_one_shot
from ...base.doors import fix, spelling
from ...base.numbers import count
from ...errors import InvalidArgument, InvalidCandidates
from ...mechanisms.contract import Law, PrivacyParameter, read_parameter
from ...mechanisms.noisy_counts import moved_counts
from ...privacy.composition import compose, of_any_parts, with_parts
from ...privacy.guarantees import ApproxDP, Guarantee
from ...privacy.sensitivity import Neighbors, read_neighbors, read_unit
from ...selection.answers import Answer
from ...selection.any_column import AnyColumn
from ...selection.bins import (
    CellColumns,
    column_facts,
    plain_column,
    read_cell_labels,
    read_columns,
)
from ...selection.candidates import Answers, Labels
from ...selection.question import Order, Query, Question, answers_at, question_of
from ...selection.releases import Release
from ...selection.scores.contract import Score
from ...selection.terms import DEFAULTS, Terms, check_names, read_payment
from ..conditions.condition_readers import read_condition
from ..engines.column import Group, Histogram, Numeric, Source
from ..engines.records import Records, is_private
from ..scores.per_unit import PerUnit
from ..values.numeric import StandIn
from .group_moves import GroupMoves, guarantee_of_swap
from .private_groups import Draw, PrivateGroups, read_private_groups, values_of

_T = TypeVar("_T")

Choose = Callable[[Law, int | None], object]
Name = Callable[[Any, int | None], object]
"""Names a drawn index, or several: the value alone, or an `Answer` with what was drawn along with it."""

_MOST_ROWS_OF_A_UNIT = 10**6


_BOUNDED = (
    "max_contributions",
    "by",
    "groups",
    "max_groups",
    "groups_share",
    "most_drawn",
    "where",
)


@dataclass(frozen=True, slots=True)
class UnitQuery:
    """A query about records: their public description, and the terms of every group's answer.

    Attributes:
        records: the privacy unit, the contribution bounds and the groups.
        terms: the terms of one group's answer.
        neighbors: the relation that the whole release is about.
        parts: how many groups' answers one record may change.
        drawing: how the groups are drawn, where nobody lists them; or None.
        is_one_list: whether the terms are those of all groups' answers, which have one guarantee together.
    """

    records: Records
    terms: Terms
    neighbors: Neighbors
    parts: int = 1
    drawing: PrivateGroups | None = None
    is_one_list: bool = False

    @property
    def plain(self) -> bool:
        """Whether a row is a record, there are no groups, and all rows are asked about."""
        return self.records.unit is None and self.records.by is None and self.records.where is None

    @property
    def relation(self) -> Neighbors:
        """The relation of one group's answer: where there are groups, a record comes or goes in all of them."""
        by_group = self.records.by is not None and not self.is_one_list
        return "add_remove" if by_group else self.neighbors

    @property
    def per_person(self) -> bool:
        """Whether all rows of a privacy unit are one record."""
        return self.records.unit is not None

    def with_candidates(self, size: int, most: object = None) -> "UnitQuery":
        """Return the query with a bound on the candidates for which one unit counts, in every group.

        Args:
            size: The number of candidates.
            most: the bound, `max_candidates`; None for none.

        Raises:
            InvalidArgument: if it is no count from 1 to the number of candidates, or a row is a record.
        """
        if most is None:
            return self
        bound = count(most, "max_candidates")
        if self.records.unit is None:
            raise InvalidArgument(
                "max_candidates bounds for how many candidates one user counts: name the column of users as "
                "privacy_unit. A row counts for one"
            )
        if bound > size:
            raise InvalidArgument(f"max_candidates is {bound}, but there are {size} candidates")
        records = replace(self.records, most_candidates=bound if bound < size else None)
        return replace(self, records=records)

    def with_least(self, least: int | None) -> "UnitQuery":
        """Return the query without groups of fewer records, as far as groups are drawn; None leaves it.

        Raises:
            InvalidArgument: if there are no groups.
        """
        if least is None:
            return self
        if self.records.by is None:
            raise InvalidArgument(
                "minimum_count leaves groups with small counts out of the answer: it goes with by and groups"
            )
        drawing = None if self.drawing is None else self.drawing.with_least(least)
        return replace(self, drawing=drawing)

    def as_one_list(self) -> "UnitQuery":
        """Return the query of answers with one guarantee together: noisy counts of all groups are one list."""
        if self.records.by is None:
            return self
        parameter = parameter_of(self.terms)
        terms: Any = {**self.terms, "neighbors": self.neighbors}
        if parameter is not None:
            shares = _shares(parameter.kind, self.parts, self.neighbors)
            terms[parameter.kind] = parameter.value * shares
        return replace(self, terms=terms, is_one_list=True)

    def moved_counts(self, size: int) -> int:
        """Return how many of the counts of so many candidates, in all groups, may differ between neighbours.

        A row is in one of them, a unit in `most_candidates` of each of `parts` groups.
        """
        of = self.records
        each = 1 if of.unit is None else min(of.most_candidates or size, size)
        return moved_counts(self.group_count * size, each * self.parts, self.neighbors)

    def moved_groups(self) -> int:
        """Return how many groups a record may be in before or after, if it is replaced or comes or goes."""
        return moved_counts(self.group_count, self.parts, self.neighbors)

    @property
    def group_count(self) -> int:
        """How many groups there are; of groups that are drawn, of which there may be any number, the most drawn."""
        return len(self.records.groups) or 1 if self.drawing is None else self.drawing.most

    def for_answers(self, parameter: PrivacyParameter) -> PrivacyParameter:
        """Return the part of the privacy parameter of a release that is left for the answers of its groups."""
        if self.drawing is None:
            return parameter
        return PrivacyParameter("epsilon", parameter.value * (1 - self.drawing.share))

    def asks(self, query: Query) -> Query:
        """Return the query with its privacy unit and its groups."""
        of = self.records
        groups = {"groups": len(of.groups)} if self.drawing is None else self.drawing.facts
        facts = {
            "rows": of.rows, "most_candidates": of.most_candidates,
            **({} if of.by is None else {**column_facts(of.by, "by"), **groups}),
            "where": None if of.where is None else str(of.where),
        }  # fmt: skip
        listed = {"groups": tuple(of.groups)}
        return query.per(of.unit).about(
            facts,
            max_contributions=of.rows,
            by=plain_column(of.by),
            max_groups=of.most_groups,
            neighbors=self.neighbors,
            **(listed if self.drawing is None else self.drawing.arguments),
            **({} if of.most_candidates is None else {"max_candidates": of.most_candidates}),
            **({} if of.where is None else {"where": of.where.description}),
        )

    def columns(
        self, data: object, column: AnyColumn, stand_in: StandIn | None = None
    ) -> list[Group]:
        """Return the records, one column per group, to be read when a score asks.

        Of groups that are drawn it is one column, which stands for each of them: see `prepare`.

        Raises:
            InvalidArgument: if privacy units or groups need a table, or the data can be read once only: who asks
                again would pay for an answer about nothing.
        """
        refuse_one_shot(data, "the data")
        if column is None and not self.plain:
            raise InvalidArgument("privacy units, groups and where need a table: name its column")
        return Source(data, column, self.records, stand_in).groups

    def together(self, each: Guarantee) -> Guarantee:
        """Return the guarantee of all groups' answers together. For the proof, see docs/how-to/groups.md.

        One record changes `parts` of them; where it is replaced, twice, for one goes and one comes. Groups that are
        drawn have a guarantee of their own, which is composed with that of the answers.
        """
        if self.is_one_list:
            return self.with_groups(each)
        answers = each.repeated(self.parts).under(self.neighbors)
        is_any = self.drawing is None and self.parts in range(2, self.group_count)
        return self.with_groups(of_any_parts(answers) if is_any else answers)

    def with_groups(self, answers: Guarantee) -> Guarantee:
        """Return the guarantee of all groups' answers together with that of the groups, where they are drawn.

        It is (epsilon, delta)-DP, with the sum of all epsilons and the delta of the groups, neither rounded; and
        their composition.
        """
        if self.drawing is None:
            return answers
        groups = self.drawing.mechanism
        if answers.pure is None:
            return of_any_parts(compose(groups.guarantee, answers))
        whole = ApproxDP(groups.epsilon + answers.pure, groups.delta, self.neighbors)
        return with_parts(whole, groups.guarantee, answers)

    def prepare(self, columns: Sequence[Any], ready: Callable[[Any], Draw]) -> Draw:
        """Read the records of every group, and return the function that draws all answers: one, or one per group.

        Groups that are drawn are read after their draw, and they alone.

        Args:
            columns: those that `columns` returned.
            ready: reads the records of one group, and returns the function that draws its answer.
        """
        if self.drawing is not None:
            return self.drawing.prepare(columns[0], ready)
        draws = [ready(column) for column in columns]
        return draws[0] if self.records.by is None else partial(_by_group, draws)

    def order(
        self,
        query: Query,
        guarantee: Guarantee,
        mechanism: str,
        details: Callable[[], Mapping[str, object]],
    ) -> Order:
        """Return the order of a whole release, paid by the account among the terms."""
        public = self.asks(query), guarantee, mechanism, details
        return Order(*public, *read_payment(self.terms), unit=self.records.unit)

    def answer(  # noqa: PLR0913  # a question, and what is done with its draw
        self,
        scores: Sequence[Score],
        answers: Answers | None,
        query: Query,
        choose: Choose,
        name: Name,
        settle: Callable[[Order], Order] | None = None,
    ) -> Release:
        """Release an answer: one, or one per group; of an order that is settled further, if that is given."""
        check_names(self.terms)
        terms, together = self._shares_of_groups(scores[0], answers)
        questions = [
            question_of(score, terms, self.relation, self.records.unit, answers) for score in scores
        ]
        size, order = questions[0].size, questions[0].order(self.asks(query))

        def ready(question: Question) -> Draw:
            return partial(choose, question.law(), size)

        def ready_in_group(group: Group) -> Draw:
            score: Any = of_column(questions[0].score, group)
            return ready(replace(questions[0], score=score))

        def prepare() -> Draw:
            if self.drawing is not None:
                return self.prepare([column_of(scores[0])], ready_in_group)
            return self.prepare(questions, ready)

        if self.records.by is not None:  # no single law answers
            whole = self.together(order.guarantee) if together is None else together
            worst = replace(questions[0].worst_error, answers=self.group_count * (size or 1))
            order = replace(order, guarantee=whole, question=None, worst_error=worst)
        if settle is not None:
            order = settle(order)
        return order.deliver(prepare, self.label(questions[0].naming(name), size))

    def _shares_of_groups(
        self, score: Score, answers: Answers | None
    ) -> tuple[Terms, Guarantee | None]:
        """Return the terms of one group's answer, and the guarantee of all of them where it is not `together`.

        A replaced record may keep some of its groups, and moves scores by less there than to leave and to enter.
        """
        terms: Any = self.terms
        parameter = parameter_of(terms)
        by_group = self.records.by is not None and not self.is_one_list
        if not by_group or self.neighbors == "add_remove" or parameter is None:
            return terms, None
        moves = GroupMoves.among(self.group_count, self.parts)
        step, swap = score.sensitivity("add_remove"), score.sensitivity("replace_one")
        if swap.spread < step.spread:
            return terms, None
        shares = _shares(parameter.kind, self.parts, self.neighbors)
        whole = PrivacyParameter(parameter.kind, parameter.value * shares)
        share = moves.share(whole, swap.spread / step.spread)
        if share.value <= parameter.value and share.kind != "scale":
            return terms, None
        larger: Any = {**terms, share.kind: share.value}
        one = question_of(score, larger, self.relation, self.records.unit, answers)
        of_swap = guarantee_of_swap(one.mechanism, one.calibrated, swap)
        if of_swap is None:
            return terms, None
        together = moves.together(one.guarantee, of_swap.repeated(one.size or 1))
        return larger, self.with_groups(together)

    def label(
        self, name: Name, size: int | None, shows: Callable[[Any], bool] | None = None
    ) -> Callable[[Any], object]:
        """Return the function that names drawn indices: one answer, or one per group that is shown."""

        def label(indices: Any) -> object:
            if self.records.by is None:
                return name(indices, size)
            groups, answers = self.records.groups, indices
            if self.drawing is not None:
                groups, answers = values_of(indices[0]), indices[1]
            by_group = zip(groups, answers, strict=True)
            shown = ((group, one) for group, one in by_group if shows is None or shows(one))
            return Answer.grouped({group: name(one, size) for group, one in shown})

        return label


def per_person(unit_query: UnitQuery, scores: Sequence[Score]) -> Sequence[Score]:
    """Return the scores of rows as scores of privacy units, if there are any."""
    rows = unit_query.records.rows
    return scores if rows is None else [PerUnit(score, rows) for score in scores]


def of_column(score: Any, column: Group) -> Any:
    """Return the same score of other records."""
    if isinstance(score, PerUnit):
        return replace(score, score=of_column(score.score, column))
    return replace(score, column=column)


def column_of(score: Any) -> Group:
    """Return the records that a score reads."""
    if isinstance(score, PerUnit):
        return column_of(score.score)
    column: Group = score.column
    return column


def _by_group(draws: Sequence[Draw]) -> list[object]:
    """Return one answer per group, in order."""
    return [draw() for draw in draws]


def refuse_missing(candidates: _T | None) -> _T:
    """Return candidates that were given.

    Raises:
        InvalidCandidates: if none were; a `Dataset` that declares them gives them before.
    """
    if candidates is None:
        raise InvalidCandidates(
            "candidates are missing: give the smallest and the largest possible answer, such as "
            f"{fix('a grid', lo=0, hi=120)}, from what you know and not from the data. Or describe "
            f"the data once: {fix('a description')}"
        )
    return candidates


def naming(answers: Answers) -> Name:
    """Return the function that names an index, or several."""

    def name(indices: Any, size: int | None) -> object:
        return answers[indices] if size is None else answers_at(indices, answers)

    return name


def column_or_none(column: object) -> str | None:
    """Return the name of a column; None for data without one."""
    return None if column is None else column_name(column)


def parameter_of(terms: Mapping[str, Any]) -> PrivacyParameter | None:
    """Return the privacy parameter among some terms, if there is one."""
    return read_parameter(terms.get("epsilon"), terms.get("rho"), terms.get("scale"))


def read_unit_query(terms: Any, *, bounded: bool = False) -> UnitQuery:
    """Return the privacy unit and the groups that the terms name, and the terms of one group's answer.

    Raises:
        InvalidArgument: if they cannot be accepted.
    """
    arguments: dict[str, Any] = {**DEFAULTS, **terms}
    if "max_contributions" in terms and not bounded:
        raise TypeError("max_contributions is for numbers. Counts of records need no bound")
    records = _read_records(arguments, bounded=bounded)
    neighbors = read_neighbors(arguments["neighbors"])
    # The unit stays among the terms: a score that does not bound it is refused when it is asked.
    plain = {"privacy_unit": records.unit, "neighbors": neighbors}
    rest: Any = {n: plain.get(n, value) for n, value in terms.items() if n not in _BOUNDED}
    if records.by is None:
        return UnitQuery(records, rest, neighbors)
    parts = 1 if records.unit is None else records.most_groups
    if not records.draws_groups:
        return UnitQuery(records, _divide(rest, parts, neighbors), neighbors, parts)
    drawing, left = read_private_groups(arguments, records, neighbors)
    parts = min(parts, drawing.most)  # of no more than these there are answers
    of_answers = {name: term for name, term in rest.items() if name != "delta"} | {"epsilon": left}
    return UnitQuery(records, _divide(of_answers, parts, neighbors), neighbors, parts, drawing)


def _read_records(arguments: dict[str, object], *, bounded: bool) -> Records:
    """Return the records that the arguments describe."""
    unit, by = read_unit(arguments["privacy_unit"]), read_columns(arguments["by"], "by")
    groups, draws_groups = _read_groups(by, arguments["groups"])
    rows = count(arguments["max_contributions"], "max_contributions", most=_MOST_ROWS_OF_A_UNIT)
    few = count(arguments["max_groups"], "max_groups")
    if unit is None and (rows > 1 or few > 1):
        raise InvalidArgument(
            "max_contributions and max_groups bound what one user adds: name the column of "
            "users as privacy_unit"
        )
    if few > max(1, len(groups)) and not draws_groups:
        raise InvalidArgument(f"max_groups is {few}, but there are {len(groups)} groups")
    bound = rows if bounded and unit is not None else None
    where = read_condition(arguments["where"])
    return Records(unit, bound, by, groups, few, where=where, draws_groups=draws_groups)


def _read_groups(by: AnyColumn, groups: Any) -> tuple[Sequence[object], bool]:
    """Return the groups that answer, and whether they are drawn."""
    in_bins = isinstance(by, CellColumns) and not by.plain  # which are listed by their edges
    if (by is None) != (groups is None) and not in_bins:
        cells = by.plain if isinstance(by, CellColumns) else ()
        example = {name: ["A", "B"] for name in cells} or ["HR", "Sales"]
        raise InvalidArgument(
            "by goes with groups, the public list of groups that get an answer, such as "
            f"{spelling(groups=example)}. Without a list: "
            f"{spelling(groups='private', delta='1e-8')}"
        )
    if by is None or is_private(groups):
        return (), is_private(groups)
    if isinstance(by, CellColumns):
        return read_cell_labels(by, groups, "groups"), False
    return Labels.read(groups, "groups", null=True), False


def _divide(terms: Any, parts: int, neighbors: Neighbors) -> Terms:
    """Return the terms of one group's answer, as a record that comes or goes changes it."""
    parameter = parameter_of(terms)
    shared: dict[str, Any] = {**terms, "neighbors": "add_remove"}
    if parameter is not None:
        shared[parameter.kind] = parameter.value / _shares(parameter.kind, parts, neighbors)
    return shared  # type: ignore[return-value]


def _shares(kind: str, parts: int, neighbors: Neighbors) -> int:
    """Return how many answers one privacy parameter of a kind is divided among. A scale is that of every answer."""
    # A record replaced is one that goes and one that comes, perhaps in other groups.
    steps = 1 if neighbors == "add_remove" else 2
    return {"epsilon": parts * steps, "rho": parts * steps**2, "scale": 1}[kind]


def columns_of(
    unit_query: UnitQuery, table: object, column: AnyColumn, stand_in: StandIn | None = None
) -> Sequence[Numeric]:
    """Return the records, one column per group; those of a histogram if they are one.

    With a stand-in they are the times of a clock or truths, and not numbers.
    """
    if isinstance(table, Mapping) and column is None and unit_query.plain:
        return [Histogram(table, stand_in)]
    return unit_query.columns(table, column, stand_in)
